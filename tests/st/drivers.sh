#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: streams and what is done on them are the same on the stand-ins
# for GPUs' drivers.
# Timeout: 150
set -u
. "$(dirname "$0")/../device/device.inc"
each ../st/streams
each ../st/onesided
each ../st/every cuda-discrete hip-discrete
each ../st/meet cuda-discrete hip-bare
each ../st/queue cuda-discrete hip-bare
finish

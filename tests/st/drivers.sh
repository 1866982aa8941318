#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: streams are the same on the stand-ins for GPUs' drivers.
# Timeout: 90
set -u
. "$(dirname "$0")/../device/device.inc"
each ../st/streams
finish

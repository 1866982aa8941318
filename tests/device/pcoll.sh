#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: partitioned collectives give, with buffers in device memory or one of
# them there or dest as source, what a model gives.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../part/collectives
finish

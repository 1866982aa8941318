#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: blocks of device memory are zeroed, moved between spaces and
# freed like those of host memory, spaces cut out of it work, and all that is
# asked about an address is answered for it.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each heap_blocks
finish

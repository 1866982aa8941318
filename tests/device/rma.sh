#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: puts and gets of all sizes move the bytes they name and no
# others, between host and device memory, symmetric and private, aligned or
# not, blocking or not, in the default context and another.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/rma_sized
finish

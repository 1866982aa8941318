#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: signals and words in device memory are waited for and tested
# like those in host memory, and who sees one sees the data before it, with
# data and signal in any two places.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each wait
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on a stream every PE may be the target, from and to symmetric
# and private memory of host and device.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each onstream
finish

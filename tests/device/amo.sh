#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every atomic of every type on a word in device memory returns
# the old value, leaves the right new one and touches nothing beside it, also
# where the old value goes to device memory; under contention none is lost.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/amo
finish

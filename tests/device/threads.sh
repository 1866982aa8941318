#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: several threads put to, get from, count in and wait for device
# memory at once and lose nothing; a forked child that ends changes nothing.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/threads_put_signal
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the same at several times of a PE's end.
# Timeout: 60
set -u
. "$(dirname "$0")/../device/device.inc"
T_SEED=${T_SEED:-1}
export T_SEED
for us in 0 20 60 120 200 300 500 1000; do
    job software -n 3 --ppn 1 "$at/st/free_while_partner_exits" $us || break
done
finish

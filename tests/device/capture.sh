#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an operation on a stream that records a graph is refused by name
# and nothing of it is recorded.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: only stand-ins record nothing at all'; exit 77; }

: >failed
for device in cuda-discrete cuda-coherent; do
    for far in '' '--ppn 1'; do
        # shellcheck disable=SC2086
        on "$device" "$BUILD/bin/oshrun" -n 2 $far "$at/device/capture" \
            >said 2>&1 || { echo "FAIL: $device $far"; cat said; echo >>failed; }
        for call in long_p long_put long_get long_atomic_inc signal_set quiet; do
            check grep -q "shmemx_${call}_on_stream: the stream records a graph" said
        done
    done
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: streams that the program destroys by the vendor's call are gone:
# no call of the driver gets their handles, and their queues serve others.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: the program wants CUDA'; exit 77; }

T_PATIENCE=$((2 * ${T_PATIENCE:-3}))    # a minute with the thread sanitizer
: >failed
for far in '' '--ppn 1'; do
    {
        said=said${far#--ppn }
        # shellcheck disable=SC2086
        on cuda-discrete env SHMEM_STALL=1 FAKE_DEVICE_QUEUES=4 \
            "$BUILD/bin/oshrun" -n 2 $far \
            "$at/device/vendor_stream_destroy" >"$said" 2>&1 ||
            { echo "FAIL: $far"; cat "$said"; echo >>failed; }
        # A quiet may take its time, and does not last.
        ! grep -E "stream .* waits for [3-9] s|destroyed" "$said" ||
            echo "FAIL: $far" >>failed
    } &
done
wait
on cuda-discrete "$BUILD/bin/oshrun" -n 1 "$at/device/vendor_stream_destroy" \
    queues >said 2>&1 &&
    grep -q "shmemx_enqueue_atomic_add_int64: the queue's stream was destroyed" said ||
    { echo 'FAIL: queues'; cat said; echo >>failed; }
finish

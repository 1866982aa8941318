#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: private device memory of memory pools, and such as lies in two
# pieces that are mapped side by side, may be passed as any other.
# Timeout: 180
set -u
. "$(dirname "$0")/device.inc"

# kind KIND DEVICE N...: programs that use such memory, two at a time.
kind()
{
    extra=T_OWN=$1 device=$2
    shift 2
    for n; do
        for program in pe/rma_sized pe/amo coll/move coll/reduce \
            coll/active_sets device/on_stream; do
            case $n in
                */*) start job "$device" -n "${n%/*}" --ppn "${n#*/}" \
                    "$at/$program" ;;
                *) start job "$device" -n "$n" "$at/$program" ;;
            esac
        done
    done
}

if [ -n "$real" ]; then
    kind pool "$real" 2
    [ "$real" != cuda ] || kind pieces "$real" 2
    finish
fi
kind pool cuda-discrete 2 2/1
kind pool hip-discrete 2
for range in mapping reserved; do
    export FAKE_DEVICE_RANGE=$range
    kind pieces cuda-discrete 2 2/1
done
finish

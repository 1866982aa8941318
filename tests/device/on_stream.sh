#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on a stream every PE may be the target, from and to symmetric
# and private memory of host and device, also beside a forked child.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each on_stream software cuda-discrete cuda-coherent hip-discrete hip-coherent
[ -z "$real" ] || finish
# Beside a child that the program has forked.
for n in 2 '2 --ppn 1'; do
    # shellcheck disable=SC2086
    job cuda-discrete -n $n "$at/device/on_stream" child &
    # shellcheck disable=SC2086
    job hip-discrete -n $n "$at/device/on_stream" child &
    wait
done
# Such streams wait by kernels, so the PE has the device for itself.
job cuda-bare -n 1 "$at/device/on_stream" &
job hip-bare -n 1 "$at/device/on_stream" &
wait
finish

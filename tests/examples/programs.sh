#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: each example on streams is right on the software device and on
# stand-ins for GPUs, near and far, and says so in one line.
# Timeout: 120
set -u
. "$(dirname "$0")/../device/device.inc"
here=$(cd "$(dirname "$0")" && pwd)
kernels=$at/fake/kernels

# build NAME: as a user does, and for the stand-ins.
build()
{
    "$BUILD/bin/oshcc" -Wall -Wextra -Werror "$SRC/examples/$1.c" -o "$1" ||
        echo "FAIL: oshcc $1.c" >>failed
    "$BUILD/bin/oshcc" -Wall -Wextra -Werror \
        -DEXAMPLE_DEVICE_H="\"$here/standin.h\"" "$SRC/examples/$1.c" \
        -o "$1.standin" "$kernels/example.so" "-Wl,-rpath,$kernels" -ldl ||
        echo "FAIL: oshcc $1.c for stand-ins" >>failed
}

# right DEVICE PROGRAM WORDS...: the words go to oshrun.
right()
{
    device=$1 program=$2
    shift 2
    said=$(on "$device" "$BUILD/bin/oshrun" "$@" "./$program" 2>&1) &&
        [ "$(echo "$said" | wc -l)" -eq 1 ] &&
        echo "$said" | grep -qE "^${program%.standin}: .* device $(driver_of "$device"): right\$" || {
        echo "FAIL: $device: $program $*: $said" >>failed
    }
}

some='ping halo channel batch tickets prefetch ring graph_halo graph_ring'
for name in $some; do
    build $name &
    turn=$((${turn:-0} + 1))
    [ $((turn % 2)) -ne 0 ] || wait
done
wait
[ -z "$real" ] || { echo 'skip: for stand-ins'; exit 77; }
FAKE_DEVICE_KERNELS=$kernels/example.so
export FAKE_DEVICE_KERNELS
for name in $some; do
    right software $name -n 4 &
    right software $name -n 3 --ppn 2 &
    right cuda-discrete $name.standin -n 4 --ppn 2 &
    right hip-discrete $name.standin -n 3 &
    turn=$((turn + 1))
    [ $((turn % 2)) -ne 0 ] || wait
done
wait
# Their kernels call the library, which those of stand-ins cannot.
for program in trigger partitioned partitioned_allreduce; do
    build $program
    for n in 1 4 '3 --ppn 2'; do
        # shellcheck disable=SC2086
        right software $program -n $n
    done
done
right software ping -n 1
right software channel -n 1
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the programs of examples/shmemg are right where nvcc's PTX of their
# kernels runs, on the stand-in of CUDA, near and far; a kernel of a module that
# the program has not initialized ends by a trap.
# Timeout: 180
set -u
. "$(dirname "$0")/../device/device.inc"
[ -z "$real" ] || { echo 'skip: for stand-ins'; exit 77; }
command -v nvcc >/dev/null 2>&1 || { echo 'skip: no nvcc'; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
programs=$SRC/examples/shmemg
[ -e "$at/fake/cuda/libcuda.so.1" ] || echo 'FAIL: no stand-in' >>failed

# build NAME PROGRAM OPTION...
build()
{
    source=$programs/$1.c to=$2
    shift 2
    "$BUILD/bin/oshcc" -Wall -Wextra -Werror "$@" \
        -DEXAMPLE_DEVICE_H="\"$here/ptx.h\"" "$source" -o "$to" -ldl ||
        echo "FAIL: oshcc $source" >>failed
}

# right NAME DEVICE WORDS...: the words go to oshrun.
right()
{
    name=$1 device=$2
    shift 2
    said=$(on "$device" env EXAMPLE_PTX="$name.ptx" "$BUILD/bin/oshrun" "$@" \
        "./$name" 2>&1) &&
        [ "$(echo "$said" | wc -l)" -eq 1 ] &&
        echo "$said" | grep -qE "^$name on .*, device cuda: right\$" ||
        echo "FAIL: $name, $device, $*: $said" >>failed
}

try_one()
{
    build "$1" "$1"
    nvcc -ptx -x cu -arch=compute_75 -I"$SRC/include" -o "$1.ptx" \
        "$programs/$1.c" || echo "FAIL: nvcc $1.c" >>failed
    right "$1" cuda-discrete -n 1
    right "$1" cuda-coherent -n 2
    right "$1" cuda-discrete -n 4 --ppn 2
}

n=0
for program in "$programs"/*.c; do
    try_one "$(basename "$program" .c)" &
    n=$((n + 1))
    [ $((n % 2)) -ne 0 ] || wait
done
wait
[ $n -eq 10 ] || echo "FAIL: $n programs" >>failed

build gc_setup empty -DPTX_WITHOUT_STATE
said=$(on cuda-discrete env EXAMPLE_PTX=gc_setup.ptx "$BUILD/bin/oshrun" -n 1 \
    ./empty 2>&1) && echo "FAIL: without a state: $said" >>failed
echo "$said" | grep -q 'unspecified launch failure' ||
    echo "FAIL: without a state: $said" >>failed
finish

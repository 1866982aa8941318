#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: training by binary cross-entropy has the sums, the losses and on all
# PEs the weights that it should, in each form, near and far, also on a stand-in
# for a GPU; the benchmark names what is wrong with its arguments.
# Timeout: 60
# Needs: benches
set -u
says='bce'
. "$(dirname "$0")/bench.inc"
bce=$BUILD/obj/bench/bce

# rows N WORDS...: so many forms, whose steps are right.
rows()
{
    want=$1
    shift
    "$BUILD/bin/oshrun" "$@" >out 2>err </dev/null &&
        [ "$(awk -F '\t' '$4 > 0 && $5 > 0 && NF == 8' out | wc -l)" -eq "$want" ] &&
        return
    fail "$*: not $want rows: $(cat out err)"
}

SHMEM_DEVICE=software
export SHMEM_DEVICE
rows 5 -n 1 "$bce" --tsv -n 1 -g 2 -s 20
rows 5 -n 2 "$bce" --tsv -n 1 -g 3 -s 20 -p 3
rows 5 -n 3 "$bce" --tsv -n 1 -g 1 -s 10 -p 1
rows 5 -n 4 "$bce" --tsv -n 1 -g 8 -s 10 -p 32
rows 5 -n 2 --ppn 1 "$bce" --tsv -n 1 -g 2 -s 10
rows 5 -n 4 --ppn 2 "$bce" --tsv -n 1 -g 2 -s 10
if [ -s "$bce.ptx" ]; then
    SHMEM_DEVICE=cuda
    LD_LIBRARY_PATH=$BUILD/obj/tests/fake/cuda FAKE_DEVICE=discrete
    export LD_LIBRARY_PATH FAKE_DEVICE
    rows 4 -n 2 "$bce" --tsv -n 1 -g 1 -s 2
    rows 4 -n 2 --ppn 1 "$bce" --tsv -n 1 -g 1 -s 2 -p 2
    SHMEM_DEVICE=software
    unset LD_LIBRARY_PATH FAKE_DEVICE
else
    echo 'skip: nvcc made no PTX of the kernels'
fi
"$BUILD/bin/oshrun" -n 2 "$bce" -n 1 -g 1 -s 2 -b >out 2>err &&
    [ "$(grep -cE '^# [a-z]+ +sums (.* times as fast as host|cannot be measured)' out)" -eq 3 ] || {
    fail "-b: $(cat out err)"
}
refused '-g 0: want a number from 1 to' -n 1 "$bce" -g 0
refused '-p PARTS: does not divide' -n 1 "$bce" -g 1 -p 3
refused '-s: its value is missing' -n 1 "$bce" -s
refused 'option -q: unknown' -n 1 "$bce" -q
refused 'argument x: not expected' -n 1 "$bce" x
refused 'no room in the device heap' -n 1 env SHMEM_DEVICE_SYMMETRIC_SIZE=1M \
    "$bce" -g 4096
SHMEM_DEVICE=none
refused 'SHMEM_DEVICE=software' -n 1 "$bce"
[ $failures -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the benchmark of allreduce by partitions brings right data and gives
# each row, on one node and on two, and says what it needs.
# Timeout: 60
# Needs: benches
set -u
says='pcoll|usage'
. "$(dirname "$0")/bench.inc"
program=$BUILD/obj/bench/pcoll
export SHMEM_DEVICE=software

rows()
{
    "$BUILD/bin/oshrun" "$@" "$program" --tsv -n 3 -m 262144 >out 2>err \
        </dev/null &&
        [ "$(awk -F '\t' 'NF == 7 && $7 > 0 { printf "%s ", $1 }' out)" = \
            '64 512 4096 32768 262144 ' ] && return
    fail "$*: $(cat out err)"
}

rows -n 3
rows -n 4 --ppn 2
refused 'pcoll' -n 1 "$program" -n 0
refused 'pcoll' -n 2 "$program" -q
SHMEM_DEVICE=none refused 'SHMEM_DEVICE=software' -n 2 "$program"
[ $failures -eq 0 ] && echo 'ok: each row'
[ $failures -eq 0 ]

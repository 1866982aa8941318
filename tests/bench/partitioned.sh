#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the benchmark of partitioned messages brings right data and gives
# each row, on one node and on two, and says what it needs.
# Timeout: 60
# Needs: benches
set -u
says='partitioned|usage'
. "$(dirname "$0")/bench.inc"
program=$BUILD/obj/bench/partitioned
export SHMEM_DEVICE=software

rows()
{
    "$BUILD/bin/oshrun" -n 2 "$@" "$program" --tsv -n 3 >out 2>err </dev/null &&
        [ "$(awk -F '\t' '(NF == 6 && $6 > 0) || NF == 5 { printf "%s ", $1 }' \
            out)" = '1024 8192 65536 524288 4194304 33554432 calls ' ] && return
    fail "$*: $(cat out err)"
}

rows --ppn 2
rows --ppn 1
refused 'needs 2 PEs' -n 1 "$program"
refused 'partitioned' -n 2 "$program" -q
SHMEM_DEVICE=none refused 'SHMEM_DEVICE=software' -n 2 "$program"
[ $failures -eq 0 ] && echo 'ok: each row'
[ $failures -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the benchmark of triggers brings right data and gives a row for
# each number of tags, on one node and on two, and says what it needs.
# Timeout: 60
# Needs: benches
set -u
says='trigger|usage'
. "$(dirname "$0")/bench.inc"
trigger=$BUILD/obj/bench/trigger
export SHMEM_DEVICE=software

rows()
{
    "$BUILD/bin/oshrun" -n 2 "$@" "$trigger" --tsv -n 3 >out 2>err </dev/null &&
        [ "$(awk -F '\t' 'NF == 7 && $2 > 0 && $3 > 0 { printf "%s ", $1 }' \
            out)" = '16 64 256 1024 4096 ' ] && return
    fail "$*: $(cat out err)"
}

rows --ppn 2
rows --ppn 1
refused 'needs 2 PEs' -n 1 "$trigger"
refused 'trigger' -n 2 "$trigger" -q
SHMEM_DEVICE=none refused 'SHMEM_DEVICE=software' -n 2 "$trigger"
[ $failures -eq 0 ] && echo 'ok: rows of 5 numbers of tags'
[ $failures -eq 0 ]

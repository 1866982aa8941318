#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the benchmark of kernels' calls gives each of its figures, with
# its target, on one node and on two, and says what it needs.
# Timeout: 60
# Needs: benches
set -u
says='kernel'
. "$(dirname "$0")/bench.inc"

# rows N WORDS...: so many figures, each above 0, each held against a target.
rows()
{
    want=$1
    shift
    "$BUILD/bin/oshrun" "$@" -n 100 >out 2>err </dev/null &&
        [ "$(awk -F '\t' '$3 > 0 && $6 ~ /^[<>]=/ && $7 ~ /^(met|missed)$/' \
            out | wc -l)" -eq "$want" ] && [ "$(wc -l <out)" -eq "$want" ] &&
        return
    fail "$*: not $want rows: $(cat out err)"
}

SHMEM_DEVICE=software
export SHMEM_DEVICE
rows 5 -n 2 "$BUILD/obj/bench/kernel" --tsv
rows 3 -n 2 --ppn 1 "$BUILD/obj/bench/kernel" --tsv
refused 'needs 2 PEs' -n 1 "$BUILD/obj/bench/kernel"
refused 'usage: kernel' -n 2 "$BUILD/obj/bench/kernel" -q
SHMEM_DEVICE=none
refused 'SHMEM_DEVICE=software' -n 2 "$BUILD/obj/bench/kernel"
[ $failures -eq 0 ] && echo 'ok: 8 rows'
[ $failures -eq 0 ]

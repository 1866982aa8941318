#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: -c finds every byte, sum and barrier right, in the heap and in
# global data, on 2 PEs and, where pairs are possible, on 4.
# Timeout: 240
# Needs: osu
set -u
. "$(dirname "$0")/osu.inc"

# passed PROGRAM ARGS...: at least one row, and each ends in Pass.
passed()
{
    run "$@"
    rows=$(grep -vc '^#' "$out")
    good=$(grep -v '^#' "$out" | grep -c 'Pass$')
    [ "$rows" -gt 0 ] && [ "$rows" -eq "$good" ] ||
        fail "$* on $NP PEs: $good of $rows rows pass"
}

for memory in heap global; do
    for p in put get put_nb get_nb; do
        passed osu_oshm_$p $memory -c -i 5 -x 1
    done
    passed osu_oshm_put $memory -c -i 3 -x 0 -m 3:50000
    for p in put_mr put_mr_nb get_mr_nb put_bw get_bw; do
        passed osu_oshm_$p $memory -c -i 7 -x 1 -m 65536
    done
    passed osu_oshm_atomics $memory -c -i 50
done
passed osu_oshm_barrier -c -i 50
for p in broadcast collect fcollect reduce; do
    passed osu_oshm_$p -c -i 3 -x 1 -m 4:262144
done
NP=4
passed osu_oshm_put_mr heap -c -i 7 -x 1 -m 4096
passed osu_oshm_get_mr_nb global -c -i 7 -x 1 -m 4096
passed osu_oshm_atomics heap -c -i 50
passed osu_oshm_barrier -c -i 50
for p in broadcast collect fcollect reduce; do
    passed osu_oshm_$p -c -i 3 -x 1 -m 4:4096
done
finish

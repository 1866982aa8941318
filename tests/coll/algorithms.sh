#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every algorithm of every collective, by each word that
# SHMEM_COLL_... takes, passes the tests of the chosen ones.
# Timeout: 300
set -u
failed=0
# run VARIABLE VALUE PROGRAM PES
run()
{
    env "SHMEM_$1=$2" "$BUILD/bin/oshrun" -n "$4" \
        "$BUILD/obj/tests/coll/$3" >out 2>&1 && return
    echo "FAIL: SHMEM_$1=$2, $3 on $4 PEs"
    head -n 20 out
    failed=1
}
# Lines "COLL_SYNC dissemination gather ..." of the table of variables, without
# auto, and without those that need several nodes (several_nodes.sh).
sed -n 's/^ENV(coll, *\(COLL_[A-Z]*\), *word,.*"auto|\([a-z|]*\):.*/\1 \2/p' \
    "$SRC/src/base/env_defs.h" | tr '|' ' ' >algorithms
[ "$(wc -l <algorithms)" -ge 7 ] || { echo 'FAIL: no table'; exit 1; }
# A word that no file mentions would run the default case, and pass.
while read -r kind words; do
    case $kind in COLL_SYNC) continue ;; esac
    for alg in $words; do
        name=COLL_$(echo "$alg" | tr a-z A-Z)
        grep -qw "$name" "$SRC"/src/coll/coll_[!t]*.c && continue
        echo "FAIL: SHMEM_$kind=$alg: no file of src/coll has $name"
        failed=1
    done
done <algorithms
[ $failed -eq 0 ] || exit 1
for n in 2 3 6; do
    while read -r kind words; do
        program=move
        case $kind in COLL_REDUCE | COLL_SCAN) program=reduce ;; esac
        for alg in $words; do
            case $alg in nodes | halving | scatter) continue ;; esac
            run "$kind" "$alg" $program $n </dev/null
        done
    done <algorithms
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the random tests of collectives pass on one PE per node, on
# equal nodes and on unequal ones, with every algorithm that far members allow.
# Light: small jobs start one by one
# Timeout: 300
set -u
failed=0
run() # PES PPN PROGRAM
{
    timeout -k 5 60 "$BUILD/bin/oshrun" -n "$1" --ppn "$2" \
        "$BUILD/obj/tests/coll/$3" >out 2>&1 </dev/null && return
    echo "FAIL: ${alg:+$alg, }$3 on $1 PEs, $2 to a node"
    head -n 20 out | cut -c 1-300
    failed=1
}
alg=
for shape in '3 1' '4 2' '4 3' '7 3'; do
    # shellcheck disable=SC2086
    for program in move reduce; do
        run $shape $program
    done
done
for program in teams active_sets threads; do
    run 3 2 $program
done

with() # VARIABLE PROGRAM ALGORITHM...
{
    variable=SHMEM_COLL_$1 program=$2
    # pull and split need mapped members; two levels are the default there.
    for alg in $(sed -n "s/^ENV(coll, *COLL_$1, *word,.*\"auto|\([a-z|]*\):.*/\1/p" \
        "$SRC/src/base/env_defs.h" | tr '|' '\n' | grep -vx 'pull\|split\|nodes'); do
        case " $* " in *" $alg "*) continue ;; esac
        echo "FAIL: $variable=$alg of env_defs.h is not run between nodes:" \
            'add the word here'
        failed=1
    done
    shift 2
    for alg in "$@"; do
        export "$variable=$alg"
        run 3 2 "$program"
    done
    unset "$variable"
}
with SYNC move dissemination gather nodes
with BROADCAST move push binomial pipeline scatter
with COLLECT move push ring bruck
with FCOLLECT move push bruck ring
with ALLTOALL move push bruck pairwise
with REDUCE reduce doubling ring halving
with SCAN reduce doubling
exit $failed

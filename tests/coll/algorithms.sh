#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every algorithm of every collective passes the tests of the
# chosen ones.
# Timeout: 300
set -u
failed=0
run() # VARIABLE VALUE PROGRAM PES
{
    env "SHMEM_COLL_$1=$2" "$BUILD/bin/oshrun" -n "$4" \
        "$BUILD/obj/tests/coll/$3" >out 2>&1 && return
    echo "FAIL: SHMEM_COLL_$1=$2, $3 on $4 PEs"
    head -n 20 out
    failed=1
}
for n in 2 3 6; do
    for alg in dissemination gather; do
        run SYNC $alg move $n
    done
    for alg in push pull binomial pipeline; do
        run BROADCAST $alg move $n
    done
    for alg in push pull ring; do
        run COLLECT $alg move $n
    done
    for alg in push pull bruck ring; do
        run FCOLLECT $alg move $n
    done
    for alg in push pull bruck pairwise; do
        run ALLTOALL $alg move $n
    done
    for alg in pull split doubling ring; do
        run REDUCE $alg reduce $n
    done
    for alg in pull doubling; do
        run SCAN $alg reduce $n
    done
done
exit $failed

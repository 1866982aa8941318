#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what a PE sends in each collective, at start and at the end,
# grows with the logarithm of the nodes, or with the bytes that it hands on: on
# 4, 16 and 64 PEs with a node each, on numbers that are no powers of two, with
# and without comparisons.
# Timeout: 300
set -u
failed=0
run() # PES VARIABLE...
{
    pes=$1
    shift
    env SHMEM_STATS=1 "$@" timeout -k 5 120 "$BUILD/bin/oshrun" -n "$pes" \
        --ppn 1 "$BUILD/obj/tests/unit/coll_scale" >out 2>&1 </dev/null
    status=$?
    [ $status -eq 0 ] && grep 'operations  *[0-9]* bytes\|published' out |
        grep -v network && return
    echo "FAIL: coll_scale on $pes PEs${*:+ with $*}: status $status (124: ended after 120 s)"
    grep -v 'waits: \|network: ' out | head -n 40 | cut -c 1-300
    failed=1
}
run 4
run 16
run 16 SHMEM_COLL_SYNC=dissemination
run 11 SHMEM_CHECK=1
run 64
exit $failed

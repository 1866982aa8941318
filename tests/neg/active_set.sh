#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a collective call over an active set by a PE outside the set ends
# the job with one line, while no member of the set makes the call.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    static long pSync[SHMEM_SYNC_SIZE];

    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        pSync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier(0, 0, n, pSync);
    if (!strcmp(word, "members")) {
        shmem_barrier(me, 5, 1, pSync);
        if (me != 1)
            shmem_sync(0, 1, 2, pSync);
        shmem_finalize();
        return 0;
    }
    if (me != 1)
        shmem_barrier_all();
    if (!strcmp(word, "above"))
        shmem_barrier(0, 0, 1, pSync);
    CASE(below) shmem_sync(2, 0, 1, pSync);
    CASE(between) shmem_barrier(0, 1, 2, pSync);
C

# outside WORD CALL: PE 1 of 3.
outside()
{
    try 3 ./bad "$1"
    ended 1 "$1"
    said "$1" "sluice: PE 1 \\([^ ]+\\): $2: this PE is not in the active set \\[S-E-TEAM\\]"
}

outside above shmem_barrier
outside below shmem_sync
outside between shmem_barrier
try 3 ./bad members
ended 0 members
[ ! -s "$err" ] || fail "members: $(head -n 5 "$err")"
finish 'PEs outside an active set'

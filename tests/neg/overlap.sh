#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: collectives whose dest and source overlap are refused, without
# SHMEM_CHECK, too: the line says when one of them passes the end of its block.
set -u
. "$(dirname "$0")/neg.inc"
need_checks
SHMEM_CHECK=0
export SHMEM_CHECK

cases <<'C'
    shmem_team_t all = SHMEM_TEAM_WORLD;
    long *first = shmem_malloc(2 * sizeof(long));
    long *second = shmem_malloc(2 * sizeof(long));
    long *third = shmem_malloc(16 * sizeof(long));

    /* All that follows depends on where these are. */
    if (second != first + 2 || third != second + 2) {
        printf("blocks at %p, %p and %p\n", (void *)first, (void *)second,
               (void *)third);
        return 1;
    }
    if (!strcmp(word, "good")) {
        shmem_long_sum_reduce(all, first, first, 2);
        shmem_long_collect(all, third, second, me ? 2 : 1);
        shmem_long_collect(all, third, me ? second : third, me != 0);
        shmem_long_fcollect(all, third, second, 2);
        shmem_finalize();
        return 0;
    }
    CASE(reduce) shmem_long_sum_reduce(all, first, second, 3);
    CASE(reduce_source) shmem_long_sum_reduce(all, third, second, 3);
    CASE(fcollect) shmem_long_fcollect(all, first + 1, second, 2);
    CASE(collect) shmem_long_collect(all, first, second, n > 1 ? me + 1 : 3);
    CASE(collect_inside)
        shmem_long_collect(all, third, third + 2, n > 1 ? me + 1 : 3);
    CASE(collect_static)
        shmem_long_collect(all, a, a + 2, n > 1 ? me + 1 : 3);
    CASE(set) {
        static long sync_words[SHMEM_SYNC_SIZE];
        shmem_collect64(first, second, n > 1 ? me + 1 : 3, 0, 0, n, sync_words);
    }
C

at='at 0x[0-9a-f]+'
# every LAUNCH WORD REGEX: all PEs that speak say it.
every()
{
    # shellcheck disable=SC2086  # words
    try 2 $1 ./bad "$2"
    ended 1 "$1 $2"
    all_said "$1 $2" "sluice: PE [01] \\([^ ]+\\): $3 \\[S-E-ARG\\]"
}
both()
{
    every '' "$@"
    every '--ppn 1' "$@"
}

past="dest \\(24 bytes $at\\) passes the end of its block by 8 bytes and overlaps source"
alone reduce "shmem_long_sum_reduce: $past \\(24 bytes $at\\) \\[S-E-ARG\\]"
alone reduce_source "shmem_long_sum_reduce: source \\(24 bytes $at\\) passes the end of its block by 8 bytes and overlaps dest \\(24 bytes $at\\) \\[S-E-ARG\\]"
both fcollect "shmem_long_fcollect: dest \\(32 bytes $at\\) passes the end of its block by 24 bytes and overlaps source \\(16 bytes $at\\)"
# Each brings another size, so that only all of them together overlap.
both collect "shmem_long_collect: $past \\((8|16) bytes $at\\)"
both set "shmem_collect64: $past \\((8|16) bytes $at\\)"
over="dest \\(24 bytes $at\\) and source \\((8|16) bytes $at\\) overlap"
both collect_inside "shmem_long_collect: $over"
both collect_static "shmem_long_collect: $over"
alone collect "shmem_long_collect: $past \\(24 bytes $at\\) \\[S-E-ARG\\]"
works good
finish 'overlaps of dest and source'

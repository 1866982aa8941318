#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_team_split_strided with PEs that the parent has not returns
# nonzero on all of them, and one line says which argument is wrong; a PE that
# makes another collective call is not said to lack memory.
set -u
. "$(dirname "$0")/neg.inc"

cases <<'C'
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int start = argc > 2 ? atoi(argv[2]) : 0;
    int stride = argc > 2 ? atoi(argv[3]) : 1;
    int size = argc > 2 ? atoi(argv[4]) : n;
    int rc;

    if (!strcmp(word, "other")) {       /* behind so many other calls */
        for (int i = 0; i < start; i++)
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
        for (int i = 0; i < stride; i++)
            shmem_malloc(16);
        start = 0, stride = 1, size = n;
        while (me == n - 1)
            shmem_barrier_all();
    }
    rc = shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size,
                                      NULL, 0, &team);

    if ((rc != 0) != !strcmp(word, "wrong") ||
        (rc && team != SHMEM_TEAM_INVALID)) {
        printf("PE %d: result %d\n", me, rc);
        return 1;
    }
    shmem_finalize();
    return 0;
C

# wrong REGEX START STRIDE SIZE: on 4 PEs.
wrong()
{
    want=$1
    shift
    try 4 ./bad wrong "$@"
    ended 0 "$*"
    said "$*" "sluice: PE 0 \\([^ ]+\\): shmem_team_split_strided: $want \\[S-W-ARG\\]"
}

wrong 'size 0: a team has at least one PE' 0 1 0
wrong 'size -3: a team has at least one PE' 0 1 -3
wrong 'size 0: a team has at least one PE' 9 0 0
wrong 'start 4 is outside 0\.\.3' 4 1 1
wrong 'start -1 is outside 0\.\.3' -1 1 2
wrong 'stride 0: a team of 2 PEs needs another one' 1 0 2
wrong 'PE 4, the last of 3 PEs from PE 0 with stride 2, is outside 0\.\.3' 0 2 3
wrong 'PE -1, the last of 3 PEs from PE 1 with stride -1, is outside 0\.\.3' \
    1 -1 3
for good in '0 1 4' '3 -1 4' '1 0 1' '3 7 1'; do
    # shellcheck disable=SC2086  # words
    try 4 ./bad right $good
    ended 0 "$good"
    [ ! -s "$err" ] || fail "$good: $(cat "$err")"
done
# What was published before, by splits or by allocation calls, does not count.
for before in '0 1' '1 1' '2 1' '3 1' '0 256' '0 257'; do
    # shellcheck disable=SC2086  # words
    try 2 ./bad other $before 0
    ended 1 "another call behind $before"
    said "another call behind $before" "sluice: PE 0 \\([^ ]+\\): shmem_team_split: PE 1 makes another collective call here; all PEs of the parent team make the same; SHMEM_CHECK=1 names calls that do not match \\[S-E-COLL\\]"
done
finish 'splits into no team'

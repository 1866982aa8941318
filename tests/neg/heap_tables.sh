#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where one PE has no private memory for the allocator's tables,
# its blocks would be in other places than those of the other PEs: the job ends
# with one line.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(int argc, char **argv)
{
    enum { BLOCKS = 70 };       /* more than the first tables hold */
    char *p[BLOCKS];

    (void)argc;
    (void)argv;
    shmem_init();
    for (int i = 0; i < BLOCKS; i++)
        p[i] = shmem_malloc(64);
    for (int i = 0; i < BLOCKS; i++) {
        if (!p[i])
            printf("PE %d: no block %d\n", shmem_my_pe(), i);
        shmem_free(p[i]);
    }
    shmem_finalize();
    return 0;
}
C

# shellcheck disable=SC2016  # for the shell of each PE
try 2 sh -c '[ "$SLUICE_JOB_PE" -ne 1 ] || export SHMEM_FAULT=heap.tables:1:1
    exec ./bad'
ended 1 malloc
said malloc "sluice: PE 1 \\([^ ]+\\): no memory for the allocator's tables, without which this PE's blocks would be in other places than those of the other PEs \\(after SHMEM_FAULT made heap\\.tables fail\\) \\[S-E-HEAP\\]"
works malloc
finish 'tables of the heap'

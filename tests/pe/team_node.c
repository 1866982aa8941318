/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: SHMEMX_TEAM_NODE holds the PEs of this node and no other: they
 * are those whose memory shmem_ptr reaches.
 * PEs: 1 4
 * Ppn: 2/1 4/2 6/3 */
#include "../t.h"

#include <shmem.h>
#include <shmemx.h>

static long word;

T(members_are_those_that_shmem_ptr_reaches)
{
    int me = shmem_my_pe(), reached = 0, member;

    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        member = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe,
                                         SHMEMX_TEAM_NODE);
        T_EQ(member >= 0, shmem_ptr(&word, pe) != NULL);
        reached += member >= 0;
    }
    T_EQ(shmem_team_n_pes(SHMEMX_TEAM_NODE), reached);
    T_EQ(shmem_team_translate_pe(SHMEMX_TEAM_NODE,
                                 shmem_team_my_pe(SHMEMX_TEAM_NODE),
                                 SHMEM_TEAM_WORLD), me);
}

T(calls_over_it_are_of_the_node)
{
    static long one, sum, across;
    int here = shmem_team_my_pe(SHMEMX_TEAM_NODE), rc;
    shmem_team_t leaders;

    one = 1;
    shmem_sync_all();
    T_EQ(shmem_long_sum_reduce(SHMEMX_TEAM_NODE, &sum, &one, 1), 0);
    T_EQ(sum, shmem_team_n_pes(SHMEMX_TEAM_NODE));
    rc = shmem_team_split_strided(SHMEMX_TEAM_NODE, 0, 1, 1, NULL, 0,
                                  &leaders);
    T_EQ(rc, 0);
    T_EQ(leaders != SHMEM_TEAM_INVALID, here == 0);
    shmem_team_destroy(leaders);
    shmem_sync_all();
    /* The first of each node, all together: each PE is on one. */
    one = here == 0 ? sum : 0;
    shmem_sync_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &across, &one, 1);
    T_EQ(across, shmem_n_pes());
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(members_are_those_that_shmem_ptr_reaches);
    T_RUN(calls_over_it_are_of_the_node);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll.h"

struct group group_draw(void)
{
    int world = shmem_n_pes(), size, start, stride;
    struct group g;

    do {
        start = (int)(T_RAND() % (unsigned)world);
        size = 1 + (int)(T_RAND() % (unsigned)world);
        stride = (int)(T_RAND() % 7) - 3;
    } while (start + stride * (size - 1) < 0 ||
             start + stride * (size - 1) >= world ||
             (stride == 0 && size != 1));
    g = (struct group){ SHMEM_TEAM_INVALID, size, -1, start, stride };
    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL,
                                  0, &g.team), 0);
    g.me = shmem_team_my_pe(g.team);
    return g;
}

void group_drop(struct group *g)
{
    shmem_team_destroy(g->team);
    g->team = SHMEM_TEAM_INVALID;
}

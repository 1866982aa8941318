/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll.h"

static struct group split(int start, int stride, int size)
{
    struct group g = { SHMEM_TEAM_INVALID, size, -1, start, stride };

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL,
                                  0, &g.team), 0);
    g.me = shmem_team_my_pe(g.team);
    return g;
}

struct group group_draw(void)
{
    int world = shmem_n_pes(), size, start, stride;

    do {
        start = (int)(T_RAND() % (unsigned)world);
        size = 1 + (int)(T_RAND() % (unsigned)world);
        stride = (int)(T_RAND() % 7) - 3;
    } while (start + stride * (size - 1) < 0 ||
             start + stride * (size - 1) >= world ||
             (stride == 0 && size != 1));
    return split(start, stride, size);
}

struct group group_of_round(int round)
{
    int world = shmem_n_pes();

    if (round == 0)
        return (struct group){ SHMEM_TEAM_WORLD, world, shmem_my_pe(), 0, 1 };
    if (round == 1)
        return split(world - 1, -1, (world + 1) / 2);
    return group_draw();
}

void group_destroy(struct group *g)
{
    if (g->team != SHMEM_TEAM_WORLD)
        shmem_team_destroy(g->team);
    g->team = SHMEM_TEAM_INVALID;
}

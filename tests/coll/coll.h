/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - what the tests of collectives share: teams, most of
 * them random. */
#ifndef TESTS_COLL_H
#define TESTS_COLL_H

#include "../byte_of.h"
#include "../t.h"

#include <shmem.h>

struct group {
    shmem_team_t team;          /* INVALID where this PE is no member */
    int n, me, start, stride;   /* in world numbers */
};

/* A team of the world, the same on all PEs; collective.  group_of_round: the
 * world in round 0, half of it in reverse in round 1, then random ones. */
struct group group_draw(void);
struct group group_of_round(int round);
void group_destroy(struct group *g);
static inline int group_pe(const struct group *g, int i)
{
    return g->start + i * g->stride;
}

#endif

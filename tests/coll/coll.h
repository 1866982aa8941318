/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - what the tests of collectives share: random teams and buffers
 * whose content is known from the PE, the place and the round. */
#ifndef TESTS_COLL_H
#define TESTS_COLL_H

#include "../t.h"

#include <shmem.h>

struct group {
    shmem_team_t team;          /* INVALID where this PE is no member */
    int n, me, start, stride;   /* in world numbers */
};

/* A random team of the world, the same on all PEs; collective. */
struct group group_draw(void);
void group_drop(struct group *g);
static inline int group_pe(const struct group *g, int i)
{
    return g->start + i * g->stride;
}

/* Bytes that only that PE in that round has at that place. */
static inline unsigned char byte_of(int pe, unsigned round, size_t at)
{
    return (unsigned char)((unsigned)pe * 89u + round * 31u +
                           (unsigned)(at * 2654435761u >> 7) + (unsigned)at);
}

#endif

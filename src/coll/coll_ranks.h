/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_ranks.h - members that exchange messages, by number among themselves:
 * all members of a team, or one of each node. */
#ifndef COLL_COLL_RANKS_H
#define COLL_COLL_RANKS_H

#include "coll/coll_int.h"

/* ---- coll_nodes.c ---- */

/* Collective over the world: fills core_node_of.  call: the call in which each
 * PE published where its table is, in its host segment. */
void coll_nodes_open(struct coll_call *call, uint32_t *table);
/* Sets t->nodes, where there is something to know: 0 or -ENOMEM. */
int coll_nodes_find(struct core_team *t);
/* Which of the nodes that member is on. */
int coll_nodes_of(const struct core_team *t, int pe);
/* The two halves of a synchronisation of a node's members, always in turn: the
 * leader waits for the others; they wait for the leader.  Stores before each
 * are visible to members that waited. */
void coll_nodes_gather(struct core_team *t);
void coll_nodes_release(struct core_team *t);
static inline bool coll_nodes_leads(const struct core_team *t)
{
    return t->nodes->here == 0;
}

struct coll_ranks {
    int n, me;
    const int *who;             /* NULL: the members */
    /* Rank i is number i + shift of them, modulo n; and rank 0 is member
     * `first`, if that is not -1. */
    int shift, first;
};

static inline struct coll_ranks coll_ranks_all(const struct core_team *t)
{
    return (struct coll_ranks){ t->n_pes, t->my_pe, NULL, 0, -1 };
}

static inline struct coll_ranks coll_ranks_leaders(const struct core_team *t)
{
    return (struct coll_ranks){ t->nodes->n, t->nodes->mine,
                                t->nodes->leaders, 0, -1 };
}

static inline struct coll_ranks coll_ranks_here(const struct core_team *t)
{
    return (struct coll_ranks){ t->nodes->n_here, t->nodes->here,
                                t->nodes->members, 0, -1 };
}

/* The member that rank i, modulo n, is. */
static inline int coll_rank_pe(const struct coll_ranks *k, int i)
{
    i %= k->n;
    if (i == 0 && k->first >= 0)
        return k->first;
    i = (i + k->shift) % k->n;
    return k->who ? k->who[i] : i;
}

/* ---- coll_doubling.c: a few words of each, in log2(n) messages ---- */

/* In: the values of one member; out: the result of all members. */
struct coll_agreed {
    uint64_t all;               /* true of every one */
    uint64_t sum, least, most;
    uint64_t before;            /* out: the sum of the members before */
    uint64_t args;              /* not 0: the same of all; else 0 afterwards */
};
void coll_agree(const struct coll_call *c, struct coll_agreed *a);
/* A word of each member, in the place of its number, into the tables of all.
 * where: that member's table, as core_team_area_of() names it. */
void coll_table_gather(const struct coll_call *c, uint32_t *table,
                       uint64_t (*where)(void *arg, int pe), void *arg);

/* acc, n elements of size bytes and at most CORE_PIECE bytes, becomes the sum
 * over all ranks, the same bits on all.  They have all come then. */
void coll_doubling(const struct coll_call *c, const struct coll_ranks *who,
                   char *acc, size_t n, size_t size, coll_op *op);

/* ---- coll_halving.c ---- */

/* A long reduction: dest has the sum over all ranks.  dest == source is
 * allowed.  Makes the calls that coll_halving_skip() counts elsewhere. */
struct coll_vector {
    char *dest;
    const char *source;
    size_t n, size;             /* elements, bytes of one */
    coll_op *op;
};
void coll_halving(struct core_team *t, const struct coll_ranks *who,
                  const struct coll_vector *v);
void coll_halving_skip(struct core_team *t, const struct coll_vector *v);

/* ---- coll_collect.c ---- */

/* Each rank has [from, to) of `all` bytes and gets the rest into dest: these
 * runs follow each other in the order of the ranks. */
struct coll_runs {
    char *dest;
    const char *have;           /* what this rank sends of: dest, or a copy */
    size_t from, to, all;
    size_t each;                /* length of all runs but the last; 0: unlike */
    bool first_has;             /* rank 0 has all, and gets nothing */
};
/* Where the run of rank i of equal ones begins, also of the one after the
 * last. */
static inline size_t coll_run_at(const struct coll_runs *r, int i)
{
    size_t at = (size_t)i * r->each;

    return at < r->all ? at : r->all;
}
void coll_runs_gather(const struct coll_call *c, const struct coll_ranks *who,
                      const struct coll_runs *r);

#endif

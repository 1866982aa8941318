/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_int.h - what the algorithms are made of.
 *
 * Three families.  On mapped memory (pull, push, split) members load and store
 * each other's buffers between synchronisations.  The others send messages:
 * a put and a flag that notifies its target; they need no mapping.  Both use
 * the functions below.  Two levels (nodes) are both: memory inside
 * each node, messages between the nodes' leaders.
 *
 * An off-node member has no mapping: core_team_area_of() and
 * core_team_scratch() give offsets in its host segment. */
#ifndef COLL_COLL_INT_H
#define COLL_COLL_INT_H

#include "coll/coll.h"
#include "coll/coll_alg.h"
#include "coll/coll_send.h"

/* The fastest algorithm, or the one that the environment asks for, where it
 * serves that size. */
enum coll_alg coll_choose(enum coll_kind kind, const struct core_team *t,
                          size_t bytes);

/* The environment's choice, which may not serve; coll_is_auto: it made none. */
bool coll_is_auto(enum coll_kind kind);
enum coll_alg coll_requested(enum coll_kind kind);

/* How members synchronize: members of a node gather at the first of them;
 * members of several nodes gather on each node first. */
extern hidden bool coll_sync_gathers, coll_sync_tree, coll_sync_nodes;
/* Some node has more PEs than cores; all PEs know it, so they choose alike. */
extern hidden bool coll_oversubscribed;

static inline struct coll_call coll_begin(struct core_team *t)
{
    uint64_t seq = ++t->calls;

    return (struct coll_call){ t, seq, (unsigned)(seq & 1) };
}

/* Skips n collectives that other members make among themselves. */
static inline void coll_skip(struct core_team *t, int n)
{
    t->calls += (uint64_t)n;
}

/* out = a op b, in memory of any kind. */
void coll_apply_device(coll_op *op, void *out, const void *a, const void *b,
                       size_t n, size_t size) __attribute__((cold));
static inline void coll_apply(coll_op *op, void *out, const void *a,
                              const void *b, size_t n, size_t size)
{
    if (likely(!gtl_device_only))
        op(out, a, b, n);
    else
        coll_apply_device(op, out, a, b, n, size);
}

/* Called before a synchronisation that notifies members of puts: waits until
 * the puts to off-node members have arrived. */
static inline void coll_flush(const struct core_team *t)
{
    if (unlikely(!t->mapped))
        coll_remote_quiet();
}

/* Ends the job if a PE finalizes without the world's synchronisation of that
 * number, or without this PE's present collective call. */
void coll_need_all(uint64_t sync);

/* Waits until *word, in our area of team t, is at least value. */
void coll_wait(const struct core_team *t, uint64_t *word, uint64_t value);
/* Waits for a word that only members of this node raise. */
void coll_wait_mapped(const struct core_team *t, uint64_t *word,
                      uint64_t value);

static inline void coll_await(const struct coll_call *c, int step)
{
    coll_wait(c->t,
              &core_team_area_of(c->t, c->t->my_pe)->flag[c->parity][step],
              c->seq);
}

/* Waits for n more arrivals. */
static inline void coll_await_count(const struct coll_call *c, uint64_t n)
{
    c->t->counted[c->parity] += n;
    coll_wait(c->t, &core_team_area_of(c->t, c->t->my_pe)->count[c->parity],
              c->t->counted[c->parity]);
}

/* Each member publishes a value, which all members can read until the next
 * collective.  Values of off-node members are fetched from each. */
struct coll_call coll_publish(struct core_team *t, uint64_t word);
/* The two halves of coll_publish, and the value of one member. */
struct coll_call coll_publish_begin(struct core_team *t, uint64_t word);
void coll_publish_end(const struct coll_call *c);
uint64_t coll_published_by(const struct coll_call *c, int pe);

static inline uint64_t coll_published(const struct coll_call *c, int pe)
{
    if (unlikely(c->t->published != NULL))
        return c->t->published[pe];
    /* relaxed: the synchronisation of coll_publish has ordered it. */
    return __atomic_load_n(&core_team_area_of(c->t, pe)->value[c->parity],
                           __ATOMIC_RELAXED);
}

/* May a PE's area for a team of n_pes lie there, in units of 64 bytes? */
static inline bool coll_area_fits(uint64_t at, int n_pes)
{
    uint64_t size = heap_segs[HEAP_HOST].size;

    return at && at < size / 64 && core_team_area_room(n_pes) <= size - 64 * at;
}

#endif

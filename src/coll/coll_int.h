/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_int.h - what the algorithms are made of.
 *
 * Two families.  On mapped memory (pull, push, split) members load and store
 * each other's buffers between synchronisations.  The others are messages: a
 * put and a word that tells of it; they need no mapping.  Both see the world
 * through the functions below. */
#ifndef COLL_COLL_INT_H
#define COLL_COLL_INT_H

#include "coll/coll.h"
#include "core/core_rma.h"

/* Algorithms; which of them a collective has, coll_tune.c says. */
enum coll_alg {
    COLL_AUTO, COLL_PUSH, COLL_PULL, COLL_SPLIT, COLL_BINOMIAL, COLL_PIPELINE,
    COLL_BRUCK, COLL_RING, COLL_PAIRWISE, COLL_DOUBLING, COLL_ALGS
};

enum coll_kind {
    COLL_BROADCAST, COLL_COLLECT, COLL_FCOLLECT, COLL_ALLTOALL, COLL_REDUCE,
    COLL_SCAN, COLL_KINDS
};

/* The fastest, or the one that the environment asks for, where it serves
 * that size. */
enum coll_alg coll_choose(enum coll_kind kind, const struct core_team *t,
                          size_t bytes);

/* How members meet, as the words of SHMEM_COLL_SYNC. */
extern hidden int coll_sync_choice;

/* One collective, or one piece of a long one. */
struct coll_call {
    struct core_team *t;
    uint64_t seq;
    unsigned parity;
};

static inline struct coll_call coll_begin(struct core_team *t)
{
    uint64_t seq = ++t->calls;

    return (struct coll_call){ t, seq, (unsigned)(seq & 1) };
}

/* Member pe's copy of a symmetric address; the arguments were checked. */
static inline void *coll_at(const struct core_team *t, int pe, const void *sym)
{
    return (void *)xport_near(core_team_world_pe(t, pe), sym, 1);
}

static inline void coll_put(const struct core_team *t, int pe, void *dest,
                            const void *source, size_t bytes)
{
    if (bytes)
        copy_bytes(coll_at(t, pe, dest), source, bytes);
}

static inline void coll_wake(const struct core_team *t, int pe, void *word)
{
    core_wake((struct core_spot){ (uintptr_t)word,
                                  core_peer_ctl(core_team_world_pe(t, pe)) },
              sizeof(uint64_t));
}

/* Tells member pe that step is done here: our puts to it come before. */
static inline void coll_tell(const struct coll_call *c, int pe, int step)
{
    uint64_t *w = &core_team_words(c->t, pe)->flag[c->parity][step];

    atomics_told();
    __atomic_store_n(w, c->seq, __ATOMIC_RELEASE);
    coll_wake(c->t, pe, w);
}

/* The same without a number: one more has come. */
static inline void coll_count(const struct coll_call *c, int pe)
{
    uint64_t *w = &core_team_words(c->t, pe)->count[c->parity];

    atomics_told();
    __atomic_fetch_add(w, 1, __ATOMIC_RELEASE);
    coll_wake(c->t, pe, w);
}

/* Ends the job if a PE finalizes without the world's synchronisation of that
 * number, or without this PE's present collective call. */
void coll_need_all(uint64_t sync);

/* Waits until *word, one of ours for team t, is at least value. */
void coll_wait(const struct core_team *t, uint64_t *word, uint64_t value);

static inline void coll_hear(const struct coll_call *c, int step)
{
    coll_wait(c->t, &core_team_words(c->t, c->t->my_pe)->flag[c->parity][step],
              c->seq);
}

/* Waits for n more. */
static inline void coll_hear_count(const struct coll_call *c, uint64_t n)
{
    c->t->counted[c->parity] += n;
    coll_wait(c->t, &core_team_words(c->t, c->t->my_pe)->count[c->parity],
              c->t->counted[c->parity]);
}

/* Each member tells all one word; afterwards everybody's can be read, until
 * the next collective. */
struct coll_call coll_publish(struct core_team *t, uint64_t word);

static inline uint64_t coll_published(const struct coll_call *c, int pe)
{
    /* relaxed: the synchronisation of coll_publish has ordered it. */
    return __atomic_load_n(&core_team_words(c->t, pe)->value[c->parity],
                           __ATOMIC_RELAXED);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams are made by their parent: each member takes its words from its own
 * pool and tells the parent where they are.  All memory is taken before, so
 * that what a member lacks is a word it tells, too. */
#include "coll/coll_int.h"

#include <errno.h>
#include <stdlib.h>

/* The words of a PE that joins no team; 0 is one that lacks memory. */
#define NO_MEMBER UINT64_MAX

struct draft {
    struct core_team *t;
    uint32_t *words_of;
    void *words;
};

static void drop(struct draft *d)
{
    if (d->words)
        heap_pool_give(d->words);
    if (d->t)
        core_team_free(d->t);
    free(d->words_of);
}

/* Where our words are, in units of 64 bytes, or 0. */
static uint64_t take(struct draft *d, int start, int stride, int size)
{
    d->t = core_team_new(start, stride, size);
    d->words_of = malloc((size_t)size * sizeof *d->words_of);
    d->words = heap_pool_take(core_words_size(size));
    if (!d->t || !d->words_of || !d->words || coll_nodes_find(d->t))
        return 0;
    return ((uintptr_t)d->words - heap_segs[HEAP_HOST].base) / 64;
}

/* Where member i of the new team has its words, as it published that. */
static uint32_t words_of(const struct draft *d, const struct coll_call *c,
                         int i)
{
    int pe = core_team_world_pe(d->t, i);
    uint64_t at = coll_published(c, core_team_member(c->t, pe));

    if (at == NO_MEMBER)
        core_fatal(ERR_ARG, "shmem_team_split", "PE %d is of the new team by "
                   "the arguments of this PE, but not by its own: all PEs of "
                   "the parent team give the same", pe);
    if (!coll_words_fit(at, d->t->n_pes))
        core_fatal(ERR_CORRUPT, "shmem_team_split", "what PE %d publishes of "
                   "its words for the new team is not in its heap: the "
                   "library's words there were overwritten, as by a put past "
                   "the end of its block", pe);
    return (uint32_t)at;
}

/* All members of parent call, each with the world PEs of its new team; size 0
 * where it joins none. */
static int found(struct core_team *parent, int start, int stride, int size,
                 struct core_team **out)
{
    struct draft d = { 0 };
    struct coll_call c;
    bool ok = true;

    c = coll_publish(parent, size ? take(&d, start, stride, size) : NO_MEMBER);
    for (int i = 0; i < parent->n_pes; i++)
        ok = ok && coll_published(&c, i);
    if (!ok) {
        if (parent == &core_world)      /* or has somebody only finalized? */
            coll_need_all(parent->epoch + 1);
        drop(&d);
        return -ENOMEM;
    }
    *out = d.t;
    if (!size)
        return 0;
    d.t->space = parent->space;
    for (int i = 0; i < size; i++)
        d.words_of[i] = words_of(&d, &c, i);
    core_team_place(d.t, d.words_of);
    return 0;
}

int coll_differs(struct core_team *t, uint64_t mine, uint64_t *theirs)
{
    struct coll_call c = coll_publish(t, mine);

    for (int i = 0; i < t->n_pes; i++) {
        *theirs = coll_published(&c, i);
        if (*theirs != mine)
            return i;
    }
    return -1;
}

int coll_team_split(struct core_team *parent, int start, int stride, int size,
                    struct core_team **out)
{
    int first = core_team_world_pe(parent, start);
    /* The stride of one PE may be anything: none is kept. */
    struct core_team run = {
        .n_pes = size, .start = first,
        .stride = size > 1 ? stride * parent->stride : 0
    };
    bool member = core_team_member(&run, core_world.my_pe) >= 0;

    return found(parent, first, run.stride, member ? size : 0, out);
}

int coll_team_split_2d(struct core_team *parent, int xrange,
                       struct core_team **x, struct core_team **y)
{
    int n = parent->n_pes, me = parent->my_pe, row = me / xrange;
    int column = me % xrange, width = xrange, rc;

    if (width > n - row * xrange)
        width = n - row * xrange;
    rc = found(parent, core_team_world_pe(parent, row * xrange),
               parent->stride, width, x);
    if (rc)
        return rc;
    rc = found(parent, core_team_world_pe(parent, column),
               parent->stride * xrange, (n - column + xrange - 1) / xrange, y);
    if (rc) {
        coll_team_destroy(*x);
        *x = NULL;
    }
    return rc;
}

void coll_team_destroy(struct core_team *t)
{
    coll_sync(t);
    /* All have arrived and told us so: nobody writes to our words again. */
    heap_pool_give(core_team_words(t, t->my_pe));
    core_ctx_drop_team(t);
    core_team_free(t);
}

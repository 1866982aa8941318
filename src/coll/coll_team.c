/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys teams.  The calls are collective over the parent: each
 * member of the new team allocates its area from its own pool and publishes
 * the position to the parent's members.  All memory is allocated before that,
 * so that a member without memory publishes this instead. */
#include "coll/coll_ranks.h"

#include <errno.h>
#include <stdlib.h>

/* In place of a position: of a PE that joins no team, and of one that lacks
 * memory. */
#define NO_MEMBER ((uint64_t)UINT32_MAX)
#define NO_MEMORY (NO_MEMBER - 1)

struct draft {
    struct core_team *t;
    void *area;
};

/* A hash of the arguments that all members pass alike, never 0. */
static uint64_t mix(int a, int b, int c)
{
    return (((uint64_t)(uint32_t)a * 0x9e3779b97f4a7c15 + (uint32_t)b) *
            0xbf58476d1ce4e5b9 + (uint32_t)c) | 1;
}

/* Of the team with that first PE that the call makes: a hash, so that two alike
 * are as good as impossible.  Areas are used again, and what was sent for a team
 * may come when another one has its place. */
static uint64_t team_id(const struct coll_call *c, int start)
{
    uint64_t h = c->t->id * 0x9e3779b97f4a7c15;

    h = ((h ^ h >> 32) + c->seq) * 0xbf58476d1ce4e5b9;
    h = ((h ^ h >> 32) + (uint64_t)start) * 0x94d049bb133111eb;
    return CORE_TEAM_ID | (h ^ h >> 29);
}

static void discard(struct draft *d)
{
    if (d->area)
        heap_pool_free(d->area);
    if (d->t)
        core_team_free(d->t);
}

/* Allocates the draft: the position of our area in units of 64 bytes, or
 * NO_MEMORY. */
static uint64_t take(struct draft *d, const struct core_team *run,
                     bool kernels)
{
    size_t size = core_team_area_room(run->n_pes);

    d->t = core_team_new(run->start, run->stride, run->n_pes);
    d->area = heap_pool_alloc(size + (kernels ? CORE_KERNEL_AREA : 0));
    if (!d->t || !d->area || coll_nodes_find(d->t))
        return NO_MEMORY;
    d->t->kernel_area = kernels ? size : 0;
    return ((uintptr_t)d->area - heap_segs[HEAP_HOST].base) / 64;
}

/* Publishes our position with the number of the call: the word of a member that
 * is in another call is an older one. */
static struct coll_call publish_position(struct core_team *parent, uint64_t at)
{
    return coll_publish_begin(parent,
                              (uint64_t)(uint32_t)(parent->calls + 1) << 32 |
                                  at);
}

static _Noreturn void report_overwritten(int pe)
{
    core_fatal(ERR_CORRUPT, "shmem_team_split", "what PE %d publishes of its "
               "words for the new team is not in its heap: the library's words "
               "there were overwritten, as by a put past the end of its block",
               pe);
}

/* Is that member still in this call, by what it shows to stall lines? */
static bool is_here(const struct core_team *t, int member)
{
    const uint64_t *here = &core_team_area_of(t, t->my_pe)->entry;
    const uint64_t *there = &core_team_area_of(t, member)->entry;
    uint64_t entry;

    if (coll_is_mapped(t, member))
        entry = __atomic_load_n(there, __ATOMIC_RELAXED);
    else
        coll_remote_get(core_team_world_pe(t, member), there, &entry,
                        sizeof entry);
    return entry == *here;
}

/* The position in a word that a member of the parent has published; ends the
 * job where it is none of this call. */
static uint64_t position_in(const struct coll_call *c, int member,
                            uint64_t word)
{
    if (word >> 32 == (uint32_t)c->seq)
        return (uint32_t)word;
    if (is_here(c->t, member))
        report_overwritten(core_team_world_pe(c->t, member));
    if (c->t == &core_world)    /* or has it only finalized? */
        coll_need_all(c->t->epoch + 1);
    core_fatal(ERR_COLL, "shmem_team_split", "PE %d makes another collective "
               "call here; all PEs of the parent team make the same%s",
               core_team_world_pe(c->t, member), core_status.checks ? ""
               : "; SHMEM_CHECK=1 names calls that do not match");
}

/* Ends the job unless member i of the new team has a possible position. */
static uint32_t check_area(const struct draft *d, int i, uint64_t at)
{
    int pe = core_team_world_pe(d->t, i);

    if (at == NO_MEMBER)
        core_fatal(ERR_ARG, "shmem_team_split", "PE %d is of the new team by "
                   "the arguments of this PE, but not by its own: all PEs of "
                   "the parent team give the same", pe);
    if (!coll_area_fits(at, d->t->n_pes))
        report_overwritten(pe);
    return (uint32_t)at;
}

/* Fills the table from the values that all members of parent published. */
static void read_areas(const struct draft *d, const struct coll_call *c)
{
    uint32_t *table = core_team_table(d->t, d->area);

    for (int i = 0; i < d->t->n_pes; i++) {
        int there = core_team_member(c->t, core_team_world_pe(d->t, i));

        table[i] = check_area(d, i, position_in(c, there,
                                                coll_published(c, there)));
    }
    core_team_set_areas(d->t, table);
}

/* The argument of table_of. */
struct area_query {
    const struct draft *d;
    const struct coll_call *c;  /* of parent, which published the positions */
    uint32_t *known;            /* of the members that were queried */
};

static uint64_t table_of(void *arg, int pe)
{
    const struct area_query *a = arg;
    const struct core_team *t = a->d->t, *parent = a->c->t;
    int there = core_team_member(parent, core_team_world_pe(t, pe));

    a->known[pe] = check_area(a->d, pe, position_in(
                                  a->c, there, coll_published_by(a->c, there)));
    return (uintptr_t)core_team_table(t, core_team_area_of(t, pe));
}

/* Fills the table where the areas lie at different positions: each member
 * queries a few members, and gets the others' positions from these.  Positions
 * that it queries are kept apart, since the same may arrive in the table
 * meanwhile. */
static void gather_areas(const struct draft *d, const struct coll_call *c)
{
    struct area_query a = { d, c,
                            malloc((size_t)d->t->n_pes * sizeof *a.known) };
    uint32_t *table = core_team_table(d->t, d->area);
    struct coll_call mine;

    table[d->t->my_pe] = (uint32_t)(((uintptr_t)d->area -
                                     heap_segs[HEAP_HOST].base) / 64);
    if (!a.known)
        core_fatal(ERR_HEAP, "shmem_team_split", "out of memory for where %d "
                   "members' words are", d->t->n_pes);
    a.known[d->t->my_pe] = table[d->t->my_pe];
    d->t->area_of = a.known;
    mine = coll_begin(d->t);
    coll_table_gather(&mine, table, table_of, &a);
    for (int i = 0; i < d->t->n_pes; i++)
        check_area(d, i, table[i]);
    core_team_set_areas(d->t, table);
    free(a.known);
}

/* False: a member lacks memory. */
static bool all_have_memory(const struct coll_call *c)
{
    bool ok = true;

    for (int i = 0; i < c->t->n_pes; i++)
        ok &= position_in(c, i, coll_published(c, i)) != NO_MEMORY;
    return ok;
}

/* Compares what the members have published; false: a member lacks memory.
 * Members of a mapped parent read each other's; else log2(n) messages find out
 * whether the positions are alike. */
static bool compare_areas(const struct coll_call *c, uint64_t at, uint64_t args,
                          struct coll_agreed *all)
{
    if (c->t->mapped) {
        coll_sync(c->t);
        *all = (struct coll_agreed){ .all = all_have_memory(c) };
        return all->all;
    }
    *all = (struct coll_agreed){
        .all = at != NO_MEMORY, .args = args,
        .least = at, .most = at == NO_MEMBER ? 0 : at
    };
    coll_agree(c, all);
    if (!all->args)             /* some member passed other arguments */
        coll_publish_end(c);
    return all->all;
}

/* All members of parent call, each with the world PEs of its new team; size 0
 * where it joins none.  args: what all pass alike. */
static int found(struct core_team *parent, const struct core_team *run,
                 uint64_t args, struct core_team **out)
{
    struct draft d = { 0 };
    struct coll_agreed all;
    struct coll_call c;
    uint64_t at;

    at = run->n_pes ? take(&d, run, core_team_of_device(parent)) : NO_MEMBER;
    c = publish_position(parent, at);
    if (!compare_areas(&c, at, args, &all)) {
        if (parent == &core_world)      /* or has a PE only finalized? */
            coll_need_all(parent->epoch + 1);
        discard(&d);
        return -ENOMEM;
    }
    *out = d.t;
    if (!run->n_pes)
        return 0;
    d.t->id = team_id(&c, run->start);
    d.t->space = parent->space;
    if (parent->mapped || !all.args)
        read_areas(&d, &c);
    else if (all.least == all.most && coll_area_fits(at, run->n_pes))
        d.t->area_at = at * 64;
    else
        gather_areas(&d, &c);
    return 0;
}

int coll_differs(struct core_team *t, uint64_t mine, uint64_t *theirs)
{
    struct coll_agreed all = { .least = mine, .most = mine };
    struct coll_call c = coll_publish_begin(t, mine);

    if (t->mapped)
        coll_sync(t);
    else
        coll_agree(&c, &all);
    if (!t->mapped && all.least == all.most)
        return -1;
    coll_publish_end(&c);
    for (int i = 0; i < t->n_pes; i++) {
        *theirs = coll_published(&c, i);
        if (*theirs != mine)
            return i;
    }
    return -1;
}

bool coll_alike(struct core_team *t, bool has, uint64_t word)
{
    struct coll_agreed all = { .least = has ? word : UINT64_MAX,
                               .most = has ? word : 0 };
    struct coll_call c = coll_begin(t);

    coll_agree(&c, &all);
    return all.least >= all.most;
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

    if (core_team_member(&run, core_world.my_pe) < 0)
        run.n_pes = 0;
    return found(parent, &run, mix(start, stride, size), out);
}

int coll_team_split_2d(struct core_team *parent, int xrange,
                       struct core_team **x, struct core_team **y)
{
    int n = parent->n_pes, me = parent->my_pe, row = me / xrange;
    int column = me % xrange, rc;
    struct core_team across = {
        .n_pes = xrange, .start = core_team_world_pe(parent, row * xrange),
        .stride = parent->stride
    }, down = {
        .n_pes = (n - column + xrange - 1) / xrange,
        .start = core_team_world_pe(parent, column),
        .stride = parent->stride * xrange
    };

    if (across.n_pes > n - row * xrange)
        across.n_pes = n - row * xrange;
    rc = found(parent, &across, mix(xrange, 0, -1), x);
    if (rc)
        return rc;
    rc = found(parent, &down, mix(xrange, 1, -1), y);
    if (rc) {
        coll_team_destroy(*x);
        *x = NULL;
    }
    return rc;
}

void coll_team_destroy(struct core_team *t)
{
    coll_sync(t);
    /* All members have arrived: none writes to our area again. */
    heap_pool_free(core_team_area_of(t, t->my_pe));
    core_ctx_destroy_team(t);
    core_team_free(t);
}

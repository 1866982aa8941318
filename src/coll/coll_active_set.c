/* SPDX-License-Identifier: BSD-3-Clause */
/* Active sets: teams without a call that creates them, named by their triplet
 * in each call.  Called by the active-set collectives of api.
 *
 * A PE that meets a triplet for the first time allocates an area for it from
 * its pool and chains the area, with the triplet, to its control block, where
 * the other members search for it; then it searches for theirs.  Nothing
 * travels through pSync, which thus keeps its value. */
#include "coll/coll_ranks.h"
#include "base/lock.h"

#include <stdlib.h>

/* In the pool, in front of the area; offsets are of the host segment. */
struct entry {
    _Alignas(64) uint64_t next;
    int32_t start, log_stride, size;
};

/* The private side of an entry of this PE's chain. */
struct set {
    struct core_team *t;
    int log_stride;
    struct set *next;
};

static struct base_lock sets_lock = LOCK_INIT;
static struct set *sets GUARDED_BY(sets_lock);

static struct set *find(int start, int log_stride, int size)
    REQUIRES(sets_lock)
{
    for (struct set *s = sets; s; s = s->next)
        if (s->t->start == start && s->log_stride == log_stride &&
            s->t->n_pes == size)
            return s;
    return NULL;
}

/* The first of that PE's chain, and an entry of it. */
static uint64_t first_of(int world_pe)
{
    uint64_t at;

    /* acquire: pairs with the release in chain(). */
    if (coll_is_mapped(&core_world, world_pe))
        return __atomic_load_n(&core_peer_ctl(world_pe)->sets,
                               __ATOMIC_ACQUIRE);
    coll_remote_get(world_pe, (void *)offsetof(struct core_ctl, sets), &at,
                    sizeof at);
    return at;
}

/* The chain is what a put of any PE's may have left there. */
_Noreturn static void bad_chain(int world_pe, const char *what)
{
    core_fatal(ERR_CORRUPT, "active set", "the chain of active sets of PE %d "
               "%s: the library's words there were overwritten, as by a put "
               "past the end of its block", world_pe, what);
}

static struct entry entry_at(int world_pe, uint64_t at)
{
    uintptr_t where = (uintptr_t)core_peer_ctl(world_pe) + at;
    struct entry e;

    if (at % _Alignof(struct entry) ||
        at > heap_segs[HEAP_HOST].size - sizeof e)
        bad_chain(world_pe, "leads out of its heap");
    if (coll_is_mapped(&core_world, world_pe))
        return *(const struct entry *)where;
    coll_remote_get(world_pe, (const void *)where, &e, sizeof e);
    return e;
}

/* Searches the chain once: the position of the area for the set in units of 64
 * bytes, or 0.  A chain that leads back ends the job, at the latest in its
 * third turn. */
static uint32_t walk(int world_pe, const struct entry *want)
{
    uint64_t mark = 0, passed = 0, until = 2, area;
    struct entry e;

    for (uint64_t at = first_of(world_pe); at; at = e.next) {
        if (at == mark)
            bad_chain(world_pe, "leads back into itself");
        if (++passed == until) {
            mark = at;
            until *= 2;
        }
        e = entry_at(world_pe, at);
        if (e.start != want->start || e.size != want->size ||
            e.log_stride != want->log_stride)
            continue;
        area = (at + sizeof e) / 64;
        if (!coll_area_fits(area, e.size))
            bad_chain(world_pe, "has an entry where there is no room for it");
        return (uint32_t)area;
    }
    return 0;
}

/* Searches until that PE has chained the set. */
static uint32_t look_up(int world_pe, const struct entry *want)
{
    struct core_waiter w = core_wait_begin(core_ctl, sizeof *core_ctl);
    uint32_t area;

    while (!(area = walk(world_pe, want)))
        core_wait_step(&w);
    core_wait_end(&w);
    return area;
}

static void chain(struct entry *e)
{
    e->next = core_ctl->sets;
    __atomic_store_n(&core_ctl->sets, (uintptr_t)e - (uintptr_t)core_ctl,
                     __ATOMIC_RELEASE);
}

/* Adds the set to the chain and the list; the table of areas is still empty. */
static struct set *make(int start, int log_stride, int size, struct entry **out)
    REQUIRES(sets_lock)
{
    struct core_team *t = core_team_new(start, 1 << log_stride, size);
    struct set *s = malloc(sizeof *s);
    struct entry *e = heap_pool_alloc(sizeof *e + core_team_area_room(size));

    if (!t || !s || !e || coll_nodes_find(t))
        return NULL;            /* the caller ends the job */
    e->start = start;
    e->log_stride = log_stride;
    e->size = size;
    chain(e);
    *s = (struct set){ t, log_stride, sets };
    sets = s;
    *out = e;
    return s;
}

struct area_query {
    struct core_team *t;
    uint32_t *table;
    const struct entry *want;
};

static uint64_t table_of(void *arg, int pe)
{
    const struct area_query *a = arg;

    if (!a->table[pe])
        a->table[pe] = look_up(core_team_world_pe(a->t, pe), a->want);
    return (uintptr_t)core_team_table(a->t, core_team_area_of(a->t, pe));
}

/* Finds the other members' areas: mapped members' chains are searched; else a
 * few members are queried, and send the positions of the others. */
static void learn_areas(struct core_team *t, struct entry *mine)
{
    uint32_t *table = core_team_table(t, mine + 1);
    struct area_query a = { t, table, mine };
    struct coll_call c;

    t->area_of = table;
    table[t->my_pe] = (uint32_t)(((uintptr_t)(mine + 1) -
                                  heap_segs[HEAP_HOST].base) / 64);
    if (t->mapped) {
        for (int i = 0; i < t->n_pes; i++)
            table_of(&a, i);
    } else {
        c = coll_begin(t);
        coll_table_gather(&c, table, table_of, &a);
    }
    core_team_set_areas(t, table);
}

struct core_team *coll_active_set(int start, int log_stride, int size)
{
    struct entry *new = NULL;
    struct set *s;

    if (start == 0 && log_stride == 0 && size == core_world.n_pes)
        return &core_world;
    lock_acquire(&sets_lock);
    s = find(start, log_stride, size);
    if (!s)
        s = make(start, log_stride, size, &new);
    lock_release(&sets_lock);
    if (!s || !new)
        return s ? s->t : NULL;
    /* Without the lock: a member may first have to make another set. */
    learn_areas(s->t, new);
    return s->t;
}

void coll_active_set_close(void)
{
    struct set *s;

    lock_acquire(&sets_lock);
    while ((s = sets)) {
        sets = s->next;
        free(s);
    }
    lock_release(&sets_lock);
}

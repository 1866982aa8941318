/* SPDX-License-Identifier: BSD-3-Clause */
/* Team objects and the list of them.  Called by coll, which creates teams
 * collectively, and by api for handles.  Sends no message. */
#include "core/core_team.h"
#include "base/lock.h"
#include "core/core.h"
#include "core/core_stall.h"

#include <errno.h>
#include <stdlib.h>

_Alignas(64) hot_data struct core_team core_world = { .stride = 1 };
struct core_team core_shared = { .stride = 1 };
struct core_team core_device_world = { .stride = 1 };
struct core_team core_device_shared = { .stride = 1 };
int32_t *core_node_of;

static struct base_lock teams_lock = LOCK_INIT;
static struct list_link teams GUARDED_BY(teams_lock) = LIST_INIT(teams);

int core_team_member(const struct core_team *t, int world_pe)
{
    int pe;

    if (t->stride == 0)         /* a team of one may say so */
        return world_pe == t->start ? 0 : -1;
    if ((world_pe - t->start) % t->stride)
        return -1;
    pe = (world_pe - t->start) / t->stride;
    return pe >= 0 && pe < t->n_pes ? pe : -1;
}

int core_team_triplet(const struct core_team *parent, int start, int stride,
                      int size)
{
    long long last = start + stride * ((long long)size - 1);

    if (size < 1 || start < 0 || start >= parent->n_pes || last < 0 ||
        last >= parent->n_pes || (stride == 0 && size != 1))
        return -EINVAL;
    return 0;
}

struct core_team *core_team_new(int start, int stride, int size)
{
    struct core_team *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->n_pes = size;
    t->start = start;
    t->stride = stride;
    t->my_pe = core_team_member(t, core_world.my_pe);
    t->mapped = true;
    for (int i = 0; i < size && t->mapped; i++)
        t->mapped = xport_routes[core_team_world_pe(t, i)].map[HEAP_HOST];
    lock_acquire(&teams_lock);
    list_append(&teams, &t->link);
    lock_release(&teams_lock);
    return t;
}

void core_team_set_areas(struct core_team *t, const uint32_t *area_of)
{
    bool alike = true;

    for (int i = 1; i < t->n_pes; i++)
        alike = alike && area_of[i] == area_of[0];
    t->area_at = (uint64_t)area_of[0] * 64;
    t->area_of = alike ? NULL : area_of;
}

void core_team_free(struct core_team *t)
{
    lock_acquire(&teams_lock);
    list_remove(&t->link);
    lock_release(&teams_lock);
    if (core_activity_team == t) /* of the call that ends it */
        core_activity_team = NULL;
    free(t->published);
    free(t->nodes);
    free(t);
}

bool core_team_predefined(const struct core_team *t)
{
    return t == &core_world || t == &core_shared ||
           t == &core_device_world || t == &core_device_shared;
}

bool core_team_known(const struct core_team *t)
{
    const struct list_link *pos;
    bool found = core_team_predefined(t);

    lock_acquire(&teams_lock);
    for (pos = teams.next; pos != &teams && !found; pos = pos->next)
        found = pos == &t->link;
    lock_release(&teams_lock);
    return found;
}

struct core_team *core_team_of_space(const struct heap_space *s)
{
    struct core_team *t, *found = NULL;
    struct list_link *l;

    lock_acquire(&teams_lock);
    for (l = teams.next; l != &teams && !found; l = l->next) {
        t = list_entry(l, struct core_team, link);
        found = t->space == s ? t : NULL;
    }
    lock_release(&teams_lock);
    return found;
}

/* Without the lock: the thread that held it at the fork is not in the child,
 * which has no other. */
void core_team_fork_child(void) LOCK_ATTR(no_thread_safety_analysis)
{
    core_world.n_pes = 0;
    core_shared.n_pes = 0;
    core_device_world.n_pes = 0;
    core_device_shared.n_pes = 0;
    for (struct list_link *l = teams.next; l != &teams; l = l->next)
        list_entry(l, struct core_team, link)->n_pes = 0;
}

void core_team_free_all(void)
{
    struct list_link *first;

    for (;;) {
        lock_acquire(&teams_lock);
        first = list_empty(&teams) ? NULL : teams.next;
        lock_release(&teams_lock);
        if (!first)
            return;
        core_team_free(list_entry(first, struct core_team, link));
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams whose members lie on several nodes, some of them together: the leader
 * of each node's members, and how these synchronize in memory.
 *
 * Every PE knows the lowest PE of each PE's node, four bytes per PE, learnt
 * once; with it each member finds the nodes of a new team without a message.
 * The lowest member of a node leads the others there. */
#include "coll/coll_ranks.h"

#include <errno.h>
#include <stdlib.h>

/* That PE's table, whose place it has published. */
static uint64_t table_of(void *arg, int pe)
{
    return xport_routes[pe].map[HEAP_HOST] + coll_published_by(arg, pe);
}

void coll_nodes_open(struct coll_call *call, uint32_t *table)
{
    int n = core_world.n_pes, lowest = 0;
    struct coll_call c = coll_begin(&core_world);

    core_node_of = malloc((size_t)n * sizeof *core_node_of);
    if (!core_node_of)
        core_fatal(ERR_LIMIT, "shmem_init", "no memory for the nodes of %d "
                   "PEs", n);
    while (!coll_is_mapped(&core_world, lowest))
        lowest++;
    table[core_world.my_pe] = (uint32_t)lowest;
    coll_table_gather(&c, table, table_of, call);
    memcpy(core_node_of, table, (size_t)n * sizeof *core_node_of);
}

static int node_of(const struct core_team *t, int pe)
{
    return core_node_of[core_team_world_pe(t, pe)];
}

/* One entry per node and one per member here, rising.  seen: zeros, one for
 * each PE of the world. */
static void find_nodes(const struct core_team *t, char *seen,
                       struct core_nodes *out)
{
    int my_node = node_of(t, t->my_pe), n_here = 0, id;

    for (int i = 0; i < t->n_pes; i++) {
        id = node_of(t, i);
        if (!seen[id]) {
            if (id == my_node)
                out->mine = out->n;
            out->leaders[out->n++] = i;
        } else if (id != node_of(t, i - 1)) {
            out->runs = false;
        }
        seen[id] = 1;
    }
    out->members = out->leaders + out->n;
    for (int i = 0; i < t->n_pes; i++) {
        if (node_of(t, i) != my_node)
            continue;
        if (i == t->my_pe)
            out->here = n_here;
        out->members[n_here++] = i;
    }
    out->n_here = n_here;
}

int coll_nodes_find(struct core_team *t)
{
    struct core_nodes *k;
    size_t room;
    char *seen;

    if (t->mapped || !core_node_of || t->my_pe < 0)
        return 0;
    room = (size_t)t->n_pes * 2 * sizeof k->leaders[0];
    k = malloc(sizeof *k + room);
    seen = calloc(1, (size_t)core_world.n_pes);
    if (!k || !seen) {
        free(seen);
        free(k);
        return -ENOMEM;
    }
    *k = (struct core_nodes){ .runs = true };
    find_nodes(t, seen, k);
    free(seen);
    if (k->n == t->n_pes) {     /* each on its own */
        free(k);
        return 0;
    }
    t->nodes = realloc(k, sizeof *k +
                       (size_t)(k->n + k->n_here) * sizeof k->leaders[0]);
    if (!t->nodes)
        t->nodes = k;
    t->nodes->members = t->nodes->leaders + t->nodes->n;
    return 0;
}

int coll_nodes_of(const struct core_team *t, int pe)
{
    const struct core_nodes *k = t->nodes;
    int id = node_of(t, pe), i = 0;

    while (node_of(t, k->leaders[i]) != id)
        i++;
    return i;
}

void coll_nodes_gather(struct core_team *t)
{
    const struct core_nodes *k = t->nodes;
    int leader = k->members[0];
    uint64_t *word = &core_team_area_of(t, leader)->gathered;
    uint64_t all = ++t->gatherings * ((uint64_t)k->n_here - 1);

    if (k->here == 0) {
        coll_wait_mapped(t, word, all);
        return;
    }
    atomics_tsan_release();
    /* acq_rel: the last one hands on what the others stored.  Only it wakes
     * the leader. */
    if (__atomic_add_fetch(word, 1, __ATOMIC_ACQ_REL) == all)
        coll_wake(t, leader, word);
}

void coll_nodes_release(struct core_team *t)
{
    const struct core_nodes *k = t->nodes;

    if (k->here) {
        coll_wait_mapped(t, &core_team_area_of(t, t->my_pe)->released,
                         t->gatherings);
        return;
    }
    for (int i = 1; i < k->n_here; i++)
        coll_set_flag(t, k->members[i],
                      &core_team_area_of(t, k->members[i])->released,
                      t->gatherings);
}

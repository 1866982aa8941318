/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a word that near and far members count in is counted in by the
 * network alone, where its atomics are not those of processors. */
#include "unit.h"

#include "coll/coll_int.h"

/* Two PEs on this node, with a heap each, and one elsewhere. */
enum { WORDS_AT = 256 };
static _Alignas(64) char heaps[2][1 << 16];
static struct core_team team = {
    .n_pes = 3, .stride = 1, .area_at = WORDS_AT
};

static struct notified {
    struct xport_addr at;
    struct xport_amo amo;
    int times, fences;
} notified;

static void count_notify(struct xport_ctx *f T_UNUSED,
                         const struct xport_addr *at,
                         const struct xport_amo *a)
{
    notified.at = *at;
    notified.amo = *a;
    notified.times++;
}

static void fence(struct xport_ctx *f T_UNUSED, bool then_amo T_UNUSED)
{
    notified.fences++;
}

static const struct xport_ops network = { .notify = count_notify,
                                          .fence = fence };

static uint64_t *count_of(int pe)
{
    return &((struct core_team_area *)(void *)(heaps[pe] + WORDS_AT))->count[1];
}

/* amo: are words mapped for atomics? */
static struct coll_call finish(bool amo, bool mapped)
{
    struct coll_call c = { &team, 1, 1 };

    if (!xport_routes)
        T_EQ(xport_open(3), 0);
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)heaps[0],
                                              sizeof heaps[0] };
    for (int i = 0; i < 2; i++) {
        xport_routes[i].map[HEAP_HOST] = (uintptr_t)heaps[i];
        xport_routes[i].amo[HEAP_HOST] = amo ? (uintptr_t)heaps[i] : 0;
        *count_of(i) = 0;
    }
    core_world.n_pes = 3;
    core_world.stride = 1;
    xport_net = &network;
    team.mapped = mapped;
    memset(&notified, 0, sizeof notified);
    return c;
}

T(by_the_network_where_it_must_be)
{
    struct coll_call c = finish(false, false);

    for (int pe = 1; pe < 3; pe++) {
        coll_notify_count_mixed(&c, pe);
        T_EQ(notified.times, pe);
        T_EQ(notified.fences, pe);
        T_EQ(notified.at.pe, pe);
        T_EQ(notified.at.seg, (int)HEAP_HOST);
        T_EQ(notified.at.off,
             WORDS_AT + offsetof(struct core_team_area, count[1]));
        T_EQ((int)notified.amo.op, (int)AMO_ADD);
        T_EQ(notified.amo.value, 1);
    }
    T_EQ(*count_of(1), 0);
}

T(in_memory_where_atomics_are_one)
{
    struct coll_call c = finish(true, false);

    coll_notify_count_mixed(&c, 1);
    T_EQ(notified.times, 0);
    T_EQ(*count_of(1), 1);
    coll_notify_count_mixed(&c, 2);
    T_EQ(notified.times, 1);
}

T(in_memory_where_all_are_on_node)
{
    struct coll_call c = finish(false, true);

    coll_notify_count_mixed(&c, 1);
    T_EQ(notified.times, 0);
    T_EQ(*count_of(1), 1);
}

int main(void)
{
    T_RUN(by_the_network_where_it_must_be);
    T_RUN(in_memory_where_atomics_are_one);
    T_RUN(in_memory_where_all_are_on_node);
    xport_net = NULL;
    xport_close();
    return T_DONE();
}

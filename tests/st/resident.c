/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: groups of a grid that are resident together may wait for each
 * other by plain loops, however few cores there are, also across streams; a
 * launch that cannot have them gives -ENOSPC, with the limit in a line.
 * PEs: 1
 * Env: SHMEM_DEVICE_RESIDENT=96 SHMEM_DEVICE=software
 * Expect: asks for 2147483648 resident groups, and 96 of 96 are free: raise SHMEM_DEVICE_RESIDENT
 * Expect: asks for 40 resident groups, and 32 of 96 are free: raise
 * Reject: S-W-STALL */
#include "st.h"
#include <dirent.h>
#include <pthread.h>
#include <signal.h>

enum { GROUPS = 64, ROUNDS = 1, ITEMS = 2 };

static unsigned load(const unsigned *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(unsigned *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
}

/* Nothing in here yields to another thread.  Relaxed, for the thread sanitizer
 * has a lock behind each acquire, which the one that stores would not get. */
static void spin(const unsigned *word, unsigned least)
{
    while (__atomic_load_n(word, __ATOMIC_RELAXED) < least)
        ;
    load(word);
}

struct grid {
    unsigned came, left, other; /* counts of groups */
    long sum[GROUPS], total[GROUPS];
    const struct grid *twin;
    shmemx_stream_t stream;
    int rc;
};

static shmemx_grid_t grid_of(unsigned groups, unsigned resident)
{
    return (shmemx_grid_t){
        .groups = groups, .items = 1, .phases = 1, .resident = resident
    };
}

/* Each group writes its word, meets the others, and adds all words. */
static void exchange(const shmemx_item_t *it, void *arg)
{
    struct grid *g = arg;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        g->sum[it->group] = (long)(it->group * round);
        add(&g->came);
        spin(&g->came, round * it->groups);
        g->total[it->group] = 0;
        for (unsigned i = 0; i < it->groups; i++)
            g->total[it->group] += g->sum[i];
        add(&g->left);
        spin(&g->left, round * it->groups);
    }
}

T(groups_that_meet_on_a_counter_end)
{
    const unsigned asks[] = { GROUPS, 0xffffffff };
    shmemx_stream_t s = st_make();

    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        shmemx_grid_t grid = grid_of(GROUPS, asks[i]);
        struct grid g = { .came = 0 };

        T_EQ(shmemx_stream_launch(s, &grid, exchange, &g), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int k = 0; k < GROUPS; k++)
            T_EQ(g.total[k], ROUNDS * GROUPS * (GROUPS - 1) / 2);
    }
    T_EQ(shmemx_stream_destroy(s), 0);
}

/* The last of those that are resident with a group have begun, if they have
 * its number and up. */
static void read_ahead(const shmemx_item_t *it, void *arg)
{
    unsigned *began = arg, last = it->group + 7;

    if (it->phase == 0 && it->item == 0)
        add(&began[it->group]);
    if (it->phase == 1 && it->item == 0)
        spin(&began[last < it->groups ? last : it->groups - 1], 1);
}

T(a_group_may_wait_for_those_that_begin_after_it)
{
    shmemx_grid_t grid = {
        .groups = 500, .items = ITEMS, .phases = 2, .resident = 8
    };
    shmemx_stream_t s = st_make();
    unsigned began[500] = { 0 };

    T_EQ(shmemx_stream_launch(s, &grid, read_ahead, began), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    for (int i = 0; i < 500; i++)
        T_EQ(began[i], 1);
    T_EQ(shmemx_stream_destroy(s), 0);
}

static void synchronize_twin(const shmemx_item_t *it, void *arg)
{
    struct grid *g = arg;

    (void)it;
    add(&g->came);
    spin(&g->came, 8);
    spin(&g->twin->came, 8);
}

/* The streams' own threads are resident groups, too: all 12 grids are. */
T(grids_of_several_streams_are_resident_together)
{
    enum { STREAMS = 12 };
    shmemx_stream_t s[STREAMS];
    struct grid g[STREAMS] = { { .came = 0 } };
    shmemx_grid_t grid = grid_of(8, 8);

    for (int i = 0; i < STREAMS; i++) {
        g[i].twin = &g[(i + 1) % STREAMS];
        s[i] = st_make();
        T_EQ(shmemx_stream_launch(s[i], &grid, synchronize_twin, &g[i]), 0);
    }
    for (int i = 0; i < STREAMS; i++) {
        T_EQ(shmemx_stream_sync(s[i]), 0);
        T_EQ(shmemx_stream_destroy(s[i]), 0);
    }
}

static void hold(const shmemx_item_t *it, void *arg)
{
    struct grid *g = arg;

    (void)it;
    add(&g->came);
    spin(&g->other, 1);
}

T(more_than_the_limit_is_refused_until_there_is_room)
{
    shmemx_stream_t a = st_make(), b = st_make();
    shmemx_grid_t all = grid_of(1u << 31, 1u << 31), none = grid_of(0, 64);
    shmemx_grid_t some = grid_of(GROUPS, GROUPS), more = grid_of(40, 40);
    struct grid g = { .came = 0 };

    T_EQ(shmemx_stream_launch(a, &all, hold, &g), -ENOSPC);
    T_EQ(shmemx_stream_launch(a, &none, hold, &g), -EINVAL);
    T_EQ(shmemx_stream_launch(a, &some, hold, &g), 0);
    /* One after the other: that takes no more. */
    T_EQ(shmemx_stream_launch(a, &more, hold, &g), 0);
    T_EQ(shmemx_stream_launch(b, &more, hold, &g), -ENOSPC);
    T_EQ(shmemx_stream_query(b), 0);
    spin(&g.came, GROUPS);
    add(&g.other);
    T_EQ(shmemx_stream_sync(a), 0);
    T_EQ(load(&g.came), GROUPS + 40);
    T_EQ(shmemx_stream_launch(b, &more, hold, &g), 0);
    T_EQ(shmemx_stream_sync(b), 0);
    T_EQ(load(&g.came), GROUPS + 80);
    T_EQ(shmemx_stream_destroy(a), 0);
    T_EQ(shmemx_stream_destroy(b), 0);
}

/* One group launches a grid, on another stream or behind its own. */
static void launch_inner(const shmemx_item_t *it, void *arg)
{
    struct grid *g = arg;
    shmemx_grid_t grid = grid_of(16, 16);

    if (it->group == 0)
        g->rc = shmemx_stream_launch(g->stream, &grid, exchange, g);
    add(&g->other);
    spin(&g->other, it->groups);
}

T(a_kernel_may_launch_a_grid_with_more_resident_groups)
{
    shmemx_stream_t a = st_make(), b = st_make();
    shmemx_grid_t grid = grid_of(4, 4);

    for (int i = 0; i < 2; i++) {
        struct grid g = { .stream = i ? a : b, .rc = 1 };

        T_EQ(shmemx_stream_launch(a, &grid, launch_inner, &g), 0);
        spin(&g.other, 4);
        T_EQ(shmemx_stream_sync(a), 0);
        T_EQ(shmemx_stream_sync(b), 0);
        T_EQ(g.rc, 0);
        T_EQ(g.total[15], ROUNDS * 16 * 15 / 2);
    }
    T_EQ(shmemx_stream_destroy(a), 0);
    T_EQ(shmemx_stream_destroy(b), 0);
}

static void read_mask(const shmemx_item_t *it, void *arg)
{
    struct grid *g = arg;
    sigset_t set;

    pthread_sigmask(SIG_BLOCK, NULL, &set);
    if (!sigismember(&set, SIGTERM) || sigismember(&set, SIGSEGV))
        add(&g->other);
    exchange(it, arg);
}

T(threads_of_groups_take_no_signals_of_the_program)
{
    shmemx_stream_t s = st_make();
    shmemx_grid_t grid = grid_of(GROUPS, GROUPS);
    struct grid g = { .came = 0 };

    T_EQ(shmemx_stream_launch(s, &grid, read_mask, &g), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(g.other, 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

int main(void)
{
    int before = threads();

    st_begin();
    if (!st_kernels()) {
        puts("skip: kernels that are C functions need the software device");
        shmem_global_exit(77);
    }
    T_RUN(groups_that_meet_on_a_counter_end);
    T_RUN(a_group_may_wait_for_those_that_begin_after_it);
    T_RUN(grids_of_several_streams_are_resident_together);
    T_RUN(more_than_the_limit_is_refused_until_there_is_room);
    T_RUN(a_kernel_may_launch_a_grid_with_more_resident_groups);
    T_RUN(threads_of_groups_take_no_signals_of_the_program);
    T_LT(GROUPS, threads());
    shmem_finalize();
    T_LE(threads(), before + 1);        /* a sanitizer may have one */
    return T_DONE();
}

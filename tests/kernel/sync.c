/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: barriers and syncs of kernels on device teams, their splits and
 * contexts; team queries; more requests than a ring has room for, of several
 * groups, with fence, quiet and pe_quiet.
 * PEs: 1 2 3 4
 * Ppn: 2/1 4/2 4/2:SHMEM_DEVICE_RINGS=3 2/1:SHMEM_DEVICE_RING_SIZE=64
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"

enum { MOST = 8, ROUNDS = 100, GROUPS = 4, REQUESTS = 1500 };
static int wrong;               /* atomic: groups add */
static long slots[MOST];        /* symmetric: PE i writes slot i */
static shmem_team_t evens, split;

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* ---- synchronization ---- */

static void put_round(const shmemx_dev_t *d, long round)
{
    for (int pe = 0; pe < n_pes; pe++)
        shmemx_dev_long_p(d, &slots[me], round, pe);
}

static bool all_are(long round)
{
    bool right = true;

    for (int pe = 0; pe < n_pes; pe++)
        right &= __atomic_load_n(&slots[pe], __ATOMIC_ACQUIRE) == round;
    return right;
}

/* Each round writes to all PEs, and reads what all have written. */
static void synchronize_often(const shmemx_item_t *it, void *arg)
{
    const shmemx_dev_t *d = arg;

    (void)it;
    for (long round = 1; round <= ROUNDS; round++) {
        put_round(d, round);
        check(shmemx_dev_barrier_all(d) == 0);
        check(all_are(round));
        check(shmemx_dev_sync_all(d) == 0);
        put_round(d, -round);
        shmemx_dev_quiet(d);
        check(shmemx_dev_team_sync(d, SHMEM_DEVICE_TEAM_WORLD) == 0);
        check(all_are(-round));
        check(shmemx_dev_barrier(d, SHMEM_DEVICE_TEAM_WORLD) == 0);
    }
}

T(kernels_synchronize)
{
    wrong = 0;
    shmem_barrier_all();
    kernel_run(synchronize_often, &dev, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

/* The scopes: all items of a block call, in a phase of the call's own. */
static void synchronize_by_scope(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    switch (it->phase) {
    case 0:
        if (it->item == 0) {
            put_round(&dev, 5);
            shmemx_dev_quiet(&dev);
        }
        break;
    case 1: check(shmemx_dev_barrier_all_block(&dev) == 0); break;
    case 2: check(all_are(5)); break;
    case 3: check(shmemx_dev_sync_all_warp(&dev) == 0); break;
    case 4:
        if (it->item == 0)
            put_round(&dev, 6);
        break;
    case 5:
        check(shmemx_dev_barrier_warp(&dev, SHMEM_DEVICE_TEAM_WORLD) == 0);
        break;
    case 6: check(all_are(6)); break;
    default:
        check(shmemx_dev_team_sync_block(&dev, SHMEM_DEVICE_TEAM_WORLD) == 0);
    }
}

T(blocks_and_warps_meet)
{
    wrong = 0;
    shmem_barrier_all();
    kernel_run(synchronize_by_scope, NULL, 1, 7, 8);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

/* A later kernel goes on where an earlier one has stopped counting. */
static void synchronize_once(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    check(shmemx_dev_barrier_all(&dev) == 0);
}

T(many_kernels_meet_one_after_the_other)
{
    wrong = 0;
    for (int i = 0; i < 50; i++) {
        kernel_run(synchronize_once, NULL, 1, 1, 1);
        if (i % 10 == 0)
            shmem_barrier_all();
    }
    T_EQ(wrong, 0);
}

/* ---- teams and contexts ---- */

struct team_case {
    shmem_team_t team;
    shmemx_dev_t dev;           /* of a context of the team */
    int my_pe, n_pes;
};

static void use_team(const shmemx_item_t *it, void *arg)
{
    const struct team_case *c = arg;
    int to = (c->my_pe + 1) % c->n_pes;

    (void)it;
    check(shmemx_dev_my_pe(&c->dev) == c->my_pe);
    check(shmemx_dev_n_pes(&c->dev) == c->n_pes);
    check(shmemx_dev_team_my_pe(&dev, c->team) == c->my_pe);
    check(shmemx_dev_team_n_pes(&dev, c->team) == c->n_pes);
    check(shmemx_dev_team_translate_pe(&dev, c->team, c->my_pe,
                                       SHMEM_DEVICE_TEAM_WORLD) == me);
    check(shmemx_dev_team_translate_pe(&dev, SHMEM_DEVICE_TEAM_WORLD, me,
                                       c->team) == c->my_pe);
    for (long round = 1; round <= ROUNDS; round++) {
        shmemx_dev_long_p(&c->dev, &slots[0], round * 10 + c->my_pe, to);
        check(shmemx_dev_barrier(&c->dev, c->team) == 0);
        check(__atomic_load_n(&slots[0], __ATOMIC_ACQUIRE) ==
              round * 10 + (c->my_pe + c->n_pes - 1) % c->n_pes);
        check(shmemx_dev_team_sync(&c->dev, c->team) == 0);
    }
}

static void try_team(shmem_team_t team)
{
    struct team_case c = { .team = team };
    shmem_team_t of_ctx;
    shmem_ctx_t ctx;

    if (team == SHMEM_TEAM_INVALID)
        return;
    c.my_pe = shmem_team_my_pe(team);
    c.n_pes = shmem_team_n_pes(team);
    T_EQ(shmem_team_create_ctx(team, SHMEM_DEVICE_CTX, &ctx), 0);
    T_EQ(shmemx_dev_get(ctx, &c.dev), 0);
    T_EQ(shmem_ctx_get_team(ctx, &of_ctx), 0);
    T_TRUE(of_ctx == team);
    kernel_run(use_team, &c, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_ctx_destroy(ctx);
}

static void no_team(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    check(shmemx_dev_team_sync(&dev, SHMEM_TEAM_INVALID) == -1);
    check(shmemx_dev_barrier(&dev, SHMEM_TEAM_WORLD) == -1);
    check(shmemx_dev_team_my_pe(&dev, SHMEM_TEAM_INVALID) == -1);
    check(shmemx_dev_team_n_pes(&dev, SHMEM_TEAM_WORLD) == -1);
    check(shmemx_dev_team_translate_pe(&dev, SHMEM_DEVICE_TEAM_WORLD, n_pes,
                                       SHMEM_DEVICE_TEAM_WORLD) == -1);
    if (me % 2)
        check(shmemx_dev_team_translate_pe(&dev, SHMEM_DEVICE_TEAM_WORLD, me,
                                           evens) == -1);
}

T(teams_and_their_contexts)
{
    wrong = 0;
    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 0, 2,
                                  (n_pes + 1) / 2, NULL, 0, &evens), 0);
    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, n_pes - 1, 1, 1,
                                  NULL, 0, &split), 0);
    try_team(SHMEM_DEVICE_TEAM_WORLD);
    shmem_barrier_all();
    try_team(SHMEM_DEVICE_TEAM_SHARED);
    shmem_barrier_all();
    try_team(evens);
    try_team(split);
    kernel_run(no_team, NULL, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
    shmem_team_destroy(evens);
    shmem_team_destroy(split);
}

T(contexts_and_teams_come_and_go)
{
    shmemx_dev_t d;
    shmem_ctx_t ctx;

    wrong = 0;
    for (int i = 0; i < 100; i++) {
        T_EQ(shmem_ctx_create(SHMEM_DEVICE_CTX, &ctx), 0);
        T_EQ(shmemx_dev_get(ctx, &d), 0);
        T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 0, 1, n_pes,
                                      NULL, 0, &split), 0);
        if (i % 25 == 0)
            try_team(split);
        shmem_team_destroy(split);
        shmem_ctx_destroy(ctx);
    }
}

/* ---- requests ---- */

static long *many;              /* symmetric: GROUPS * REQUESTS of each */
static long *counts;            /* symmetric, of the host heap: a thread
                                 * sanitizer knows static data by two
                                 * addresses */

static void fill_many(const shmemx_item_t *it, void *unused)
{
    long *to = many + it->group * REQUESTS;
    int target = next;

    (void)unused;
    for (int i = 0; i < REQUESTS; i++) {
        shmemx_dev_long_p(&dev, &to[i], me * 100000 + i, next);
        if (i % 100 == 99) {
            shmemx_dev_fence(&dev);
            shmemx_dev_long_atomic_add(&dev, &counts[it->group], 100, next);
        }
        if (i % 500 == 250)
            check(shmemx_dev_long_g(&dev, &to[i], next) != -1);
    }
    shmemx_dev_pe_quiet(&dev, &target, 1);
    check(shmemx_dev_long_g(&dev, &to[REQUESTS - 1], next) ==
          me * 100000 + REQUESTS - 1);
    check(shmemx_dev_long_atomic_fetch(&dev, &counts[it->group], next) ==
          REQUESTS);
}

/* The receiver's kernel sees counted data: the fence orders them. */
static void read_many(const shmemx_item_t *it, void *unused)
{
    const long *from = many + it->group * REQUESTS;

    (void)unused;
    for (int i = 99; i < REQUESTS; i += 100) {
        shmemx_dev_long_wait_until(&dev, &counts[it->group], SHMEM_CMP_GE,
                                   i + 1);
        check(__atomic_load_n(&from[i], __ATOMIC_RELAXED) ==
              prev * 100000 + i);
    }
}

T(more_requests_than_a_ring_has_room_for)
{
    shmemx_grid_t g = { .groups = GROUPS, .items = 1, .phases = 1,
                        .resident = GROUPS };
    shmemx_stream_t other;

    wrong = 0;
    many = kernel_room(true, GROUPS * REQUESTS * sizeof *many);
    counts = kernel_room(false, GROUPS * sizeof *counts);
    T_EQ(shmemx_stream_create(&other), 0);
    shmem_barrier_all();
    T_EQ(shmemx_stream_launch(other, &g, read_many, NULL), 0);
    T_EQ(shmemx_stream_launch(stream, &g, fill_many, NULL), 0);
    T_EQ(shmemx_stream_sync(stream), 0);
    T_EQ(shmemx_stream_sync(other), 0);
    T_EQ(wrong, 0);
    shmem_barrier_all();
    for (int k = 0; k < GROUPS; k++)
        for (int i = 0; i < REQUESTS; i++)
            wrong += many[k * REQUESTS + i] != prev * 100000 + i;
    T_EQ(wrong, 0);
    T_EQ(shmemx_stream_destroy(other), 0);
    shmem_free(counts);
    shmem_free(many);
}

/* What a kernel leaves behind is complete after a quiet of a later one, and at
 * the latest when the context ends. */
static void leave(const shmemx_item_t *it, void *arg)
{
    const shmemx_dev_t *d = arg;

    (void)it;
    for (int i = 0; i < 10; i++)
        shmemx_dev_long_put_nbi(d, &many[i], &many[20 + i], 1, next);
}

T(a_context_completes_what_kernels_left)
{
    shmemx_dev_t d;
    shmem_ctx_t ctx;

    many = kernel_room(false, 30 * sizeof *many);
    for (int i = 0; i < 10; i++)
        many[20 + i] = me + i;
    T_EQ(shmem_ctx_create(SHMEM_DEVICE_CTX, &ctx), 0);
    T_EQ(shmemx_dev_get(ctx, &d), 0);
    shmem_barrier_all();
    kernel_run(leave, &d, 1, 1, 1);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    for (int i = 0; i < 10; i++)
        T_EQ(many[i], prev + i);
    shmem_free(many);
}

int main(void)
{
    kernel_begin();
    T_RUN(kernels_synchronize);
    T_RUN(blocks_and_warps_meet);
    T_RUN(many_kernels_meet_one_after_the_other);
    T_RUN(teams_and_their_contexts);
    T_RUN(contexts_and_teams_come_and_go);
    T_RUN(more_requests_than_a_ring_has_room_for);
    T_RUN(a_context_completes_what_kernels_left);
    return kernel_end();
}

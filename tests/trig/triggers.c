/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: triggers: each operation by hits of the host, of streams and of
 * kernels; hits before and after the post, in any order of tags; thresholds of
 * a thread, a block, a grid and of pairs; armed again by calls and without;
 * arguments of a kernel; completion as the host, a stream and a kernel see it.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 2/1:SHMEM_DEVICE_RING_SIZE=64
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "trig.h"

#include <pthread.h>

enum { TAGS = 1000, GROUPS = 4, ITEMS = 8, ROUNDS = 200, BIG = 300000 };
static long *there, *here;              /* [TAGS] */
static uint64_t signals[TAGS];
static int32_t word32, old32;
static int64_t word64, old64;
static int wrong;                       /* atomic: groups add */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void begin(int tags)
{
    wrong = 0;
    T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, tags, NULL, 0, &trig), 0);
    T_EQ(shmemx_trig_dev(trig, &hits), 0);
    there = kernel_room(false, TAGS * sizeof *there);
    here = kernel_room(true, TAGS * sizeof *here);
    memset(signals, 0, sizeof signals);
    shmem_barrier_all();
}

static void end(void)
{
    T_EQ(wrong, 0);
    T_EQ(shmemx_trig_free(&trig), 0);
    T_TRUE(trig == NULL);
    shmem_barrier_all();
    shmem_free(there);
    shmem_free(here);
}

/* The device's memory, which the processor may not reach. */
static void set_here(int i, long value)
{
    shmem_long_p(&here[i], value, me);
    shmem_quiet();
}

/* ---- the operations, by the host ---- */

T(operations_begin_at_their_threshold)
{
    begin(8);
    set_here(0, me + 100);
    T_EQ(shmemx_trig_put(trig, 0, 3, &there[0], &here[0], sizeof *here, next),
         0);
    T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
    T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
    T_EQ(done(0), 0);
    T_EQ(shmemx_trig_free(&trig), -EBUSY);
    T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    T_EQ(done(0), 1);
    shmem_barrier_all();
    T_EQ(there[0], prev + 100);
    end();
}

T(a_hit_before_the_post_counts)
{
    begin(4);
    set_here(1, me + 7);
    T_EQ(shmemx_trig_hit(trig, 3, 5), 0);
    T_EQ(shmemx_trig_put_signal(trig, 3, 5, &there[1], &here[1], sizeof *here,
                                &signals[1], 9, SHMEM_SIGNAL_SET, next), 0);
    shmem_signal_wait_until(&signals[1], SHMEM_CMP_EQ, 9);
    T_EQ(there[1], prev + 7);
    T_EQ(shmemx_trig_wait(trig, 3, 1), 0);
    /* A smaller threshold, posted behind one that is done. */
    T_EQ(shmemx_trig_signal_op(trig, 3, 2, &signals[2], 4, SHMEM_SIGNAL_ADD,
                               next), 0);
    T_EQ(shmemx_trig_wait(trig, 3, 2), 0);
    shmem_signal_wait_until(&signals[2], SHMEM_CMP_EQ, 4);
    end();
}

/* Operations that wait for their hits have all the room that a NIC has. */
T(one_with_its_hits_does_not_wait_for_room)
{
    enum { MANY = 800, SHORT = 20 };

    begin(MANY / SHORT + 1);
    for (int i = 0; i < MANY; i++)
        T_EQ(shmemx_trig_put_signal(trig, i / SHORT, (unsigned)(i % SHORT) + 1,
                                    &there[i], &here[i], sizeof *here,
                                    &signals[i], 1, SHMEM_SIGNAL_SET, next), 0);
    set_here(MANY, me + 11);
    T_EQ(shmemx_trig_put(trig, MANY / SHORT, 1, &there[MANY], &here[MANY],
                         sizeof *here, next), 0);
    T_EQ(shmemx_trig_hit(trig, MANY / SHORT, 1), 0);
    T_EQ(shmemx_trig_wait(trig, MANY / SHORT, 1), 0);
    shmem_barrier_all();
    T_EQ(there[MANY], prev + 11);
    for (int i = 0; i < MANY / SHORT; i++)
        T_EQ(shmemx_trig_hit(trig, i, SHORT), 0);
    for (int i = 0; i < MANY / SHORT; i++)
        T_EQ(shmemx_trig_wait(trig, i, SHORT), 0);
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        T_EQ(signals[i], 1);
    end();
}

T(all_kinds)
{
    begin(8);
    word32 = 10 * me;
    word64 = 1000 * me;
    shmem_long_p(&there[5], me + 1, me);
    shmem_barrier_all();
    T_EQ(shmemx_trig_get(trig, 0, 1, &here[5], &there[5], sizeof *here, next),
         0);
    T_EQ(shmemx_trig_atomic_add_int32(trig, 1, 1, &word32, 3, next), 0);
    T_EQ(shmemx_trig_atomic_fetch_add_int64(trig, 2, 1, &old64, &word64, 5,
                                            next), 0);
    for (int tag = 2; tag >= 0; tag--)
        T_EQ(shmemx_trig_hit(trig, tag, 1), 0);
    for (int tag = 0; tag <= 2; tag++)
        T_EQ(shmemx_trig_wait(trig, tag, 1), 0);
    T_EQ(shmem_long_g(&here[5], me), next + 1);
    T_EQ(old64, 1000 * next);
    shmem_barrier_all();
    T_EQ(word32, 10 * me + 3);
    T_EQ(word64, 1000 * me + 5);
    shmem_barrier_all();
    T_EQ(shmemx_trig_atomic_compare_swap_int32(trig, 3, 1, &old32, &word32,
                                               10 * next + 3, 77, next), 0);
    T_EQ(shmemx_trig_atomic_set_int64(trig, 4, 1, &word64, -1, next), 0);
    T_EQ(shmemx_trig_hit(trig, 3, 1), 0);
    T_EQ(shmemx_trig_hit(trig, 4, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 3, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 4, 1), 0);
    T_EQ(old32, 10 * next + 3);
    shmem_barrier_all();
    T_EQ(word32, 77);
    T_EQ(word64, -1);
    /* Nothing is moved, and that completes, too. */
    T_EQ(shmemx_trig_put(trig, 5, 0, there, here, 0, next), 0);
    T_EQ(shmemx_trig_wait(trig, 5, 1), 0);
    end();
}

/* ---- kernels ---- */

/* Each of so many threads, blocks or grids hits: by kind. */
enum { BY_ITEM, BY_GROUP, BY_GRID, LEADERLESS, BY_PAIR };
struct grain {
    int kind;
    shmemx_trig_dev_t t;
};

static void hit_by(const shmemx_item_t *it, void *arg)
{
    const struct grain *g = arg;
    int all = (int)(it->group * it->items + it->item);

    if (it->phase == 0) {
        here[all] = me * 1000 + all;
        return;
    }
    switch (g->kind) {
    case BY_ITEM: shmemx_dev_trigger(&g->t, all, 1); break;
    case BY_PAIR: shmemx_dev_trigger(&g->t, all / 2, 1); break;
    case BY_GROUP: shmemx_dev_trigger_block(&g->t, (int)it->group, 1); break;
    case BY_GRID: shmemx_dev_trigger_block(&g->t, 0, 1); break;
    default: shmemx_dev_trigger(&g->t, 0, 1);
    }
}

static void granularity(int kind, int tags, uint64_t threshold)
{
    enum { ALL = GROUPS * ITEMS };
    struct grain g = { .kind = kind };
    int each = ALL / tags;

    begin(TAGS);
    g.t = hits;
    for (int tag = 0; tag < tags; tag++)
        T_EQ(shmemx_trig_put_signal(trig, tag, threshold, &there[tag * each],
                                    &here[tag * each],
                                    (size_t)each * sizeof *here, &signals[tag],
                                    1, SHMEM_SIGNAL_ADD, next), 0);
    kernel_run(hit_by, &g, GROUPS, ITEMS, 2);
    for (int tag = 0; tag < tags; tag++) {
        shmem_signal_wait_until(&signals[tag], SHMEM_CMP_EQ, 1);
        T_EQ(shmemx_trig_wait(trig, tag, 1), 0);
    }
    for (int i = 0; i < ALL; i++)
        T_EQ(there[i], prev * 1000 + i);
    end();
}

T(each_granularity_of_hits)
{
    granularity(BY_ITEM, GROUPS * ITEMS, 1);
    granularity(BY_PAIR, GROUPS * ITEMS / 2, 2);
    granularity(BY_GROUP, GROUPS, 1);
    granularity(BY_GRID, 1, GROUPS);
    granularity(LEADERLESS, 1, GROUPS * ITEMS);
}

/* Every tag once, in an order that jumps, by all groups. */
static void hit_all(const shmemx_item_t *it, void *arg)
{
    const shmemx_trig_dev_t *t = arg;

    for (unsigned i = it->group; i < TAGS; i += it->groups)
        shmemx_dev_trigger(t, (int)(i * 617 % TAGS), 1);
    for (unsigned i = it->group; i < TAGS; i += it->groups)
        shmemx_dev_trig_wait(t, (int)i, 1);
}

T(many_tags_in_any_order)
{
    begin(TAGS);
    for (int i = 0; i < TAGS; i++) {
        if (i % 2)              /* the others are posted after the hits */
            T_EQ(shmemx_trig_put(trig, i, 1, &there[i], &signals[0] + i,
                                 sizeof *there, next), 0);
        signals[i] = (uint64_t)(me * 5000 + i);
    }
    T_EQ(shmemx_trig_hit(trig, 0, 0), 0);
    for (int i = 0; i < TAGS; i += 2)
        T_EQ(shmemx_trig_put(trig, i, 1, &there[i], &signals[0] + i,
                             sizeof *there, next), 0);
    kernel_run(hit_all, &hits, 2, 1, 1);
    shmem_barrier_all();
    for (int i = 0; i < TAGS; i++)
        T_EQ(there[i], prev * 5000 + i);
    end();
}

/* One kernel for all rounds: its puts are posted once and arm themselves. */
static long mailbox[2], letters[2];
static uint64_t arrived[2];

static void rounds(const shmemx_item_t *it, void *arg)
{
    const shmemx_trig_dev_t *t = arg;

    (void)it;
    for (int r = 1; r <= ROUNDS; r++) {
        int half = r % 2;
        uint64_t nth = (uint64_t)(r + 1) / 2;

        /* The put of two rounds ago has completed: its source is free. */
        shmemx_dev_trig_wait(t, half, nth - 1);
        letters[half] = me * 100000 + r;
        shmemx_dev_trigger(t, half, 1);
        shmemx_dev_uint64_wait_until(&t->dev, &arrived[half], SHMEM_CMP_GE,
                                     nth);
        check(mailbox[half] == prev * 100000 + r);
        /* And the neighbor has read what this PE sent before it sends again. */
        shmemx_dev_barrier_all(&t->dev);
    }
}

T(a_kernel_for_all_rounds)
{
    begin(2);
    arrived[0] = arrived[1] = 0;
    shmem_barrier_all();
    for (int half = 0; half < 2; half++) {
        T_EQ(shmemx_trig_put_signal(trig, half, 1, &mailbox[half],
                                    &letters[half], sizeof *letters,
                                    &arrived[half], 1, SHMEM_SIGNAL_ADD, next),
             0);
        T_EQ(shmemx_trig_repeat(trig, half), 0);
    }
    T_EQ(shmemx_trig_put(trig, 0, 1, mailbox, letters, 8, next), -EBUSY);
    T_EQ(shmemx_trig_rearm(trig, 0), -EBUSY);
    kernel_run(rounds, &hits, 1, 1, 1);
    T_EQ(shmemx_trig_wait(trig, 0, ROUNDS / 2), 0);
    T_EQ(shmemx_trig_wait(trig, 1, ROUNDS / 2), 0);
    shmem_barrier_all();
    T_EQ(arrived[0], ROUNDS / 2);
    end();
}

/* The kernel says what goes where: i % 9 words to the PE i further on. */
static void choose(const shmemx_item_t *it, void *arg)
{
    const shmemx_trig_dev_t *t = arg;

    (void)it;
    for (int i = 1; i <= 50; i++)
        shmemx_dev_trigger_op(t, 0, 1, &there[8 * i], &signals[i],
                              (shmemi_u64)(i % 9) * 8, (me + i) % n_pes);
    shmemx_dev_trig_wait(t, 0, 50);
}

T(a_kernel_gives_the_arguments)
{
    begin(1);
    for (int i = 0; i < TAGS; i++)
        signals[i] = (uint64_t)(i + 1);
    shmem_barrier_all();
    T_EQ(shmemx_trig_put(trig, 0, 1, there, signals, 8, next), 0);
    T_EQ(shmemx_trig_repeat(trig, 0), 0);
    kernel_run(choose, &hits, 1, 1, 1);
    shmem_barrier_all();
    for (int i = 1; i <= 50; i++)
        for (int k = 0; k < 8; k++)
            T_EQ(there[8 * i + k], k < i % 9 ? i + k + 1 : 0);
    end();
}

/* ---- again, by the host; streams ---- */

T(armed_again)
{
    begin(3);
    for (int round = 1; round <= 5; round++) {
        set_here(0, round);
        if (round == 1) {
            T_EQ(shmemx_trig_put(trig, 0, 2, &there[0], &here[0], sizeof *here,
                                 next), 0);
            T_EQ(shmemx_trig_signal_op(trig, 0, 4, &signals[0], 1,
                                       SHMEM_SIGNAL_ADD, next), 0);
        } else {
            T_EQ(shmemx_trig_rearm(trig, SHMEMX_TRIG_ALL), 0);
        }
        T_EQ(done(0), 2 * (uint64_t)round - 2);
        T_EQ(shmemx_trig_hit(trig, 0, 2), 0);
        T_EQ(shmemx_trig_wait(trig, 0, 2 * (uint64_t)round - 1), 0);
        T_EQ(shmemx_trig_rearm(trig, 0), -EBUSY);
        T_EQ(shmemx_trig_hit(trig, 0, 2), 0);
        T_EQ(shmemx_trig_wait(trig, 0, 2 * (uint64_t)round), 0);
        shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, (uint64_t)round);
        T_EQ(there[0], round);
        shmem_barrier_all();
    }
    T_EQ(shmemx_trig_rearm(trig, 0), 0);
    T_EQ(shmemx_trig_free(&trig), -EBUSY);
    T_EQ(shmemx_trig_reset(trig, 0), 0);
    /* A new operation counts from there. */
    T_EQ(shmemx_trig_signal_op(trig, 0, 1, &signals[1], 6, SHMEM_SIGNAL_SET,
                               next), 0);
    T_EQ(done(0), 10);
    T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
    shmem_signal_wait_until(&signals[1], SHMEM_CMP_EQ, 6);
    T_EQ(shmemx_trig_wait(trig, 0, 11), 0);
    end();
}

static void hit_once(const shmemx_item_t *it, void *arg)
{
    (void)it;
    shmemx_dev_trigger(arg, 0, 1);
}

/* What a NIC has counted before goes on to count. */
T(reset_and_posted_again)
{
    begin(2);
    for (uint64_t round = 1; round <= 4; round++) {
        set_here(0, (long)round);
        T_EQ(shmemx_trig_put_signal(trig, 0, 1, &there[0], &here[0],
                                    sizeof *here, &signals[0], 1,
                                    SHMEM_SIGNAL_ADD, next), 0);
        kernel_run(hit_once, &hits, 1, 1, 1);
        T_EQ(shmemx_trig_wait(trig, 0, round), 0);
        shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, round);
        T_EQ(there[0], round);
        shmem_barrier_all();
        T_EQ(shmemx_trig_reset(trig, 0), 0);
    }
    end();
}

/* Operations of another tag keep the trigger's lock. */
static void *large_puts(void *stop)
{
    for (uint64_t n = 1; !__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE); n++) {
        T_EQ(shmemx_trig_put(trig, 1, 1, there, &here[TAGS / 2],
                             TAGS / 2 * sizeof *here, next), 0);
        T_EQ(shmemx_trig_hit(trig, 1, 1), 0);
        T_EQ(shmemx_trig_wait(trig, 1, n), 0);
        T_EQ(shmemx_trig_reset(trig, 1), 0);
    }
    return NULL;
}

/* An operation that has its hits is done, though no thread could look yet. */
T(reset_behind_hits)
{
    enum { TIMES = 3000 };
    int stop = 0, rc;
    pthread_t other;

    begin(2);
    pthread_create(&other, NULL, large_puts, &stop);
    for (int i = 0; i < TIMES; i++) {
        T_EQ(shmemx_trig_signal_op(trig, 0, 1, &signals[0], 1,
                                   SHMEM_SIGNAL_ADD, next), 0);
        T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
        rc = shmemx_trig_reset(trig, 0);
        if (rc == -EBUSY)
            T_EQ(shmemx_trig_wait(trig, 0, (uint64_t)i + 1), 0);
        else
            T_EQ(rc, 0);
        T_EQ(done(0), (uint64_t)i + 1);
        if (rc)
            T_EQ(shmemx_trig_reset(trig, 0), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, TIMES);
    end();
}

T(all_tags_are_armed_or_none)
{
    begin(4);
    for (int tag = 0; tag < 3; tag++)
        T_EQ(shmemx_trig_signal_op(trig, tag, tag == 2 ? 2 : 1, &signals[tag], 1,
                                   SHMEM_SIGNAL_ADD, next), 0);
    for (int tag = 0; tag < 3; tag++)
        T_EQ(shmemx_trig_hit(trig, tag, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 1, 1), 0);
    T_EQ(shmemx_trig_rearm(trig, SHMEMX_TRIG_ALL), -EBUSY);
    T_EQ(shmemx_trig_hit(trig, 2, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 2, 1), 0);
    T_EQ(shmemx_trig_rearm(trig, SHMEMX_TRIG_ALL), 0);
    for (int tag = 0; tag < 3; tag++) {
        T_EQ(done(tag), 1);
        T_EQ(shmemx_trig_hit(trig, tag, tag == 2 ? 2 : 1), 0);
        T_EQ(shmemx_trig_wait(trig, tag, 2), 0);
        shmem_signal_wait_until(&signals[tag], SHMEM_CMP_EQ, 2);
    }
    end();
}

/* What a trigger keeps of a stream serves the next one. */
T(streams_come_and_go)
{
    enum { STREAMS = 300, MANY_TAGS = 16384 };
    shmemx_stream_t s;
    long most = 0;

    begin(MANY_TAGS);
    T_EQ(shmemx_trig_signal_op(trig, 7, STREAMS, &signals[0], 1,
                               SHMEM_SIGNAL_ADD, next), 0);
    for (int i = 0; i < STREAMS; i++) {
        T_EQ(shmemx_stream_create(&s), 0);
        T_EQ(shmemx_trig_hit_on_stream(trig, 7, 1, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
        if (i == 10)
            most = t_resident_kib() + 24000;
    }
    T_TRUE(t_resident_kib() < most);
    T_EQ(shmemx_trig_wait(trig, 7, 1), 0);
    shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 1);
    end();
}

T(streams_hit_and_wait)
{
    shmemx_stream_t other;

    begin(2);
    T_EQ(shmemx_stream_create(&other), 0);
    T_EQ(shmemx_trig_put_signal(trig, 1, 3, &there[0], &here[0], sizeof *here,
                                &signals[0], 1, SHMEM_SIGNAL_ADD, next), 0);
    T_EQ(shmemx_trig_repeat(trig, 1), 0);
    for (long round = 1; round <= 20; round++) {
        T_EQ(shmemx_long_p_on_stream(&here[0], round, me, stream), 0);
        T_EQ(shmemx_quiet_on_stream(stream), 0);
        T_EQ(shmemx_trig_hit_on_stream(trig, 1, 2, stream), 0);
        T_EQ(shmemx_trig_hit_on_stream(trig, 1, 1, other), 0);
        T_EQ(shmemx_trig_wait_on_stream(trig, 1, (uint64_t)round, stream), 0);
        T_EQ(shmemx_uint64_wait_until_on_stream(&signals[0], SHMEM_CMP_GE,
                                                (uint64_t)round, stream), 0);
        T_EQ(shmemx_stream_sync(stream), 0);
        T_EQ(done(1), (uint64_t)round);
        T_EQ(there[0], round);
        shmem_barrier_all();
    }
    T_EQ(shmemx_stream_sync(other), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
    end();
}

/* ---- sizes ---- */

T(large)
{
    char *to = kernel_room(false, BIG), *from = kernel_room(true, BIG);
    char *back = kernel_room(false, BIG);

    begin(2);
    for (int i = 0; i < BIG; i++)
        to[i] = (char)(i * 7 + me);
    shmem_putmem(from, to, BIG, me);
    memset(to, 0, BIG);
    shmem_barrier_all();
    T_EQ(shmemx_trig_put(trig, 0, 1, to, from, BIG, next), 0);
    T_EQ(shmemx_trig_get(trig, 1, 1, back, from, BIG, next), 0);
    T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
    T_EQ(shmemx_trig_hit(trig, 1, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 1, 1), 0);
    shmem_barrier_all();
    for (int i = 0; i < BIG; i++)
        wrong += to[i] != (char)(i * 7 + prev) ||
                 back[i] != (char)(i * 7 + next);
    end();
    shmem_free(to);
    shmem_free(from);
    shmem_free(back);
}

int main(void)
{
    int level;

    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
    T_EQ(level, SHMEM_THREAD_MULTIPLE);
    kernel_begin();
    T_RUN(operations_begin_at_their_threshold);
    T_RUN(a_hit_before_the_post_counts);
    T_RUN(all_kinds);
    T_RUN(each_granularity_of_hits);
    T_RUN(many_tags_in_any_order);
    T_RUN(a_kernel_for_all_rounds);
    T_RUN(a_kernel_gives_the_arguments);
    T_RUN(armed_again);
    T_RUN(reset_and_posted_again);
    T_RUN(reset_behind_hits);
    T_RUN(all_tags_are_armed_or_none);
    T_RUN(streams_come_and_go);
    T_RUN(streams_hit_and_wait);
    T_RUN(one_with_its_hits_does_not_wait_for_room);
    T_RUN(large);
    shmem_finalize();           /* the last one is kernel_end()'s */
    return kernel_end();
}

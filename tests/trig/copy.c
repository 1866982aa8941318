/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with SHMEMX_TRIG_COPY the kernel whose hit reaches the threshold
 * does the operation: puts, puts with signals, gets and signals, by thread and
 * block, with hits before and during the post; repeating without a thread of the
 * PE; threads do what is for other nodes.  Only kernels hit such a trigger.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "trig.h"

enum { TAGS = 8, GROUPS = 4, ITEMS = 8, ROUNDS = 300, LONGS = 5000 };
static long *there, *here;              /* [TAGS * LONGS] */
static uint64_t *signals;               /* [TAGS] */

static void begin(void)
{
    const shmemx_trig_config_t copy = { SHMEMX_TRIG_COPY };

    T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, TAGS, &copy,
                            SHMEMX_TRIG_ENGINE, &trig), 0);
    T_EQ(shmemx_trig_dev(trig, &hits), 0);
    there = shmem_calloc(TAGS * LONGS, sizeof *there);
    here = shmem_calloc(TAGS * LONGS, sizeof *here);
    signals = shmem_calloc(TAGS, sizeof *signals);
    shmem_barrier_all();
}

static void end(void)
{
    T_EQ(shmemx_trig_free(&trig), 0);
    shmem_barrier_all();
    shmem_free(signals);
    shmem_free(here);
    shmem_free(there);
}

/* ---- kernels ---- */

struct one {
    int tag;
    uint64_t n;
};

static void hit(const shmemx_item_t *item, void *arg)
{
    const struct one *o = arg;

    if (item->item == 0 && item->group == 0)
        shmemx_dev_trigger(&hits, o->tag, o->n);
}

static void hits_of(int tag, uint64_t n)
{
    kernel_run(hit, &(struct one){ tag, n }, 1, 1, 1);
}

static void hit_by_items(const shmemx_item_t *item, void *arg)
{
    (void)item;
    shmemx_dev_trigger(&hits, *(int *)arg, 1);
}

static void hit_by_groups(const shmemx_item_t *item, void *arg)
{
    (void)item;
    shmemx_dev_trigger_block(&hits, *(int *)arg, 1);
}

/* Each round: computes, releases, and waits for its completion. */
static void rounds(const shmemx_item_t *item, void *arg)
{
    (void)arg;
    if (item->item || item->group)
        return;
    for (long k = 1; k <= ROUNDS; k++) {
        here[0] = k;
        shmemx_dev_trigger(&hits, 0, 1);
        shmemx_dev_trigger(&hits, 0, 1);
        shmemx_dev_trig_wait(&hits, 0, (uint64_t)k);
    }
}

/* ---- tests ---- */

T(each_kind_of_operation)
{
    begin();
    for (int i = 0; i < LONGS; i++)
        here[i] = me * 10 + i;
    shmem_barrier_all();
    T_EQ(shmemx_trig_put(trig, 0, 3, there, here, LONGS * sizeof *here, next),
         0);
    T_EQ(shmemx_trig_put_signal(trig, 1, 1, &there[LONGS], here, 8, &signals[0],
                                5, SHMEM_SIGNAL_SET, next), 0);
    T_EQ(shmemx_trig_get(trig, 2, 1, &there[2 * LONGS], here,
                         LONGS * sizeof *here, next), 0);
    T_EQ(shmemx_trig_signal_op(trig, 3, 1, &signals[1], 7, SHMEM_SIGNAL_ADD,
                               next), 0);
    T_EQ(shmemx_trig_put_signal(trig, 4, 1, there, here, 0, &signals[2], 9,
                                SHMEM_SIGNAL_SET, next), 0);
    hits_of(0, 2);
    T_EQ(done(0), 0);
    T_EQ(shmemx_trig_free(&trig), -EBUSY);
    hits_of(0, 1);
    for (int tag = 1; tag < 5; tag++)
        hits_of(tag, 1);
    for (int tag = 0; tag < 5; tag++) {
        T_EQ(shmemx_trig_wait(trig, tag, 1), 0);
        T_EQ(done(tag), 1);
    }
    shmem_barrier_all();
    for (int i = 0; i < LONGS; i++)
        T_EQ(there[i], prev * 10 + i);
    T_EQ(there[LONGS], prev * 10);
    T_EQ(signals[0], 5);
    for (int i = 0; i < LONGS; i++)
        T_EQ(there[2 * LONGS + i], next * 10 + i);
    T_EQ(signals[1], 7);
    T_EQ(signals[2], 9);
    end();
}

T(hits_before_the_post_count)
{
    begin();
    here[0] = me + 1;
    hits_of(0, 4);
    T_EQ(shmemx_trig_put(trig, 0, 3, there, here, sizeof *here, next), 0);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    shmem_barrier_all();
    T_EQ(there[0], prev + 1);
    shmem_barrier_all();
    /* One of four is left. */
    here[0] = me + 50;
    T_EQ(shmemx_trig_rearm(trig, 0), 0);
    T_EQ(done(0), 1);
    hits_of(0, 2);
    T_EQ(shmemx_trig_wait(trig, 0, 2), 0);
    shmem_barrier_all();
    T_EQ(there[0], prev + 50);
    end();
}

T(items_and_groups_hit)
{
    int tag = 0;

    begin();
    for (int i = 0; i < LONGS; i++)
        here[i] = me + i;
    T_EQ(shmemx_trig_put(trig, 0, GROUPS * ITEMS, there, here,
                         LONGS * sizeof *here, next), 0);
    T_EQ(shmemx_trig_put(trig, 1, GROUPS, &there[LONGS], here,
                         LONGS * sizeof *here, next), 0);
    kernel_run(hit_by_items, &tag, GROUPS, ITEMS, 1);
    tag = 1;
    kernel_run(hit_by_groups, &tag, GROUPS, ITEMS, 1);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    T_EQ(shmemx_trig_wait(trig, 1, 1), 0);
    shmem_barrier_all();
    for (int i = 0; i < LONGS; i++) {
        T_EQ(there[i], prev + i);
        T_EQ(there[LONGS + i], prev + i);
    }
    end();
}

/* Whichever comes first, the post or the hits: each operation is done once. */
T(posts_beside_hits)
{
    shmemx_stream_t s;
    struct one o[ROUNDS];

    begin();
    T_EQ(shmemx_stream_create(&s), 0);
    for (int k = 0; k < ROUNDS; k++) {
        const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

        o[k] = (struct one){ 0, 2 };
        if (k)
            T_EQ(shmemx_trig_reset(trig, 0), 0);
        T_EQ(shmemx_stream_launch(s, &grid, hit, &o[k]), 0);
        for (int spin = 0; spin < k * 20; spin++)
            __asm__ volatile("");
        T_EQ(shmemx_trig_put_signal(trig, 0, 2, there, here, 8, &signals[0], 1,
                                    SHMEM_SIGNAL_ADD, next), 0);
        T_EQ(shmemx_trig_wait(trig, 0, (uint64_t)k + 1), 0);
        T_EQ(done(0), (uint64_t)k + 1);
        T_EQ(shmemx_stream_sync(s), 0);
    }
    shmem_barrier_all();
    T_EQ(signals[0], ROUNDS);
    T_EQ(shmemx_stream_destroy(s), 0);
    end();
}

T(a_tag_repeats)
{
    begin();
    T_EQ(shmemx_trig_put_signal(trig, 0, 2, there, here, 8, &signals[0], 1,
                                SHMEM_SIGNAL_ADD, next), 0);
    T_EQ(shmemx_trig_repeat(trig, 0), 0);
    kernel_run(rounds, NULL, 1, 1, 1);
    T_EQ(done(0), ROUNDS);
    shmem_barrier_all();
    T_EQ(there[0], ROUNDS);
    T_EQ(signals[0], ROUNDS);
    shmem_barrier_all();
    /* Many at once: one after another. */
    hits_of(0, 20);
    T_EQ(shmemx_trig_wait(trig, 0, ROUNDS + 10), 0);
    shmem_barrier_all();
    T_EQ(signals[0], ROUNDS + 10);
    T_EQ(shmemx_trig_reset(trig, 0), 0);
    hits_of(0, 20);
    T_EQ(done(0), ROUNDS + 10);
    shmem_barrier_all();
    T_EQ(signals[0], ROUNDS + 10);
    end();
}

T(what_it_refuses)
{
    uint64_t fetched;

    begin();
    T_EQ(shmemx_trig_hit(trig, 0, 1), -ENOTSUP);
    T_EQ(shmemx_trig_hit_on_stream(trig, 0, 1, NULL), -ENOTSUP);
    T_EQ(shmemx_trig_put(trig, 0, 1, there, here, 8, me), 0);
    T_EQ(shmemx_trig_put(trig, 0, 2, there, here, 8, me), -EINVAL);
    T_EQ(shmemx_trig_reset(trig, 0), 0);
    /* Threads do an atomic, of which a tag may have several. */
    T_EQ(shmemx_trig_atomic_fetch_add_uint64(trig, 1, 1, &fetched, &signals[0],
                                             3, next), 0);
    T_EQ(shmemx_trig_atomic_add_uint64(trig, 1, 2, &signals[0], 4, next), 0);
    hits_of(1, 2);
    T_EQ(shmemx_trig_wait(trig, 1, 2), 0);
    shmem_barrier_all();
    T_EQ(signals[0], 7);
    end();
}

int main(void)
{
    kernel_begin();
    T_RUN(each_kind_of_operation);
    T_RUN(hits_before_the_post_count);
    T_RUN(items_and_groups_hit);
    T_RUN(posts_beside_hits);
    T_RUN(a_tag_repeats);
    T_RUN(what_it_refuses);
    return kernel_end();
}

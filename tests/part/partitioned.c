/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: partitioned messages: started by host and stream, made ready by
 * the host one by one, in ranges and lists, by threads, and by kernels in each
 * mode and scope; other divisions on both sides; fewer that travel; receivers
 * that are late; partitions that arrive one by one; restarted many times.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 2/1:SHMEM_DEVICE_RING_SIZE=64
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "../kernel/kernel.h"
#include <pthread.h>
#include <shmemx_part.h>

enum { PARTS = 24, WORDS = 10, ALL = PARTS * WORDS, ROUNDS = 60 };
static long in[ALL], out[ALL];
static shmemx_req_t ends[2];            /* the send, the receive */
static shmemx_prequest_t send_dev, recv_dev;
static shmemx_queue_t queue;
static int wrong;                       /* atomic: kernels add */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void fill(int round)
{
    for (int i = 0; i < ALL; i++)
        out[i] = me * 1000000 + round * 1000 + i;
}

static void check_words(int from, int n, int round)
{
    for (int i = from; i < from + n; i++)
        check(in[i] == prev * 1000000 + round * 1000 + i);
}

/* most: transport partitions at most, or 0. */
static void open_pair(int sends, int receives, int most)
{
    wrong = 0;
    memset(in, 0xff, sizeof in);
    T_EQ(shmemx_psend_init(out, sends, sizeof out / (size_t)sends, next, 3,
                           &ends[0]), 0);
    if (most)
        T_EQ(shmemx_ptransport(ends[0], most), 0);
    T_EQ(shmemx_precv_init(in, receives, sizeof in / (size_t)receives, prev, 3,
                           &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), 0);
}

static void close_pair(void)
{
    T_EQ(wrong, 0);
    T_EQ(shmemx_req_free(&ends[0]), 0);
    T_EQ(shmemx_req_free(&ends[1]), 0);
    shmem_barrier_all();
}

static int arrived(int part)
{
    int flag = 9;

    T_EQ(shmemx_parrived(ends[1], part, &flag), 0);
    return flag;
}

static void wait_both(void)
{
    T_EQ(shmemx_req_wait(ends[0]), 0);
    T_EQ(shmemx_req_wait(ends[1]), 0);
}

/* ---- by the host ---- */

T(one_by_one_in_any_order)
{
    open_pair(PARTS, PARTS, 0);
    for (int r = 1; r <= ROUNDS; r++) {
        fill(r);
        T_EQ(shmemx_req_startall(2, ends), 0);
        for (int i = 0; i < PARTS; i++)
            T_EQ(shmemx_pready(ends[0], (i * 7 + r) % PARTS), 0);
        for (int i = 0; i < PARTS; i++) {
            while (!arrived(i))
                ;
            check_words(i * WORDS, WORDS, r);
        }
        wait_both();
        T_EQ(arrived(0), 1);
    }
    close_pair();
}

T(a_partition_that_is_not_ready_does_not_arrive)
{
    int flag = 5;

    open_pair(4, 4, 0);
    fill(1);
    T_EQ(shmemx_req_startall(2, ends), 0);
    T_EQ(shmemx_pready_range(ends[0], 0, 2), 0);
    while (!arrived(0) || !arrived(1) || !arrived(2))
        ;
    shmem_barrier_all();
    T_EQ(arrived(3), 0);
    T_EQ(shmemx_req_test(ends[0], &flag), 0);
    T_EQ(flag, 0);
    T_EQ(shmemx_req_test(ends[1], &flag), 0);
    T_EQ(flag, 0);
    T_EQ(shmemx_req_free(&ends[0]), -EBUSY);
    shmem_barrier_all();
    T_EQ(shmemx_pready_list(ends[0], 1, (int[]){ 3 }), 0);
    T_EQ(shmemx_req_wait(ends[1]), 0);
    while (!flag)
        T_EQ(shmemx_req_test(ends[0], &flag), 0);
    check_words(0, ALL, 1);
    close_pair();
}

/* Sender and receiver divide differently. */
T(divisions_of_both_sides)
{
    static const struct { int sends, receives, most; } pairs[] = {
        { 24, 6, 0 }, { 6, 24, 0 }, { 1, 8, 0 }, { 8, 1, 0 }, { 24, 24, 5 },
        { 24, 12, 1 }, { 12, 24, 100 }
    };

    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        open_pair(pairs[k].sends, pairs[k].receives, pairs[k].most);
        for (int r = 1; r <= 3; r++) {
            fill(r);
            T_EQ(shmemx_req_startall(2, ends), 0);
            T_EQ(shmemx_pready_range(ends[0], 0, pairs[k].sends - 1), 0);
            for (int i = pairs[k].receives - 1; i >= 0; i--) {
                int n = ALL / pairs[k].receives;

                while (!arrived(i))
                    ;
                check_words(i * n, n, r);
            }
            wait_both();
        }
        close_pair();
    }
}

/* The sender is ready before the receiver has started, and none is lost. */
T(a_late_receiver)
{
    open_pair(PARTS, PARTS, 0);
    for (int r = 1; r <= 10; r++) {
        fill(r);
        T_EQ(shmemx_req_start(ends[0]), 0);
        T_EQ(shmemx_pready_range(ends[0], 0, PARTS - 1), 0);
        shmem_barrier_all();
        check(in[5] != prev * 1000000 + r * 1000 + 5);
        T_EQ(shmemx_req_start(ends[1]), 0);
        wait_both();
        check_words(0, ALL, r);
    }
    close_pair();
}

static void *some(void *arg)
{
    for (int i = *(int *)arg; i < PARTS; i += 2)
        T_EQ(shmemx_pready(ends[0], i), 0);
    return NULL;
}

/* Whatever its sender has sent by now. */
T(a_receive_reduces_its_partitions)
{
    shmemx_req_t pending;

    T_EQ(shmemx_psend_init(out, 8, sizeof out / 8, next, 4, &ends[0]), 0);
    T_EQ(shmemx_imatch(ends[0], &pending), 0);
    shmem_barrier_all();
    usleep(30000);
    T_EQ(shmemx_precv_init(in, 8, sizeof in / 8, prev, 4, &ends[1]), 0);
    usleep(1000);
    T_EQ(shmemx_ptransport(ends[1], 2), 0);
    T_EQ(shmemx_match(ends[1]), 0);
    T_EQ(shmemx_req_wait(pending), 0);
    close_pair();
    /* One that is never matched. */
    T_EQ(shmemx_precv_init(in, 8, sizeof in / 8, prev, 5, &ends[1]), 0);
    T_EQ(shmemx_req_free(&ends[1]), 0);
    T_EQ(shmemx_psend_init(out, 8, sizeof out / 8, next, 5, &ends[0]), 0);
    T_EQ(shmemx_req_free(&ends[0]), 0);
    shmem_barrier_all();
}

T(threads)
{
    int odd = 1, even = 0;
    pthread_t t;

    open_pair(PARTS, PARTS, 8);
    for (int r = 1; r <= 10; r++) {
        fill(r);
        T_EQ(shmemx_req_startall(2, ends), 0);
        T_EQ(pthread_create(&t, NULL, some, &odd), 0);
        some(&even);
        pthread_join(t, NULL);
        wait_both();
        check_words(0, ALL, r);
    }
    close_pair();
}

T(large_partitions_of_device_memory)
{
    enum { BIG = 200000 };
    char *from = kernel_room(true, 4 * BIG), *to = kernel_room(true, 4 * BIG);
    char *host = malloc(4 * BIG);

    T_EQ(shmemx_psend_init(from, 4, BIG, next, 0, &ends[0]), 0);
    T_EQ(shmemx_precv_init(to, 4, BIG, prev, 0, &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), 0);
    for (int i = 0; i < 4 * BIG; i++)
        host[i] = (char)(i * 31 + me);
    shmem_putmem(from, host, 4 * BIG, me);
    shmem_quiet();
    T_EQ(shmemx_req_startall(2, ends), 0);
    for (int i = 3; i >= 0; i--)
        T_EQ(shmemx_pready(ends[0], i), 0);
    wait_both();
    shmem_getmem(host, to, 4 * BIG, me);
    for (int i = 0; i < 4 * BIG; i++)
        check(host[i] == (char)(i * 31 + prev));
    wrong = wrong != 0;
    close_pair();
    free(host);
    shmem_free(from);
    shmem_free(to);
}

/* ---- streams ---- */

T(started_and_waited_for_by_a_stream)
{
    open_pair(PARTS, PARTS, 6);
    T_EQ(shmemx_queue_create(stream, NULL, 0, &queue), 0);
    for (int r = 1; r <= 60; r++) {     /* no wait needs more room than others */
        fill(r);
        T_EQ(shmemx_enqueue_startall(queue, 2, ends), 0);
        T_EQ(shmemx_pready_range(ends[0], 0, PARTS - 1), 0);
        if (r % 2) {
            T_EQ(shmemx_enqueue_waitall(queue, 2, ends), 0);
            T_EQ(shmemx_stream_sync(stream), 0);
        } else {
            wait_both();
        }
        check_words(0, ALL, r);
    }
    T_EQ(shmemx_queue_destroy(queue), 0);
    close_pair();
}

/* ---- kernels ---- */

struct run {
    int round, scope;
};

/* The items of a group write its partitions, then make them ready. */
static void produce(const shmemx_item_t *it, void *arg)
{
    const struct run *run = arg;

    for (unsigned p = it->group; p < PARTS; p += it->groups) {
        if (it->phase == 0)
            for (unsigned i = it->item; i < WORDS; i += it->items) {
                unsigned at = p * WORDS + i;

                out[at] = me * 1000000 + run->round * 1000 + (int)at;
            }
        else if (run->scope == SHMEMI_DEV_BLOCK)
            shmemx_dev_pready_block(&send_dev, (int)p);
        else if (run->scope == SHMEMI_DEV_WARP && it->item < 32)
            shmemx_dev_pready_warp(&send_dev, (int)p);
        else if (run->scope == SHMEMI_DEV_THREAD && p % it->items == it->item)
            shmemx_dev_pready(&send_dev, (int)p);
    }
}

/* One kernel sends and receives. */
static void both_directions(const shmemx_item_t *it, void *arg)
{
    const struct run *run = arg;

    if (it->phase < 2)
        produce(it, arg);
    else if (it->item == 0)
        for (unsigned p = it->group; p < PARTS; p += it->groups) {
            shmemx_dev_parrived_wait(&recv_dev, (int)p);
            check(shmemx_dev_parrived(&recv_dev, (int)p));
            check_words((int)p * WORDS, WORDS, run->round);
        }
}

static void by_kernels(int mode, int most, int scope)
{
    const shmemx_prequest_config_t config = { .mode = mode };
    struct run run = { .scope = scope };
    unsigned items = scope == SHMEMI_DEV_THREAD ? 4 : 64;

    open_pair(PARTS, PARTS, most);
    T_EQ(shmemx_prequest_create(ends[0], &config, SHMEMX_PREQUEST_MODE,
                                &send_dev), 0);
    T_EQ(shmemx_prequest_create(ends[1], NULL, 0, &recv_dev), 0);
    T_EQ(shmemx_req_free(&ends[0]), -EBUSY);
    for (int r = 1; r <= 8; r++) {
        run.round = r;
        if (r % 2) {            /* both are started, maybe */
            T_EQ(shmemx_req_startall(2, ends), 0);
            kernel_run(both_directions, &run, 2, items, 3);
        } else {                /* the receiver is late */
            T_EQ(shmemx_req_start(ends[0]), 0);
            kernel_run(produce, &run, 2, items, 2);
            shmem_barrier_all();
            T_EQ(shmemx_req_start(ends[1]), 0);
        }
        wait_both();
        check_words(0, ALL, r);
        shmem_barrier_all();
    }
    T_EQ(shmemx_prequest_free(&send_dev), 0);
    T_EQ(shmemx_prequest_free(&recv_dev), 0);
    close_pair();
}

T(kernels_in_each_scope)
{
    by_kernels(SHMEMX_PREQUEST_AUTO, 0, SHMEMI_DEV_THREAD);
    by_kernels(SHMEMX_PREQUEST_AUTO, 0, SHMEMI_DEV_WARP);
    by_kernels(SHMEMX_PREQUEST_AUTO, 0, SHMEMI_DEV_BLOCK);
}

T(kernels_of_the_engine)
{
    by_kernels(SHMEMX_PREQUEST_ENGINE, 0, SHMEMI_DEV_THREAD);
    by_kernels(SHMEMX_PREQUEST_ENGINE, 4, SHMEMI_DEV_BLOCK);
}

T(partitions_of_kernels_travel_together)
{
    by_kernels(SHMEMX_PREQUEST_AUTO, 4, SHMEMI_DEV_THREAD);
    by_kernels(SHMEMX_PREQUEST_AUTO, 1, SHMEMI_DEV_BLOCK);
}

/* Everything is enqueued before the first iteration runs. */
T(iterations_in_the_order_of_a_stream)
{
    enum { N = 6 };
    static struct run runs[N];
    shmemx_grid_t g = { .groups = 2, .items = 4, .phases = 3, .resident = 2 };

    open_pair(PARTS, PARTS, 0);
    T_EQ(shmemx_prequest_create(ends[0], NULL, 0, &send_dev), 0);
    T_EQ(shmemx_prequest_create(ends[1], NULL, 0, &recv_dev), 0);
    T_EQ(shmemx_queue_create(stream, NULL, 0, &queue), 0);
    for (int r = 0; r < N; r++) {
        runs[r] = (struct run){ r + 1, SHMEMI_DEV_THREAD };
        T_EQ(shmemx_enqueue_startall(queue, 2, ends), 0);
        T_EQ(shmemx_stream_launch(stream, &g, both_directions, &runs[r]), 0);
        T_EQ(shmemx_enqueue_waitall(queue, 2, ends), 0);
    }
    T_EQ(shmemx_stream_sync(stream), 0);
    T_EQ(shmemx_prequest_free(&send_dev), 0);
    T_EQ(shmemx_prequest_free(&recv_dev), 0);
    T_EQ(shmemx_queue_destroy(queue), 0);
    close_pair();
}

static void again(const shmemx_item_t *it, void *arg)
{
    struct run *run = arg;

    if (it->phase == 0 && it->group == 0 && it->item == 0)
        run->round++;
    else if (it->phase > 0)
        produce(&(shmemx_item_t){ .group = it->group, .item = it->item,
                                  .groups = it->groups, .items = it->items,
                                  .phase = it->phase - 1 }, run);
}

/* A start, a kernel and a wait that a graph repeats. */
T(iterations_of_a_graph)
{
    static struct run run = { 0, SHMEMI_DEV_THREAD };
    shmemx_grid_t g = { .groups = 1, .items = 4, .phases = 3 };
    shmemx_graph_t graph = NULL;

    open_pair(PARTS, PARTS, 0);
    T_EQ(shmemx_prequest_create(ends[0], NULL, 0, &send_dev), 0);
    T_EQ(shmemx_queue_create(stream, NULL, 0, &queue), 0);
    T_EQ(shmemx_stream_capture_begin(stream), 0);
    T_EQ(shmemx_enqueue_startall(queue, 2, ends), 0);
    T_EQ(shmemx_stream_launch(stream, &g, again, &run), 0);
    T_EQ(shmemx_enqueue_waitall(queue, 2, ends), 0);
    T_EQ(shmemx_stream_capture_end(stream, &graph), 0);
    for (int r = 1; r <= 5; r++) {
        T_EQ(shmemx_graph_launch(graph, stream), 0);
        T_EQ(shmemx_stream_sync(stream), 0);
        check_words(0, ALL, r);
        shmem_barrier_all();
    }
    T_EQ(shmemx_graph_destroy(graph), 0);
    T_EQ(shmemx_prequest_free(&send_dev), 0);
    T_EQ(shmemx_queue_destroy(queue), 0);
    close_pair();
}

/* Each partition is written by 3 groups. */
static void third(const shmemx_item_t *it, void *arg)
{
    const struct run *run = arg;

    for (unsigned p = 0; p < PARTS; p++) {
        for (unsigned i = it->group; i < WORDS; i += 3) {
            unsigned at = p * WORDS + i;

            out[at] = me * 1000000 + run->round * 1000 + (int)at;
        }
        shmemx_dev_pready_block(&send_dev, (int)p);
    }
}

T(several_calls_make_a_partition_ready)
{
    const shmemx_prequest_config_t config = { .calls = 3 };
    struct run run;

    for (int most = 0; most <= 6; most += 6) {
        open_pair(PARTS, PARTS, most);
        T_EQ(shmemx_prequest_create(ends[0], &config, SHMEMX_PREQUEST_CALLS,
                                    &send_dev), 0);
        T_EQ(shmemx_pready(ends[0], 0), -EINVAL);
        for (run.round = 1; run.round <= 5; run.round++) {
            T_EQ(shmemx_req_startall(2, ends), 0);
            T_EQ(shmemx_pready(ends[0], 0), -EINVAL);
            kernel_run(third, &run, 3, 1, 1);
            wait_both();
            check_words(0, ALL, run.round);
        }
        T_EQ(shmemx_prequest_free(&send_dev), 0);
        close_pair();
    }
}

/* ---- what the ends do not agree on ---- */

/* A block of 1024 items makes one partition ready: by each item, each warp, or
 * once. */
static void by_scope(const shmemx_item_t *it, void *arg)
{
    int scope = *(const int *)arg;

    if (it->phase == 0)
        for (unsigned i = it->item; i < ALL; i += it->items)
            out[i] = me * 1000000 + scope * 1000 + (int)i;
    else if (scope == SHMEMI_DEV_THREAD)
        shmemx_dev_pready(&send_dev, 0);
    else if (scope == SHMEMI_DEV_WARP)
        shmemx_dev_pready_warp(&send_dev, 0);
    else
        shmemx_dev_pready_block(&send_dev, 0);
}

/* What each scope costs, counted: 1024 to 32 to 1 calls that store. */
T(calls_of_each_scope)
{
    static const struct { int scope, calls; } scopes[] = {
        { SHMEMI_DEV_THREAD, 1024 }, { SHMEMI_DEV_WARP, 32 },
        { SHMEMI_DEV_BLOCK, 1 }
    };

    for (int k = 0; k < 3; k++) {
        const shmemx_prequest_config_t config = { .calls = scopes[k].calls };
        int scope = scopes[k].scope;

        open_pair(1, 1, 0);
        T_EQ(shmemx_prequest_create(ends[0], &config, SHMEMX_PREQUEST_CALLS,
                                    &send_dev), 0);
        T_EQ(shmemx_req_startall(2, ends), 0);
        kernel_run(by_scope, &scope, 1, 1024, 2);
        wait_both();
        check_words(0, ALL, scope);
        if (config.calls > 1)
            T_EQ(send_dev.calls[0], (shmemi_u64)config.calls);
        shmem_barrier_all();
        T_EQ(shmemx_prequest_free(&send_dev), 0);
        close_pair();
    }
}

T(totals_and_divisions_that_differ)
{
    T_EQ(shmemx_psend_init(out, 4, 8, next, 1, &ends[0]), 0);
    T_EQ(shmemx_precv_init(in, 4, 16, prev, 1, &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), -EMSGSIZE);
    close_pair();
    T_EQ(shmemx_psend_init(out, 4, 48, next, 1, &ends[0]), 0);
    T_EQ(shmemx_precv_init(in, 6, 32, prev, 1, &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), -EINVAL);
    close_pair();
    T_EQ(shmemx_send_init(out, 64, next, 1, &ends[0]), 0);
    T_EQ(shmemx_precv_init(in, 8, 8, prev, 1, &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), -EINVAL);
    close_pair();
    T_EQ(shmemx_psend_init(out, 8, 8, next, 1, &ends[0]), 0);
    T_EQ(shmemx_recv_init(in, 64, prev, 1, &ends[1]), 0);
    T_EQ(shmemx_matchall(2, ends), -EINVAL);
    close_pair();
}

int main(void)
{
    kernel_begin();
    T_RUN(one_by_one_in_any_order);
    T_RUN(a_partition_that_is_not_ready_does_not_arrive);
    T_RUN(divisions_of_both_sides);
    T_RUN(a_late_receiver);
    T_RUN(a_receive_reduces_its_partitions);
    T_RUN(threads);
    T_RUN(large_partitions_of_device_memory);
    T_RUN(started_and_waited_for_by_a_stream);
    T_RUN(kernels_in_each_scope);
    T_RUN(kernels_of_the_engine);
    T_RUN(partitions_of_kernels_travel_together);
    T_RUN(iterations_in_the_order_of_a_stream);
    T_RUN(iterations_of_a_graph);
    T_RUN(several_calls_make_a_partition_ready);
    T_RUN(calls_of_each_scope);
    T_RUN(totals_and_divisions_that_differ);
    return kernel_end();
}

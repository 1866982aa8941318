/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC has put into device memory is there for the device once a call on
 * a message says so: waits and tests of requests and queues, of partitioned
 * messages and collectives, also where the device combines it.  See
 * nic_flush.sh. */
#include "../memory.h"
#include <shmemx_pcoll.h>
#include <shmemx_st.h>

#include <string.h>

enum { LEN = 20000, PARTS = 4, EACH = LEN / PARTS, N = EACH / sizeof(int64_t) };

static unsigned char *data, *here, want[LEN];
static unsigned turn;
static shmemx_stream_t s;
static shmemx_queue_t q;
static shmemx_req_t r[2], p[2];

static void fill(void)
{
    pattern(want, me, turn, LEN);
    memcpy(here, want, LEN);
}

static void see(void)
{
    pattern(want, before, turn, LEN);
    mem_expect(data, want, LEN);
    shmem_barrier_all();
    turn++;
}

static void start(void)
{
    fill();
    T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
}

/* ---- messages ---- */

T(a_wait_for_a_request)
{
    start();
    T_EQ(shmemx_req_wait(r[0]), 0);
    see();
    T_EQ(shmemx_req_wait(r[1]), 0);
}

T(a_test_of_a_request)
{
    int flag = 0;

    start();
    while (!flag)
        T_EQ(shmemx_req_test(r[0], &flag), 0);
    see();
    T_EQ(shmemx_req_wait(r[1]), 0);
}

T(a_wait_for_a_queue)
{
    start();
    T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    see();
}

T(a_test_of_a_queue)
{
    int empty = 0;

    start();
    T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
    while (!empty)
        T_EQ(shmemx_queue_test(q, &empty), 0);
    see();
}

T(a_get_of_a_queue)
{
    fill();
    shmem_barrier_all();
    T_EQ(shmemx_enqueue_getmem(q, data, here, LEN, before, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    see();
}

/* ---- partitioned messages ---- */

static void start_parts(void)
{
    fill();
    T_EQ(shmemx_req_startall(2, p), 0);
    T_EQ(shmemx_pready_range(p[1], 0, PARTS - 1), 0);
}

static void end_parts(void)
{
    int rc = shmemx_req_wait(p[0]);

    T_EQ(rc, 0);
    T_EQ(shmemx_req_wait(p[1]), 0);
}

T(a_wait_for_partitions)
{
    start_parts();
    T_EQ(shmemx_req_wait(p[0]), 0);
    see();
    T_EQ(shmemx_req_wait(p[1]), 0);
}

T(a_test_of_partitions)
{
    int flag = 0;

    start_parts();
    while (!flag)
        T_EQ(shmemx_req_test(p[0], &flag), 0);
    see();
    T_EQ(shmemx_req_wait(p[1]), 0);
}

T(each_partition)
{
    start_parts();
    pattern(want, before, turn, LEN);
    for (int i = 0; i < PARTS; i++) {
        int flag = 0;

        while (!flag)
            T_EQ(shmemx_parrived(p[0], i, &flag), 0);
        mem_expect(data + i * EACH, want + i * EACH, EACH);
    }
    end_parts();
    see();
}

/* ---- the device combines ---- */

T(a_partitioned_reduction)
{
    static int64_t mine[PARTS * N], sums[PARTS * N];
    int64_t *to = mem_alloc(DEVICE, sizeof mine);
    int64_t *from = mem_alloc(DEVICE, sizeof mine);
    shmemx_req_t c;

    T_EQ(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, to, from, PARTS, N,
                                SHMEMX_INT64, SHMEMX_SUM, &c), 0);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < PARTS * (int)N; i++) {
            mine[i] = me * 1000 + i + round;
            sums[i] = n_pes * (i + round) + 1000 * (n_pes * (n_pes - 1) / 2);
        }
        mem_store(from, mine, sizeof mine);
        T_EQ(shmemx_req_start(c), 0);
        T_EQ(shmemx_pready_range(c, 0, PARTS - 1), 0);
        T_EQ(shmemx_req_wait(c), 0);
        mem_expect(to, sums, sizeof sums);
    }
    T_EQ(shmemx_req_free(&c), 0);
    mem_free(DEVICE, to);
    mem_free(DEVICE, from);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    data = mem_alloc(DEVICE, LEN);
    here = mem_alloc(HOST, LEN);
    T_EQ(shmemx_stream_create(&s), 0);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_recv_init(data, LEN, before, 1, &r[0]), 0);
    T_EQ(shmemx_send_init(here, LEN, next, 1, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    T_EQ(shmemx_precv_init(data, PARTS, EACH, before, 2, &p[0]), 0);
    T_EQ(shmemx_psend_init(here, PARTS, EACH, next, 2, &p[1]), 0);
    T_EQ(shmemx_matchall(2, p), 0);
    mem_log("BEGIN");
    T_RUN(a_wait_for_a_request);
    T_RUN(a_test_of_a_request);
    T_RUN(a_wait_for_a_queue);
    T_RUN(a_test_of_a_queue);
    T_RUN(a_get_of_a_queue);
    T_RUN(a_wait_for_partitions);
    T_RUN(a_test_of_partitions);
    T_RUN(each_partition);
    T_RUN(a_partitioned_reduction);
    mem_log("END");
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_free(&r[i]), 0);
        T_EQ(shmemx_req_free(&p[i]), 0);
    }
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return memory_end();
}

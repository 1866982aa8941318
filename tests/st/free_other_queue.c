/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a send that waits for its receiver goes when that is there, also
 * where other queues are freed while the sender's stream does itself what its
 * start has left: the progress thread has that then.
 * PEs: 2
 * Launch: --ppn 1
 * Env: SHMEM_FAULT=stream_keep:1:1 SHMEM_ST_EAGER=0 SHMEM_DEVICE=software SHMEM_OFI_PROVIDER=tcp SHMEM_STALL=600
 * Timeout: 60 */
#include "msg.h"

enum { FREED = 50, ROUNDS = 2 };

static shmemx_stream_t s, other;
static shmemx_queue_t q;
static uint64_t word;

static void comes_to_it(void *there)
{
    atomic_store((atomic_bool *)there, true);
}

static void send_while_others_go(shmemx_req_t *r)
{
    uint64_t *start_flag = shmem_calloc(1, sizeof *start_flag);
    static atomic_bool there;

    atomic_store(&there, false);
    T_EQ(shmemx_uint64_wait_until_on_stream(start_flag, SHMEM_CMP_GE, 1, s), 0);
    T_EQ(shmemx_stream_call(s, comes_to_it, &there), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 1, r), 0);
    st_open(start_flag);
    while (!atomic_load(&there))
        usleep(100);
    usleep(2000);               /* it has started, or does so in the loop */
    for (int i = 0; i < FREED; i++) {
        shmemx_queue_t gone;

        T_EQ(shmemx_queue_create(other, NULL, 0, &gone), 0);
        T_EQ(shmemx_queue_destroy(gone), 0);
        usleep(1000);
    }
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    shmem_barrier_all();        /* now PE 1 receives */
    T_TRUE(st_ends(s));
    shmem_free(start_flag);
}

static void receive_late(shmemx_req_t *r)
{
    uint64_t *start_flag = shmem_calloc(1, sizeof *start_flag);

    shmem_barrier_all();
    T_EQ(shmemx_enqueue_startall(q, 1, r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 1, r), 0);
    T_TRUE(st_ends(s));
    shmem_free(start_flag);
}

T(a_send_goes_though_other_queues_are_freed)
{
    shmemx_req_t r;

    T_EQ(me == 0 ? shmemx_send_init(&word, 8, 1, 3, &r)
                 : shmemx_recv_init(&word, 8, 0, 3, &r), 0);
    T_EQ(shmemx_matchall(1, &r), 0);
    for (int i = 0; i < ROUNDS; i++) {
        word = me == 0 ? msg_key(0, 1, 3, i) : 0;
        shmem_barrier_all();
        if (me == 0)
            send_while_others_go(&r);
        else
            receive_late(&r);
        T_EQ(word, msg_key(0, 1, 3, i));
    }
    T_EQ(shmemx_req_free(&r), 0);
}

int main(void)
{
    st_begin();
    s = st_make();
    other = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(a_send_goes_though_other_queues_are_freed);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

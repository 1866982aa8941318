/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the failure of a message without a request is returned by its
 * queue, also where a quiet has printed it and another one, of a request, came
 * after it; calls of messages print no failure that a request returns.
 * PEs: 1 2
 * Ppn: 2/1
 * Expect: shmemx_enqueue_recv failed
 * Reject: shmemx_req_wait: on stream
 * Timeout: 30 */
#include "msg.h"

static shmemx_stream_t to, from;
static shmemx_queue_t sends, receives;
static char in[8], out[16];

/* The send is longer. */
static void fails(int tag, shmemx_req_t *r)
{
    T_EQ(shmemx_enqueue_recv(receives, in, sizeof in, me, tag, r), 0);
    T_EQ(shmemx_enqueue_send(sends, out, sizeof out, me, tag, NULL), 0);
    T_EQ(shmemx_enqueue_start(receives), 0);
    T_EQ(shmemx_enqueue_wait(receives), 0);
    T_EQ(shmemx_enqueue_start(sends), 0);
    T_EQ(shmemx_enqueue_wait(sends), 0);
}

static void set(void *flag)
{
    __atomic_store_n((bool *)flag, true, __ATOMIC_RELEASE);
}

/* Without a call that returns failures. */
static void pass(shmemx_stream_t s)
{
    bool passed = false;

    T_EQ(shmemx_stream_call(s, set, &passed), 0);
    while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
        usleep(100);
}

static void open_queues(void)
{
    to = st_make();
    from = st_make();
    T_EQ(shmemx_queue_create(to, NULL, 0, &receives), 0);
    T_EQ(shmemx_queue_create(from, NULL, 0, &sends), 0);
}

static void close_queues(void)
{
    T_EQ(shmemx_queue_wait(sends), -EIO);
    T_EQ(shmemx_queue_wait(receives), 0);
    T_EQ(shmemx_queue_destroy(sends), 0);
    T_EQ(shmemx_queue_destroy(receives), 0);
    T_EQ(shmemx_stream_destroy(from), 0);
    T_EQ(shmemx_stream_destroy(to), 0);
}

T(a_failure_that_is_printed_is_still_returned)
{
    shmemx_req_t r;

    open_queues();
    fails(1, NULL);
    pass(to);
    shmem_quiet();
    fails(2, &r);
    T_EQ(shmemx_req_wait(r), -EMSGSIZE);
    T_EQ(shmemx_queue_wait(receives), -EIO);
    close_queues();
}

T(messages_leave_the_line_to_the_request)
{
    shmemx_req_t r, e[2];

    open_queues();
    T_EQ(shmemx_recv_init(in, 8, me, 3, &e[0]), 0);
    T_EQ(shmemx_send_init(out, 8, me, 3, &e[1]), 0);
    T_EQ(shmemx_matchall(2, e), 0);
    fails(1, &r);
    pass(to);
    T_EQ(shmemx_enqueue_startall(sends, 2, e), 0);
    T_EQ(shmemx_req_wait(e[0]), 0);
    T_EQ(shmemx_req_wait(e[1]), 0);
    T_EQ(shmemx_req_wait(r), -EMSGSIZE);
    T_EQ(shmemx_req_free(&e[0]), 0);
    T_EQ(shmemx_req_free(&e[1]), 0);
    close_queues();
}

int main(void)
{
    st_begin();
    T_RUN(a_failure_that_is_printed_is_still_returned);
    T_RUN(messages_leave_the_line_to_the_request);
    return st_end();
}

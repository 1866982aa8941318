/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: no PE waits for a partner that waits for it: a wait for a match
 * that was begun finds what others look for, and a receive that is
 * dropped before its start fails its send.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 20 */
#include "msg.h"

static void wait_or_test(shmemx_req_t match, bool tests)
{
    int flag = 0;

    while (tests && !flag)
        T_EQ(shmemx_req_test(match, &flag), 0);
    T_EQ(shmemx_req_wait(match), 0);
}

T(a_send_that_is_made_while_a_match_lasts_is_found)
{
    shmemx_req_t in, out, match;
    long x = 0, y = 0;

    for (int k = 0; k < 2; k++) {
        if (!me) {
            T_EQ(shmemx_recv_init(&x, sizeof x, 1, 1, &in), 0);
            T_EQ(shmemx_imatch(in, &match), 0);
            T_EQ(shmemx_send_init(&y, sizeof y, 1, 2, &out), 0);
            wait_or_test(match, k);
            T_EQ(shmemx_req_free(&match), 0);
            T_EQ(shmemx_match(out), 0);
        } else {
            T_EQ(shmemx_recv_init(&x, sizeof x, 0, 2, &in), 0);
            T_EQ(shmemx_match(in), 0);
            T_EQ(shmemx_send_init(&y, sizeof y, 0, 1, &out), 0);
            T_EQ(shmemx_match(out), 0);
        }
        T_EQ(shmemx_req_free(&in), 0);
        T_EQ(shmemx_req_free(&out), 0);
    }
}

static long word;

/* PE 0's send, which the progress thread posts. */
static void send_it(shmemx_queue_t q)
{
    T_EQ(shmemx_enqueue_send(q, &word, sizeof word, 1, 1, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
}

/* PE 1's receive, with its stream, which never came to it. */
static void destroy_both(shmemx_stream_t s, shmemx_queue_t q)
{
    shmemx_req_t r;

    T_EQ(shmemx_enqueue_recv(q, &word, sizeof word, 0, 1, &r), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_req_free(&r), 0);
}

/* The call that makes it reads the sender's note. */
T(a_receive_that_is_dropped_fails_its_send)
{
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    if (!me) {
        send_it(q);
        usleep(50000);          /* the progress thread's, which posts it */
    }
    shmem_barrier_all();
    if (me) {
        destroy_both(s, q);
    } else {
        T_EQ(shmemx_queue_wait(q), -EIO);
        T_EQ(shmemx_queue_destroy(q), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
    }
    shmem_barrier_all();        /* the note may come late */
}

/* It comes to a PE that makes no call on messages any more. */
T(a_receive_that_was_dropped_fails_its_send)
{
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    if (me)
        destroy_both(s, q);
    shmem_barrier_all();
    if (!me) {
        send_it(q);
        T_EQ(shmemx_queue_wait(q), -EIO);
        T_EQ(shmemx_queue_destroy(q), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
    }
    shmem_barrier_all();
}

int main(void)
{
    st_begin();
    T_RUN(a_send_that_is_made_while_a_match_lasts_is_found);
    T_RUN(a_receive_that_is_dropped_fails_its_send);
    T_RUN(a_receive_that_was_dropped_fails_its_send);
    return st_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a message that is longer than its receive fails at both ends and
 * counts as done: streams go on, those beside it come, the host gets one
 * report, and nothing is written behind the receive.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "msg.h"

enum { N = 7, ROOM = 200000, GOOD = 100 };

static const size_t lengths[][2] = {    /* sent, and room for it */
    { 9, 8 }, { 1, 0 }, { 5000, 100 }, { ROOM, 16 }, { ROOM, ROOM - 1 },
};
enum { KINDS = sizeof lengths / sizeof *lengths };

static shmemx_stream_t s;
static shmemx_queue_t q;
static char *out, *in;
static uint64_t x[N], y[N];

/* Of N messages with one tag, that with this number is the bad one. */
static void enqueue(int kind, int bad, shmemx_req_t r[2])
{
    memset(in, MSG_REST, ROOM + 64);
    for (int i = 0; i < N; i++) {
        x[i] = msg_key(me, next, kind, i);
        y[i] = 0;
        if (i == bad) {
            T_EQ(shmemx_enqueue_send(q, out, lengths[kind][0], next, 3, &r[0]),
                 0);
            T_EQ(shmemx_enqueue_recv(q, in, lengths[kind][1], prev, 3, &r[1]),
                 0);
        } else {
            T_EQ(shmemx_enqueue_send(q, &x[i], 8, next, 3, NULL), 0);
            T_EQ(shmemx_enqueue_recv(q, &y[i], 8, prev, 3, NULL), 0);
        }
    }
    T_EQ(shmemx_enqueue_start(q), 0);
}

static void check(int kind, int bad)
{
    for (int i = 0; i < N; i++)
        if (i != bad)
            T_EQ(y[i], msg_key(prev, me, kind, i));
    MSG_UNTOUCHED(in + lengths[kind][1], ROOM + 64 - lengths[kind][1]);
}

static void passed(void *arg)
{
    ++*(int *)arg;
}

T(the_queue_reports)
{
    shmemx_req_t r[2];
    int past = 0;

    for (int k = 0; k < KINDS; k++) {
        enqueue(k, k, r);
        T_EQ(shmemx_enqueue_wait(q), 0);
        T_EQ(shmemx_stream_call(s, passed, &past), 0);
        T_EQ(shmemx_queue_wait(q), -EIO);
        T_EQ(shmemx_queue_wait(q), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(past, k + 1);
        check(k, k);
        T_EQ(shmemx_req_wait(r[k & 1]), -EMSGSIZE);
        T_EQ(shmemx_queue_wait(q), 0);
        T_EQ(shmemx_req_free(&r[0]), 0);
        T_EQ(shmemx_req_free(&r[1]), 0);
    }
}

T(the_stream_reports)
{
    shmemx_req_t r[2];

    for (int k = 0; k < KINDS; k++) {
        enqueue(k, N - 1, r);
        T_EQ(shmemx_enqueue_wait(q), 0);
        T_EQ(shmemx_stream_sync(s), -EIO);
        T_EQ(shmemx_queue_wait(q), 0);
        check(k, N - 1);
        T_EQ(shmemx_req_free(&r[0]), 0);
        T_EQ(shmemx_req_free(&r[1]), 0);
    }
}

/* Each of both, and of those beside them none; and then no others. */
T(the_request_reports)
{
    shmemx_req_t r[2], good;

    for (int k = 0; k < KINDS; k++) {
        enqueue(k, 0, r);
        x[0] = msg_key(me, next, GOOD, k);
        T_EQ(shmemx_enqueue_send(q, &x[0], 8, next, 4, NULL), 0);
        T_EQ(shmemx_enqueue_recv(q, &y[0], 8, prev, 4, &good), 0);
        T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_req_wait(good), 0);
        T_EQ(y[0], msg_key(prev, me, GOOD, k));
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_req_wait(r[(k + i) & 1]), -EMSGSIZE);
            T_EQ(shmemx_req_wait(good), 0);
        }
        T_EQ(shmemx_queue_wait(q), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_req_wait(r[i]), -EMSGSIZE);
            T_EQ(shmemx_req_free(&r[i]), 0);
        }
        T_EQ(shmemx_req_free(&good), 0);
        check(k, 0);
    }
}

/* What the queue has reported counts no more when a request reports it. */
T(a_later_failure_is_reported_beside_that_of_a_request)
{
    shmemx_req_t before[2], r[2];

    enqueue(0, 0, before);
    T_EQ(shmemx_queue_wait(q), -EIO);
    enqueue(1, 0, r);
    T_EQ(shmemx_req_wait(before[0]), -EMSGSIZE);
    T_EQ(shmemx_req_wait(before[1]), -EMSGSIZE);
    T_EQ(shmemx_queue_wait(q), -EIO);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_free(&before[i]), 0);
        T_EQ(shmemx_req_free(&r[i]), 0);
    }
}

int main(void)
{
    st_begin();
    s = st_make();
    out = calloc(1, ROOM);
    in = malloc(ROOM + 64);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(the_queue_reports);
    T_RUN(the_stream_reports);
    T_RUN(the_request_reports);
    T_RUN(a_later_failure_is_reported_beside_that_of_a_request);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    free(out);
    free(in);
    return st_end();
}

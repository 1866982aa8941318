/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages that are under way at shmem_finalize, or were never
 * matched, delay no PE, and are not those of the library's next start.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "msg.h"

enum { ROUNDS = 10, SIZE = 200000 };

/* What no partner answers: its stream waits for ever. */
static void leave(int round)
{
    static char out[SIZE], in[SIZE];
    shmemx_req_t r, match, pair[2];
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_send_init(out, 8, next, 8, &r), 0);
    T_EQ(shmemx_recv_init(in, 8, next, 9, &r), 0);
    if (round & 1)
        T_EQ(shmemx_imatch(r, &match), 0);
    T_EQ(shmemx_send_init(out, round & 2 ? 8 : SIZE, next, 1, &pair[0]), 0);
    T_EQ(shmemx_recv_init(in, SIZE, prev, 1, &pair[1]), 0);
    T_EQ(shmemx_matchall(2, pair), 0);
    switch (round % 5) {
    case 0:
        T_EQ(shmemx_enqueue_startall(q, 1, &pair[0]), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
        break;
    case 1:
        T_EQ(shmemx_enqueue_startall(q, 1, &pair[1]), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
        break;
    case 2:
        T_EQ(shmemx_enqueue_recv(q, in, SIZE, prev, 1, NULL), 0);
        T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
        break;
    case 3:
        T_EQ(shmemx_enqueue_send(q, out, SIZE, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_send(q, out, 8, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
        break;
    default:
        T_EQ(shmemx_enqueue_send(q, out, 8, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_recv(q, in, 8, prev, 1, NULL), 0);
    }
}

/* Steps of it that are under way go on no further than the library. */
static void leave_reduction(shmemx_queue_t q)
{
    enum { N = 50000 };
    long *x = st_room(false, N * sizeof *x);
    shmemx_req_t r;

    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, x, x, N, SHMEMX_INT64,
                               SHMEMX_SUM, &r), 0);
    shmem_barrier_all();
    if (me)
        usleep((useconds_t)msg_below(2000));
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
}

/* A ring has 128 places, and the next PE takes nothing out: the rest is still
 * here when the library ends, and would be in the way of a shorter message. */
static void leave_messages(void)
{
    enum { MESSAGES = 200 };
    shmemx_req_t r[MESSAGES], match, one;
    char c[100];

    st_begin();
    for (int i = 0; !me && n_pes > 1 && i < MESSAGES; i++)
        T_EQ(shmemx_send_init(c, sizeof c, next, i, &r[i]), 0);
    if (!me && n_pes > 1)
        T_EQ(shmemx_imatchall(MESSAGES, r, &match), 0);
    shmem_finalize();
    st_begin();
    if (!me && n_pes > 1)
        T_EQ(shmemx_send_init(c, 8, next, MESSAGES - 1, &one), 0);
    else if (n_pes > 1)
        T_EQ(shmemx_recv_init(c, 8, prev, MESSAGES - 1, &one), 0);
    if (n_pes > 1)
        T_EQ(shmemx_match(one), 0);
    shmem_finalize();
}

int main(void)
{
    leave_messages();
    for (int k = 0; k < ROUNDS; k++) {
        uint64_t x, y = 0;
        struct msg_end e[2];
        shmemx_stream_t s;
        shmemx_queue_t q;

        st_begin();
        s = st_make();
        T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
        msg_sends(&e[0], next, 1, k);
        msg_receives(&e[1], prev, 1, k);
        T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[0].r, e[1].r }), 0);
        msg_exchange(q, e, 2);
        x = (uint64_t)(100 * k + me);
        T_EQ(shmemx_enqueue_recv(q, &y, 8, prev, 1, NULL), 0);
        T_EQ(shmemx_enqueue_send(q, &x, 8, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_queue_wait(q), 0);
        T_EQ(y, (uint64_t)(100 * k + prev));
        leave(k);
        if (k % 3 == 0)
            leave_reduction(q);
        if (k & 1)
            msg_free(e, 2);
        shmem_finalize();
    }
    return T_DONE();
}

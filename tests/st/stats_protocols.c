/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with SHMEM_STATS each PE says how its messages went; tests/st/
 * stats.sh runs it between nodes, too.
 * PEs: 2
 * Env: SHMEM_STATS=1 SHMEM_DEVICE=software
 * Expect: ^sluice: PE 0 \([^ ]*\): messages: 20 sent, 5 ready, 4 eager, 3 by peer copy, 0 triggered, 0 by rendezvous, 2 one-shot, 6 of collective requests$
 * Expect: ^sluice: PE 1 \([^ ]*\): messages: 20 sent, 5 ready, 4 eager, 3 by peer copy, 0 triggered, 0 by rendezvous, 2 one-shot, 6 of collective requests$
 * Timeout: 30 */
#include "msg.h"

enum { SMALL = 8, LARGE = 100000 };
static char out[LARGE], in[LARGE];
static shmemx_queue_t q;

static void transfer(int n, shmemx_req_t *r)
{
    T_EQ(shmemx_enqueue_startall(q, n, r), 0);
    T_EQ(shmemx_enqueue_waitall(q, n, r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
}

static void rounds(int n, bool ready, size_t bytes)
{
    shmemx_req_t r[2];

    T_EQ((ready ? shmemx_rsend_init : shmemx_send_init)(out, bytes, next, n,
                                                        &r[0]), 0);
    T_EQ(shmemx_recv_init(in, bytes, prev, n, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    for (int k = 0; k < n; k++)
        transfer(2, r);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
}

int main(void)
{
    shmemx_stream_t s;
    shmemx_req_t r;

    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    rounds(5, true, LARGE);
    rounds(4, false, SMALL);
    rounds(3, false, LARGE);
    for (int k = 0; k < 2; k++) {
        T_EQ(shmemx_enqueue_recv(q, in, SMALL, prev, 1, NULL), 0);
        T_EQ(shmemx_enqueue_send(q, out, SMALL, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_queue_wait(q), 0);
    }
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r), 0);
    for (int k = 0; k < 6; k++)
        transfer(1, &r);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

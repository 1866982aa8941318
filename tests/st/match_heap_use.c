/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages of many sizes into private memory, made, sent and freed
 * one after the other, take no more of the library's part of the heap than one
 * of them does.
 * PEs: 1 2
 * Ppn: 2/1
 * Env: SHMEM_SYMMETRIC_SIZE=16M
 * Timeout: 30 */
#include "msg.h"

enum { MOST = 300000, FEW = 3 };        /* of a MiB; a message may take two */

struct end {
    char *out, *in;
    int tag;
    size_t bytes;
    shmemx_req_t r[2];
};

static void begin(struct end *e, int tag, size_t bytes)
{
    e->tag = tag;
    e->bytes = bytes;
    e->out = malloc(bytes);
    e->in = malloc(bytes);
    msg_fill(e->out, bytes, msg_key(me, next, tag, 0));
    T_EQ(shmemx_send_init(e->out, bytes, next, tag, &e->r[0]), 0);
    T_EQ(shmemx_recv_init(e->in, bytes, prev, tag, &e->r[1]), 0);
    T_EQ(shmemx_matchall(2, e->r), 0);
}

static void end(shmemx_queue_t q, struct end *e)
{
    T_EQ(shmemx_enqueue_startall(q, 2, e->r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 2, e->r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    MSG_IS(e->in, e->bytes, msg_key(prev, me, e->tag, 0));
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_req_free(&e->r[i]), 0);
    free(e->out);
    free(e->in);
}

/* Few at a time, which outlive each other. */
T(small_ones)
{
    shmemx_stream_t s = st_make();
    struct end e[FEW];
    shmemx_queue_t q;
    int times = msg_times(600, 150);

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (int k = 0; k < times; k++) {
        if (k >= FEW)
            end(q, &e[k % FEW]);
        shmem_barrier_all();
        begin(&e[k % FEW], k, 1 + T_RAND() % (MOST / FEW / 2));
    }
    for (int k = 0; k < FEW; k++)
        end(q, &e[k]);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(up_to_the_largest)
{
    shmemx_stream_t s = st_make();
    struct end e;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (size_t bytes = 1; bytes < MOST; bytes += bytes / 2 + 1) {
        shmem_barrier_all();
        begin(&e, 0, bytes);
        end(q, &e);
    }
    shmem_barrier_all();
    begin(&e, 0, MOST);
    end(q, &e);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(small_ones);
    T_RUN(up_to_the_largest);
    return st_end();
}

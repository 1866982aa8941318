/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages between nodes, of any length and any number at a time,
 * take no progress thread where a stream of the software device waits for them
 * behind their start: it does nothing here, and all of them come.
 * PEs: 2
 * Launch: --ppn 1
 * Env: SHMEM_FAULT=stream_progress:1:1 SHMEM_DEVICE=software SHMEM_OFI_PROVIDER=tcp
 * Timeout: 30 */
#include "msg.h"

enum { ROUNDS = 6, MANY = 60, LONG = 1 << 20 };

static const size_t sizes[] = { 8, 3500, 16384, 16388, 65536, LONG };
enum { SIZES = sizeof sizes / sizeof *sizes };

static shmemx_stream_t s;
static shmemx_queue_t q;
static char *out, *in;

/* Sends behind the receives, and the host is ahead of both. */
static void rounds(shmemx_req_t *r, int n)
{
    for (int k = 0; k < ROUNDS; k++) {
        uint64_t *start_flag;

        for (int i = 0; i < n; i++)
            T_EQ(shmemx_enqueue_startall(q, 1, &r[i]), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        start_flag = st_start_flag(s);
        T_EQ(shmemx_enqueue_startall(q, n, r + n), 0);
        T_EQ(shmemx_enqueue_waitall(q, 2 * n, r), 0);
        st_open(start_flag);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        shmem_free(start_flag);
    }
    for (int i = 0; i < 2 * n; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
}

static void messages_of(size_t bytes, bool ready)
{
    shmemx_req_t r[2];

    msg_fill(out, bytes, msg_key(me, next, (int)bytes, ready));
    memset(in, MSG_REST, bytes);
    T_EQ(shmemx_recv_init(in, bytes, prev, ready, &r[0]), 0);
    T_EQ((ready ? shmemx_rsend_init : shmemx_send_init)(out, bytes, next, ready,
                                                        &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    rounds(r, 1);
    MSG_IS(in, bytes, msg_key(prev, me, (int)bytes, ready));
}

T(messages_of_any_length)
{
    for (int i = 0; i < SIZES; i++) {
        messages_of(sizes[i], true);
        messages_of(sizes[i], false);
    }
}

T(many_messages_of_one_start)
{
    shmemx_req_t r[2 * MANY];

    for (int i = 0; i < MANY; i++) {
        size_t at = (size_t)i * 128;

        memset(out + at, me + i, 128);
        T_EQ(shmemx_recv_init(in + at, 128, prev, i, &r[i]), 0);
        T_EQ(shmemx_send_init(out + at, 128, next, i, &r[MANY + i]), 0);
    }
    T_EQ(shmemx_matchall(2 * MANY, r), 0);
    rounds(r, MANY);
    for (int i = 0; i < MANY; i++)
        T_EQ(in[i * 128 + 127], (char)(prev + i));
}

int main(void)
{
    st_begin();
    s = st_make();
    out = shmem_malloc(LONG);
    in = shmem_malloc(LONG);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(messages_of_any_length);
    T_RUN(many_messages_of_one_start);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

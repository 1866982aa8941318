/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large messages of a node between symmetric buffers, in host and
 * in device memory, go by the device alone, whichever PE comes first: nothing
 * is left to a thread of the library.  tests/st/peer_copy_gpu runs this on
 * GPUs, too.
 * PEs: 2
 * Env: SHMEM_STATS=1 SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M
 * Expect: ^sluice: PE 0 \([^ ]*\): streams: [1-9][0-9]* operations by the device, 0 posted, 0 triggered, 0 completed, 0 by the NIC, 0 declined, 0 failed; .*$
 * Expect: ^sluice: PE 1 \([^ ]*\): messages: 320 sent, 0 ready, 0 eager, 320 by peer copy, 0 triggered, 0 by rendezvous, 0 one-shot, 0 of collective requests$
 * Timeout: 30 */
#include "msg.h"

enum { ROUNDS = 20, SIZES = 4, KINDS = 4, N = SIZES * KINDS, GAP = 37 };

/* At these, odd ones too, of out and in. */
static const struct {
    size_t bytes, out, in;
} of[SIZES] = { { 4097, 0, 0 }, { 10000, 8, 4 }, { 30011, 3, 9 },
                { 300000, 16, 0 } };
enum { ROOM = 300000 + 64 };

static shmemx_stream_t s;
static shmemx_queue_t q;

struct message {
    char *out, *in, *image, *came;
    size_t bytes;
};

static void make(struct message *m, int i, shmemx_req_t *r)
{
    int kind = i / SIZES, size = i % SIZES;

    m->bytes = of[size].bytes;
    m->out = (char *)st_room(kind & 1, ROOM) + of[size].out;
    m->in = (char *)st_room(kind >> 1, ROOM) + of[size].in;
    m->image = st_room(false, ROOM);
    m->came = st_room(false, ROOM);
    T_EQ(shmemx_send_init(m->out, m->bytes, next, i, &r[i]), 0);
    T_EQ(shmemx_recv_init(m->in, m->bytes, prev, i, &r[N + i]), 0);
}

static void round_of(struct message *m, shmemx_req_t *r, int k)
{
    static const useconds_t pause_ms = 500;
    int first = k % 3;          /* PE 1, PE 0, by chance */

    for (int i = 0; i < N; i++) {
        msg_fill(m[i].image, m[i].bytes, msg_key(me, next, i, k));
        T_EQ(shmemx_stream_copy(s, m[i].out, m[i].image, m[i].bytes), 0);
        T_EQ(shmemx_stream_fill(s, m[i].in, MSG_REST, m[i].bytes + GAP), 0);
    }
    if (first == me)
        T_EQ(shmemx_stream_call(s, msg_do_sleep,
                                (void *)(uintptr_t)&pause_ms), 0);
    T_EQ(shmemx_enqueue_startall(q, N, k % 2 ? r : r + N), 0);
    T_EQ(shmemx_enqueue_startall(q, N, k % 2 ? r + N : r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 2 * N, r), 0);
    for (int i = 0; i < N; i++)
        T_EQ(shmemx_stream_copy(s, m[i].came, m[i].in, m[i].bytes + GAP), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    for (int i = 0; i < N; i++) {
        MSG_IS(m[i].came, m[i].bytes, msg_key(prev, me, i, k));
        MSG_UNTOUCHED(m[i].came + m[i].bytes, GAP);
    }
}

int main(void)
{
    static struct message m[N];
    shmemx_req_t r[2 * N];

    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (int i = 0; i < N; i++)
        make(&m[i], i, r);
    T_EQ(shmemx_matchall(2 * N, r), 0);
    for (int k = 0; k < ROUNDS; k++)
        round_of(m, r, k);
    for (int i = 0; i < 2 * N; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

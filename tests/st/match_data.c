/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what goes by matched sends and receives is what was sent, of
 * every length, from and to every kind of memory, round after round, and
 * touches nothing else.
 * PEs: 1 2 4
 * Ppn: 2/1
 * Timeout: 40
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "msg.h"

enum { ROUNDS = 3, GAP = 40 };
enum { SYMMETRIC, PRIVATE, STATIC, STACK, DEVICE, KINDS };

static const size_t small[] = {
    0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 191, 192, 193, 255, 1000, 1023, 1024,
    1025, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 16385, 32769, 65536, 65537,
};
static const size_t large[] = { 131072, 262147, 8, 1048576 };
enum { SMALL = sizeof small / sizeof *small,
       LARGE = sizeof large / sizeof *large,
       ROOM = 1048576 + 500000 };

static shmemx_stream_t s;
static shmemx_queue_t q;
static uint64_t *ready;
static uint64_t readies;        /* that were waited for */

/* Messages side by side in one piece of memory, at odd addresses, too. */
struct set {
    const size_t *sizes;
    int n;
    char *out, *in;
    char *image[ROUNDS], *came[ROUNDS];
    bool is_ready;              /* the receiver is */
    shmemx_req_t r[2 * SMALL];  /* sends, then receives */
    size_t at[SMALL + 1];
};

/* Some receives are longer than their sends. */
static size_t longer(int i)
{
    return i % 3 == 1 ? (size_t)(i + 5) : 0;
}

static void set_make(struct set *c)
{
    size_t at = 0;

    for (int i = 0; i < c->n; i++) {
        c->at[i] = at + (size_t)(i * 5 % 8);
        at = (c->at[i] + c->sizes[i] + longer(i) + GAP + 63) / 64 * 64;
        T_EQ((c->is_ready ? shmemx_rsend_init : shmemx_send_init)(
                 c->out + c->at[i], c->sizes[i], next, i, &c->r[i]), 0);
        T_EQ(shmemx_recv_init(c->in + c->at[i], c->sizes[i] + longer(i), prev,
                              i, &c->r[c->n + i]), 0);
    }
    c->at[c->n] = at;
    T_LE(at, ROOM);
    for (int k = 0; k < ROUNDS; k++) {
        c->image[k] = shmem_malloc(at);
        c->came[k] = shmem_calloc(1, at);
        for (int i = 0; i < c->n; i++)
            msg_fill(c->image[k] + c->at[i], c->sizes[i],
                     msg_key(me, next, i, k));
    }
    T_EQ(shmemx_matchall(2 * c->n, c->r), 0);
}

/* All in the stream: the host is rounds ahead. */
static void set_start(struct set *c, int round)
{
    T_EQ(shmemx_stream_copy(s, c->out, c->image[round], c->at[c->n]), 0);
    T_EQ(shmemx_stream_fill(s, c->in, MSG_REST, c->at[c->n]), 0);
    if (c->is_ready) {
        T_EQ(shmemx_enqueue_startall(q, c->n, c->r + c->n), 0);
        T_EQ(shmemx_signal_add_on_stream(ready, 1, prev, s), 0);
        T_EQ(shmemx_signal_wait_until_on_stream(NULL, ready, SHMEM_CMP_GE,
                                                ++readies, s), 0);
        T_EQ(shmemx_enqueue_startall(q, c->n, c->r), 0);
    } else {
        T_EQ(shmemx_enqueue_startall(q, 2 * c->n, c->r), 0);
    }
    if (round & 1)
        T_EQ(shmemx_enqueue_wait(q), 0);
    else
        T_EQ(shmemx_enqueue_waitall(q, 2 * c->n, c->r), 0);
    T_EQ(shmemx_stream_fill(s, c->out, 0x3c, c->at[c->n]), 0);
    T_EQ(shmemx_stream_copy(s, c->came[round], c->in, c->at[c->n]), 0);
}

static void set_check(struct set *c, int round)
{
    const char *came = c->came[round];
    size_t end = 0;

    for (int i = 0; i < c->n; i++) {
        MSG_UNTOUCHED(came + end, c->at[i] - end);
        MSG_IS(came + c->at[i], c->sizes[i], msg_key(prev, me, i, round));
        end = c->at[i] + c->sizes[i];
    }
    MSG_UNTOUCHED(came + end, c->at[c->n] - end);
}

static void set_free(struct set *c)
{
    for (int i = 0; i < 2 * c->n; i++)
        T_EQ(shmemx_req_free(&c->r[i]), 0);
    for (int k = 0; k < ROUNDS; k++) {
        shmem_free(c->image[k]);
        shmem_free(c->came[k]);
    }
}

static char *place(int kind, bool receives, size_t room, char *stack)
{
    static char fixed[2][ROOM];

    return kind == SYMMETRIC || kind == DEVICE ? st_room(kind == DEVICE, room)
           : kind == PRIVATE ? malloc(room)
           : kind == STATIC ? fixed[receives] : stack;
}

static void leave(int kind, char *p)
{
    if (kind == SYMMETRIC || kind == DEVICE)
        shmem_free(p);
    if (kind == PRIVATE)
        free(p);
}

static void carry(const size_t *sizes, int n, size_t room, int from, int to,
                  bool is_ready)
{
    static struct set c;
    char stack[2][ROOM];

    c = (struct set){ .sizes = sizes, .n = n, .is_ready = is_ready };
    c.out = place(from, false, room, stack[0]);
    c.in = place(to, true, room, stack[1]);
    set_make(&c);
    for (int k = 0; k < ROUNDS; k++)
        set_start(&c, k);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    for (int k = 0; k < ROUNDS; k++)
        set_check(&c, k);
    set_free(&c);
    shmem_barrier_all();
    leave(from, c.out);
    leave(to, c.in);
}

T(every_length_goes_from_each_memory_to_each)
{
    for (int i = 0; i < msg_times(KINDS * KINDS, KINDS * KINDS); i++)
        carry(small, SMALL, 400000, i % KINDS, (i + i / KINDS + 3) % KINDS,
              false);
}

T(every_length_goes_to_who_is_ready)
{
    for (int from = 0; from < KINDS; from++)
        carry(small, SMALL, 400000, from, (from + 2) % KINDS, true);
}

T(large_ones_arrive)
{
    for (int from = 0; from < KINDS; from++)
        carry(large, LARGE, ROOM, from, (from + 1) % KINDS, from == 1);
}

/* What a PE sends itself, where the receive is started first, and last. */
T(one_sends_to_oneself)
{
    static char out[100000], in[100000];
    size_t sizes[3] = { 8, 5000, sizeof out };
    shmemx_req_t r[2];

    for (int i = 0; i < 3; i++) {
        T_EQ(shmemx_send_init(out, sizes[i], me, 5, &r[0]), 0);
        T_EQ(shmemx_recv_init(in, sizes[i], me, 5, &r[1]), 0);
        T_EQ(shmemx_match(r[i & 1]), 0);
        T_EQ(shmemx_match(r[~i & 1]), 0);
        for (int k = 0; k < 6; k++) {
            msg_fill(out, sizes[i], (uint64_t)(10 * i + k));
            T_EQ(shmemx_enqueue_startall(q, 1, &r[k & 1]), 0);
            T_EQ(shmemx_enqueue_startall(q, 1, &r[~k & 1]), 0);
            T_EQ(shmemx_enqueue_waitall(q, 1, &r[k >> 1 & 1]), 0);
            T_EQ(shmemx_enqueue_waitall(q, 1, &r[~k >> 1 & 1]), 0);
            T_EQ(shmemx_stream_sync(s), 0);
            MSG_IS(in, sizes[i], (uint64_t)(10 * i + k));
        }
        T_EQ(shmemx_req_free(&r[0]), 0);
        T_EQ(shmemx_req_free(&r[1]), 0);
    }
}

/* Beside each other in one start, and in one wait. */
T(they_go_with_operations_of_other_kinds)
{
    long *d = shmem_calloc(2, sizeof *d), x[2] = { 0 };
    struct msg_end e[2];
    shmemx_req_t list[3], once;

    msg_sends(&e[0], next, 1, 0);
    msg_receives(&e[1], prev, 1, 0);
    T_EQ(shmemx_put_init(d, x, 8, next, &list[2]), 0);
    list[0] = e[0].r;
    list[1] = e[1].r;
    T_EQ(shmemx_matchall(2, list), 0);
    for (int k = 1; k < 20; k++) {
        x[0] = x[1] = k;
        T_EQ(shmemx_enqueue_putmem(q, d + 1, x + 1, 8, next, &once), 0);
        if (k & 1)
            T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_enqueue_startall(q, 3, list), 0);
        if (!(k & 1))
            T_EQ(shmemx_enqueue_start(q), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
        T_EQ(shmemx_queue_wait(q), 0);
        T_EQ(shmemx_req_wait(once), 0);
        T_EQ(shmemx_req_free(&once), 0);
        T_EQ(e[1].word, e[1].want);
        e[1].word = 0;
        shmem_barrier_all();
        T_EQ(d[0], k);
        T_EQ(d[1], k);
        shmem_barrier_all();
    }
    T_EQ(shmemx_req_free(&list[2]), 0);
    msg_free(e, 2);
    shmem_free(d);
}

T(thousands_go_by_one_start)
{
    int n = msg_times(5000, 1500);
    struct msg_end *e = calloc(2 * (size_t)n, sizeof *e);
    shmemx_req_t *r = calloc(2 * (size_t)n, sizeof *r);

    for (int i = 0; i < n; i++) {
        msg_sends(&e[i], next, i % 7, i / 7);
        msg_receives(&e[n + i], prev, i % 7, i / 7);
    }
    for (int i = 0; i < 2 * n; i++)
        r[i] = e[i].r;
    T_EQ(shmemx_matchall(2 * n, r), 0);
    for (int k = 0; k < msg_times(3, 1); k++)
        msg_exchange(q, e, 2 * n);
    msg_free(e, 2 * n);
    free(e);
    free(r);
}

int main(void)
{
    st_begin();
    s = st_make();
    ready = st_room(false, sizeof *ready);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(every_length_goes_from_each_memory_to_each);
    T_RUN(every_length_goes_to_who_is_ready);
    T_RUN(large_ones_arrive);
    T_RUN(one_sends_to_oneself);
    T_RUN(they_go_with_operations_of_other_kinds);
    T_RUN(thousands_go_by_one_start);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_free(ready);
    return st_end();
}

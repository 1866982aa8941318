/* SPDX-License-Identifier: BSD-3-Clause */
/* msg.h - what the tests of messages on streams share. */
#ifndef TESTS_MSG_H
#define TESTS_MSG_H

#include "st.h"

enum { MSG_REST = 0xa5 };       /* what nothing may be written over */

/* Bytes that no other message has; key: which message it is. */
static T_UNUSED uint64_t msg_word(uint64_t key, size_t at)
{
    return (key + 1) * 0x9e3779b97f4a7c15u + at * 0xbf58476d1ce4e5b9u;
}

static T_UNUSED uint64_t msg_key(int from, int to, int tag, int n)
{
    return (uint64_t)from << 56 | (uint64_t)to << 48 |
           (uint64_t)(tag & 0xffff) << 32 | (uint64_t)n;
}

static T_UNUSED void msg_fill(void *p, size_t bytes, uint64_t key)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t w = msg_word(key, i);

        memcpy((char *)p + i, &w, bytes - i < 8 ? bytes - i : 8);
    }
}

#define MSG_IS(p, bytes, key) msg_is((p), (bytes), (key), T_HERE)
#define MSG_UNTOUCHED(p, bytes) msg_untouched((p), (bytes), T_HERE)

static T_UNUSED void msg_wrong(const unsigned char *p, size_t bytes, size_t i,
                               int want, const char *file, int line)
{
    char where[256];

    if (t_fail())
        fprintf(stderr, "%sbyte %zu of %zu is 0x%02x, not 0x%02x\n",
                t_where(where, sizeof where, file, line), i, bytes, p[i],
                want);
}

static T_UNUSED bool msg_is(const void *p, size_t bytes, uint64_t key,
                            const char *file, int line)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t w = msg_word(key, i);
        size_t n = bytes - i < 8 ? bytes - i : 8, k = 0;
        unsigned char want[8];

        if (!memcmp((const char *)p + i, &w, n))
            continue;
        memcpy(want, &w, 8);
        while (((const unsigned char *)p)[i + k] == want[k])
            k++;
        msg_wrong(p, bytes, i + k, want[k], file, line);
        return false;
    }
    return true;
}

static T_UNUSED bool msg_untouched(const void *p, size_t bytes,
                                   const char *file, int line)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)p)[i] != MSG_REST) {
            msg_wrong(p, bytes, i, MSG_REST, file, line);
            return false;
        }
    return true;
}

/* What a stream does with a buffer of the host's, in its order. */
struct msg_work {
    void *p;
    size_t bytes, rest;         /* behind them, untouched */
    uint64_t key;
};

static T_UNUSED void msg_do_fill(void *arg)
{
    struct msg_work *w = arg;

    msg_fill(w->p, w->bytes, w->key);
}

/* The send has ended: its buffer may be anything. */
static T_UNUSED void msg_do_smear(void *arg)
{
    struct msg_work *w = arg;

    memset(w->p, 0x3c, w->bytes);
}

/* Nothing comes before the receive is started. */
static T_UNUSED void msg_do_before(void *arg)
{
    struct msg_work *w = arg;

    MSG_UNTOUCHED(w->p, w->bytes + w->rest);
}

static T_UNUSED void msg_do_check(void *arg)
{
    struct msg_work *w = arg;

    MSG_IS(w->p, w->bytes, w->key);
    MSG_UNTOUCHED((char *)w->p + w->bytes, w->rest);
    memset(w->p, MSG_REST, w->bytes);
}

static T_UNUSED void msg_do_sleep(void *arg)
{
    usleep(*(const useconds_t *)arg);
}

/* This thread's own numbers; T_RAND's are the same on all PEs. */
static T_UNUSED uint64_t msg_random(void)
{
    static _Thread_local uint64_t state;
    static atomic_int threads;  /* seq_cst, for want of a reason */
    uint64_t z;

    if (!state)
        state = T_SEED() + 77777u * (uint64_t)(me + 1) +
                (uint64_t)atomic_fetch_add(&threads, 1);
    z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static T_UNUSED int msg_below(int n)
{
    return (int)(msg_random() % (uint64_t)n);
}

static T_UNUSED bool msg_all_on_node(void)
{
    return shmem_team_n_pes(SHMEM_TEAM_SHARED) == n_pes;
}

/* Of what takes long between nodes they do less, and little with T_SHORT. */
static T_UNUSED int msg_times(int on_node, int off_node)
{
    int n = msg_all_on_node() ? on_node : off_node;

    return getenv("T_SHORT") ? n / 10 + 1 : n;
}

/* The stream stands still for up to so many microseconds. */
static T_UNUSED void msg_delay(shmemx_stream_t s, int most)
{
    static useconds_t us[997];  /* more than one needs at a time: any will do */
    static int at;

    at = (at + 1) % 997;
    us[at] = (useconds_t)msg_below(most);
    T_EQ(shmemx_stream_call(s, msg_do_sleep, &us[at]), 0);
}

static T_UNUSED void msg_shuffle(shmemx_req_t *r, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = msg_below(i + 1);
        shmemx_req_t was = r[i];

        r[i] = r[k];
        r[k] = was;
    }
}

/* One end of a pair: a word that is sent, or that comes. */
struct msg_end {
    shmemx_req_t r;
    uint64_t word, want;
    bool comes;
};

static T_UNUSED void msg_sends(struct msg_end *e, int pe, int tag, int n)
{
    e->want = e->word = msg_key(me, pe, tag, n);
    e->comes = false;
    T_EQ(shmemx_send_init(&e->word, sizeof e->word, pe, tag, &e->r), 0);
}

static T_UNUSED void msg_receives(struct msg_end *e, int pe, int tag, int n)
{
    e->want = msg_key(pe, me, tag, n);
    e->word = 0;
    e->comes = true;
    T_EQ(shmemx_recv_init(&e->word, sizeof e->word, pe, tag, &e->r), 0);
}

/* All of them go once and have come; then they are as new. */
static T_UNUSED void msg_exchange(shmemx_queue_t q, struct msg_end *e, int n)
{
    shmemx_req_t *r = calloc((size_t)n + 1, sizeof *r);

    for (int i = 0; i < n; i++)
        r[i] = e[i].r;
    msg_shuffle(r, n);
    T_EQ(shmemx_enqueue_startall(q, n, r), 0);
    T_EQ(shmemx_enqueue_waitall(q, n, r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    for (int i = 0; i < n; i++) {
        T_EQ(e[i].word, e[i].want);
        if (e[i].comes)
            e[i].word = 0;
    }
    free(r);
}

static T_UNUSED void msg_free(struct msg_end *e, int n)
{
    for (int i = 0; i < n; i++)
        T_EQ(shmemx_req_free(&e[i].r), 0);
}

#endif

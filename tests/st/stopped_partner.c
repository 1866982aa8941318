/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a far PE that answers nothing holds up the messages to itself
 * alone: PE 1 is stopped while PE 0 starts sends to it, makes and frees ends
 * for it, and has streams and messages with PE 2.  With "unmatched" only what
 * goes before ends match, where no provider can do the rest.
 * PEs: 3
 * Launch: --ppn 1
 * Env: SHMEM_STALL=0
 * Timeout: 60 */
#include "msg.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 300 };   /* MANY: more than a ring has places */

static long put, one = 42;
static uint64_t words[MANY];
static shmemx_req_t reqs[MANY];
static pid_t pids[3];
static shmemx_stream_t s;
static shmemx_queue_t q;

/* Words that PE gets: sent once each, or received. */
static void all_words(shmemx_queue_t by, int pe, int tag, bool sends)
{
    for (int i = 0; i < MANY; i++) {
        words[i] = sends ? msg_key(0, pe, tag, i) : 0;
        T_EQ(sends ? shmemx_enqueue_send(by, &words[i], 8, pe, tag, &reqs[i])
                   : shmemx_enqueue_recv(by, &words[i], 8, pe, tag, &reqs[i]),
             0);
    }
    T_EQ(shmemx_enqueue_start(by), 0);
    T_EQ(shmemx_enqueue_waitall(by, MANY, reqs), 0);
}

static void check_area(int tag)
{
    for (int i = 0; i < MANY; i++)
        T_EQ(words[i], msg_key(0, me, tag, i));
}

/* A round there and back between PE 0 and PE 2, matched for it. */
static void exchange(int tag)
{
    struct msg_end e[2];

    msg_sends(&e[0], 2 - me, tag, 0);
    msg_receives(&e[1], 2 - me, tag, 0);
    T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[0].r, e[1].r }), 0);
    msg_exchange(q, e, 2);
    msg_free(e, 2);
}

static void with_others(void)
{
    T_EQ(shmemx_long_put_on_stream(&put, &one, 1, 2, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_TRUE(st_ends(s));
    exchange(1);
    exchange(2);
}

/* What PE 0 has for PE 1 while that sleeps; the stream of its own. */
static void for_the_silent(shmemx_stream_t apart, shmemx_queue_t by)
{
    shmemx_req_t r, all;
    uint64_t word = 0;

    all_words(by, 1, 7, true);          /* notes: more than there is room for */
    T_EQ(shmemx_send_init(&word, 8, 1, 8, &r), 0);
    T_EQ(shmemx_imatchall(1, &r, &all), 0);
    with_others();
    T_EQ(shmemx_stream_query(apart), -EAGAIN);
    T_EQ(kill(pids[1], SIGCONT), 0);
    T_EQ(shmemx_req_wait(all), 0);
    T_EQ(shmemx_req_free(&r), 0);
}

/* PE 1 is not back before PE 0 is done with PE 2. */
T(a_silent_partner_holds_up_its_messages_only)
{
    shmemx_stream_t apart = st_make();
    shmemx_queue_t by;
    shmemx_req_t r;
    uint64_t word;

    T_EQ(shmemx_queue_create(apart, NULL, 0, &by), 0);
    shmem_barrier_all();
    if (me == 0) {
        T_EQ(kill(pids[1], SIGSTOP), 0);
        usleep(20000);
        for_the_silent(apart, by);
    } else if (me == 1) {
        T_EQ(shmemx_recv_init(&word, 8, 0, 8, &r), 0);
        all_words(by, 0, 7, false);
        T_EQ(shmemx_matchall(1, &r), 0);
        T_EQ(shmemx_req_free(&r), 0);
    } else {
        exchange(1);
        exchange(2);
    }
    T_EQ(shmemx_stream_sync(apart), 0);
    if (me == 1)
        check_area(7);
    T_EQ(shmemx_queue_destroy(by), 0);
    T_EQ(shmemx_stream_destroy(apart), 0);
    shmem_barrier_all();
}

/* So many that the connection cannot hold them, first long ones. */
enum { LONGS = 12, LONG = 1 << 20, SHORTS = 150, SHORT = 3500, TAG = 100 };

static void pairs_of(char *at, int n, size_t bytes, int tag, shmemx_req_t *r)
{
    for (int i = 0; i < n; i++)
        if (me == 0)
            T_EQ(shmemx_rsend_init(at, bytes, 1, tag + i, &r[i]), 0);
        else
            T_EQ(shmemx_recv_init(at + (size_t)i * bytes, bytes, 0, tag + i,
                                  &r[i]), 0);
}

static void come_past(void *past)
{
    atomic_store((atomic_bool *)past, true);
}

/* The stream itself comes past the start. */
static void start_and_wait(shmemx_queue_t by, shmemx_stream_t apart, int n,
                           shmemx_req_t *r)
{
    static atomic_bool past;

    atomic_store(&past, false);
    T_EQ(shmemx_enqueue_startall(by, n, r), 0);
    T_EQ(shmemx_stream_call(apart, come_past, &past), 0);
    T_EQ(shmemx_enqueue_waitall(by, n, r), 0);
    for (int i = 0; i < 10000 && !atomic_load(&past); i++)
        usleep(1000);
    T_TRUE(atomic_load(&past));
}

static void both_lengths(shmemx_stream_t *apart, char *at)
{
    char *shorts = at + (size_t)LONGS * LONG;
    shmemx_req_t r[LONGS + SHORTS];
    shmemx_queue_t by[2];

    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_queue_create(apart[i], NULL, 0, &by[i]), 0);
    pairs_of(at, LONGS, LONG, TAG, r);
    pairs_of(shorts, SHORTS, SHORT, TAG + LONGS, r + LONGS);
    T_EQ(shmemx_matchall(LONGS + SHORTS, r), 0);
    if (me == 1)
        T_EQ(shmemx_enqueue_startall(by[0], LONGS + SHORTS, r), 0);
    shmem_sync(SHMEM_TEAM_WORLD);
    if (me == 0) {
        T_EQ(kill(pids[1], SIGSTOP), 0);
        usleep(20000);
        start_and_wait(by[0], apart[0], LONGS, r);
        start_and_wait(by[1], apart[1], SHORTS, r + LONGS);
        with_others();
        T_EQ(shmemx_stream_query(apart[0]), -EAGAIN);
        T_EQ(kill(pids[1], SIGCONT), 0);
    } else {
        T_EQ(shmemx_enqueue_waitall(by[0], LONGS + SHORTS, r), 0);
    }
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_stream_sync(apart[i]), 0);
    for (int i = 0; i < LONGS + SHORTS; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_queue_destroy(by[i]), 0);
}

T(a_silent_partner_of_sends_of_any_length)
{
    size_t shorts = (size_t)SHORTS * SHORT, all = LONGS * LONG + shorts;
    shmemx_stream_t apart[2] = { st_make(), st_make() };
    char *at = shmem_malloc(all);

    msg_fill(at, LONG, 5);
    msg_fill(at + (size_t)LONGS * LONG, SHORT, 6);
    shmem_barrier_all();
    if (me == 2) {
        shmem_sync(SHMEM_TEAM_WORLD);
        exchange(1);
        exchange(2);
    } else {
        both_lengths(apart, at);
    }
    for (int i = 0; i < LONGS && me == 1; i++)
        MSG_IS(at + (size_t)i * LONG, LONG, 5);
    for (size_t i = 0; i < shorts && me == 1; i += SHORT)
        MSG_IS(at + (size_t)LONGS * LONG + i, SHORT, 6);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_stream_destroy(apart[i]), 0);
    shmem_barrier_all();
    shmem_free(at);
}

/* PEs 0 and 2 know PE 1, or they would wait for the connection. */
static void synchronize(void)
{
    static long pid;

    pid = getpid();
    shmem_barrier_all();
    for (int pe = 0; pe < 3; pe++)
        pids[pe] = (pid_t)shmem_long_g(&pid, pe);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    alarm(50);                  /* for waits for the stopped PE */
    st_begin();
    synchronize();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(a_silent_partner_holds_up_its_messages_only);
    if (argc < 2 || strcmp(argv[1], "unmatched") != 0)
        T_RUN(a_silent_partner_of_sends_of_any_length);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

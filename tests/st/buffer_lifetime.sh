#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what somebody else still uses of a message is kept: its buffer
# until a far put of it has ended, however slow the receiver is, and what the
# progress thread has of a one-shot one until it has released it.
# Timeout: 30
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
enum { LONG = 32 << 20, ROUNDS = 8 };

#define IS(x, y) same(__LINE__, x, y)
static int bad, me;
static long pid;
static int written;
static shmemx_stream_t s;
static shmemx_queue_t q;

static void same(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
    bad += got != want;
}

static void overwrite(void *buf)
{
    memset(buf, 2, LONG);
    __atomic_store_n(&written, 1, __ATOMIC_RELEASE);
}

/* More than sockets hold, to one that takes nothing. */
static void to_a_stopped_pe(void)
{
    char *buf = shmem_malloc(LONG);
    pid_t peer = (pid_t)shmem_long_g(&pid, 1);
    shmemx_req_t r;

    memset(buf, 1, LONG);
    IS(me ? shmemx_recv_init(buf, LONG, 0, 1, &r)
          : shmemx_send_init(buf, LONG, 1, 1, &r), 0);
    IS(shmemx_match(r), 0);
    memset(buf, !me, LONG);
    if (me) {
        IS(shmemx_enqueue_startall(q, 1, &r), 0);
        IS(shmemx_enqueue_waitall(q, 1, &r), 0);
    }
    shmem_barrier_all();
    if (!me) {
        kill(peer, SIGSTOP);
        usleep(20000);          /* until it has */
        IS(shmemx_enqueue_startall(q, 1, &r), 0);
        IS(shmemx_enqueue_waitall(q, 1, &r), 0);
        IS(shmemx_stream_call(s, overwrite, buf), 0);
        usleep(100000);
        IS(__atomic_load_n(&written, __ATOMIC_ACQUIRE), 0);
        kill(peer, SIGCONT);
    }
    IS(shmemx_stream_sync(s), 0);
    IS(shmemx_req_wait(r), 0);
    for (size_t i = 0; i < LONG; i += 1000)
        if (buf[i] != (me ? 1 : 2)) {
            IS(buf[i], me ? 1 : 2);
            break;
        }
}

/* The receiver's progress thread seldom polls: messages are matched by the host,
 * and come before it does. */
static void before_the_thread_polls(void)
{
    long *buf = shmem_calloc(1, sizeof *buf), word;
    shmemx_req_t r, dummy;
    int flag;

    IS(shmemx_send_init(&word, 8, 0, 1, &dummy), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        word = i;
        if (me) {
            IS(shmemx_enqueue_recv(q, buf, 8, 0, 2, &r), 0);
            IS(shmemx_enqueue_start(q), 0);
            IS(shmemx_enqueue_wait(q), 0);
            usleep(50000);      /* until it has come to it */
        } else {
            IS(shmemx_enqueue_send(q, &word, 8, 1, 2, NULL), 0);
        }
        shmem_barrier_all();
        if (me) {
            do {
                shmemx_is_matched(dummy, &flag);
                IS(shmemx_req_test(r, &flag), 0);
            } while (!flag);
            IS(*buf, i);
            IS(shmemx_req_free(&r), 0);
        } else {
            IS(shmemx_enqueue_start(q), 0);
            IS(shmemx_queue_wait(q), 0);
        }
    }
    IS(shmemx_queue_destroy(q), 0);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];

    (void)argc;
    if (!strcmp(word, "thread") && !strcmp(getenv("SLUICE_JOB_PE"), "1"))
        setenv("SHMEM_FAULT", "stream_progress:0.95:1", 1);
    shmem_init();
    me = shmem_my_pe();
    pid = getpid();
    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_queue_create(s, NULL, 0, &q), 0);
    shmem_barrier_all();
    if (!strcmp(word, "thread"))
        before_the_thread_polls();
    else
        to_a_stopped_pe();
    shmem_finalize();
    return bad != 0;
}
C

# kept N WORD
kept()
{
    # shellcheck disable=SC2086
    try $1 "$bad" "$2"
    ended 0 "$2"
}

beside kept 2 thread
SHMEM_OFI_PROVIDER=tcp beside kept '2 --ppn 1' far
together
finish 'what others still use of messages'

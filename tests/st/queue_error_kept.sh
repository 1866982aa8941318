#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the failure of a message without a request is returned by its
# queue, also where a quiet has printed it and another one, of a request, came
# after it; each failure has one line, and calls of messages print none that a
# request returns.
# Light: short jobs
set -u
. "$(dirname "$0")/../neg/neg.inc"

program kept <<'C'
#include <shmemx_st.h>
#include <errno.h>
static shmemx_stream_t to, from;
static shmemx_queue_t sends, receives;
static char in[8], out[16];
static int me, bad;

#define IS(x, y) same(__LINE__, x, y)
static void same(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
    bad += got != want;
}

static void set(void *flag)
{
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

/* Without a call that returns failures; and what is posted is done then. */
static void pass(shmemx_stream_t s)
{
    int passed = 0;

    IS(shmemx_stream_call(s, set, &passed), 0);
    while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
        usleep(100);
    usleep(200000);
}

/* The send is longer. */
static void fails(int tag, shmemx_req_t *r)
{
    IS(shmemx_enqueue_recv(receives, in, sizeof in, me, tag, r), 0);
    IS(shmemx_enqueue_send(sends, out, sizeof out, me, tag, NULL), 0);
    IS(shmemx_enqueue_start(receives), 0);
    IS(shmemx_enqueue_wait(receives), 0);
    IS(shmemx_enqueue_start(sends), 0);
    IS(shmemx_enqueue_wait(sends), 0);
    pass(to);
}

static void printed(void)
{
    shmemx_req_t r;

    fails(1, NULL);
    shmem_quiet();
    fails(2, &r);
    IS(shmemx_req_wait(r), -EMSGSIZE);
    IS(shmemx_queue_wait(receives), -EIO);
    IS(shmemx_queue_wait(receives), 0);
}

/* What no line has counted gets one. */
static void not_printed(void)
{
    shmemx_req_t r;

    fails(1, NULL);
    shmem_quiet();
    fails(2, &r);
    fails(3, NULL);
    IS(shmemx_req_wait(r), -EMSGSIZE);
    IS(shmemx_queue_wait(receives), -EIO);
}

static void by_messages(void)
{
    shmemx_req_t r, e[2];

    IS(shmemx_recv_init(in, 8, me, 3, &e[0]), 0);
    IS(shmemx_send_init(out, 8, me, 3, &e[1]), 0);
    IS(shmemx_matchall(2, e), 0);
    fails(1, &r);
    IS(shmemx_enqueue_startall(sends, 2, e), 0);
    IS(shmemx_req_wait(e[0]), 0);
    IS(shmemx_req_wait(e[1]), 0);
    IS(shmemx_req_wait(r), -EMSGSIZE);
    IS(shmemx_queue_wait(receives), 0);
    IS(shmemx_req_free(&e[0]), 0);
    IS(shmemx_req_free(&e[1]), 0);
}

int main(int argc, char **argv)
{
    const char *word = argv[argc - 1];

    shmem_init();
    me = shmem_my_pe();
    IS(shmemx_stream_create(&to), 0);
    IS(shmemx_stream_create(&from), 0);
    IS(shmemx_queue_create(to, NULL, 0, &receives), 0);
    IS(shmemx_queue_create(from, NULL, 0, &sends), 0);
    if (me == 0 && !strcmp(word, "printed"))
        printed();
    if (me == 0 && !strcmp(word, "not_printed"))
        not_printed();
    if (me == 0 && !strcmp(word, "by_messages"))
        by_messages();
    IS(shmemx_queue_wait(sends), me ? 0 : -EIO);
    IS(shmemx_queue_destroy(sends), 0);
    IS(shmemx_queue_destroy(receives), 0);
    IS(shmemx_stream_destroy(from), 0);
    IS(shmemx_stream_destroy(to), 0);
    shmem_barrier_all();
    shmem_finalize();
    return bad;
}
C

# lines N REGEX: so many of them are in the last job's output.
lines()
{
    [ "$(grep -cE "$2" "$err")" -eq "$1" ] || fail "$word: not $1 of $2: $(cat "$out" "$err")"
}

export SHMEM_DEVICE=software
# A quiet prints failures where there is a network.
for word in printed not_printed by_messages; do
    try 2 --ppn 1 ./kept $word
    [ $status -eq 0 ] || fail "$word: status $status: $(cat "$out" "$err")"
    case $word in
        printed)
            lines 1 'shmem_quiet: on stream .* shmemx_enqueue_recv failed: .*, tag 1,'
            lines 1 'shmemx_req_wait: a receive .*, tag 2,'
            lines 1 'shmemx_enqueue_recv failed' ;;
        not_printed)
            lines 1 'shmem_quiet: on stream .* shmemx_enqueue_recv failed: .*, tag 1,'
            lines 1 'shmemx_queue_wait: on stream .* shmemx_enqueue_recv failed'
            lines 2 'shmemx_enqueue_recv failed' ;;
        by_messages)
            lines 0 'shmemx_enqueue_recv failed' ;;
    esac
    try 1 ./kept $word
    [ $status -eq 0 ] || fail "$word, near: status $status: $(cat "$out" "$err")"
done
finish 'failures stay until a call returns them'

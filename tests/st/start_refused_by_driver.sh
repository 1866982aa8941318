#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a start that the device's driver refuses in the middle starts
# nothing, and what it had armed is never done; its queue and its requests say
# so and can be freed, and others go on.  A wait that was refused is made again,
# and a quiet behind one that was refused waits for all that is under way.
# Timeout: 30
set -u
. "$(dirname "$0")/../neg/neg.inc"
fake=$BUILD/obj/tests/fake
export SHMEM_DEVICE=cuda FAKE_DEVICE=discrete SHMEM_SYMMETRIC_SIZE=32M \
    SHMEM_DEVICE_SYMMETRIC_SIZE=16M LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc"
unset FAKE_DEVICE_FAIL FAKE_DEVICE_COUNT FAKE_DEVICE_LOG

program bad <<'C'
#include <shmemx_st.h>
#include <dlfcn.h>
enum { N = 1000 };
#define STORE "cuStreamWriteValue64_v2"
#define WAIT "cuStreamWaitValue64_v2"

#define IS(x, y) same(__LINE__, x, y)
static int bad, peer;
static shmemx_stream_t s, t;
static shmemx_queue_t q, other;
static void (*fail)(const char *call, int code, int after);

static void same(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
    bad += got != want;
}

/* The driver refuses from the call on that comes after so many. */
static void refuse(const char *call, int after)
{
    fail(call, 999, after);     /* CUDA_ERROR_UNKNOWN */
}

static void refuse_nothing(void)
{
    fail("", 0, 0);
}

#define REFUSED(x, call, after) do { \
    refuse(call, after);             \
    IS((x) < 0, 1);                  \
    refuse_nothing();                \
} while (0)

static void end_of_queue(void)
{
    IS(shmemx_enqueue_start(q), -EIO);
    IS(shmemx_enqueue_wait(q), -EIO);
    IS(shmemx_queue_wait(q), 0);
    IS(shmemx_stream_sync(s), 0);
    IS(shmemx_queue_destroy(q), 0);
}

/* As pairs: a receive and its send, of N bytes each. */
static void pair(shmemx_req_t r[2], char *to, char *from, int tag)
{
    IS(shmemx_recv_init(to, N, peer, tag, &r[0]), 0);
    IS(shmemx_send_init(from, N, peer, tag, &r[1]), 0);
}

static void free_all(int n, shmemx_req_t r[])
{
    IS(shmemx_stream_sync(s), 0);
    for (int i = 0; i < n; i++)
        IS(shmemx_req_free(&r[i]), 0);
}

/* What did not break goes on. */
static void go_on(int n, shmemx_req_t r[], char *in, char *out)
{
    for (int i = 1; i < 20; i++) {
        memset(out, i, 2 * N);
        IS(shmemx_enqueue_startall(other, n, r), 0);
        IS(shmemx_enqueue_waitall(other, n, r), 0);
        IS(shmemx_queue_wait(other), 0);
        IS(in[0] == i && in[N - 1] == i, 1);
    }
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    char *x, *in, *out, *mine;
    uint64_t *was;
    shmemx_req_t r[8];
    int flag = 1;

    (void)argc;
    shmem_init();
    peer = shmem_n_pes() - 1;
    fail = (void (*)(const char *, int, int))(uintptr_t)dlsym(
        dlopen("libcuda.so.1", RTLD_NOW), "dev_fail");
    IS(fail != NULL, 1);
    x = shmem_calloc(1, N);
    in = shmem_calloc(2, N);
    out = shmem_calloc(2, N);
    was = shmem_calloc(2, sizeof *was);
    if (shmem_my_pe()) {        /* put to, and no more */
        shmem_finalize();
        return 0;
    }
    mine = calloc(2, N);
    memset(mine, 7, N);
    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_stream_create(&t), 0);
    IS(shmemx_queue_create(s, NULL, 0, &q), 0);
    IS(shmemx_queue_create(t, NULL, 0, &other), 0);
    if (!strcmp(word, "messages")) {            /* one put, one not */
        pair(r, in, out, 1);
        pair(r + 2, in + N, out + N, 2);
        pair(r + 4, in, out, 3);
        IS(shmemx_matchall(6, r), 0);
        REFUSED(shmemx_enqueue_startall(q, 4, r), "cuMemcpyAsync", 1);
        IS(shmemx_enqueue_startall(other, 1, r), -EIO);
        IS(shmemx_enqueue_startall(other, 1, r + 3), -EIO);
        IS(shmemx_enqueue_startall(q, 2, r + 4), -EIO);
        IS(shmemx_enqueue_putmem(q, x, out, N, peer, NULL), -EIO);
        IS(shmemx_req_wait(r[1]), 0);
        free_all(4, r);
        end_of_queue();
        go_on(2, r + 4, in, out);
    }
    CASE(held) {                /* nothing goes before the stream is past it */
        pair(r, in, out, 1);
        pair(r + 2, in + N, out + N, 2);
        IS(shmemx_matchall(4, r), 0);
        IS(shmemx_signal_wait_until_on_stream(NULL, was, SHMEM_CMP_GE, 1, s),
           0);
        REFUSED(shmemx_enqueue_startall(q, 4, r), "cuMemcpyAsync", 1);
        for (int i = 0; i < 4; i++)
            IS(shmemx_req_free(&r[i]), -EBUSY);
        IS(shmemx_queue_destroy(q), -EBUSY);
        shmem_signal_set(was, 1, shmem_my_pe());
        free_all(4, r);
        end_of_queue();
    }
    CASE(none) {                /* what is refused before is not sent */
        pair(r, in, out, 1);
        IS(shmemx_matchall(2, r), 0);
        IS(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r[2]), 0);
        IS(shmemx_enqueue_startall(other, 1, r), 0);
        REFUSED(shmemx_enqueue_startall(q, 2, r + 1), WAIT, 0);
        IS(shmemx_stream_sync(s), 0);
        IS(shmemx_req_test(r[0], &flag), 0);
        IS(flag, 0);
    }
    CASE(collective) {
        IS(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r[0]), 0);
        IS(shmemx_enqueue_startall(other, 1, r), 0);
        IS(shmemx_req_wait(r[0]), 0);
        REFUSED(shmemx_enqueue_startall(q, 1, r), WAIT, 0);
        IS(shmemx_enqueue_startall(other, 1, r), -EIO);
        free_all(1, r);
        end_of_queue();
        IS(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r[0]), 0);
        IS(shmemx_enqueue_startall(other, 1, r), 0);
        IS(shmemx_req_wait(r[0]), 0);
    }
    CASE(armed) {               /* for a thread, or the NIC */
        IS(shmemx_enqueue_putmem(q, x, mine, N, peer, NULL), 0);
        IS(shmemx_enqueue_putmem(q, x, mine, N, peer, &r[0]), 0);
        REFUSED(shmemx_enqueue_start(q), STORE, 0);
        end_of_queue();
        free_all(1, r);
        IS(shmemx_enqueue_putmem(other, in, mine, N, peer, NULL), 0);
        IS(shmemx_enqueue_start(other), 0);
        IS(shmemx_queue_wait(other), 0);
    }
    CASE(once) {                /* its partner hears of it */
        IS(shmemx_enqueue_recv(other, in, N, peer, 1, NULL), 0);
        IS(shmemx_enqueue_start(other), 0);
        IS(shmemx_enqueue_wait(other), 0);
        IS(shmemx_enqueue_send(q, out, N, peer, 1, NULL), 0);
        REFUSED(shmemx_enqueue_start(q), STORE, 0);
        end_of_queue();
        IS(shmemx_queue_wait(other), -EIO);
    }
    CASE(copies) {              /* by a thread, behind a wait */
        pair(r, mine, out, 1);
        IS(shmemx_matchall(2, r), 0);
        memset(out, 9, N);
        IS(shmemx_enqueue_startall(q, 2, r), 0);
        REFUSED(shmemx_enqueue_waitall(q, 2, r), STORE, 0);
        IS(shmemx_enqueue_waitall(q, 2, r), -EIO);
        IS(shmemx_req_wait(r[0]), 0);
        IS(shmemx_req_wait(r[1]), 0);
        IS(mine[N - 1], 9);
        end_of_queue();
        go_on(2, r, mine, out);
    }
    CASE(quiet) {
        IS(shmemx_putmem_nbi_on_stream(x, mine, N, peer, s), 0);
        REFUSED(shmemx_quiet_on_stream(s), argv[2], 0);
        IS(shmemx_quiet_on_stream(s), 0);
        IS(shmemx_stream_sync(s), 0);
        IS(shmem_char_g(x + N - 1, peer), 7);
        shmem_char_p(x, 0, peer);
    }
    CASE(release) {             /* of what the NIC has: with the quiet */
        REFUSED(shmemx_putmem_nbi_on_stream(x, mine, N, peer, s), STORE, 0);
        IS(shmemx_quiet_on_stream(s), 0);
        IS(shmemx_stream_sync(s), 0);
        shmem_char_p(x, 0, peer);
    }
    CASE(wait) {                /* no thread acts */
        was[1] = 1;
        IS(shmemx_enqueue_putmem(q, x, mine, N, peer, NULL), 0);
        IS(shmemx_enqueue_start(q), 0);
        REFUSED(shmemx_enqueue_wait(q), WAIT, 0);
        IS(shmemx_enqueue_wait(q), 0);
        IS(shmemx_stream_copy(s, was, was + 1, sizeof *was), 0);
        usleep(50000);
        IS(was[0], 0);
        IS(shmemx_stream_copy(t, was, was + 1, sizeof *was), 0);
        IS(shmemx_stream_sync(t), 0);
        IS(was[0], 1);
        shmem_global_exit(bad != 0);            /* s waits for ever */
    }
    shmem_quiet();
    IS(shmem_char_g(x, peer), 0);
    shmem_finalize();
    free(mine);
    return bad != 0;
}
C

# refused N WORD REGEX: on N PEs; one line is the driver's, and one that.
refused()
{
    # shellcheck disable=SC2086
    try $1 "$bad" $2
    sed -i /S-W-FAULT/d "$err"
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$2: status $status: $(head -n 9 "$out" "$err")"
    [ "$(grep -c 'stream 0x.*: cu[A-Z].*\[S-W-STREAM\]' "$err")" -eq 1 ] ||
        fail "$2: not one line of the driver: $(cat "$err")"
    grep -qE "$3.*\\[S-W-STREAM\\]" "$err" || fail "$2: no '$3': $(cat "$err")"
}

start='an earlier start of the queue failed in the middle'
for word in collective armed once copies; do
    beside refused 0 $word "shmemx_enqueue_start: $start"
done
beside refused 0 messages \
    'startall: request 0 \([^)]* PE [01], tag [0-9]+\): an earlier start of it failed in the middle'
beside refused 0 held "shmemx_enqueue_start: $start"
beside refused 0 none shmemx_enqueue_startall
SHMEM_FAULT=stream_progress:1 beside refused 0 wait shmemx_enqueue_wait
together
refused '2 --ppn 1' armed "shmemx_enqueue_start: $start"
SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi" \
    refused '2 --ppn 1' armed "shmemx_enqueue_start: $start"
export FAKE_CXI_DELAY_US=50000
for call in cuStreamWriteValue64_v2 cuStreamWaitValue64_v2; do
    refused '2 --ppn 1' "quiet $call" shmemx_quiet_on_stream
done
SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi" \
    refused '2 --ppn 1' 'quiet cuStreamWaitValue64_v2' shmemx_quiet_on_stream
SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi" \
    refused '2 --ppn 1' release shmemx_putmem_nbi_on_stream
finish 'what a driver refuses in the middle'

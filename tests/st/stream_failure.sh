#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an operation of a stream that fails on its way to another node
# counts as done and as failed: the stream goes on, the next call of the host
# that waits returns -EIO with one line, once, and other streams hear nothing.
# Light: far jobs start one by one
# Timeout: 40
set -u
. "$(dirname "$0")/../neg/neg.inc"

program far <<'C'
#include <shmemx_st.h>
static uint64_t word[4], back = 7;
static char there[200000], here[200000];
static int bad;

#define IS(x, y) same(__LINE__, x, y)
static void same(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
    bad += got != want;
}

static int passed;
static void set(void *arg)
{
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

/* Without a call that would tell. */
static void pass(shmemx_stream_t s)
{
    IS(shmemx_stream_call(s, set, &passed), 0);
    while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
        usleep(100);
}

static int query(shmemx_stream_t s)
{
    int rc;

    while ((rc = shmemx_stream_query(s)) == -EAGAIN)
        usleep(100);
    return rc;
}

static void streams(int peer)
{
    shmemx_stream_t s, other;
    shmem_ctx_t ctx;
    uint64_t one = 1, was = 0;

    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_stream_create(&other), 0);
    IS(shmem_ctx_create(0, &ctx), 0);
    IS(shmemx_putmem_on_stream(there, here, sizeof here, peer, s), 0);
    IS(shmemx_getmem_on_stream(here, there, sizeof here, peer, s), 0);
    IS(shmemx_uint64_p_on_stream(word, 1, peer, s), 0);
    IS(shmemx_uint64_atomic_fetch_add_on_stream(&back, word, 1, peer, s), 0);
    IS(shmemx_putmem_signal_on_stream(there, here, sizeof here, word + 1, 1,
                                      SHMEM_SIGNAL_SET, peer, s), 0);
    IS(shmemx_quiet_on_stream(s), 0);
    IS(shmemx_stream_copy(s, &was, &one, sizeof one), 0);
    IS(query(s), -EIO);
    IS(was, 1);                         /* the stream went on */
    IS(back, 7);                        /* no result was stored */
    IS(query(s), 0);
    IS(shmemx_stream_sync(s), 0);

    IS(shmemx_uint64_p_on_stream(word, 1, peer, s), 0);
    IS(shmemx_quiet_on_stream(s), 0);
    IS(shmemx_stream_sync(other), 0);
    IS(shmemx_stream_sync(s), -EIO);
    IS(shmemx_stream_sync(s), 0);

    /* A quiet of the host's tells of it, and the stream returns it. */
    IS(shmemx_uint64_atomic_inc_on_stream(word, peer, s), 0);
    IS(shmemx_quiet_on_stream(s), 0);
    pass(s);
    shmem_ctx_quiet(ctx);
    shmem_quiet();
    IS(shmemx_stream_sync(s), -EIO);

    /* Nobody asks: the end tells. */
    passed = 0;
    IS(shmemx_uint64_p_on_stream(word, 1, peer, other), 0);
    IS(shmemx_quiet_on_stream(other), 0);
    pass(other);
}

static void queue(int peer)
{
    shmemx_queue_t q;
    shmemx_stream_t s;
    shmemx_req_t r, p;
    int flag = 0;

    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_queue_create(s, NULL, 0, &q), 0);
    IS(shmemx_enqueue_putmem(q, there, here, sizeof here, peer, NULL), 0);
    IS(shmemx_enqueue_atomic_add_uint64(q, word, 1, peer, NULL), 0);
    IS(shmemx_enqueue_start(q), 0);
    IS(shmemx_enqueue_wait(q), 0);
    IS(shmemx_queue_wait(q), -EIO);
    IS(shmemx_queue_test(q, &flag), 0);
    IS(flag, 1);
    IS(shmemx_stream_sync(s), 0);

    IS(shmemx_put_init(there, here, sizeof here, peer, &p), 0);
    for (int i = 0; i < 2; i++) {
        IS(shmemx_enqueue_startall(q, 1, &p), 0);
        IS(shmemx_req_wait(p), -EIO);
        IS(shmemx_req_wait(p), 0);
    }
    IS(shmemx_enqueue_putmem(q, there, here, sizeof here, peer, &r), 0);
    IS(shmemx_enqueue_start(q), 0);
    IS(shmemx_enqueue_wait(q), 0);
    IS(shmemx_stream_sync(s), -EIO);    /* its queues' as well */
    IS(shmemx_req_test(r, &flag), 0);
    IS(flag, 1);
    IS(shmemx_queue_wait(q), 0);
    IS(shmemx_req_free(&r), 0);
    IS(shmemx_req_free(&p), 0);
    IS(shmemx_queue_destroy(q), 0);
}

/* Some puts fail, and some signals: none comes without its put, and who asks
 * hears of each. */
enum { SOME = 30 };
static uint64_t data[2 * SOME], come[2 * SOME], from[2 * SOME];

static void signals(int peer)
{
    shmemx_stream_t s[SOME], all;
    shmemx_queue_t q;
    int rc[2 * SOME], lost = 0;

    for (int i = 0; i < 2 * SOME; i++)
        from[i] = 1000 + i;
    for (int i = 0; i < SOME; i++) {
        IS(shmemx_stream_create(&s[i]), 0);
        IS(shmemx_putmem_signal_on_stream(&data[i], &from[i], 8, &come[i], 1,
                                          SHMEM_SIGNAL_SET, peer, s[i]), 0);
        IS(shmemx_quiet_on_stream(s[i]), 0);
        rc[i] = shmemx_stream_sync(s[i]);
    }
    IS(shmemx_stream_create(&all), 0);
    IS(shmemx_queue_create(all, NULL, 0, &q), 0);
    for (int i = SOME; i < 2 * SOME; i++)
        IS(shmemx_enqueue_putmem_signal(q, &data[i], &from[i], 8, &come[i], 1,
                                        SHMEM_SIGNAL_ADD, peer, NULL), 0);
    IS(shmemx_enqueue_start(q), 0);
    IS(shmemx_enqueue_wait(q), 0);
    IS(shmemx_queue_wait(q), -EIO);
    for (int i = 0; i < 2 * SOME; i++) {
        uint64_t there = shmem_uint64_g(&data[i], peer);
        uint64_t sig = shmem_uint64_g(&come[i], peer);

        IS(sig > 1 || (there && there != from[i]), 0);
        if (sig && !there)
            printf("%d: a signal without its put\n", i), bad++;
        if (i < SOME && !rc[i] != (sig && there))
            printf("%d: rc %d, put %d, signal %d\n", i, rc[i], (int)there,
                   (int)sig), bad++;
        lost += !sig;
    }
    IS(!lost || lost == 2 * SOME, 0);
    IS(shmemx_queue_destroy(q), 0);
}

/* What tells that the NIC has done it fails: flags of later starts are not
 * raised for that, and another stream's calls do not wait for those. */
static void flags(int peer)
{
    shmemx_stream_t s, other;

    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_stream_create(&other), 0);
    IS(shmemx_uint64_p_on_stream(&data[0], 3, peer, s), 0);
    IS(shmemx_quiet_on_stream(s), 0);
    passed = 0;
    IS(shmemx_stream_call(s, set, &passed), 0);
    IS(shmemx_uint64_wait_until_on_stream(&back, SHMEM_CMP_EQ, 8, s), 0);
    IS(shmemx_uint64_p_on_stream(&data[1], 4, peer, s), 0);
    IS(shmemx_quiet_on_stream(s), 0);
    while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
        usleep(100);
    IS(shmemx_stream_sync(other), 0);
    shmem_signal_set(&back, 8, shmem_my_pe());
    IS(shmemx_stream_sync(s), -EIO);
    IS(shmem_uint64_g(&data[0], peer), 3);
    IS(shmem_uint64_g(&data[1], peer), 4);
}

/* The NIC takes a put, and of its signal it hears only when that has ended. */
static void refused(int peer)
{
    shmemx_stream_t s[2];

    for (int i = 0; i < 2; i++) {
        from[i] = 5 + i;
        IS(shmemx_stream_create(&s[i]), 0);
        IS(shmemx_putmem_signal_on_stream(&data[i], &from[i], 8, &come[i], 1,
                                          i ? SHMEM_SIGNAL_ADD
                                            : SHMEM_SIGNAL_SET, peer, s[i]), 0);
        IS(shmemx_quiet_on_stream(s[i]), 0);
    }
    IS(shmemx_stream_sync(s[0]), -EIO);
    IS(shmemx_stream_sync(s[1]), 0);
    for (int i = 0; i < 2; i++) {
        IS(shmem_uint64_g(&data[i], peer), 5 + i);
        IS(shmem_uint64_g(&come[i], peer), i);
    }
}

/* The peer dies with much under way; no stream stays behind that. */
static void lose(int peer)
{
    shmemx_stream_t s;
    int rc;

    IS(shmemx_stream_create(&s), 0);
    for (int i = 0; i < 2000; i++) {
        IS(shmemx_putmem_on_stream(there, here, sizeof here, peer, s), 0);
        IS(shmemx_uint64_atomic_fetch_add_on_stream(&back, word, 1, peer, s),
           0);
        IS(shmemx_quiet_on_stream(s), 0);
    }
    rc = shmemx_stream_sync(s);
    printf("%s\n", rc ? "failed" : "nothing failed");
    fflush(stdout);
    sleep(20);                          /* the launcher ends it */
}

/* The barrier's message goes down with it. */
static void cut(int peer)
{
    shmemx_stream_t s;

    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_uint64_get_on_stream(&back, word, 1, peer, s), 0);
    IS(shmemx_stream_sync(s), -EIO);
}

/* A collective request has messages on a stream of its own.  Only PE 0's fail,
 * and PE 1 waits for them in vain. */
static void collectives(int me)
{
    static double sum, of = 1;
    shmemx_req_t r[2];
    shmemx_stream_t s;
    shmemx_queue_t q;
    int rc;

    s = NULL;                           /* the default stream */
    IS(shmemx_queue_create(s, NULL, 0, &q), 0);
    IS(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &sum, &of, 1, SHMEMX_DOUBLE,
                             SHMEMX_SUM, &r[0]), 0);
    IS(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r[1]), 0);
    IS(shmemx_enqueue_startall(q, 1, &r[0]), 0);
    if (me) {
        IS(shmemx_enqueue_startall(q, 1, &r[1]), 0);
        shmem_uint64_wait_until(&back, SHMEM_CMP_EQ, 9);
        shmem_global_exit(bad);
    }
    IS(shmemx_enqueue_waitall(q, 1, &r[0]), 0);
    /* The failure of a short message may come after the sum. */
    while (!(rc = shmemx_req_wait(r[0])))
        usleep(1000);
    IS(rc, -EIO);
    IS(sum, 2);
    IS(shmemx_enqueue_startall(q, 1, &r[1]), 0);
    IS(shmemx_enqueue_waitall(q, 1, &r[1]), 0);
    while (!(rc = shmemx_stream_sync(s)))
        usleep(1000);
    IS(rc, -EIO);
    IS(shmemx_stream_sync(s), 0);
    fflush(stdout);
    shmem_uint64_p(&back, 9, 1);
    shmem_quiet();
    sleep(20);
}

int main(int argc, char **argv)
{
    const char *pe = getenv("SLUICE_JOB_PE");
    int me;

    if (pe && !strcmp(pe, "1") && !strcmp(argv[1], "collectives"))
        unsetenv("SHMEM_FAULT");
    shmem_init();
    me = shmem_my_pe();
    if (!strcmp(argv[1], "collectives"))
        collectives(me);
    if (!me && !strcmp(argv[1], "streams"))
        streams(1);
    if (!me && !strcmp(argv[1], "queue"))
        queue(1);
    if (!me && !strcmp(argv[1], "signals"))
        signals(1);
    if (!me && !strcmp(argv[1], "flags"))
        flags(1);
    if (!me && !strcmp(argv[1], "refused"))
        refused(1);
    if (!me && !strcmp(argv[1], "lose"))
        lose(1);
    if (!me && !strcmp(argv[1], "cut"))
        cut(1);
    if (me && !strcmp(argv[1], "lose")) {
        usleep(20000);
        raise(SIGKILL);
    }
    (void)argc;
    shmem_barrier_all();
    bad += word[1] != 0;                /* no signal for what did not come */
    shmem_finalize();
    return bad != 0;
}
C

rate=1
# run PROVIDER FAULT WORD: to the file WORD, then to be looked at.
run()
(
    SHMEM_OFI_PROVIDER=$1 SHMEM_FAULT=$2:$rate FI_SOCKETS_PE_WAITTIME=0 \
        timeout 60 "$bin/oshrun" -n 2 --ppn 1 ./far "$3" >"$4" 2>&1
    echo "exit status $?" >>"$4"
)

# lines FILE REGEX...: those, in this order, and no others.
lines()
{
    file=$1
    shift
    sed '/S-W-FAULT/d' "$file" >said
    [ "$(wc -l <said)" -eq $(($# + 1)) ] && grep -qx 'exit status 0' said ||
        fail "$file: $(cat "$file")"
    n=0
    for line; do
        n=$((n + 1))
        sed -n ${n}p said | grep -qxE \
            "sluice: PE 0 \\([^ ]+\\): $line \\[S-W-STREAM\\]" ||
            fail "$file: no '$line' in $(cat "$file")"
    done
}

# streams FILE CAUSE
streams()
{
    put="on stream 0x[0-9a-f]+ shmemx_putmem_on_stream failed: put, $2"
    p="on stream 0x[0-9a-f]+ shmemx_uint64_p_on_stream failed: [a-z]+, $2"
    inc="on stream 0x[0-9a-f]+ shmemx_uint64_atomic_inc_on_stream failed: [a-z]+, $2"
    lines "$1" "shmemx_stream_query: $put; [4-6] more failed" \
        "shmemx_stream_sync: $p" "shmem_ctx_quiet: $inc" "$p"
}

# queue FILE CAUSE
queue()
{
    start="on stream 0x[0-9a-f]+ shmemx_enqueue_start failed: [a-z]+, $2"
    all="on stream 0x[0-9a-f]+ shmemx_enqueue_startall failed: put, $2"
    lines "$1" "shmemx_queue_wait: $start; 1 more failed" \
        "shmemx_req_wait: $all" "shmemx_req_wait: $all" \
        "shmemx_stream_sync: $start"
}

run sockets ofi.key streams key &
run sockets ofi.post queue post &
wait
run 'tcp;ofi_rxm' ofi.post streams tcp &
run sockets ofi.key queue keys &
wait
run sockets ofi.key collectives collectives
run sockets ofi.hmem lose killed
grep -q 'PE 1 (.*) was killed by signal 9.*\[S-E-PEDIED\]' killed &&
    grep -qx 'exit status 137' killed && ! grep -q nothing killed ||
    fail "killed: $(cat killed)"
# By the NIC itself, also where nobody looks after it any more.
export FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi"
run cxi ofi.key streams nic &
run cxi ofi.key queue nics &
wait
# Where failures count towards thresholds: no signal, and the same lines.
export FAKE_CXI_ERRORS_COUNT=1
run cxi ofi.key streams nic1 &
run cxi ofi.key queue nics1 &
wait
FAKE_CXI_REFUSE=1 run cxi membarrier refused refused &
SHMEM_TIMEOUT=5 run cxi ofi.flag flags flags1 &
wait
export FAKE_CXI_ERRORS_COUNT=0
run cxi ofi.flag flags flags0
# Some of the keys are bad.
rate=0.3
for FAKE_CXI_ERRORS_COUNT in 0 1; do
    run cxi ofi.key signals some$FAKE_CXI_ERRORS_COUNT &
done
wait
for file in some0 some1; do
    grep -qx 'exit status 0' $file || fail "$file: $(cat $file)"
    # Of 30 calls some ten fail: the line of the first, three of those that say
    # no more, and one that says so.
    [ "$(grep -c 'shmemx_stream_sync: ' $file)" -eq 5 ] &&
        grep -q 'shmemx_stream_sync: further lines' $file ||
        fail "$file: $(grep -c shmemx_stream_sync $file) lines: $(cat $file)"
done
rate=1
unset FAKE_CXI_ERRORS_COUNT
# The connection goes with what failed, and with it what was under way for the
# host's own calls: that is an error at once, or where it was sent already, no
# wait for it is for ever.
SHMEM_STALL=1 SHMEM_TIMEOUT=2 run 'tcp;ofi_rxm' ofi.key cut cut
grep -qx 'exit status 0' cut ||
    { grep -qx 'exit status 1' cut &&
        grep -qE -e 'PE 1 .*: shmem_barrier_all: all other PEs have gone on for 2 s \(SHMEM_TIMEOUT\), .*\[S-E-NET\]' \
            -e 'PE [01] [^ ]+: (shmem_[a-z_]*: )?(communication|messages), PE [01] [^;]*; provider tcp.*\[S-E-NET\]' cut; } ||
    fail "cut: $(cat cut)"
to='PE 1 \(host [^ ]+\)'
set='shmemx_putmem_signal_on_stream failed: atomic'
lines refused "shmemx_stream_sync: on stream 0x[0-9a-f]+ $set, $to: Operation not supported.*"
own='a flag failed: atomic, PE 0 \(host [^ ]+\): Input/output error: .*'
for rule in 0 1; do
    lines flags$rule "shmemx_stream_sync: on stream 0x[0-9a-f]+ $own; 1 more failed"
done
streams key "$to: Permission denied; provider sockets[^;]*"
streams tcp "$to: Input/output error; provider tcp;ofi_rxm[^;]*"
queue keys "$to: Permission denied; provider sockets[^;]*"
for rule in '' 1; do
    streams nic$rule "$to: Input/output error: the target refused the operation.*"
    sed -i '1s/enqueue_putmem failed/enqueue_start failed/' nics$rule
    queue nics$rule "$to: Input/output error: the target refused the operation.*"
done
queue post "$to: Input/output error; provider sockets[^;]*"
one="on stream \\(nil\\) shmemx_enqueue_startall failed: [a-z]+, $to: Permission denied; provider sockets.*"
lines collectives "shmemx_req_wait: $one" "shmemx_stream_sync: $one"
finish 'what fails on a stream is counted and told'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a stream that waits for long is reported: the stream, the call,
# the word and what is wanted of it, and who is to raise it and what that PE
# does; again when it goes on, and after how long, also where its PE was stopped
# meanwhile; SIGUSR2 shows it; and what is known to lock up a GPU's streams is
# named.
# Timeout: 40
set -u
. "$(dirname "$0")/../neg/neg.inc"
at=$BUILD/obj/tests

program wait <<'C'
#include <shmemx_st.h>
#include <sys/prctl.h>
static uint64_t far, here, asked;

static int begun[2];

/* Wakes the process that is about to stop, so long after. */
static void make_waker(useconds_t us)
{
    char c;

    if (pipe(begun) || fork())
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(begun[0], &c, 1) == 1) {
        usleep(us);
        kill(getppid(), SIGCONT);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    int pauses = argc > 1 && !strcmp(argv[1], "pauses");
    int stops = argc > 1 && !pauses, me, n, late, rc = 0;
    shmemx_queue_t q;
    shmemx_stream_t s[4];
    uint64_t *w, got = 0;

    if (stops || pauses)
        make_waker(stops ? 3200000 : 1000000);
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    late = me == n - 1;
    w = shmem_calloc(4, sizeof *w);
    for (int i = 0; i < 4; i++)
        rc |= shmemx_stream_create(&s[i]);
    rc |= shmemx_queue_create(s[0], NULL, 0, &q);
    shmem_barrier_all();
    if (!late) {
        shmem_uint64_atomic_inc(&here, n - 1);
        shmem_quiet();
        usleep(stops * 200000);         /* until it has stopped */
        rc |= shmemx_uint64_wait_until_on_stream(w, SHMEM_CMP_GE, 1, s[0]);
        rc |= shmemx_uint64_wait_until_all_on_stream(w + 1, 3, NULL,
                                                     SHMEM_CMP_EQ, 7, s[1]);
        rc |= shmemx_barrier_all_on_stream(s[2]);
        rc |= shmemx_uint64_get_on_stream(&got, &far, 1, n - 1, s[3]);
        rc |= shmemx_enqueue_putmem(q, &far, &got, 0, me, NULL);
        rc |= shmemx_enqueue_start(q);
        if (me)
            rc |= shmemx_queue_wait(q);
        if (!me && !stops) {
            usleep(1300000);
            kill(getpid(), SIGUSR2);
            usleep(pauses * 700000);    /* until it is reported */
            usleep(200000);             /* and until the state is printed */
            shmem_uint64_atomic_inc(&asked, n - 1);
        }
        if (!me && pauses) {
            rc |= write(begun[1], "", 1) != 1;
            raise(SIGSTOP);
        }
    } else if (stops) {                 /* when none is in the barrier */
        shmem_uint64_wait_until(&here, SHMEM_CMP_GE, (uint64_t)n - 1);
        rc |= write(begun[1], "", 1) != 1;
        raise(SIGSTOP);
    } else {
        while (__atomic_load_n(&here, __ATOMIC_ACQUIRE) < (uint64_t)n - 1)
            usleep(1000);
        usleep(pauses ? 2400000 : 1900000);
        while (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
            usleep(1000);               /* in no call */
    }
    for (int pe = 0; late && pe < n; pe++) {
        shmem_uint64_p(w, 1, pe);
        for (int i = 1; i < 4; i++)
            shmem_uint64_p(w + i, 7, pe);
    }
    if (late)
        rc |= shmemx_barrier_all_on_stream(s[2]);
    for (int i = 0; i < 4; i++)
        rc |= shmemx_stream_sync(s[i]);
    rc |= shmemx_queue_wait(q) | shmemx_queue_destroy(q);
    usleep(400000);                     /* the next look */
    shmem_barrier_all();
    shmem_finalize();
    return rc != 0;
}
C

# Of more messages than there are notes, the first is waited for.
program crowd <<'C'
#include <shmemx_st.h>
enum { N = 200 };
int main(void)
{
    static uint64_t w[N];
    shmemx_stream_t s;
    shmemx_queue_t q;
    shmemx_req_t r[N];
    int rc = 0, me;

    shmem_init();
    me = shmem_my_pe();
    rc |= shmemx_stream_create(&s) | shmemx_queue_create(s, NULL, 0, &q);
    for (int i = 0; i < N; i++)
        rc |= me ? shmemx_send_init(&w[i], sizeof *w, 0, i, &r[i])
                 : shmemx_recv_init(&w[i], sizeof *w, 1, i, &r[i]);
    rc |= shmemx_matchall(N, r);
    shmem_barrier_all();
    if (me)
        usleep(1900000);
    rc |= shmemx_enqueue_startall(q, N, r) | shmemx_enqueue_waitall(q, N, r);
    rc |= shmemx_queue_wait(q);
    for (int i = 0; i < N; i++)
        rc |= shmemx_req_free(&r[i]);
    rc |= shmemx_queue_destroy(q) | shmemx_stream_destroy(s);
    shmem_finalize();
    return rc != 0;
}
C

# run FILE VAR=VALUE... -- WORDS...
run()
(
    file=$1
    shift
    while [ "$1" != -- ]; do
        export "${1?}"
        shift
    done
    shift
    SHMEM_STALL=1 SHMEM_DEVICE_SYMMETRIC_SIZE=16M timeout 60 \
        "$bin/oshrun" -n "${PES:-3}" "$@" >"$file" 2>&1
    echo "exit status $?" >>"$file"
)

# reported FILE REGEX
reported()
{
    grep -qE "^sluice: PE [01] \\([^ ]+\\): $2.* \\[S-W-STALL\\]" "$1" ||
        fail "$1: no '$2' in: $(cat "$1")"
}

# waits FILE PE2 ADVICE: what all of them say; PE2 is what is said of it.
waits()
{
    on='stream 0x[0-9a-f]+: '
    one="to be raised by one of PE [012] .*$2.*$3"
    reported "$1" "${on}shmemx_uint64_wait_until_on_stream waits for [12] s for 0 to be >= 1 at heap\\+0x[0-9a-f]+; $one"
    reported "$1" "${on}shmemx_uint64_wait_until_all_on_stream waits for [12] s for 3 values \\(0, 0, 0\\) to be == 7 at heap\\+0x[0-9a-f]+; $one"
    reported "$1" "${on}shmemx_barrier_all_on_stream waits for [12] s for 0 to be >= 1 at heap\\+0x[0-9a-f]+; to be raised by $2.*$3"
    reported "$1" "${on}shmemx_uint64_wait_until_on_stream went on after [1-5] s"
    grep -qx 'exit status 0' "$1" || fail "$1: $(cat "$1")"
}

# trap_of FILE VAR=VALUE...: what shmem_info says of waits.
trap_of()
{
    file=$1
    shift
    env "$@" "$bin/shmem_info" --check 2>&1 | grep 'device waits' >"$file"
}

run near SHMEM_DEVICE=software -- ./wait &
run paused SHMEM_DEVICE=software -- ./wait pauses &
run far SHMEM_DEVICE=software SHMEM_OFI_PROVIDER='tcp;ofi_rxm' -- \
    --ppn 1 ./wait stops &
run many PES=2 SHMEM_DEVICE=software -- ./crowd &
run cuda SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$at/fake/cuda" \
    FAKE_DEVICE=discrete -- ./wait &
run hip SHMEM_DEVICE=hip FAKE_DEVICE=discrete GPU_MAX_HW_QUEUES=3 \
    FAKE_DEVICE_COUNT=4 \
    LD_LIBRARY_PATH="$at/fake/hip:$at/fake/hiprtc" -- ./wait &
wait
# Alone: the threads of its provider spin.
run nic SHMEM_DEVICE=software SHMEM_OFI_PROVIDER=cxi \
    FI_PROVIDER_PATH="$at/fake/cxi" -- --ppn 1 ./wait stops &
trap_of lazy SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$at/fake/cuda" \
    CUDA_MODULE_LOADING=LAZY
trap_of blocks SHMEM_DEVICE=hip HIP_LAUNCH_BLOCKING=1 \
    LD_LIBRARY_PATH="$at/fake/hip:$at/fake/hiprtc"
wait
grep -q '^WARN .*set CUDA_MODULE_LOADING=EAGER' lazy || fail "lazy: $(cat lazy)"
grep -q '^WARN .*HIP_LAUNCH_BLOCKING' blocks || fail "blocks: $(cat blocks)"
late='PE 2 \(this node, last call shmem_barrier_all [12] s ago\)'
waits near "$late" ''
reported near 'shmemx_queue_wait waits for [12] s for what was started on a queue of stream 0x[0-9a-f]+'
for how in far nic; do
    waits $how 'PE 2 \(host [^ ]+, asked [0-9] s ago, no answer\)' ''
    reported $how 'stream 0x[0-9a-f]+: shmemx_uint64_get_on_stream waits for [12] s for operations on other nodes; with PE 2 \(host '
    reported $how 'stream 0x[0-9a-f]+: shmemx_uint64_get_on_stream went on after [1-5] s'
done
waits cuda "$late" 'set CUDA_MODULE_LOADING=EAGER'
waits hip "$late" '3 streams wait, and all streams share 3 hardware queues.*GPU_MAX_HW_QUEUES'
reported many 'stream 0x[0-9a-f]+: shmemx_enqueue_[a-z]+ waits for [12] s for a message from PE 1, tag 0; to be raised perhaps by PE 1 '
grep -qx 'exit status 0' many || fail "many: $(cat many)"
# It went on while it was stopped, after two seconds.
grep -qE 'PE 0 .*shmemx_uint64_wait_until_on_stream went on after [1-5] s' \
    paused || fail "paused: $(cat paused)"
! grep 'went on after 0 s' near paused far nic cuda hip ||
    fail 'a wait that was reported did not last'
for how in near cuda hip; do
    grep -qE 'PE 0 \([^ ]+\): .*; stream 0x[0-9a-f]+: shmemx_[a-z0-9_]+_on_stream waits for [12] s for [03] .*heap: ' \
        "$how" || fail "$how: nothing of streams on SIGUSR2: $(cat "$how")"
done
finish 'streams that wait for long are reported'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: wrong arguments of partitioned collectives and of schedules are
# refused with one line on the member that passes them, and no member gets a
# request; partitions that never come, a lost partner and the end of the program
# hang nothing.
# Light: half of its time it waits for what never comes
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software SHMEM_TIMEOUT=3

program bad <<'C'
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <shmemx_pcoll.h>
static long a[64], b[64];
static const char *word;
static int me, n, other;
static shmemx_req_t q;

static int allreduce(void *dest, void *source, int parts, size_t each, int type,
                     int op)
{
    return shmemx_pallreduce_init(SHMEM_TEAM_WORLD, dest, source, parts, each,
                                  (shmemx_type_t)type, (shmemx_op_t)op, &q);
}

/* A schedule of one step. */
static int step(shmemx_step_t t)
{
    shmemx_sched_t s;
    int rc = shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_BLOCKS, 1, 1, 0,
                                 &s);

    rc = rc ? rc : shmemx_sched_step(s, &t);
    rc = rc ? rc : shmemx_pcoll_init(s, b, a, 2, 8, SHMEMX_INT64, SHMEMX_SUM,
                                     &q);
    shmemx_sched_free(&s);
    return rc;
}

/* Of a schedule that sends source to the other member, where it may be combined.
 */
static int exchange(int reduces, int type, int op)
{
    shmemx_step_t t = { .n_to = 1, .to = &other, .n_from = 1, .from = &other,
                        .in = { SHMEMX_DEST, 0 }, .reduces = reduces };
    shmemx_sched_t s;
    int rc = shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_BLOCKS, 1, 1, 0,
                                 &s);

    rc = rc ? rc : shmemx_sched_step(s, &t);
    rc = rc ? rc : shmemx_pcoll_init(s, b, a, 1, 1, (shmemx_type_t)type,
                                     (shmemx_op_t)op, &q);
    shmemx_sched_free(&s);
    return rc ? rc : shmemx_req_free(&q);
}

static int started(void)
{
    return allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM) ||
           shmemx_req_start(q);
}

static int host(void)
{
    const shmemx_prequest_config_t copy = { .mode = SHMEMX_PREQUEST_COPY };
    int both[] = { 0, 1 }, beyond = n, flag;
    shmemx_sched_t s;

    if (!strcmp(word, "none"))
        return allreduce(b, a, 0, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(huge) return allreduce(b, a, 9, (size_t)1 << 61, SHMEMX_INT64, SHMEMX_SUM);
    CASE(type) return allreduce(b, a, 1, 8, 12, SHMEMX_SUM);
    CASE(op) return allreduce(b, a, 1, 8, SHMEMX_DOUBLE, SHMEMX_XOR);
    CASE(dest) return allreduce(NULL, a, 1, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(source) return allreduce(b, NULL, 1, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(align) return allreduce((char *)b + 1, a, 1, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(overlap) return allreduce(a + 1, a, 1, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(private) return allreduce(&both, a, 1, 1, SHMEMX_INT32, SHMEMX_SUM);
    CASE(beyond) return allreduce(b, a, 1, (size_t)1 << 40, SHMEMX_INT64, SHMEMX_SUM);
    CASE(team) return shmemx_pbarrier_init(SHMEM_TEAM_INVALID, 1, &q);
    CASE(root) return shmemx_pbroadcast_init(SHMEM_TEAM_WORLD, b, a, 1, 8,
        SHMEMX_INT64, n, &q);
    CASE(request) return shmemx_pbarrier_init(SHMEM_TEAM_WORLD, 1, NULL);
    /* One member alone is wrong, or another one. */
    CASE(parts) return allreduce(b, a, 1 + me, 8, SHMEMX_INT64, SHMEMX_SUM);
    CASE(each) return allreduce(b, a, 2, 8 + (size_t)me, SHMEMX_INT64, SHMEMX_SUM);
    CASE(kinds) return allreduce(b, a, 2, 8, SHMEMX_INT64, me ? SHMEMX_MAX : SHMEMX_SUM);
    CASE(roots) return shmemx_pbroadcast_init(SHMEM_TEAM_WORLD, b, a, 2, 8, SHMEMX_INT32, me, &q);
    /* A schedule that only moves has no operation. */
    CASE(noop) {
        int rc = exchange(0, SHMEMX_INT32, me ? 100 : SHMEMX_SUM);

        return rc ? rc : exchange(0, me ? SHMEMX_INT32 : SHMEMX_FLOAT, SHMEMX_SUM);
    }
    CASE(ops) return exchange(1, SHMEMX_INT32, me ? SHMEMX_MIN : SHMEMX_SUM);
    CASE(noneop) return exchange(1, SHMEMX_INT32, 100);
    /* No kernel of the library's combines it there; what is moved needs none. */
    CASE(device) {
        long *d = shmem_space_calloc(SHMEM_SPACE_DEVICE, 64, sizeof *d);
        int rc = shmemx_pbroadcast_init(SHMEM_TEAM_WORLD, d, d, 4, 8, SHMEMX_INT64, 0, &q);

        return rc ? 9 : shmemx_req_free(&q) ? 8
            : allreduce(d + 32, d, 4, 8, SHMEMX_INT64, SHMEMX_SUM);
    }
    CASE(alone) {
        int rc = allreduce(me ? b : NULL, a, 2, 8, SHMEMX_INT64, SHMEMX_SUM);

        return rc == (me ? -ECANCELED : -EINVAL) ? -EINVAL : 9;
    }
    /* Schedules. */
    CASE(split) return shmemx_sched_create(SHMEM_TEAM_WORLD, 2, 1, 1, 1, &s);
    CASE(pieces) return shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_SPLIT, 2, 3, 0, &s);
    CASE(minus) return shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_SPLIT, -1, 1, 0, &s);
    CASE(freed) return shmemx_sched_step(NULL, &(shmemx_step_t){ 0 });
    CASE(refreed) {
        shmemx_sched_t copy;
        int rc = shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_SPLIT, 1, 1, 0, &s);

        copy = s;
        rc = rc ? rc : shmemx_sched_free(&s);
        return rc || s || shmemx_sched_free(&s) != -EINVAL ? 9 : shmemx_sched_free(&copy);
    }
    CASE(member) return step((shmemx_step_t){ .n_to = 1, .to = &beyond });
    CASE(self) return step((shmemx_step_t){ .n_to = 1, .to = &me });
    CASE(list) return step((shmemx_step_t){ .n_from = 1 });
    CASE(piece) return step((shmemx_step_t){ .n_to = 1, .to = &other,
        .out = { SHMEMX_SOURCE, 1 } });
    CASE(buffer) return step((shmemx_step_t){ .out = { 3, 0 } });
    CASE(scratch) return step((shmemx_step_t){ .in = { SHMEMX_SCRATCH, 0 } });
    CASE(unmatched) return step((shmemx_step_t){ .n_to = !me, .to = &other });
    CASE(unsent) {
        int twice[] = { 2, 2 };

        return step((shmemx_step_t){ .n_from = me == 1 ? 2 : 0, .from = twice,
            .in = { SHMEMX_DEST, 0 }, .reduces = 1 });
    }
    CASE(stays) return step((shmemx_step_t){ .n_to = !me, .to = &other,
        .n_from = me, .from = &other, .in = { SHMEMX_DEST, 0 }, .reduces = 1,
        .stays = me });
    CASE(extent) {
        /* 2^64 bytes of scratch memory. */
        int rc = shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_BLOCKS, 0, 0, 1 << 24, &s);

        return rc ? 9 : shmemx_pcoll_init(s, NULL, NULL, 65536, 1 << 24, SHMEMX_INT8, SHMEMX_SUM, &q);
    }
    /* Requests. */
    CASE(twice) return started() ? 9 : shmemx_req_start(q);
    CASE(early) return allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM) ? 9
        : shmemx_pready(q, 0);
    CASE(early_in) return allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM) ? 9
        : shmemx_parrived(q, 0, &flag);
    CASE(part) return started() ? 9 : shmemx_pready(q, 4);
    CASE(again) return started() || shmemx_pready(q, 1) ? 9
        : shmemx_pready(q, 1);
    CASE(mode) return allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM) ? 9
        : shmemx_prequest_create(q, &copy, SHMEMX_PREQUEST_MODE,
                                 &(shmemx_prequest_t){ .n = 0 });
    CASE(free) return started() ? 9 : shmemx_req_free(&q);
    CASE(end) return started() || shmemx_pready(q, 2);
    CASE(gone) {
        int rc = allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM);

        if (me)
            rc = rc ? rc : shmemx_req_free(&q);
        shmem_barrier_all();
        usleep(300000);         /* the news arrive */
        return rc || me ? rc : shmemx_req_start(q);
    }
    CASE(fails) {
        long *c = shmem_malloc(64 << 20);       /* more than sockets hold */
        int rc = shmemx_pbroadcast_init(SHMEM_TEAM_WORLD, c, c, 64, 1 << 17, SHMEMX_INT64, 0, &q);

        rc = rc ? rc : shmemx_req_start(q);
        shmem_barrier_all();
        rc = rc ? rc : shmemx_pready_range(q, 0, 63);
        rc = rc ? rc : shmemx_req_wait(q);
        shmem_global_exit(-rc);
    }
    CASE(waits) return started() || shmemx_pready_range(q, 0, me ? 3 : 2) ? 9
        : shmemx_req_wait(q);
    CASE(late) {
        if (allreduce(b, a, 4, 8, SHMEMX_INT64, SHMEMX_SUM))
            return 9;
        if (me)
            shmem_barrier_all();        /* it never starts */
        return shmemx_req_start(q) || shmemx_pready_range(q, 0, 3) ? 9
            : shmemx_req_wait(q);
    }
    if (!strcmp(word, "killed")) {
        if (started())
            return 9;
        if (me == 1)
            raise(SIGKILL);
        return shmemx_pready_range(q, 0, 3) ? 9 : shmemx_req_wait(q);
    }
    return 7;
}

int main(int argc, char **argv)
{
    int rc;

    (void)argc;
    word = argv[1];
    shmem_init();
    n = shmem_n_pes();
    me = shmem_my_pe();
    other = !me;
    rc = host();
    shmem_barrier_all();
    shmem_finalize();
    return -rc;
}
C

# Memory that is not there: the call of PE 1 fails at one of its allocations after
# the other, until one is that of a control message, which ends the job; what it
# frees is overwritten, and the next request works.
program short <<'C'
#include <shmemx_pcoll.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t),
    *__libc_realloc(void *, size_t);
static _Thread_local int left;          /* allocations until one fails */
static int n_words;                     /* allocated: a word of each partition */

static int fails(void)
{
    return left && !--left;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    n_words += n == 65536 && size == 8;
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

int main(void)
{
    static long a[64], b[64];
    shmemx_req_t q;
    int me, k = 0, rc;

    shmem_init();
    me = shmem_my_pe();
    if (shmemx_pbarrier_init(SHMEM_TEAM_WORLD, 65536, &q) ||
        shmemx_req_free(&q))
        return 7;
    if (n_words != 1)                   /* the request's, and no channel's */
        fprintf(stderr, "%d tables of words\n", n_words);
    do {
        if (shmemx_pallreduce_init(SHMEM_TEAM_WORLD, b, a, 4, 1, SHMEMX_INT64,
                                   SHMEMX_SUM, &q) ||
            shmemx_req_start(q) || shmemx_pready_range(q, 0, 3) ||
            shmemx_req_wait(q) || shmemx_req_free(&q))
            return 9;
        left = me ? ++k : 0;
        rc = shmemx_palltoall_init(SHMEM_TEAM_WORLD, b, a, 4, 1, SHMEMX_INT64,
                                   &q);
        left = 0;
    } while (rc == (me ? -ENOMEM : -ECANCELED));
    fprintf(stderr, "allocation %d: %d\n", k, rc);
    return 8;
}
C

# host WORD STATUS REGEX [N [PPN]]: refused on the host, and the program goes on.
host()
{
    try "${4-1}" --ppn "${5-2}" ./bad "$1"
    ended "$2" "$1"
    grep -qE "shmemx_$3" "$err" && ! grep -qvE "shmemx_$3|PEEXIT" "$err" ||
        fail "$1: no '$3': $(head -n 4 "$err")"
}

# silent WORD N PPN: is no error.
silent()
{
    try "$2" --ppn "$3" ./bad "$1"
    ended 0 "$1"
    [ ! -s "$err" ] || fail "$1: $(head -n 4 "$err")"
}

beside host none 22 'pallreduce_init: 0 partitions: between 1 and 65536 \[S-W-ARG\]'
beside host huge 22 'pallreduce_init: 9 partitions of [0-9]+ elements exceed .* .blocks: 1.*\[S-W-SIZE\]'
beside host type 22 'pallreduce_init: type 12 is none of .*\[S-W-ARG\]'
beside host op 22 'pallreduce_init: SHMEMX_XOR is no operation of SHMEMX_DOUBLE \[S-W-ARG\]'
beside host noneop 22 'pcoll_init: operation 100 is none of .*\[S-W-ARG\]' 2
beside host dest 22 'pallreduce_init: dest is a null pointer \[S-W-NULL\]'
beside host source 22 'pallreduce_init: source is a null pointer \[S-W-NULL\]'
beside host align 22 'pallreduce_init: dest .* is not aligned to 8 bytes \[S-W-ALIGN\]'
beside host overlap 22 'pallreduce_init: dest and source overlap and are not the same \[S-W-ARG\]'
beside host private 22 'pallreduce_init: .*\[S-W-ADDR\]'
beside host beyond 22 'pallreduce_init: .*\[S-W-ADDR\]'
beside host team 22 'pbarrier_init: the team is SHMEM_TEAM_INVALID \[S-W-TEAM\]'
beside host root 22 'pbroadcast_init: root 1 is outside 0..0 \[S-W-PE\]'
beside host request 22 'pbarrier_init: no place for the request.*\[S-W-NULL\]'
for ppn in 2 1; do
    beside host parts 22 'pallreduce_init: PE 1 passes other partitions than PE 0: 2, and not 1.*\[S-W-ARG\]' 2 $ppn
    beside host each 22 'pallreduce_init: PE 1 passes other elements than PE 0: 9, and not 8.*\[S-W-ARG\]' 2 $ppn
    beside host kinds 22 'pallreduce_init: PE 1 passes other types, operations or roots than PE 0: MAX of INT64, root 0, and not SUM of INT64, root 0.*\[S-W-ARG\]' 2 $ppn
    beside host roots 22 'pbroadcast_init: PE 1 passes other types, operations or roots than PE 0: INT32, root 1, and not INT32, root 0.*\[S-W-ARG\]' 2 $ppn
    beside host ops 22 'pcoll_init: PE 1 passes other types, operations or roots than PE 0: MIN of INT32, root 0, and not SUM of INT32, root 0.*\[S-W-ARG\]' 2 $ppn
    beside silent noop 2 $ppn
    beside host alone 22 'pallreduce_init: (dest is a null pointer|another member of the team, PE 0, could not make its own).*\[S-W-(NULL|ARG)\]' 2 $ppn
    beside host unmatched 22 'pcoll_init: messages from member 0 of the team to member 1: the schedules send 1 and receive 0.*\[S-W-ARG\]' 2 $ppn
    beside host unsent 22 'pcoll_init: messages from member 2 of the team to member 1: the schedules send 0 and receive 2.*\[S-W-ARG\]' 3 $ppn
    beside host stays 22 'pcoll_init: message 0 (to|from) PE [01]: its sender and its receiver differ in .stays.*\[S-W-ARG\]' 2 $ppn
done
together
# Where the machine has AMD's compiler, the stand-in's kernels are compiled.
ldconfig -p 2>/dev/null | grep -q libhiprtc || (
    export SHMEM_DEVICE=hip SHMEM_DEVICE_SYMMETRIC_SIZE=16M FAKE_DEVICE=discrete
    export LD_LIBRARY_PATH="$BUILD/obj/tests/fake/hip"
    host device 95 'pallreduce_init: .* memory that only the device reaches, and this device runs no kernels .*\[S-W-DEVICE\]' 2
    exit $failures
) || failures=$((failures + 1))
beside host split 22 'sched_create: 2 is neither .*\[S-W-ARG\]'
beside host pieces 22 'sched_create: 2 pieces of source, and 3 of .*\[S-W-ARG\]'
beside host minus 22 'sched_create: -1 pieces of source \[S-W-ARG\]'
beside host freed 22 'sched_step: .* is no schedule.*\[S-W-ARG\]'
beside host refreed 22 'sched_free: .* is no schedule, or has been freed \[S-W-ARG\]'
beside host member 22 'sched_step: to has member 1: this is member 0 of 1 \[S-W-PE\]'
beside host self 22 'sched_step: to has member 0: .*\[S-W-PE\]'
beside host list 22 'sched_step: from is a null pointer \[S-W-NULL\]'
beside host piece 22 'sched_step: out is piece 1 of source, which has 1 \[S-W-ARG\]' 2
beside host buffer 22 'sched_step: out is piece 0 of buffer 3, .*\[S-W-ARG\]'
beside host scratch 22 'sched_step: in is piece 0 of scratch memory, which has 0 \[S-W-ARG\]'
beside host extent 22 'pcoll_init: 65536 partitions of 16777216 elements exceed .* .blocks: 16777216.*\[S-W-SIZE\]'
beside host twice 16 'req_start: request 0 .* was started, and no call has waited for it.*\[S-W-ARG\]'
beside host early 22 'pready: the request of shmemx_pallreduce_init is not started \[S-W-ARG\]'
beside host early_in 22 'parrived: the request of shmemx_pallreduce_init is not started \[S-W-ARG\]'
beside host part 22 'pready: partition 4: the request has partitions 0 to 3 \[S-W-ARG\]'
beside host again 22 'pready: partition 1 is ready already \[S-W-ARG\]'
beside host mode 95 'prequest_create: a thread of this PE does .*\[S-W-STREAM\]'
beside host free 16 'req_free: the request .* was started, and no call has waited for it \[S-W-ARG\]'
together

# A library with a sanitizer has its own allocations.
if ! sanitized; then
    SHMEM_LOG=debug:api MALLOC_PERTURB_=165 try 2 ./short
    ended 1 short
    for line in 'palltoall_init: out of memory: no request' \
        'palltoall_init: a trigger with 4 tags could not be made: Cannot alloc' \
        'palltoall_init: another member of the team, PE 1, could not make its' \
        'match: out of memory for a control message'; do
        grep -q "shmemx_$line" "$err" || fail "short: no '$line'"
    done
    # For the request, and for an operation of its trigger.
    [ "$(grep -c 'shmemx_palltoall_init: out of memory: no request' "$err")" -gt 1 ] ||
        fail "short: $(cat "$err")"
    ! grep -vE 'shmemx_(palltoall_init: (out of memory|a trigger|another member of the team, PE 1)|match: out of memory)|PEEXIT|api\] start' "$err" ||
        fail "short: more: $(tail -n 20 "$err")"
fi

# Nothing hangs.  A line about a wait comes here alone: a slow start has one, too.
export SHMEM_STALL=1
try 2 ./bad end
ended 0 end
# Messages fail at different times, and a wait says so once, and once for the
# others at its end.  By CXI, where a refused put leaves the others' alone: on TCP
# the connection goes with it, and at times a message to a PE that then ends the
# job first.
SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi" \
    SHMEM_SYMMETRIC_SIZE=80m SHMEM_FAULT=ofi.key:1:1 \
    try 4 --ppn 1 ./bad fails
ended 5 fails
n=$(grep -c 'PE 0.*shmemx_req_wait: shmemx_pbroadcast_init failed: ' "$err")
[ "$n" -ge 1 ] && [ "$n" -le 2 ] || fail "fails: $n lines: $(head -n 8 "$err")"
for ppn in 2 1; do
    try 2 --ppn $ppn ./bad gone
    grep -qE 'shmemx_req_start: request 0 .*: PE 1 has freed its request' \
        "$err" || fail "gone, --ppn $ppn: $(head -n 4 "$err")"
    try 2 --ppn $ppn --timeout 8 ./bad waits
    grep -qE 'shmemx_req_wait waits for [12] s for a request of shmemx_pallreduce_init: 1 of 4 partitions have not arrived, and number 3, at [0-9] of [0-9] actions, (is not ready|waits for a message of PE 0) \[' \
        "$err" || fail "waits, --ppn $ppn: $(head -n 4 "$err")"
    try 2 --ppn $ppn --timeout 8 ./bad late
    grep -qE 'shmemx_req_wait waits for [12] s for a request of shmemx_pallreduce_init: 4 of 4 partitions have not arrived, and number 0, at 0 of [0-9] actions, waits for PE 1 to start' \
        "$err" || fail "late, --ppn $ppn: $(head -n 4 "$err")"
    try 2 --ppn $ppn ./bad killed
    [ $status -ne 0 ] || fail "killed, --ppn $ppn: exit status 0"
    in_time $ms 8000 || fail "killed, --ppn $ppn: $ms ms"
done
finish 'partitioned collectives refuse what is wrong'

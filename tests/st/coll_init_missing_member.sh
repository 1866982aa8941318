#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a collective request that one member does not make ends the job
# with a line that names what each is in; one that is made with arguments that
# are wrong, or of two kinds, is refused by names.
# Light: most of its time it waits for what never comes
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
static long d[4], x[4];
static shmemx_req_t r;

static int reduce(void *dest, const void *source, size_t n, shmemx_type_t type,
                  shmemx_op_t op)
{
    return shmemx_allreduce_init(SHMEM_TEAM_WORLD, dest, source, n, type, op,
                                 &r);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int me, rc = 0;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    if (!strcmp(word, "finalize")) {
        if (!me)
            rc = reduce(d, x, 4, SHMEMX_INT64, SHMEMX_SUM);
    }
    CASE(barrier) {
        if (me)
            shmem_barrier_all();
        else
            rc = shmemx_barrier_init(SHMEM_TEAM_WORLD, &r);
    }
    CASE(stays) {
        if (me) {
            shmem_barrier_all();
            sleep(1);
        } else {
            rc = shmemx_barrier_init(SHMEM_TEAM_WORLD, &r);
        }
    }
    CASE(last) {
        rc = me ? reduce(d, x, 4, SHMEMX_INT64, SHMEMX_SUM) : 0;
    }
    CASE(kinds) {
        rc = me ? shmemx_barrier_init(SHMEM_TEAM_WORLD, &r)
                : reduce(d, x, 4, SHMEMX_INT64, SHMEMX_SUM);
        if (rc == -EINVAL)
            rc = 0;
    }
    CASE(gone) {
        shmemx_stream_t s;
        shmemx_queue_t q;

        rc = shmemx_stream_create(&s) || shmemx_queue_create(s, NULL, 0, &q) ||
             reduce(d, x, 4, SHMEMX_INT64, SHMEMX_SUM) ||
             (me && shmemx_req_free(&r));
        shmem_barrier_all();
        usleep(300000);         /* the news arrive */
        for (int i = 0; i < 2 && !me; i++)
            fprintf(stderr, "start: %d\n", shmemx_enqueue_startall(q, 1, &r));
    }
    CASE(wrong) {
        reduce(d, x, 4, SHMEMX_DOUBLE, SHMEMX_XOR);
        reduce(d, x, 4, SHMEMX_COMPLEXF, SHMEMX_MAX);
        reduce(d, x, 4, (shmemx_type_t)99, SHMEMX_SUM);
        reduce(d, x, 4, SHMEMX_INT8, (shmemx_op_t)12);
        reduce(NULL, x, 4, SHMEMX_INT64, SHMEMX_SUM);
        reduce(d, NULL, 1, SHMEMX_INT64, SHMEMX_SUM);
        reduce(d, (char *)x + 4, 1, SHMEMX_UINT64, SHMEMX_SUM);
    }
    if (rc)
        printf("PE %d: %d\n", me, rc);
    shmem_finalize();
    return 0;
}
C

# ends CASE REGEX [OPTION...]: the one line of two PEs.
ends()
{
    word=$1 line=$2
    shift 2
    try 2 "$@" ./bad "$word"
    ended 1 "$word $*"
    said "$word $*" "$line"
}
at='\([^ ]+\): '
call='collective call [0-9]+: '
again='; SHMEM_CHECK=1 names it'
sum=shmemx_allreduce_init
made="sluice: PE 0 $at$sum: ${call}PE 1 is in shmem_finalize, PE 0 in $sum \\[S-E-COLL\\]"
any="sluice: PE [01] $at(shmem_finalize|shmem_barrier_all|shmemx_[a-z]*_init): $call"

for far in '' '--ppn 1'; do
    export SHMEM_CHECK=0
    # shellcheck disable=SC2086
    {
        ends finalize "$made" $far
        ends last "${any}PE 1 is in $sum, PE 0 in shmem_finalize \\[S-E-COLL\\]" $far
        ends stays "${any}PE 1 is in shmem_barrier_all, PE 0 in shmemx_barrier_init \\[S-E-COLL\\]" $far
        ends barrier "${any}PE 1 is in (shmem_barrier_all|another call), PE 0 in shmemx_barrier_init($again)? \\[S-E-COLL\\]" $far
        SHMEM_CHECK=1
        ends finalize "${any}PE 1 is in shmem_finalize, PE 0 in $sum \\[S-E-COLL\\]" $far
        ends last "${any}PE 1 is in $sum, PE 0 in shmem_finalize \\[S-E-COLL\\]" $far
        ends barrier "${any}PE 1 is in shmem_barrier_all, PE 0 in shmemx_barrier_init \\[S-E-COLL\\]" $far
        try 2 $far ./bad kinds
        ended 0 "kinds $far"
    }
    grep -q "$sum: PE 1 makes a barrier, this PE SHMEMX_SUM of 32 bytes of SHMEMX_INT64: no request is made \\[S-W-ARG\\]" "$err" &&
        grep -q "barrier_init: PE 0 makes SHMEMX_SUM of 32 bytes of SHMEMX_INT64, this PE a barrier: no request is made \\[S-W-ARG\\]" "$err" ||
        fail "kinds $far: $(cat "$err")"
done
unset SHMEM_CHECK

# A start that a freed partner makes impossible begins nothing.
for far in '' '--ppn 1'; do
    # shellcheck disable=SC2086
    try 2 $far ./bad gone
    ended 0 "gone $far"
    [ "$(grep -c "start: -32" "$err")" -eq 2 ] &&
        [ "$(grep -cE 'enqueue_startall: request 0 \(.*\): PE 1 has freed its request: not enqueued \[S-W-ARG\]$' "$err")" -eq 2 ] ||
        fail "gone $far: $(cat "$err")"
done

# The same lines wherever they are refused.
try 0 ./bad wrong
ended 0 wrong
for line in 'SHMEMX_XOR is no operation of SHMEMX_DOUBLE \[S-W-ARG\]' \
    'SHMEMX_MAX is no operation of SHMEMX_COMPLEXF \[S-W-ARG\]' \
    'type 99 is none of SHMEMX_INT8 to SHMEMX_COMPLEXD \[S-W-ARG\]' \
    'operation 12 is none of SHMEMX_AND to SHMEMX_PROD \[S-W-ARG\]' \
    'dest is a null pointer, with 4 elements \[S-W-NULL\]' \
    'source is a null pointer, with 1 element \[S-W-NULL\]' \
    'source 0x[0-9a-f]+ is not aligned to 8 bytes of SHMEMX_UINT64 \[S-W-ALIGN\]'; do
    grep -qE "$sum: $line\$" "$err" || fail "no '$line': $(cat "$err")"
done
finish 'a request that not all make is told of by names'

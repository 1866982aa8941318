#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: with SHMEM_CHECK=1, members that make different collective
# calls, or pass different things, end in one line that names the odd PE; so do
# dead teams and contexts, and a pSync that is not clean.
# Light: short jobs, which end early
# Timeout: 90
: "${BUILD:?the build directory}"
failures=0
PATH=$BUILD/bin:$PATH
dir=$(mktemp -d "${TMPDIR:-/tmp}/check.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

fail()
{
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

cat >"$dir/odd.c" <<'C'
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long dest[64], source[64], sync_array[SHMEM_SYNC_SIZE];
static shmem_ctx_t ctx;

static uint64_t task;           /* the program's number of what runs */

static uint64_t number_of_task(void)
{
    return task;
}

static void *other_thread(void *arg)
{
    shmem_ctx_putmem(ctx, dest, arg, 8, 0);
    return NULL;
}

static int is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    shmem_team_t team, copy;
    pthread_t thread;
    int odd, me, provided;
    long *block;

    if (is(what, "tasks"))
        shmemx_register_gettid(number_of_task);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    odd = me == 2;
    if (is(what, "call")) {
        if (odd)
            shmem_barrier_all();
        else
            shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, 0);
    } else if (is(what, "first")) {
        if (me == 0)
            shmem_barrier_all();
        else
            shmem_sync_all();
    } else if (is(what, "root")) {
        shmem_sync_all();
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, odd);
    } else if (is(what, "nelems")) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4 + odd);
    } else if (is(what, "dest")) {
        shmem_int_fcollect(SHMEM_TEAM_WORLD, (int *)(dest + odd),
                           (int *)source, 1);
    } else if (is(what, "source")) {
        /* PE 0, which brings nothing, may pass what it likes. */
        shmem_long_collect(SHMEM_TEAM_WORLD, dest, me ? source + odd : NULL,
                           me != 0);
    } else if (is(what, "stride")) {
        shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 1 + odd, 1);
    } else if (is(what, "finalize")) {
        if (!odd)
            shmem_team_sync(SHMEM_TEAM_WORLD);
    } else if (is(what, "free")) {
        block = shmem_malloc(64);
        if (!odd)
            shmem_free(block);
        else
            block = shmem_malloc(8);
    } else if (is(what, "split")) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2 + odd, NULL, 0,
                                 &team);
    } else if (is(what, "team")) {
        /* PEs 1, 3: the second of them is odd. */
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, NULL, 0, &team);
        if (team != SHMEM_TEAM_INVALID)
            shmem_long_max_reduce(team, dest, source, me == 3 ? 7 : 6);
    } else if (is(what, "overlap")) {
        /* Each brings me elements: 6 in all, into the source. */
        shmem_long_collect(SHMEM_TEAM_WORLD, dest, dest + 4, (size_t)me);
    } else if (is(what, "set")) {
        shmem_broadcast64(dest, source, odd ? 2 : 3, 0, 0, 0, 4, sync_array);
    } else if (is(what, "dead team")) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 4, NULL, 0, &team);
        copy = team;
        shmem_team_destroy(team);
        shmem_team_sync(copy);
    } else if (is(what, "pSync")) {
        sync_array[SHMEM_SYNC_SIZE - 1] = 9;
        shmem_barrier(0, 0, 4, sync_array);
    } else if (is(what, "dead context")) {
        shmem_ctx_create(0, &ctx);
        shmem_ctx_destroy(ctx);
        shmem_ctx_quiet(ctx);
    } else if (is(what, "context twice")) {
        shmem_ctx_create(0, &ctx);
        shmem_ctx_destroy(ctx);
        shmem_ctx_destroy(ctx);
    } else if (is(what, "private context")) {
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
        pthread_create(&thread, NULL, other_thread, source);
        pthread_join(thread, NULL);
    } else if (is(what, "tasks")) {
        task = 7;
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
        task = 8;
        other_thread(source);
    } else if (is(what, "threads again")) {
        shmemx_register_gettid(number_of_task);
        shmemx_register_gettid(NULL);
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
        pthread_create(&thread, NULL, other_thread, source);
        pthread_join(thread, NULL);
    } else {
        /* Nothing odd: the checks find nothing. */
        shmemx_register_gettid(number_of_task);
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
        shmemx_register_gettid(NULL);
        pthread_create(&thread, NULL, other_thread, source);
        pthread_join(thread, NULL);
        shmem_ctx_destroy(ctx);
        for (int i = 0; i < 100; i++) {
            shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &team, NULL, 0,
                                &copy);
            shmem_long_sum_reduce(team, dest, source, 3);
            shmem_long_collect(copy, dest, me ? source : NULL, (size_t)me);
            shmem_barrier(0, 0, 4, sync_array);
            shmem_team_destroy(team);
            shmem_team_destroy(copy);
            shmem_free(shmem_malloc((size_t)i));
            shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
            shmem_ctx_long_p(ctx, dest, me, 1);
            shmem_ctx_destroy(ctx);
            shmem_sync_all();
        }
        puts("fine");
    }
    shmem_finalize();
    return 0;
}
C
"$BUILD/bin/oshcc" -Wall -pthread -o "$dir/odd" "$dir/odd.c" || exit 1

# odd CASE REGEX: all of standard error is one line, from a PE.
odd()
{
    SHMEM_CHECK=1 timeout -k 5 60 oshrun -n 4 "$dir/odd" "$1" \
        >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq 1 ] || fail "$1: exit status $status"
    grep -v '^oshrun: ' "$dir/err" >"$dir/line"
    # What overlaps where is each PE's own.
    [ "$(wc -l <"$dir/line")" -eq 1 ] || [ "$1" = overlap ] ||
        fail "$1: not one line but '$(cat "$dir/err")'"
    grep -qE -e "$2" "$dir/line" || fail "$1: '$(cat "$dir/err")'"
}

odd call 'shmem_long_broadcast: collective call 1: PE 2 is in shmem_barrier_all, PE 0 in shmem_long_broadcast .*\[S-E-COLL\]'
# Two PEs see it: one speaks, of the call that it makes itself.
odd first '^sluice: PE 0 \([^ ]+\): shmem_barrier_all: collective call 1: PE 0 is in shmem_barrier_all, PE 1 in shmem_sync_all \[S-E-COLL\]$'
odd root 'shmem_long_broadcast: collective call 2: PE 2 passed root 1, PE 0 passed 0 .*\[S-E-COLL\]'
odd nelems 'shmem_long_sum_reduce: .*PE 2 passed nelems 5, PE 0 passed 4 .*\[S-E-COLL\]'
odd dest 'shmem_int_fcollect: .*PE 2 passed dest [a-z ]*\+0x[0-9a-f]+, PE 0 passed [a-z ]*\+0x.*\[S-E-COLL\]'
odd source 'shmem_long_collect: PE 2 passed another source than PE 1 .*\[S-E-COLL\]'
odd stride 'shmem_long_alltoalls: .*PE 2 passed sst 2, PE 0 passed 1 .*\[S-E-COLL\]'
odd finalize 'shmem_team_sync: .*PE 2 is in shmem_finalize, PE 0 in shmem_team_sync .*\[S-E-COLL\]'
odd free 'shmem_free: .*PE 2 is in shmem_malloc, PE 0 in shmem_free .*\[S-E-COLL\]'
odd split 'shmem_team_split_strided: .*PE 2 passed size 3, PE 0 passed 2 .*\[S-E-COLL\]'
odd team 'shmem_long_max_reduce: collective call 1 of a team of 2 PEs: PE 3 passed nelems 7, PE 1 passed 6 .*\[S-E-COLL\]'
odd overlap 'shmem_long_collect: dest .* and source .* overlap .*\[S-E-ARG\]'
odd set 'shmem_broadcast64: .*PE 2 passed nelems 2, PE 0 passed 3 .*\[S-E-COLL\]'
odd 'dead team' 'shmem_team_sync: the handle is no team, or one that was destroyed .*\[S-E-TEAM\]'
odd pSync 'shmem_barrier: pSync\[7\] is 9, not SHMEM_SYNC_VALUE .*\[S-E-ARG\]'
odd 'dead context' 'shmem_ctx_quiet: the handle is no context, or one that was destroyed .*\[S-E-CTX\]'
odd 'context twice' 'shmem_ctx_destroy: the handle is no context, or one that was destroyed .*\[S-E-CTX\]'
odd 'private context' 'shmem_ctx_putmem: a SHMEM_CTX_PRIVATE context is used by another thread .*\[S-E-CTX\]'
odd tasks "shmem_ctx_putmem: a SHMEM_CTX_PRIVATE context is used by another thread than the one that made it: by the program's numbers, thread 8 uses that of thread 7 .*\[S-E-CTX\]"
odd 'threads again' 'shmem_ctx_putmem: a SHMEM_CTX_PRIVATE context is used by another thread than the one that made it .*\[S-E-CTX\]'

# One PE that wishes the checks makes all do them.
timeout -k 5 60 oshrun -n 4 sh -c '[ "$SLUICE_JOB_PE" = 1 ] && export SHMEM_CHECK=1
    exec "$0" root' "$dir/odd" >"$dir/out" 2>"$dir/err" </dev/null
grep -q 'PE 2 passed root 1' "$dir/err" ||
    fail "one PE with SHMEM_CHECK: '$(cat "$dir/err")'"

# What all PEs must have alike, on a node and between nodes.
for v in COLL_SYNC=gather COLL_SCAN=pull OFI_AMO=message CHECK_ALLOC=3; do
    for option in '' '--ppn 2'; do
        # shellcheck disable=SC2086,SC2016
        V=SHMEM_$v timeout -k 5 60 oshrun -n 4 $option sh -c \
            '[ "$SLUICE_JOB_PE" = 1 ] && export "$V"; exec "$0" nothing' \
            "$dir/odd" >"$dir/out" 2>"$dir/err" </dev/null &&
            fail "$v differs $option: no failure"
        grep -q "shmem_init: not all PEs have the same SHMEM_${v%=*}; give it to all of them \[S-E-ENV\]" \
            "$dir/err" || fail "$v differs $option: '$(cat "$dir/err")'"
    done
done

SHMEM_CHECK=1 timeout -k 5 60 oshrun -n 4 "$dir/odd" nothing \
    >"$dir/out" 2>"$dir/err" </dev/null || fail "nothing odd: exit status $?"
[ "$(grep -c fine "$dir/out")" -eq 4 ] || fail "nothing odd: $(cat "$dir/err")"
[ ! -s "$dir/err" ] || fail "nothing odd: $(cat "$dir/err")"

[ $failures -eq 0 ] && echo "ok: the odd PE is named"
[ $failures -eq 0 ]

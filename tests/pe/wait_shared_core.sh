#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: of two PEs on one core that wait for each other in turn, each
# yields after a bounded number of looks, in wait_until and in barriers; how
# long it looks before follows what a yield costs.  PEs with a core each look
# without a yield.  SHMEM_STATS counts both; no time is judged.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
most=40
turns=200

# turns WHAT WHERE PRIORITY: so many turns of two PEs.  WHERE: on one core each
# (own), on one that they share (same), or on one that is all they have from
# the beginning (only).  Those of own make the partner wait for some looks.
cat >turns.c <<'C'
#define _GNU_SOURCE 1
#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t words[2];

/* The only core of the process is number n of its own. */
static void bind_to(int n)
{
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && n-- == 0)
            CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one)) {
        perror("sched_setaffinity");
        exit(1);
    }
}

static void work_us(long us)
{
    struct timespec t;
    long long end;

    clock_gettime(CLOCK_MONOTONIC, &t);
    end = t.tv_sec * 1000000000ll + t.tv_nsec + us * 1000;
    do
        clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

static void turn_by_barrier(long us)
{
    work_us(us);
    shmem_barrier_all();
}

static void turn_by_wait(int me, uint64_t turn, long us)
{
    if (me)
        shmem_uint64_wait_until(&words[0], SHMEM_CMP_GE, turn);
    work_us(us);
    shmem_uint64_atomic_set(&words[me], turn, !me);
    if (!me)
        shmem_uint64_wait_until(&words[1], SHMEM_CMP_GE, turn);
}

int main(int argc, char **argv)
{
    const char *what = argv[1], *where = argv[2];
    const struct sched_param least = { .sched_priority = 1 };
    uint64_t turns = strtoull(argv[4], NULL, 10);
    long us;
    int me;

    /* Nothing but the other PE comes between. */
    if (!strcmp(argv[3], "fifo") && sched_setscheduler(0, SCHED_FIFO, &least))
        return 76;
    (void)argc;
    if (!strcmp(where, "only"))
        bind_to(0);
    shmem_init();
    me = shmem_my_pe();
    if (strcmp(where, "only"))
        bind_to(strcmp(where, "own") ? 0 : me);
    us = strcmp(where, "own") || !me ? 0 : 50;
    for (uint64_t t = 1; t <= turns; t++) {
        if (strcmp(what, "barrier"))
            turn_by_wait(me, t, us);
        else
            turn_by_barrier(us);
    }
    shmem_finalize();
    return 0;
}
C
"$bin/oshcc" -O1 -Wall turns.c -o turns >cc.log 2>&1 || { cat cc.log; exit 1; }

# counts WHAT WHERE PRIORITY: sets each, the counts of each PE.
counts()
{
    how="$*"
    SHMEM_STATS=1 try 2 --bind-to none ./turns "$@" $turns
    [ $status -eq 0 ] || fail "$how: status $status: $(head -n 5 "$err")"
    sed -n 's/.* waits: \([0-9]*\) polls, \([0-9]*\) yields, \([0-9]*\) sleeps.*/\1 \2 \3/p' \
        "$err" >each
    [ -s each ] || fail "$how: no counts: $(head -n 5 "$err")"
    echo "$how, SHMEM_SPIN_US=${SHMEM_SPIN_US-20}: looks, yields, sleeps:" \
        "$(paste -sd, each)"
}

# bounded LOOKS: a turn, and some of them are not spent spinning.
bounded()
{
    while read -r looks yields sleeps; do
        [ "$looks" -le $((turns * $1)) ] ||
            fail "$how: $looks looks in $turns turns, not $1 each at most"
        [ $((yields + sleeps)) -ge $((turns / 10)) ] ||
            fail "$how: $yields yields and $sleeps sleeps in $turns turns"
    done <each
}

cores=$(nproc)
for what in wait barrier; do
    counts $what only any
    bounded 100
    [ "$cores" -ge 2 ] || continue

    # No more PEs than cores, so that nothing but yields tells.
    counts $what same any
    bounded 1000

    # A millisecond of spinning takes 550 looks and more.
    SHMEM_SPIN_US=1000
    export SHMEM_SPIN_US
    if ./turns $what same fifo 0; then
        turns=1000
        counts $what same fifo
        bounded 300
        turns=200
    fi

    SHMEM_SPIN_US=1000000
    counts $what own any
    while read -r looks yields sleeps; do
        [ $((yields * 10)) -le "$looks" ] ||
            fail "$how: $yields yields in $looks looks"
    done <each
    unset SHMEM_SPIN_US
done
finish 'waits yield to a partner on the same core'

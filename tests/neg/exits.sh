#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE that exits without finalize, aborts, raises a signal or
# calls shmem_global_exit ends the job with its status and one line.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
#include <pthread.h>

static long a;
static int sum, one = 1;

static void at_end(void)
{
    fprintf(stderr, "an atexit function ran\n");
}

static void *finalize(void *arg)
{
    shmem_finalize();
    return arg;
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int status = argc > 2 ? atoi(argv[2]) : 0, me, level;
    shmem_team_t team;
    pthread_t t;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    me = shmem_my_pe();
    shmem_barrier_all();
    if (!strcmp(word, "all"))
        exit(status);
    CASE(return) return status;
    CASE(in_time) {             /* the others finalize, a little later */
        if (me == 1)
            exit(0);
        usleep(100000);
        shmem_finalize();
        return 0;
    }
    CASE(in_finalize) {         /* that of another thread */
        if (me == 1)
            pthread_create(&t, NULL, finalize, NULL), pthread_detach(t);
        usleep(me == 1 ? 300000 : 900000);
        if (me == 1)
            exit(0);
        shmem_finalize();
        return 0;
    }
    CASE(in_barrier) {          /* the barrier of the exit is no other one */
        if (me == 1)
            exit(0);
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    CASE(too_early) {
        if (me == 1)
            status = -1;
        else if (status == 0)
            shmem_sync_all();
        else if (status == 1)   /* made of messages */
            shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
        else if (status == 2)
            shmem_int_sum_exscan(SHMEM_TEAM_WORLD, &sum, &one, 1);
        else
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
        shmem_finalize();
        return 0;
    }
    CASE(too_late) {            /* the barrier of the others' finalize */
        if (me == 0)
            shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    CASE(every_exit) {
        printf("unflushed of PE %d", me);
        shmem_global_exit(status);
    }
    else if (me != 1)           /* nobody ever sets it */
        shmem_long_wait_until(&a, SHMEM_CMP_NE, 0);
    CASE(exit) exit(status);
    CASE(_exit) _exit(status);
    CASE(abort) abort();
    CASE(crash) *(volatile int *)(uintptr_t)8 = 1;
    CASE(global_exit) {
        atexit(at_end);
        printf("unflushed");
        shmem_global_exit(status);
    }
    shmem_finalize();
    return 0;
}
C

# ends STATUS REGEX WORD...: of three PEs, with this one line.
ends()
{
    want=$1 line=$2
    shift 2
    try 3 ./bad "$@"
    ended "$want" "$*"
    said "$*" "$line"
    soon "$*"
}
pe1='PE 1 \([^ ]+, pid [0-9]+\)'
warn='sluice: PE [0-2] \([^ ]+\): exit without shmem_finalize: it is done now, and waits for the other PEs to finalize too \[S-W-EXIT\]'

# With status 0 the exit finalizes, says so, and waits for the others.
try 3 ./bad all 0
ended 0 'all 0'
all_said 'all 0' "$warn"
ends 0 "$warn" in_time
grep -q '^sluice: PE 1 ' "$err" || fail "in_time: $(cat "$err")"
# Another thread's finalize is none that was left out.
try 3 ./bad in_finalize
ended 0 in_finalize
[ ! -s "$err" ] || fail "in_finalize: $(cat "$err")"

# Others that need it in a collective call end soon, with or without a word.
debug=$(grep '^#define SLUICE_DEBUG' "$SRC/config.h")     # SHMEM_CHECK is on
one='sluice: PE [02] \([^ ]+\): shmem_[a-z_]*: waits for PE 1, which has made fewer collective calls and is in shmem_finalize; SHMEM_CHECK=1 names calls that do not match \[S-E-COLL\]'"$others"
[ -z "$debug" ] ||
    one='sluice: PE 0 \([^ ]+\): shmem_[a-z_]*: collective call 2: PE 1 is in shmem_finalize, PE 0 in shmem_[a-z_]* \[S-E-COLL\]'
# The first of them ends the job.  On a busy machine, and with a sanitizer, the
# other one may come there too late for its line.
try 3 ./bad in_barrier
ended 1 in_barrier
soon in_barrier
grep -qxE "$warn" "$err" && grep -qxE "$one" "$err" &&
    [ "$(wc -l <"$err")" -eq 2 ] || fail "in_barrier: $(cat "$err")"
SHMEM_COLL_SYNC=gather
export SHMEM_COLL_SYNC
ends 1 "$one" too_early 0
unset SHMEM_COLL_SYNC
ends 1 "$one" too_early 0
# With messages only a PE that waits for PE 1 knows.
for SHMEM_COLL_REDUCE in doubling ring split pull; do
    export SHMEM_COLL_REDUCE
    ends 1 "$one" too_early 1
done
for SHMEM_COLL_SCAN in doubling pull; do
    export SHMEM_COLL_SCAN
    ends 1 "$one" too_early 2
done
unset SHMEM_COLL_REDUCE SHMEM_COLL_SCAN
ends 1 "$one" too_early 3
# Between nodes a PE asks, and asks again, whichever of the others it is.
if [ -z "$debug" ]; then
    SHMEM_STALL=1 try 3 --ppn 1 ./bad too_late
    ended 1 too_late
    grep -qE 'PE 0 .*: shmem_finalize: waits for PE [12], which has made fewer collective calls and is in shmem_finalize; .*\[S-E-COLL\]' "$err" ||
        fail "too_late: $(cat "$err")"
fi
# Others that wait in another way are named after a while.
if [ -z "$debug" ]; then
    try 3 timeout 10 ./bad exit 0
    grep -qxE 'sluice: PE 1 .* has waited 5 s for the other PEs to finalize: 2 of 3 have not, the first is PE 0; the job hangs if they wait for this one \[S-W-EXIT\]' "$err" ||
        fail "exit 0: $(cat "$err")"
fi

# With another status it ends the job.
ends 5 'sluice: PE 1 \([^ ]+\): exit with status 5 without shmem_finalize; the job ends \[S-E-EXIT\]' exit 5
ends 3 'sluice: PE [0-2] \([^ ]+\): exit with status 3 without shmem_finalize; the job ends \[S-E-EXIT\]'"$others" return 3
ends 6 "oshrun: $pe1 exited with status 6; ending the other 2 PEs \\[S-E-PEEXIT\\]" _exit 6
ends 1 "oshrun: $pe1 exited with status 0 but without shmem_finalize, and others may wait for it; ending the other 2 PEs \\[S-E-NOFINI\\]" _exit 0
ends 134 "oshrun: $pe1 was killed by signal 6 \\(Aborted(, core dumped)?\\); ending the other 2 PEs; SHMEM_BACKTRACE=1 prints where, SHMEM_CHECK=1 finds some causes \\[S-E-PEDIED\\]" abort
sanitized ||
    ends 139 "oshrun: $pe1 was killed by signal 11 \\(Segmentation fault(, core dumped)?\\); ending the other 2 PEs; SHMEM_BACKTRACE=1 prints where, SHMEM_CHECK=1 finds some causes \\[S-E-PEDIED\\]" crash

# shmem_global_exit: no line at all, but what was printed.
for status_of in 0:0 255:255 256:1; do
    try 3 ./bad global_exit "${status_of%:*}"
    [ $status -eq "${status_of#*:}" ] && [ ! -s "$err" ] &&
        [ "$(cat "$out")" = unflushed ] ||
        fail "global_exit ${status_of%:*}: status $status: $(cat "$err" "$out")"
    soon "global_exit ${status_of%:*}"
done
try 3 ./bad every_exit 9
[ $status -eq 9 ] && [ ! -s "$err" ] || fail "every_exit: status $status: $(cat "$err")"

# Without a launcher.
try 0 ./bad all 4
ended 4 'alone, exit 4'
said 'alone, exit 4' 'sluice: PE 0 \([^ ]+\): exit with status 4 without shmem_finalize; the job ends \[S-E-EXIT\]'
try 0 ./bad return 0
ended 0 'alone, return 0'
said 'alone, return 0' "$warn"
try 0 ./bad every_exit 9
[ "$status $(cat "$out" "$err")" = '9 unflushed of PE 0' ] ||
    fail "alone, global exit: status $status: $(cat "$err")"
try 0 ./bad every_exit 256
[ $status -eq 1 ] || fail "alone, shmem_global_exit(256): status $status, not 1"
finish 'exits, aborts and shmem_global_exit'

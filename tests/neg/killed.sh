#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: wherever the other PEs are when one is killed, the job ends
# within 2 s, one line names the PE and the signal, and nothing is left.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
static long a[1024], lock;

static void die(int sig)
{
    usleep(30000);              /* until the others are where they wait */
    raise(sig);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int victim = atoi(argv[2]), sig = argc > 3 ? atoi(argv[3]) : SIGKILL;
    static long b[1024];
    int me;

    if (!strcmp(word, "init") && atoi(getenv("SLUICE_JOB_PE")) == victim)
        die(sig);
    shmem_init();
    me = shmem_my_pe();
    if (!strcmp(word, "lock") && me == victim)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == victim)
        die(sig);
    CASE(barrier) shmem_barrier_all();
    CASE(wait) shmem_long_wait_until(a, SHMEM_CMP_NE, 0);
    CASE(put) for (;;) {
        shmem_putmem(a, b, sizeof a, victim);
        shmem_getmem(b, a, sizeof a, victim);
        shmem_long_atomic_inc(a, victim);
        shmem_quiet();
    }
    CASE(lock) shmem_set_lock(&lock);
    CASE(reduce) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, b, a, 64);
    CASE(finalize) shmem_finalize();
    CASE(sleep) sleep(20);
    printf("went on\n");
    return 0;
}
C

# dies SIGNAL NAME WORD VICTIM: one of four.
dies()
{
    try 4 ./bad "$3" "$4" "$1"
    ended $((128 + $1)) "$3: PE $4 by signal $1"
    said "$3: PE $4" "oshrun: PE $4 \\([^ ]+, pid [0-9]+\\) was killed by signal $1 \\($2(, core dumped)?\\); ending the other 3 PEs(; SHMEM_BACKTRACE=1 prints where, SHMEM_CHECK=1 finds some causes)? \\[S-E-PEDIED\\]"
    soon "$3: PE $4"
}
dies 9 Killed barrier 1
dies 9 Killed barrier 0
dies 9 Killed wait 2
dies 9 Killed put 1
dies 9 Killed lock 2
dies 9 Killed reduce 3
dies 9 Killed finalize 0
dies 9 Killed init 1
sanitized || dies 11 'Segmentation fault' barrier 1
dies 15 Terminated sleep 3
finish 'killed PEs'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where the connection of two PEs on several nodes breaks while
# both run, the job ends with a line that names the PE and the cause, or goes on
# with right data if nothing was under way: no crash, nothing lost in silence,
# and no wait for what was lost.
# Light: the PEs wait for each other
set -u
. "$(dirname "$0")/neg.inc"
most=60                         # all jobs run at a time

program cut <<'C'
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { N = 20, ROUNDS = 10000 };
static long words[N], here[N];
static uint64_t signal_word;
static int sum, one = 1;

/* All connections with other PEs: what is on its way there is lost. */
static void cut(int number)
{
    struct sockaddr_storage a;
    int saved = errno;
    socklen_t len;

    (void)number;
    for (int fd = 3; fd < 256; fd++) {
        len = sizeof a;
        if (!getpeername(fd, (struct sockaddr *)&a, &len) &&
            (a.ss_family == AF_INET || a.ss_family == AF_INET6))
            shutdown(fd, SHUT_RDWR);
    }
    errno = saved;
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int me, other;

    shmem_init();
    me = shmem_my_pe();
    other = !me;
    shmem_barrier_all();
    if (me == 1) {
        struct itimerval t = { .it_value.tv_usec = atoi(argv[argc - 1]) };

        signal(SIGALRM, cut);
        setitimer(ITIMER_REAL, &t, NULL);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (!strcmp(word, "words"))
            shmem_long_p(words, 1, other), shmem_quiet();
        CASE(many_words)
            for (int i = 0; i < N; i++)
                shmem_atomic_add(&words[i], 1, other);
        CASE(fetch) shmem_long_atomic_fetch_add(words, 1, other);
        CASE(put) {
            shmem_putmem(words, here, sizeof here, other);
            shmem_quiet();
        }
        CASE(get) shmem_getmem(here, words, sizeof here, other);
        CASE(blocks) shmem_long_iput(words, here, 2, 1, N / 2, other);
        CASE(put_signal) {
            shmem_putmem_signal(words, here, sizeof here, &signal_word, 1,
                                SHMEM_SIGNAL_ADD, other);
            shmem_quiet();
        }
        CASE(put_fence) {
            shmem_putmem(words, here, sizeof here, other);
            shmem_fence();
            shmem_long_p(words, 1, other);
        }
        CASE(barrier) shmem_barrier_all();
        CASE(sync) shmem_sync_all();
        CASE(reduce) shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    }
    shmem_barrier_all();
    for (int i = 0; i < N && !strcmp(word, "many_words"); i++)
        if (words[i] != ROUNDS)
            printf("word %d: %ld of %d\n", i, words[i], ROUNDS);
    if (!strcmp(word, "put_signal") && signal_word != ROUNDS)
        printf("signal: %lu of %d\n", (unsigned long)signal_word, ROUNDS);
    shmem_finalize();
    return 0;
}
C

line='sluice: PE [01] \([^ ]+\): (shmem_[a-z_]*: )?(communication|put|get|request|reply|receive|messages), PE [01] \(host [^ ]+\): [^;]*; provider tcp[^ ]* on [^ ]+ \[S-E-NET\]'
# What was lost on its way may be missed only by who waits for it.
waits='sluice: PE [01] \([^ ]+\): shmem_[a-z_]* waits for .* \[S-W-STALL\]'
lost='sluice: PE [01] \([^ ]+\): shmem_[a-z_]*: (no answer from PE|all other PEs have gone on for) .* \[S-E-NET\]'
SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_STALL=1 SHMEM_TIMEOUT=2
export SHMEM_OFI_PROVIDER SHMEM_STALL SHMEM_TIMEOUT

# ends WHAT MICROSECONDS
ends()
{
    try 2 --ppn 1 ./cut "$1" "$2"
    [ $status -ne 0 ] || [ -s "$out" ] || return
    ended 1 "$1"
    all_said "$1" "($line|$waits|$lost)"
    grep -qE 'S-E-NET' "$err" || fail "$1: no error: $(cat "$err")"
    for pe in 0 1; do
        [ "$(grep -cE "^sluice: PE $pe .*; provider tcp.*S-E-" "$err")" -le 1 ] ||
            fail "$1: PE $pe reports more than once: $(cat "$err")"
    done
}
for what in words many_words fetch put get blocks put_signal put_fence barrier \
    sync reduce; do
    for after_us in 3000 20000; do
        beside ends $what $after_us
    done
done
together

# A message that is missing ends the job where the next one arrives.
unset SHMEM_STALL SHMEM_TIMEOUT
missing='sluice: PE [01] \([^ ]+\): (shmem_[a-z_]*: )?messages, PE [01] \(host [^ ]+\): [^;]*: some were lost with a connection; provider tcp[^ ]* on [^ ]+( \(after SHMEM_FAULT .*\))? \[S-E-NET\]'
misses()
{
    SHMEM_FAULT=ofi.number:0.01:7 try 2 --ppn 1 ./cut "$1" 60000000
    ended 1 "$1, number"
    all_said "$1, number" "($missing|$line)"
    grep -q "were lost with" "$err" || fail "$1, number: $(cat "$err")"
}
for what in words fetch put_signal barrier; do
    beside misses $what
done
together
finish 'a cut connection ends the job with a line of what failed'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs join their job by oshrun's own channel: nothing listens while
# they start, scripts and forked children share it well, and a job that cannot
# come about ends with one line.
set -u
. "$(dirname "$0")/oshrun.inc"

cat >"$dir/pe.c" <<'C'
#include "await_state.h"

#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum;

static void reach(void)
{
    int n;

    shmem_init();
    n = shmem_n_pes();
    sum = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(&sum, shmem_my_pe() + 1, pe);
    shmem_barrier_all();
    if (sum != (long)n * (n + 1) / 2)
        exit(9);
}

/* Until the other PE is here, too: then both say what is wrong in time. */
static void meet(const char *dir)
{
    char own[256], other[256];
    int me = atoi(getenv("SLUICE_JOB_PE"));

    snprintf(own, sizeof own, "%s/here.%d", dir, me);
    snprintf(other, sizeof other, "%s/here.%d", dir, 1 - me);
    fclose(fopen(own, "w"));
    while (access(other, F_OK))
        usleep(1000);
}

/* PE 1 is killed, and PE 0 ends the job for it, before the supervisor sees
 * either. */
static void abort_after_kill(void)
{
    static long pid;
    pid_t supervisor = getppid();

    if (shmem_my_pe()) {
        shmem_long_p(&pid, getpid(), 0);
    } else {
        kill(supervisor, SIGSTOP);
        await_state(supervisor, 'T');
    }
    shmem_barrier_all();
    if (shmem_my_pe())
        raise(SIGKILL);
    await_state(pid, 'Z');
    if (fork() == 0) {
        usleep(200000);
        kill(supervisor, SIGCONT);
        _exit(0);
    }
    shmem_global_exit(7);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int rounds = atoi(word);

    if (argc > 2 && (!strcmp(word, "closed") || !strcmp(word, "other")))
        meet(argv[2]);
    if (!strcmp(word, "closed") && close(atoi(getenv("SLUICE_JOB_CHANNEL"))))
        return 8;
    if (!strcmp(word, "other") && dup2(1, atoi(getenv("SLUICE_JOB_CHANNEL"))) < 0)
        return 8;
    for (int i = 1; i < rounds; i++) {
        reach();
        shmem_finalize();
    }
    reach();
    if (!strcmp(word, "kill"))
        abort_after_kill();
    if (!strcmp(word, "leave") && shmem_my_pe() == 1)
        _exit(0);
    if (!strcmp(word, "leave-all"))
        _exit(0);
    if (!strcmp(word, "abort") && shmem_my_pe() == 1)
        shmem_global_exit(atoi(argv[2]));
    if (!strcmp(word, "abort") || !strcmp(word, "leave"))
        for (;;)
            pause();
    if (!strcmp(word, "fork") && fork() == 0) {
        sleep(1);           /* it outlives its parent's session */
        _exit(0);
    }
    if (!strcmp(word, "again") && system(argv[2]))
        printf("refused\n");
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    fflush(stdout);
    shmem_finalize();
    return 0;
}
C
oshcc -O1 -Wall -iquote "$SRC/tests" "$dir/pe.c" -o "$dir/pe" >"$dir/cc.log" 2>&1 ||
    { cat "$dir/cc.log" >&2; exit 1; }

# joined N TIMES WHAT: the output of the last try is that of N PEs, so often.
joined()
{
    pe=0
    while [ $pe -lt "$1" ]; do
        [ "$(grep -cx "PE $pe of $1" "$out")" -eq "$2" ] ||
            fail "$3: PE $pe of $1: $(sort "$out" | head -n 5)"
        pe=$((pe + 1))
    done
}

for n in 1 2 5; do
    try -n $n "$dir/pe"
    expect 0 "$n PEs" && silent "$n PEs"
    joined $n 1 "$n PEs"
done
try -n 3 "$dir/pe" 5
expect 0 'five times init and finalize' && silent 'five times'
try -n 3 --ppn 1 "$dir/pe"
expect 0 'three nodes' && joined 3 1 'three nodes'
try -n 3 sh -c '"$1" && "$1" 2 && sh -c "\"\$1\"" sh "$1"' sh "$dir/pe"
expect 0 'three programs of a script' && silent 'three programs'
joined 3 3 'three programs of a script'
try -n 2 sh -c '"$1" fork && "$1"' sh "$dir/pe"
expect 0 'a child that outlives its parent' && joined 2 2 'a child that outlives'
try -n 3 sh -c 'echo no library'
expect 0 'a script without the library' && silent 'a script without'
# Standard descriptors that are closed stay the program's.
try -n 2 sh -c 'exec "$1" 0<&- 2>&-' sh "$dir/pe"
expect 0 'without standard input and error' && joined 2 1 'without 0 and 2'

# Nothing that another user could connect to, while one PE is still missing.
# What a process has open says its descriptors; what listens is in /proc/net.
SLUICE_TEST_MARK="mark-$$-$(now)" oshrun -n 3 sh -c \
    '[ "$SLUICE_JOB_PE" != 2 ] || until [ -e "$1/go" ]; do sleep 0.05; done
    : >"$1/up.$SLUICE_JOB_PE"; exec "$1/pe"' sh "$dir" >"$out" 2>"$err" </dev/null &
job=$!
wait_for "$dir/up.0" && wait_for "$dir/up.1"
sleep 0.5                       # these two wait in shmem_init now
mine=$(processes "SLUICE_TEST_MARK=mark-$$-")
mine="$job $mine $(pgrep -P $job)"
[ "$(echo "$mine" | wc -w)" -ge 5 ] || fail "too few processes: $mine"
for pid in $mine; do
    ls -l "/proc/$pid/fd" 2>/dev/null
done | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p' | sort -u >"$dir/open"
[ -s "$dir/open" ] || fail 'no socket at all was found'
{
    awk '$4 == "0A" { print $10 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
    awk '$4 == "00010000" { print $7 }' /proc/net/unix
} | sort -u | comm -12 - "$dir/open" >"$dir/listening"
[ ! -s "$dir/listening" ] ||
    fail "listening: $(grep -hwf "$dir/listening" /proc/net/tcp /proc/net/tcp6 \
        /proc/net/unix 2>/dev/null)"
: >"$dir/go"
wait $job || fail "the job: $(cat "$err")"
joined 3 1 'the job that was looked at'

# Statuses of shmem_global_exit; what leaves without finalizing.
for status in 0:0 42:42 256:1; do
    try -n 3 "$dir/pe" abort "${status%:*}"
    expect "${status#*:}" "shmem_global_exit of ${status%:*}"
    silent "shmem_global_exit of ${status%:*}"
done
try -n 2 "$dir/pe" kill
expect 137 'PE 1 is killed, and PE 0 ends the job'
said '^oshrun: PE 1 (.*, pid [0-9]*) was killed by signal 9 (Killed).* \[S-E-PEDIED\]$'
try -n 3 "$dir/pe" leave
expect 1 'PE 1 leaves'
said '^oshrun: PE 1 (.*) exited with status 0 but without shmem_finalize, and others may wait for it; ending the other 2 PEs \[S-E-NOFINI\]$'
try -n 3 sh -c '"$1" leave; sleep 20' sh "$dir/pe"
expect 1 'a process of PE 1 leaves'
said '^oshrun: a process of PE 1 (.*) ended without shmem_finalize, and others may wait for it; ending the other 2 PEs \[S-E-NOFINI\]$'
try -n 3 "$dir/pe" leave-all
expect 0 'all leave' && silent 'all leave'
try -n 3 sh -c '"$1" leave-all; "$1"' sh "$dir/pe"
expect 0 'all leave, then start anew' && joined 3 1 'all leave, then start anew'
try -n 3 sh -c '[ "$SLUICE_JOB_PE" = 1 ] || exec "$1"' sh "$dir/pe"
expect 1 'PE 1 ends before init'
said '^oshrun: PE 1 (.*) exited with status 0 without shmem_init, and others wait for it in shmem_init; ending the other 2 PEs \[S-E-NOFINI\]$'
try -n 3 sh -c '"$1"; [ "$SLUICE_JOB_PE" = 1 ] || exec "$1"' sh "$dir/pe"
expect 1 'PE 1 ends before the second init'
said '^oshrun: PE 1 (.*) exited with status 0 after shmem_finalize, and others wait for it in shmem_init; ending the other 2 PEs \[S-E-NOFINI\]$'
# A process of PE 1 is killed in shmem_init, and its script goes on.
try -n 3 sh -c 'starts()
    {
        SHMEM_LOG=debug:rt "$1" 2>"$2" &
        until grep -q "start: PE" "$2"; do sleep 0.02; done
    }
    if [ "$SLUICE_JOB_PE" = 1 ]; then
        starts "$1" first
        kill -9 $!
        wait $!
        starts "$1" second
        : >again
        wait $!
        status=$?
        cat second >&2
        exit $status
    fi
    until [ -e again ]; do sleep 0.02; done
    exec "$1"' sh "$dir/pe"
expect 1 'a process killed in shmem_init'
grep -q 'fence of 3 PEs .*: some PEs have started the library more often' "$err" ||
    fail "a process killed in shmem_init: $(cat "$err")"

# A channel that a program in between has closed, or used for a file.
for word in closed other; do
    rm -f "$dir"/here.*
    try -n 2 "$dir/pe" $word "$dir"
    expect 1 "a channel that is $word"
    said "^sluice: PE 0 (.*): oshrun's channel, descriptor [0-9]* of SLUICE_JOB_CHANNEL, is closed: .* \[S-E-PMI\] (and 1 other PE: 1)$"
    [ ! -s "$out" ] || fail "a channel that is $word: $(cat "$out")"
done
SHMEM_SINGLETON=1 try -n 2 "$dir/pe" closed
expect 0 'a closed channel, SHMEM_SINGLETON' && joined 1 2 'SHMEM_SINGLETON'
try -n 2 env SLUICE_JOB_PE=2 "$dir/pe"
expect 1 'a PE out of range'
grep -q '^sluice: .*: SLUICE_JOB is set but SLUICE_JOB_PE is "2": .* \[S-E-PMI\]' "$err" ||
    fail "a PE out of range: $(cat "$err")"

# What a PE starts is no PE; a launcher that it starts has a job of its own.
try -n 2 "$dir/pe" again "$dir/pe"
expect 0 'a program that a PE starts'
[ "$(grep -c '^refused$' "$out")" -eq 2 ] || fail "a PE's program: $(cat "$out")"
grep -q '^sluice: PE [01] (.*): process [0-9]* is PE [01] of this job already; .* \[S-E-PMI\]' "$err" ||
    fail "a program that a PE starts: $(cat "$err")"
try -n 2 "$dir/pe" again "oshrun -n 3 '$dir/pe'"
expect 0 'a job that a PE starts' && silent 'a job that a PE starts'
joined 3 2 'a job that a PE starts' && joined 2 1 'a job that starts one'

# PMIx of --pmix, by those that do not know the channel.
for rounds in 1 3; do
    try --pmix -n 4 env -u SLUICE_JOB "$dir/pe" $rounds
    expect 0 "PMIx, $rounds rounds" && silent "PMIx, $rounds rounds"
    joined 4 1 "PMIx, $rounds rounds"
done
try --pmix -n 3 "$dir/pe"
expect 0 'the channel beside PMIx' && joined 3 1 'the channel beside PMIx'
try --pmix -n 3 env -u SLUICE_JOB "$dir/pe" abort 42
expect 42 'PMIx, shmem_global_exit of 42'
finish 'channel: joins, scripts, nothing listens, ends, closed, nested, PMIx'

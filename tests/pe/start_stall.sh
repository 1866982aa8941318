#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: while a PE is late for shmem_init, or is stopped within it or
# within shmem_finalize, another PE prints which one is missing, at whatever
# step that is, on a node and between nodes; SIGUSR2 shows the wait; and the job
# goes on when the PE does.
# Light: PEs wait for one that is stopped
set -u
. "$(dirname "$0")/../oshrun/oshrun.inc"
cd "$dir" || exit 1
# libfabric 1.17 does not free a message that came while the PE was stopped.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export SHMEM_STALL=1

# PE 1 sleeps before shmem_init until the file `go` exists.
cat >late.c <<'C'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank(void)
{
    const char *r = getenv("SLUICE_JOB_PE");

    return atoi(r ? r : getenv("PMIX_RANK"));
}

int main(int argc, char **argv)
{
    while (argc > 1 && rank() == 1 && access(argv[1], F_OK))
        usleep(20000);
    shmem_init();
    shmem_barrier_all();
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
C
# PE 1 stops itself before its STOP_AT-th message to oshrun or to a socket.
cat >stop.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t (*next)(int, const struct msghdr *, int);
    const char *at = getenv("STOP_AT"), *pe = getenv("SLUICE_JOB_PE");
    void *sym = dlsym(RTLD_NEXT, "sendmsg");
    static int n;

    memcpy(&next, &sym, sizeof next);
    if (at && pe && !strcmp(pe, "1") &&
        __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) == atoi(at))
        raise(SIGSTOP);
    return next(fd, m, flags);
}
C
# The program's sendmsg comes before that of the C library.
oshcc -o late late.c stop.c -rdynamic -ldl >cc.log 2>&1 ||
    { cat cc.log >&2; exit 1; }

# until_said SECONDS REGEXP: does standard error have such a line by then?
until_said()
{
    i=$(($1 * 20))
    while [ $i -gt 0 ] && ! grep -qE -- "$2" "$err"; do
        kill -0 "$job" 2>/dev/null || break
        sleep 0.05
        i=$((i - 1))
    done
    grep -qE -- "$2" "$err"
}

# begin ARGS...: a job in the background, $job.
begin()
{
    rm -f go
    : >"$out"                   # not those of the job before,
    : >"$err"                   # which the child would truncate late
    timeout -k 5 60 "$@" >"$out" 2>"$err" </dev/null &
    job=$!
}

# end WHAT: the job has gone on, and all PEs have done their work.
end()
{
    wait "$job"
    status=$?
    [ $status -eq 0 ] && [ "$(grep -c 'PE . of 3' "$out")" -eq 3 ] ||
        fail "$1: status $status: $(cat "$out" "$err")"
}

missing='[0-9]+ s: 2 of 3 PEs arrived; missing PE 1 \(pid [0-9]+,'
late()
{
    begin oshrun -n 3 "$@" ./late go
    until_said 30 "^sluice: PE 0 \\([^ ]+\\): shmem_init waits for $missing not in shmem_init yet\\) \\[S-W-STALL\\]" ||
        fail "late $*: $(cat "$err")"
    pid=$(sed -n 's/.*missing PE 1 (pid \([0-9]*\),.*/\1/p' "$err" | head -n 1)
    [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = './late go ' ] ||
        fail "late $*: $pid is not the PE that is late"
    : >go
    end "late $*"
    ! grep -q '^sluice: PE [12]' "$err" || fail "late $*: $(cat "$err")"
}
late
late --ppn 1

# The PE that would print it is stopped itself.
begin oshrun -n 3 ./late go
until_said 30 '^sluice: PE 0 .*not in shmem_init yet' ||
    fail "first stopped: $(cat "$err")"
first=
for p in $(pgrep -x late); do
    tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx SLUICE_JOB_PE=0 &&
        [ "$(readlink "/proc/$p/cwd")" = "$PWD" ] && first=$p
done
kill -STOP "$first"
until_said 30 '^sluice: PE 2 .*missing PE 1 \(pid [0-9]+, not in shmem_init yet\)' ||
    fail "first stopped: $(cat "$err")"
kill -CONT "$first"
: >go
end 'first stopped'

# The state that SIGUSR2 to oshrun asks for.
begin oshrun -n 3 ./late go
until_said 30 'not in shmem_init yet' || fail "state: $(cat "$err")"
kill -USR2 "$(pgrep -P "$job" | head -n 1)"
until_said 30 '^sluice: PE 0 \([^ ]+\): in shmem_init for [0-9]+ s, waiting for all 3 PEs to arrive' &&
    grep -qE '^oshrun: PE 1 \(pid [0-9]+\) is not in shmem_init yet$' "$err" ||
    fail "state: $(cat "$err")"
: >go
end state

# The PEs of the job that run or are stopped, by the letter of their state.
states()
{
    for p in $(pgrep -x late); do
        [ "$(readlink "/proc/$p/cwd")" = "$PWD" ] &&
            sed -n 's/^State:.\(.\).*/\1/p' "/proc/$p/status" 2>/dev/null
    done | tr -d '\n'
}

# stopped AT ARGS...: PE 1 stops there, and goes on when the line has come.  At
# its last messages no other PE may be left that waits.
stopped=0
stopped()
{
    at=$1
    shift
    begin oshrun -n 3 "$@" env STOP_AT="$at" ./late
    i=600
    while [ $i -gt 0 ] && kill -0 "$job" 2>/dev/null; do
        grep -qE '(shmem_init|shmem_finalize|shmem_barrier_all) waits for [0-9]+ s(: [012] of 3 PEs arrived; missing| for) PE 1 \(' "$err" && break
        ! grep -qs '^PE [02]' "$out" || [ "$(states)" != T ] || break
        sleep 0.05
        i=$((i - 1))
    done
    [ $i -gt 0 ] || fail "stopped at $at $*: no line: $(states)"
    ! grep -q ' waits for ' "$err" || stopped=$((stopped + 1))
    # It may not have come to its stop yet.
    while kill -0 "$job" 2>/dev/null; do
        pkill -CONT -x late
        sleep 0.1
    done
    end "stopped at $at $*"
    ! grep -qE 'last call  |[0-9]{6} s ago' "$err" ||
        fail "stopped at $at $*: $(cat "$err")"
}
for at in 1 4 6 8; do
    stopped $at
done
for at in 1 8 10 11 12 14 17; do
    stopped $at --ppn 1
done
[ $stopped -ge 8 ] || fail "only $stopped of 11 jobs stopped"

# Open MPI's server cannot be asked.
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    begin mpirun --allow-run-as-root --oversubscribe -x SHMEM_STALL -n 3 \
        ./late go
    until_said 30 'shmem_init waits for [0-9]+ s: not all PEs have arrived, and this launcher does not say which are missing \[S-W-STALL\]' ||
        fail "mpirun: $(cat "$err")"
    : >go
    end mpirun
fi
finish 'a PE that is late or stopped at start-up is named'

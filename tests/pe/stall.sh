#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a wait that lasts says so: a collective who is missing and what
# that PE did last, or who is in another call, a wait for memory where, what is
# there and what is wanted, a lock who holds it; each between near PEs and
# between far ones.
# Light: it waits for what SHMEM_STALL says
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
most=25                         # more than 6 s of a job are sleep

program late <<'C'
static long word, words[3], lock, out, in;

int main(int argc, char **argv)
{
    useconds_t nap = 1600000u * (unsigned)(argc > 1 ? atoi(argv[1]) : 1);
    shmem_team_t team;
    int me, n, late;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    late = me == n - 1;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, n - 1, NULL, 0, &team);
    if (late)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (late) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 0);
        usleep(nap);
    } else {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 0);
    }
    shmem_barrier_all();
    if (late)
        usleep(nap);
    if (team != SHMEM_TEAM_INVALID)
        shmem_team_sync(team);
    shmem_barrier_all();
    if (late)
        usleep(nap);
    else if (me)
        shmem_long_wait_until_all(words, 3, NULL, SHMEM_CMP_GT, 6);
    else
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, -5);
    for (int pe = 0; late && pe < n; pe++) {
        shmem_long_p(&word, -5, pe);
        for (int i = 0; i < 3; i++)
            shmem_long_p(&words[i], 7, pe);
    }
    shmem_barrier_all();
    if (late)
        usleep(nap);
    else
        shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_finalize();
    return 0;
}
C

# prints REGEX: in one of its lines.
prints()
{
    grep -qE "^sluice: PE [0-9]+ \\([^ ]+\\): $1.* \\[S-W-STALL\\]$others\$" \
        "$err" && return
    [ -n "$again" ] || fail "$how: no '$1' in: $(cat "$err")"
    missed=yes
}
again=

# late PLACE WORD...: the words go to oshrun, PLACE is said of the late PE.  On
# a machine with much other work the others may be later than that one sleeps.
late()
{
    again=yes
    late_by 1 "$@"
    again=
    [ -z "$missed" ] || most=60 late_by 4 "$@"
}

# late_by TIMES PLACE WORD...
late_by()
{
    times=$1 missed=
    shift
    how=$*
    place=$1
    shift
    SHMEM_STALL=1 try 3 "$@" ./late "$times"
    [ $status -eq 0 ] || fail "$how: status $status"
    grep -v 'S-W-STALL' "$err" && fail "$how: the above"
    prints "shmem_barrier_all waits for 1 s: 2 of 3 PEs arrived; missing PE 2 \\($place, last call shmem_long_sum_reduce 1 s ago\\)"
    prints "shmem_team_sync waits for 1 s: 1 of 2 PEs of the team arrived; missing PE 2 \\($place, last call shmem_barrier_all 1 s ago\\)"
    prints 'shmem_long_wait_until waits for 1 s for 0 to be == -5 at static data\+0x[0-9a-f]+'
    prints 'shmem_long_wait_until_all waits for 1 s for 3 values \(0, 0, 0\) to be > 6 at static data\+0x[0-9a-f]+'
    prints "shmem_set_lock waits for 1 s for the lock at static data\\+0x[0-9a-f]+, held by PE 2 \\($place, last call shmem_barrier_all 1 s ago\\)"
}

# silent: the same without the variable.
silent()
{
    SHMEM_STALL=0 try 3 ./late
    [ $status -eq 0 ] && [ ! -s "$out" ] && [ ! -s "$err" ] ||
        fail "SHMEM_STALL=0: status $status: $(cat "$err")"
}
beside late 'this node'
beside late 'host [^ ]+' --ppn 1
beside silent
together

# PE 1 is in another collective call than the others, until one of them ends
# the job; what they say of PE 2, whose time was not taken each time, is true.
program odd <<'C'
static long out, in;

static void *end(void *unused)
{
    usleep(1600000);
    exit(3);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int me;

    shmem_init();
    me = shmem_my_pe();
    for (int i = 0; i < atoi(argv[1]); i++)
        shmem_sync_all();
    if (me == 2)
        pthread_create(&t, NULL, end, NULL);
    if (me == 1)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 1);
    else if (me == 0 || argc == 2)
        shmem_barrier_all();
    sleep(4);
    return 0;
}
C

# odd PLACE OPTION...
odd()
{
    how="odd, $*"
    place=$1
    shift
    SHMEM_STALL=1 try 3 "$@" ./odd 3
    [ $status -eq 3 ] || fail "$how: status $status"
    hint='; SHMEM_CHECK=1 names the first call that does not match'
    prints "shmem_barrier_all waits for 1 s: 2 of 3 PEs arrived; in another call PE 1 \\($place, in shmem_long_sum_reduce for [12] s\\)$hint"
    prints "shmem_long_sum_reduce waits for 1 s: 1 of 3 PEs arrived; in another call PE 0 \\($place, in shmem_barrier_all for [12] s\\), PE 2 \\($place, in shmem_barrier_all for [12] s\\)$hint"
}
quick()
{
    how=quick
    SHMEM_STALL=1 try 3 ./odd 3003 alone
    [ $status -eq 3 ] || fail "$how: status $status"
    prints 'shmem_barrier_all waits for 1 s: 1 of 3 PEs arrived; missing PE 2 \(this node, last call shmem_sync_all (at most )?[12] s ago\); in another call PE 1 .*'
}
# Each line comes after twice the time of the one before.
program late <<'C'
static long word;
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    if (!shmem_my_pe()) {
        sleep(argc > 1 ? 0 : 7);
        shmem_long_p(&word, 1, 1);
    } else {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    shmem_finalize();
    return 0;
}
C
grows()
{
    how="growing distance, $*"
    SHMEM_STALL=1 try 2 "$@" ./late
    [ $status -eq 0 ] || fail "$how: status $status"
    times=$(sed -n 's/.*PE 1 .*shmem_long_wait_until waits for \([0-9]*\) s.*/\1/p' "$err" |
        tr '\n' ' ')
    echo "$times" | awk '{
        for (i = 2; i <= NF && $i >= 2 * $(i - 1) - 1; i++)
            ;
        exit NF < 2 || i <= NF }' || fail "$how: lines after $times s"
}
# The same lines and the states as JSON, for programs.
records()
{
    how=records
    rm -f records
    SHMEM_STALL=1 SHMEM_STALL_FILE=$PWD/records "$bin/oshrun" --timeout 30 -n 2 \
        ./late >"$out" 2>"$err" </dev/null &
    job=$!
    sleep 3
    kill -USR2 $job
    wait $job
    jq -se 'all(.[]; .time > 1700000000 and .pid > 1 and .host != "") and
        any(.[]; .kind == "stall" and .pe == 1 and
            (.text | test("^shmem_long_wait_until waits for [12] s for 0 to be == 1"))) and
        any(.[]; .kind == "state" and .pe == 1)' records >/dev/null ||
        fail "$how: $(cat records "$err")"
}
command -v jq >/dev/null && beside records
SHMEM_STALL_FILE=/nowhere/records try 2 ./late 0
grep -q 'SHMEM_STALL_FILE: /nowhere/records: No such file.* \[S-W-ENV\]' "$err" ||
    fail "no directory: $(cat "$err")"
[ "$(grep -c SHMEM_STALL_FILE "$err")" -eq 1 ] || fail "more than once: $(cat "$err")"
beside grows
beside grows --ppn 1
beside odd 'this node'
beside odd 'host [^ ]+' --ppn 1
beside quick
together
finish 'waits that last tell of it'

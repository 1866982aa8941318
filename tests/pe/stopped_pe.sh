#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE that is stopped for 3 s is named by those that wait for it,
# and the data are right when it goes on; one that stays away ends the job
# within SHMEM_TIMEOUT and SHMEM_STALL if it is far; a killed far PE ends it with
# oshrun's line alone.
# Light: it waits for what is stopped
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
# libfabric 1.17 does not free a message that came while the PE was stopped.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

program bad <<'C'
static long pid_of, left, go, data[1024], back[1024], mine[1024];

static void *wake(void *pid)
{
    sleep(3);
    kill((pid_t)(long)pid, SIGCONT);
    return NULL;
}

static int wrong(const long *a, long first)
{
    for (int i = 0; i < 1024; i++)
        if (a[i] != first + i)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    long pid = getpid();
    int me, n, last;
    char sent[32];
    pthread_t t;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    last = n - 1;
    for (int i = 0; i < 1024; i++)
        mine[i] = 1000 * me + i;
    shmem_barrier_all();
    if (me == last)
        shmem_long_p(&pid_of, pid, 0);
    shmem_barrier_all();
    if (!strcmp(word, "killed")) {
        usleep(50000);
        if (me == last)
            raise(SIGKILL);
        word = argv[2];
    } else {
        if (me)                     /* the barrier needs this PE no more */
            shmem_long_atomic_inc(&left, 0);
        else
            shmem_long_wait_until(&left, SHMEM_CMP_EQ, n - 1);
        if (me == 0) {
            kill((pid_t)pid_of, SIGSTOP);
            snprintf(sent, sizeof sent, "sent.%ld", pid_of);
            fclose(fopen(sent, "w"));
        }
        if (me == 0 && argc > 2)    /* again */
            pthread_create(&t, NULL, wake, (void *)pid_of);
        if (me == last)         /* is stopped there */
            for (snprintf(sent, sizeof sent, "sent.%ld", pid);
                 access(sent, F_OK); )
                usleep(1000);
        else
            usleep(100000);
    }
    if (!strcmp(word, "wait")) {
        if (me == last)
            shmem_long_put_signal(data, mine, 1024, (uint64_t *)&go, 1,
                                  SHMEM_SIGNAL_SET, 0);
        if (me == 0)
            shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    } else if (!strcmp(word, "get")) {
        if (me == 0)
            shmem_long_get(back, data, 1024, last);
    } else {
        shmem_long_put(data, mine, 1024, (me + 1) % n);
    }
    shmem_barrier_all();
    if (me == 0 && wrong(data, 1000 * last))
        printf("wrong data\n");
    shmem_long_get(back, data, 1024, 0);
    if (wrong(back, 1000 * last))
        printf("wrong data back\n");
    if (me == 0 && argc > 2 && strcmp(argv[1], "killed"))
        pthread_join(t, NULL);
    shmem_finalize();
    return 0;
}
C

# As in neg.inc; between nodes a start on a busy machine takes its time.
try()
{
    n=$1
    shift
    timeout -k 5 60 "$bin/oshrun" -n "$n" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# stopped REGEX WORD OPTION...: it goes on, and some line is this one.
stopped()
{
    regex=$1 word=$2
    shift 2
    SHMEM_STALL=1 try 3 "$@" ./bad "$word" again
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$word, $*: status $status: $(cat "$out" "$err")"
    grep -q 'S-E-' "$err" && fail "$word, $*: $(cat "$err")"
    grep -qE "$regex" "$err" || fail "$word, $*: no '$regex': $(cat "$err")"
}
beside stopped 'shmem_barrier_all waits for [12] s: 2 of 3 PEs arrived; missing PE 2 \(this node, stopped, pid [0-9]+, last call shmem_' barrier
beside stopped 'shmem_long_wait_until waits for [12] s for 0 to be == 1 at ' wait
beside stopped '(asked [12] s ago, no answer\)|shmem_long_put waits for [12] s for PE 2 \(host [^ ]+\)) \[S-W-STALL\]' \
    barrier --ppn 1
beside stopped 'silent is PE 2 \(host [^ ]+, asked [12] s ago, no answer\) \[S-W-STALL\]' \
    wait --ppn 1
together

# A PE that was stopped itself has not been waiting meanwhile.
program both <<'C'
static long words[4096], back[4096];

int main(int argc, char **argv)
{
    int once = !strcmp(argv[argc - 1], "gap");
    struct timespec t;
    FILE *f;
    char name[32];
    int me;

    shmem_init();
    me = shmem_my_pe();
    snprintf(name, sizeof name, "%s.%d", argv[argc - 1], me);
    f = fopen(name, "w");
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    shmem_barrier_all();
    if (once && me == 1)
        raise(SIGSTOP);
    if (me == 0) {
        for (int i = 0; i < (once ? 1 : 100); i++) {
            shmem_long_get(back, words, 4096, 1);
            t = (struct timespec){ .tv_nsec = 20000000 };
            nanosleep(&t, NULL);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C
# begin_both WORD: as $job, until both PEs are there.
begin_both()
{
    timeout -k 5 60 "$bin/oshrun" -n 2 --ppn 1 ./both "$1" >"$out" 2>"$err" \
        </dev/null &
    job=$!
    while kill -0 "$job" 2>/dev/null; do
        [ -s "$1.0" ] && [ -s "$1.1" ] && break
        sleep 0.1
    done
    sleep 0.3
}
both()
{
    export SHMEM_TIMEOUT=2 SHMEM_STALL=1
    begin_both pid
    kill -STOP "$(cat pid.1)" || fail 'both stopped: no PE 1'
    sleep 0.3
    kill -STOP "$(cat pid.0)" || fail 'both stopped: no PE 0'
    sleep 3
    kill -CONT "$(cat pid.0)"
    sleep 0.3
    kill -CONT "$(cat pid.1)"
    wait "$job"
    status=$?
    [ $status -eq 0 ] || fail "both stopped: status $status: $(cat "$err")"
}

# Nor is there a line before SHMEM_STALL of a wait in which it was stopped.
gap()
{
    export SHMEM_TIMEOUT=60 SHMEM_STALL=20
    begin_both gap
    until grep -q '^State:.T' "/proc/$(cat gap.1)/status"; do
        kill -0 "$job" 2>/dev/null || break
        sleep 0.1
    done
    kill -STOP "$(cat gap.0)" || fail 'gap: no PE to stop'
    sleep 2
    kill -CONT "$(cat gap.0)"
    sleep 1
    kill -CONT "$(cat gap.1)"
    wait "$job"
    status=$?
    [ $status -eq 0 ] && [ ! -s "$err" ] ||
        fail "gap: status $status: $(cat "$err")"
}

# For ever: STALL and TIMEOUT are 3 s.
lost()
{
    SHMEM_STALL=1 SHMEM_TIMEOUT=2 try 2 --ppn 1 ./bad "$1"
    [ $status -eq 1 ] || fail "$1, lost: status $status: $(cat "$err")"
    grep 'S-E-' "$err" >"$out"
    [ "$(wc -l <"$out")" -eq 1 ] ||
        fail "$1, lost: not one error: $(cat "$err")"
    grep -qE '^sluice: PE 0 [^:]*: no answer from PE 1 \(host [^ ]+\) in 2 s \(SHMEM_TIMEOUT\): it is stopped, or the network between the nodes is down \[S-E-NET\]' \
        "$out" || fail "$1, lost: $(cat "$err")"
}

lost_get()
{
    SHMEM_TIMEOUT=2 try 2 --ppn 1 ./bad get
    ended 1 'get, lost'
    said 'get, lost' 'sluice: PE 0 \([^ ]+\): shmem_long_get: no answer from PE 1 \(host [^ ]+\) in 2 s \(SHMEM_TIMEOUT\): it is stopped, or the network between the nodes is down or slower than that; provider [^ ]+ on [^ ]+ \[S-E-NET\]'
}

killed()
{
    SHMEM_STALL=1 SHMEM_TIMEOUT=4 try 3 --ppn 1 ./bad killed "$1"
    ended 137 "$1, killed"
    said "$1, killed" 'oshrun: PE 2 \([^ ]+, pid [0-9]+\) was killed by signal 9 \(Killed\); ending the other 2 PEs \[S-E-PEDIED\]'
}

beside both
beside gap
beside lost barrier
beside lost wait
beside lost_get
together
beside killed barrier
beside killed wait
together
finish 'stopped, lost and killed PEs'

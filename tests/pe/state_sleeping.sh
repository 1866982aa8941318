#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE that is asked what it does by SIGUSR2 to oshrun, or by
# shmem_info --state, answers, and its program is not moved: sleep, nanosleep,
# poll, epoll_wait, pause and a semaphore go on waiting; a handler that the
# program installed meanwhile gets the signal.
# Light: PEs sleep until they are asked
# Timeout: 40
set -u
. "$(dirname "$0")/../neg/neg.inc"

program asleep <<'C'
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <time.h>

static volatile sig_atomic_t caught;
static sem_t sem;

static void catch(int sig)
{
    (void)sig;
    caught = 1;
}

static void *pause_for_good(void *moved)
{
    pause();
    *(int *)moved |= 32;
    return NULL;
}

int main(int argc, char **argv)
{
    struct timespec t = { 1, 0 }, left = { 0, 0 }, until;
    struct epoll_event e;
    pthread_t thread;
    FILE *f;
    int moved = 0, me, level, poller = epoll_create1(0);

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (argc > 1 && !strcmp(argv[1], "own"))
        signal(SIGUSR2, catch);
    me = shmem_my_pe();
    sem_init(&sem, 0, 0);
    pthread_create(&thread, NULL, pause_for_good, &moved);
    shmem_barrier_all();
    f = fopen(me ? "pid1" : "pid0", "w");
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    while (access("asking", F_OK))
        usleep(1000);
    if (argc > 1 && !strcmp(argv[1], "own")) {
        while (!caught)
            usleep(1000);
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    /* Until the script has asked as often as it wants, however slowly. */
    do {
        moved |= sleep(1) ? 1 : 0;
        moved |= nanosleep(&t, &left) ? 2 : 0;
        moved |= poll(NULL, 0, 1000) ? 4 : 0;
        moved |= epoll_wait(poller, &e, 1, 1000) ? 8 : 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        moved |= sem_timedwait(&sem, &until) && errno == ETIMEDOUT ? 0 : 16;
    } while (access("asked", F_OK));
    shmem_barrier_all();
    if (moved)
        printf("PE %d: moved %d\n", me, moved);
    shmem_finalize();
    return 0;
}
C

# start WORD...: two PEs, which have come to where they are asked.
start()
{
    rm -f pid0 pid1 asking asked
    timeout -k 5 30 "$bin/oshrun" -n 2 ./asleep "$@" >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 150); do
        [ -s pid0 ] && [ -s pid1 ] && break
        sleep 0.1
    done
    : >asking
}

# answers LEAST: each PE, at least so often.
answers()
{
    for pe in 0 1; do
        n=$(grep -cE "^sluice: PE $pe \\([^ ]+\\): not waiting; last noted call: .*; heap: " "$err")
        [ "$n" -ge "$1" ] || fail "$how: $n lines of PE $pe: $(head -n 5 "$err")"
    done
}

over()
{
    wait $job
    status=$?
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$how: status $status: $(head -n 5 "$out" "$err")"
}

how='SIGUSR2 to oshrun'
start
for _ in $(seq 18); do
    sleep 0.25
    ps -o pid= --ppid $job | xargs -r kill -USR2 2>>kill.err
done
: >asked
over
answers 10

how='shmem_info --state'
start
for _ in $(seq 18); do
    sleep 0.25
    "$bin/shmem_info" --state "$(cat pid0)" "$(cat pid1)" 2>>info.err ||
        echo failed >>info.err
done
: >asked
over
answers 10
"$bin/shmem_info" --state $$ 2>info.err && fail 'a process that is no PE answers'
grep -q "shmem_info: $$ is no process of yours with a PE that answers" info.err ||
    fail "$(cat info.err)"

how='a handler of the program'
start own
sleep 0.3
ps -o pid= --ppid $job | xargs kill -USR2
over
[ ! -s "$err" ] || fail "$how: $(cat "$err")"
finish 'asking moves nothing'

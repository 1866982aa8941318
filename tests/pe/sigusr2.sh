#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SIGUSR2 to oshrun makes each PE print what it does, be it waiting
# or computing, near or far, and the job goes on; a handler of the program's
# own, and SHMEM_STATE_SIGNAL=0, come first.
# Light: PEs wait until they are asked
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program state <<'C'
static long word;
static volatile sig_atomic_t caught;

static void catch(int sig)
{
    (void)sig;
    caught = 1;
}

/* The shell sends the signal once this file is there. */
static void tell_shell(void)
{
    FILE *f = fopen("ready", "w");

    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    const char *word_of = argv[1];
    int me, until = 0;

    (void)argc;
    if (!strcmp(word_of, "before"))
        signal(SIGUSR2, catch);
    if (!strcmp(word_of, "ignored"))
        signal(SIGUSR2, SIG_IGN);
    shmem_init();
    if (!strcmp(word_of, "after"))
        signal(SIGUSR2, catch);
    me = shmem_my_pe();
    shmem_barrier_all();
    if (me == 2) {              /* computes, once the others sleep */
        usleep(300000);
        tell_shell();
        while (!caught && access("sent", F_OK))
            for (volatile int i = 0; i < 1000000; i++)
                ;
        for (volatile int i = 0; i < 200000000; i++)
            ;
        shmem_long_p(&word, 42, 0);
    } else if (me == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_GE, 42);
    }
    shmem_barrier_all();
    until = !strcmp(word_of, "before") || !strcmp(word_of, "after");
    if (until != caught)
        printf("PE %d: caught %d\n", me, (int)caught);
    shmem_finalize();
    return 0;
}
C

# signalled OPTION... PROGRAM WORD: a job of three gets one SIGUSR2 when all are
# where they wait; leaves $out, $err and $status.
signalled()
{
    rm -f ready sent
    timeout -k 5 60 "$bin/oshrun" -n 3 "$@" >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 100); do
        [ -e ready ] && break
        sleep 0.1
    done
    ps -o pid= --ppid $job | xargs kill -USR2   # the child of timeout
    sleep 0.3
    : >sent
    wait $job
    status=$?
}

# state WORD OPTION...: and ends well.
state()
{
    how=$*
    word=$1
    shift
    signalled "$@" ./state "$word"
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$how: status $status: $(cat "$out" "$err")"
}

# prints N REGEX
prints()
{
    [ "$(grep -cE "^sluice: PE $1 \\([^ ]+\\): $2" "$err")" -eq 1 ] ||
        fail "$how: no '$2' of PE $1: $(cat "$err")"
}

heap='heap: [0-9]+ (bytes|[KMG]iB) of [0-9]+ (bytes|[KMG]iB) in use$'
for options in '' '--ppn 1'; do
    # shellcheck disable=SC2086
    state none $options
    late=$([ "$options" ] || echo ', waiting for PE 0, 2')
    prints 0 "in shmem_long_wait_until for [0-9]+ s, waiting for 0 to be >= 42 at static data\\+0x[0-9a-f]+; $heap"
    prints 1 "in shmem_barrier_all for [0-9]+ s, its collective call 2 with a team of 3 PEs$late; $heap"
    prints 2 "not waiting; last noted call: shmem_barrier_all \\([0-9]+ noted so far\\), [0-9]+ s ago; $heap"
    [ "$(wc -l <"$err")" -eq 3 ] || fail "$how: $(cat "$err")"
    for word in before ${options:-after ignored}; do
        [ "${word#-}" = "$word" ] && [ "$word" != 1 ] || continue
        # shellcheck disable=SC2086
        state $word $options
        [ ! -s "$err" ] || fail "$how: $(cat "$err")"
    done
done

# Of two threads the report names the second to sleep, then the one that still
# waits.
program threads <<'C'
static long first, second;

static void *await(void *word)
{
    shmem_long_wait_until(word, SHMEM_CMP_EQ, word == &first ? 1 : 2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    pthread_create(&a, NULL, await, &first);
    usleep(200000);
    pthread_create(&b, NULL, await, &second);
    usleep(200000);
    kill(getpid(), SIGUSR2);
    shmem_long_p(&second, 2, 0);
    pthread_join(b, NULL);
    usleep(200000);
    kill(getpid(), SIGUSR2);
    shmem_long_p(&first, 1, 0);
    pthread_join(a, NULL);
    kill(getpid(), SIGUSR2);
    shmem_finalize();
    return 0;
}
C
how=threads
try 0 ./threads
[ $status -eq 0 ] && [ "$(wc -l <"$err")" -eq 3 ] ||
    fail "$how: status $status: $(cat "$err")"
prints 0 'in shmem_long_wait_until for [0-9]+ s, waiting for 0 to be == 2 at .*; '
prints 0 'in shmem_long_wait_until for [0-9]+ s, waiting for 0 to be == 1 at .*; '
prints 0 'not waiting; '

# PEs of a node that are in different calls name each other.
program other <<'C'
static long a, b;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &a, &b, 1);
    else
        shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C
how=other
SHMEM_CHECK=0 SHMEM_STALL=1 timeout -k 5 60 "$bin/oshrun" -n 3 ./other >"$out" 2>"$err" \
    </dev/null &
job=$!
# file_has N REGEX: waits until N lines match.
file_has()
{
    for _ in $(seq 300); do
        [ "$(grep -cE "$2" "$err")" -lt "$1" ] || return 0
        sleep 0.1
    done
}
file_has 2 'waits for [0-9]+ s.*in another call'
ps -o pid= --ppid $job | xargs kill -USR2
file_has 3 'its collective call'
ps -o pid= --ppid $job | xargs kill
wait $job
prints 0 'in shmem_barrier_all for [0-9]+ s, its collective call 1 with a team of 3 PEs, waiting for PE 1; PE 1 is in another call: shmem_long_sum_reduce; '
prints 1 'in shmem_long_sum_reduce for [0-9]+ s, its collective call 1 with a team of 3 PEs, waiting for PE 0, 2; PE 0 is in another call: shmem_barrier_all; '

# What a kernel waits for, beside what its PE does.
program kernel <<'C'
#include <shmemx_dev.h>
#include <shmemx_st.h>
static long word;

static void await(const shmemx_item_t *it, void *d)
{
    (void)it;
    shmemx_dev_long_wait_until(d, &word, SHMEM_CMP_GE, 42);
}

/* Does the main thread sleep? */
static int main_sleeps(void)
{
    char path[64], state = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(f);
    return state == 'S';
}

/* Once main sleeps in its wait: a busy machine may let it begin late. */
static void *answer(void *arg)
{
    int asleep = 0;

    (void)arg;
    for (int i = 0; i < 2000 && asleep < 10; i++) {
        usleep(30000);
        asleep = main_sleeps() ? asleep + 1 : 0;
    }
    kill(getpid(), SIGUSR2);
    usleep(300000);             /* another thread handles it */
    shmem_long_p(&word, 42, 0);
    return NULL;
}

int main(void)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    shmemx_dev_t d;
    pthread_t t;
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (shmemx_stream_create(&s) ||
        shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &d))
        return 3;
    shmemx_stream_launch(s, &grid, await, &d);
    usleep(300000);
    kill(getpid(), SIGUSR2);
    pthread_create(&t, NULL, answer, NULL);
    shmemx_stream_sync(s);
    pthread_join(t, NULL);
    kill(getpid(), SIGUSR2);
    shmem_finalize();
    return 0;
}
C
how=kernel
SHMEM_DEVICE=software try 0 ./kernel
[ $status -eq 0 ] && [ "$(wc -l <"$err")" -eq 3 ] ||
    fail "$how: status $status: $(cat "$err")"
waits='for [0-9]+ s, waiting for 0 to be >= 42 at static data\+0x[0-9a-f]+'
prints 0 "in shmemx_dev_wait_until $waits; $heap"
prints 0 "in shmemx_stream_sync for [0-9]+ s, .*; a kernel is in shmemx_dev_wait_until $waits; .*$heap"
prints 0 "not waiting; [^;]*; $heap"

# The least stack for handlers that programs have, with no page beside it.
program small <<'C'
#include <sys/mman.h>
int main(void)
{
    enum { ROOM = 1 << 16, SIZE = 8192 };
    char *p = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t s = { .ss_sp = p + ROOM / 2, .ss_size = SIZE };

    if (p == MAP_FAILED || mprotect(s.ss_sp, SIZE, PROT_READ | PROT_WRITE) ||
        sigaltstack(&s, NULL))
        return 1;
    shmem_init();
    raise(SIGUSR2);
    shmem_finalize();
    return 0;
}
C
# A sanitizer's frames are larger.
sanitized || SHMEM_STALL_FILE=$PWD/small.json try 0 ./small
sanitized || { [ $status -eq 0 ] && grep -q '"kind":"state","text":".*not waiting.*"}$' small.json; } ||
    fail "a stack of 8 KiB: status $status: $(cat "$err")"

# A shell that runs the PE gets no signal that would end it.
signalled sh -c './state none; exit $?'
[ $status -eq 0 ] && [ "$(grep -c '^sluice: PE ' "$err")" -eq 3 ] ||
    fail "shells around PEs: status $status: $(cat "$out" "$err")"

# Off: the signal does what it does without a handler.
SHMEM_STATE_SIGNAL=0
export SHMEM_STATE_SIGNAL
signalled ./state none
[ $status -eq 140 ] || fail "SHMEM_STATE_SIGNAL=0: status $status"
grep -q 'not waiting' "$err" && fail "SHMEM_STATE_SIGNAL=0: $(cat "$err")"
finish 'SIGUSR2: each PE says what it does'

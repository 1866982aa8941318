#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: however a program ends - by return, exit in a handler or in a
# thread, shmem_global_exit - its handlers run when the library is as they
# expect, and the job's exit status is that of the first PE that failed.
set -u
. "$(dirname "$0")/../neg/neg.inc"

program ends <<'C'
static long word_of_handler;
static int me, n_pes, code;

/* Registered after shmem_init: runs before the library ends. */
static void put_at_exit(void)
{
    shmem_long_p(&word_of_handler, 100 + me, (me + 1) % n_pes);
    shmem_barrier_all();
    printf("PE %d got %ld\n", me, word_of_handler);
}

/* Registered before it: the library has ended. */
static void look_at_exit(void)
{
    int up = -1;

    shmem_query_initialized(&up);
    printf("PE %d %s\n", me, up ? "is up" : "is down");
}

static void exit_again(void)
{
    exit(code);
}

static void global_exit_at_exit(void)
{
    if (me == 1)
        shmem_global_exit(code);
    shmem_barrier_all();
}

static void *exit_in_thread(void *unused)
{
    (void)unused;
    exit(code);
}

static void *global_exit_in_thread(void *unused)
{
    (void)unused;
    shmem_global_exit(code);
}

/* More than a pipe takes. */
static void *print_much(void *printed)
{
    char line[4001];

    memset(line, 'x', 4000);
    line[4000] = '\0';
    for (int i = 0; i < 40; i++) {
        puts(line);
        __atomic_store_n((int *)printed, i + 1, __ATOMIC_RELEASE);
    }
    for (;;)
        pause();
}

static void *hold_stdout(void *locked)
{
    flockfile(stdout);
    __atomic_store_n((int *)locked, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static void lock_stdout(void)
{
    static int locked;
    pthread_t t;

    if (!pthread_create(&t, NULL, hold_stdout, &locked))
        while (!__atomic_load_n(&locked, __ATOMIC_ACQUIRE))
            usleep(1000);
}

static void in_thread(void *(*what)(void *))
{
    pthread_t t;

    if (!pthread_create(&t, NULL, what, NULL))
        pthread_join(t, NULL);
}

static void leave_later(int sig)
{
    (void)sig;
    _exit(7);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];

    code = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(word, "handlers") || !strcmp(word, "nested")) {
        atexit(look_at_exit);
    }
    CASE(exit_below) atexit(exit_again);
    CASE(start_pes_again) {
        start_pes(0);
        shmem_finalize();
    }
    CASE(start_pes_status) {
        start_pes(0);
        if (shmem_my_pe() == 1)
            return code;
        usleep(300000);
        printf("PE %d has worked\n", shmem_my_pe());
        return 0;
    }
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    if (!strcmp(word, "handlers")) {
        atexit(put_at_exit);
        return code;
    }
    CASE(start_pes_again) return 0;
    CASE(exit_above) {
        atexit(exit_again);
        return 0;
    }
    CASE(exit_below) {
        shmem_finalize();
        return 0;
    }
    CASE(global_above) {
        atexit(global_exit_at_exit);
        return 0;
    }
    CASE(nested) {
        shmem_init();
        shmem_init();
        shmem_finalize();
        return 0;
    }
    CASE(thread) in_thread(exit_in_thread);
    CASE(global_thread) {
        if (me == n_pes - 1)
            in_thread(global_exit_in_thread);
        pause();
    }
    CASE(global_slow) {
        static int printed;
        pthread_t t;

        if (pthread_create(&t, NULL, print_much, &printed))
            return 98;
        while (__atomic_load_n(&printed, __ATOMIC_ACQUIRE) < 10)
            usleep(1000);
        usleep(100000);         /* the pipe is full */
        shmem_global_exit(code);
    }
    /* Another thread waits with the lock of standard output. */
    CASE(global_locked) {
        if (me == 1) {
            lock_stdout();
            shmem_global_exit(code);
        }
        for (;;)
            pause();
    }
    CASE(two_global) {
        if (me < 2)
            shmem_global_exit(code + me);
        for (;;)
            shmem_barrier_all();
    }
    CASE(first_failure) {
        signal(SIGTERM, leave_later);
        shmem_barrier_all();
        if (me == 2)
            _exit(5);
        for (;;)
            pause();
    }
    CASE(after_finalize) {
        shmem_finalize();
        return me == 1 ? code : 0;
    }
    CASE(quick) {
        shmem_finalize();
        _exit(0);
    }
    return 99;
}
C

# ends STATUS N WORD...: on N PEs.
ends()
{
    want=$1
    n=$2
    shift 2
    try "$n" ./ends "$@"
    [ $status -eq "$want" ] ||
        fail "$*, $n PEs: status $status, not $want: $(cat "$out" "$err")"
    in_time $ms 2000 || fail "$*, $n PEs: took $ms ms"
}

# prints REGEX: the last try's one line on standard error; without: none.
prints()
{
    if [ $# -eq 0 ]; then
        [ ! -s "$err" ] || fail "not silent: $(cat "$err")"
    else
        said "$*" "$1"
    fi
}

finalized='sluice: PE 0 \([^ ]+\): exit without shmem_finalize: it is done now, and waits for the other PEs to finalize too \[S-W-EXIT\]'
others=' \(and 2 other PEs: 1-2\)'

ends 0 3 handlers
prints "$finalized$others"
sort "$out" >sorted
printf 'PE %s\n' '0 got 102' '0 is down' '1 got 100' '1 is down' '2 got 101' \
    '2 is down' | cmp -s - sorted || fail "handlers: $(cat sorted)"
ends 0 0 handlers && prints "$finalized"
[ "$(paste -sd, "$out")" = 'PE 0 got 100,PE 0 is down' ] ||
    fail "handlers, alone: $(cat "$out")"
ends 4 0 handlers 4
[ "$(cat "$out")" = 'PE 0 got 100' ] || fail "handlers 4: $(cat "$out")"

# The status of the innermost exit counts.
ends 6 3 exit_above 6
prints 'sluice: PE [0-2] .*: exit with status 6 without shmem_finalize; the job ends \[S-E-EXIT\]( \(and .*\))?'
ends 0 3 exit_above 0 && prints "$finalized$others"
ends 6 3 exit_below 6
prints 'oshrun: PE [0-2] .* exited with status 6(, like 2 other PEs: [0-2][-,][0-2]|; ending the other .*|, like 1 other PE: .*) \[S-E-PEEXIT\]'
ends 6 0 exit_below 6 && prints
ends 0 3 exit_below 0 && prints

# Finalizes were missing, or a later init wants its own again.
ends 0 3 nested && prints "$finalized$others"
[ "$(grep -c '^PE [012] is down$' "$out")" -eq 3 ] || fail "nested: $(cat "$out")"
ends 0 3 start_pes_again && prints "$finalized$others"
# It owes no finalize: the status is the launcher's to report.
ends 13 3 start_pes_status 13
[ "$(sort "$out" | paste -sd,)" = 'PE 0 has worked,PE 2 has worked' ] ||
    fail "start_pes, status 13: $(cat "$out" "$err")"
grep -q 'S-E-EXIT' "$err" && fail "start_pes, status 13: $(cat "$err")"

ends 0 3 thread 0 && prints "$finalized$others"
ends 8 3 thread 8
prints 'sluice: PE [0-2] .*: exit with status 8 without .* \[S-E-EXIT\]( \(and .*\))?'
ends 9 3 global_thread 9 && prints
ends 10 3 global_above 10
ends 14 3 global_locked 14 && prints
# A reader that begins late gets what was printed before the call's end.
bytes=$(./ends global_slow 0 2>"$err" | { sleep 2; wc -c; })
[ "$bytes" -eq 160040 ] || fail "a slow reader got $bytes bytes: $(cat "$err")"
for round in 1 2 3; do
    try 4 ./ends two_global 11
    [ $status -eq 11 ] || [ $status -eq 12 ] ||
        fail "two statuses, round $round: $status is neither: $(cat "$err")"
    prints
done

# Who is ended for it, and what that one says then, does not count.
ends 5 4 first_failure
prints 'oshrun: PE 2 .* exited with status 5; ending the other 3 PEs \[S-E-PEEXIT\]'

ends 13 3 after_finalize 13
prints 'oshrun: PE 1 .* exited with status 13(; ending the other (PE|2 PEs))? \[S-E-PEEXIT\]'
ends 0 3 after_finalize 0 && prints
ends 0 3 quick && prints
finish 'ends of programs'

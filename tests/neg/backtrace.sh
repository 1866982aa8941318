#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: with SHMEM_BACKTRACE a crash or an error prints where its thread
# was, in order behind the error, for C and C++, on any thread and stack; signal
# and exit status stay what they are, and so does a handler of the program.
# With SHMEM_TRAP an error stops in a debugger.
# Timeout: 90
set -u
. "$(dirname "$0")/neg.inc"
sanitized && skip 'a sanitizer handles these signals'
# shellcheck disable=SC3045  # every shell here has it
ulimit -c 0

program bad <<'C'
static long word;
static volatile int *volatile nowhere = (int *)16;

__attribute__((noinline)) static void store(void)
{
    *nowhere = 1;
}

/* The allocator finds it with its lock held; the name is C++'s. */
__attribute__((noinline)) static void corrupt(void) __asm__("_Z7corruptv");
__attribute__((noinline)) static void corrupt(void)
{
    char *volatile p = NULL;

    for (int i = 0; i < 100; i++) {
        p = malloc((size_t)(120000 - 1000 * (i % 7)));
        memset(p + 113000, 255, 8000);
    }
    __asm__ volatile("");
}

static void (*volatile no_function)(void);
__attribute__((noinline)) static void call_null(void)
{
    no_function();
    __asm__ volatile("");
}

__attribute__((noinline)) static int recurse(int n)
{
    volatile char room[4096];

    room[n % 4096] = (char)n;
    return recurse(n + 1) + room[0];
}

__attribute__((noinline)) static void put(void)
{
    shmem_long_p(&word, 1, 77);
    __asm__ volatile("");
}

static void *thread(void *arg)
{
    store();
    return arg;
}

static void own(int sig)
{
    (void)sig;
    _exit(9);
}

int main(int argc, char **argv)
{
    const char *word = argv[argc - 1];
    pthread_t t;

    if (!strcmp(word, "own"))
        signal(SIGSEGV, own);
    shmem_init();
    if (!strcmp(word, "all")) { /* PE 3 from another place of main */
        if (shmem_my_pe() == 3)
            put();
        put();
    }
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        if (!strcmp(word, "crash") || !strcmp(word, "own"))
            store();
        CASE(stack) return recurse(1);
        CASE(corrupt) corrupt();
        CASE(null) call_null();
        CASE(abort) abort();
        CASE(sent) raise(SIGFPE);
        CASE(thread) {
            pthread_create(&t, NULL, thread, NULL);
            pthread_join(t, NULL);
        }
        CASE(error) put();
    }
    shmem_barrier_all();
    shmem_finalize();
    if (!strcmp(word, "after"))
        store();
    return 0;
}
C

# frame N FUNCTION: the PE's backtrace of the last try has it there.
frame()
{
    grep -qE "^sluice: PE $pe \\([^ ]+\\): #$1 $2 \\([^ ]+\\+0x[0-9a-f]+\\)\$" \
        "$err" || fail "$name: no frame $1 $2: $(head -n 20 "$err")"
}

# crashes NAME STATUS TEXT [ENV]: alone and as PE 1 of 2.
crashes()
{
    name=$1 expected=$2 text=$3
    for n in 0 2; do
        pe=$((n ? 1 : 0))
        SHMEM_BACKTRACE=1 try $n ./bad "$name"
        ended "$expected" "$name on $n"
        [ -z "$text" ] || head -n 1 "$err" | grep -qE \
            "^sluice: PE $pe \\([^ ]+\\): $text, in thread [0-9]+, backtrace:\$" ||
            fail "$name: not '$text' but $(head -n 2 "$err")"
    done
}
crashes crash 139 'signal 11 \(SIGSEGV\), at address 0x10'
frame 0 store
frame 1 main
crashes stack 139 'signal 11 \(SIGSEGV\), at address 0x[0-9a-f]+'
frame 0 recurse
crashes null 139 'signal 11 \(SIGSEGV\), at address 0x0'
frame 1 call_null
for n in 0 2; do
    pe=$((n ? 1 : 0)) name=corrupt
    SHMEM_BACKTRACE=1 try $n ./bad corrupt
    ended 134 "corrupt on $n"
    frame '[0-9]+' _Z7corruptv
done
crashes thread 139 'signal 11 \(SIGSEGV\), at address 0x10'
frame 0 store
frame 1 thread
crashes abort 134 'signal 6 \(SIGABRT\), sent by process [0-9]+'
frame '[0-9]' main
crashes sent 136 'signal 8 \(SIGFPE\), sent by process [0-9]+'
frame '[0-9]' main
crashes error 1 ''
frame 0 put
frame 1 main
head -n 1 "$err" | grep -q 'PE 77 is outside 0..1 \[S-E-PE\]' ||
    fail "error: not first: $(head -n 3 "$err")"
# The frames that PEs have in common are printed once.
SHMEM_BACKTRACE=1 try 4 ./bad all
ended 1 'an error of all PEs'
grep -qE '^sluice: PE 0 .*: #1 main \(bad\+0x[0-9a-f]+\) \(and 2 other PEs: 1-2\)$' "$err" &&
    grep -qE '^sluice: PE 3 .*: #1 main \(bad\+0x[0-9a-f]+\)$' "$err" ||
    fail "an error of all PEs: $(cat "$err")"
SHMEM_BACKTRACE=1 try 2 ./bad own
ended 9 'handler of the program'
grep -q '#0' "$err" && fail "handler of the program: $(cat "$err")"
for word in crash error; do
    try 2 ./bad $word
    grep -q '#0' "$err" && fail "without the variable: $(cat "$err")"
done
SHMEM_BACKTRACE=1 try 0 ./bad after
ended 139 'after shmem_finalize'
! grep -q '#0' "$err" || fail "after shmem_finalize: $(cat "$err")"

SHMEM_TRAP=1 try 2 ./bad error
ended 133 'trap'
grep -q '\[S-E-PE\]' "$err" || fail "trap: $(cat "$err")"

# Names of C++.
cat >deep.cc <<'C'
#include <shmem.h>
namespace deep {
struct Solver {
    __attribute__((noinline)) void step(int pe)
    {
        static long word;

        shmem_long_p(&word, 1, pe);
        asm volatile("");
    }
};
}
int main()
{
    shmem_init();
    deep::Solver().step(5);
    return 0;
}
C
"$bin/oshc++" -O1 deep.cc -o deep || exit 1
pe=0 name='C++'
SHMEM_BACKTRACE=1 try 0 ./deep
frame '[0-9]' 'deep::Solver::step\(int\)'
finish 'crashes and errors print where they were'

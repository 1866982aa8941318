/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the backtrace of a thread that a signal or an error ends.  rt calls it
 * at errors; its handler runs in any thread.  The handler looks up names in
 * files, which is more than a handler may do: an alarm ends the process if it
 * comes to wait for what the crash has interrupted. */
#include "base/crash.h"
#include "base/atomics.h"
#include "base/env.h"
#include "base/line.h"
#include "base/log.h"
#include "base/symbol.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static const char *const names[] = {
    "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"
};
enum { SIGNALS = sizeof signals / sizeof *signals, FRAMES = 64,
       SECONDS_MOST = 10, STACK = 65536 };

static void *stack;             /* for a stack that has overflowed */

static void print_frames(const void *const *at, int n)
{
    bool may_allocate = true;
    char text[512];
    struct line l;

    for (int i = 0; i < n; i++)
        may_allocate = may_allocate && !symbol_is_allocator(at[i]);
    for (int i = 0; i < n; i++) {
        symbol_describe(at[i], text, sizeof text, may_allocate);
        log_begin(&l);
        line_addf(&l, "#%d %s", i, text);
        line_write(&l, STDERR_FILENO);
    }
}

/* Where the signal interrupted the thread, or NULL. */
static const void *interrupted(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return (const void *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)(uintptr_t)u->uc_mcontext.pc;
#elif defined(__riscv)
    return (const void *)(uintptr_t)u->uc_mcontext.__gregs[REG_PC];
#else
    (void)u;
    return NULL;
#endif
}

static const char *cause_of(const siginfo_t *info)
{
    return info->si_code <= 0 ? "sent by process"
           : info->si_signo == SIGSEGV && info->si_code == SEGV_ACCERR
             ? "no access to address"
           : info->si_signo == SIGFPE ? "at" : "at address";
}

static void print_signal(const siginfo_t *info)
{
    struct line l;
    int i = 0;

    while (i < SIGNALS - 1 && signals[i] != info->si_signo)
        i++;
    log_begin(&l);
    line_addf(&l, "signal %d (%s), %s", info->si_signo, names[i],
              cause_of(info));
    if (info->si_code <= 0)
        line_addf(&l, " %d", (int)info->si_pid);
    else
        line_addf(&l, " %p", info->si_addr);
    line_addf(&l, ", in thread %d, backtrace:",
              (int)syscall(SYS_gettid));
    line_write(&l, STDERR_FILENO);
}

/* Who called the function at pc, which is none: the return address, or NULL. */
static const void *return_address(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return *(void **)(uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (const void *)(uintptr_t)u->uc_mcontext.regs[30];
#elif defined(__riscv)
    return (const void *)(uintptr_t)u->uc_mcontext.__gregs[REG_RA];
#else
    (void)u;
    return NULL;
#endif
}

/* Without the frames of the handler.  The interrupted instruction is no return
 * address: one byte further on stands for it.  A call through a null pointer
 * cannot be unwound. */
static void print_from(const void *context)
{
    const void *at[FRAMES], *pc = interrupted(context);
    int n, first = 0;

    at[0] = pc;
    at[1] = pc ? NULL : return_address(context);
    if (at[1]) {
        print_frames(at, 2);
        return;
    }
    n = symbol_frames((void **)at, FRAMES);
    while (first < n && at[first] != pc)
        first++;
    if (first == n)
        first = 0;
    else
        at[first] = (const char *)pc + 1;
    print_frames(at + first, n - first);
}

static void unblock(int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int crash_signal;        /* of the thread that prints */

/* The backtrace waits for what the crash has interrupted. */
static void give_up(int alarm)
{
    (void)alarm;
    signal(crash_signal, SIG_DFL);
    unblock(crash_signal);
    raise(crash_signal);
}

static void start_alarm(int sig)
{
    crash_signal = sig;
    signal(SIGALRM, give_up);
    unblock(SIGALRM);
    alarm(SECONDS_MOST);
}

static void crashed(int sig, siginfo_t *info, void *context)
{
    static int first;           /* atomic: the thread that prints */
    int self = (int)syscall(SYS_gettid), none = 0;

    if (!__atomic_compare_exchange_n(&first, &none, self, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        none != self)
        for (;;)                /* that one ends the process */
            pause();
    if (!none) {                /* else the backtrace crashes */
        start_alarm(sig);
        print_signal(info);
        print_from(context);
    }
    alarm(0);
    signal(sig, SIG_DFL);
    if (info->si_code <= 0)     /* the instruction would not repeat it */
        raise(sig);
}

/* Is the disposition this one, by default or ours? */
static bool is_at(int sig, bool ours)
{
    struct sigaction now;

    if (sigaction(sig, NULL, &now))
        return false;
    return ours ? now.sa_flags & SA_SIGINFO && now.sa_sigaction == crashed
                : !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}

static void use_own_stack(void)
{
    stack_t is, own = { .ss_size = STACK };

    if (stack || sigaltstack(NULL, &is) || !(is.ss_flags & SS_DISABLE))
        return;
    own.ss_sp = stack = malloc(STACK);
    if (stack)
        sigaltstack(&own, NULL);
}

void crash_open(void)
{
    struct sigaction act = { .sa_sigaction = crashed,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK };

    if (!env.BACKTRACE)
        return;
    log_host();
    symbol_prepare();
    use_own_stack();
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        if (is_at(signals[i], false))
            sigaction(signals[i], &act, NULL);
}

/* The stack stays: a thread may have it. */
void crash_close(void)
{
    for (int i = 0; i < SIGNALS; i++)
        if (is_at(signals[i], true))
            signal(signals[i], SIG_DFL);
}

/* From the program's first frame on: the error's line has the call. */
static void print_program(void)
{
    struct symbol_range own;
    void *at[FRAMES];
    int n = symbol_frames(at, FRAMES), first = 0;

    symbol_own_range(&own);
    while (first < n &&
           (uintptr_t)at[first] - own.from < own.to - own.from)
        first++;
    if (first == n)             /* linked with the archive: all is one */
        first = 0;
    print_frames((const void *const *)at + first, n - first);
}

void crash_on_error(void)
{
    if (env.BACKTRACE)
        print_program();
    if (env.TRAP)
        raise(SIGTRAP);
}

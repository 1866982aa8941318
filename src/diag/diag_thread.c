/* SPDX-License-Identifier: BSD-3-Clause */
/* The diag thread: sleeps in sigtimedwait() until another process asks for a
 * hang report or the status page, or a check of the watchdog is due.
 * diag_source.c starts it when the library is open, or the watchdog with the
 * first object it has to watch.  It runs no code of the program. */
#include "diag/diag_int.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/report_request.h"
#include "base/thread.h"

#include <time.h>

#define SECOND_NS 1000000000u

static struct base_lock start_lock = LOCK_INIT;
static bool runs GUARDED_BY(start_lock), answers GUARDED_BY(start_lock);
static pthread_t thread;
static bool ends;               /* atomic */

/* True: another process asks for a report. */
static bool sleep_until(uint64_t when_ns)
{
    uint64_t now = clock_ns(), ns = when_ns > now ? when_ns - now : 0;
    struct timespec t = { (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
    siginfo_t info;
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, REPORT_SIGNAL);
    sig = when_ns == UINT64_MAX ? sigwaitinfo(&set, &info)
                                : sigtimedwait(&set, &info, &t);
    /* diag_thread_wake() and shmem_top queue the signal; a request sends it. */
    return sig == REPORT_SIGNAL && info.si_code != SI_QUEUE;
}

static void *run(void *unused)
{
    uint64_t next = diag_watchdog_run(), counts;

    for (;;) {
        bool requested = sleep_until(next);

        if (requested)
            diag_report_answer();
        diag_status_answer();
        /* acquire: pairs with diag_thread_stop(). */
        if (__atomic_load_n(&ends, __ATOMIC_ACQUIRE))
            break;
        next = diag_watchdog_run();
        counts = diag_status_run();
        next = counts < next ? counts : next;
    }
    diag_status_stop();
    return unused;
}

static int wake(void) REQUIRES(start_lock)
{
    return pthread_sigqueue(thread, REPORT_SIGNAL,
                            (union sigval){ .sival_int = 0 });
}

int diag_thread_start(bool answer)
{
    int rc = 0;

    lock_acquire(&start_lock);
    if (runs) {
        wake();
    } else {
        __atomic_store_n(&ends, false, __ATOMIC_RELAXED);
        rc = thread_start(&thread, run, NULL);
        runs = !rc;
        if (runs)
            pthread_setname_np(thread, WATCHDOG_THREAD);
    }
    if (runs && answer && !answers) {
        answers = true;
        pthread_setname_np(thread, REPORT_THREAD);
    }
    lock_release(&start_lock);
    return rc;
}

void diag_thread_wake(void)
{
    lock_acquire(&start_lock);
    if (runs)
        wake();
    lock_release(&start_lock);
}

/* The join comes without the lock: a check may want to wake the thread. */
void diag_thread_stop(void)
{
    pthread_t old = { 0 };
    bool was;

    lock_acquire(&start_lock);
    was = runs;
    runs = answers = false;
    if (was) {
        old = thread;
        /* release: pairs with run(). */
        __atomic_store_n(&ends, true, __ATOMIC_RELEASE);
        if (wake())             /* the queue of signals is full */
            pthread_kill(thread, REPORT_SIGNAL);
    }
    lock_release(&start_lock);
    if (was)
        pthread_join(old, NULL);
}

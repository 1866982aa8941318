/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread of streams: it steps the operations that streams have
 * triggered and that the device and the NIC cannot do by themselves.
 *
 * The thread starts with the first ring.  Streams of the software device wake
 * it, so it sleeps until one does; a GPU's stream only raises a trigger
 * counter, which the thread polls, seldom when that takes long, unless
 * SHMEM_ST_SPIN asks for more.  Before it sleeps it backs off in steps, for the
 * next operation often follows soon.  Files of any part of the layer wake it;
 * it calls upwards only through the function that stream_open.c gives it. */
#include "stream/stream_int.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/thread.h"
#include "stream/stream_watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS ((uint64_t)2000)
#define YIELD_NS ((uint64_t)100000)
#define NAP_LEAST_NS ((uint64_t)20000)
#define NAP_MOST_NS ((uint64_t)1000000)
enum { PAUSES = 16 };

static struct base_lock lock = LOCK_INIT;
static bool runs GUARDED_BY(lock);
static pthread_t thread;
static bool stop;               /* atomic */
static uint32_t bell;           /* futex */
static bool sleeps;             /* atomic: has to be woken */
static unsigned long naps;      /* the thread's, until it has ended */
static stream_progress_poll *poll_all;

void stream_progress_wake(void)
{
    __atomic_fetch_add(&bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&sleeps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ns 0: until it rings. */
static void doze(uint32_t heard, uint64_t ns)
{
    struct timespec t = { 0, (long)ns };

    naps++;
    __atomic_store_n(&sleeps, true, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell, __ATOMIC_SEQ_CST) == heard)
        syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, heard, ns ? &t : NULL,
                NULL, 0);
    __atomic_store_n(&sleeps, false, __ATOMIC_RELAXED);
}

static void pass_time(uint32_t heard, uint64_t waited, bool timed)
{
    uint64_t ns = waited / 8;

    if ((waited < SPIN_NS && !core_status.oversubscribed) ||
        (unlikely(env.ST_SPIN) && timed)) {
        for (int i = 0; i < PAUSES; i++)
            atomics_pause();
    } else if (waited < YIELD_NS) {
        sched_yield();
    } else {
        ns = ns < NAP_LEAST_NS ? NAP_LEAST_NS
             : ns > NAP_MOST_NS ? NAP_MOST_NS : ns;
        doze(heard, timed ? ns : 0);
    }
}

static void *run(void *arg)
{
    uint64_t since = clock_ns();
    bool armed, busy, any;
    uint32_t heard;

    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    for (;;) {
        /* Before the look at stop: whoever sets it rings after that. */
        heard = __atomic_load_n(&bell, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
            break;
        if (fault_hit(FAULT_STREAM_AGENT)) {
            doze(heard, NAP_MOST_NS);
            continue;
        }
        armed = busy = false;
        any = poll_all(&armed, &busy);
        if (busy && xport_net)
            any |= xport_progress->poll();
        if (any)
            since = clock_ns();
        else
            pass_time(heard, clock_ns() - since,
                      busy || (armed && !gtl_device.host_streams));
    }
    return arg;
}

static void wake(void *arg)
{
    (void)arg;
    stream_progress_wake();
}

int stream_enqueue_wakeup(void *stream)
{
    if (gtl_device.host_streams)
        return gtl->host_call(wake, NULL, stream);
    stream_progress_wake();     /* it polls the counter from now on */
    return 0;
}

void stream_progress_open(stream_progress_poll *poll)
{
    poll_all = poll;
}

int stream_progress_start(void)
{
    int rc = 0;

    lock_acquire(&lock);
    if (!runs) {
        stop = false;
        rc = thread_start(&thread, run, NULL);
        runs = !rc;
    }
    lock_release(&lock);
    stream_watch_start();
    return rc;
}

void stream_progress_stop(void)
{
    bool was;

    lock_acquire(&lock);
    was = runs;
    runs = false;
    lock_release(&lock);
    if (!was)
        return;
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    stream_progress_wake();
    pthread_join(thread, NULL);
    if (env.STATS)
        log_print("progress thread of streams: %lu naps", naps);
    naps = 0;
}

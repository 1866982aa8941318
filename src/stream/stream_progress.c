/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams' poller on the progress thread: it steps the operations that
 * streams have triggered and that the device and the NIC cannot do by
 * themselves.
 *
 * The poller is registered with the first ring.  Streams of the software
 * device wake it, so it sleeps until one does; a GPU's stream only raises a
 * trigger counter, which the poller examines, seldom when that takes long,
 * unless SHMEM_ST_SPIN asks for more.  Before it allows to sleep it backs off
 * in steps, for the next operation often follows soon.  Files of any part of
 * the layer wake it; it calls upwards only through the function that
 * stream_open.c gives it.
 *
 * A turn copies half a MiB at most and waits for no peer and no room (see
 * ring/stream_ring_progress.c), so that the network's poller has its turn in
 * time. */
#include "stream/stream_int.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/lock.h"
#include "progress/progress.h"

#define SLEEP_MAX_NS ((uint64_t)1000000)

static uint64_t stream_turn(struct progress_poller *p,
                            const struct progress_turn *t);

static struct base_lock lock = LOCK_INIT;
static bool runs GUARDED_BY(lock);
static struct progress_poller poller = { .turn = stream_turn };
static stream_progress_poll *poll_all;
/* The progress thread's. */
static uint64_t advanced_ns;    /* when an operation last advanced */
static unsigned long sleeps;      /* sleeps that the poller asked for */

void stream_progress_wake(void)
{
    progress_wake(&poller);
}

/* timed: nothing wakes the poller. */
static uint64_t back_off(bool timed)
{
    uint64_t ns = progress_back_off(clock_ns() - advanced_ns,
                                    core_status.oversubscribed,
                                    unlikely(env.ST_SPIN) && timed);

    sleeps += ns != PROGRESS_AGAIN;
    return timed || ns == PROGRESS_AGAIN ? ns : PROGRESS_WHEN_WOKEN;
}

static uint64_t stream_turn(struct progress_poller *p,
                            const struct progress_turn *t)
{
    bool posted = false, busy = false, any;

    (void)p;
    (void)t;
    if (fault_hit(FAULT_STREAM_PROGRESS)) {
        sleeps++;
        return SLEEP_MAX_NS;
    }
    any = poll_all(&posted, &busy);
    if (busy && xport_net)
        any |= xport_progress->poll();
    if (!any)
        return back_off(busy || (posted && !gtl_device.host_streams));
    advanced_ns = clock_ns();
    return PROGRESS_AGAIN;
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
        advanced_ns = clock_ns();
        sleeps = 0;
        rc = progress_register(&poller);
        runs = !rc;
    }
    lock_release(&lock);
    return rc;
}

void stream_progress_stop(void)
{
    bool was;

    lock_acquire(&lock);
    was = runs;
    lock_release(&lock);
    if (!was)
        return;
    /* Without the lock: a turn may call stream_progress_start(). */
    progress_unregister(&poller);
    lock_acquire(&lock);
    runs = false;
    lock_release(&lock);
    if (env.STATS.on)
        log_print("streams on the progress thread: %lu sleeps", sleeps);
}

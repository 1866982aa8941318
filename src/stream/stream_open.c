/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the layer: called by the API, with the first stream and by
 * shmem_finalize.  Requests left in queues then are reported here. */
#include "stream/ring/stream_ring.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "stream/queue/stream_queue.h"
#include "stream/graph/stream_graph.h"
#include "stream/graph/stream_graph_post.h"
#include "stream/stream_upper.h"
#include "stream/stream_wait_log.h"

bool stream_is_open;
const struct stream_upper_ops *stream_upper;

static bool poll_all(bool *posted, bool *busy)
{
    bool any = stream_graphs_advance(busy);

    return stream_rings_progress(posted, busy) || any;
}

int stream_open(void)
{
    static struct base_lock opening = LOCK_INIT;
    int rc = 0;

    lock_acquire(&opening);
    if (!stream_is_open) {
        stream_address_open();
        rc = stream_upper->open();
        if (rc)
            stream_address_close();
    }
    if (!rc && !stream_is_open) {
        stream_progress_open(poll_all);
        stream_counters_open();
        xport_trig->ready();
        stream_wait_open();
        stream_watchdog_open();
        /* release: a thread that sees it sees the rest. */
        __atomic_store_n(&stream_is_open, true, __ATOMIC_RELEASE);
    }
    lock_release(&opening);
    return rc;
}

/* The present work of the device's threads has to end while its memory exists.
 * A kernel may never end.  Returns the number of operations that they drop. */
static uint64_t await_halt(void)
{
    struct core_waiter w = {
        .addr = (const void *)heap_segs[HEAP_HOST].base, .bytes = 1,
        .info.what = CORE_FOR_STREAM, .info.call = "shmem_finalize"
    };
    uint64_t start = clock_ns(), most = (uint64_t)env.TIMEOUT * 1000000000u;
    uint64_t ops;

    while (!gtl->streams_stopped(&ops)) {
        core_wait_step(&w);
        if (most && clock_ns() - start > most)
            core_fatal(ERR_STALL, "shmem_finalize", "a kernel, copy or call on "
                       "a stream has not ended for %ld s (SHMEM_TIMEOUT)",
                       env.TIMEOUT);
    }
    core_wait_end(&w);
    return ops;
}

/* The progress thread still does operations that streams have reached. */
static void await_transfers(void)
{
    struct core_waiter w = {
        .addr = (const void *)heap_segs[HEAP_HOST].base, .bytes = 1,
        .info.what = CORE_FOR_STREAM, .info.call = "shmem_finalize"
    };
    uint64_t start = clock_ns(), most = (uint64_t)env.TIMEOUT * 1000000000u;

    while (stream_rings_transfer_due() && (!most || clock_ns() - start < most))
        core_wait_step(&w);
    core_wait_end(&w);
}

static void close_streams(void)
{
    struct stream_unfinished left = { .n = 0 }, staged;

    __atomic_store_n(&stream_is_open, false, __ATOMIC_RELEASE);
    stream_posts_close();       /* launches repeat nothing any more */
    stream_watchdog_close();
    gtl->stop_streams();
    stream_wait_close();
    left.n = await_halt();
    stream_wait_free_pending();
    await_transfers();
    stream_progress_stop();
    stream_rings_close(&left);
    staged = stream_queues_release_all();
    stream_counters_close(stream_graphs_close());
    stream_epochs_close();
    stream_unfinished_report(&left,
                             "operation was enqueued that its stream has not "
                             "reached",
                             "operations were enqueued that their streams "
                             "have not reached",
                             "; synchronize streams before, and of "
                             "messages start both ends");
    stream_unfinished_report(&staged,
                             "operation was put into a queue that no start "
                             "followed",
                             "operations were put into queues that no "
                             "start followed",
                             "");
    stream_upper->close(true);
    stream_address_close();
}

void stream_close(void)
{
    if (stream_is_open)
        close_streams();
    else
        stream_upper->close(false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_stream_*(): streams for programs that run on any device, and what a
 * program may ask about the device.  Called by programs; each call goes to the
 * device's driver.  Nothing here knows operations of other PEs. */
#include "api/api_stream.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "gtl/gtl.h"
#include "trig/trig.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int api_stream_open(void)
{
    bool known = api_device_known();    /* another thread may be opening it */

    return known || gtl != &gtl_none ? stream_open() : -ENODEV;
}

void api_stream_report_missing(const char *call)
{
    static bool reported;

    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        log_warn(ERR_DEVICE, "%s: this PE has no device, so no streams: %s",
                 symbol_public(call), env.DEVICE == ENV_DEVICE_NONE
                 ? "SHMEM_DEVICE=none switches it off" : gtl_error());
}

static int null(const char *call, const char *what)
{
    return core_misuse(ERR_NULL, call, "%s is a null pointer", what);
}

/* Reports what the driver has refused and returns rc; -EAGAIN is an answer. */
static int check_rc(const char *call, shmemx_stream_t stream, int rc)
{
    if (unlikely(rc && rc != -EAGAIN))
        core_misuse(ERR_STREAM, call, "stream %p: %s", (void *)stream,
                    gtl_error());
    return rc;
}

static shmemx_engines_t on_node_engines(enum heap_seg_id seg)
{
    shmemx_engines_t e = { "", "" };
    bool copies, atomics;

    if (stream_on_node(seg, &copies, &atomics)) {
        strcpy(e.put, copies ? "copy" : "soft");
        strcpy(e.atomic, atomics ? "copy" : "soft");
    }
    return e;
}

static shmemx_engines_t off_node_engines(void)
{
    shmemx_engines_t e = { "", "" };
    bool copies, atomics;

    if (stream_off_node(&copies, &atomics)) {
        strcpy(e.put, copies ? "nic" : "soft");
        strcpy(e.atomic, atomics ? "nic" : "soft");
    }
    return e;
}

static void print_on_node(const char *where, shmemx_engines_t e)
{
    const bool puts = !strcmp(e.put, "copy"), amos = !strcmp(e.atomic, "copy");

    if (*e.put)
        printf("streams, %s: puts %s, atomics %s (%s)\n", where, e.put,
               e.atomic, puts && amos ? "the device by itself"
               : puts ? "a thread does the atomics, which the device's own "
                        "would not exclude"
               : "a thread: the device does not reach them");
}

static void print_off_node(shmemx_engines_t e,
                           const char *(*why)(char *, size_t))
{
    char text[128];

    if (*e.put)
        printf("streams, other nodes: puts %s, atomics %s (%s)\n", e.put,
               e.atomic, why(text, sizeof text));
}

void api_stream_print(const char *(*describe_off_node)(char *out, size_t size))
{
    if (api_stream_open()) {
        printf("streams: none (%s)\n", env.DEVICE == ENV_DEVICE_NONE
               ? "SHMEM_DEVICE=none" : "no device");
        return;
    }
    print_on_node("host heaps of this node", on_node_engines(HEAP_HOST));
    print_on_node("device heaps of this node", on_node_engines(HEAP_DEVICE));
    print_off_node(off_node_engines(), describe_off_node);
}

int pshmemx_device_info(shmemx_device_info_t *info)
{
    const struct gtl_device *d = &gtl_device;
    int rc = api_stream_ready(__func__);

    if (rc)
        return rc;
    if (!info)
        return null(__func__, "info");
    *info = (shmemx_device_info_t){
        .ordinal = d->ordinal, .count = d->count,
        .driver_version = d->driver_version, .hw_queues = d->hw_queues,
        .memory = d->memory, .direct = d->host_access, .memops = d->memops,
        .flush = !d->ordered, .near_host = on_node_engines(HEAP_HOST),
        .near_device = on_node_engines(HEAP_DEVICE),
        .resident = (int)gtl_certain_groups(), .sharing = d->pes
    };
    info->far = off_node_engines();
    /* A public value: the software device's has always been "host". */
    snprintf(info->driver, sizeof info->driver, "%s",
             gtl_device.host_streams ? "host" : gtl->name);
    _Static_assert(sizeof info->name == sizeof d->name &&
                   sizeof info->id == sizeof d->id &&
                   sizeof info->pci == sizeof d->pci, "copied whole");
    memcpy(info->name, d->name, sizeof info->name);
    memcpy(info->id, d->id, sizeof info->id);
    memcpy(info->pci, d->pci, sizeof info->pci);
    return 0;
}
API_ALIAS(shmemx_device_info)

int pshmemx_stream_create(shmemx_stream_t *stream)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_ready(__func__);

    if (rc)
        return rc;
    if (!stream)
        return null(__func__, "stream");
    rc = gtl->stream_create(GTL_NORMAL, stream);
    if (rc)
        core_misuse(ERR_STREAM, __func__, "%s", gtl_error());
    return rc;
}
API_ALIAS(shmemx_stream_create)

/* The progress thread completes what the stream has passed. */
static bool drained(shmemx_stream_t stream)
{
    struct timespec delay = { 0, 20000 };

    while (stream_pending(stream)) {
        if (gtl->stream_query(stream))
            return false;
        nanosleep(&delay, NULL);
    }
    return !stream_graphs_hold(stream) || !gtl->stream_query(stream);
}

/* Ends the stream's recording.  -EBUSY: another thread or stream began it. */
static int lose(const char *call, shmemx_stream_t stream)
{
    int rc = api_graph_lose(stream);

    if (rc)
        return check_rc(call, stream, -EBUSY);
    core_misuse(ERR_STREAM, call, "stream %p records a graph, which is lost",
                (void *)stream);
    return 0;
}

int pshmemx_stream_destroy(shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    uint64_t id;
    int rc = api_stream_ready(__func__);

    if (rc)
        return rc;
    if (!api_stream_of(stream) || gtl_is_per_thread(stream))
        return core_misuse(ERR_ARG, __func__, "a default stream stays");
    rc = gtl->stream_check(stream, &id);
    if (rc == -EBUSY)
        rc = lose(__func__, stream);
    else
        rc = check_rc(__func__, stream, rc);
    if (!rc && !drained(stream))
        rc = -EBUSY;            /* no line: one may ask until it is not */
    if (rc)
        return rc;
    stream_destroyed(__func__, stream);
    trig_stream_destroyed(stream);
    gtl->stream_destroy(stream);
    return 0;
}
API_ALIAS(shmemx_stream_destroy)

/* Work that lasts: the software device wakes the thread that sleeps for it, and
 * a GPU's event is queried after a fraction of the time waited; after POLL_NS
 * the call waits like any other one of the library. */
#define SPIN_NS 2000u
#define YIELD_NS 50000u
#define POLL_NS 100000000u
enum { POLL_SHARE = 32 };

/* -EAGAIN: not within the time that a sleep takes. */
static int sync_soon(shmemx_stream_t stream, uint64_t since)
{
    uint64_t lasts = 0;
    int rc;

    while ((rc = gtl->stream_query(stream)) == -EAGAIN && lasts < YIELD_NS) {
        lasts = clock_ns() - since;
        if (lasts < SPIN_NS)
            atomics_pause();
        else
            sched_yield();
    }
    return rc;
}

/* An event: others may enqueue more meanwhile, without end. */
static int sync_event(const char *call, void *stream, void *event,
                      uint64_t since)
{
    struct core_waiter w = {
        .addr = (const void *)heap_segs[HEAP_HOST].base, .bytes = 1,
        .info = { .what = CORE_FOR_STREAM, .value = (uintptr_t)stream,
                  .call = call },
        .wait_began_ns = since
    };
    struct timespec t = { 0, 0 };
    uint64_t lasts;
    int rc;

    while ((rc = gtl->event_query(event)) == -EAGAIN) {
        lasts = clock_ns() - since;
        if (lasts >= POLL_NS) {
            core_wait_step(&w);
        } else if (!gtl->event_sleep(event, POLL_NS - lasts)) {
            t.tv_nsec = (long)(lasts / POLL_SHARE);
            nanosleep(&t, NULL);
        }
    }
    core_wait_end(&w);
    return rc;
}

/* The driver's error of earlier work, and failures of the stream's
 * communication. */
static int ended(const char *call, shmemx_stream_t stream, int rc)
{
    if (likely(!rc)) {
        stream_synced(stream);
        return stream_errors_take(call, stream);
    }
    if (rc != -EAGAIN && rc != -EINVAL && rc != -EBUSY) {
        log_warn(ERR_DEVICE, "%s: stream %p: work on it failed: %s",
                 symbol_public(call), stream, gtl_error());
        stream_errors_take(call, stream);
        return rc;
    }
    return check_rc(call, stream, rc);
}

/* To ask a stream that records how far it is ends the capture. */
static int ready_to_query(const char *call, shmemx_stream_t stream)
{
    int rc = api_stream_ready(call);

    if (rc || likely(!gtl->is_capturing(stream)))
        return rc;
    core_misuse(ERR_STREAM, call, "stream %p records a graph: what is recorded "
                "is done by launches, after the capture has ended",
                (void *)stream);
    return -ENOTSUP;
}

int pshmemx_stream_sync(shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    uint64_t since;
    void *event;
    int rc = ready_to_query(__func__, api_stream_of(stream));

    if (rc)
        return rc;
    stream = api_stream_of(stream);
    rc = gtl->stream_query(stream);
    if (rc == -EAGAIN) {
        since = clock_ns();
        rc = sync_soon(stream, since);
        if (rc == -EAGAIN && !gtl->event_create(&event)) {
            rc = gtl->event_record(event, stream);
            if (!rc)
                rc = sync_event(__func__, stream, event, since);
            gtl->event_destroy(event);
        }
    }
    /* It costs little for completed work, and returns a failure of it. */
    return ended(__func__, stream, gtl->stream_sync(stream));
}
API_ALIAS(shmemx_stream_sync)

int pshmemx_stream_query(shmemx_stream_t stream)
{
    int rc = ready_to_query(__func__, api_stream_of(stream));

    stream = api_stream_of(stream);
    return rc ? rc : ended(__func__, stream, gtl->stream_query(stream));
}
API_ALIAS(shmemx_stream_query)

int pshmemx_stream_copy(shmemx_stream_t stream, void *dest,
                        const void *source, size_t bytes)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_ready(__func__);

    stream = api_stream_of(stream);
    if (!rc && bytes && (!dest || !source))
        rc = null(__func__, dest ? "source" : "dest");
    if (rc)
        return rc;
    return check_rc(__func__, stream,
                    bytes ? gtl->copy(dest, source, bytes, stream)
                          : gtl->stream_known(stream));
}
API_ALIAS(shmemx_stream_copy)

int pshmemx_stream_fill(shmemx_stream_t stream, void *dest, int byte,
                        size_t bytes)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_ready(__func__);

    stream = api_stream_of(stream);
    if (!rc && bytes && !dest)
        rc = null(__func__, "dest");
    if (rc)
        return rc;
    return check_rc(__func__, stream,
                    bytes ? gtl->fill(dest, byte, bytes, stream)
                          : gtl->stream_known(stream));
}
API_ALIAS(shmemx_stream_fill)

int pshmemx_stream_call(shmemx_stream_t stream, void (*fn)(void *), void *arg)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_ready(__func__);

    if (rc)
        return rc;
    stream = api_stream_of(stream);
    return fn ? check_rc(__func__, stream, gtl->host_call(fn, arg, stream))
              : null(__func__, "fn");
}
API_ALIAS(shmemx_stream_call)

int pshmemx_stream_launch(shmemx_stream_t stream, const shmemx_grid_t *grid,
                          shmemx_kernel_t body, void *arg)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_ready(__func__);

    if (rc)
        return rc;
    if (!grid || !body)
        return null(__func__, grid ? "body" : "grid");
    stream = api_stream_of(stream);
    rc = gtl->launch(grid, body, arg, stream);
    if (rc != -ENOTSUP)
        return check_rc(__func__, stream, rc);
    core_misuse(ERR_DEVICE, __func__, "kernels that are C functions run on the "
                "software device, and this one is a GPU: SHMEM_DEVICE=software "
                "chooses that");
    return -ENODEV;
}
API_ALIAS(shmemx_stream_launch)

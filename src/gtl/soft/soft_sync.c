/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_sync.c - positions of streams of the software device: the host's
 * queries and waits, and the operations that the layers above count on a
 * stream.  The slots of the driver (soft.c) lead here, on any thread. */
#include "gtl/soft/soft_stream.h"
#include "gtl/soft/soft_graph.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/list.h"

#include <errno.h>

#define FOREVER UINT64_MAX

int gtl_soft_position(void *handle, uint64_t **done, uint64_t *count)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (!s)
        return gtl_soft_fail_handle();
    if (gtl_soft_graph_of(s))
        return gtl_soft_fail_capturing("event");
    *done = &s->done;
    *count = __atomic_load_n(&s->tail, __ATOMIC_RELAXED);
    return 0;
}

int gtl_soft_stream_query(void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (!s)
        return gtl_soft_fail_handle();
    if (gtl_soft_graph_of(s))
        return gtl_soft_fail_capturing("stream_query");
    return gtl_soft_reached(s, __atomic_load_n(&s->tail, __ATOMIC_RELAXED)) ? 0
                                                                   : -EAGAIN;
}

/* The least count that a sleeper wants is what the thread looks at.  It may be
 * overwritten when that is reached; then the beat has changed. */
static void sleep_until(struct gtl_soft_stream *s, uint64_t count, uint64_t ns)
{
    uint64_t start = clock_ns(), lasts, least;
    uint32_t beat;

    while ((lasts = clock_ns() - start) < ns) {
        beat = __atomic_load_n(&s->beat, __ATOMIC_ACQUIRE);
        least = __atomic_load_n(&s->sync_at, __ATOMIC_RELAXED);
        while (count < least &&
               !__atomic_compare_exchange_n(&s->sync_at, &least, count, false,
                                            __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED))
            ;
        atomics_full_fence();
        if (gtl_soft_reached(s, count))
            return;
        futex_wait(&s->beat, beat, ns == FOREVER ? 0 : ns - lasts,
                   FUTEX_OF_PROCESS);
    }
}

void gtl_soft_sleep_until(uint64_t *done, uint64_t count, uint64_t ns)
{
    sleep_until(list_entry(done, struct gtl_soft_stream, done), count, ns);
}

int gtl_soft_stream_sync(void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    uint64_t count, start;

    if (!s)
        return gtl_soft_fail_handle();
    if (gtl_soft_graph_of(s))
        return gtl_soft_fail_capturing("stream_sync");
    count = __atomic_load_n(&s->tail, __ATOMIC_RELAXED);
    if (!gtl_soft_reached(s, count)) {
        start = clock_ns();
        while (!gtl_soft_reached(s, count))
            if (!gtl_soft_backoff(start)) {
                sleep_until(s, count, FOREVER);
                break;
            }
    }
    gtl_soft_charge_cost(SOFT_COST_SYNC);
    return 0;
}

/* ---- operations of the layers above ---- */

void gtl_soft_count_ops(void *handle, uint64_t n)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (likely(s != NULL)) {
        s->ops += n;
        s->ops_end = s->tail;
    }
}

bool gtl_soft_owes_ops(void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);

    return s && !gtl_soft_reached(s, s->ops_end);
}

bool gtl_soft_stream_position(void *handle, uint64_t *out)
{
    const struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (!s || gtl_soft_graph_of(s) || gtl_soft_costs[SOFT_COST_WRITE])
        return false;
    *out = s->tail;
    return true;
}

bool gtl_soft_is_past(void *handle, uint64_t position)
{
    const struct gtl_soft_stream *s = gtl_soft_find(handle);

    return !s || gtl_soft_reached(s, position);
}

int gtl_soft_stream_known(void *handle)
{
    return likely(gtl_soft_find(handle) != NULL) ? 0 : gtl_soft_fail_handle();
}

bool gtl_soft_waits_for(void *handle, uint64_t **flag, uint64_t *least)
{
    const struct gtl_soft_stream *s = gtl_soft_find(handle);

    return s && gtl_soft_wait_of(&s->waits, flag, least);
}

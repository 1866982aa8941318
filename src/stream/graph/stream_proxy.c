/* SPDX-License-Identifier: BSD-3-Clause */
/* Proxy streams: the library's own streams, on which the progress thread
 * enqueues the operations that graphs replay.  Called by stream_graph.c; a
 * proxy stream is made and closed on the thread that records or frees a graph,
 * and used on the progress thread alone. */
#include "stream/graph/stream_proxy.h"
#include "base/lock.h"
#include "gtl/gtl_default_stream.h"
#include "progress/progress.h"
#include "stream/exec/stream_exec.h"
#include "stream/graph/stream_graph.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdlib.h>

static struct base_lock lock = LOCK_INIT;
static struct list_link proxies GUARDED_BY(lock) = LIST_INIT(proxies);
static unsigned n_proxies;      /* atomic */

bool stream_proxy_close(struct stream_proxy *p)
{
    bool failed = stream_errors_take_stream(NULL, p->stream);

    lock_acquire(&lock);
    list_remove(&p->all);       /* before its ring goes */
    lock_release(&lock);
    __atomic_fetch_sub(&n_proxies, 1, __ATOMIC_RELAXED);
    stream_ring_retire(p->stream);
    stream_wait_log_stream_destroyed(p->stream);
    gtl->stream_destroy(p->stream);
    free(p);
    return failed;
}

bool stream_graphs_any(void)
{
    return __atomic_load_n(&n_proxies, __ATOMIC_RELAXED) != 0;
}

/* What the program's stream waits for may be operations of the NIC that wait for
 * that stream: those before have all been released. */
static bool nic_quiet(const struct stream_proxy *p)
{
    struct stream_ring *q = p->ring;
    uint64_t number = __atomic_load_n(&p->number, __ATOMIC_ACQUIRE);
    uint64_t *flag = __atomic_load_n(&p->flag, __ATOMIC_RELAXED);
    bool waits = flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE) < number;

    return stream_nic_idle(&q->nic) ||
           (waits && stream_nic_completed_first(q, __atomic_load_n(
                                                &p->before, __ATOMIC_RELAXED)));
}

void stream_proxy_reached(struct stream_proxy *p, uint64_t *flag,
                          uint64_t number)
{
    __atomic_store_n(&p->before, __atomic_load_n(&p->ring->nic.posted,
                                                 __ATOMIC_ACQUIRE),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&p->flag, flag, __ATOMIC_RELAXED);
    /* release: pairs with nic_quiet(), which reads the others next. */
    __atomic_store_n(&p->number, number, __ATOMIC_RELEASE);
}

static bool is_quiet(const struct stream_proxy *p)
{
    struct stream_ring *q = p->ring;
    bool quiet = stream_ring_trylock(q);

    if (quiet) {
        quiet = !stream_ring_transfer_due(q) && stream_ring_net_idle(q) &&
                nic_quiet(p);
        stream_ring_unlock(q);
        /* Which may have skipped the ring that was locked here. */
        if (!progress_is_here())
            stream_progress_wake();
    }
    return quiet;
}

/* The quiet of a graph is for its own operations, any other one for those of
 * all graphs. */
static bool graphs_quiet(const struct stream_ring *asks)
{
    struct list_link *l, *next;
    const void *graph = NULL;
    bool quiet = true;

    if (likely(!stream_graphs_any()))
        return true;
    lock_acquire(&lock);
    list_each(l, next, &proxies)
        if (list_entry(l, struct stream_proxy, all)->ring == asks)
            graph = list_entry(l, struct stream_proxy, all)->graph;
    list_each(l, next, &proxies) {
        struct stream_proxy *p = list_entry(l, struct stream_proxy, all);

        if (quiet && p->ring != asks && (!graph || p->graph == graph))
            quiet = is_quiet(p);
    }
    lock_release(&lock);
    return quiet;
}

static int proxy_open(const struct stream_where *w, struct stream_proxy *p)
{
    struct stream_where own = { .call = w->call, .ctx = &core_ctx_default };
    int rc = gtl->stream_create(GTL_LOW, &p->stream);

    if (rc)
        return stream_device_rc(w, rc);
    own.stream = p->stream;
    rc = stream_ring_of(&own, &p->ring);
    if (rc) {
        gtl->stream_destroy(p->stream);
        return rc;
    }
    p->ring->kept = true;
    lock_acquire(&lock);
    list_append(&proxies, &p->all);
    lock_release(&lock);
    __atomic_fetch_add(&n_proxies, 1, __ATOMIC_RELAXED);
    /* release: the executor that calls it sees the list. */
    __atomic_store_n(&stream_exec_graphs_quiet, graphs_quiet, __ATOMIC_RELEASE);
    return 0;
}

int stream_proxy_new(const struct stream_where *w, const void *graph,
                     struct stream_proxy **out)
{
    struct stream_proxy *p = malloc(sizeof *p);
    int rc;

    if (!p)
        return stream_no_memory(w->call);
    *p = (struct stream_proxy){
        .handle = w->stream, .owner = gtl_stream_owner(w->stream),
        .graph = graph
    };
    p->link.next = p->link.prev = &p->link;
    rc = proxy_open(w, p);
    if (rc) {
        free(p);
        return rc;
    }
    *out = p;
    return 0;
}

bool stream_proxy_idle(const struct stream_proxy *p)
{
    bool over = gtl->stream_query(p->stream) != -EAGAIN &&
                stream_ring_empty(p->ring) && stream_ring_trylock(p->ring);

    if (over) {
        over = stream_ring_net_idle(p->ring);
        stream_ring_unlock(p->ring);
    }
    return over;
}

int stream_proxies_failed(const char *call)
{
    struct list_link *l, *next;
    int rc = 0;

    lock_acquire(&lock);
    list_each(l, next, &proxies) if (stream_errors_take_stream(
                                         call,
                                         list_entry(l, struct stream_proxy, all)
                                             ->stream)) rc = -EIO;
    lock_release(&lock);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_graph.c - graphs of the software device.
 *
 * A capturing stream hands out room in a stream without a thread, which
 * belongs to the graph: commands are made there like any others, and kept. A
 * launch enqueues copies of them, and behind these a command that reports the
 * end of the launch: so a graph may be destroyed at any time, and its objects
 * live as long as one of its launches runs. As on GPUs, each launch follows
 * the one before it, on whatever streams they are. */
#include "gtl/soft/soft_graph.h"
#include "gtl/soft/soft_stream.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>

struct owned {
    struct owned *next;
    void (*end)(void *arg);
    void *arg;
};

struct gtl_soft_graph {
    struct gtl_soft_stream into;        /* filled: so many commands */
    struct chunk *first;
    struct owned *owned;
    uint64_t id;
    bool broken;                /* a part of it found no memory */
    uint64_t ops, ops_end;      /* of its stream when it began to record; */
    uint64_t n_ops;             /* and so many came then */
    /* The largest sizes of its kernels; how many have resident groups. */
    struct shmemx_grid grid;
    uint64_t resident;
    uint64_t refs;              /* the handle, and launches under way */
    uint64_t *done, count;      /* where the last one ends; NULL: none */
};

/* Of launches: refs, done and count of all. */
static struct base_lock lock = LOCK_INIT;

int gtl_soft_fail_capturing(const char *call)
{
    return gtl_fail(-EBUSY, call, "the stream records a graph", 0);
}

static int not_recording(const char *call)
{
    return gtl_fail(-EINVAL, call, "the stream records no graph", 0);
}

/* ---- what is recorded ---- */

bool gtl_soft_is_capturing(void *handle)
{
    const struct gtl_soft_stream *s = gtl_soft_find(handle);

    return s && gtl_soft_graph_of(s);
}

int gtl_soft_graph_id(void *handle, uint64_t *id)
{
    const struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (!s)
        return gtl_soft_fail_handle();
    if (!gtl_soft_graph_of(s))
        return not_recording("graph_id");
    *id = s->graph->id;
    return 0;
}

int gtl_soft_graph_own(void *handle, void (*end)(void *arg), void *arg)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    struct owned *o;

    if (!s)
        return gtl_soft_fail_handle();
    if (!gtl_soft_graph_of(s))
        return not_recording("graph_own");
    o = malloc(sizeof *o);
    if (!o)
        return gtl_fail(-ENOMEM, "graph_own", "out of memory", ENOMEM);
    *o = (struct owned){ s->graph->owned, end, arg };
    s->graph->owned = o;
    return 0;
}

/* Without memory the graph is broken: no launch does a part of an operation. */
int gtl_soft_graph_next_chunk(struct gtl_soft_stream *s,
                              struct gtl_soft_stream **out)
{
    struct gtl_soft_graph *g = s->graph;
    struct gtl_soft_stream *into = &g->into;
    struct chunk *c;

    if (into->in_at == CHUNK) {
        c = gtl_soft_chunk();
        if (!c) {
            g->broken = true;
            return -ENOMEM;
        }
        c->next = NULL;
        into->in->next = c;
        into->in = c;
        into->in_at = 0;
    }
    into->ops = s->ops - g->ops;
    *out = into;
    return 0;
}

static void graph_free(struct gtl_soft_graph *g)
{
    struct chunk *c, *next;
    struct owned *o;

    while ((o = g->owned)) {
        g->owned = o->next;
        o->end(o->arg);
        free(o);
    }
    for (c = g->first; c; c = next) {
        next = c->next;
        free(c);
    }
    free(g);
}

static int graph_new(struct gtl_soft_graph **out)
{
    static uint64_t made;
    struct gtl_soft_graph *g = aligned_alloc(64, sizeof *g);
    struct chunk *c = g ? gtl_soft_chunk() : NULL;

    if (!c) {
        free(g);
        return gtl_fail(-ENOMEM, "capture_begin", "out of memory", ENOMEM);
    }
    c->next = NULL;
    *g = (struct gtl_soft_graph){
        .into = { .in = c, .graph = g }, .first = c, .refs = 1,
        .id = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)
    };
    *out = g;
    return 0;
}

int gtl_soft_capture_begin(void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    struct gtl_soft_graph *g = NULL;
    int rc;

    if (!s)
        return gtl_soft_fail_handle();
    if (!handle)
        return gtl_fail(-EINVAL, "capture_begin", "the default stream records "
                        "nothing", 0);
    if (gtl_soft_graph_of(s))
        return gtl_fail(-EINVAL, "capture_begin", "the stream records already",
                        0);
    rc = graph_new(&g);
    if (rc)
        return rc;
    g->ops = s->ops;
    g->ops_end = s->ops_end;
    __atomic_store_n(&s->graph, g, __ATOMIC_RELAXED);
    s->plain = false;
    return 0;
}

/* Operations that were counted meanwhile are those of launches. */
static struct gtl_soft_graph *take(struct gtl_soft_stream *s)
{
    struct gtl_soft_graph *g = s->graph;

    g->n_ops = s->ops - g->ops;
    s->ops = g->ops;
    s->ops_end = g->ops_end;
    __atomic_store_n(&s->graph, NULL, __ATOMIC_RELAXED);
    s->plain = s->runs;
    return g;
}

void gtl_soft_graph_invalidate(struct gtl_soft_stream *s)
{
    graph_free(take(s));
}

static void count_grid(struct gtl_soft_graph *g, const struct shmemx_grid *of)
{
    struct shmemx_grid *all = &g->grid;

    g->resident += of->resident > 1;
    if (all->groups < of->groups)
        all->groups = of->groups;
    if (all->resident < of->resident)
        all->resident = of->resident;
    if (all->scratch < of->scratch)
        all->scratch = of->scratch;
}

int gtl_soft_capture_end(void *handle, void **out)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    const struct gtl_soft_command *c;
    struct gtl_soft_graph *g;
    struct chunk *in;

    if (!s)
        return gtl_soft_fail_handle();
    if (!gtl_soft_graph_of(s))
        return not_recording("capture_end");
    g = take(s);
    if (g->broken) {
        graph_free(g);
        return gtl_fail(-ENOMEM, "capture_end", "there was no memory for all "
                        "that was recorded", ENOMEM);
    }
    in = g->first;
    for (uint64_t i = 0; i < g->into.filled; i++) {
        if (i && i % CHUNK == 0)
            in = in->next;
        c = &in->commands[i % CHUNK];
        if (c->kind == SOFT_LAUNCH)
            count_grid(g, &c->grid);
    }
    *out = g;
    return 0;
}

/* ---- launches ---- */

static bool unref(struct gtl_soft_graph *g)
{
    bool last;

    lock_acquire(&lock);
    last = --g->refs == 0;
    lock_release(&lock);
    return last;
}

void gtl_soft_graph_ended(struct gtl_soft_graph *g)
{
    if (unref(g))
        graph_free(g);
}

void gtl_soft_graph_destroy(void *graph)
{
    gtl_soft_graph_ended(graph);
}

/* Commands of a launch, one after the other. */
struct launch {
    struct gtl_soft_graph *g;
    uint64_t ops;               /* of the stream, before it */
    uint64_t *done, count;      /* to be waited for first; NULL: nothing */
    void *scratch;
    struct chunk *from;
    uint64_t i;
};

static void next(struct gtl_soft_command *c, void *arg)
{
    struct launch *l = arg;

    if (l->done) {
        *c = (struct gtl_soft_command){
            .kind = SOFT_EVENT, .word = l->done, .value = l->count,
            .ops = l->ops
        };
        l->done = NULL;
    } else if (l->i == l->g->into.filled) {
        *c = (struct gtl_soft_command){
            .kind = SOFT_GRAPH_END, .arg = l->g, .ops = l->ops + l->g->n_ops
        };
    } else {
        if (l->i && l->i % CHUNK == 0)
            l->from = l->from->next;
        *c = l->from->commands[l->i++ % CHUNK];
        c->ops += l->ops;
        if (c->kind == SOFT_LAUNCH)
            c->scratch = l->scratch;
    }
}

static int launch(struct gtl_soft_graph *g, struct gtl_soft_stream *s)
    REQUIRES(lock)
{
    struct launch l = { .g = g, .ops = s->ops, .from = g->first };
    int rc = gtl_soft_stream_start(s);

    if (!rc)
        rc = gtl_soft_launch_ready(s, &g->grid, g->resident, &l.scratch);
    if (rc)
        return rc;
    if (g->done && g->done != &s->done) {
        l.done = g->done;
        l.count = g->count;
    }
    g->refs++;
    rc = gtl_soft_enqueue(s, g->into.filled + 1 + !!l.done, next, &l);
    if (rc) {
        g->refs--;
        if (g->resident)
            gtl_soft_grid_unreserve(&s->share, g->resident);
        return rc;
    }
    s->ops += g->n_ops;
    if (g->n_ops)
        s->ops_end = s->tail;
    g->done = &s->done;
    g->count = s->tail;
    return 0;
}

int gtl_soft_graph_launch(void *graph, void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    int rc;

    if (!s)
        return gtl_soft_fail_handle();
    if (gtl_soft_graph_of(s))
        return gtl_soft_fail_capturing("graph_launch");
    lock_acquire(&lock);
    rc = launch(graph, s);
    lock_release(&lock);
    return rc;
}

void gtl_soft_graph_fork(enum gtl_soft_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == SOFT_FORK_BEFORE)
        lock_acquire(&lock);
    else
        lock_release(&lock);
}

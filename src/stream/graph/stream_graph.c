/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs' operations that the progress thread repeats in each launch, and those
 * of streams outside of graphs that must not overtake them.  Called where
 * streams are found to record (stream_exec_device.c, stream_sync.c,
 * stream_graph_queue.c, stream_epoch.c) and by the progress thread. */
#include "stream/graph/stream_graph.h"
#include "base/lock.h"
#include "gtl/gtl_default_stream.h"
#include "stream/stream_int.h"
#include "stream/graph/stream_graph_post.h"
#include "stream/graph/stream_proxy.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_stats.h"

#include <errno.h>
#include <stdlib.h>

struct graph {
    struct list_link link;      /* of all, or of those that are over */
    uint64_t id;                /* of the capture */
    uint64_t opened;            /* by which opening of this layer */
    struct list_link proxies;   /* one for each stream that takes part */
    struct list_link posts;     /* struct post_slot */
};

/* A stream that has posted outside of graphs. */
struct loose {
    struct list_link link;
    struct stream_proxy *proxy;
    struct list_link posts;     /* struct post_slot */
    uint64_t *flag, posted;     /* raised to the number of each operation */
};

static struct base_lock lock = LOCK_INIT;
static struct list_link graphs GUARDED_BY(lock) = LIST_INIT(graphs);
static struct list_link over GUARDED_BY(lock) = LIST_INIT(over);
static struct list_link ending = LIST_INIT(ending);     /* who advances */
static struct list_link all_loose GUARDED_BY(lock) = LIST_INIT(all_loose);
static struct list_link lost GUARDED_BY(lock) = LIST_INIT(lost);
/* Streams that take part in one capture may be several threads'. */
static struct base_lock recording = LOCK_INIT;

/* ---- graphs ---- */

static struct graph *find_graph(uint64_t id) REQUIRES(lock)
{
    struct list_link *l;

    /* The newest is the one that is recorded. */
    for (l = graphs.prev; l != &graphs; l = l->prev)
        if (list_entry(l, struct graph, link)->id == id)
            return list_entry(l, struct graph, link);
    return NULL;
}

/* On any thread, once the driver's graph and all of it are gone. */
static void graph_ends(void *arg)
{
    struct graph *g = arg;
    bool late;

    lock_acquire(&lock);
    late = g->opened != posts_generation();
    list_remove(&g->link);
    if (!late)
        list_append(&over, &g->link);
    lock_release(&lock);
    if (late) {
        posts_free(&g->posts, false);
        free(g);
    } else {
        posts_notify();
        stream_progress_wake();
    }
}

static int graph_new(const struct stream_where *w, uint64_t id,
                     struct graph **out)
{
    struct graph *g = malloc(sizeof *g);
    int rc;

    if (!g)
        return stream_no_memory(w->call);
    *g = (struct graph){ .id = id, .opened = posts_generation() };
    g->link.next = g->link.prev = &g->link;
    g->proxies.next = g->proxies.prev = &g->proxies;
    g->posts.next = g->posts.prev = &g->posts;
    rc = stream_device_rc(w, gtl->graph_own(w->stream, graph_ends, g));
    if (rc) {
        free(g);
        return rc;
    }
    lock_acquire(&lock);
    list_append(&graphs, &g->link);
    lock_release(&lock);
    *out = g;
    return 0;
}

static int graph_of(const struct stream_where *w, struct graph **out)
    REQUIRES(recording)
{
    uint64_t id;
    int rc = gtl->graph_id(w->stream, &id);

    if (rc == -ENOSYS)
        return stream_device_rc(w, -EBUSY);
    if (rc)
        return stream_device_rc(w, rc);
    lock_acquire(&lock);
    *out = find_graph(id);
    lock_release(&lock);
    return *out ? 0 : graph_new(w, id, out);
}

bool stream_graph_has_ops(void *stream)
{
    uint64_t id;
    bool some;

    if (gtl->graph_id(stream, &id))
        return false;
    lock_acquire(&lock);
    some = find_graph(id) != NULL;
    lock_release(&lock);
    return some;
}

static int proxy_in(const struct stream_where *w, struct graph *g,
                    struct stream_proxy **out) REQUIRES(recording)
{
    struct list_link *l, *next;
    int rc;

    list_each(l, next, &g->proxies) {
        *out = list_entry(l, struct stream_proxy, link);
        if ((*out)->handle == w->stream)
            return 0;
    }
    rc = stream_proxy_new(w, 0, g, out);
    if (!rc)
        list_append(&g->proxies, &(*out)->link);
    return rc;
}

/* The slot is the graph's. */
static int slot_add(const struct stream_where *w, struct post_slot *s)
    REQUIRES(recording)
{
    struct graph *g = NULL;
    int rc = graph_of(w, &g);

    rc = rc ? rc : proxy_in(w, g, &s->proxy);
    rc = rc ? rc : post_flag_alloc(w, &s->flag);
    if (rc)
        return rc;
    *s->flag = s->number = 1;
    post_slot_add(&g->posts, s);
    return 0;
}

int stream_record(const struct stream_where *w, stream_replay *repeat,
                  const void *args, size_t size)
{
    struct post_slot *s;
    int rc;

    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    s = post_slot_new(w, repeat, args, size);
    if (!s)
        return -ENOMEM;
    lock_acquire(&recording);
    rc = slot_add(w, s);
    lock_release(&recording);
    if (rc) {
        free(s);
        return rc;
    }
    stream_count(STREAM_RECORDED, 1);
    return post_enqueue(w, s);
}

/* ---- outside of graphs ---- */

/* Another stream's, whose handle this was, is over. */
static struct loose *find_loose(const struct stream_where *w, uint64_t id)
    REQUIRES(lock)
{
    struct list_link *l, *next;

    list_each(l, next, &all_loose) {
        struct loose *s = list_entry(l, struct loose, link);

        if (s->proxy->handle != w->stream ||
            s->proxy->owner != gtl_stream_owner(w->stream))
            continue;
        if (s->proxy->id == id)
            return s;
        list_remove(l);
        list_append(&lost, l);
    }
    return NULL;
}

static int loose_open(const struct stream_where *w, uint64_t id,
                      struct loose *s)
{
    int rc = stream_proxy_new(w, id, NULL, &s->proxy);

    if (rc)
        return rc;
    s->posts.next = s->posts.prev = &s->posts;
    rc = post_flag_alloc(w, &s->flag);
    if (rc)
        stream_proxy_close(s->proxy);
    else
        *s->flag = 0;
    return rc;
}

static int loose_of(const struct stream_where *w, uint64_t id,
                    struct loose **out) REQUIRES(recording)
{
    struct loose *s;
    int rc;

    lock_acquire(&lock);
    *out = find_loose(w, id);
    lock_release(&lock);
    if (*out)
        return 0;
    s = calloc(1, sizeof *s);
    if (!s)
        return stream_no_memory(w->call);
    rc = loose_open(w, id, s);
    if (rc) {
        free(s);
        return rc;
    }
    lock_acquire(&lock);
    list_append(&all_loose, &s->link);
    lock_release(&lock);
    *out = s;
    return 0;
}

static int defer_once(const struct stream_where *w, uint64_t id,
                      struct post_slot *s)
{
    struct loose *of;
    int rc;

    lock_acquire(&recording);
    rc = loose_of(w, id, &of);
    lock_release(&recording);
    if (rc) {
        free(s);
        return rc;
    }
    s->once = true;
    s->proxy = of->proxy;
    s->flag = of->flag;
    s->number = ++of->posted;
    post_slot_add(&of->posts, s);
    return post_enqueue(w, s);
}

int stream_defer(const struct stream_where *w, stream_replay *repeat,
                 const void *args, size_t size)
{
    struct post_slot *s;
    uint64_t id;
    int rc = gtl->stream_check(w->stream, &id);

    if (rc == -EBUSY)
        return stream_record(w, repeat, args, size);
    if (rc)
        return stream_device_rc(w, rc);
    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    s = post_slot_new(w, repeat, args, size);
    return s ? defer_once(w, id, s) : -ENOMEM;
}

/* ---- the progress thread's side ---- */

/* Nothing of it is under way any more. */
static bool graph_over(const struct graph *g)
{
    struct list_link *l;

    for (l = g->proxies.next; l != &g->proxies; l = l->next)
        if (!stream_proxy_idle(list_entry(l, struct stream_proxy, link)))
            return false;
    return !posts_pending(&g->posts);
}

static void close_proxies(struct graph *g)
{
    struct list_link *l, *next;

    list_each(l, next, &g->proxies) {
        struct stream_proxy *p = list_entry(l, struct stream_proxy, link);

        list_remove(l);
        if (stream_proxy_close(p))
            posts_fail();
    }
}

static void graph_free(struct graph *g)
{
    close_proxies(g);
    posts_free(&g->posts, true);
    free(g);
}

static void move(struct list_link *from, struct list_link *to)
{
    struct list_link *l, *next;

    list_each(l, next, from) {
        list_remove(l);
        list_append(to, l);
    }
}

static void take_over(void)
{
    lock_acquire(&lock);
    move(&over, &ending);
    lock_release(&lock);
}

static void loose_free(struct loose *s)
{
    if (stream_proxy_close(s->proxy))
        posts_fail();
    posts_free(&s->posts, true);
    stream_flag_free(s->flag);
    free(s);
}

/* Streams that were destroyed had come past what they had posted. */
static bool free_lost(void)
{
    struct list_link *l, *next, these = LIST_INIT(these);
    bool left = false;

    lock_acquire(&lock);
    move(&lost, &these);
    lock_release(&lock);
    list_each(l, next, &these) {
        struct loose *s = list_entry(l, struct loose, link);

        list_remove(l);
        if (list_empty(&s->posts) && stream_proxy_idle(s->proxy)) {
            loose_free(s);
            continue;
        }
        lock_acquire(&lock);
        list_append(&lost, l);
        lock_release(&lock);
        left = true;
    }
    return left;
}

/* Is any left? */
static bool free_over(void)
{
    struct list_link *l, *next;

    take_over();
    list_each(l, next, &ending) {
        struct graph *g = list_entry(l, struct graph, link);

        if (!graph_over(g))
            continue;
        list_remove(l);
        graph_free(g);
    }
    return free_lost() || !list_empty(&ending);
}

bool stream_graphs_advance(bool *busy)
{
    bool any;

    if (likely(!posts_notified()))
        return false;
    any = posts_advance();
    if (free_over()) {
        posts_notify();
        *busy = true;
    }
    return any;
}

int stream_graphs_failed(const char *call)
{
    int rc = posts_failed();

    if (unlikely(stream_graphs_any()) && stream_proxies_failed(call))
        rc = -EIO;
    return rc;
}

/* ---- ends ---- */

void stream_graphs_stream_destroyed(void *stream)
{
    struct list_link *l, *next;
    bool any = false;

    if (likely(!stream_graphs_any()))
        return;
    lock_acquire(&lock);
    list_each(l, next, &all_loose) {
        struct stream_proxy *p = list_entry(l, struct loose, link)->proxy;

        if (p->handle == stream && p->owner == gtl_stream_owner(stream)) {
            list_remove(l);
            list_append(&lost, l);
            any = true;
        }
    }
    lock_release(&lock);
    if (any) {
        posts_notify();
        stream_progress_wake();
    }
}

/* Its streams may still look at flags, or a proxy raise one. */
static bool in_use(const struct stream_proxy *p, const struct list_link *posts)
{
    return gtl->stream_query(p->stream) == -EAGAIN ||
           (!gtl_device.host_streams && !list_empty(posts));
}

static bool close_loose(struct list_link *all)
{
    struct list_link *l, *next;
    bool left = false;

    list_each(l, next, all) {
        struct loose *s = list_entry(l, struct loose, link);

        list_remove(l);
        if (!in_use(s->proxy, &s->posts)) {
            loose_free(s);
        } else {
            stream_proxy_close(s->proxy);
            left = true;
        }
    }
    return left;
}

/* Graphs that still exist end on a thread of the driver's: at any time. */
static bool leave_graphs(void)
{
    struct list_link *l, *next, theirs = LIST_INIT(theirs);
    bool left;

    lock_acquire(&lock);
    left = !list_empty(&graphs);
    list_each(l, next, &graphs)
        move(&list_entry(l, struct graph, link)->proxies, &theirs);
    lock_release(&lock);
    list_each(l, next, &theirs) {
        list_remove(l);
        stream_proxy_close(list_entry(l, struct stream_proxy, link));
    }
    return left;
}

bool stream_graphs_close(void)
{
    struct list_link *l, *next, ours = LIST_INIT(ours);
    bool left = leave_graphs();

    take_over();
    list_each(l, next, &ending) {
        list_remove(l);
        graph_free(list_entry(l, struct graph, link));
    }
    lock_acquire(&lock);
    move(&all_loose, &ours);
    move(&lost, &ours);
    lock_release(&lock);
    left |= close_loose(&ours);
    posts_failed();
    return left;
}

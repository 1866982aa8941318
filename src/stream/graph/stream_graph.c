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

/* What has posted: a graph, or a stream outside of graphs. */
struct owner {
    struct list_link link;      /* of graphs, of streams, or of those over */
    uint64_t id;                /* of the capture, or of the stream */
    uint64_t opened;            /* by which opening of this layer */
    struct list_link proxies;   /* one for each stream that takes part */
    struct list_link posts;     /* struct post_slot */
    /* A stream's, raised to the number of each operation; NULL: a graph. */
    uint64_t *flag, posted;
};

static struct base_lock lock = LOCK_INIT;
static struct list_link graphs GUARDED_BY(lock) = LIST_INIT(graphs);
static struct list_link streams GUARDED_BY(lock) = LIST_INIT(streams);
static struct list_link over GUARDED_BY(lock) = LIST_INIT(over);
/* Proxies of graphs that ended while the layer closed. */
static struct list_link orphans GUARDED_BY(lock) = LIST_INIT(orphans);
static struct list_link ending = LIST_INIT(ending);     /* who advances */
/* Streams that take part in one capture may be several threads'. */
static struct base_lock recording = LOCK_INIT;

/* NULL, logged: no memory. */
static struct owner *owner_new(const struct stream_where *w, uint64_t id)
{
    struct owner *o = malloc(sizeof *o);

    if (!o) {
        stream_no_memory(w->call);
        return NULL;
    }
    *o = (struct owner){ .id = id, .opened = stream_posts_generation() };
    o->link.next = o->link.prev = &o->link;
    o->proxies.next = o->proxies.prev = &o->proxies;
    o->posts.next = o->posts.prev = &o->posts;
    return o;
}

static void close_proxies(struct list_link *proxies)
{
    struct list_link *l, *next;

    list_each(l, next, proxies) {
        struct stream_proxy *p = list_entry(l, struct stream_proxy, link);

        list_remove(l);
        if (stream_proxy_close(p))
            stream_posts_fail();
    }
}

static void move(struct list_link *from, struct list_link *to)
{
    struct list_link *l, *next;

    list_each(l, next, from) {
        list_remove(l);
        list_append(to, l);
    }
}

static void append(struct list_link *to, struct owner *o)
{
    lock_acquire(&lock);
    list_append(to, &o->link);
    lock_release(&lock);
}

static void move_to_over(struct owner *o) REQUIRES(lock)
{
    list_remove(&o->link);
    list_append(&over, &o->link);
}

/* ---- graphs ---- */

static struct owner *find_graph(uint64_t id) REQUIRES(lock)
{
    struct list_link *l;

    /* The newest is the one that is recorded. */
    for (l = graphs.prev; l != &graphs; l = l->prev)
        if (list_entry(l, struct owner, link)->id == id)
            return list_entry(l, struct owner, link);
    return NULL;
}

/* On any thread, once the driver's graph and all of it are gone. */
static void graph_ends(void *arg)
{
    struct owner *g = arg;
    bool late;

    lock_acquire(&lock);
    late = g->opened != stream_posts_generation();
    if (late) {                 /* here no call of the driver can close them */
        list_remove(&g->link);
        move(&g->proxies, &orphans);
    } else {
        move_to_over(g);
    }
    lock_release(&lock);
    if (late) {
        stream_posts_free(&g->posts, false);
        free(g);
    } else {
        stream_posts_notify();
        stream_progress_wake();
    }
}

static int graph_new(const struct stream_where *w, uint64_t id,
                     struct owner **out)
{
    struct owner *g = owner_new(w, id);
    int rc;

    if (!g)
        return -ENOMEM;
    rc = stream_device_rc(w, gtl->graph_own(w->stream, graph_ends, g));
    if (rc) {
        free(g);
        return rc;
    }
    append(&graphs, g);
    *out = g;
    return 0;
}

static int graph_of(const struct stream_where *w, struct owner **out)
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

static int proxy_in(const struct stream_where *w, struct owner *g,
                    struct stream_proxy **out) REQUIRES(recording)
{
    struct list_link *l, *next;
    int rc;

    list_each(l, next, &g->proxies) {
        *out = list_entry(l, struct stream_proxy, link);
        if ((*out)->handle == w->stream)
            return 0;
    }
    rc = stream_proxy_new(w, g, out);
    if (!rc)
        list_append(&g->proxies, &(*out)->link);
    return rc;
}

/* The slot is the graph's. */
static int slot_add(const struct stream_where *w, struct post_slot *s)
    REQUIRES(recording)
{
    struct owner *g = NULL;
    int rc = graph_of(w, &g);

    rc = rc ? rc : proxy_in(w, g, &s->proxy);
    rc = rc ? rc : stream_post_flag_alloc(w, STREAM_FLAG_TOGGLES, &s->flag);
    if (rc)
        return rc;
    *s->flag = s->number = 1;
    stream_post_slot_add(&g->posts, s);
    return 0;
}

int stream_record(const struct stream_where *w, stream_replay *repeat,
                  const void *args, size_t size)
{
    struct post_slot *s;
    int rc;

    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    s = stream_post_slot_new(w, repeat, args, size);
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
    return stream_post_enqueue(w, s);
}

/* ---- outside of graphs ---- */

/* A stream has one proxy, from the start. */
static struct stream_proxy *proxy_of(const struct owner *s)
{
    return list_entry(s->proxies.next, struct stream_proxy, link);
}

static bool has_handle(const struct owner *s, void *stream)
{
    const struct stream_proxy *p = proxy_of(s);

    return p->handle == stream && p->owner == gtl_stream_owner(stream);
}

/* Another stream's, whose handle this was, is over. */
static struct owner *find_stream(void *stream, uint64_t id) REQUIRES(lock)
{
    struct list_link *l, *next;

    list_each(l, next, &streams) {
        struct owner *s = list_entry(l, struct owner, link);

        if (!has_handle(s, stream))
            continue;
        if (s->id == id)
            return s;
        move_to_over(s);
    }
    return NULL;
}

static int stream_new(const struct stream_where *w, uint64_t id,
                      struct owner **out)
{
    struct owner *s = owner_new(w, id);
    struct stream_proxy *p;
    int rc;

    if (!s)
        return -ENOMEM;
    rc = stream_proxy_new(w, NULL, &p);
    if (rc)
        goto free_owner;
    list_append(&s->proxies, &p->link);
    rc = stream_post_flag_alloc(w, STREAM_FLAG_COUNTS, &s->flag);
    if (rc)
        goto close_proxy;
    s->posted = *s->flag;       /* of the streams before, which may still wait */
    append(&streams, s);
    *out = s;
    return 0;
close_proxy:
    close_proxies(&s->proxies);
free_owner:
    free(s);
    return rc;
}

static int stream_of(const struct stream_where *w, uint64_t id,
                     struct owner **out) REQUIRES(recording)
{
    lock_acquire(&lock);
    *out = find_stream(w->stream, id);
    lock_release(&lock);
    return *out ? 0 : stream_new(w, id, out);
}

static int defer_once(const struct stream_where *w, uint64_t id,
                      struct post_slot *s)
{
    struct owner *of;
    int rc;

    lock_acquire(&recording);
    rc = stream_of(w, id, &of);
    lock_release(&recording);
    if (rc) {
        free(s);
        return rc;
    }
    s->once = true;
    s->proxy = proxy_of(of);
    s->flag = of->flag;
    s->number = ++of->posted;
    stream_post_slot_add(&of->posts, s);
    return stream_post_enqueue(w, s);
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
    s = stream_post_slot_new(w, repeat, args, size);
    return s ? defer_once(w, id, s) : -ENOMEM;
}

/* ---- the progress thread's side ---- */

/* Nothing of it is under way any more.  A graph keeps its slots; a stream that
 * was destroyed may not have come to its own yet. */
static bool owner_over(const struct owner *o)
{
    struct list_link *l;

    for (l = o->proxies.next; l != &o->proxies; l = l->next)
        if (!stream_proxy_idle(list_entry(l, struct stream_proxy, link)))
            return false;
    return o->flag ? list_empty(&o->posts) : !stream_posts_pending(&o->posts);
}

static void owner_free(struct owner *o)
{
    close_proxies(&o->proxies);
    stream_posts_free(&o->posts, true);
    if (o->flag)
        stream_flag_free(STREAM_FLAG_COUNTS, o->flag);
    free(o);
}

static void take_over(void)
{
    lock_acquire(&lock);
    move(&over, &ending);
    lock_release(&lock);
}

/* Is any left? */
static bool free_over(void)
{
    struct list_link *l, *next;

    take_over();
    list_each(l, next, &ending) {
        struct owner *o = list_entry(l, struct owner, link);

        if (!owner_over(o))
            continue;
        list_remove(l);
        owner_free(o);
    }
    return !list_empty(&ending);
}

bool stream_graphs_advance(bool *busy)
{
    bool any;

    if (likely(!stream_posts_notified()))
        return false;
    any = stream_posts_advance();
    if (free_over()) {
        stream_posts_notify();
        *busy = true;
    }
    return any;
}

int stream_graphs_failed(const char *call)
{
    int rc = stream_posts_failed();

    if (unlikely(stream_graphs_any()) && stream_proxies_failed(call))
        rc = -EIO;
    return rc;
}

/* ---- ends ---- */

bool stream_graphs_hold(void *stream)
{
    struct list_link *l, *next;
    bool holds = false;

    if (likely(!stream_graphs_any()))
        return false;
    lock_acquire(&lock);
    list_each(l, next, &streams) {
        const struct owner *s = list_entry(l, struct owner, link);

        holds |= has_handle(s, stream) &&
                 __atomic_load_n(s->flag, __ATOMIC_ACQUIRE) < s->posted;
    }
    lock_release(&lock);
    return holds;
}

void stream_graphs_stream_destroyed(void *stream)
{
    struct list_link *l, *next;
    bool any = false;

    if (likely(!stream_graphs_any()))
        return;
    lock_acquire(&lock);
    list_each(l, next, &streams) {
        struct owner *s = list_entry(l, struct owner, link);

        if (has_handle(s, stream)) {
            move_to_over(s);
            any = true;
        }
    }
    lock_release(&lock);
    if (any) {
        stream_posts_notify();
        stream_progress_wake();
    }
}

/* The stream may still look at the flag, or its proxy raise it. */
static bool in_use(const struct owner *s)
{
    return gtl->stream_query(proxy_of(s)->stream) == -EAGAIN ||
           (!gtl_device.host_streams && !list_empty(&s->posts));
}

/* Graphs that still exist end on a thread of the driver's: at any time. */
static bool leave_graphs(void)
{
    struct list_link *l, *next, theirs = LIST_INIT(theirs);
    bool left;

    lock_acquire(&lock);
    left = !list_empty(&graphs);
    list_each(l, next, &graphs)
        move(&list_entry(l, struct owner, link)->proxies, &theirs);
    move(&orphans, &theirs);
    lock_release(&lock);
    close_proxies(&theirs);
    return left;
}

bool stream_graphs_close(void)
{
    struct list_link *l, *next;
    bool left = leave_graphs();

    lock_acquire(&lock);
    move(&streams, &over);
    lock_release(&lock);
    take_over();
    list_each(l, next, &ending) {
        struct owner *o = list_entry(l, struct owner, link);

        list_remove(l);
        if (o->flag && in_use(o)) {
            close_proxies(&o->proxies);
            left = true;
        } else {
            owner_free(o);
        }
    }
    stream_posts_failed();
    return left;
}

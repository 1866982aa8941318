/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: what streams record in place of doing it, and its launches.
 *
 * The commands of all streams of a capture are kept in the order in which they
 * came, which is one of those that their dependencies allow. */
#include "dev_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct object {
    struct object *next;
    void (*release)(void *arg);
    void *arg;
};

struct node {
    struct node *next;
    dev_step *step;
    _Alignas(16) unsigned char arg[DEV_ARG];
};

struct dev_graph {
    int refs;                   /* handles and launches under way */
    int launches;               /* under way */
    uint64_t id;
    struct dev_mark behind;     /* its last launch */
    struct node *first, **last;
    struct object *objects;
    /* While it is recorded. */
    struct dev_stream *origin;
    pthread_t thread;
    enum dev_mode mode;
    bool broken;
};

static __thread enum dev_mode mode_of_thread;

enum dev_mode dev_mode_exchange(enum dev_mode mode)
{
    enum dev_mode was = mode_of_thread;

    mode_of_thread = mode;
    return was;
}

int dev_capture_begin(struct dev_stream *s, enum dev_mode mode)
{
    static uint64_t made;
    struct dev_graph *g = dev_must(calloc(1, sizeof *g));
    int rc = 0;

    g->refs = 1;
    g->id = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    g->last = &g->first;
    g->origin = s;
    g->thread = pthread_self();
    g->mode = mode;
    pthread_mutex_lock(&dev_lock);
    if (s->graph)
        rc = -EBUSY;
    else
        s->graph = g;
    pthread_mutex_unlock(&dev_lock);
    if (rc)
        free(g);
    return rc;
}

enum dev_capture dev_capture_status(struct dev_stream *s)
{
    enum dev_capture is;

    pthread_mutex_lock(&dev_lock);
    is = !s->graph ? DEV_NO_CAPTURE
         : s->graph->broken ? DEV_CAPTURE_BROKEN : DEV_CAPTURES;
    pthread_mutex_unlock(&dev_lock);
    return is;
}

uint64_t dev_graph_id(const struct dev_graph *g)
{
    return g->id;
}

struct dev_graph *dev_capture_graph(struct dev_stream *s)
{
    return dev_capture_status(s) == DEV_CAPTURES ? s->graph : NULL;
}

void dev_capture_break(struct dev_stream *s)
{
    pthread_mutex_lock(&dev_lock);
    if (s->graph)
        s->graph->broken = true;
    pthread_mutex_unlock(&dev_lock);
}

int dev_capture_end(struct dev_stream *s, struct dev_graph **out)
{
    struct dev_graph *g;
    struct dev_stream *t;
    int rc = 0;

    *out = NULL;
    pthread_mutex_lock(&dev_lock);
    g = s->graph;
    if (!g || g->origin != s)
        rc = -EINVAL;
    else if (g->mode != DEV_RELAXED && !pthread_equal(g->thread,
                                                      pthread_self()))
        rc = -EPERM;
    for (t = rc ? NULL : dev_streams; t; t = t->next) {
        if (t->graph != g)
            continue;
        if (t != s && !t->joined)
            rc = -EXDEV;
        t->graph = NULL;
    }
    pthread_mutex_unlock(&dev_lock);
    if (rc == -EINVAL || rc == -EPERM)
        return rc;
    if (rc || g->broken) {
        dev_graph_release(g);
        return rc ? rc : -EIO;
    }
    *out = g;
    return 0;
}

/* By its documentation: a thread in global mode is refused while it records,
 * or any thread records in global mode. */
bool dev_unsafe(void)
{
    bool ok = true;

    if (mode_of_thread == DEV_RELAXED)
        return true;
    pthread_mutex_lock(&dev_lock);
    for (struct dev_stream *s = dev_streams; s; s = s->next) {
        struct dev_graph *g = s->graph;

        if (!g || g->origin != s || g->mode == DEV_RELAXED)
            continue;
        if (pthread_equal(g->thread, pthread_self()) ||
            (mode_of_thread == DEV_GLOBAL && g->mode == DEV_GLOBAL)) {
            g->broken = true;
            ok = false;
        }
    }
    pthread_mutex_unlock(&dev_lock);
    return ok;
}

bool dev_captures_fenced(int device)
{
    bool any = false;

    pthread_mutex_lock(&dev_lock);
    for (struct dev_stream *s = dev_streams; s; s = s->next)
        if (s->graph && s->fenced && s->device == device)
            any = s->graph->broken = true;
    pthread_mutex_unlock(&dev_lock);
    return any;
}

void dev_graph_add(struct dev_stream *s, dev_step *step, const void *arg,
                   size_t n)
{
    struct node *node = dev_must(calloc(1, sizeof *node));

    node->step = step;
    if (n)
        memcpy(node->arg, arg, n);
    *s->graph->last = node;
    s->graph->last = &node->next;
    s->joined = false;
}

void dev_graph_join(struct dev_stream *s, struct dev_graph *g,
                    struct dev_stream *other)
{
    pthread_mutex_lock(&dev_lock);
    if (!s->graph)
        s->graph = g;
    if (other != s)
        other->joined = true;
    pthread_mutex_unlock(&dev_lock);
}

void dev_graph_hold(struct dev_graph *g)
{
    pthread_mutex_lock(&dev_lock);
    g->refs++;
    pthread_mutex_unlock(&dev_lock);
}

void dev_graph_keep(struct dev_graph *g, void (*release)(void *), void *arg)
{
    struct object *o = dev_must(calloc(1, sizeof *o));

    *o = (struct object){ g->objects, release, arg };
    g->objects = o;
}

void dev_graph_release(struct dev_graph *g)
{
    int left;

    pthread_mutex_lock(&dev_lock);
    left = --g->refs;
    pthread_mutex_unlock(&dev_lock);
    if (left)
        return;
    while (g->objects) {
        struct object *o = g->objects;

        g->objects = o->next;
        o->release(o->arg);
        free(o);
    }
    while (g->first) {
        struct node *n = g->first;

        g->first = n->next;
        free(n);
    }
    free(g);
}

static int ended(void *arg)
{
    struct dev_graph *g;

    memcpy(&g, arg, sizeof g);
    pthread_mutex_lock(&dev_lock);
    g->launches--;
    pthread_mutex_unlock(&dev_lock);
    dev_graph_release(g);
    return 0;
}

/* What launches share, they share as on hardware: one starts behind the other
 * if the streams say so. */
void dev_graph_launch(struct dev_graph *g, struct dev_stream *s)
{
    pthread_mutex_lock(&dev_lock);
    g->refs++;
    g->launches++;
    pthread_mutex_unlock(&dev_lock);
    for (struct node *n = g->first; n; n = n->next)
        dev_submit(s, n->step, n->arg, sizeof n->arg);
    dev_submit(s, ended, &g, sizeof g);
}

bool dev_graph_runs(struct dev_graph *g)
{
    bool is;

    pthread_mutex_lock(&dev_lock);
    is = g->launches;
    pthread_mutex_unlock(&dev_lock);
    return is;
}

void dev_graph_in_turn(struct dev_graph *g, struct dev_stream *s)
{
    if (g->behind.stream)
        dev_await(s, dev_recorded(&g->behind));
    dev_graph_launch(g, s);
    dev_record(s, &g->behind);
}

/* ---- what graphs own ---- */

enum { OBJECT = 0x4f424a };
struct dev_object {
    unsigned magic, refs;
    void (*destroy)(void *arg);
    void *arg;
};
__thread bool dev_destroys;

struct dev_object *dev_object_new(void (*destroy)(void *arg), void *arg,
                                  unsigned refs)
{
    struct dev_object *o = dev_must(calloc(1, sizeof *o));

    *o = (struct dev_object){ OBJECT, refs, destroy, arg };
    return o;
}

bool dev_object_is(const void *p)
{
    return ((const struct dev_object *)p)->magic == OBJECT;
}

void dev_object_release(void *object)
{
    struct dev_object *o = object;

    if (__atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL))
        return;
    o->magic = 0;
    dev_destroys = true;
    o->destroy(o->arg);
    dev_destroys = false;
    free(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: sequences of commands on queues, each of which a thread works off
 * in order.  One lock for all of it: speed is no aim here. */
#include "dev_queue.h"
#include "dev_mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cmd {
    struct cmd *next;
    struct dev_stream *stream;
    dev_step *step;
    bool kernel, late;
    uint64_t at;                /* in its stream */
    _Alignas(16) unsigned char arg[DEV_ARG];
};

struct dev_queue {
    struct cmd *first, **last;
    pthread_cond_t more;
    unsigned users;             /* streams */
};

enum { DEVICES = 16, QUEUES = 64, PRIORITIES = 3, LONG = 20000, LATE = 3500 };
pthread_mutex_t dev_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
struct dev_stream *dev_streams;
static struct dev_stream *defaults[DEVICES];
static struct dev_queue *shared[DEVICES][PRIORITIES][QUEUES];
static uint64_t ids;
static int fault;

/* Under the lock: a little while, or until a command of any stream ends. */
static void sleep_briefly(unsigned turns)
{
    struct timespec t;
    long ns = turns < 16 ? 20 * 1000 : 300 * 1000;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ns;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(&progress, &dev_lock, &t);
}

/* Not under the lock. */
static bool is_early(struct cmd *c, unsigned turns)
{
    bool yes;

    pthread_mutex_lock(&dev_lock);
    yes = c->late && turns < LATE && c->stream->wanted < c->at;
    pthread_mutex_unlock(&dev_lock);
    return yes;
}

static int run_step(struct cmd *c)
{
    int rc;

    dev_on = c->stream->device;
    dev_nic_begin();
    rc = c->step(c->arg);
    dev_nic_end();
    dev_on = -1;
    return rc;
}

static int run(struct cmd *c, unsigned turns)
{
    int device = c->stream->device;

    if (is_early(c, turns))
        return DEV_AGAIN;
    if (!c->kernel || !dev_kept_out(device))
        return run_step(c);
    if (turns == LONG)
        fprintf(stderr, "fake device: a kernel of another process, which "
                "waits, keeps those of this one off device %d\n", device);
    return DEV_AGAIN;
}

static void *work(void *arg)
{
    struct dev_queue *q = arg;
    struct cmd *c;
    unsigned turns;
    int rc;

    pthread_mutex_lock(&dev_lock);
    for (;;) {
        while (!q->first)
            pthread_cond_wait(&q->more, &dev_lock);
        c = q->first;
        rc = DEV_AGAIN;
        for (turns = 0; rc == DEV_AGAIN && !fault; turns++) {
            if (turns)
                sleep_briefly(turns);
            pthread_mutex_unlock(&dev_lock);
            rc = run(c, turns);
            pthread_mutex_lock(&dev_lock);
        }
        if (rc < 0 && !fault) {
            fprintf(stderr, "fake device: a command %s (%s)\n",
                    rc == -EFAULT || rc == -EXDEV
                    ? "touched what is not there" : "failed", strerror(-rc));
            fault = rc;
        }
        q->first = c->next;
        if (!q->first)
            q->last = &q->first;
        c->stream->done++;
        free(c);
        pthread_cond_broadcast(&progress);
    }
    return NULL;
}

void *dev_must(void *p)
{
    if (p)
        return p;
    fprintf(stderr, "fake device: out of host memory\n");
    abort();
}

static struct dev_queue *new_queue(void)
{
    struct dev_queue *q = dev_must(calloc(1, sizeof *q));
    pthread_t thread;

    q->last = &q->first;
    pthread_cond_init(&q->more, NULL);
    if (pthread_create(&thread, NULL, work, q))
        dev_must(NULL);
    pthread_detach(thread);
    return q;
}

/* Under the lock: of those for the priority, the one that fewest use. */
static struct dev_queue *queue_for(int device, int priority)
{
    int n = dev_setup()->queues < 0 ? dev_queues : dev_setup()->queues;
    struct dev_queue **of = shared[device][(priority > 0) - (priority < 0) + 1];
    struct dev_queue *q = NULL;

    if (n <= 0)
        return new_queue();
    for (int i = 0; i < n && i < QUEUES; i++) {
        if (!of[i])
            of[i] = new_queue();
        if (!q || of[i]->users < q->users)
            q = of[i];
    }
    q->users++;
    return q;
}

/* Under the lock: one that is gone and has nothing left. */
static struct dev_stream *unused(void)
{
    struct dev_stream *s = dev_streams;

    while (s && (s->live || s->done < s->given))
        s = s->next;
    return s;
}

/* Under the lock. */
static struct dev_stream *create(int device, bool fenced, int priority)
{
    struct dev_stream *s = dev_setup()->again ? unused() : NULL;

    if (!s) {
        s = dev_must(calloc(1, sizeof *s));
        s->next = dev_streams;
        dev_streams = s;
    }
    s->queue = queue_for(device, priority);
    s->device = device;
    s->priority = priority;
    s->fenced = fenced;
    s->live = true;
    s->id = ++ids;
    return s;
}

struct dev_stream *dev_default(int device)
{
    struct dev_stream *s;

    pthread_mutex_lock(&dev_lock);
    if (!defaults[device])
        defaults[device] = create(device, true, 0);
    s = defaults[device];
    pthread_mutex_unlock(&dev_lock);
    return s;
}

struct dev_stream *dev_stream_create(int device, bool fenced, int priority)
{
    struct dev_stream *s;

    pthread_mutex_lock(&dev_lock);
    s = create(device, fenced, priority);
    pthread_mutex_unlock(&dev_lock);
    return s;
}

/* ---- per-thread streams ---- */

struct own {
    struct own *next;
    struct dev_stream *stream;
};
static pthread_key_t of_thread;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *list)
{
    struct own *o = list, *next;

    for (; o; o = next) {
        next = o->next;
        dev_stream_destroy(o->stream);
        free(o);
    }
}

static void make_key(void)
{
    if (pthread_key_create(&of_thread, thread_ends))
        dev_must(NULL);
}

/* The library blocks all signals in its threads; no program does. */
static bool is_librarys(void)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGTERM) && sigismember(&now, SIGINT) &&
           sigismember(&now, SIGUSR1) && sigismember(&now, SIGALRM);
}

struct dev_stream *dev_per_thread(int device, void *owner)
{
    struct own *first, *o;

    if (!dev_setup()->any_thread && is_librarys()) {
        fprintf(stderr, "fake device: a thread of the library's own means its "
                "own per-thread stream\n");
        abort();
    }
    pthread_once(&once, make_key);
    first = o = pthread_getspecific(of_thread);
    while (o && (o->stream->device != device || o->stream->owner != owner))
        o = o->next;
    if (o)
        return o->stream;
    dev_note("per-thread stream", "made");
    o = dev_must(calloc(1, sizeof *o));
    o->next = first;
    o->stream = dev_stream_create(device, true, 0);
    o->stream->owner = owner;
    pthread_setspecific(of_thread, o);
    return o->stream;
}

void dev_stream_destroy(struct dev_stream *s)
{
    struct dev_graph *g = NULL;

    pthread_mutex_lock(&dev_lock);
    s->live = false;
    s->queue->users--;
    if (s->graph) {
        g = s->graph;
        for (struct dev_stream *t = dev_streams; t; t = t->next)
            if (t->graph == g)
                t->graph = NULL;
    }
    pthread_mutex_unlock(&dev_lock);
    if (g)
        dev_graph_release(g);
}

bool dev_stream_dead(const void *p)
{
    struct dev_stream *s;

    pthread_mutex_lock(&dev_lock);
    s = dev_streams;
    while (s && s != p)
        s = s->next;
    pthread_mutex_unlock(&dev_lock);
    return s && !s->live;
}

struct dev_stream *dev_stream_find(const void *p)
{
    struct dev_stream *s;

    pthread_mutex_lock(&dev_lock);
    s = dev_streams;
    while (s && (s != p || !s->live))
        s = s->next;
    pthread_mutex_unlock(&dev_lock);
    return s;
}

static bool is_default(const struct dev_stream *s)
{
    return s == defaults[s->device];
}

/* Under the lock. */
static bool busy(struct dev_stream *s)
{
    struct dev_stream *t;

    s->wanted = s->given;
    if (s->done < s->given)
        return true;
    for (t = is_default(s) ? dev_streams : NULL; t; t = t->next)
        if (t->fenced && t->device == s->device && t->done < t->given)
            return true;
    return false;
}

bool dev_busy(struct dev_stream *s)
{
    bool yes;

    pthread_mutex_lock(&dev_lock);
    yes = busy(s);
    pthread_mutex_unlock(&dev_lock);
    return yes;
}

int dev_fault(void)
{
    int rc;

    pthread_mutex_lock(&dev_lock);
    rc = fault;
    pthread_mutex_unlock(&dev_lock);
    return rc;
}

/* Under the lock. */
static struct cmd *append(struct dev_stream *s, dev_step *step,
                          const void *arg, size_t n, bool kernel)
{
    struct cmd *c;

    s->wanted = s->given;
    if (n > DEV_ARG)
        dev_must(NULL);
    if (s->graph) {
        dev_graph_add(s, step, arg, n);
        return NULL;
    }
    c = dev_must(calloc(1, sizeof *c));
    c->stream = s;
    c->step = step;
    c->kernel = kernel;
    if (n)
        memcpy(c->arg, arg, n);
    *s->queue->last = c;
    s->queue->last = &c->next;
    c->at = ++s->given;
    pthread_cond_signal(&s->queue->more);
    return c;
}

static int until_passed(void *arg)
{
    const struct dev_mark *m = arg;

    return dev_passed(*m) ? 0 : DEV_AGAIN;
}

/* The default stream waits for what fenced ones hold, and these for it. */
static void fence(struct dev_stream *s)
{
    struct dev_stream *t, *null = defaults[s->device];
    struct dev_mark m;

    if (!s->fenced)
        return;
    for (t = dev_streams; t; t = t->next) {
        if (t == s || !t->fenced || t->device != s->device ||
            t->done == t->given || (s != null && t != null))
            continue;
        m = (struct dev_mark){ t, t->given, NULL };
        t->wanted = t->given;
        append(s, until_passed, &m, sizeof m, false);
    }
}

void dev_submit(struct dev_stream *s, dev_step *step, const void *arg,
                size_t n)
{
    pthread_mutex_lock(&dev_lock);
    if (!s->graph)
        fence(s);
    append(s, step, arg, n, false);
    pthread_mutex_unlock(&dev_lock);
}

void dev_late(struct dev_stream *s, dev_step *step, const void *arg, size_t n)
{
    struct cmd *c;

    pthread_mutex_lock(&dev_lock);
    if (!s->graph)
        fence(s);
    c = append(s, step, arg, n, false);
    if (c)                      /* else it is recorded */
        c->late = true;
    pthread_mutex_unlock(&dev_lock);
}

void dev_launch(struct dev_stream *s, dev_step *step, const void *arg,
                size_t n)
{
    pthread_mutex_lock(&dev_lock);
    if (!s->graph)
        fence(s);
    append(s, step, arg, n, true);
    pthread_mutex_unlock(&dev_lock);
}

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

void dev_record(struct dev_stream *s, struct dev_mark *m)
{
    pthread_mutex_lock(&dev_lock);
    if (!s->graph) {
        fence(s);
        append(s, nothing, NULL, 0, false);
    }
    *m = (struct dev_mark){ s, s->given, s->graph };
    pthread_mutex_unlock(&dev_lock);
}

struct dev_mark dev_recorded(const struct dev_mark *m)
{
    struct dev_mark was;

    pthread_mutex_lock(&dev_lock);
    was = *m;
    pthread_mutex_unlock(&dev_lock);
    return was;
}

void dev_await(struct dev_stream *s, struct dev_mark m)
{
    if (m.graph)
        dev_graph_join(s, m.graph, m.stream);
    else
        dev_submit(s, until_passed, &m, sizeof m);
}

bool dev_passed(struct dev_mark m)
{
    bool yes;

    pthread_mutex_lock(&dev_lock);
    yes = !m.stream || m.stream->done >= m.at;
    pthread_mutex_unlock(&dev_lock);
    return yes;
}

void dev_mark_sync(struct dev_mark m)
{
    pthread_mutex_lock(&dev_lock);
    while (m.stream && m.stream->done < m.at)
        pthread_cond_wait(&progress, &dev_lock);
    pthread_mutex_unlock(&dev_lock);
}

int dev_sync(struct dev_stream *s)
{
    int rc;

    pthread_mutex_lock(&dev_lock);
    while (busy(s))
        pthread_cond_wait(&progress, &dev_lock);
    rc = fault;
    pthread_mutex_unlock(&dev_lock);
    return rc;
}

int dev_sync_all(int device)
{
    struct dev_stream *s;
    int rc;

    pthread_mutex_lock(&dev_lock);
    for (s = dev_streams; s; s = s->next)
        s->wanted = s->given;
    for (s = dev_streams; s; s = s->next)
        while (s->device == device && s->done < s->given)
            pthread_cond_wait(&progress, &dev_lock);
    rc = fault;
    pthread_mutex_unlock(&dev_lock);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Triggers are made and freed, and hit by kernels and by the host.  Called by
 * api and, for hits, by the kernel layer; does no operation itself
 * (trig_engine.c). */
#include "trig/trig_int.h"
#include "base/env.h"
#include "core/core_misuse.h"
#include "kernel/kernel.h"
#include "kernel/kernel_memory.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct handle_table trig_table = HANDLE_TABLE(struct trig);

static struct base_lock lock = LOCK_INIT;
static bool is_open GUARDED_BY(lock);

/* ---- a trigger and its tags ---- */

struct trig *trig_find(const char *call, struct shmemx_trig *trig)
{
    struct trig *t = handle_find(&trig_table, trig);

    if (unlikely(!t))
        core_misuse(ERR_ARG, call, "%p is no trigger, or has been freed",
                    (void *)trig);
    return t;
}

bool trig_has_tag(const char *call, const struct trig *t, int tag)
{
    if (likely(tag >= 0 && tag < t->n_tags))
        return true;
    core_misuse(ERR_ARG, call, "tag %d: the trigger has tags 0 to %d", tag,
                t->n_tags - 1);
    return false;
}

void trig_attend(struct trig *t, int threads)
{
    __atomic_fetch_add(&t->attended, (unsigned)threads, __ATOMIC_RELAXED);
}

struct trig *trig_of(struct shmemx_trig *trig)
{
    return handle_find(&trig_table, trig);
}

/* ---- hits ---- */

/* The count has reached a limit, and another thread may have the lock. */
static void work(struct trig *t, int tag)
{
    bool busy = false, left = true;

    if (lock_try(&t->lock)) {
        trig_check(t, tag);
        if (!t->owner.overlaps)
            trig_step(t, &busy);
        left = busy || trig_is_busy(t) || trig_is_held(t, tag);
        lock_release(&t->lock);
    }
    if (left && t->owner.step)
        trig_wake_delayed(t);
    else if (left)
        trig_wake();
}

/* By the processor: a GPU's kernels add to t->hits.  A released operation may
 * complete at once, and the trigger be freed: trig_free() waits for the end. */
static void hit(struct trig *t, int tag, uint64_t n)
{
    trig_trace(t, "hit", tag, n, -1);
    __atomic_fetch_add(&t->hitting, 1, __ATOMIC_RELAXED);
    /* seq_cst: pairs with trig_check(). */
    __atomic_fetch_add(&t->host_hits[tag], n, __ATOMIC_SEQ_CST);
    if (trig_host_count(t, tag) >= __atomic_load_n(&t->limit[tag],
                                                   __ATOMIC_SEQ_CST))
        work(t, tag);
    __atomic_fetch_sub(&t->hitting, 1, __ATOMIC_RELEASE);
}

/* As a GPU's kernel does, if the NIC counts the hits. */
static bool ring_doorbell(const struct trig *t, int tag, uint64_t n)
{
    uint64_t at = t->doorbells && gtl_device.host_streams
                  ? __atomic_load_n(&t->doorbells[tag], __ATOMIC_ACQUIRE) : 0;

    if (!at || !n)
        return false;
    /* release: data that the operation sends come first. */
    __atomic_store_n((uint64_t *)(uintptr_t)at, n, __ATOMIC_RELEASE);
    trig_wake();                /* to see the end of it */
    return true;
}

int trig_hit(const char *call, struct shmemx_trig *trig, int tag, uint64_t n)
{
    struct trig *t = trig_find(call, trig);

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    if (t->copies)
        return trig_copy_refuse(call);
    hit(t, tag, n);
    return 0;
}

/* No thread finds it any more: none is within a hit of it on return. */
static void await_hits(const struct trig *t)
{
    atomics_full_fence();
    trig_late_await();
    while (__atomic_load_n(&t->hitting, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* Has a kernel counted it, and done what it released?  The trigger may have been
 * freed since. */
static bool was_copied(const struct kernel_hit *h)
{
    unsigned begun;
    struct trig *t = trig_late_begin(h->trig, &begun);
    bool is = !t || (t->copies && (unsigned)h->tag < (unsigned)t->n_tags);

    if (t && is && trig_host_count(t, h->tag) >=
                       __atomic_load_n(&t->limit[h->tag], __ATOMIC_SEQ_CST))
        work(t, h->tag);
    trig_late_end(begun);
    if (is)
        trig_notify();
    return is;
}

/* An operation whose arguments change is not for the NIC, which has what it has
 * been given: it waits for hits again, unless it has begun. */
static void leave_nic(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    bool waits = g->armed && trig_count(t, tag) < g->base + g->period;

    if (g->armed && !waits)
        return;                 /* once it has completed */
    trig_nic_leave(t, tag);
    g->no_nic = true;
    if (waits) {
        g->ops->released = false;
        g->next = g->ops;
        t->n_waiting++;
    }
    trig_check(t, tag);
}

/* A kernel's arguments replace the posted ones; misuse ends the job, as in
 * other calls of kernels.  False: the last operation has not completed. */
static bool replace(struct trig *t, const struct kernel_hit *h)
{
    struct trig_tag *g = &t->tags[h->tag];
    bool gets = g->ops && g->ops->op.kind == STREAM_GET;
    const void *sym = gets ? h->source : h->dest;
    char text[CORE_REASON_SIZE];
    struct stream_op *op;

    if (!g->ops || g->n_ops > 1 || (!gets && g->ops->op.kind != STREAM_PUT &&
                                    g->ops->op.kind != STREAM_PUT_SIGNAL))
        core_fatal(ERR_ARG, h->call, "tag %d of a trigger has not one put or "
                   "get, whose arguments a kernel may give", h->tag);
    if (g->nic)
        leave_nic(t, h->tag);
    trig_check(t, h->tag);      /* what earlier hits release keeps its own */
    if (!g->next)
        return false;
    op = &g->ops->op;
    if (h->pe < 0 || h->pe >= core_team_of(&t->ctx)->n_pes ||
        heap_find(sym, h->len) < 0) {
        enum err_code code = core_misuse_reason(&t->ctx, gets ? "source" :
                                                "dest", sym, h->len, h->pe,
                                                text);
        if (code != ERR_CODES)
            core_fatal(code, h->call, "%s, for tag %d, in a kernel of this PE",
                       text, h->tag);
    }
    core_need_local(h->call, gets ? "dest" : "source",
                    gets ? h->dest : h->source, h->len);
    op->dest = h->dest;
    op->source = h->source;
    op->len = h->len;
    op->pe = core_world_pe(&t->ctx, h->pe);
    return true;
}

static bool kernel_hits(const struct kernel_hit *h)
{
    struct trig *t;
    bool replaced = true;

    if (h->copied && was_copied(h))
        return true;
    t = handle_find(&trig_table, h->trig);
    if (!t)
        kernel_hit_refuse_freed(h);
    if (h->tag < 0 || h->tag >= t->n_tags)
        core_fatal(ERR_ARG, h->call, "a kernel of this PE %s tag %d: the "
                   "trigger has tags 0 to %d", h->asks ? "asks for" : "hits",
                   h->tag, t->n_tags - 1);
    if (t->copies && h->how != SHMEMI_DEV_HIT_PLAIN)
        core_fatal(ERR_ARG, h->call, "tag %d of a trigger with "
                   "SHMEMX_TRIG_COPY: a kernel may not give arguments", h->tag);
    if (h->how != SHMEMI_DEV_HIT_PLAIN) {
        if (!lock_try(&t->lock))
            return false;
        replaced = replace(t, h);
        lock_release(&t->lock);
    }
    if (replaced && !ring_doorbell(t, h->tag, h->n))
        hit(t, h->tag, h->n);
    return replaced;
}

/* With SHMEM_CHECK=1. */
static uint64_t sum_of_sources(void *trig, int tag, uint64_t n)
{
    struct trig *t = handle_find(&trig_table, trig);
    uint64_t sum = 0;

    if (!t || tag < 0 || tag >= t->n_tags)
        return 0;
    lock_acquire(&t->lock);
    for (const struct trig_op *op = t->tags[tag].ops;
         op && t->tags[tag].period <= n; op = op->next)
        if ((op->op.kind == STREAM_PUT || op->op.kind == STREAM_PUT_SIGNAL) &&
            !op->op.value)
            sum = kernel_sum(sum, op->op.source, op->op.len);
    lock_release(&t->lock);
    return sum;
}

/* ---- made and freed ---- */

static void free_ops(struct trig_tag *g)
{
    struct trig_op *op, *next;

    for (op = g->ops; op; op = next) {
        next = op->next;
        free(op);
    }
}

static void destroy(void *thing)
{
    struct trig *t = thing;

    if (t->open)
        trig_engine_remove(t);
    for (int i = 0; t->copies && i < t->n_tags; i++)
        trig_copy_leave(t, i);
    if (t->exec.ctx.net) {
        xport_net->quiet(t->exec.ctx.net);
        xport_net->ctx_close(t->exec.ctx.net);
    }
    while (t->n_nic_tags)
        trig_nic_leave(t, t->nic_tags[0]);
    /* From here on nothing of it can fail. */
    stream_errors_take_ring(NULL, &t->exec.failed);
    for (int i = 0; t->tags && i < t->n_tags; i++)
        free_ops(&t->tags[i]);
    kernel_device_free(t->doorbells, (size_t)t->n_tags * sizeof *t->doorbells);
    free(t->nic_tags);
    trig_memory_keep(t);
    free(t->exec.bounce);
    free(t->limit);
    free(t->tags);
}

/* Where NICs have deferred work. */
static int open_nic(struct trig *t)
{
    size_t n = (size_t)t->n_tags;
    void *p;
    int rc;

    t->may_use_nic = xport_trig != &xport_trig_none;
    if (!t->may_use_nic)
        return 0;
    t->nic_tags = malloc(n * sizeof *t->nic_tags);
    if (!t->nic_tags)
        return -ENOMEM;
    /* A NIC does not count all that several threads of a GPU store: of the
     * program's triggers hits are forwarded, of a partitioned message's one
     * thread hits a tag, once in an iteration. */
    if (!t->owner.arg)
        return 0;
    rc = kernel_device_alloc(n * sizeof *t->doorbells, &p);
    if (rc)
        return rc;
    t->doorbells = p;
    return gtl_fill_now(p, 0, n * sizeof *t->doorbells);
}

static int open_trigger(const char *call, struct trig *t, int engine)
{
    size_t n = (size_t)t->n_tags;
    int rc = -ENOMEM;

    t->tags = calloc(n, sizeof *t->tags);
    t->limit = calloc(2 * n, sizeof *t->limit);
    if (!t->tags || !t->limit || !trig_memory_open(t))
        goto fail;
    t->host_hits = t->limit + n;
    memset(t->limit, 0xff, n * sizeof *t->limit);
    t->exec.ctx = core_ctx_own(&core_world);
    rc = engine == SHMEMX_TRIG_COPY ? trig_copy_open(t)
         : engine != SHMEMX_TRIG_SOFT ? open_nic(t) : 0;
    if (!rc && xport_net)
        rc = xport_net->ctx_open(&t->exec.ctx.net, false);
    if (rc)
        goto fail;
    stream_errors_init(&t->exec.failed, NULL, t->exec.ctx.net);
    t->exec.failed.of_trigger = true;
    t->exec.failed.stream = t;          /* no stream has that handle */
    trig_engine_add(t);
    t->open = true;
    return 0;
fail:
    core_misuse(ERR_STREAM, call, "a trigger with %d tags could not be made: "
                "%s", t->n_tags, strerror(-rc));
    return rc;
}

/* The first one starts the layer. */
static int open_layer(const char *call)
{
    int rc = 0;

    lock_acquire(&lock);
    if (!is_open) {
        rc = trig_engine_open();
        is_open = !rc;
        kernel_hit = kernel_hits;
        kernel_sources_sum = sum_of_sources;
        kernel_names.trigger = trig_describe_word;
        if (!rc)
            trig_report_open();
    }
    lock_release(&lock);
    if (rc)
        core_misuse(ERR_STREAM, call, "no thread for triggers: %s",
                    strerror(-rc));
    return rc;
}

static int create(const char *call, const struct core_ctx *ctx, int tags,
                  int engine, const struct trig_owner *owner,
                  struct shmemx_trig **out)
{
    struct trig *t;
    int rc = open_layer(call);

    if (rc)
        return rc;
    t = handle_new(&trig_table);
    if (!t)
        return core_misuse(ERR_STREAM, call, "out of memory"), -ENOMEM;
    t->lock = (struct base_lock)LOCK_INIT;
    t->n_tags = tags;
    t->ctx = core_ctx_own(ctx->team);
    t->released.end = &t->released.first;
    t->issued.end = &t->issued.first;
    t->owner = *owner;
    rc = open_trigger(call, t, engine);
    if (rc) {
        destroy(t);
        handle_release(&trig_table, handle_of_object(t));
        return rc;
    }
    *out = handle_of_object(t);
    return 0;
}

int trig_create(const char *call, const struct core_ctx *ctx, int tags,
                int engine, struct shmemx_trig **out)
{
    static const struct trig_owner program;

    if (engine == SHMEMX_TRIG_NIC && xport_trig->ready()) {
        core_misuse(ERR_NET, call, "no NIC of this PE has deferred work "
                    "(SHMEM_TRIGGER)");
        return -ENOTSUP;
    }
    if (engine == SHMEMX_TRIG_COPY && !trig_hits_directly()) {
        core_misuse(ERR_DEVICE, call, "SHMEMX_TRIG_COPY: kernels of this "
                    "device have no atomics on host memory");
        return -ENOTSUP;
    }
    return create(call, ctx, tags, engine, &program, out);
}

int trig_create_owned(const char *call, int tags, const struct trig_owner *owner,
                      struct shmemx_trig **out)
{
    return create(call, &core_ctx_default, tags,
                  owner->no_nic ? SHMEMX_TRIG_SOFT : SHMEMX_TRIG_AUTO, owner,
                  out);
}

/* The tag of an operation that is not done, or -1. */
static int busy_tag(const struct trig *t, bool *waits)
{
    *waits = false;
    if (t->n_released)
        return t->released.first->tag;
    if (t->n_issued)
        return t->issued.first->tag;
    *waits = true;
    for (int i = 0; t->n_waiting && i < t->n_tags; i++)
        if (t->tags[i].next && !t->tags[i].repeats)
            return i;
    for (int i = 0; t->n_copies && i < t->n_tags; i++)
        if (t->tags[i].copies && t->tags[i].armed && !t->tags[i].repeats)
            return i;
    for (unsigned i = 0; i < t->n_nic_tags; i++)
        if (t->tags[t->nic_tags[i]].armed && !t->tags[t->nic_tags[i]].repeats)
            return t->nic_tags[i];
    return -1;
}

int trig_free(const char *call, struct shmemx_trig *trig)
{
    struct trig *t = trig_find(call, trig);
    bool busy = false, waits;
    int tag;

    if (!t)
        return -EINVAL;
    lock_acquire(&t->lock);
    trig_scan(t);
    trig_step(t, &busy);
    tag = busy_tag(t, &waits);
    lock_release(&t->lock);
    if (tag >= 0) {
        core_misuse(ERR_FREE, call, "an operation of tag %d %s: wait for it "
                    "or call shmemx_trig_reset() first", tag, waits
                    ? "waits for hits" : "has not completed");
        return -EBUSY;
    }
    handle_hide(&t->handle);
    await_hits(t);
    destroy(t);
    handle_reuse(&trig_table, &t->handle);
    return 0;
}

bool trig_hits_directly(void)
{
    return gtl_device.host_adds;
}

int trig_dev(const char *call, struct shmemx_trig *trig,
             shmemx_trig_dev_t *out)
{
    struct trig *t = trig_find(call, trig);
    int rc;

    if (!t)
        return -EINVAL;
    rc = kernel_state(call, SHMEM_DEVICE_CTX_DEFAULT, &out->dev);
    if (rc)
        return rc;
    out->dev.flags &= ~(unsigned)SHMEMI_DEV_CHECK;     /* `done` is ours */
    out->n_tags = (unsigned)t->n_tags;
    out->direct = trig_hits_directly();
    out->copies = t->copies;
    out->hits = (shmemi_u64 *)t->hits;
    out->done = (shmemi_u64 *)t->done;
    out->doorbells = (shmemi_u64 *)t->doorbells;
    out->trig = trig;
    return 0;
}

bool trig_is_nic(const struct shmemx_trig *trig)
{
    const struct trig *t = handle_find(&trig_table, trig);
    bool is = t != NULL;

    for (int i = 0; is && i < t->n_tags; i++)
        is = t->tags[i].nic != NULL;
    return is;
}

static void print_statistics(void)
{
    struct trig_counts *n = &trig_counts;

    if (env.STATS.on && (n->by_host || n->by_nic || n->by_kernel))
        log_print("triggers: %lu operations by threads, %lu by the NIC, %lu by "
                  "kernels; %lu tags found no counter of the NIC",
                  (unsigned long)n->by_host, (unsigned long)n->by_nic,
                  (unsigned long)n->by_kernel, (unsigned long)n->no_counter);
    memset(n, 0, sizeof *n);
}

/* Kernels and streams may still be on their way from it. */
static void close_one(void *thing)
{
    await_hits(thing);
    destroy(thing);
}

void trig_close(void)
{
    lock_acquire(&lock);
    if (!is_open) {
        lock_release(&lock);
        return;
    }
    is_open = false;
    lock_release(&lock);
    trig_report_unfinished();
    trig_engine_close();
    kernel_hit = NULL;
    kernel_sources_sum = NULL;
    kernel_names.trigger = NULL;
    handle_release_all(&trig_table, close_one);
    trig_nic_close();
    print_statistics();
    trig_memory_close();
}

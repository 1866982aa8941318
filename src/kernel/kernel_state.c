/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of kernels: the PEs, contexts and teams as the device knows them.
 *
 * One block of device memory holds the copies that kernels read: the table of
 * objects, a state and rings for each context, a record for each team, and the
 * mappings of the node's PEs.  The host keeps a copy of each and writes it
 * again where it changes.  Called by api when the layer opens, when contexts
 * and teams of kernels come and go, and for shmemx_dev_get(). */
#include "base/env.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "kernel/kernel_int.h"
#include "rt/rt.h"
#include "stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first two teams are SHMEM_DEVICE_TEAM_WORLD and _SHARED. */
enum { OBJECTS = SHMEMI_DEV_OBJECTS, FIRST_SPLIT = 2, RINGS_MOST = 64,
       DEVICE_ALIGN = 64 };
_Static_assert(sizeof(shmemx_dev_t) <= 256, "an argument of a kernel");
_Static_assert(offsetof(struct core_ctl, wait_from) == 0 &&
               offsetof(struct core_ctl, wait_to) == 8,
               "kernels of the software device read these");

struct context {
    shmemx_dev_t state;
    struct kernel_ring *rings[RINGS_MOST];
    unsigned n_rings;
};

static struct base_lock lock = LOCK_INIT;
static struct {
    bool open;                  /* atomic */
    char *device;               /* the block */
    size_t table, states, rings, teams, areas, reach;   /* offsets in it */
    unsigned n_rings;           /* of a context */
    int first, span;            /* reach is of these PEs */
    shmemi_dev_table on_device; /* the host's copy */
    struct context *context[OBJECTS];
    const struct core_team *team[OBJECTS];
    shmemi_dev_record *records;
} k;

/* Before the layer opens, and without a device: its calls end the job. */
static shmemx_dev_t empty = { .host = &kernel_host };
static shmemx_dev_t host_default;       /* the software device's */

static void *on_device(size_t at)
{
    return k.device + at;
}

/* ---- mappings ---- */

static int span_of_node(int *first)
{
    int least = rt_job.pe, most = rt_job.pe;

    for (int i = 0; i < rt_job.n_local; i++) {
        least = rt_job.local_pes[i] < least ? rt_job.local_pes[i] : least;
        most = rt_job.local_pes[i] > most ? rt_job.local_pes[i] : most;
    }
    *first = least;
    return most - least + 1;
}

static int segment_of(int dev_seg)
{
    return dev_seg == SHMEMI_DEV_DEVICE ? HEAP_DEVICE
           : dev_seg == SHMEMI_DEV_HOST ? HEAP_HOST : HEAP_DATA;
}

static shmemi_u64 shift_of(shmemi_u64 at, const void *base)
{
    return at ? at - (uintptr_t)base : SHMEMI_DEV_UNMAPPED;
}

/* Where the device reaches the segments of that PE. */
static shmemi_dev_reach reach_of(int pe)
{
    shmemi_dev_reach r = { .ctl = 0 };
    const void *base;
    int seg;

    for (int i = 0; i < SHMEMI_DEV_SEGS; i++)
        r.map[i] = r.amo[i] = SHMEMI_DEV_UNMAPPED;
    if (!xport_is_mapped(pe))
        return r;
    r.ctl = xport_routes[pe].map[HEAP_HOST];
    for (int i = 0; i < SHMEMI_DEV_SEGS; i++) {
        seg = segment_of(i);
        base = (const void *)heap_segs[seg].base;
        if (!heap_seg_size(seg))
            continue;
        r.map[i] = shift_of(stream_device_address(pe, base, 1), base);
        if (stream_kernel_atomics(seg))
            r.amo[i] = shift_of(stream_device_address_amo(pe, base, 8), base);
    }
    return r;
}

static int write_reach(void)
{
    shmemi_dev_reach *all = calloc((size_t)k.span, sizeof *all);
    int rc;

    if (!all)
        return -ENOMEM;
    for (int i = 0; i < k.span; i++)
        all[i] = reach_of(k.first + i);
    rc = gtl_copy_now(on_device(k.reach), all, (size_t)k.span * sizeof *all);
    free(all);
    return rc;
}

/* ---- contexts ---- */

static int write_state(unsigned at)
{
    const struct context *c = k.context[at];

    return gtl_copy_now(on_device(k.states + at * sizeof c->state), &c->state,
                        sizeof c->state);
}

static int write_table(void)
{
    return gtl_copy_now(on_device(k.table), &k.on_device, sizeof k.on_device);
}

/* A growing heap's size is all that it may have. */
static void fill_segments(shmemx_dev_t *s)
{
    for (int i = 0; i < SHMEMI_DEV_SEGS; i++) {
        int seg = segment_of(i);

        s->base[i] = heap_segs[seg].base;
        s->size[i] = seg == HEAP_DEVICE && heap_device.arena
                     ? heap_device.to : heap_seg_size(seg);
    }
}

static void fill_state(unsigned at, const struct core_team *t, uint64_t ctx)
{
    struct context *c = k.context[at];
    size_t own = at * k.n_rings * sizeof(shmemi_dev_ring);

    c->state = (shmemx_dev_t){
        .magic = SHMEMI_DEV_MAGIC,
        .flags = core_status.checks
                     ? SHMEMI_DEV_CHECK | SHMEMI_DEV_CHECK_ITEMS : 0,
        .my_pe = t->my_pe, .n_pes = t->n_pes, .start = t->start,
        .stride = t->stride, .first = k.first, .span = k.span,
        .my_world_pe = core_world.my_pe, .n_rings = k.n_rings,
        .reach = on_device(k.reach), .rings = on_device(k.rings + own),
        .host = gtl_device.host_streams ? &kernel_host : NULL,
        .table = on_device(k.table), .ctx = ctx,
        .records = (uintptr_t)k.records
    };
    fill_segments(&c->state);
}

static void close_context(unsigned at)
{
    struct context *c = k.context[at];

    for (unsigned i = 0; i < c->n_rings; i++) {
        kernel_progress_remove(c->rings[i]);
        kernel_ring_close(c->rings[i]);
    }
    free(c);
    k.context[at] = NULL;
    k.on_device.ctx[at] = 0;
    k.on_device.state[at] = NULL;
}

/* Logs it, but for what has a line of its own: rings and numbers of contexts. */
static int failed(const char *call, int rc)
{
    const char *cause = gtl_error();

    log_warn(ERR_DEVICE, "%s: kernels cannot communicate: %s",
             symbol_public(call), *cause ? cause : strerror(-rc));
    return rc;
}

static int open_rings(const char *call, unsigned at)
{
    struct context *c = k.context[at];
    shmemi_dev_ring rings[RINGS_MOST];
    int rc;

    for (; c->n_rings < k.n_rings; c->n_rings++) {
        rc = kernel_ring_open(call, &c->rings[c->n_rings], &rings[c->n_rings]);
        if (rc)
            return rc;
        kernel_progress_add(c->rings[c->n_rings]);
    }
    rc = gtl_copy_now(c->state.rings, rings, k.n_rings * sizeof *rings);
    return rc ? failed(call, rc) : 0;
}

static int open_context(const char *call, const struct core_team *t,
                        uint64_t ctx, unsigned *out) REQUIRES(lock)
{
    unsigned at = 0;
    int rc;

    while (at < OBJECTS && k.context[at])
        at++;
    if (at == OBJECTS) {
        log_warn(ERR_CTX, "%s: kernels know at most %d contexts",
                 symbol_public(call), OBJECTS);
        return -ENOMEM;
    }
    k.context[at] = calloc(1, sizeof *k.context[at]);
    if (!k.context[at])
        return failed(call, -ENOMEM);
    fill_state(at, t, ctx);
    rc = open_rings(call, at);
    k.on_device.ctx[at] = ctx;
    k.on_device.state[at] = on_device(k.states + at * sizeof(shmemx_dev_t));
    if (!rc && ((rc = write_state(at)) || (rc = write_table())))
        failed(call, rc);
    if (rc)
        close_context(at);
    *out = at;
    return rc;
}

static int find_context(uint64_t ctx)
{
    for (int i = 0; i < OBJECTS; i++)
        if (k.context[i] && k.on_device.ctx[i] == ctx)
            return i;
    return -1;
}

int kernel_state(const char *call, shmem_ctx_t ctx, shmemx_dev_t *out)
{
    const struct core_ctx *c = (const struct core_ctx *)ctx;
    unsigned made;
    int at, rc = 0;

    lock_acquire(&lock);
    at = find_context((uintptr_t)ctx);
    if (at < 0) {
        rc = core_ctx_is_known(c) && c->device_team
             ? open_context(call, c->device_team, (uintptr_t)ctx, &made)
             : -EINVAL;
        at = rc ? -1 : (int)made;
    }
    if (!rc)
        *out = k.context[at]->state;
    lock_release(&lock);
    if (rc == -EINVAL)
        log_warn(ERR_CTX, "%s: the context is not SHMEM_DEVICE_CTX_DEFAULT, and "
                 "was not made with SHMEM_DEVICE_CTX", symbol_public(call));
    return rc;
}

/* Its requests are complete first. */
static void end_context(const char *call, unsigned at)
{
    for (unsigned i = 0; i < k.context[at]->n_rings; i++)
        kernel_ring_drain(k.context[at]->rings[i], call);
    close_context(at);
}

void kernel_ctx_close(const char *call, shmem_ctx_t ctx)
{
    int at;

    lock_acquire(&lock);
    at = k.open ? find_context((uintptr_t)ctx) : -1;
    if (at >= 0) {
        end_context(call, (unsigned)at);
        write_table();
    }
    lock_release(&lock);
}

/* ---- teams ---- */

static int write_team(unsigned at, const struct core_team *t)
{
    size_t areas = k.areas + at * (size_t)core_world.n_pes * sizeof(uint32_t);
    shmemi_dev_team d = {
        .handle = (uintptr_t)core_team_handle(t), .my_pe = t->my_pe,
        .n_pes = t->n_pes, .start = t->start, .stride = t->stride,
        .area_at = t->area_at + t->kernel_area
    };
    int rc = 0;

    if (t->area_of) {
        d.area_at = t->kernel_area;
        d.area_of = on_device(areas);
        rc = gtl_copy_now(on_device(areas), t->area_of,
                          (size_t)t->n_pes * sizeof *t->area_of);
    }
    if (!rc)
        rc = gtl_copy_now(on_device(k.teams + at * sizeof d), &d, sizeof d);
    k.team[at] = t;
    k.on_device.team[at] = on_device(k.teams + at * sizeof d);
    return rc ? rc : write_table();
}

int kernel_team_open(const struct core_team *t)
{
    unsigned at = FIRST_SPLIT;
    int rc = 0;

    lock_acquire(&lock);
    while (at < OBJECTS && k.team[at])
        at++;
    if (!k.open || at == OBJECTS) {
        if (k.open)
            log_warn(ERR_TEAM, "kernels know at most %d teams: calls of "
                     "kernels refuse this one", OBJECTS);
        rc = -ENOMEM;
    } else {
        rc = write_team(at, t);
    }
    lock_release(&lock);
    return rc;
}

static bool is_of_team(unsigned at, const struct core_team *t)
{
    const struct core_ctx *c = (const struct core_ctx *)k.on_device.ctx[at];

    return at > 0 && k.context[at] && c->device_team == t;
}

void kernel_team_close(const char *call, const struct core_team *t)
{
    lock_acquire(&lock);
    for (unsigned i = 0; k.open && i < OBJECTS; i++) {
        if (is_of_team(i, t))
            end_context(call, i);
        if (i >= FIRST_SPLIT && k.team[i] == t) {
            k.team[i] = NULL;
            k.on_device.team[i] = NULL;
        }
    }
    if (k.open)
        write_table();
    lock_release(&lock);
}

/* ---- opening ---- */

static size_t reserve(size_t *end, size_t size)
{
    size_t at = *end;

    *end += (size + DEVICE_ALIGN - 1) / DEVICE_ALIGN * DEVICE_ALIGN;
    return at;
}

static int alloc_block(void)
{
    size_t end = 0;
    void *p;
    int rc;

    k.n_rings = env.DEVICE_RINGS ? (unsigned)env.DEVICE_RINGS
                : gtl_device.host_streams ? 1 : 4;
    k.span = span_of_node(&k.first);
    k.table = reserve(&end, sizeof(shmemi_dev_table));
    k.states = reserve(&end, OBJECTS * sizeof(shmemx_dev_t));
    k.rings = reserve(&end, OBJECTS * k.n_rings * sizeof(shmemi_dev_ring));
    k.teams = reserve(&end, OBJECTS * sizeof(shmemi_dev_team));
    k.areas = reserve(&end, OBJECTS * (size_t)core_world.n_pes *
                                sizeof(uint32_t));
    k.reach = reserve(&end, (size_t)k.span * sizeof(shmemi_dev_reach));
    rc = gtl->alloc(end, &p);
    if (!rc)
        k.device = p;
    return rc;
}

static int open_block(void) REQUIRES(lock)
{
    int rc = stream_open();

    if (!rc)
        rc = alloc_block();
    if (!rc && !gtl_device.host_streams) {
        k.records = kernel_pinned_alloc(SHMEMI_DEV_RECORDS * sizeof *k.records);
        rc = k.records ? 0 : -ENOMEM;
    }
    if (!rc)
        rc = write_reach();
    if (!rc)
        rc = write_team(0, &core_device_world);
    if (!rc)
        rc = write_team(1, &core_device_shared);
    return rc ? rc : kernel_progress_open();
}

static int open_default_context(const char *call) REQUIRES(lock)
{
    unsigned at;
    int rc = open_context(call, &core_device_world,
                          (uintptr_t)SHMEM_DEVICE_CTX_DEFAULT, &at);

    if (rc)
        kernel_progress_close();
    return rc;
}

static void free_block(void)
{
    static void *old;

    kernel_pinned_retire(k.records, SHMEMI_DEV_RECORDS * sizeof *k.records, &old);
    if (k.device)
        gtl->free(k.device);
    memset(&k, 0, sizeof k);
}

/* Kernels of the software device find it in the process, those of a GPU in
 * their modules. */
static void set_default(void)
{
    host_default = gtl_device.host_streams ? k.context[0]->state : empty;
    if (gtl_device.host_streams)
        kernel_copies_refuse();
    else
        kernel_copies_fill(&k.context[0]->state);
}

int kernel_open(const char *call)
{
    int rc = 0;

    lock_acquire(&lock);
    if (k.open)
        goto unlock;
    rc = open_block();
    rc = rc ? failed(call, rc) : open_default_context(call);
    if (rc) {
        free_block();
        goto unlock;
    }
    set_default();
    if (gtl_device.stale_waits)
        log_warn(ERR_DEVICE, "%s: a running kernel may never see what others "
                 "store in the device heap, which is coarse-grained memory: "
                 "variables that kernels wait for belong in the host heap "
                 "(SHMEM_DEVICE_GRAIN)", symbol_public(call));
    kernel_watch_open(k.records);
    /* release: a thread that sees it sees the rest. */
    __atomic_store_n(&k.open, true, __ATOMIC_RELEASE);
unlock:
    lock_release(&lock);
    return rc;
}

bool kernel_is_open(void)
{
    return __atomic_load_n(&k.open, __ATOMIC_ACQUIRE);
}

void kernel_heap_opened(void)
{
    lock_acquire(&lock);
    if (k.open) {
        write_reach();
        for (unsigned i = 0; i < OBJECTS; i++) {
            if (!k.context[i])
                continue;
            fill_segments(&k.context[i]->state);
            write_state(i);
        }
        set_default();
    }
    lock_release(&lock);
}

void kernel_close(void)
{
    lock_acquire(&lock);
    if (!k.open)
        goto unlock;
    kernel_copies_clear();
    for (unsigned at = 0; at < OBJECTS; at++)
        if (k.context[at])
            end_context("shmem_finalize", at);
    kernel_watch_close();
    kernel_progress_close();
    host_default = empty;
    free_block();
unlock:
    lock_release(&lock);
}

const shmemx_dev_t *kernel_default(void)
{
    return core_state() == CORE_UP && host_default.host ? &host_default
                                                        : &empty;
}

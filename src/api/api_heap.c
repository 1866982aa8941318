/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric memory: each call is made by every PE with the same arguments.
 *
 * Every PE runs the same allocator over the same offsets, so the calls agree
 * without traffic as long as the arguments do.  The first calls prove it, and
 * all of them where SHMEM_CHECK is set: the barrier that the call makes anyway
 * then compares the arguments, and names the odd PE. */
#include "api/api.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "gtl/gtl.h"
#include "msg/msg.h"
#include "stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static uint64_t calls;
/* Requests of calls without a barrier: the next call with one compares
 * them. */
static uint64_t unmet;
/* A hash of all calls with a barrier, and their arguments. */
static uint64_t history;

void api_heap_open(void)
{
    calls = 0;
    unmet = 0;
    history = 0;
}

static void note(const struct coll_args *a)
{
    history += core_activity_call_id(a->call);
    for (int k = 0; k < COLL_VALUES; k++) {
        history ^= a->value[k];
        history = (history << 7 | history >> 57) * 0x9e3779b97f4a7c15u;
    }
}

/* A barrier, which finds that earlier calls differed, but not in what. */
static void compare_history(const char *call)
{
    uint64_t theirs;
    int odd = coll_differs(&core_world, history, &theirs);

    if (odd >= 0 && core_world.my_pe == 0)
        core_fatal(ERR_HEAPARG, call, "PE %d and this PE passed different "
                   "arguments to one of the first %llu allocation calls; "
                   "SHMEM_CHECK=1 names it", odd, (unsigned long long)calls);
}

/* The barrier of an allocation call, with the comparison when it is due: of the
 * first calls, and after each time as many of all of them together. */
static void sync_and_check(const struct coll_args *a)
{
    struct coll_args all = *a;

    /* First, since other addresses follow from other sizes. */
    all.label[0] = "a total of SHMEMX_MALLOC_NO_BARRIER bytes";
    all.value[0] = unmet;
    for (int k = 1; k < COLL_VALUES; k++) {
        all.label[k] = a->label[k - 1];
        all.value[k] = a->value[k - 1];
    }
    core_activity_enter(a->call, &core_world);
    core_quiet(NULL, &core_ctx_default);
    note(&all);
    if (calls++ < (uint64_t)env.CHECK_ALLOC || core_status.checks)
        coll_check_args(&core_world, &all);
    else if (env.CHECK_ALLOC && !(calls & (calls - 1)))
        compare_history(a->call);
    else
        coll_sync(&core_world);
}
#define SYNC_AND_CHECK(...)                                                 \
    sync_and_check(&(struct coll_args){ ERR_HEAPARG, __VA_ARGS__, NULL })

/* The variables to raise for a heap of that size.  Where no variable sizes the
 * device heap, the device's own bound does, up to the default size. */
static void what_to_raise(const struct heap_space *space, size_t size,
                          char out[2 * API_LIMIT_TEXT])
{
    const char *name = heap_env_size(space->seg, &(size_t){ 0 });
    const bool device = space == &heap_device;
    char bound[API_LIMIT_TEXT];

    if (!name && (!device || size > API_DEVICE_HEAP_DEFAULT))
        name = device ? "DEVICE_SYMMETRIC_SIZE" : "SYMMETRIC_SIZE";
    if (space->parent)
        strcpy(out, "the size it was created with");
    else if (!device || !api_device_limit_text(size, bound))
        snprintf(out, 2 * API_LIMIT_TEXT, "SHMEM_%s", name ? name
                 : device ? "DEVICE_SYMMETRIC_SIZE" : "SYMMETRIC_SIZE");
    else
        snprintf(out, 2 * API_LIMIT_TEXT, "%s%s%s%s", name ? "SHMEM_" : "",
                 name ? name : "", name ? " and " : "", bound);
}

/* PE 0 reports each caller that ran out of memory once: all PEs run out
 * together. */
void api_heap_report_full(const char *call, const struct heap_space *space,
                          size_t size, const char *how, const void *caller)
{
    enum { CALLERS = 256 };
    static const void *reported[CALLERS];
    const bool device = space == &heap_device;
    char requested[24], used[24], total[24], largest[24];
    char raise[2 * API_LIMIT_TEXT];
    struct heap_usage u;
    int i;

    for (i = 0; i < CALLERS && reported[i] && reported[i] != caller; i++)
        ;
    if (core_world.my_pe || i == CALLERS || reported[i] == caller)
        return;
    reported[i] = caller;
    heap_usage_get(space, &u);
    what_to_raise(space, u.total + (size < SIZE_MAX - u.total ? size : 0),
                  raise);
    log_warn(ERR_HEAP, "%s: the symmetric heap%s is full: asked %s%s, used %s "
             "of %s, largest free block %s; raise %s", symbol_public(call),
             space->parent ? " of a space"
             : device ? " in device memory" : "",
             log_size(requested, (double)size), how,
             log_size(used, (double)u.used), log_size(total, (double)u.total),
             log_size(largest, (double)u.largest_free), raise);
}

static void report_no_room(const char *call, const struct api_request *r,
                           int rc, const void *caller)
{
    char how[48], align[24], most[24];

    log_size(align, (double)r->align);
    if (rc == -EDOM && r->space->seg == HEAP_DEVICE &&
        r->align <= r->space->to - r->space->from) {
        if (core_world.my_pe == 0)
            log_warn(ERR_ARG, "%s: alignment %zu is more than the heaps in "
                     "device memory have, which the driver aligns to %s",
                     symbol_public(call), r->align,
                     log_size(most, (double)r->space->align));
        return;
    }
    snprintf(how, sizeof how, " at a multiple of %s", align);
    api_heap_report_full(call, r->space, r->size,
                         r->align > HEAP_ALIGN ? how : "", caller);
}

/* Has the memory been made, and registered? */
static bool is_covered(const void *p, size_t size)
{
    size_t end = (uintptr_t)p + size - heap_segs[HEAP_HOST].base;

    return heap_device_has_memory(p, size) &&
           (!xport_net || heap_find(p, 1) != HEAP_HOST ||
            xport_net->is_registered(end));
}

/* Adds memory for a new block where the heap grows, and makes the off-node PEs
 * reach it.  False, on all PEs alike: there is none. */
bool api_heap_cover(const char *call, const void *p, size_t size)
{
    size_t end = (uintptr_t)p + size - heap_segs[HEAP_HOST].base;
    bool all = false;
    int rc = 0;

    if (is_covered(p, size))
        return true;
    if (!heap_device_has_memory(p, size))
        return api_device_cover(p, size);
    /* All cover as much, so all try the smaller region if one has to. */
    for (int exact = 0; exact < 2 && !all; exact++) {
        rc = xport_net->register_up_to(end, exact);
        all = api_min(rc == 0);
        rc = xport_net->register_agreed(all);
    }
    if (all && rc)
        core_fatal(ERR_NET, call, "the keys of the heap cannot be published");
    return all;
}

static void report_damage(const char *call, const struct heap_damage *d)
{
    core_fatal(ERR_OVERRUN, call, "the block of %zu bytes at %p was overrun by "
               "%zu byte%s %s its %s, by a store of this PE or a put of a peer",
               d->size, d->block, d->bytes, d->bytes == 1 ? "" : "s",
               d->before ? "before" : "past", d->before ? "start" : "end");
}

void api_heap_check_guards(const char *call)
{
    enum { MOST = 4096 };       /* in each barrier; others come next time */
    struct heap_damage d;

    if (unlikely(core_status.checks) && heap_guard_scan(MOST, &d))
        report_damage(call, &d);
}

/* The number of a space, the same on all PEs. */
static uint64_t number_of(const struct heap_space *s)
{
    return (uint64_t)s->seg << 56 | s->from;
}

static void clear(const char *call, void *p, size_t size)
{
    int rc = heap_clear(p, size);

    if (rc)
        core_fatal(ERR_DEVICE, call, "clearing %zu bytes at %p: %s", size, p,
                   gtl_error());
}

void *api_allocate(const char *call, const struct api_request *r,
                   const void *caller)
{
    bool late;                  /* its memory comes after the barrier */
    void *p = NULL;
    int rc = 0;

    core_need_up(call);
    api_mpi_check();
    if (r->size == 0 && !core_status.checks)
        return NULL;            /* by the standard without a barrier */
    if (!r->space) {
        api_device_report_disabled(call);
        return NULL;
    }
    if (r->space == &heap_device && api_device_require())
        return NULL;
    if (r->size)
        rc = fault_hit(FAULT_HEAP_ALLOC)
             ? -ENOMEM
             : heap_alloc(r->space, r->size, r->align, r->hints, &p);
    if (unlikely(core_status.checks) && p)
        heap_guard_fill(p);
    late = p && !heap_device_has_memory(p, r->size);
    if (r->clear && p && !late)
        clear(call, p, r->size);
    if (r->hints & SHMEMX_MALLOC_NO_BARRIER) {
        unmet += r->size;
        if (p && !is_covered(p, r->size))   /* else it waits for no PE */
            core_activity_enter(call, &core_world);
    } else {
        SYNC_AND_CHECK(call, { "size", "alignment", "hints", "space" },
                       { r->size, r->align, (uint64_t)r->hints,
                         number_of(r->space) });
    }
    if (rc)
        report_no_room(call, r, rc, caller);
    if (p && !api_heap_cover(call, p, r->size)) {
        heap_free(p);
        p = NULL;
    }
    if (r->clear && p && late) {
        clear(call, p, r->size);
        coll_sync(&core_world);
    }
    return p;
}

static void *allocate(const char *call, size_t size, const void *caller)
{
    return api_allocate(call, &(struct api_request){
                            .space = api_default_space, .size = size }, caller);
}

void *pshmem_malloc(size_t size)
{
    CORE_TRACE_CALL(__func__);

    return allocate(__func__, size, __builtin_return_address(0));
}
API_ALIAS(shmem_malloc)

void *pshmem_calloc(size_t count, size_t size)
{
    CORE_TRACE_CALL(__func__);
    size_t bytes;

    core_need_up(__func__);
    /* Too much to express is too much to have, on every PE alike. */
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return api_allocate(__func__, &(struct api_request){
                            .space = api_default_space, .size = bytes,
                            .clear = true }, __builtin_return_address(0));
}
API_ALIAS(shmem_calloc)

bool api_alignment_ok(const char *call, size_t *alignment)
{
    static _Atomic bool warned;
    size_t requested = *alignment;

    core_need_up(call);
    if (!requested || requested & (requested - 1)) {
        if (core_world.my_pe == 0)
            log_warn(ERR_ARG, "%s: alignment %zu is not a power of two",
                     symbol_public(call), requested);
        return false;
    }
    if (requested >= sizeof(void *))
        return true;
    *alignment = sizeof(void *);
    /* relaxed: only the thread that finds false prints. */
    if (core_world.my_pe == 0 &&
        !atomic_exchange_explicit(&warned, true, memory_order_relaxed))
        log_warn(ERR_ARG, "%s: alignment %zu is less than that of a pointer "
                 "and is rounded up to %zu", symbol_public(call), requested,
                 sizeof(void *));
    return true;
}

void *pshmem_align(size_t alignment, size_t size)
{
    CORE_TRACE_CALL(__func__);

    if (!api_alignment_ok(__func__, &alignment))
        return NULL;
    return api_allocate(__func__, &(struct api_request){
                            .space = api_default_space, .size = size,
                            .align = alignment }, __builtin_return_address(0));
}
API_ALIAS(shmem_align)

void *pshmem_malloc_with_hints(size_t size, long hints)
{
    CORE_TRACE_CALL(__func__);
    bool device = hints & (SHMEM_DEVICE_MALLOC_HOST_INIT |
                           SHMEM_DEVICE_MALLOC_KERNEL_INIT);

    return api_allocate(__func__, &(struct api_request){
                            .space = !device ? api_default_space
                                     : api_device_possible() ? &heap_device
                                                             : NULL,
                            .size = size, .hints = hints },
                        __builtin_return_address(0));
}
API_ALIAS(shmem_malloc_with_hints)

/* The block's size, or a fatal error. */
static size_t need_block(const char *call, const void *ptr)
{
    struct heap_damage d;
    size_t size = 0;
    long hints;

    if (unlikely(core_status.checks) && heap_guard_damaged(ptr, &d))
        report_damage(call, &d);
    if (!heap_block(ptr, &size, &hints))
        core_fatal(ERR_FREE, call, heap_space_of(ptr)
                   ? "%p is not the start of a live block: freed twice, or a "
                     "pointer into a block"
                   : "%p is not in the symmetric heap", ptr);
    return size;
}

void pshmem_free(void *ptr)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    if (!ptr && !core_status.checks)
        return;
    if (ptr)
        msg_memory_freed(__func__, ptr, need_block(__func__, ptr));
    SYNC_AND_CHECK(__func__, { "@ptr" }, { core_position(ptr) });
    if (ptr)
        heap_free(ptr);
}
API_ALIAS(shmem_free)

void *api_reallocate(const char *call, struct heap_space *space, void *ptr,
                     size_t size, const void *caller)
{
    void *moved = NULL;
    size_t was, kept;
    int rc;

    core_need_up(call);
    if (!ptr)
        return api_allocate(call, &(struct api_request){
                                .space = space ? space : api_default_space,
                                .size = size }, caller);
    if (!size) {
        pshmem_free(ptr);
        return NULL;
    }
    was = need_block(call, ptr);
    if (space == &heap_device && api_device_require())
        return NULL;
    /* No PE's traffic to the old block is under way when it moves, and none to
     * the new block starts before all PEs have moved. */
    SYNC_AND_CHECK(call, { "@ptr", "size", "space" },
                   { core_position(ptr), size,
                     number_of(space ? space : heap_space_of(ptr)) });
    rc = fault_hit(FAULT_HEAP_ALLOC)
             ? -ENOMEM
             : heap_resize(space, ptr, size, api_heap_cover, call, &moved);
    if (rc == -EREMOTEIO)
        core_fatal(ERR_DEVICE, call, "moving the block of %zu bytes at %p: %s",
                   was, ptr, gtl_error());
    if (rc && rc != -ENOBUFS)   /* which has a line */
        api_heap_report_full(call, space ? space : heap_space_of(ptr), size, "",
                             caller);
    if (unlikely(core_status.checks) && moved)
        heap_guard_fill(moved);
    kept = moved == ptr ? size : 0;
    if (moved && kept < was)
        msg_memory_freed(call, (char *)ptr + kept, was - kept);
    coll_sync(&core_world);
    return moved;
}

void *pshmem_realloc(void *ptr, size_t size)
{
    CORE_TRACE_CALL(__func__);

    return api_reallocate(__func__, NULL, ptr, size,
                          __builtin_return_address(0));
}
API_ALIAS(shmem_realloc)

/* Names from before 1.2. */
void *pshmalloc(size_t size)
{
    return allocate(__func__, size, __builtin_return_address(0));
}
API_ALIAS(shmalloc)

void pshfree(void *ptr)
{
    pshmem_free(ptr);
}
API_ALIAS(shfree)

void *pshrealloc(void *ptr, size_t size)
{
    return pshmem_realloc(ptr, size);
}
API_ALIAS(shrealloc)

void *pshmemalign(size_t alignment, size_t size)
{
    CORE_TRACE_CALL(__func__);

    return pshmem_align(alignment, size);
}
API_ALIAS(shmemalign)

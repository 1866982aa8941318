/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory spaces: handles are the heap's own objects.  Programs make these
 * calls, and api_setup.c opens the default space.  The draft allows any value as a
 * handle, so space_of() compares it and never follows it unchecked. */
#include "api/api_coll.h"
#include "base/env.h"
#include "gtl/gtl.h"
#include "heap/heap.h"
#include "msg/msg.h"
#include "shmem_space.h"
#include "stream/stream.h"

#include <errno.h>

struct heap_space *api_default_space = &heap_default;

void api_space_open(void)
{
    bool gpu = env.DEFAULT_SPACE == ENV_SPACE_GPU || !api_space_cpu();

    api_default_space = gpu ? &heap_device : &heap_default;
}

static shmem_space_t handle_of(struct heap_space *s)
{
    return (shmem_space_t)s;
}

/* The space of a handle, or NULL: the draft allows a program to pass any
 * value. */
static struct heap_space *space_of(shmem_space_t space)
{
    struct heap_space *s = (struct heap_space *)space;

    if (s == &heap_device)
        return api_device_possible() ? s : NULL;
    return s == &heap_default || heap_space_is_created(s) ? s : NULL;
}

shmem_space_t pshmemx_space_predefined(int which)
{
    struct heap_space *s = which == SHMEMI_SPACE_DEFAULT ? api_default_space
                           : which == SHMEMI_SPACE_GPU ? &heap_device
                                                       : &heap_default;

    core_need_up(__func__);
    if (which == SHMEMI_SPACE_CPU && !api_space_cpu())
        s = NULL;
    return handle_of(space_of(handle_of(s)));
}
API_ALIAS(shmemx_space_predefined)

shmem_team_t pshmemx_space_team(shmem_space_t space)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;

    pshmem_space_get_team(space, &team);
    return team;
}
API_ALIAS(shmemx_space_team)

/* ---- memory ---- */

void *pshmem_space_malloc(shmem_space_t space, size_t size)
{
    CORE_TRACE_CALL(__func__);

    return api_allocate(__func__, &(struct api_request){
                            .space = space_of(space), .size = size },
                        __builtin_return_address(0));
}
API_ALIAS(shmem_space_malloc)

void *pshmem_space_calloc(shmem_space_t space, size_t count, size_t size)
{
    CORE_TRACE_CALL(__func__);
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return api_allocate(__func__, &(struct api_request){
                            .space = space_of(space), .size = bytes,
                            .clear = true }, __builtin_return_address(0));
}
API_ALIAS(shmem_space_calloc)

void *pshmem_space_align(shmem_space_t space, size_t alignment, size_t size)
{
    CORE_TRACE_CALL(__func__);

    if (!api_alignment_ok(__func__, &alignment))
        return NULL;
    return api_allocate(__func__, &(struct api_request){
                            .space = space_of(space), .size = size,
                            .align = alignment }, __builtin_return_address(0));
}
API_ALIAS(shmem_space_align)

void *pshmem_space_realloc(shmem_space_t space, void *ptr, size_t size)
{
    CORE_TRACE_CALL(__func__);
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    return s ? api_reallocate(__func__, s, ptr, size,
                              __builtin_return_address(0)) : NULL;
}
API_ALIAS(shmem_space_realloc)

void pshmem_space_free(shmem_space_t space, void *ptr)
{
    CORE_TRACE_CALL(__func__);
    struct heap_space *s = space_of(space), *is;

    core_need_up(__func__);
    if (!s)
        return;
    is = heap_space_of(ptr);
    if (ptr && is && is != s)
        log_debug(LOG_API, "shmem_space_free: %p lies in another space", ptr);
    pshmem_free(ptr);
}
API_ALIAS(shmem_space_free)

/* ---- questions ---- */

int pshmem_space_is_available(shmem_space_t space)
{
    core_need_up(__func__);
    return space_of(space) ? 0 : -ENODEV;
}
API_ALIAS(shmem_space_is_available)

int pshmemx_space_usable(shmem_space_t space)
{
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    return s && (s != &heap_device || s->arena || api_device_known());
}
API_ALIAS(shmemx_space_usable)

int pshmem_query_device_awareness(int *enabled)
{
    int is;

    core_need_up(__func__);
    is = api_device_aware();
    if (enabled)
        *enabled = is;
    return is;
}
API_ALIAS(shmem_query_device_awareness)

int pshmem_get_space(void *ptr, shmem_space_t *space)
{
    struct heap_space *s;

    core_need_up(__func__);
    s = heap_space_of(ptr);
    if (!s || !space)
        return -EINVAL;
    *space = handle_of(s);
    return 0;
}
API_ALIAS(shmem_get_space)

int pshmem_team_get_space(shmem_team_t team, shmem_space_t *space)
{
    struct heap_space *s;
    struct core_team *t;

    core_need_up(__func__);
    t = api_team_or_null(__func__, team);
    s = !t ? NULL : t->space ? t->space : api_default_space;
    if (!space_of(handle_of(s)) || !space)
        return -EINVAL;
    *space = handle_of(s);
    return 0;
}
API_ALIAS(shmem_team_get_space)

void *pshmem_space_ptr(shmem_space_t space, const void *dest, int pe)
{
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    return s && heap_space_of(dest) == s ? pshmem_ptr(dest, pe) : NULL;
}
API_ALIAS(shmem_space_ptr)

/* Addresses are unified: the device reaches memory at the program's address. */
static bool device_sees(const void *p)
{
    struct gtl_range r;

    return gtl != &gtl_none && (gtl_device.host_streams ||
           (!gtl->classify(p, &r) && r.kind != GTL_PRIVATE));
}

void *pshmemx_device_ptr(const void *dest, int pe)
{
    void *p;

    core_need_up(__func__);
    if (pe < 0 || pe >= core_world.n_pes)
        return NULL;
    if (heap_find(dest, 1) == HEAP_DEVICE)
        return (void *)core_device_address(pe, dest);
    p = pshmem_ptr(dest, pe);
    return p && device_sees(p) ? p : NULL;
}
API_ALIAS(shmemx_device_ptr)

/* ---- the names of the draft for GPUs ---- */

static struct heap_space *device_space(void)
{
    return api_device_possible() ? &heap_device : NULL;
}

void *pshmemg_malloc(size_t size)
{
    CORE_TRACE_CALL(__func__);

    return api_allocate(__func__, &(struct api_request){
                            .space = device_space(), .size = size },
                        __builtin_return_address(0));
}
API_ALIAS(shmemg_malloc)

void *pshmemg_calloc(size_t count, size_t size)
{
    CORE_TRACE_CALL(__func__);
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return api_allocate(__func__, &(struct api_request){
                            .space = device_space(), .size = bytes,
                            .clear = true }, __builtin_return_address(0));
}
API_ALIAS(shmemg_calloc)

void *pshmemg_align(size_t alignment, size_t size)
{
    CORE_TRACE_CALL(__func__);

    if (!api_alignment_ok(__func__, &alignment))
        return NULL;
    return api_allocate(__func__, &(struct api_request){
                            .space = device_space(), .size = size,
                            .align = alignment }, __builtin_return_address(0));
}
API_ALIAS(shmemg_align)

void pshmemg_free(void *ptr)
{
    CORE_TRACE_CALL(__func__);

    pshmem_free(ptr);
}
API_ALIAS(shmemg_free)

/* ---- spaces that the program makes ---- */

enum {
    GRAINS = SHMEMX_SPACE_GRAIN_COARSE | SHMEMX_SPACE_GRAIN_FINE |
             SHMEMX_SPACE_GRAIN_UNCACHED
};

static bool are_flags(const shmem_space_config_t *config)
{
    long grain = config->flags & GRAINS;

    return !(config->flags & ~(SHMEM_SPACE_FLAG_DEFAULT | GRAINS)) &&
           !(grain & (grain - 1)) &&
           (!grain || config->device_type == SHMEM_DEVICE_GPU);
}

static void pass_hint(long flags)
{
    if (flags & SHMEMX_SPACE_GRAIN_COARSE)
        api_device_hint(ENV_GRAIN_COARSE);
    else if (flags & SHMEMX_SPACE_GRAIN_FINE)
        api_device_hint(ENV_GRAIN_FINE);
    else if (flags & SHMEMX_SPACE_GRAIN_UNCACHED)
        api_device_hint(ENV_GRAIN_UNCACHED);
}

/* The space and, unless that is NULL, a team of it: all or nothing. */
static int create(const char *call, const shmem_space_config_t *config,
                  struct heap_space **out, struct core_team **team,
                  const void *caller)
{
    struct heap_space *from = config->device_type == SHMEM_DEVICE_GPU
                              ? &heap_device : &heap_default, *s;
    int rc;

    if (from == &heap_device) {
        api_device_report_disabled(call);
        pass_hint(config->flags);
        rc = api_device_require();
        if (rc)
            return rc;
    }
    /* All PEs' allocators are in the same state: all have room, or none. */
    rc = heap_space_create(from, config->size, &s);
    if (rc) {
        api_heap_report_full(call, from, config->size,
                             " from a multiple of 2 MiB on", caller);
        return rc;
    }
    if (!api_heap_cover(call, (void *)(heap_segs[s->seg].base + s->from),
                        s->to - s->from))
        rc = -ENOMEM;
    if (team && !rc)
        rc = coll_team_split(&core_world, 0, 1, core_world.n_pes, team);
    if (rc) {
        heap_space_destroy(s);
        return rc;
    }
    if (team)
        (*team)->space = s;
    *out = s;
    return 0;
}

int pshmem_space_create(const shmem_space_config_t *config,
                        shmem_space_t *space, shmem_team_t *team)
{
    CORE_TRACE_CALL(__func__);
    struct heap_space *s = NULL;
    struct core_team *t = NULL;
    int rc;

    core_need_up(__func__);
    if (!config || !space || !config->size ||
        !are_flags(config) ||
        (config->device_type != SHMEM_DEVICE_CPU &&
         config->device_type != SHMEM_DEVICE_GPU))
        return -EINVAL;
    if (config->device_type == SHMEM_DEVICE_CPU && !api_space_cpu())
        return -ENODEV;
    /* Seldom called, and unequal spaces would be wrong data later. */
    core_activity_enter(__func__, &core_world);
    coll_check_args(&core_world, &(struct coll_args){
                        ERR_HEAPARG, __func__, { "size", "type", "flags" },
                        { config->size, config->device_type,
                                (uint64_t)config->flags }, NULL });
    rc = create(__func__, config, &s, team ? &t : NULL,
                __builtin_return_address(0));
    if (rc)
        return rc;
    if (config->flags & SHMEM_SPACE_FLAG_DEFAULT)
        api_default_space = s;
    *space = handle_of(s);
    if (team)
        *team = core_team_handle(t);
    return 0;
}
API_ALIAS(shmem_space_create)

int pshmem_space_destroy(shmem_space_t space)
{
    CORE_TRACE_CALL(__func__);
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    if (!s || !s->parent)
        return -EINVAL;
    API_COLL_ENTER(&core_world, ERR_HEAPARG, __func__, .label = { "space" },
                   .value = { s->from });
    /* Teams split from it may live on some PEs only. */
    if (!api_min(!core_team_of_space(s)))
        return -EBUSY;
    /* No PE's traffic to its blocks is under way. */
    coll_barrier_world();
    if (api_default_space == s)
        api_space_open();
    msg_memory_freed(__func__, (void *)(heap_segs[s->seg].base + s->from),
                       s->to - s->from);
    heap_space_destroy(s);
    return 0;
}
API_ALIAS(shmem_space_destroy)

int pshmem_space_get_team(shmem_space_t space, shmem_team_t *team)
{
    struct heap_space *s = space_of(space);
    struct core_team *t;

    core_need_up(__func__);
    if (!s || !team)
        return -EINVAL;
    t = s->parent ? core_team_of_space(s)
        : s == &heap_device ? &core_device_world : &core_world;
    *team = core_team_handle(t ? t : &core_world);
    return 0;
}
API_ALIAS(shmem_space_get_team)

int pshmem_space_get_device_type(shmem_space_t space,
                                 shmem_device_type_t *type)
{
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    if (!s || !type)
        return -EINVAL;
    *type = s->seg == HEAP_DEVICE ? SHMEM_DEVICE_GPU : SHMEM_DEVICE_CPU;
    return 0;
}
API_ALIAS(shmem_space_get_device_type)

int pshmem_space_get_caps(shmem_space_t space, shmem_space_cap_t *caps)
{
    struct heap_space *s = space_of(space);
    shmem_space_cap_t c = SHMEM_SPACE_CAP_RMA | SHMEM_SPACE_CAP_COLLECTIVES |
                          SHMEM_SPACE_CAP_WORLD_ACCESS;
    bool direct;

    core_need_up(__func__);
    if (!s || !caps || (s->seg == HEAP_DEVICE && !api_device_known()))
        return -EINVAL;
    direct = s->seg == HEAP_HOST || heap_device_host_access ||
             (!heap_device.arena && gtl_device.host_access);
    if (direct)
        c |= SHMEM_SPACE_CAP_DIRECT_ACCESS;
    if (direct || gtl_device.kernels)
        c |= SHMEM_SPACE_CAP_ATOMICS;
    *caps = c;
    return 0;
}
API_ALIAS(shmem_space_get_caps)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory spaces: handles are the heap's own objects. */
#include "api/api.h"
#include "base/env.h"
#include "gtl/gtl.h"
#include "heap/heap.h"
#include "shmem_space.h"

#include <errno.h>

struct heap_space *api_default_space = &heap_default;

void api_space_open(void)
{
    bool gpu = env.DEFAULT_SPACE == ENV_SPACE_GPU ||
               !(env.ENABLE_CPU_SPACE && env.ENABLE_SPACE_CPU);

    api_default_space = gpu ? &heap_device : &heap_default;
}

static shmem_space_t handle_of(struct heap_space *s)
{
    return (shmem_space_t)s;
}

/* Only what this library has handed out is one: the draft lets a program pass
 * anything. */
static struct heap_space *space_of(shmem_space_t space)
{
    struct heap_space *s = (struct heap_space *)space;

    if (s == &heap_device)
        return api_device_possible() ? s : NULL;
    return s == &heap_default || heap_space_made(s) ? s : NULL;
}

shmem_space_t pshmemx_space_predefined(int which)
{
    struct heap_space *s = which == SHMEMI_SPACE_DEFAULT ? api_default_space
                           : which == SHMEMI_SPACE_GPU ? &heap_device
                                                       : &heap_default;

    core_need_up(__func__);
    if (which == SHMEMI_SPACE_CPU &&
        !(env.ENABLE_CPU_SPACE && env.ENABLE_SPACE_CPU))
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
    return api_allocate(__func__, &(struct api_request){
                            .space = space_of(space), .size = size },
                        __builtin_return_address(0));
}
API_ALIAS(shmem_space_malloc)

void *pshmem_space_calloc(shmem_space_t space, size_t count, size_t size)
{
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
    if (!api_alignment_ok(__func__, alignment))
        return NULL;
    return api_allocate(__func__, &(struct api_request){
                            .space = space_of(space), .size = size,
                            .align = alignment }, __builtin_return_address(0));
}
API_ALIAS(shmem_space_align)

void *pshmem_space_realloc(shmem_space_t space, void *ptr, size_t size)
{
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    return s ? api_reallocate(__func__, s, ptr, size,
                              __builtin_return_address(0)) : NULL;
}
API_ALIAS(shmem_space_realloc)

void pshmem_space_free(shmem_space_t space, void *ptr)
{
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
    core_need_up(__func__);
    return space_of(space) != NULL;
}
API_ALIAS(shmemx_space_usable)

int pshmem_query_device_awareness(int *enabled)
{
    int is;

    core_need_up(__func__);
    is = gtl != &gtl_none;
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
    if (!s)
        return -EINVAL;
    *space = handle_of(s);
    return 0;
}
API_ALIAS(shmem_get_space)

int pshmem_team_get_space(shmem_team_t team, shmem_space_t *space)
{
    struct core_team *t = core_team_get(team);

    core_need_up(__func__);
    if (!t)
        return -EINVAL;
    *space = handle_of(t->space ? t->space : api_default_space);
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

/* ---- spaces that the program makes ---- */

/* The space and its team, both or neither. */
static int create(const shmem_space_config_t *config, struct heap_space **out,
                  struct core_team **team)
{
    struct heap_space *from = config->device_type == SHMEM_DEVICE_GPU
                              ? &heap_device : &heap_default, *s;
    int rc;

    if (from == &heap_device) {
        rc = api_device_need();
        if (rc)
            return rc;
    }
    /* All PEs' allocators are in the same state: all have room, or none. */
    rc = heap_space_cut(from, config->size, &s);
    if (rc)
        return rc;
    rc = coll_team_split(&core_world, 0, 1, core_world.n_pes, team);
    if (rc) {
        heap_space_join(s);
        return rc;
    }
    (*team)->space = s;
    *out = s;
    return 0;
}

int pshmem_space_create(const shmem_space_config_t *config,
                        shmem_space_t *space, shmem_team_t *team)
{
    struct heap_space *s = NULL;
    struct core_team *t = NULL;
    int rc;

    core_need_up(__func__);
    if (!config || !space || !config->size ||
        (config->device_type != SHMEM_DEVICE_CPU &&
         config->device_type != SHMEM_DEVICE_GPU))
        return -EINVAL;
    API_MEET(&core_world, ERR_HEAPARG, __func__, .label = { "size", "type" },
             .value = { config->size, config->device_type });
    rc = create(config, &s, &t);
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
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    if (!s || !s->parent)
        return -EINVAL;
    API_MEET(&core_world, ERR_HEAPARG, __func__, .label = { "space" },
             .value = { s->from });
    if (core_team_of_space(s))
        return -EBUSY;
    /* Nobody's traffic to its blocks is under way. */
    coll_barrier_world();
    if (api_default_space == s)
        api_space_open();
    heap_space_join(s);
    return 0;
}
API_ALIAS(shmem_space_destroy)

int pshmem_space_get_team(shmem_space_t space, shmem_team_t *team)
{
    struct heap_space *s = space_of(space);
    struct core_team *t;

    core_need_up(__func__);
    if (!s)
        return -EINVAL;
    t = s->parent ? core_team_of_space(s) : &core_world;
    if (!t)
        return -EINVAL;
    *team = core_team_handle(t);
    return 0;
}
API_ALIAS(shmem_space_get_team)

int pshmem_space_get_device_type(shmem_space_t space,
                                 shmem_device_type_t *type)
{
    struct heap_space *s = space_of(space);

    core_need_up(__func__);
    if (!s)
        return -EINVAL;
    *type = s->seg == HEAP_DEVICE ? SHMEM_DEVICE_GPU : SHMEM_DEVICE_CPU;
    return 0;
}
API_ALIAS(shmem_space_get_device_type)

int pshmem_space_get_caps(shmem_space_t space, shmem_space_cap_t *caps)
{
    struct heap_space *s = space_of(space);
    shmem_space_cap_t c = SHMEM_SPACE_CAP_RMA | SHMEM_SPACE_CAP_COLLECTIVES |
                          SHMEM_SPACE_CAP_ATOMICS |
                          SHMEM_SPACE_CAP_WORLD_ACCESS;

    core_need_up(__func__);
    if (!s)
        return -EINVAL;
    if (s->seg == HEAP_HOST || heap_device_direct)
        c |= SHMEM_SPACE_CAP_DIRECT_ACCESS;
    *caps = c;
    return 0;
}
API_ALIAS(shmem_space_get_caps)

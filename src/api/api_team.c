/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of teams, contexts and sessions.  They check the handles and
 * leave the work to core and coll. */
#include "api/api_coll.h"
#include "kernel/kernel.h"

#include <errno.h>

int pshmem_team_my_pe(shmem_team_t team)
{
    core_need_up(__func__);
    return team == SHMEM_TEAM_INVALID ? -1 : api_team(__func__, team)->my_pe;
}
API_ALIAS(shmem_team_my_pe)

int pshmem_team_n_pes(shmem_team_t team)
{
    core_need_up(__func__);
    return team == SHMEM_TEAM_INVALID ? -1 : api_team(__func__, team)->n_pes;
}
API_ALIAS(shmem_team_n_pes)

int pshmem_team_get_config(shmem_team_t team, long config_mask,
                           shmem_team_config_t *config)
{
    core_need_up(__func__);
    if (team == SHMEM_TEAM_INVALID)
        return -EINVAL;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS) {
        if (CORE_CHECK(!config))
            core_fatal(ERR_NULL, __func__, "no place for the configuration");
        *config = api_team_or_null(__func__, team)->config;
    }
    return 0;
}
API_ALIAS(shmem_team_get_config)

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe,
                             shmem_team_t dest_team)
{
    const struct core_team *src, *dest;

    core_need_up(__func__);
    src = api_team_or_null(__func__, src_team);
    dest = api_team_or_null(__func__, dest_team);
    if (!src || !dest || src_pe < 0 || src_pe >= src->n_pes)
        return -1;
    return core_team_member(dest, core_team_world_pe(src, src_pe));
}
API_ALIAS(shmem_team_translate_pe)

static void configure(struct core_team *t, const shmem_team_config_t *config,
                      long mask)
{
    if (t && config && mask & SHMEM_TEAM_NUM_CONTEXTS)
        t->config = *config;
}

static void say_no_memory(const char *call, const struct core_team *parent)
{
    if (parent->my_pe == 0)
        log_warn(ERR_TEAM, "%s: a member has no memory left for the team; "
                 "raise SHMEM_SYMMETRIC_SIZE", call);
}

/* Which of the three arguments is wrong. */
static void say_no_triplet(const struct core_team *parent, int start,
                           int stride, int size)
{
    static const char call[] = "shmem_team_split_strided";
    long long last = start + stride * ((long long)size - 1);
    int top = parent->n_pes - 1;

    if (parent->my_pe != 0)
        return;
    if (size < 1)
        log_warn(ERR_ARG, "%s: size %d: a team has at least one PE", call,
                 size);
    else if (start < 0 || start > top)
        log_warn(ERR_ARG, "%s: start %d is outside 0..%d", call, start, top);
    else if (stride == 0)
        log_warn(ERR_ARG, "%s: stride 0: a team of %d PEs needs another one",
                 call, size);
    else
        log_warn(ERR_ARG, "%s: PE %lld, the last of %d PEs from PE %d with "
                 "stride %d, is outside 0..%d", call, last, size, start,
                 stride, top);
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride,
                              int size, const shmem_team_config_t *config,
                              long config_mask, shmem_team_t *new_team)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *parent, *t = NULL;
    int rc;

    core_need_up(__func__);
    if (CORE_CHECK(!new_team))
        core_fatal(ERR_NULL, __func__, "no place for the new team");
    *new_team = SHMEM_TEAM_INVALID;
    parent = api_team_or_null(__func__, parent_team);
    if (!parent)
        return -EINVAL;
    API_COLL_ENTER(parent, ERR_COLL, __func__, { "start", "stride", "size" },
                   { (uint64_t)start, (uint64_t)stride, (uint64_t)size });
    rc = core_team_triplet(parent, start, stride, size);
    if (rc) {
        say_no_triplet(parent, start, stride, size);
        return rc;
    }
    rc = coll_team_split(parent, start, stride, size, &t);
    if (rc) {
        say_no_memory("shmem_team_split_strided", parent);
        return rc;
    }
    configure(t, config, config_mask);
    api_kernel_team_made(__func__, t);
    *new_team = core_team_handle(t);
    return 0;
}
API_ALIAS(shmem_team_split_strided)

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange,
                         const shmem_team_config_t *xaxis_config,
                         long xaxis_mask, shmem_team_t *xaxis_team,
                         const shmem_team_config_t *yaxis_config,
                         long yaxis_mask, shmem_team_t *yaxis_team)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *parent, *x = NULL, *y = NULL;
    int rc;

    core_need_up(__func__);
    if (CORE_CHECK(!xaxis_team || !yaxis_team))
        core_fatal(ERR_NULL, __func__, "no place for the new teams");
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    parent = api_team_or_null(__func__, parent_team);
    if (!parent)
        return -EINVAL;
    API_COLL_ENTER(parent, ERR_COLL, __func__, { "xrange" },
                   { (uint64_t)xrange });
    if (xrange < 1) {
        if (parent->my_pe == 0)
            log_warn(ERR_ARG, "shmem_team_split_2d: rows of %d PEs", xrange);
        return -EINVAL;
    }
    if (xrange > parent->n_pes)
        xrange = parent->n_pes;
    rc = coll_team_split_2d(parent, xrange, &x, &y);
    if (rc) {
        say_no_memory("shmem_team_split_2d", parent);
        return rc;
    }
    configure(x, xaxis_config, xaxis_mask);
    configure(y, yaxis_config, yaxis_mask);
    api_kernel_team_made(__func__, x);
    api_kernel_team_made(__func__, y);
    *xaxis_team = core_team_handle(x);
    *yaxis_team = core_team_handle(y);
    return 0;
}
API_ALIAS(shmem_team_split_2d)

void pshmem_team_destroy(shmem_team_t team)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *t;

    core_need_up(__func__);
    if (team == SHMEM_TEAM_INVALID)
        return;
    if (CORE_CHECK(core_team_predefined(core_team_get(team))))
        core_fatal(ERR_TEAM, __func__, "a predefined team cannot be destroyed");
    t = api_team(__func__, team);
    API_COLL_ENTER(t, ERR_COLL, __func__);
    kernel_team_close(__func__, t);
    coll_team_destroy(t);
}
API_ALIAS(shmem_team_destroy)

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    const struct core_team *t;

    core_need_up(__func__);
    t = api_team_or_null(__func__, team);
    if (!t || pe < 0 || pe >= t->n_pes)
        return NULL;
    return pshmem_ptr(dest, core_team_world_pe(t, pe));
}
API_ALIAS(shmem_team_ptr)

int pshmem_team_sync(shmem_team_t team)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *t = api_team(__func__, team);

    API_COLL_ENTER(t, ERR_COLL, __func__);
    coll_sync(t);
    return 0;
}
API_ALIAS(shmem_team_sync)

/* ---- contexts ---- */

static int create_ctx(const char *call, struct core_team *t, long options,
                      shmem_ctx_t *ctx)
{
    const long known = SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED |
                       SHMEM_CTX_NOSTORE | SHMEM_DEVICE_CTX;
    shmem_ctx_t made;

    if (CORE_CHECK(!ctx))
        core_fatal(ERR_NULL, call, "no place for the context");
    *ctx = SHMEM_CTX_INVALID;
    if (!t)
        return -EINVAL;
    if (options & ~known) {
        log_warn(ERR_ARG, "%s: unknown option bits %#lx", call + 1,
                 (unsigned long)(options & ~known));
        return -EINVAL;
    }
    if (options & SHMEM_DEVICE_CTX && !core_team_of_device(t)) {
        log_warn(ERR_ARG, "%s: SHMEM_DEVICE_CTX wants SHMEM_DEVICE_TEAM_WORLD, "
                 "_SHARED or a team split from them", call + 1);
        return -EINVAL;
    }
    if (core_ctx_create(t, options, &made))
        return -ENOMEM;
    if (options & SHMEM_DEVICE_CTX && api_kernel_ctx_made(call, made)) {
        core_ctx_destroy(made, call);
        return -ENOMEM;
    }
    *ctx = made;
    return 0;
}

int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return create_ctx(__func__, options & SHMEM_DEVICE_CTX
                                ? &core_device_world : &core_world, options,
                      ctx);
}
API_ALIAS(shmem_ctx_create)

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return create_ctx(__func__, api_team_or_null(__func__, team), options, ctx);
}
API_ALIAS(shmem_team_create_ctx)

void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT ||
        ctx == SHMEM_DEVICE_CTX_DEFAULT)
        return;
    kernel_ctx_close(__func__, ctx);
    core_ctx_destroy(ctx, __func__);
}
API_ALIAS(shmem_ctx_destroy)

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    const struct core_ctx *c;

    core_need_up(__func__);
    if (CORE_CHECK(!team))
        core_fatal(ERR_NULL, __func__, "no place for the team");
    if (ctx == SHMEM_CTX_INVALID) {
        *team = SHMEM_TEAM_INVALID;
        return -EINVAL;
    }
    if (ctx == SHMEM_DEVICE_CTX_DEFAULT) {
        *team = SHMEM_DEVICE_TEAM_WORLD;
        return 0;
    }
    c = API_CTX(ctx);
    if (CORE_CHECK(core_ctx_is_destroyed(c)))
        core_ctx_refuse(c, __func__);
    *team = core_team_handle(c->device_team ? c->device_team : c->team);
    return 0;
}
API_ALIAS(shmem_ctx_get_team)

/* Hints: operations on mapped memory have nothing to gather. */
void pshmem_ctx_session_start(shmem_ctx_t ctx, long options,
                              const shmem_ctx_session_config_t *config,
                              long config_mask)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    (void)ctx;
    (void)options;
    (void)config;
    (void)config_mask;
}
API_ALIAS(shmem_ctx_session_start)

void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    (void)ctx;
}
API_ALIAS(shmem_ctx_session_stop)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits, order and barriers as operations of a stream.  Programs make these
 * calls; src/stream checks the arguments and enqueues. */
#include "api/api_stream.h"
#include "core/core_misuse.h"

#include <errno.h>

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h.
 *   shmemx_barrier_all_on_stream shmemx_barrier_on_stream
 *   shmemx_ctx_fence_on_stream shmemx_ctx_quiet_on_stream
 *   shmemx_fence_on_stream shmemx_TYPENAME_wait_until_all_on_stream
 *   shmemx_TYPENAME_wait_until_all_vector_on_stream
 *   shmemx_TYPENAME_wait_until_any_on_stream
 *   shmemx_TYPENAME_wait_until_any_vector_on_stream
 *   shmemx_TYPENAME_wait_until_on_stream
 *   shmemx_TYPENAME_wait_until_some_on_stream
 *   shmemx_TYPENAME_wait_until_some_vector_on_stream shmemx_quiet_on_stream
 *   shmemx_signal_wait_until_on_stream shmemx_sync_all_on_stream
 *   shmemx_team_sync_on_stream
 * Their generic names of C11 and C++:
 *   shmemx_wait_until_all_on_stream shmemx_wait_until_all_vector_on_stream
 *   shmemx_wait_until_any_on_stream shmemx_wait_until_any_vector_on_stream
 *   shmemx_wait_until_on_stream shmemx_wait_until_some_on_stream
 *   shmemx_wait_until_some_vector_on_stream */

#define WAIT(F, PARAMS, ...)                                                \
    int pshmemx_##F##_on_stream(ARGS PARAMS, shmemx_stream_t stream)        \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w_ = API_ON(API_DEFAULT, stream);               \
        int rc_ = api_stream_need(__func__);                                \
                                                                            \
        return unlikely(rc_) ? rc_                                          \
                             : stream_wait(&w_, &(struct stream_wait){      \
                                   .cmp = cmp, __VA_ARGS__ });              \
    }                                                                       \
    API_ALIAS(shmemx_##F##_on_stream)
#define ARGS(...) __VA_ARGS__

#define SET(T, HOW, ...)                                                    \
    .how = STREAM_##HOW, .arg = "ivars", .ivars = ivars, .n = nelems,       \
    .size = sizeof(T),                                                      \
    .is_signed = (T)-1 < (T)1, .status = status, __VA_ARGS__
#define ONE_VALUE .value = (uint64_t)cmp_value
#define VALUES .values = cmp_values

#define WAITS(NAME, T, VECTOR, VALUE_PARAM, VALUE)                          \
    WAIT(NAME##_wait_until_all##VECTOR,                                     \
         (T *ivars, size_t nelems, const int *status, int cmp,              \
          VALUE_PARAM), SET(T, ALL, VALUE))                                 \
    WAIT(NAME##_wait_until_any##VECTOR,                                     \
         (size_t *index, T *ivars, size_t nelems, const int *status,        \
          int cmp, VALUE_PARAM), SET(T, ANY, VALUE, .index = index))        \
    WAIT(NAME##_wait_until_some##VECTOR,                                    \
         (size_t *count, T *ivars, size_t nelems, size_t *indices,          \
          const int *status, int cmp, VALUE_PARAM),                         \
         SET(T, SOME, VALUE, .count = count, .indices = indices))
#define TYPED(NAME, T)                                                      \
    WAIT(NAME##_wait_until, (T *ivar, int cmp, T cmp_value),                \
         .arg = "ivar", .ivars = ivar, .n = 1, .size = sizeof(T),           \
         .is_signed = (T)-1 < (T)1, ONE_VALUE)                              \
    WAITS(NAME, T, , T cmp_value, ONE_VALUE)                                \
    WAITS(NAME, T, _vector, const T *cmp_values, VALUES)
SHMEMI_AMO_TYPES(TYPED)

WAIT(signal_wait_until,
     (uint64_t *value, uint64_t *sig_addr, int cmp, uint64_t cmp_value),
     .arg = "sig_addr", .ivars = sig_addr, .n = 1, .size = sizeof *sig_addr,
     ONE_VALUE, .seen = value)

int pshmemx_signal_fetch_on_stream(uint64_t *value, const uint64_t *sig_addr,
                                   shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(API_DEFAULT, stream);
    int rc = api_stream_need(__func__);

    w.sym_arg = "sig_addr";
    w.local_arg = "value";
    return rc ? rc : stream_amo(&w, &(struct stream_amo){
                                    .op = AMO_FETCH, .size = sizeof *value,
                                    .sym = (void *)sig_addr, .fetches = true,
                                    .fetch = value }, core_world.my_pe);
}
API_ALIAS(shmemx_signal_fetch_on_stream)

#define ORDER(NAME)                                                         \
    int pshmemx_##NAME##_on_stream(shmemx_stream_t stream)                  \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w = API_ON(API_DEFAULT, stream);                \
        int rc = api_stream_need(__func__);                                 \
                                                                            \
        return rc ? rc : stream_##NAME(&w);                                 \
    }                                                                       \
    int pshmemx_ctx_##NAME##_on_stream(shmem_ctx_t ctx,                     \
                                       shmemx_stream_t stream)              \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w = API_ON(                                     \
            api_stream_ctx(ctx, __func__), stream);                         \
        int rc = api_stream_need(__func__);                                 \
                                                                            \
        return rc ? rc : stream_##NAME(&w);                                 \
    }                                                                       \
    API_ALIAS(shmemx_##NAME##_on_stream)                                    \
    API_ALIAS(shmemx_ctx_##NAME##_on_stream)
ORDER(fence)
ORDER(quiet)

static int pe_quiet(const struct stream_where *w, const int *pes, size_t n)
{
    int rc = api_stream_need(w->call);

    return rc ? rc : n ? stream_pe_quiet(w, pes, n) : 0;
}

int pshmemx_pe_quiet_on_stream(const int *target_pes, size_t npes,
                               shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(API_DEFAULT, stream);

    return pe_quiet(&w, target_pes, npes);
}
API_ALIAS(shmemx_pe_quiet_on_stream)

int pshmemx_ctx_pe_quiet_on_stream(shmem_ctx_t ctx, const int *target_pes,
                                   size_t npes, shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(
        api_stream_ctx(ctx, __func__), stream);

    return pe_quiet(&w, target_pes, npes);
}
API_ALIAS(shmemx_ctx_pe_quiet_on_stream)

/* ---- barriers ---- */

static struct core_team *member_of(shmem_team_t team, const char *call)
{
    struct core_team *t = core_team_get(team);

    if (t && core_team_known(t) && t->my_pe >= 0 && !core_team_of_device(t))
        return t;
    core_misuse(ERR_TEAM, call, "not a team of which this PE is a member: not "
                "enqueued");
    return NULL;
}

#define SYNCHRONIZE(F, PARAMS, TEAM, BARRIER)                                  \
    int pshmemx_##F##_on_stream PARAMS                                         \
    {                                                                          \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w = API_ON(API_DEFAULT, stream);                   \
        int rc = api_stream_need(__func__);                                    \
        struct core_team *t = rc ? NULL : member_of(TEAM, __func__);           \
                                                                               \
        return rc ? rc : t ? stream_team_synchronize(&w, t, BARRIER)           \
                      : -EINVAL;                                               \
    }                                                                          \
    API_ALIAS(shmemx_##F##_on_stream)
SYNCHRONIZE(barrier_all, (shmemx_stream_t stream), SHMEM_TEAM_WORLD, true)
SYNCHRONIZE(sync_all, (shmemx_stream_t stream), SHMEM_TEAM_WORLD, false)
SYNCHRONIZE(barrier, (shmem_team_t team, shmemx_stream_t stream), team, true)
SYNCHRONIZE(team_sync, (shmem_team_t team, shmemx_stream_t stream), team, false)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Triggers, as shmemx_trig.h declares them.  Programs call them; arguments of
 * an operation are checked as those of a stream's operation are, and the rest
 * is the layer's of triggers. */
#include "api/api_stream.h"
#include "core/core_misuse.h"
#include "trig/trig.h"

#include <errno.h>

enum { TAGS_MOST = 65536 };

static int null(const char *call, const char *what)
{
    return core_misuse(ERR_NULL, call, "%s is a null pointer", what);
}

/* ---- made and freed ---- */

int pshmemx_trig_create(shmem_ctx_t ctx, int tags,
                        const shmemx_trig_config_t *config, long mask,
                        shmemx_trig_t *trig)
{
    CORE_TRACE_CALL(__func__);
    const struct core_ctx *c;
    int rc = api_stream_need(__func__);

    if (rc || (rc = api_kernel_open(__func__)))
        return rc;
    if (!trig || (mask && !config))
        return null(__func__, trig ? "config" : "trig");
    if (tags < 1 || tags > TAGS_MOST)
        return core_misuse(ERR_ARG, __func__, "%d tags: between 1 and %d", tags,
                           TAGS_MOST);
    if (mask & ~SHMEMX_TRIG_ENGINE)
        return core_misuse(ERR_ARG, __func__, "mask %#lx has unknown bits",
                           (unsigned long)mask);
    if ((mask & SHMEMX_TRIG_ENGINE) &&
        (config->engine < SHMEMX_TRIG_AUTO || config->engine > SHMEMX_TRIG_COPY))
        return core_misuse(ERR_ARG, __func__, "engine %d is none",
                           config->engine);
    c = ctx == SHMEM_DEVICE_CTX_DEFAULT ? API_DEFAULT
                                        : api_stream_ctx(ctx, __func__);
    if (!c)
        return core_misuse(ERR_CTX, __func__, "an invalid context, or one made "
                           "with SHMEM_DEVICE_CTX");
    return trig_create(__func__, c, tags, mask & SHMEMX_TRIG_ENGINE
                       ? config->engine : SHMEMX_TRIG_AUTO, trig);
}
API_ALIAS(shmemx_trig_create)

int pshmemx_trig_free(shmemx_trig_t *trig)
{
    CORE_TRACE_CALL(__func__);
    int rc;

    core_need_up(__func__);
    if (!trig)
        return null(__func__, "trig");
    if (!*trig)
        return 0;
    rc = trig_free(__func__, *trig);
    if (!rc)
        *trig = NULL;
    return rc;
}
API_ALIAS(shmemx_trig_free)

/* ---- operations ---- */

#define AT { __func__, trig, tag, threshold }

int pshmemx_trig_put(shmemx_trig_t trig, int tag, uint64_t threshold,
                     void *dest, const void *source, size_t bytes, int pe)
{
    CORE_TRACE_CALL(__func__);
    const struct trig_where at = AT;

    core_need_up(__func__);
    return trig_put(&at, dest, source, bytes, NULL, pe);
}
API_ALIAS(shmemx_trig_put)

int pshmemx_trig_put_signal(shmemx_trig_t trig, int tag, uint64_t threshold,
                            void *dest, const void *source, size_t bytes,
                            uint64_t *sig_addr, uint64_t signal, int sig_op,
                            int pe)
{
    CORE_TRACE_CALL(__func__);
    const struct stream_signal s = { sig_addr, signal, sig_op };
    const struct trig_where at = AT;

    core_need_up(__func__);
    return trig_put(&at, dest, source, bytes, &s, pe);
}
API_ALIAS(shmemx_trig_put_signal)

int pshmemx_trig_get(shmemx_trig_t trig, int tag, uint64_t threshold,
                     void *dest, const void *source, size_t bytes, int pe)
{
    CORE_TRACE_CALL(__func__);
    const struct trig_where at = AT;

    core_need_up(__func__);
    return trig_get(&at, dest, source, bytes, pe);
}
API_ALIAS(shmemx_trig_get)

int pshmemx_trig_signal_op(shmemx_trig_t trig, int tag, uint64_t threshold,
                           uint64_t *sig_addr, uint64_t signal, int sig_op,
                           int pe)
{
    CORE_TRACE_CALL(__func__);
    const struct stream_signal s = { sig_addr, signal, sig_op };
    const struct trig_where at = AT;

    core_need_up(__func__);
    return trig_signal(&at, &s, pe);
}
API_ALIAS(shmemx_trig_signal_op)

/* These make the following names.
 *   shmemx_trig_atomic_add_int32 shmemx_trig_atomic_add_int64
 *   shmemx_trig_atomic_add_uint32 shmemx_trig_atomic_add_uint64
 *   shmemx_trig_atomic_set_int32 shmemx_trig_atomic_set_int64
 *   shmemx_trig_atomic_set_uint32 shmemx_trig_atomic_set_uint64
 *   shmemx_trig_atomic_fetch_add_int32 shmemx_trig_atomic_fetch_add_int64
 *   shmemx_trig_atomic_fetch_add_uint32 shmemx_trig_atomic_fetch_add_uint64
 *   shmemx_trig_atomic_compare_swap_int32
 *   shmemx_trig_atomic_compare_swap_int64
 *   shmemx_trig_atomic_compare_swap_uint32
 *   shmemx_trig_atomic_compare_swap_uint64 */
#define AMO(F, T, PARAMS, XOP, VALUE, COND, FETCHES, FETCH)                 \
    int pshmemx_trig_atomic_##F PARAMS                                      \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        const struct trig_where at_ = AT;                                   \
        const struct stream_amo a_ = {                                      \
            XOP, FETCHES, sizeof(T), dest, (uint64_t)(VALUE),               \
            (uint64_t)(COND), FETCH                                         \
        };                                                                  \
                                                                            \
        core_need_up(__func__);                                             \
        return trig_amo(&at_, &a_, pe);                                     \
    }                                                                       \
    API_ALIAS(shmemx_trig_atomic_##F)
#define AMOS(NAME, T)                                                       \
    AMO(add_##NAME, T, (shmemx_trig_t trig, int tag, uint64_t threshold,    \
                        T *dest, T value, int pe),                          \
        AMO_ADD, value, 0, false, NULL)                                     \
    AMO(set_##NAME, T, (shmemx_trig_t trig, int tag, uint64_t threshold,    \
                        T *dest, T value, int pe),                          \
        AMO_SET, value, 0, false, NULL)                                     \
    AMO(fetch_add_##NAME, T, (shmemx_trig_t trig, int tag,                  \
                              uint64_t threshold, T *fetch, T *dest,        \
                              T value, int pe),                             \
        AMO_ADD, value, 0, true, fetch)                                     \
    AMO(compare_swap_##NAME, T, (shmemx_trig_t trig, int tag,               \
                                 uint64_t threshold, T *fetch, T *dest,     \
                                 T cond, T value, int pe),                  \
        AMO_CSWAP, value, cond, true, fetch)
SHMEMI_ENQUEUE_TYPES(AMOS)

int pshmemx_trig_rearm(shmemx_trig_t trig, int tag)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_rearm(__func__, trig, tag, false);
}
API_ALIAS(shmemx_trig_rearm)

int pshmemx_trig_repeat(shmemx_trig_t trig, int tag)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_rearm(__func__, trig, tag, true);
}
API_ALIAS(shmemx_trig_repeat)

int pshmemx_trig_reset(shmemx_trig_t trig, int tag)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_reset(__func__, trig, tag);
}
API_ALIAS(shmemx_trig_reset)

/* ---- hits, and completion ---- */

int pshmemx_trig_dev(shmemx_trig_t trig, shmemx_trig_dev_t *dev)
{
    core_need_up(__func__);
    return dev ? trig_dev(__func__, trig, dev) : null(__func__, "dev");
}
API_ALIAS(shmemx_trig_dev)

int pshmemx_trig_hit(shmemx_trig_t trig, int tag, uint64_t n)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_hit(__func__, trig, tag, n);
}
API_ALIAS(shmemx_trig_hit)

int pshmemx_trig_hit_on_stream(shmemx_trig_t trig, int tag, uint64_t n,
                               shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_hit_on_stream(__func__, trig, tag, n, api_stream_of(stream));
}
API_ALIAS(shmemx_trig_hit_on_stream)

int pshmemx_trig_test(shmemx_trig_t trig, int tag, uint64_t *done)
{
    core_need_up(__func__);
    return done ? trig_test(__func__, trig, tag, done)
                : null(__func__, "the result");
}
API_ALIAS(shmemx_trig_test)

int pshmemx_trig_wait(shmemx_trig_t trig, int tag, uint64_t n)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_wait(__func__, trig, tag, n);
}
API_ALIAS(shmemx_trig_wait)

int pshmemx_trig_wait_on_stream(shmemx_trig_t trig, int tag, uint64_t n,
                                shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return trig_wait_on_stream(__func__, trig, tag, n, api_stream_of(stream));
}
API_ALIAS(shmemx_trig_wait_on_stream)

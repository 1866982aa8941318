/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of a stream and their requests.  Programs make these calls; only null
 * pointers and masks are checked here, and src/stream/queue does the work. */
#include "api/api_stream.h"
#include "core/core_misuse.h"

#include <errno.h>

/* The macros below make these public names.
 *   shmemx_enqueue_atomic_add_int32 shmemx_enqueue_atomic_add_int64
 *   shmemx_enqueue_atomic_add_uint32 shmemx_enqueue_atomic_add_uint64
 *   shmemx_enqueue_atomic_compare_swap_int32
 *   shmemx_enqueue_atomic_compare_swap_int64
 *   shmemx_enqueue_atomic_compare_swap_uint32
 *   shmemx_enqueue_atomic_compare_swap_uint64
 *   shmemx_enqueue_atomic_fetch_add_int32
 *   shmemx_enqueue_atomic_fetch_add_int64
 *   shmemx_enqueue_atomic_fetch_add_uint32
 *   shmemx_enqueue_atomic_fetch_add_uint64 shmemx_enqueue_atomic_set_int32
 *   shmemx_enqueue_atomic_set_int64 shmemx_enqueue_atomic_set_uint32
 *   shmemx_enqueue_atomic_set_uint64 */

static int null(const char *call, const char *what)
{
    return core_misuse(ERR_NULL, call, "%s is a null pointer", what);
}

int pshmemx_queue_create(shmemx_stream_t stream,
                         const shmemx_queue_config_t *config, long mask,
                         shmemx_queue_t *queue)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_need(__func__);

    if (rc)
        return rc;
    if (!queue || (mask && !config))
        return null(__func__, queue ? "config" : "queue");
    if (mask & ~SHMEMX_QUEUE_DEPTH)
        return core_misuse(ERR_ARG, __func__, "mask %#lx has unknown bits",
                           (unsigned long)mask);
    return stream_queue_create(__func__, api_stream_of(stream),
                               mask & SHMEMX_QUEUE_DEPTH ? config->depth : 0,
                               queue);
}
API_ALIAS(shmemx_queue_create)

int pshmemx_queue_destroy(shmemx_queue_t queue)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_queue_destroy(__func__, queue);
}
API_ALIAS(shmemx_queue_destroy)

int pshmemx_queue_wait(shmemx_queue_t queue)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_queue_wait_host(__func__, queue);
}
API_ALIAS(shmemx_queue_wait)

int pshmemx_queue_test(shmemx_queue_t queue, int *empty)
{
    bool is;
    int rc;

    core_need_up(__func__);
    if (!empty)
        return null(__func__, "the result");
    rc = stream_queue_test(__func__, queue, &is);
    if (rc != -EINVAL)
        *empty = is;
    return rc;
}
API_ALIAS(shmemx_queue_test)

/* ---- used once ---- */

int pshmemx_enqueue_putmem(shmemx_queue_t queue, void *dest,
                           const void *source, size_t bytes, int pe,
                           shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_req_put(__func__, queue, dest, source, bytes, NULL, pe, req);
}
API_ALIAS(shmemx_enqueue_putmem)

int pshmemx_enqueue_putmem_signal(shmemx_queue_t queue, void *dest,
                                  const void *source, size_t bytes,
                                  uint64_t *sig_addr, uint64_t signal,
                                  int sig_op, int pe, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct stream_signal s = { sig_addr, signal, sig_op };

    core_need_up(__func__);
    return stream_req_put(__func__, queue, dest, source, bytes, &s, pe, req);
}
API_ALIAS(shmemx_enqueue_putmem_signal)

int pshmemx_enqueue_getmem(shmemx_queue_t queue, void *dest,
                           const void *source, size_t bytes, int pe,
                           shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_req_get(__func__, queue, dest, source, bytes, pe, req);
}
API_ALIAS(shmemx_enqueue_getmem)

#define AMO(F, T, PARAMS, XOP, VALUE, COND, FETCHES, FETCH)                 \
    int pshmemx_enqueue_atomic_##F PARAMS                                   \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_amo a_ = {                                            \
            XOP, FETCHES, sizeof(T), dest, (uint64_t)(VALUE),               \
            (uint64_t)(COND), FETCH                                         \
        };                                                                  \
                                                                            \
        core_need_up(__func__);                                             \
        return stream_req_amo(__func__, queue, &a_, pe, req);               \
    }                                                                       \
    API_ALIAS(shmemx_enqueue_atomic_##F)
#define AMOS(NAME, T)                                                       \
    AMO(add_##NAME, T, (shmemx_queue_t queue, T *dest, T value, int pe,     \
                        shmemx_req_t *req),                                 \
        AMO_ADD, value, 0, false, NULL)                                     \
    AMO(set_##NAME, T, (shmemx_queue_t queue, T *dest, T value, int pe,     \
                        shmemx_req_t *req),                                 \
        AMO_SET, value, 0, false, NULL)                                     \
    AMO(fetch_add_##NAME, T, (shmemx_queue_t queue, T *fetch, T *dest,      \
                              T value, int pe, shmemx_req_t *req),          \
        AMO_ADD, value, 0, true, fetch)                                     \
    AMO(compare_swap_##NAME, T, (shmemx_queue_t queue, T *fetch, T *dest,   \
                                 T cond, T value, int pe,                   \
                                 shmemx_req_t *req),                        \
        AMO_CSWAP, value, cond, true, fetch)
SHMEMI_ENQUEUE_TYPES(AMOS)

int pshmemx_enqueue_start(shmemx_queue_t queue)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_queue_start(__func__, queue);
}
API_ALIAS(shmemx_enqueue_start)

int pshmemx_enqueue_wait(shmemx_queue_t queue)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_queue_wait(__func__, queue);
}
API_ALIAS(shmemx_enqueue_wait)

/* ---- persistent ---- */

int pshmemx_put_init(void *dest, const void *source, size_t bytes, int pe,
                     shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    int rc = api_stream_need(__func__);

    return rc ? rc : stream_req_init(__func__, dest, source, bytes, NULL, pe,
                                     req);
}
API_ALIAS(shmemx_put_init)

int pshmemx_put_signal_init(void *dest, const void *source, size_t bytes,
                            uint64_t *sig_addr, uint64_t signal, int sig_op,
                            int pe, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct stream_signal s = { sig_addr, signal, sig_op };
    int rc = api_stream_need(__func__);

    return rc ? rc : stream_req_init(__func__, dest, source, bytes, &s, pe,
                                     req);
}
API_ALIAS(shmemx_put_signal_init)

static int check_list(const char *call, int n, shmemx_req_t reqs[])
{
    core_need_up(call);
    if (n > 0 && !reqs)
        return null(call, "the list");
    return n >= 0 ? 0 : core_misuse(ERR_ARG, call, "%d requests", n);
}

int pshmemx_enqueue_startall(shmemx_queue_t queue, int n, shmemx_req_t reqs[])
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : stream_queue_start_all(__func__, queue, n, reqs);
}
API_ALIAS(shmemx_enqueue_startall)

int pshmemx_enqueue_waitall(shmemx_queue_t queue, int n, shmemx_req_t reqs[])
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : stream_queue_wait_all(__func__, queue, n, reqs);
}
API_ALIAS(shmemx_enqueue_waitall)

int pshmemx_req_wait(shmemx_req_t req)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_req_wait_host(__func__, req);
}
API_ALIAS(shmemx_req_wait)

int pshmemx_req_test(shmemx_req_t req, int *flag)
{
    bool is = false;
    int rc;

    core_need_up(__func__);
    if (!flag)
        return null(__func__, "the result");
    rc = stream_req_test(__func__, req, &is);
    if (rc != -EINVAL)
        *flag = is;
    return rc;
}
API_ALIAS(shmemx_req_test)

int pshmemx_req_free(shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    int rc;

    core_need_up(__func__);
    if (!req)
        return null(__func__, "the request's place");
    if (!*req)
        return 0;
    rc = stream_req_free(__func__, *req);
    if (!rc)
        *req = NULL;
    return rc;
}
API_ALIAS(shmemx_req_free)

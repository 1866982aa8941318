/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages, as shmemx_part.h declares them.  Called by programs;
 * the rest is that of src/msg/part. */
#include "api/api_stream.h"
#include "core/core_misuse.h"
#include "msg/part/part.h"

#include <errno.h>

static int null(const char *call, const char *what)
{
    return core_misuse(ERR_NULL, call, "%s is a null pointer", what);
}

static int init(const char *call, bool sends, void *buf, int partitions,
                size_t each, int pe, int tag, shmemx_req_t *req)
{
    struct msg_args a = {
        .call = call, .sends = sends, .partitions = partitions, .buf = buf,
        .pe = pe, .tag = tag
    };
    int rc = api_stream_need(call);

    if (rc || (rc = api_kernel_open(call)))
        return rc;
    if (partitions < 1 || partitions > PARTITIONS_MOST)
        return core_misuse(ERR_ARG, call, "%d partitions: between 1 and %d",
                           partitions, PARTITIONS_MOST);
    if (__builtin_mul_overflow(each, (size_t)partitions, &a.len) ||
        a.len > PTRDIFF_MAX)
        return core_misuse(ERR_SIZE, call, "%d partitions of %zu bytes exceed "
                           "the address space", partitions, each);
    if (!each)
        return core_misuse(ERR_SIZE, call, "partitions of 0 bytes");
    return msg_req_create(&a, NULL, req);
}

int pshmemx_psend_init(const void *buf, int partitions, size_t bytes_each,
                       int pe, int tag, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);

    return init(__func__, true, (void *)buf, partitions, bytes_each, pe, tag,
                req);
}
API_ALIAS(shmemx_psend_init)

int pshmemx_precv_init(void *buf, int partitions, size_t bytes_each, int pe,
                       int tag, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);

    return init(__func__, false, buf, partitions, bytes_each, pe, tag, req);
}
API_ALIAS(shmemx_precv_init)

int pshmemx_ptransport(shmemx_req_t req, int partitions)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return part_set_transport(__func__, req, partitions);
}
API_ALIAS(shmemx_ptransport)

int pshmemx_req_start(shmemx_req_t req)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return part_start_all(__func__, 1, &req);
}
API_ALIAS(shmemx_req_start)

int pshmemx_req_startall(int n, shmemx_req_t reqs[])
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    if (n < 0)
        return core_misuse(ERR_ARG, __func__, "%d requests", n);
    return n && !reqs ? null(__func__, "the list")
                      : part_start_all(__func__, n, reqs);
}
API_ALIAS(shmemx_req_startall)

int pshmemx_pready(shmemx_req_t req, int partition)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return part_ready(__func__, req, partition, 1, NULL);
}
API_ALIAS(shmemx_pready)

int pshmemx_pready_range(shmemx_req_t req, int low, int high)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    if (high < low)
        return core_misuse(ERR_ARG, __func__, "partitions %d to %d: low is "
                           "above high", low, high);
    if (low < 0 || high >= PARTITIONS_MOST)
        return core_misuse(ERR_ARG, __func__, "there are no partitions %d to "
                           "%d", low, high);
    return part_ready(__func__, req, low, high - low + 1, NULL);
}
API_ALIAS(shmemx_pready_range)

int pshmemx_pready_list(shmemx_req_t req, int n, const int parts[])
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    if (n < 0)
        return core_misuse(ERR_ARG, __func__, "%d partitions", n);
    return n && !parts ? null(__func__, "the list")
                       : part_ready(__func__, req, 0, n, parts);
}
API_ALIAS(shmemx_pready_list)

int pshmemx_parrived(shmemx_req_t req, int partition, int *flag)
{
    bool is = false;
    int rc;

    core_need_up(__func__);
    if (!flag)
        return null(__func__, "the result");
    rc = part_arrived(__func__, req, partition, &is);
    if (!rc)
        *flag = is;
    return rc;
}
API_ALIAS(shmemx_parrived)

int pshmemx_prequest_create(shmemx_req_t req,
                            const shmemx_prequest_config_t *config, long mask,
                            shmemx_prequest_t *prequest)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return prequest ? part_prequest_create(__func__, req, config, mask,
                                           prequest)
                    : null(__func__, "prequest");
}
API_ALIAS(shmemx_prequest_create)

int pshmemx_prequest_free(shmemx_prequest_t *prequest)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return prequest ? part_prequest_free(__func__, prequest)
                    : null(__func__, "prequest");
}
API_ALIAS(shmemx_prequest_free)

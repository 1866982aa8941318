/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of streams, their matching, and persistent collectives.  Programs
 * make these calls; arguments are checked here, and src/msg does the work. */
#include "api/api_coll.h"
#include "api/api_stream.h"
#include "core/core_misuse.h"
#include "msg/msg.h"
#include "msg/msg_coll.h"

#include <errno.h>

/* The macros below make these public names.
 *   shmemx_enqueue_recv shmemx_enqueue_send shmemx_recv_init
 *   shmemx_rsend_init shmemx_send_init */

#define INIT(NAME, BUF, SENDS, READY)                                       \
    int pshmemx_##NAME(BUF *buf, size_t bytes, int pe, int tag,             \
                       shmemx_req_t *req)                                   \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        const struct msg_args a_ = {                                       \
            .call = __func__, .sends = SENDS, .ready = READY,               \
            .buf = (void *)buf, .len = bytes, .pe = pe, .tag = tag          \
        };                                                                  \
        int rc_ = api_stream_need(__func__);                                \
                                                                            \
        return rc_ ? rc_ : msg_req_create(&a_, NULL, req);             \
    }                                                                       \
    API_ALIAS(shmemx_##NAME)
INIT(send_init, const void, true, false)
INIT(rsend_init, const void, true, true)
INIT(recv_init, void, false, false)

#define ENQUEUE(NAME, BUF, SENDS)                                           \
    int pshmemx_enqueue_##NAME(shmemx_queue_t queue, BUF *buf, size_t bytes,\
                               int pe, int tag, shmemx_req_t *req)          \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        const struct msg_args a_ = {                                       \
            .call = __func__, .sends = SENDS, .one_shot = true,                 \
            .buf = (void *)buf, .len = bytes, .pe = pe, .tag = tag          \
        };                                                                  \
                                                                            \
        core_need_up(__func__);                                             \
        return msg_req_create(&a_, queue, req);                        \
    }                                                                       \
    API_ALIAS(shmemx_enqueue_##NAME)
ENQUEUE(send, const void, true)
ENQUEUE(recv, void, false)

static int check_list(const char *call, int n, shmemx_req_t reqs[])
{
    int rc = api_stream_need(call);

    if (!rc && n > 0 && !reqs)
        rc = core_misuse(ERR_NULL, call, "the list is a null pointer");
    if (!rc && n < 0)
        rc = core_misuse(ERR_ARG, call, "%d requests", n);
    return rc;
}

int pshmemx_match(shmemx_req_t req)
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, 1, &req);

    return rc ? rc : msg_match_all(__func__, 1, &req);
}
API_ALIAS(shmemx_match)

int pshmemx_matchall(int n, shmemx_req_t reqs[])
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : msg_match_all(__func__, n, reqs);
}
API_ALIAS(shmemx_matchall)

int pshmemx_imatch(shmemx_req_t req, shmemx_req_t *match)
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, 1, &req);

    return rc ? rc : msg_imatch_all(__func__, 1, &req, match);
}
API_ALIAS(shmemx_imatch)

int pshmemx_imatchall(int n, shmemx_req_t reqs[], shmemx_req_t *match)
{
    CORE_TRACE_CALL(__func__);
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : msg_imatch_all(__func__, n, reqs, match);
}
API_ALIAS(shmemx_imatchall)

int pshmemx_is_matched(shmemx_req_t req, int *flag)
{
    bool is;
    int rc = check_list(__func__, 1, &req);

    if (!rc && !flag)
        rc = core_misuse(ERR_NULL, __func__, "the result is a null pointer");
    if (!rc)
        rc = msg_is_matched(__func__, req, &is);
    if (!rc)
        *flag = is;
    return rc;
}
API_ALIAS(shmemx_is_matched)

/* ---- collective ---- */

int api_need_team(const char *call, shmem_team_t team, struct core_team **out)
{
    *out = api_team_or_null(call, team);
    return *out ? 0 : core_misuse(ERR_TEAM, call,
                                  "the team is SHMEM_TEAM_INVALID");
}

int pshmemx_barrier_init(shmem_team_t team, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *t;
    int rc = api_stream_need(__func__);

    if (!rc)
        rc = api_need_team(__func__, team, &t);
    return rc ? rc : msg_coll_init(__func__, t, NULL, 0, 0, req);
}
API_ALIAS(shmemx_barrier_init)

const size_t api_type_sizes[GTL_TYPES] = {
    1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16
};
_Static_assert((int)SHMEMX_INT8 == (int)GTL_I8 &&
               (int)SHMEMX_UINT64 == (int)GTL_U64 &&
               (int)SHMEMX_COMPLEXD == (int)GTL_COMPLEXD &&
               (int)SHMEMX_AND == (int)GTL_RED_AND &&
               (int)SHMEMX_PROD == (int)GTL_RED_PROD, "one list of each");

int api_check_type(const char *call, int type)
{
    if (type >= SHMEMX_INT8 && type <= SHMEMX_COMPLEXD)
        return 0;
    return core_misuse(ERR_ARG, call, "type %d is none of SHMEMX_INT8 to "
                       "SHMEMX_COMPLEXD", type);
}

int api_check_reduction(const char *call, int type, int op)
{
    if (api_check_type(call, type))
        return -EINVAL;
    if (op < SHMEMX_AND || op > SHMEMX_PROD)
        return core_misuse(ERR_ARG, call, "operation %d is none of SHMEMX_AND "
                           "to SHMEMX_PROD", op);
    if ((op > SHMEMX_XOR || type <= SHMEMX_UINT64) &&
        ((op != SHMEMX_MAX && op != SHMEMX_MIN) || type <= SHMEMX_DOUBLE))
        return 0;
    return core_misuse(ERR_ARG, call, "SHMEMX_%s is no operation of "
                       "SHMEMX_%s", gtl_op_names[op], gtl_type_names[type]);
}

static bool overlap(const void *a, const void *b, size_t len)
{
    return (uintptr_t)a < (uintptr_t)b + len &&
           (uintptr_t)b < (uintptr_t)a + len;
}

static int check_buffers(const char *call, const struct gtl_reduce *r,
                         size_t size)
{
    uintptr_t dest = (uintptr_t)r->out, source = (uintptr_t)r->a;
    size_t align = size > 8 ? 8 : size;

    if (r->n && (!dest || !source))
        return core_misuse(ERR_NULL, call, "%s is a null pointer, with %zu "
                           "element%s", dest ? "source" : "dest", r->n,
                           r->n == 1 ? "" : "s");
    if (r->n > SIZE_MAX / 16)
        return core_misuse(ERR_SIZE, call, "%zu elements exceed the address "
                           "space", r->n);
    if (dest % align || source % align)
        return core_misuse(ERR_ALIGN, call, "%s %p is not aligned to %zu bytes "
                           "of SHMEMX_%s", dest % align ? "dest" : "source",
                           dest % align ? r->out : r->a, align,
                           gtl_type_names[r->type]);
    if (r->out != r->a && overlap(r->out, r->a, r->n * size))
        return core_misuse(ERR_ARG, call, "dest and source overlap and are "
                           "not the same");
    return 0;
}

int pshmemx_allreduce_init(shmem_team_t team, void *dest, const void *source,
                           size_t nelems, shmemx_type_t type, shmemx_op_t op,
                           shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    const struct gtl_reduce r = {
        .op = (enum gtl_reduction)op, .type = (enum gtl_type)type,
        .out = dest, .a = source, .n = nelems
    };
    struct core_team *t;
    size_t size = 1;
    int rc = api_stream_need(__func__);

    if (!rc)
        rc = api_need_team(__func__, team, &t);
    if (rc)
        return rc;
    rc = api_check_reduction(__func__, (int)type, (int)op);
    if (!rc) {
        size = api_type_sizes[type];
        rc = check_buffers(__func__, &r, size);
    }
    return msg_coll_init(__func__, t, &r, size, rc, req);
}
API_ALIAS(shmemx_allreduce_init)

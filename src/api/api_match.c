/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of streams: who sends and who receives find each other. */
#include "api/api_stream.h"
#include "core/core_misuse.h"

#define INIT(NAME, BUF, SENDS, READY)                                       \
    int pshmemx_##NAME(BUF *buf, size_t bytes, int pe, int tag,             \
                       shmemx_req_t *req)                                   \
    {                                                                       \
        const struct chan_args a_ = {                                       \
            __func__, SENDS, READY, false, (void *)buf, bytes, pe, tag      \
        };                                                                  \
        int rc_ = api_stream_need(__func__);                                \
                                                                            \
        return rc_ ? rc_ : stream_message_make(&a_, NULL, req);             \
    }                                                                       \
    API_ALIAS(shmemx_##NAME)
INIT(send_init, const void, true, false)
INIT(rsend_init, const void, true, true)
INIT(recv_init, void, false, false)

#define ENQUEUE(NAME, BUF, SENDS)                                           \
    int pshmemx_enqueue_##NAME(shmemx_queue_t queue, BUF *buf, size_t bytes,\
                               int pe, int tag, shmemx_req_t *req)          \
    {                                                                       \
        const struct chan_args a_ = {                                       \
            __func__, SENDS, false, true, (void *)buf, bytes, pe, tag       \
        };                                                                  \
                                                                            \
        core_need_up(__func__);                                             \
        return stream_message_make(&a_, queue, req);                        \
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
    int rc = check_list(__func__, 1, &req);

    return rc ? rc : stream_match_all(__func__, 1, &req);
}
API_ALIAS(shmemx_match)

int pshmemx_matchall(int n, shmemx_req_t reqs[])
{
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : stream_match_all(__func__, n, reqs);
}
API_ALIAS(shmemx_matchall)

int pshmemx_imatch(shmemx_req_t req, shmemx_req_t *match)
{
    int rc = check_list(__func__, 1, &req);

    return rc ? rc : stream_imatch_all(__func__, 1, &req, match);
}
API_ALIAS(shmemx_imatch)

int pshmemx_imatchall(int n, shmemx_req_t reqs[], shmemx_req_t *match)
{
    int rc = check_list(__func__, n, reqs);

    return rc ? rc : stream_imatch_all(__func__, n, reqs, match);
}
API_ALIAS(shmemx_imatchall)

int pshmemx_is_matched(shmemx_req_t req, int *flag)
{
    bool is;
    int rc = check_list(__func__, 1, &req);

    if (!rc && !flag)
        rc = core_misuse(ERR_NULL, __func__, "the result is a null pointer");
    if (!rc)
        rc = stream_is_matched(__func__, req, &is);
    if (!rc)
        *flag = is;
    return rc;
}
API_ALIAS(shmemx_is_matched)

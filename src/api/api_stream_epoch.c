/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that graphs replay: shmemx_signal_wait_reset_on_stream, and epochs.
 * Programs make these calls; src/stream does the work. */
#include "api/api_stream.h"
#include "core/core_misuse.h"

int pshmemx_signal_wait_reset_on_stream(uint64_t *sig_addr, int cmp,
                                        uint64_t cmp_value,
                                        shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(API_DEFAULT, stream);
    const struct stream_wait c = {
        .how = STREAM_ALL, .arg = "sig_addr", .ivars = sig_addr, .n = 1,
        .size = sizeof *sig_addr, .cmp = cmp, .value = cmp_value
    };
    int rc = api_stream_need(__func__);

    return rc ? rc : stream_wait_reset(&w, &c);
}
API_ALIAS(shmemx_signal_wait_reset_on_stream)

int pshmemx_epoch_create(uint64_t *sig_addr, shmemx_epoch_t *epoch)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(API_DEFAULT, NULL);
    int rc = api_stream_need(__func__);

    if (!rc && !epoch)
        rc = core_misuse(ERR_NULL, __func__, "epoch is a null pointer");
    return rc ? rc : stream_epoch_create(&w, sig_addr, epoch);
}
API_ALIAS(shmemx_epoch_create)

int pshmemx_epoch_destroy(shmemx_epoch_t epoch)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return stream_epoch_destroy(__func__, epoch);
}
API_ALIAS(shmemx_epoch_destroy)

int pshmemx_epoch_wait_on_stream(shmemx_epoch_t epoch, uint64_t n,
                                 shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    struct stream_where w = API_ON(API_DEFAULT, stream);
    int rc = api_stream_need(__func__);

    return rc ? rc : stream_epoch_wait(&w, epoch, n);
}
API_ALIAS(shmemx_epoch_wait_on_stream)

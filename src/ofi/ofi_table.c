/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables by which the layers above reach the network: xport_net and
 * xport_progress.  ofi_open.c sets them; no other file names these slots. */
#include "ofi/ofi_provider.h"
#include "ofi/ofi_dispatch.h"
#include "ofi/am/ofi_am_number.h"

/* A put that comes over a stream of bytes is work for the descriptor's owner;
 * one of a NIC's shows nowhere but in memory. */
bool ofi_wakes_sleepers(void)
{
    return ofi.wait_fd && ofi_provider_is_stream();
}

const struct xport_ops ofi_ops = {
    .name = "libfabric",
    .ctx_open = ofi_ctx_open,
    .ctx_close = ofi_ctx_close,
    .ctx_continue_on_error = ofi_ctx_continue_on_error,
    .ctx_set_polled = ofi_ctx_set_polled,
    .put = ofi_put,
    .get = ofi_get,
    .try_get = ofi_try_get,
    .put_blocks = ofi_put_blocks,
    .get_blocks = ofi_get_blocks,
    .amo = ofi_amo_dispatch,
    .put_signal = ofi_put_signal, .try_put_signal = ofi_try_put_signal,
    .post_message = ofi_message,
    .notify = ofi_notify, .put_notify = ofi_put_notify,
    .fence = ofi_fence, .fence_test = ofi_fenced, .can_post = ofi_has_room,
    .quiet = ofi_quiet, .quiet_test = ofi_quiet_test,
    .probe = ofi_am_probe,
    .is_registered = ofi_heap_registered, .register_up_to = ofi_heap_register,
    .register_agreed = ofi_heap_register_agree,
};

const struct xport_progress_ops ofi_progress_ops = {
    .poll = ofi_progress, .set_asleep = ofi_progress_program_sleeps,
    .wakes_sleepers = ofi_wakes_sleepers,
    .check_timeouts = ofi_ctx_check_timeout, .in_flight = ofi_in_flight
};

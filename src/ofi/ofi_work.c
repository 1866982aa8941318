/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of what advances operations besides the completion queues: steps of
 * staging, the queues of further rails, posts that found no room.  ofi_cq.c and
 * ofi_wait.c run it with each poll, in any thread; the progress thread reads
 * the counts to know whether it may sleep.  No entry waits. */
#include "ofi/am/ofi_am_target.h"
#include "ofi/net/ofi_deferred.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/stage/ofi_stage_pool.h"

const struct ofi_work ofi_work[] = {
    { &ofi_stage_polled, ofi_stage_poll },
    { &ofi_n_rails, ofi_rails_poll },
    { &ofi_am_target_deferred.n, ofi_am_target_retry },
    { &ofi_amo_deferred.n, ofi_amo_retry },
    { NULL, NULL }
};

const int *const ofi_work_counts[] = {
    &ofi_stripe_deferred.n, &ofi_am_target_deferred.n, &ofi_stage_target_busy,
    &ofi_stage_polled, &ofi_stage_in_network, &ofi_amo_deferred.n,
    &ofi_amo_awaiting_put, NULL
};

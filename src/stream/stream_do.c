/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent does when a stream has reached an operation: the host's own
 * one, in the context of the queue. */
#include "core/core_amo.h"
#include "core/core_cmp.h"
#include "stream/stream_chan.h"
#include "stream/stream_queue.h"
#include "xport/xport_amo.h"

#include <string.h>

/* So many bytes of a far put are taken before it returns, without waiting for
 * the peer. */
enum { TAKEN = 4096 };

/* It is mapped: what is done there is done at once, even if the device has to
 * copy. */
static bool near(const struct stream_op *op)
{
    return xport_is_near(op->pe);
}

static bool do_put(const struct core_ctx *ctx, const struct stream_op *op)
{
    bool soon = op->value || near(op) || (op->waits && op->len <= TAKEN);

    if (op->value)
        core_put_any(op->dest, op->bytes, op->len, op->pe, op->call, ctx);
    else if (soon)
        core_put_any(op->dest, op->source, op->len, op->pe, op->call, ctx);
    else
        core_put_any_nbi(op->dest, op->source, op->len, op->pe, op->call, ctx);
    return soon || !op->waits;
}

/* Of a far PE's: at once, if that can be. */
static bool do_message(const struct core_ctx *ctx, const struct stream_op *op)
{
    return op->message && !near(op) &&
           core_far_message(op->call, ctx, op->dest, op->source, op->len,
                            op->signal.addr, op->signal.value, op->signal.op,
                            op->pe);
}

static bool do_put_signal(const struct core_ctx *ctx,
                          const struct stream_op *op)
{
    bool soon = near(op) || (op->waits && op->len <= TAKEN);

    core_put_signal(op->call, ctx, op->dest, op->source, op->len,
                    op->signal.addr, op->signal.value, op->signal.op, op->pe,
                    !soon);
    op->queue->reads |= !soon;
    return soon || !op->waits;
}

static bool do_amo(const struct core_ctx *ctx, const struct stream_op *op)
{
    const struct stream_amo *a = &op->amo;
    struct core_spot to = core_near_amo(ctx, a->sym, a->size, op->pe);
    const struct xport_amo x = { a->op, (int)a->size, a->value, a->cond };
    uint64_t was;

    if (!to.near) {
        core_far_amo(op->call, ctx, a->op, a->size, a->sym, op->pe, &a->value,
                     &a->cond, a->fetch, true);
        return !op->waits;
    }
    atomics_told();
    was = xport_amo_here((void *)to.near, &x);
    atomics_heard();
    if (a->fetch)
        core_copy(a->fetch, &was, a->size);
    core_wake(to, a->size);
    return true;
}

bool stream_do(const struct core_ctx *ctx, const struct stream_op *op)
{
    switch (op->kind) {
    case STREAM_PUT:
        return do_put(ctx, op);
    case STREAM_GET:
        if (near(op)) {
            core_get_any(op->dest, op->source, op->len, op->pe, op->call, ctx);
            return true;
        }
        core_get_any_nbi(op->dest, op->source, op->len, op->pe, op->call, ctx);
        return !op->waits;
    case STREAM_PUT_BLOCKS:
        core_put_strided(op->call, ctx, op->dest, op->source, &op->blocks,
                         op->pe);
        return true;
    case STREAM_GET_BLOCKS:
        core_get_strided(op->call, ctx, op->dest, op->source, &op->blocks,
                         op->pe);
        return true;
    case STREAM_AMO:
        return do_amo(ctx, op);
    case STREAM_PUT_SIGNAL:
        return do_message(ctx, op) || do_put_signal(ctx, op);
    case STREAM_SIGNAL:
        if (!do_message(ctx, op))
            core_signal(op->call, ctx, op->signal.addr, op->signal.value,
                        op->signal.op, op->pe);
        return true;
    case STREAM_FENCE:
        core_fence(op->call, ctx);
        return true;
    case STREAM_GATE:
        xport_far->amo(ctx->flow, &(struct xport_at){ op->pe, XPORT_GATE,
                                                      op->gate },
                       &(struct xport_amo){ XPORT_ADD, 8, 1, 0 }, NULL, true);
        return true;
    case STREAM_SEND:
        stream_send_reached(op);
        return true;
    case STREAM_SETTLE:
        return !op->queue->reads;
    case STREAM_QUIET:
    case STREAM_WAIT:
        break;
    }
    return false;
}

bool stream_do_ended(const struct core_ctx *ctx, const struct stream_op *op)
{
    if (op->kind == STREAM_WAIT) {
        if (!stream_wait_over(op->wait))
            return false;
    } else if (ctx->flow && !xport_far->idle(ctx->flow)) {
        return false;
    } else if (op->kind == STREAM_QUIET &&
               !stream_nic_over(op->queue, op->len)) {
        return false;
    } else {
        op->queue->reads = false;
    }
    atomics_full_fence();
    if (!gtl_device.ordered)
        gtl->flush();
    return true;
}

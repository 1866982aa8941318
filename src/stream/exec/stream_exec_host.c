/* SPDX-License-Identifier: BSD-3-Clause */
/* The third executor of stream operations: a thread of the host, which the
 * stream's trigger counter releases.  It calls the same code as the blocking
 * calls, in a context of its user's: a stream op ring (stream_ring_consume.c),
 * or a ring of requests of kernels (layer kernel).  The holder of that ring
 * works in steps: no step waits for a peer or for room in the network, or
 * copies for long, since the progress thread has other rings to step. */
#include "stream/exec/stream_exec.h"
#include "base/fault.h"
#include "core/core_amo.h"
#include "stream/ring/stream_task.h"

#include <errno.h>
#include <stdlib.h>

enum {
    TAKEN = 4096,               /* off-node put: bytes copied at once */
    BOUNCE = 16384              /* of short blocks on their way to a device */
};
/* The processor copies so much in a step. */
#define SLICE ((size_t)524288)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* It is mapped: operations are done at once, even if the device has to copy. */
static bool is_mapped(const struct stream_op *op)
{
    return xport_is_mapped(op->pe);
}

static bool has_room(const struct stream_exec_ctx *x,
                     const struct stream_op *op)
{
    return xport_net->can_post(x->ctx.net, op->pe);
}

/* A wait for the network is over when the stream may go on. */
static enum stream_exec_state begun(const struct stream_op *op)
{
    return op->waits ? STREAM_ISSUED : STREAM_COMPLETED;
}

/* A part of an off-node transfer that is posted at once. */
static size_t fragment_len(size_t left)
{
    return gtl_device_only ? least(left, XPORT_FRAGMENT) : left;
}

/* A put or a get: a mapped PE's by slices, a remote one's by fragments. */
static enum stream_exec_state do_move(struct stream_exec_ctx *x,
                                      const struct stream_op *op)
{
    size_t at = x->part.moved, left = op->len - at;
    const char *from = op->value ? (const char *)op->bytes : op->source;
    bool puts = op->kind == STREAM_PUT;
    char *to = op->dest;

    if (is_mapped(op)) {
        left = least(left, SLICE);
        (puts ? core_put_any : core_get_any)(to + at, from + at, left, op->pe,
                                             op->call, &x->ctx);
        x->part.copied = true;
    } else if (!has_room(x, op)) {
        return STREAM_AGAIN;
    } else if (puts && (op->value || (op->waits && op->len <= TAKEN))) {
        core_put_any(to, from, op->len, op->pe, op->call, &x->ctx);
        return STREAM_COMPLETED;
    } else {
        left = fragment_len(left);
        (puts ? core_put_any_nbi : core_get_any_nbi)(to + at, from + at, left,
                                                     op->pe, op->call, &x->ctx);
    }
    x->part.moved += left;
    return x->part.moved < op->len ? STREAM_AGAIN
           : is_mapped(op) ? STREAM_COMPLETED : begun(op);
}

/* ---- blocks: part.moved counts bytes ---- */

/* Whole blocks from part.moved on, up to that many bytes, or one. */
static struct core_strided next_blocks(const struct stream_exec_ctx *x,
                                       const struct stream_op *op, size_t bytes)
{
    struct core_strided b = op->blocks;
    size_t done = x->part.moved / b.len, most = bytes / b.len;

    b.count = least(most ? most : 1, b.count - done);
    return b;
}

static char *block_at(const void *base, ptrdiff_t stride,
                      const struct stream_exec_ctx *x,
                      const struct stream_op *op)
{
    size_t len = op->blocks.len;

    return (char *)base + (ptrdiff_t)(x->part.moved / len) * stride +
           x->part.moved % len;
}

static bool is_short(const struct stream_op *op)
{
    return op->blocks.len <= XPORT_PACKED_MAX / 4;
}

static enum stream_exec_state moved(struct stream_exec_ctx *x,
                                    const struct stream_op *op, size_t bytes,
                                    enum stream_exec_state last)
{
    x->part.moved += bytes;
    return x->part.moved < op->blocks.len * op->blocks.count ? STREAM_AGAIN
                                                             : last;
}

/* The rest of a block that is not short. */
static size_t rest_of_block(const struct stream_exec_ctx *x,
                            const struct stream_op *op)
{
    return fragment_len(op->blocks.len - x->part.moved % op->blocks.len);
}

static enum stream_exec_state put_blocks(struct stream_exec_ctx *x,
                                         const struct stream_op *op)
{
    struct core_strided b = next_blocks(x, op, is_mapped(op) ? SLICE
                                        : XPORT_PACKED_MAX);
    const char *from = block_at(op->source, op->blocks.sst, x, op);
    char *to = block_at(op->dest, op->blocks.dst, x, op);
    size_t n = b.len * b.count;

    if (!is_mapped(op) && !has_room(x, op))
        return STREAM_AGAIN;
    if (is_mapped(op) || is_short(op)) {
        core_put_strided(op->call, &x->ctx, to, from, &b, op->pe);
        x->part.copied = is_mapped(op);
        return moved(x, op, n, STREAM_COMPLETED);
    }
    n = rest_of_block(x, op);
    core_put_any_nbi(to, from, n, op->pe, op->call, &x->ctx);
    x->reads |= !op->waits;
    return moved(x, op, n, begun(op));
}

bool stream_exec_bounce(struct stream_exec_ctx *x)
{
    if (!x->bounce && !fault_hit(FAULT_STREAM_BOUNCE))
        x->bounce = malloc(BOUNCE);
    return x->bounce;
}

/* Blocks that a device is to have come to host memory first.  That is free
 * when the network has nothing left to bring; blocks that it did not bring stay
 * as they are. */
static enum stream_exec_state get_by_bounce(struct stream_exec_ctx *x,
                                            const struct stream_op *op)
{
    struct core_strided b = next_blocks(x, op, BOUNCE);
    const char *from = block_at(op->source, op->blocks.sst, x, op);
    struct xport_blocks blocks = { b.len, b.count, 0, 0 };
    bool comes = x->part.comes;

    if (!stream_exec_bounce(x)) {
        stream_errors_record(&x->failed, op->call, "get", op->pe,
                             "out of memory for "
                             "blocks on their way to the device",
                             NULL);
        return STREAM_COMPLETED;
    }
    if (comes ? !stream_exec_net_idle(x) : !has_room(x, op))
        return STREAM_AGAIN;
    x->part.comes = !comes;
    if (comes) {
        if (stream_errors_net_count(&x->failed) == x->part.failures)
            core_device_copy_blocks(block_at(op->dest, b.dst, x, op), b.dst,
                                    x->bounce, (ptrdiff_t)b.len, &blocks);
        return moved(x, op, b.len * b.count, STREAM_COMPLETED);
    }
    b.dst = (ptrdiff_t)b.len;
    x->part.failures = stream_errors_net_count(&x->failed);
    core_remote_get_strided(op->call, &x->ctx, x->bounce, from, &b, op->pe);
    return STREAM_AGAIN;
}

static enum stream_exec_state get_blocks(struct stream_exec_ctx *x,
                                         const struct stream_op *op)
{
    struct core_strided b = next_blocks(x, op, is_mapped(op) ? SLICE
                                        : XPORT_PACKED_MAX);
    const char *from = block_at(op->source, op->blocks.sst, x, op);
    char *to = block_at(op->dest, op->blocks.dst, x, op);
    size_t n = b.len * b.count;

    if (is_mapped(op)) {
        core_get_strided(op->call, &x->ctx, to, from, &b, op->pe);
        x->part.copied = true;
        return moved(x, op, n, STREAM_COMPLETED);
    }
    if (op->blocks.len <= BOUNCE && core_device_only(op->dest))
        return get_by_bounce(x, op);
    if (!has_room(x, op))
        return STREAM_AGAIN;
    if (is_short(op)) {
        core_remote_get_strided(op->call, &x->ctx, to, from, &b, op->pe);
    } else {
        n = rest_of_block(x, op);
        core_get_any_nbi(to, from, n, op->pe, op->call, &x->ctx);
    }
    return moved(x, op, n, begun(op));
}

/* ---- words ---- */

static bool to_device(const struct stream_op *op)
{
    return op->kind == STREAM_AMO && op->amo.fetch &&
           core_device_only(op->amo.fetch);
}

static enum stream_exec_state do_amo(struct stream_exec_ctx *x,
                                     const struct stream_op *op)
{
    const struct stream_amo *a = &op->amo;
    struct core_target to = core_mapped_amo(&x->ctx, a->sym, a->size, op->pe);
    const struct xport_amo apply = { a->op, (int)a->size, a->value, a->cond };
    bool bounces = to_device(op);
    uint64_t was;

    if (!to.addr) {
        if (xport_net && !has_room(x, op))
            return STREAM_AGAIN;
        x->was = 0;
        x->part.failures = stream_errors_net_count(&x->failed);
        core_remote_amo(op->call, &x->ctx, a->op, a->size, a->sym, op->pe,
                        &a->value, &a->cond, bounces ? &x->was : a->fetch,
                        true);
        return bounces ? STREAM_ISSUED : begun(op);
    }
    atomics_tsan_release();
    was = xport_amo_local((void *)to.addr, &apply);
    atomics_tsan_acquire();
    if (a->fetch)
        core_copy(a->fetch, &was, a->size);
    core_wake(to, a->size);
    return STREAM_COMPLETED;
}

/* The network does it, and has no room. */
static bool lacks_room(const struct stream_exec_ctx *x,
                       const struct stream_op *op)
{
    const struct stream_signal *s = &op->signal;

    return xport_net &&
           !core_mapped_amo(&x->ctx, s->addr, sizeof *s->addr, op->pe).addr &&
           !has_room(x, op);
}

/* To an off-node PE: -ENOTSUP if that cannot be. */
static int message(struct stream_exec_ctx *x, const struct stream_op *op)
{
    return !op->message || is_mapped(op)
               ? -ENOTSUP
               : core_remote_message(op->call, &x->ctx, op->dest, op->source,
                                     op->len, op->signal.addr, op->signal.value,
                                     op->signal.op, op->pe);
}

/* Then its source may still be read: the stream waits for that. */
static enum stream_exec_state message_sent(struct stream_exec_ctx *x,
                                           const struct stream_op *op)
{
    if (op->len <= XPORT_COPY_MAX)
        return STREAM_COMPLETED;
    x->reads = true;
    return begun(op);
}

static enum stream_exec_state notify(struct stream_exec_ctx *x,
                                     const struct stream_op *op)
{
    if (!xport_net->fence_test(x->ctx.net, true) || !has_room(x, op))
        return STREAM_AGAIN;
    core_remote_notify(op->call, &x->ctx,
                       op->signal.op == SHMEM_SIGNAL_ADD ? AMO_ADD : AMO_SET,
                       op->signal.addr, op->signal.value, op->pe);
    return STREAM_COMPLETED;
}

static enum stream_exec_state do_signal(struct stream_exec_ctx *x,
                                        const struct stream_op *op)
{
    int rc;

    if (op->notifies && !is_mapped(op))
        return notify(x, op);
    rc = message(x, op);
    if (rc == -EAGAIN || (rc && lacks_room(x, op)))
        return STREAM_AGAIN;
    if (rc)
        core_signal(op->call, &x->ctx, op->signal.addr, op->signal.value,
                    op->signal.op, op->pe);
    return STREAM_COMPLETED;
}

/* ---- puts with a signal ---- */

static enum stream_exec_state put_signal_mapped(struct stream_exec_ctx *x,
                                              const struct stream_op *op,
                                              struct stream_op_state *p)
{
    char *to = (char *)op->dest + p->moved;
    const char *from = (const char *)op->source + p->moved;
    size_t left = op->len - p->moved;

    if (lacks_room(x, op))
        return STREAM_AGAIN;
    p->copied = left > SLICE;
    if (p->copied) {
        core_put_any(to, from, SLICE, op->pe, op->call, &x->ctx);
        p->moved += SLICE;
        return STREAM_AGAIN;
    }
    core_put_signal(op->call, &x->ctx, to, from, left, op->signal.addr,
                    op->signal.value, op->signal.op, op->pe, false);
    return STREAM_COMPLETED;
}

/* First the put, and the signal when nothing overtakes it any more. */
static enum stream_exec_state put_then_signal(struct stream_exec_ctx *x,
                                              const struct stream_op *op,
                                              struct stream_op_state *p)
{
    size_t n;

    while (p->moved < op->len) {
        if (!has_room(x, op))
            return STREAM_AGAIN;
        n = fragment_len(op->len - p->moved);
        core_put_any_nbi((char *)op->dest + p->moved,
                         (const char *)op->source + p->moved, n, op->pe,
                         op->call, &x->ctx);
        p->moved += n;
        x->reads = true;
    }
    if (!xport_net->fence_test(x->ctx.net, true) || !has_room(x, op))
        return STREAM_AGAIN;
    /* As far as failures are known, no signal announces data that are missing.
     */
    if (!stream_errors_net_since(&x->failed, p->failures, op->pe))
        core_signal(op->call, &x->ctx, op->signal.addr, op->signal.value,
                    op->signal.op, op->pe);
    return begun(op);
}

static int try_put_signal(struct stream_exec_ctx *x, const struct stream_op *op,
                          bool nbi)
{
    return core_remote_try_put_signal(op->call, &x->ctx, op->dest, op->source,
                                      op->len, op->signal.addr,
                                      op->signal.value, op->signal.op, op->pe,
                                      nbi);
}

enum stream_exec_state stream_exec_host_put_signal(struct stream_exec_ctx *x,
                                                   const struct stream_op *op,
                                                   struct stream_op_state *p)
{
    bool soon = op->waits && op->len <= TAKEN;
    int rc;

    if (is_mapped(op))
        return put_signal_mapped(x, op, p);
    if (!op->len)
        return do_signal(x, op);
    if (!p->split) {
        rc = message(x, op);
        if (!rc)
            return message_sent(x, op);
        if (rc == -ENOTSUP) {
            rc = try_put_signal(x, op, !soon);
            if (!rc)
                x->reads |= !soon;
        }
        if (!rc)
            return soon ? STREAM_COMPLETED : begun(op);
        if (rc == -EAGAIN)
            return STREAM_AGAIN;
        p->split = true;
        p->failures = stream_errors_net_count(&x->failed);
    }
    return put_then_signal(x, op, p);
}

/* ---- */

/* Behind it the network orders later operations.  It waits for copies of the
 * device here, which no peer holds up. */
static enum stream_exec_state do_fence(struct stream_exec_ctx *x,
                                       const struct stream_op *op)
{
    if (xport_net && !xport_net->fence_test(x->ctx.net, false))
        return STREAM_AGAIN;
    core_fence(op->call, &x->ctx);
    return STREAM_COMPLETED;
}

static enum stream_exec_state do_increment(struct stream_exec_ctx *x,
                                           const struct stream_op *op)
{
    const struct xport_addr at = { op->pe, XPORT_TRIG_COUNTER, op->two_input };
    const struct xport_amo one = { AMO_ADD, 8, 1, 0 };

    if (!has_room(x, op))
        return STREAM_AGAIN;
    xport_net->amo(x->ctx.net, &at, &one, NULL, true);
    return STREAM_COMPLETED;
}

static enum stream_exec_state do_put_signal(struct stream_exec_ctx *x,
                                            const struct stream_op *op)
{
    return stream_exec_host_put_signal(x, op, &x->part);
}

/* The message layer's task begins, and completes by itself. */
static enum stream_exec_state do_message(struct stream_exec_ctx *x,
                                         const struct stream_op *op)
{
    (void)x;
    stream_task_add(op);
    return STREAM_COMPLETED;
}

static enum stream_exec_state do_local_quiet(struct stream_exec_ctx *x,
                                             const struct stream_op *op)
{
    (void)op;
    return x->reads ? STREAM_ISSUED : STREAM_COMPLETED;
}

/* There is nothing to issue: only the completion below. */
static enum stream_exec_state do_nothing(struct stream_exec_ctx *x,
                                         const struct stream_op *op)
{
    (void)x;
    (void)op;
    return STREAM_ISSUED;
}

/* ---- the table ---- */

static enum stream_exec_state (*const issue[STREAM_KINDS])(
    struct stream_exec_ctx *x, const struct stream_op *op) = {
    [STREAM_PUT] = do_move,
    [STREAM_GET] = do_move,
    [STREAM_PUT_BLOCKS] = put_blocks,
    [STREAM_GET_BLOCKS] = get_blocks,
    [STREAM_AMO] = do_amo,
    [STREAM_PUT_SIGNAL] = do_put_signal,
    [STREAM_SIGNAL] = do_signal,
    [STREAM_INCREMENT] = do_increment,
    [STREAM_MESSAGE] = do_message,
    [STREAM_FENCE] = do_fence,
    [STREAM_LOCAL_QUIET] = do_local_quiet,
    [STREAM_QUIET] = do_nothing,
    [STREAM_WAIT] = do_nothing,
};

/* Has an issued operation completed? */
static bool has_completed(struct stream_exec_ctx *x, const struct stream_op *op)
{
    if (op->kind == STREAM_WAIT ? !stream_wait_satisfied(op->wait)
                                : !stream_exec_net_idle(x))
        return false;
    if (op->kind != STREAM_WAIT)
        x->reads = false;
    if (to_device(op) &&
        stream_errors_net_count(&x->failed) == x->part.failures) {
        atomics_full_fence();
        xport_flush();
        core_copy(op->amo.fetch, &x->was, op->amo.size);
    }
    atomics_full_fence();
    xport_flush();
    return true;
}

/* True: it is issued, and nothing waits for its completion. */
static bool issue_step(struct stream_exec_ctx *x, const struct stream_op *op,
                       bool holds, bool *any)
{
    size_t moved = x->part.moved;
    enum stream_exec_state state;

    x->part.copied = false;
    state = issue[op->kind](x, op);
    *any |= state != STREAM_AGAIN || x->part.moved != moved;
    /* There is room for one result that goes to the device's memory. */
    x->issued = state == STREAM_ISSUED && (holds || to_device(op));
    return state != STREAM_AGAIN && !x->issued;
}

bool stream_exec_step(struct stream_exec_ctx *x, const struct stream_op *op,
                      bool holds, bool *any)
{
    if (!x->begun) {
        x->part = (struct stream_op_state){ 0 };
        x->begun = true;
    }
    if (!x->issued) {
        if (!issue_step(x, op, holds, any))
            return false;
    } else if (has_completed(x, op)) {
        *any = true;
    } else {
        return false;
    }
    x->begun = x->issued = false;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that the device does itself, in the stream. */
#include "stream/graph/stream_graph.h"
#include "stream/stream_int.h"
#include "stream/stream_stats.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)GTL_FETCH == (int)XPORT_FETCH &&
               (int)GTL_CSWAP == (int)XPORT_CSWAP &&
               (int)GTL_XOR == (int)XPORT_XOR, "one list of operations");

enum { NOT = STREAM_DECLINED };      /* the device does not reach it */

static int put(const struct stream_op *op, void *s)
{
    uintptr_t to = stream_device_address(op->pe, op->dest, op->len);

    if (unlikely(!to) || !stream_device_reaches(op->source, op->len))
        return NOT;
    return gtl->copy((void *)to, op->source, op->len, s);
}

static int get(const struct stream_op *op, void *s)
{
    uintptr_t from = stream_device_address(op->pe, op->source, op->len);

    if (unlikely(!from) || !stream_device_reaches(op->dest, op->len))
        return NOT;
    return gtl->copy(op->dest, (const void *)from, op->len, s);
}

/* One byte or an aligned word. */
static int put_value(const struct stream_op *op, void *s)
{
    uintptr_t to = op->len == 4
                       ? stream_device_address_amo(op->pe, op->dest, 4)
                       : stream_device_address(op->pe, op->dest, op->len);
    struct gtl_amo a = { .op = GTL_SET, .size = 4, .word = (void *)to };
    uint64_t v = 0;

    if (!to || to % op->len)
        return NOT;
    if (op->len == 1)
        return gtl->fill((void *)to, op->bytes[0], 1, s);
    if (op->len != 4 && op->len != 8)
        return NOT;
    memcpy(&v, op->bytes, op->len);
    a.value = v;
    return op->len == 8 ? gtl->write64((uint64_t *)to, v, s)
                        : gtl->amo(&a, s);
}

size_t stream_extent(const struct core_strided *b, ptrdiff_t stride)
{
    return (b->count - 1) * (size_t)stride + b->len;
}

static int blocks(const struct stream_op *op, void *s)
{
    const struct core_strided *b = &op->blocks;
    const struct gtl_blocks g = { b->len, b->count, b->dst, b->sst };
    size_t dest_len = stream_extent(b, b->dst);
    size_t source_len = stream_extent(b, b->sst);
    bool is_put = op->kind == STREAM_PUT_BLOCKS;
    uintptr_t p = is_put
                      ? stream_device_address(op->pe, op->dest, dest_len)
                      : stream_device_address(op->pe, op->source, source_len);

    if (!p || !(is_put ? stream_device_reaches(op->source, source_len)
                       : stream_device_reaches(op->dest, dest_len)))
        return NOT;
    return gtl->copy_blocks(is_put ? (void *)p : op->dest,
                            is_put ? op->source : (const void *)p, &g, s);
}

static int amo(const struct stream_op *op, void *s)
{
    const struct stream_amo *a = &op->amo;
    uintptr_t to = stream_device_address_amo(op->pe, a->sym, a->size);
    struct gtl_amo g = {
        .op = (enum gtl_amo_op)a->op, .size = (int)a->size,
        .word = (void *)to, .value = a->value, .cond = a->cond,
        .result = a->fetch
    };

    if (unlikely(!to) ||
        (a->fetch && !stream_device_reaches(a->fetch, a->size)))
        return NOT;
    return gtl->amo(&g, s);
}

static int signal(const struct stream_op *op, void *s)
{
    const struct stream_signal *g = &op->signal;
    uintptr_t to = stream_device_address_amo(op->pe, g->addr, sizeof *g->addr);
    struct gtl_amo a = {
        .op = GTL_ADD, .size = 8, .word = (void *)to, .value = g->value
    };

    if (unlikely(!to))
        return NOT;
    return g->op == SHMEM_SIGNAL_SET
           ? gtl->write64((uint64_t *)to, g->value, s) : gtl->amo(&a, s);
}

static int put_signal(const struct stream_op *op, void *s)
{
    int rc;

    if (!stream_device_address_amo(op->pe, op->signal.addr,
                                   sizeof *op->signal.addr))
        return NOT;
    rc = op->len ? put(op, s) : 0;
    return rc ? rc : signal(op, s);
}

static int direct(const struct stream_op *op, void *s)
{
    switch (op->kind) {
    case STREAM_PUT:
        return op->value ? put_value(op, s) : put(op, s);
    case STREAM_GET:
        return get(op, s);
    case STREAM_PUT_BLOCKS:
    case STREAM_GET_BLOCKS:
        return blocks(op, s);
    case STREAM_AMO:
        return amo(op, s);
    case STREAM_SIGNAL:
        return signal(op, s);
    case STREAM_PUT_SIGNAL:
        return put_signal(op, s);
    case STREAM_INCREMENT:
    case STREAM_MESSAGE:
    case STREAM_FENCE:
    case STREAM_LOCAL_QUIET:
    case STREAM_QUIET:
    case STREAM_WAIT:
        break;
    }
    return NOT;
}

int stream_exec_device(const struct stream_where *w, const struct stream_op *op,
                       bool *done)
{
    int rc = direct(op, w->stream);

    *done = rc != NOT;
    if (likely(!rc)) {
        stream_count(STREAM_BY_DEVICE, 1);
        gtl->count_ops(w->stream, 1);
    }
    return rc == NOT ? 0 : stream_device_rc(w, rc);
}

static int repeat(const struct stream_where *w, const void *args)
{
    struct stream_op op = *(const struct stream_op *)args;

    return stream_op_enqueue(w, &op);
}

/* Order is wanted of the graph's own operations: of the device's own it is the
 * graph's; those of the launch before are waited for where PEs are far. */
static int record(const struct stream_where *w, const struct stream_op *op)
{
    if ((op->kind == STREAM_FENCE || op->kind == STREAM_QUIET) && !xport_net &&
        !stream_graph_has_ops(w->stream))
        return 0;
    return stream_record(w, repeat, op, sizeof *op);
}

int stream_op_enqueue(const struct stream_where *w, struct stream_op *op)
{
    struct stream_ring *q;
    struct stream_op *to;
    bool done;
    int rc = stream_exec_device(w, op, &done);

    if (likely(done || rc))
        return rc;
    if (op->waits && unlikely(!stream_waits_allowed()))
        return stream_refuse_wait(w);
    rc = stream_ring_of(w, &q);
    if (unlikely(rc == -EBUSY))
        return record(w, op);
    if (!rc)
        rc = stream_exec_nic(w, q, op);
    if (rc != STREAM_DECLINED)
        return rc;
    rc = stream_ring_entry_for(w, q, &to);
    if (rc)
        return rc;
    op->queue = to->queue;
    *to = *op;
    return stream_ring_post(w, to);
}

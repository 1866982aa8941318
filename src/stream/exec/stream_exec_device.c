/* SPDX-License-Identifier: BSD-3-Clause */
/* The first executor of stream operations: the device itself.  A copy, a store
 * or an atomic goes into the stream where the device reaches both ends, and no
 * thread has a part in it.  Called by stream_op.c and by starts of queues; it
 * allocates nothing and declines what it cannot do. */
#include "stream/exec/stream_exec.h"
#include "stream/stream_stats.h"

#include <string.h>

static int copy_to(const struct stream_op *op, void *s)
{
    uintptr_t to = stream_device_address(op->pe, op->dest, op->len);

    if (unlikely(!to) || !stream_device_reaches(op->source, op->len))
        return STREAM_DECLINED;
    return gtl->copy((void *)to, op->source, op->len, s);
}

static int get(const struct stream_op *op, void *s)
{
    uintptr_t from = stream_device_address(op->pe, op->source, op->len);

    if (unlikely(!from) || !stream_device_reaches(op->dest, op->len))
        return STREAM_DECLINED;
    return gtl->copy(op->dest, (const void *)from, op->len, s);
}

/* One byte or an aligned word. */
static int put_value(const struct stream_op *op, void *s)
{
    uintptr_t to = op->len == 4
                       ? stream_device_address_amo(op->pe, op->dest, 4)
                       : stream_device_address(op->pe, op->dest, op->len);
    struct gtl_amo a = { .op = AMO_SET, .size = 4, .word = (void *)to };
    uint64_t v = 0;

    if (!to || to % op->len)
        return STREAM_DECLINED;
    if (op->len == 1)
        return gtl->fill((void *)to, op->bytes[0], 1, s);
    if (op->len != 4 && op->len != 8)
        return STREAM_DECLINED;
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
        return STREAM_DECLINED;
    return gtl->copy_blocks(is_put ? (void *)p : op->dest,
                            is_put ? op->source : (const void *)p, &g, s);
}

static int amo(const struct stream_op *op, void *s)
{
    const struct stream_amo *a = &op->amo;
    uintptr_t to = stream_device_address_amo(op->pe, a->sym, a->size);
    struct gtl_amo g = {
        .op = a->op, .size = (int)a->size,
        .word = (void *)to, .value = a->value, .cond = a->cond,
        .result = a->fetch
    };

    if (unlikely(!to) ||
        (a->fetch && !stream_device_reaches(a->fetch, a->size)))
        return STREAM_DECLINED;
    return gtl->amo(&g, s);
}

static int signal(const struct stream_op *op, void *s)
{
    const struct stream_signal *g = &op->signal;
    uintptr_t to = stream_device_address_amo(op->pe, g->addr, sizeof *g->addr);
    struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = (void *)to, .value = g->value
    };

    if (unlikely(!to))
        return STREAM_DECLINED;
    return g->op == SHMEM_SIGNAL_SET
           ? gtl->write64((uint64_t *)to, g->value, s) : gtl->amo(&a, s);
}

static int put_signal(const struct stream_op *op, void *s)
{
    int rc;

    if (!stream_device_address_amo(op->pe, op->signal.addr,
                                   sizeof *op->signal.addr))
        return STREAM_DECLINED;
    rc = op->len ? copy_to(op, s) : 0;
    return rc ? rc : signal(op, s);
}

static int put(const struct stream_op *op, void *s)
{
    return op->value ? put_value(op, s) : copy_to(op, s);
}

/* A kind without a row is none that a device does. */
static int (*const by_kind[STREAM_KINDS])(const struct stream_op *op,
                                          void *stream) = {
    [STREAM_PUT] = put,
    [STREAM_GET] = get,
    [STREAM_PUT_BLOCKS] = blocks,
    [STREAM_GET_BLOCKS] = blocks,
    [STREAM_AMO] = amo,
    [STREAM_SIGNAL] = signal,
    [STREAM_PUT_SIGNAL] = put_signal,
};

int stream_exec_device(const struct stream_where *w, const struct stream_op *op)
{
    int rc =
        by_kind[op->kind] ? by_kind[op->kind](op, w->stream) : STREAM_DECLINED;

    if (likely(!rc)) {
        stream_count(STREAM_BY_DEVICE, 1);
        gtl->count_ops(w->stream, 1);
    }
    return rc == STREAM_DECLINED ? rc : stream_device_rc(w, rc);
}

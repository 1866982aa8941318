/* SPDX-License-Identifier: BSD-3-Clause */
/* The one-sided calls on a stream: wrong arguments are refused with a line, the
 * others become a stream operation, which stream_op.c gives to an executor.
 * Called by src/api, by queues and by graphs; moves no data itself. */
#include "stream/graph/stream_graph.h"
#include "stream/stream_int.h"

#include <errno.h>
#include <string.h>

static int bytes_of(const struct stream_where *w, size_t n, size_t size,
                    size_t *out)
{
    if (unlikely(__builtin_mul_overflow(n, size, out)))
        return stream_refuse(ERR_SIZE, w->call, "%zu elements of %zu bytes "
                             "exceed the address space", n, size);
    return 0;
}

static const char *local_name(const struct stream_where *w, const char *usual)
{
    return w->local_arg ? w->local_arg : usual;
}

/* remote is the address at that PE, local the other one. */
static int make(const struct stream_where *w, enum stream_kind kind,
                const void *remote, const void *local, int pe,
                struct stream_op *out)
{
    bool get = kind == STREAM_GET;
    int rc = stream_need_symmetric(w, get ? "source" : "dest", remote, out->len,
                                   pe, &out->pe);

    out->kind = kind;
    out->value = out->message = out->notifies = false;
    out->waits = true;
    out->call = w->call;
    return rc ? rc : stream_need_local(w, local_name(w, get ? "dest"
                                                          : "source"),
                                       local, out->len);
}

static int need_signal(const struct stream_where *w,
                       const struct stream_signal *s, int pe, int *at)
{
    int rc = stream_need_aligned(w, s->addr, sizeof *s->addr);

    if (!rc && s->op != SHMEM_SIGNAL_ADD && s->op != SHMEM_SIGNAL_SET)
        rc = stream_refuse(ERR_ARG, w->call, "signal operator %d is neither "
                           "SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", s->op);
    return rc ? rc : stream_need_symmetric(w, "sig_addr", s->addr,
                                           sizeof *s->addr, pe, at);
}

int stream_make_put(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size,
                    const struct stream_signal *s, int pe,
                    struct stream_op *out)
{
    int rc = s ? need_signal(w, s, pe, &out->pe) : 0;

    out->dest = dest;
    out->source = source;
    if (s)
        out->signal = *s;
    rc = rc ? rc : bytes_of(w, n, size, &out->len);
    return rc ? rc : make(w, s ? STREAM_PUT_SIGNAL : STREAM_PUT, dest, source,
                          pe, out);
}

int stream_make_get(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size, int pe,
                    struct stream_op *out)
{
    out->dest = dest;
    out->source = source;
    return bytes_of(w, n, size, &out->len)
               ? -EINVAL : make(w, STREAM_GET, source, dest, pe, out);
}

int stream_put(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi)
{
    struct stream_op op;
    int rc = stream_make_put(w, dest, source, n, size, NULL, pe, &op);

    op.waits = !nbi;
    return rc ? rc : op.len ? stream_op_enqueue(w, &op) : stream_need_stream(w);
}

int stream_get(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi)
{
    struct stream_op op;
    int rc = stream_make_get(w, dest, source, n, size, pe, &op);

    op.waits = !nbi;
    return rc ? rc : op.len ? stream_op_enqueue(w, &op) : stream_need_stream(w);
}

int stream_put_value(const struct stream_where *w, void *dest,
                     const void *value, size_t size, int pe)
{
    struct stream_op op;
    int rc = stream_make_put(w, dest, value, 1, size, NULL, pe, &op);

    if (rc)
        return rc;
    op.value = true;
    /* Later steps may read it here. */
    op.waits = stream_device_address(op.pe, dest, size) != 0;
    memcpy(op.bytes, value, size);
    return stream_op_enqueue(w, &op);
}

/* ---- strided ---- */

/* Bytes from the first to past the last block. */
static int extent(const struct stream_where *w, ptrdiff_t stride,
                  const struct core_strided *s, size_t *out)
{
    size_t span;

    *out = 0;
    if (!s->count || !s->len)
        return 0;
    if (__builtin_mul_overflow(s->count - 1, (size_t)stride, &span) ||
        __builtin_add_overflow(span, s->len, out))
        return stream_refuse(ERR_SIZE, w->call, "%zu blocks, %td bytes apart, "
                             "exceed the address space", s->count, stride);
    return 0;
}

static int scale(const struct stream_where *w, const struct stream_blocks *b,
                 struct core_strided *out)
{
    if (b->nblocks && b->bsize &&
        (b->dst < 1 || b->sst < 1 || (size_t)b->dst < b->bsize ||
         (size_t)b->sst < b->bsize))
        return stream_refuse(ERR_ARG, w->call, "strides %td and %td are below "
                             "the block of %zu elements", b->dst, b->sst,
                             b->bsize);
    if (__builtin_mul_overflow(b->dst, b->size, &out->dst) ||
        __builtin_mul_overflow(b->sst, b->size, &out->sst))
        return stream_refuse(ERR_SIZE, w->call, "strides %td and %td of "
                             "%zu-byte elements exceed the address space",
                             b->dst, b->sst, b->size);
    out->count = b->nblocks;
    return bytes_of(w, b->bsize, b->size, &out->len);
}

int stream_move_blocks(const struct stream_where *w, bool puts, void *dest,
                       const void *source, const struct stream_blocks *b,
                       int pe)
{
    size_t dest_len, source_len;
    struct stream_op op;
    int rc;

    rc = scale(w, b, &op.blocks);
    if (!rc)
        rc = extent(w, op.blocks.dst, &op.blocks, &dest_len);
    if (!rc)
        rc = extent(w, op.blocks.sst, &op.blocks, &source_len);
    if (!rc)
        rc = puts
            ? stream_need_symmetric(w, "dest", dest, dest_len, pe, &op.pe)
            : stream_need_symmetric(w, "source", source, source_len, pe,
                                    &op.pe);
    if (!rc)
        rc = puts ? stream_need_local(w, "source", source, source_len)
                  : stream_need_local(w, "dest", dest, dest_len);
    if (rc || !dest_len)
        return rc ? rc : stream_need_stream(w);
    op.kind = puts ? STREAM_PUT_BLOCKS : STREAM_GET_BLOCKS;
    op.value = op.message = false;
    op.waits = true;
    op.len = dest_len;
    op.call = w->call;
    op.dest = dest;
    op.source = source;
    return stream_op_enqueue(w, &op);
}

/* ---- signals and atomics ---- */

int stream_make_signal(const struct stream_where *w,
                       const struct stream_signal *s, int pe,
                       struct stream_op *out)
{
    *out = (struct stream_op){
        .kind = STREAM_SIGNAL, .call = w->call, .signal = *s
    };
    return need_signal(w, s, pe, &out->pe);
}

int stream_signal(const struct stream_where *w, const struct stream_signal *s,
                  int pe)
{
    struct stream_op op;
    int rc = stream_make_signal(w, s, pe, &op);

    return rc ? rc : stream_op_enqueue(w, &op);
}

int stream_put_signal(const struct stream_where *w, void *dest,
                      const void *source, size_t n, size_t size,
                      const struct stream_signal *s, int pe, bool nbi)
{
    struct stream_op op;
    int rc = stream_make_put(w, dest, source, n, size, s, pe, &op);

    op.waits = !nbi;
    return rc ? rc : stream_op_enqueue(w, &op);
}

int stream_make_amo(const struct stream_where *w, const struct stream_amo *a,
                    int pe, struct stream_op *out)
{
    const char *name = w->sym_arg ? w->sym_arg
                       : a->op == AMO_FETCH ? "source" : "dest";
    int rc = stream_need_aligned(w, a->sym, a->size);

    if (!rc)
        rc = stream_need_symmetric(w, name, a->sym, a->size, pe, &out->pe);
    if (!rc && a->fetches)
        rc = stream_need_local(w, local_name(w, "fetch"), a->fetch, a->size);
    out->kind = STREAM_AMO;
    out->len = 0;
    out->value = out->message = out->notifies = false;
    out->waits = a->fetches;
    out->call = w->call;
    out->amo = *a;
    return rc;
}

int stream_amo(const struct stream_where *w, const struct stream_amo *a,
               int pe)
{
    struct stream_op op;
    int rc = stream_make_amo(w, a, pe, &op);

    return rc ? rc : stream_op_enqueue(w, &op);
}

/* ---- order ---- */

/* Proxy streams have had operations of launches, which the queue of the stream
 * does not know of: a quiet of the progress thread's asks for these, too. */
static int order_graphs(const struct stream_where *w, struct stream_op *op)
{
    struct stream_ring *ring;
    int rc;

    if (gtl->is_capturing(w->stream))
        return stream_op_enqueue(w, op);
    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    rc = stream_ring_of(w, &ring);
    op->kind = STREAM_QUIET;
    return rc ? rc : stream_ring_post(w, ring, op);
}

/* Where nothing is posted for the stream, its own order is all there is. */
static int order(const struct stream_where *w, enum stream_kind kind)
{
    struct stream_op op = { .kind = kind, .call = w->call, .waits = true };

    if (!w->ctx)
        return stream_refuse(ERR_CTX, w->call, "an invalid context");
    if (unlikely(stream_graphs_any()))
        return order_graphs(w, &op);
    if (!stream_has_ring(w->stream))
        return stream_need_stream(w);
    return stream_op_enqueue(w, &op);
}

int stream_fence(const struct stream_where *w)
{
    return order(w, STREAM_FENCE);
}

int stream_quiet(const struct stream_where *w)
{
    return order(w, STREAM_QUIET);
}

int stream_pe_quiet(const struct stream_where *w, const int *pes, size_t n)
{
    int at, rc = stream_need_local(w, "target_pes", pes, n * sizeof *pes);

    for (size_t i = 0; i < n && !rc; i++)
        rc = stream_need_symmetric(w, NULL, NULL, 0, pes[i], &at);
    return rc ? rc : stream_quiet(w);
}

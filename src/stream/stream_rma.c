/* SPDX-License-Identifier: BSD-3-Clause */
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

static int arm(const struct stream_where *w, enum stream_kind kind, void *dest,
               const void *source, size_t len, int pe, bool waits)
{
    struct stream_op *op;
    int rc = stream_arm_begin(w, &op);

    if (rc)
        return rc;
    op->kind = kind;
    op->pe = pe;
    op->dest = dest;
    op->source = source;
    op->len = len;
    op->waits = waits;
    return stream_arm(w, op);
}

int stream_put(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi)
{
    uintptr_t to;
    size_t len;
    int rc, at;

    rc = bytes_of(w, n, size, &len);
    if (!rc)
        rc = stream_need_symmetric(w, dest, len, pe, &at);
    if (!rc)
        rc = stream_need_local(w, source, len);
    if (rc || !len)
        return rc;
    to = stream_reach(at, dest, len);
    if (likely(to) && stream_reaches_local(source, len))
        return stream_told(w, gtl->copy((void *)to, source, len, w->stream));
    return arm(w, STREAM_PUT, dest, source, len, at, !nbi);
}

int stream_get(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi)
{
    uintptr_t from;
    size_t len;
    int rc, at;

    rc = bytes_of(w, n, size, &len);
    if (!rc)
        rc = stream_need_symmetric(w, source, len, pe, &at);
    if (!rc)
        rc = stream_need_local(w, dest, len);
    if (rc || !len)
        return rc;
    from = stream_reach(at, source, len);
    if (likely(from) && stream_reaches_local(dest, len))
        return stream_told(w, gtl->copy(dest, (const void *)from, len, w->stream));
    return arm(w, STREAM_GET, dest, source, len, at, !nbi);
}

/* Values of one or two words the device stores by itself. */
static bool put_word(const struct stream_where *w, uintptr_t to,
                     const void *value, size_t size, int *rc)
{
    struct gtl_amo a = { .op = GTL_SET, .size = (int)size, .word = (void *)to };
    uint64_t v = 0;

    if ((size != 4 && size != 8) || to % size)
        return false;
    memcpy(&v, value, size);
    a.value = v;
    if (size == 8)
        *rc = gtl->write64((uint64_t *)to, v, w->stream);
    else
        *rc = gtl->amo(&a, w->stream);
    return true;
}

int stream_put_value(const struct stream_where *w, void *dest,
                     const void *value, size_t size, int pe)
{
    struct stream_op *op;
    uintptr_t to;
    int rc, at;

    rc = stream_need_symmetric(w, dest, size, pe, &at);
    if (rc)
        return rc;
    to = size == 4 ? stream_reach_amo(at, dest, size)
                   : stream_reach(at, dest, size);
    if (to && size == 1)
        return stream_told(w, gtl->fill((void *)to, *(const unsigned char *)value, 1,
                                 w->stream));
    if (to && put_word(w, to, value, size, &rc))
        return stream_told(w, rc);
    rc = stream_arm_begin(w, &op);
    if (rc)
        return rc;
    op->kind = STREAM_PUT;
    op->pe = at;
    op->dest = dest;
    op->len = size;
    op->value = true;
    /* Later steps may read it here. */
    op->waits = to != 0;
    memcpy(op->bytes, value, size);
    return stream_arm(w, op);
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

/* sym is dest for a put, else source. */
static int blocks(const struct stream_where *w, bool put, void *dest,
                  const void *source, const struct stream_blocks *b, int pe)
{
    const void *sym = put ? dest : source, *near = put ? source : dest;
    size_t far_len, near_len;
    struct core_strided s;
    struct stream_op *op;
    uintptr_t p;
    int rc, at;

    rc = scale(w, b, &s);
    if (!rc)
        rc = extent(w, put ? s.dst : s.sst, &s, &far_len);
    if (!rc)
        rc = extent(w, put ? s.sst : s.dst, &s, &near_len);
    if (!rc)
        rc = stream_need_symmetric(w, sym, far_len, pe, &at);
    if (!rc)
        rc = stream_need_local(w, near, near_len);
    if (rc || !far_len)
        return rc;
    p = stream_reach(at, sym, far_len);
    if (p && stream_reaches_local(near, near_len)) {
        const struct gtl_blocks g = { s.len, s.count, s.dst, s.sst };

        return stream_told(w, gtl->copy_blocks(put ? (void *)p : dest,
                                        put ? source : (const void *)p, &g,
                                        w->stream));
    }
    rc = stream_arm_begin(w, &op);
    if (rc)
        return rc;
    op->kind = put ? STREAM_PUT_BLOCKS : STREAM_GET_BLOCKS;
    op->pe = at;
    op->dest = dest;
    op->source = source;
    op->blocks = s;
    op->waits = true;
    return stream_arm(w, op);
}

int stream_put_blocks(const struct stream_where *w, void *dest,
                      const void *source, const struct stream_blocks *b,
                      int pe)
{
    return blocks(w, true, dest, source, b, pe);
}

int stream_get_blocks(const struct stream_where *w, void *dest,
                      const void *source, const struct stream_blocks *b,
                      int pe)
{
    return blocks(w, false, dest, source, b, pe);
}

/* ---- signals ---- */

static int need_signal(const struct stream_where *w,
                       const struct stream_signal *s, int pe, int *at)
{
    int rc = stream_need_aligned(w, s->addr, sizeof *s->addr);

    if (!rc && s->op != SHMEM_SIGNAL_ADD && s->op != SHMEM_SIGNAL_SET)
        rc = stream_refuse(ERR_ARG, w->call, "signal operator %d is neither "
                           "SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", s->op);
    return rc ? rc : stream_need_symmetric(w, s->addr, sizeof *s->addr, pe,
                                           at);
}

/* Checked. */
static int signal_at(const struct stream_where *w,
                     const struct stream_signal *s, int at)
{
    uintptr_t to = stream_reach_amo(at, s->addr, sizeof *s->addr);
    struct gtl_amo a = {
        .op = GTL_ADD, .size = 8, .word = (void *)to, .value = s->value
    };
    struct stream_op *op;
    int rc;

    if (to && s->op == SHMEM_SIGNAL_SET)
        return stream_told(w, gtl->write64((uint64_t *)to, s->value, w->stream));
    if (to)
        return stream_told(w, gtl->amo(&a, w->stream));
    rc = stream_arm_begin(w, &op);
    if (rc)
        return rc;
    op->kind = STREAM_SIGNAL;
    op->pe = at;
    op->signal = *s;
    return stream_arm(w, op);
}

int stream_signal(const struct stream_where *w, const struct stream_signal *s,
                  int pe)
{
    int at, rc = need_signal(w, s, pe, &at);

    return rc ? rc : signal_at(w, s, at);
}

int stream_put_signal(const struct stream_where *w, void *dest,
                      const void *source, size_t n, size_t size,
                      const struct stream_signal *s, int pe, bool nbi)
{
    struct stream_op *op;
    uintptr_t to;
    size_t len;
    int rc, at;

    rc = need_signal(w, s, pe, &at);
    if (!rc)
        rc = bytes_of(w, n, size, &len);
    if (!rc)
        rc = stream_need_symmetric(w, dest, len, pe, &at);
    if (!rc)
        rc = stream_need_local(w, source, len);
    if (rc)
        return rc;
    to = stream_reach(at, dest, len);
    if (!len || (to && stream_reaches_local(source, len))) {
        if (len)
            rc = stream_told(w, gtl->copy((void *)to, source, len, w->stream));
        return rc ? rc : signal_at(w, s, at);
    }
    rc = stream_arm_begin(w, &op);
    if (rc)
        return rc;
    op->kind = STREAM_PUT_SIGNAL;
    op->pe = at;
    op->dest = dest;
    op->source = source;
    op->len = len;
    op->signal = *s;
    op->waits = !nbi;
    return stream_arm(w, op);
}

/* ---- order ---- */

static int need_ctx(const struct stream_where *w)
{
    return w->ctx ? 0 : stream_refuse(ERR_CTX, w->call, "an invalid context");
}

/* Nobody far, and nothing the agent would do: the stream's own order is all
 * there is to it. */
int stream_fence(const struct stream_where *w)
{
    int rc = need_ctx(w);

    return rc || !stream_used(w->stream)
           ? rc : arm(w, STREAM_FENCE, NULL, NULL, 0, 0, true);
}

int stream_quiet(const struct stream_where *w)
{
    int rc = need_ctx(w);

    return rc || !stream_used(w->stream)
           ? rc : arm(w, STREAM_QUIET, NULL, NULL, 0, 0, true);
}

int stream_pe_quiet(const struct stream_where *w, const int *pes, size_t n)
{
    int at, rc = stream_need_local(w, pes, n * sizeof *pes);

    for (size_t i = 0; i < n && !rc; i++)
        rc = stream_need_symmetric(w, NULL, 0, pes[i], &at);
    return rc ? rc : stream_quiet(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands in memory that the processor must not touch are combined by the
 * device, where all are there and they are not few; else they are brought here
 * in pieces.  Where the processor may touch it, they are operands like any
 * other. */
#include "coll/coll_device.h"

/* FEWEST: bytes.  A kernel costs about what two copies do, and the processor
 * needs three for each piece. */
enum { PIECE = 8192, FEWEST = 256 };
/* Of the device: while one is handed out, the next is combined. */
#define STRIDE ((size_t)1 << 20)

/* The device's number of it; false: it has none. */
static bool find(coll_op *op, struct gtl_reduce *out)
{
    for (int o = 0; o < COLL_OPS; o++)
        for (int t = 0; t < COLL_TYPES; t++) {
            if (coll_ops[o][t] != op || t == COLL_LONGDOUBLE)
                continue;
            out->op = (enum gtl_reduction)o;
            out->type = (enum gtl_type)(t - (t > COLL_LONGDOUBLE));
            return true;
        }
    return false;
}
_Static_assert((int)GTL_RED_AND == (int)COLL_AND &&
               (int)GTL_RED_MAX == (int)COLL_MAX &&
               (int)GTL_RED_PROD == (int)COLL_PROD &&
               (int)GTL_U64 == (int)COLL_U64 &&
               (int)GTL_DOUBLE + 1 == (int)COLL_LONGDOUBLE &&
               (int)GTL_COMPLEXD + 1 == (int)COLL_COMPLEXD, "one order");

static bool fits(const void *p, size_t size)
{
    return (uintptr_t)p % (size < 8 ? size : 8) == 0;
}

static bool of_device(const void *p)
{
    return heap_find(p, 1) == HEAP_DEVICE && !heap_device_host_access;
}

bool coll_device_takes(const void *dest, const void *source, size_t bytes,
                       size_t size, coll_op *op)
{
    struct gtl_reduce r;

    return bytes >= FEWEST && of_device(dest) && of_device(source) &&
           fits(dest, size) && fits(source, size) && find(op, &r);
}

/* ---- pieces that are brought here ---- */

/* Where an operand of that many bytes can be read. */
static const void *bring(char *room, const void *from, size_t bytes)
{
    if (!core_is_device_only(from))
        return from;
    core_device_copy(room, from, bytes);
    return room;
}

static bool by_device(coll_op *op, void *out, const void *a, const void *b,
                      size_t n, size_t size)
{
    struct gtl_reduce r = { .out = out, .a = a, .b = b, .n = n };
    enum { STREAM = GTL_COPY_STREAMS - 1 };
    int rc;

    if (!gtl_device.kernels || n * size < FEWEST || !find(op, &r) ||
        !core_is_device_only(out) || !core_is_device_only(a) ||
        !core_is_device_only(b) || !fits(out, size) || !fits(a, size) ||
        !fits(b, size))
        return false;
    rc = gtl->reduce(&r, gtl_copy_stream_acquire(STREAM));
    gtl_copy_stream_release(STREAM);
    core_device_need(rc ? rc : gtl_copy_stream_wait(STREAM), "reduction", out,
                     n * size);
    return true;
}

void coll_apply_device(coll_op *op, void *out, const void *a, const void *b,
                       size_t n, size_t size)
{
    _Alignas(64) char in_a[PIECE], in_b[PIECE], done[PIECE];
    bool away = n && core_is_device_only(out);
    size_t step = PIECE / size, len, at;

    if (away && by_device(op, out, a, b, n, size))
        return;
    for (size_t i = 0; i < n; i += len) {
        len = n - i < step ? n - i : step;
        at = i * size;
        op(away ? done : (char *)out + at,
           bring(in_a, (const char *)a + at, len * size),
           bring(in_b, (const char *)b + at, len * size), len);
        if (away)
            core_device_copy((char *)out + at, done, len * size);
    }
}

/* ---- pieces that stay there ---- */

static int member(const struct coll_part *p, int i)
{
    return p->who ? p->who[i] : i;
}

/* Of that member's source. */
static const void *from(const struct coll_part *p, int i, size_t at)
{
    int pe = member(p, (p->first + i) % p->count);

    return coll_at(p->t, pe, p->source + at * p->size);
}

static int combine_there(const struct coll_part *p, size_t at, size_t n,
                         void *stream)
{
    struct gtl_reduce r = { .out = p->dest + at * p->size, .n = n };
    size_t bytes = n * p->size;
    int rc = 0;

    find(p->op, &r);
    if (p->count == 0)
        return gtl->fill(r.out, 0, bytes, stream);
    r.a = from(p, 0, at);
    if (p->count == 1 && r.a != r.out)
        rc = gtl->copy(r.out, r.a, bytes, stream);
    for (int i = 1; i < p->count && !rc; i++) {
        r.b = from(p, i, at);
        rc = gtl->reduce(&r, stream);
        r.a = r.out;
    }
    return rc;
}

/* The place of the result at member i of the targets; NULL: it is this PE. */
static void *target(const struct coll_part *p, int i, const char *out)
{
    int pe = member(p, (p->first + i) % p->to);

    return pe == p->t->my_pe ? NULL : coll_at(p->t, pe, out);
}

static int piece_there(const struct coll_part *p, size_t at, size_t n,
                       void *stream)
{
    char *out = p->dest + at * p->size;
    int rc = combine_there(p, at, n, stream);
    void *to;

    for (int i = 0; i < p->to && !rc; i++) {
        to = target(p, i, out);
        if (to)
            rc = gtl->copy(to, out, n * p->size, stream);
    }
    return rc;
}

/* The device of this PE has no kernels. */
static void combine_here(const struct coll_part *p)
{
    char *out = p->dest + p->at * p->size;
    const void *first = p->count ? from(p, 0, p->at) : NULL;
    size_t bytes = p->n * p->size;

    if (p->count == 0)
        core_device_need(gtl_fill_now(out, 0, bytes), "fill", out, bytes);
    else if (p->count == 1 && first != out)
        core_copy(out, first, bytes);
    for (int i = 1; i < p->count; i++) {
        coll_apply(p->op, out, first, from(p, i, p->at), p->n, p->size);
        first = out;
    }
    for (int i = 0; i < p->to; i++)
        if (target(p, i, out))
            core_copy(target(p, i, out), out, bytes);
}

void coll_device_combine(const struct coll_part *p)
{
    size_t step = STRIDE / p->size, end = p->at + p->n, n;
    unsigned stream = GTL_COPY_STREAMS - 1;     /* the last two take turns */
    int rc = 0;

    if (!gtl_device.kernels) {
        combine_here(p);
        return;
    }
    for (size_t at = p->at; at < end && !rc; at += n, stream ^= 1) {
        n = end - at < step ? end - at : step;
        rc = piece_there(p, at, n, gtl_copy_stream_acquire(stream));
        gtl_copy_stream_release(stream);
    }
    for (int i = 0; i < 2 && !rc; i++, stream ^= 1)
        rc = gtl_copy_stream_wait(stream);
    core_device_need(rc, "reduction", p->dest, p->n * p->size);
}

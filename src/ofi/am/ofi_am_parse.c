/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks active messages before anything acts on them: a message comes from the
 * network and may hold anything.  The target calls it for each message, on the
 * thread that polls.  It reads the message alone, and stores only *out. */
#include "ofi/am/ofi_am_wire.h"
#include "xport/xport.h"

#include <string.h>

/* Are [off, off + len) in that segment?  acquire: ofi_am_target_segment()
 * stores its size on another thread. */
static bool fits(const struct ofi_am_rules *r, uint64_t seg, uint64_t off,
                 uint64_t len)
{
    size_t size = __atomic_load_n(&r->seg_size[seg], __ATOMIC_ACQUIRE);

    return off < size && len <= size - off;
}

/* All of the blocks, from the first byte to past the last. */
static bool blocks_fit(const struct ofi_am_rules *r,
                       const struct ofi_am_head *h)
{
    uint64_t len = h->value, count = h->cond, span, all;

    if (len == 0 || count == 0 || len > OFI_AM_PAYLOAD ||
        count > OFI_AM_PAYLOAD / len || h->stride < 0 ||
        (uint64_t)h->stride < len)
        return false;
    if (__builtin_mul_overflow(count - 1, (uint64_t)h->stride, &span) ||
        __builtin_add_overflow(span, len, &all))
        return false;
    return fits(r, h->seg, h->off, all);
}

static bool word_fits(const struct ofi_am_rules *r,
                      const struct ofi_am_head *h)
{
    return (h->size == 4 || h->size == 8) && h->op < AMO_OPS &&
           h->off % h->size == 0 && fits(r, h->seg, h->off, h->size);
}

static bool payload_fits(const struct ofi_am_rules *r,
                         const struct ofi_am_head *h, size_t len)
{
    return len && h->cond < HEAP_SEGS && h->stride >= 0 &&
           fits(r, h->cond, (uint64_t)h->stride, len);
}

static bool piece_fits(const struct ofi_am_rules *r,
                       const struct ofi_am_head *h)
{
    return h->seg == HEAP_DEVICE && h->value && h->value <= OFI_FRAG_SIZE &&
           fits(r, h->seg, h->off, h->value);
}

bool ofi_am_parse(const struct ofi_am_rules *r, const void *buf, size_t len,
                  struct ofi_am_head *out)
{
    struct ofi_am_head h;
    size_t payload;

    if (len < sizeof h || len > OFI_AM_MAX)
        return false;
    memcpy(&h, buf, sizeof h);
    payload = len - sizeof h;
    if (h.token != r->token || h.pe >= r->n_pes || h.seg >= HEAP_SEGS ||
        h.ep >= OFI_AM_EPS)
        return false;
    switch (h.kind) {
    case OFI_AM_AMO:
    case OFI_AM_NOTIFY:
        if (payload || !word_fits(r, &h))
            return false;
        break;
    case OFI_AM_PUT_NOTIFY:
        if (!word_fits(r, &h) || !payload_fits(r, &h, payload))
            return false;
        break;
    case OFI_AM_PUT_BLOCKS:
        if (!blocks_fit(r, &h) || payload != h.value * h.cond)
            return false;
        break;
    case OFI_AM_GET_BLOCKS:
        if (!blocks_fit(r, &h) || payload)
            return false;
        break;
    case OFI_AM_PULL:
    case OFI_AM_PUSH:
        if (payload || !piece_fits(r, &h))
            return false;
        break;
    case OFI_AM_DONE:
    case OFI_AM_HELLO:
        if (payload)
            return false;
        break;                  /* compared with what was asked */
    case OFI_AM_REPLY:
        break;                  /* the same */
    default:
        return false;
    }
    *out = h;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages from other PEs: the bytes are one, whole. */
#include "fuzz.h"

#include "ofi/am/ofi_am_wire.h"
#include "xport/xport.h"

static const size_t sizes[HEAP_SEGS] = { 4096, 256, 65536 };
static const struct ofi_am_rules rules = {
    .token = 0x6b6f742d3634, .n_pes = 4, .seg_size = sizes
};

/* What may be acted on stays inside its segment. */
static void check(const struct ofi_am_head *h, size_t size)
{
    size_t payload = size - sizeof *h;

    FUZZ_CHECK(h->token == rules.token && h->pe < rules.n_pes &&
               h->ep < OFI_AM_EPS);
    FUZZ_CHECK(h->seg < HEAP_SEGS);
    switch (h->kind) {
    case OFI_AM_REPLY:
        return;
    case OFI_AM_DONE:
    case OFI_AM_HELLO:
        FUZZ_CHECK(payload == 0);
        return;
    case OFI_AM_PULL:
    case OFI_AM_PUSH:
        FUZZ_CHECK(h->seg == HEAP_DEVICE && payload == 0);
        FUZZ_CHECK(h->value && h->value <= OFI_FRAG_SIZE);
        FUZZ_CHECK(h->off < sizes[h->seg] &&
                   h->value <= sizes[h->seg] - h->off);
        return;
    case OFI_AM_AMO:
    case OFI_AM_NOTIFY:
        FUZZ_CHECK(h->op < AMO_OPS && (h->size == 4 || h->size == 8));
        FUZZ_CHECK(h->off % h->size == 0 && payload == 0);
        FUZZ_CHECK(h->off + h->size <= sizes[h->seg]);
        return;
    case OFI_AM_PUT_NOTIFY:
        FUZZ_CHECK(h->op < AMO_OPS && (h->size == 4 || h->size == 8));
        FUZZ_CHECK(h->off % h->size == 0);
        FUZZ_CHECK(h->off + h->size <= sizes[h->seg]);
        FUZZ_CHECK(h->cond < HEAP_SEGS && h->stride >= 0);
        FUZZ_CHECK(payload && payload <= OFI_AM_PAYLOAD);
        FUZZ_CHECK((uint64_t)h->stride + payload <= sizes[h->cond]);
        return;
    case OFI_AM_PUT_BLOCKS:
        FUZZ_CHECK(payload == h->value * h->cond);
        break;
    default:
        FUZZ_CHECK(h->kind == OFI_AM_GET_BLOCKS && payload == 0);
    }
    FUZZ_CHECK(h->value && h->cond && h->value * h->cond <= OFI_AM_PAYLOAD);
    FUZZ_CHECK(h->off < sizes[h->seg]);
    FUZZ_CHECK((h->cond - 1) * (uint64_t)h->stride + h->value <=
               sizes[h->seg] - h->off);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);
    struct ofi_am_head h;

    FUZZ_CHECK(bytes);
    memcpy(bytes, data, size);
    if (ofi_am_parse(&rules, bytes, size, &h))
        check(&h, size);
    free(bytes);
}

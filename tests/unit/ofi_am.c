/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a message is acted on only where all of its blocks, or the part
 * of the device heap that it is about, lie in the segment, whatever its stride,
 * count, length and offset say. */
#include "unit.h"

#include "ofi/am/ofi_am_wire.h"
#include "xport/xport.h"

enum { SEGMENT = 4096 };

static bool taken(uint64_t off, uint64_t len, uint64_t count, int64_t stride)
{
    static const size_t sizes[HEAP_SEGS] = { SEGMENT, 64 };
    const struct ofi_am_rules rules = {
        .token = 7, .n_pes = 2, .seg_size = sizes
    };
    struct ofi_am_head h = {
        .token = 7, .kind = OFI_AM_GET_BLOCKS, .off = off, .value = len,
        .cond = count, .stride = stride
    }, out;

    return ofi_am_parse(&rules, &h, sizeof h, &out);
}

T(blocks_inside)
{
    T_TRUE(taken(0, 8, 1, 8));
    T_TRUE(taken(SEGMENT - 8, 8, 1, 8));
    T_TRUE(taken(0, 8, 2, SEGMENT - 8));
    T_TRUE(!taken(16, 8, 256, 16));
    T_TRUE(taken(0, 8, 256, 16));
}

T(blocks_that_leave)
{
    T_TRUE(!taken(SEGMENT - 7, 8, 1, 8));
    T_TRUE(!taken(SEGMENT, 8, 1, 8));
    T_TRUE(!taken(UINT64_MAX - 7, 8, 1, 8));
    T_TRUE(!taken(0, 8, 2, SEGMENT - 7));
    T_TRUE(!taken(8, 8, 2, SEGMENT - 8));
}

T(strides_backwards)
{
    T_TRUE(!taken(64, 8, 2, -8));
    T_TRUE(!taken(64, 8, 1, -8));
    T_TRUE(!taken(64, 8, 2, INT64_MIN));
    T_TRUE(!taken(64, 8, 3, INT64_MIN));
    T_TRUE(!taken(64, 8, 2, 7));
    T_TRUE(!taken(64, 8, 2, 0));
}

/* The last block is back in the segment by the arithmetic of 64 bits. */
T(strides_that_wrap)
{
    T_TRUE(!taken(0, 8, 5, (int64_t)1 << 62));
    T_TRUE(!taken(0, 8, 3, INT64_MAX));
    T_TRUE(!taken(0, 8, 9, (int64_t)1 << 61));
    T_TRUE(!taken(8, 8, 2, INT64_MAX));
    T_TRUE(!taken(0, 1, 3, INT64_MAX));
}

T(counts)
{
    T_TRUE(!taken(0, 0, 1, 8));
    T_TRUE(!taken(0, 8, 0, 8));
    T_TRUE(!taken(0, 8, OFI_AM_PAYLOAD / 8 + 1, 8));
    T_TRUE(!taken(0, 8, ((uint64_t)1 << 61) + 1, 8));
    T_TRUE(!taken(0, UINT64_MAX, 1, INT64_MAX));
}

static bool moved(uint64_t off, uint64_t len, int seg, size_t more)
{
    static const size_t sizes[HEAP_SEGS] = { SEGMENT, 64, 2 * OFI_FRAG_SIZE };
    const struct ofi_am_rules rules = {
        .token = 7, .n_pes = 2, .seg_size = sizes
    };
    struct ofi_am_head h[2] = { {
        .token = 7, .kind = OFI_AM_PULL, .seg = (uint8_t)seg, .off = off,
        .value = len, .cond = UINT64_MAX, .stride = -1
    } }, out;
    bool pull = ofi_am_parse(&rules, h, sizeof *h + more, &out);

    h->kind = OFI_AM_PUSH;
    T_EQ(ofi_am_parse(&rules, h, sizeof *h + more, &out), pull);
    return pull;
}

T(parts_of_the_device_heap)
{
    T_TRUE(moved(0, 1, HEAP_DEVICE, 0));
    T_TRUE(moved(OFI_FRAG_SIZE, OFI_FRAG_SIZE, HEAP_DEVICE, 0));
    T_TRUE(!moved(OFI_FRAG_SIZE + 1, OFI_FRAG_SIZE, HEAP_DEVICE, 0));
    T_TRUE(!moved(0, OFI_FRAG_SIZE + 1, HEAP_DEVICE, 0));
    T_TRUE(!moved(0, 0, HEAP_DEVICE, 0));
    T_TRUE(!moved(2 * OFI_FRAG_SIZE, 1, HEAP_DEVICE, 0));
    T_TRUE(!moved(UINT64_MAX, 2, HEAP_DEVICE, 0));
    T_TRUE(!moved(0, 1, HEAP_HOST, 0));
    T_TRUE(!moved(0, 1, HEAP_DEVICE, 1));
}

static bool notified(int seg, int64_t off, uint64_t len, uint64_t word)
{
    static const size_t sizes[HEAP_SEGS] = { SEGMENT, 64 };
    const struct ofi_am_rules rules = {
        .token = 7, .n_pes = 2, .seg_size = sizes
    };
    struct ofi_am_head h[2] = { {
        .token = 7, .kind = OFI_AM_PUT_NOTIFY, .op = AMO_SET, .size = 8,
        .off = word, .cond = (uint64_t)seg, .stride = off
    } }, out;

    return ofi_am_parse(&rules, h, sizeof *h + len, &out);
}

T(messages_with_their_word)
{
    T_TRUE(notified(0, 0, 8, 0));
    T_TRUE(notified(0, SEGMENT - 8, 8, SEGMENT - 8));
    T_TRUE(notified(1, 56, 8, 0));
    T_TRUE(!notified(0, SEGMENT - 7, 8, 0));
    T_TRUE(!notified(1, 64, 1, 0));
    T_TRUE(!notified(2, 0, 1, 0));
    T_TRUE(!notified(HEAP_SEGS, 0, 8, 0));
    T_TRUE(!notified(-1, 0, 8, 0));
    T_TRUE(!notified(0, -8, 8, 0));
    T_TRUE(!notified(0, INT64_MIN, 8, 0));
    T_TRUE(!notified(0, 0, 0, 0));
    T_TRUE(!notified(0, 0, 8, SEGMENT));
    T_TRUE(!notified(0, 0, 8, 4));
}

int main(void)
{
    T_RUN(blocks_inside);
    T_RUN(blocks_that_leave);
    T_RUN(strides_backwards);
    T_RUN(strides_that_wrap);
    T_RUN(counts);
    T_RUN(parts_of_the_device_heap);
    T_RUN(messages_with_their_word);
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the address blob that a PE publishes takes 32 bytes on CXI and
 * is unpacked to what was packed, with every combination of fields; bytes that
 * are no address blob are refused. */
#include "t.h"

#include "ofi/net/ofi_addr.h"

#include <errno.h>

static const struct ofi_addr usual = {
    .seg_size = { [HEAP_HOST] = 1090519040, [HEAP_DATA] = 8192 }
};

static struct ofi_addr blob_of(const char *provider, size_t addr_len)
{
    struct ofi_addr c = {
        .version = OFI_ADDR_VERSION, .token = 0x8123456789abcdef,
        .seg_size = { [HEAP_HOST] = 1090519040, [HEAP_DATA] = 8192 },
        .key = { [HEAP_HOST] = 0xfedcba9876543210 }, .addr_len = addr_len,
        .rails = 1
    };

    c.key[HEAP_DATA] = c.key[HEAP_HOST] + HEAP_DATA - HEAP_HOST;
    snprintf(c.provider, sizeof c.provider, "%s", provider);
    for (size_t i = 0; i < addr_len; i++)
        c.addr[i] = (uint8_t)(i * 37 + 1);
    return c;
}

static size_t there_and_back(const struct ofi_addr *c)
{
    uint8_t bytes[OFI_ADDR_MAX];
    size_t len = ofi_addr_pack(c, &usual, bytes);
    struct ofi_addr back;

    T_LE(len, OFI_ADDR_MAX);
    T_EQ(ofi_addr_unpack(bytes, len, &usual, &back), 0);
    T_EQ(back.version, c->version);
    T_STR(back.provider, c->provider);
    T_EQ(back.token, c->token);
    T_EQ(back.rails, c->rails);
    T_EQ(back.addr_len, c->addr_len);
    T_MEM(back.addr, c->addr, c->addr_len);
    for (int s = HEAP_HOST; s <= HEAP_DATA; s++) {
        T_EQ(back.seg_size[s], c->seg_size[s]);
        T_EQ(back.key[s], c->key[s]);
        T_EQ(back.base[s], c->base[s]);
    }
    return len;
}

T(usual_ones_are_short)
{
    struct ofi_addr c = blob_of("cxi", 8);

    T_LE(there_and_back(&c), 32);
    c = blob_of("tcp;ofi_rxm", 16);
    T_LE(there_and_back(&c), 41);
}

T(all_that_differs_is_packed)
{
    struct ofi_addr c = blob_of("a provider of a later day", OFI_ADDR_EP_MAX);

    there_and_back(&c);
    c = blob_of("a", 28);
    c.seg_size[HEAP_HOST] = 4096;
    c.seg_size[HEAP_DATA] = 0;
    there_and_back(&c);
    c = blob_of("verbs;ofi_rxm", 48);
    c.key[HEAP_DATA] = 7;
    c.base[HEAP_HOST] = 0x7f0012345000;
    c.base[HEAP_DATA] = 0x7f0112345000;
    there_and_back(&c);
    c.key[HEAP_DATA] = 0;
    c.key[HEAP_HOST] = UINT64_MAX;
    there_and_back(&c);
    c.key[HEAP_HOST] = 0;
    c.rails = 4;
    there_and_back(&c);
}

T(what_a_reader_does_not_know_is_passed_over)
{
    struct ofi_addr c = blob_of("cxi", 8), back;
    uint8_t bytes[OFI_ADDR_MAX + 5];
    size_t len = ofi_addr_pack(&c, &usual, bytes);

    memcpy(bytes + len, "\xe3\1\2\3", 4);
    T_EQ(ofi_addr_unpack(bytes, len + 4, &usual, &back), 0);
    T_EQ(back.token, c.token);
    bytes[0] = OFI_ADDR_VERSION + 1;
    T_EQ(ofi_addr_unpack(bytes, len, &usual, &back), 0);
    T_EQ(back.version, OFI_ADDR_VERSION + 1);
}

T(what_is_none_is_refused)
{
    struct ofi_addr c = blob_of("tcp;ofi_rxm", 16), back;
    uint8_t bytes[OFI_ADDR_MAX], random[64];
    size_t len = ofi_addr_pack(&c, &usual, bytes);
    int refused = 0;

    T_EQ(ofi_addr_unpack(bytes, 0, &usual, &back), -EPROTO);
    for (size_t n = 2; n < len; n++)
        refused += ofi_addr_unpack(bytes, n, &usual, &back) == -EPROTO;
    T_LT(20, refused);          /* the others end with a field */
    for (int i = 0; i < 20000; i++) {
        size_t n = T_RAND() % sizeof random + 1;

        for (size_t k = 0; k < n; k++)
            random[k] = (uint8_t)T_RAND();
        random[0] = OFI_ADDR_VERSION;
        if (ofi_addr_unpack(random, n, &usual, &back))
            continue;
        T_LE(back.addr_len, OFI_ADDR_EP_MAX);
        T_LT(strnlen(back.provider, sizeof back.provider),
             sizeof back.provider);
    }
}

int main(void)
{
    T_RUN(usual_ones_are_short);
    T_RUN(all_that_differs_is_packed);
    T_RUN(what_a_reader_does_not_know_is_passed_over);
    T_RUN(what_is_none_is_refused);
    return T_DONE();
}

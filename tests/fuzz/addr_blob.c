/* SPDX-License-Identifier: BSD-3-Clause */
/* The address blob that a PE publishes, as another PE reads it. */
#include "fuzz.h"

#include "ofi/net/ofi_addr.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    const struct ofi_addr usual = { .seg_size = { 1 << 20, 1 << 12 } };
    uint8_t bytes[OFI_ADDR_MAX];
    struct ofi_addr blob, again;
    size_t len;

    if (ofi_addr_unpack(data, size, &usual, &blob) ||
        blob.version != OFI_ADDR_VERSION)
        return;
    FUZZ_CHECK(blob.addr_len <= OFI_ADDR_EP_MAX);
    FUZZ_CHECK(strnlen(blob.provider, sizeof blob.provider) <=
               OFI_ADDR_NAME_MAX);
    len = ofi_addr_pack(&blob, &usual, bytes);
    FUZZ_CHECK(len <= OFI_ADDR_MAX);
    FUZZ_CHECK(!ofi_addr_unpack(bytes, len, &usual, &again));
    FUZZ_CHECK(!strcmp(again.provider, blob.provider));
    FUZZ_CHECK(again.token == blob.token);
    FUZZ_CHECK(!memcmp(again.key, blob.key, sizeof blob.key));
}

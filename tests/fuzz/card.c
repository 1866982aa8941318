/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE publishes of itself, as another PE reads it. */
#include "fuzz.h"

#include "ofi/ofi_card.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    const struct ofi_card usual = { .seg_size = { 1 << 20, 1 << 12 } };
    uint8_t bytes[OFI_CARD_MOST];
    struct ofi_card card, again;
    size_t len;

    if (ofi_card_unpack(data, size, &usual, &card) ||
        card.version != OFI_CARD_VERSION)
        return;
    FUZZ_CHECK(card.addr_len <= OFI_CARD_ADDR);
    FUZZ_CHECK(strnlen(card.provider, sizeof card.provider) <= OFI_CARD_NAME);
    len = ofi_card_pack(&card, &usual, bytes);
    FUZZ_CHECK(len <= OFI_CARD_MOST);
    FUZZ_CHECK(!ofi_card_unpack(bytes, len, &usual, &again));
    FUZZ_CHECK(!strcmp(again.provider, card.provider));
    FUZZ_CHECK(again.token == card.token);
    FUZZ_CHECK(!memcmp(again.key, card.key, sizeof card.key));
}

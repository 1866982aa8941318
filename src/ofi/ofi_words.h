/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_words.h - words that a peer's processor stores without a reply; any
 * thread. */
#ifndef OFI_OFI_WORDS_H
#define OFI_OFI_WORDS_H

#include "ofi/ofi_flow.h"

int ofi_words_reserve(void);
/* False: it is to be asked for by a request. */
bool ofi_word(struct xport_ep *f, const struct xport_addr *at,
              const struct xport_amo *a);
bool ofi_words_known(const struct xport_ep *f);
/* Fence and quiet ask, and wait for one of the answers; the others are those
 * of requests. */
void ofi_words_ask(struct xport_ep *f);
void ofi_words_wait(struct xport_ep *f);
/* At the target: a libfabric code. */
long ofi_words_confirm(int pe, uint64_t cookie);

#endif

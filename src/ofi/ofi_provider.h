/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_provider.h - the choice of a provider, for ofi_open.c; one thread, no
 * operation under way.  -errno, logged. */
#ifndef OFI_OFI_PROVIDER_H
#define OFI_OFI_PROVIDER_H

#include "ofi/net/ofi_int.h"

/* Variables for the test of a provider, at the same offset on every PE. */
struct ofi_trial {
    uint64_t put, add, back[2];
};
extern struct ofi_trial *ofi_trial;

/* why: the reason for the provider that is open now. */
int ofi_provider_choose(char *why, size_t size);
void ofi_provider_close(void);
/* One stream of bytes joins two endpoints, and operations are done in its
 * order, though libfabric's attributes do not promise that. */
bool ofi_provider_is_stream(void);

/* ---- ofi_table.c ---- */
extern const struct xport_ops ofi_ops;
extern const struct xport_progress_ops ofi_progress_ops;
/* Does a put that arrives wake the owner of the descriptor? */
bool ofi_wakes_sleepers(void);

#endif

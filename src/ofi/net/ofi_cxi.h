/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_cxi.h - what is special to the provider of Slingshot's NICs.
 *
 * An endpoint of it that receives messages pins buffers for those that come
 * unexpected: only the one that peers address does.  The provider maps what
 * an operation reads or fills through a cache of its own, unless it is asked
 * to take descriptors. */
#ifndef OFI_NET_OFI_CXI_H
#define OFI_NET_OFI_CXI_H

#include "ofi/net/ofi_int.h"

bool ofi_cxi_is(const struct fi_info *info);
/* A copy for endpoints that need not receive; of another provider, where that
 * costs nothing, the same. */
int ofi_cxi_sender(const struct fi_info *info, struct fi_info **out);
/* Before the domain has endpoints: true if descriptors of registered memory
 * count in them; the provider maps buffers without one. */
bool ofi_cxi_descs(struct fid_domain *domain);

/* Deferred work: numbers that a NIC has at most. */
enum { OFI_CXI_ENTRIES = 2048, OFI_CXI_COUNTERS = 2047 };
/* The entries that are reserved for all PEs on this NIC, or
 * OFI_DEPTH_UNKNOWN: this release does not say. */
size_t ofi_cxi_depth(struct fid_domain *domain);
#define OFI_DEPTH_UNKNOWN SIZE_MAX
/* A counter's page: a store of n there adds n to it. */
int ofi_cxi_doorbell(struct fid_cntr *trigger, void **page);

#endif

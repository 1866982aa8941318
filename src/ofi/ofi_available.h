/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_available.h - what libfabric has of the names that the user gives.
 * After ofi_lib_open(); one thread. */
#ifndef OFI_OFI_AVAILABLE_H
#define OFI_OFI_AVAILABLE_H

#include <rdma/fabric.h>
#include <stddef.h>

/* No provider serves: "; libfabric 1.17 offers no provider of that name
 * (...), but tcp, shm", or "" where SHMEM_OFI_PROVIDER, _DOMAIN and _FABRIC name nothing. */
const char *ofi_available_explain(char *out, size_t size);
/* open: the info of the open provider.  Warns of each name in
 * SHMEM_OFI_DOMAIN that is no NIC of it, and of lo between hosts. */
void ofi_available_warn(const struct fi_info *open);

#endif

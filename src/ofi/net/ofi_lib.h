/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_lib.h - libfabric, bound at run time: its few exported calls.  All
 * others are inline in its headers. */
#ifndef OFI_NET_OFI_LIB_H
#define OFI_NET_OFI_LIB_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define OFI_CALLS(X) \
    X(fi_getinfo) X(fi_freeinfo) X(fi_dupinfo) X(fi_fabric) X(fi_strerror) \
    X(fi_version)
struct ofi_lib {
#define OFI_CALL(f) __typeof__(f) *f;
    OFI_CALLS(OFI_CALL)
#undef OFI_CALL
};
extern struct ofi_lib ofi_lib;
/* 0, or -ENOENT with why in *out. */
int ofi_lib_open(const char **why);
/* ---- ofi_absent.c ---- */
/* Before libfabric is loaded. */
void ofi_absent_load(void);
/* The file that was loaded. */
const char *ofi_lib_path(void);
/* The version of the interface that is asked for. */
uint32_t ofi_lib_api(void);

/* A structure that this library fills and a provider reads or writes: newer
 * versions append to it, and what they find there is zero. */
#define OFI_GROWS(type) struct { struct type a; char newer[64]; }
const char *ofi_strerror(int rc);       /* of a negative code */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_device.h - the device heap of peers on other nodes. */
#ifndef OFI_STAGE_OFI_DEVICE_H
#define OFI_STAGE_OFI_DEVICE_H

#include "gtl/gtl.h"
#include "ofi/am/ofi_am_wire.h"
#include "ofi/net/ofi_int.h"

/* Can the NIC have the device heap?  Else *why not. */
bool ofi_hmem_open(const char **why);
/* Does the provider say that its NIC can? */
bool ofi_hmem_offered(void);
/* Does the NIC move bytes there and back that end and begin at that offset,
 * where one piece of memory ends and another one begins? */
bool ofi_hmem_seam_works(size_t off);
/* The same of the first bytes, for a heap that grows: added to the regions
 * before, in which operations may be under way; 0 or -errno.  take() uses it
 * from then on, and drop() does not. */
int ofi_hmem_register(size_t size);
void ofi_hmem_register_commit(void);
void ofi_hmem_register_cancel(void);
void ofi_hmem_close(void);

/* ---- ofi_flush.c ---- */
/* Is there a way?  -errno. */
int ofi_flush_open(void);
void ofi_flush_close(void);
int ofi_flush(void);
/* From now on xport_flush() does it, where the device needs that; how, for
 * people, or "". */
void ofi_flush_install(void);
const char *ofi_flush_text(void);

/* Before messages are received: the handlers of those about device memory. */
void ofi_device_register_handlers(void);

/* Fetches the key of that peer's device heap. */
void ofi_peer_device(int pe);
void ofi_device_close(void);
static inline const struct ofi_peer *ofi_peer_at(const struct xport_addr *at)
{
    const struct ofi_peer *p = ofi_peer(at->pe);

    if (unlikely(at->seg == HEAP_DEVICE) &&
        __atomic_load_n(&p->key[HEAP_DEVICE], __ATOMIC_ACQUIRE) ==
            FI_KEY_NOTAVAIL)
        ofi_peer_device(at->pe);
    return p;
}

/* Before an operation of net/ that names at: the key is known from here on. */
static inline void ofi_peer_prepare(const struct xport_addr *at)
{
    if (unlikely(at->seg == HEAP_DEVICE))
        ofi_peer_at(at);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_am.h - what is asked of a peer's processor by messages (ofi_am.c). */
#ifndef OFI_AM_OFI_AM_H
#define OFI_AM_OFI_AM_H

#include "ofi/net/ofi_int.h"

int ofi_am_open(void);
void ofi_am_close(void);
void ofi_am_amo(struct xport_ctx *f, const struct xport_addr *at,
                const struct xport_amo *a, void *result, bool nbi);
/* At most OFI_AM_PAYLOAD bytes that the target's processor stores. */
struct ofi_am_put {
    const struct xport_addr *to;
    const void *source;
    size_t len;
};
/* An atomic without a reply, behind a put to the same PE, unless that is NULL.
 * cookie: for ofi_ack_write(), or 0. */
void ofi_am_notify(struct xport_ctx *f, const struct ofi_am_put *put,
                   const struct xport_addr *at, const struct xport_amo *a,
                   uint64_t cookie);
/* The same, in the context until it is sent, or a peer that takes nothing would
 * come to have all the room that there is for calls that do not wait. */
void ofi_am_notify_counted(struct xport_ctx *f, const struct ofi_am_put *put,
                           const struct xport_addr *at,
                           const struct xport_amo *a);
/* Blocks so short that a message brings several of them. */
bool ofi_am_packs(const struct xport_blocks *b);
void ofi_am_put_blocks(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, const struct xport_blocks *b);
void ofi_am_put(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len);
void ofi_am_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len, bool nbi);
void ofi_am_get_blocks(struct xport_ctx *f, void *dest,
                       const struct xport_addr *from,
                       const struct xport_blocks *b, bool nbi);
/* As ofi_local_room, of messages and requests. */
bool ofi_am_room(bool little);
/* A post to a PE to which there is no connection is refused until there is one.
 * False: there is none yet, it is being made, nothing waits for it. */
bool ofi_am_connect(struct xport_ctx *f, int pe);
/* Ends the requests of the context to that PE (-1: to any): no reply will come.
 * why: for the context's report; NULL: it has been made. */
void ofi_am_cancel(struct xport_ctx *f, int pe, const char *why);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_ack.h - words that a peer's processor stores without a reply; any
 * thread. */
#ifndef OFI_AM_OFI_ACK_H
#define OFI_AM_OFI_ACK_H

#include "ofi/net/ofi_ctx.h"

int ofi_ack_reserve(void);
struct ofi_am_put;
/* put: comes before it, or NULL.  False: a request is to do it, nothing is sent.
 */
bool ofi_ack_update(struct xport_ctx *f, const struct ofi_am_put *put,
                    const struct xport_addr *at, const struct xport_amo *a);
/* A put alone, as such a message. */
bool ofi_ack_put(struct xport_ctx *f, const struct ofi_am_put *put);
bool ofi_ack_idle(const struct xport_ctx *f);
/* Fence and quiet ask, and wait for one of the answers; the others are those
 * of requests. */
void ofi_ack_request(struct xport_ctx *f);
void ofi_ack_wait(struct xport_ctx *f);
/* Of a polled context: a peer that owes one, and the request to it, which waits
 * where there is no room.  Its answer is that of a request. */
bool ofi_ack_next(struct xport_ctx *f, int *pe);
void ofi_ack_request_of(struct xport_ctx *f, int pe);
/* At the target: does a message's cookie name a slot? */
bool ofi_ack_is_wanted(uint64_t cookie);
/* A libfabric code.  room: for the number, until op has ended. */
long ofi_ack_write(struct ofi_op *op, uint64_t cookie, void *room, void *desc);

#endif

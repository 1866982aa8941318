/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_am_number.h - messages over a stream of bytes are numbered; see
 * ofi_am_number.c. */
#ifndef OFI_AM_OFI_AM_NUMBER_H
#define OFI_AM_OFI_AM_NUMBER_H

#include "ofi/am/ofi_am_wire.h"
#include "ofi/net/ofi_ctx.h"

/* Sends a message, which begins with its head; a libfabric code.  op ends when
 * it is sent; NULL: nothing says that, h may be used again at once. */
long ofi_am_post(struct ofi_ep *e, int pe, struct ofi_am_head *h, size_t len,
                 void *desc, struct ofi_op *op);
/* A failure of one of them has been reported: the next takes its number. */
void ofi_am_post_failed(struct ofi_ep *e, int pe);
/* A further message on each endpoint that has sent that PE one. */
void ofi_am_probe(int pe);
/* At the target, for each message, by one thread at a time: does not return
 * where one before it is missing. */
void ofi_am_check_number(const struct ofi_am_head *h);
void ofi_am_numbers_close(void);

#endif

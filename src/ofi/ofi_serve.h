/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_serve.h - messages that come, and what peers ask for. */
#ifndef OFI_OFI_SERVE_H
#define OFI_OFI_SERVE_H

#include "base/copy.h"
#include "ofi/ofi_am.h"
#include "ofi/ofi_ask.h"
#include "ofi/ofi_device.h"
#include "ofi/ofi_int.h"

int ofi_serve_open(void);
void ofi_serve_close(void);
/* Completions. */
void ofi_serve_received(struct ofi_op *op, size_t len);
void ofi_serve_answered(struct ofi_op *op);
/* Answers that found no room before. */
void ofi_serve_retry(void);
bool ofi_serve_stuck(void);     /* are there any? */

/* ofi_am.c: a reply to what this PE asked. */
void ofi_am_settle(const struct ofi_am_head *h, const char *payload,
                   size_t len);

/* Blocks of a message from or to where they are in memory. */
static inline void ofi_copy_blocks(char *to, ptrdiff_t to_stride,
                                   const char *from, ptrdiff_t from_stride,
                                   size_t len, size_t count)
{
    for (size_t i = 0; i < count; i++, to += to_stride, from += from_stride)
        copy_bytes(to, from, len);
}

/* Peers may name that segment from now on. */
void ofi_serve_segment(int seg);

#endif

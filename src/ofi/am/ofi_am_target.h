/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_am_target.h - messages that come, and what peers ask for. */
#ifndef OFI_AM_OFI_AM_TARGET_H
#define OFI_AM_OFI_AM_TARGET_H

#include "base/copy.h"
#include "ofi/am/ofi_am_wire.h"
#include "ofi/am/ofi_am.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/net/ofi_int.h"

int ofi_am_target_open(void);
void ofi_am_target_close(void);
/* Replies that found no room before, and how many there are. */
int ofi_am_target_retry(void);
extern int ofi_am_target_deferred;      /* atomic */

/* ofi_am.c: a reply to what this PE asked. */
void ofi_am_complete(const struct ofi_am_head *h, const char *payload,
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
void ofi_am_target_segment(int seg);

#endif

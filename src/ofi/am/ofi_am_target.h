/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_am_target.h - messages that arrive, and the requests of peers. */
#ifndef OFI_AM_OFI_AM_TARGET_H
#define OFI_AM_OFI_AM_TARGET_H

#include "base/copy.h"
#include "ofi/am/ofi_am_wire.h"
#include "ofi/am/ofi_am.h"
#include "gtl/gtl.h"
#include "ofi/net/ofi_int.h"

/* Acts on a message of a kind that this file does not know, in the thread that
 * read it; it waits for nothing.  False: there is no room, it is called again
 * for the same message. */
typedef bool ofi_am_handler(const struct ofi_am_head *h);
/* Atomics and copies on device memory that the processor does not reach. */
struct ofi_am_device_ops {
    uint64_t (*amo)(const struct ofi_am_head *h, void *at);
    void (*copy_blocks)(void *to, const void *from, const struct gtl_blocks *b);
};
/* Before ofi_am_target_open(). */
void ofi_am_register(enum ofi_am_kind kind, ofi_am_handler *handler);
void ofi_am_set_device_ops(const struct ofi_am_device_ops *ops);

int ofi_am_target_open(void);
void ofi_am_target_close(void);
/* Replies that found no room before. */
int ofi_am_target_retry(void);

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

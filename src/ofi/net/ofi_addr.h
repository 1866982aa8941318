/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_addr.h - what a PE publishes of itself at start, for all PEs, in few
 * bytes: a launcher hands those of all PEs to all nodes.
 *
 * On the wire a byte says the version, and fields follow, a tag and a length in
 * a byte each or together, see ofi_addr.c.  A field that has its usual value is
 * left out, and one that the reader does not know is passed over. */
#ifndef OFI_NET_OFI_ADDR_H
#define OFI_NET_OFI_ADDR_H

#include "heap/heap.h"

#include <stddef.h>
#include <stdint.h>

enum { OFI_ADDR_VERSION = 3, OFI_ADDR_EP_MAX = 255, OFI_ADDR_NAME_MAX = 31,
       OFI_ADDR_MAX = 512 };

struct ofi_addr {
    uint8_t version;
    char provider[OFI_ADDR_NAME_MAX + 1];
    uint64_t token;
    unsigned rails;             /* NICs */
    /* Of the host's heap and static data; the device heap comes later. */
    uint64_t seg_size[HEAP_SEGS], key[HEAP_SEGS], base[HEAP_SEGS];
    size_t addr_len;
    uint8_t addr[OFI_ADDR_EP_MAX];
};

/* How many bytes of out it takes.  usual: the blob that the reader has, too; of
 * it only sizes count. */
size_t ofi_addr_pack(const struct ofi_addr *c, const struct ofi_addr *usual,
                     uint8_t out[OFI_ADDR_MAX]);
/* 0, or -EPROTO: it is none.  Of another version only that is filled. */
int ofi_addr_unpack(const uint8_t *in, size_t len, const struct ofi_addr *usual,
                    struct ofi_addr *out);

#endif

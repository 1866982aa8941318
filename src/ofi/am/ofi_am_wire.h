/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_am_wire.h - the messages that PEs send each other, as they are on the
 * wire. Everything that comes from outside is checked by ofi_am_parse() before
 * it is believed. */
#ifndef OFI_AM_OFI_AM_WIRE_H
#define OFI_AM_OFI_AM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ofi_am_kind {
    OFI_AM_AMO = 1,             /* answered by a reply with the word before */
    OFI_AM_PUT_BLOCKS,          /* payload; answered when it is stored */
    OFI_AM_GET_BLOCKS,          /* answered with the payload */
    OFI_AM_REPLY,
    OFI_AM_NOTIFY,              /* as AMO, without a reply; cookie: 0, or to be
                                 * confirmed */
    /* Between a device of the receiver's and memory that the sender exposes:
     * value bytes at address cond with key stride. */
    OFI_AM_PULL,                /* reads there; DONE when the device has it */
    OFI_AM_PUSH,                /* writes there; DONE when it is there */
    OFI_AM_DONE,
    OFI_AM_HELLO,               /* nothing: it made the connection, or has a
                                 * number to be looked at */
    /* The payload is stored, at offset stride of segment cond, and then comes
     * what NOTIFY does. */
    OFI_AM_PUT_NOTIFY,
    OFI_AM_KINDS
};

/* A flag fits in what providers send without a completion: 64 bytes. */
struct ofi_am_head {
    uint64_t token : 48;        /* the receiver's, from its address */
    uint64_t number : 16;       /* of those that this endpoint sends, or 0 */
    uint8_t kind, op, size, seg;
    uint32_t pe : 24, ep : 8;   /* the sender, its endpoint */
    uint64_t off;
    uint64_t value, cond;       /* AMO; in a reply value is the word before */
    int64_t stride;             /* blocks: len is value, count is cond */
    uint64_t cookie;            /* a reply brings the request's */
};

#define OFI_AM_TOKEN_MASK (((uint64_t)1 << 48) - 1)

enum { OFI_AM_EPS = 65,         /* endpoints of a PE */
       OFI_AM_PES = 1 << 24 };
enum { OFI_AM_PAYLOAD = 3584,    /* messages fit in 4 KiB; XPORT_PACKED_MAX */
       OFI_AM_MAX = OFI_AM_PAYLOAD + (int)sizeof(struct ofi_am_head),
       OFI_FRAG_SIZE = 262144 };    /* PULL and PUSH: at most */

/* Values that a message must agree with. */
struct ofi_am_rules {
    uint64_t token;
    uint32_t n_pes;
    const size_t *seg_size;     /* of HEAP_SEGS segments */
};

/* Is the message of len bytes in buf one that may be acted on?  Then *out is
 * its head; the payload follows it in buf. */
bool ofi_am_parse(const struct ofi_am_rules *r, const void *buf, size_t len,
                  struct ofi_am_head *out);

#endif

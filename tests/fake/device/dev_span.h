/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_span.h - addresses and memory apart: reservations of addresses, pieces of
 * memory, and mappings of pieces there; and memory of pools, which comes and
 * goes in the order of a stream.
 *
 * dev_find() knows each mapping for itself, with DEV_SPANNED, and its memory by
 * the device that it is of.  A mapping that no device has access to is not
 * there for commands, and a device without access finds nothing in others'. */
#ifndef FAKE_DEV_SPAN_H
#define FAKE_DEV_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dev_stream;

/* Among the flags of a range: memory of a pool; a mapping of a piece. */
#define DEV_POOLED (1u << 27)
#define DEV_SPANNED (1u << 26)

/* What all addresses and sizes here are multiples of. */
#define DEV_UNIT ((size_t)2 << 20)

/* Kinds of handles for other processes. */
enum { DEV_BY_FD = 1, DEV_BY_NAME = 8 };

/* All: -EINVAL where a size or an address does not fit. */
int dev_span_reserve(size_t size, size_t align, void **out);
/* -EINVAL: another size than was reserved, or something is mapped. */
int dev_span_free(void *p, size_t size);
/* The reservation around p; false: there is none. */
bool dev_span_around(const void *p, uintptr_t *base, size_t *size);

struct dev_kind {
    int device, types;          /* types: DEV_BY_... */
    bool nic;                   /* NICs may have it */
};
/* Takes room of the device until the piece is released and mapped nowhere.
 * -ENOMEM: there is none.  Handles are never used again. */
int dev_piece_new(const struct dev_kind *kind, size_t size, uint64_t *out);
int dev_piece_release(uint64_t piece);
/* Of the piece at p.  -EINVAL: nothing is mapped. */
int dev_piece_kind(const void *p, struct dev_kind *out);
/* The first bytes of a piece.  -EINVAL: not reserved, or mapped already;
 * -ENODEV: memory of a device that is hidden. */
int dev_piece_map(void *p, size_t size, uint64_t piece);
/* Whole mappings. */
int dev_piece_unmap(void *p, size_t size);
/* The same; -EACCES: the device does not reach them; -ENOSPC: not so much. */
int dev_piece_access(int device, void *p, size_t size, bool may);

/* A descriptor to be passed to another process.  The memory is there as long
 * as it is open somewhere.  -EINVAL: the piece has no such kind of handle. */
int dev_piece_export(uint64_t piece, int *fd);
/* Bytes that name it on this machine, as long as it is there. */
struct dev_name {
    uint32_t magic;
    int32_t pid, fd, entry;
    uint64_t inode;
};
int dev_piece_name(uint64_t piece, struct dev_name *out);
/* -EINVAL: it is none. */
int dev_piece_import(int fd, uint64_t *out);
int dev_piece_import_name(const struct dev_name *name, uint64_t *out);

/* ---- dev_pool.c ---- */
/* Commands find it when the stream has come to this, not before. */
int dev_pool_alloc(struct dev_stream *s, int device, size_t size,
                   unsigned flags, void **out);
/* It goes when the stream comes to this.  -EINVAL: no first byte of device
 * memory, or it is to be freed already. */
int dev_pool_free(struct dev_stream *s, void *p);
/* Has the program freed it, in a stream that is yet to come to that? */
bool dev_pool_going(const void *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_device.h - the segment of device memory. */
#ifndef HEAP_HEAP_DEVICE_H
#define HEAP_HEAP_DEVICE_H

#include "heap/heap.h"

struct gtl_ipc_handle;
/* Does the environment ask for it from the start? */
bool heap_device_wanted(void);
/* What this PE would take, with so many PEs on its node. */
size_t heap_device_size(int n_local, bool grows);
/* Do so many, in host memory, fit the machine?  -ENOMEM, logged. */
int heap_device_check(size_t size, int n_local);
/* The variable that bounds the software device, with its value, if that is
 * less than size; else NULL. */
enum { HEAP_LIMIT_TEXT = 96 };
/* More than that it has only if it is asked for. */
#define HEAP_DEVICE_DEFAULT ((size_t)512 << 20)
const char *heap_device_limit_text(size_t size, char buf[HEAP_LIMIT_TEXT]);
/* Makes heap_device ready: takes memory of the device for all of it, or, where
 * it grows, addresses alone and a first part.  -errno, logged. */
int heap_device_open(size_t size, bool grows);
/* Is there memory behind these bytes?  They are none of a device heap that
 * grows: true. */
bool heap_device_has_memory(const void *p, size_t size);
/* Takes memory up to that offset, which is not used before heap_device_commit(), or
 * which drop() gives back: ample, with some in reserve; exact, no more than is
 * needed, and -errno is logged; a trial is exact and not logged. */
enum heap_growth { HEAP_AMPLE, HEAP_EXACT, HEAP_TRIAL };
int heap_device_grow(size_t end, enum heap_growth how);
void heap_device_commit(void);
void heap_device_rollback(void);
/* What is there, and is not taken yet, too. */
size_t heap_device_grown(void);
/* The alignment of this PE's base; what all of them have, from then on. */
size_t heap_device_align(void);
void heap_device_agree(size_t align);
/* What came last; fd as of gtl->ipc_export().  Not logged: gtl_error(). */
int heap_device_export(struct gtl_ipc_handle *out, int *fd);
/* Pinned host memory in its place, before there are blocks. */
int heap_device_replace(void *p, size_t size);
void heap_device_close(void);

#endif

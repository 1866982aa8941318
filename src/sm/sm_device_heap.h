/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_device_heap.h - memory of the device for the symmetric heap: made, grown
 * and exported by this PE alone.  api calls these inside of calls that all PEs
 * make; one thread.  sm.h has what shares that memory on the node.  Errors: 0
 * or -errno. */
#ifndef SM_SM_DEVICE_HEAP_H
#define SM_SM_DEVICE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct gtl_ipc_handle;

/* The size where the user asks for none, at most. */
#define SM_DEVICE_HEAP_DEFAULT ((size_t)512 << 20)
/* The size that this PE would take where n_local PEs share its node. */
size_t sm_device_heap_size(int n_local, bool grows);
/* Do n_local heaps of that size, which lie in host memory, fit the machine?
 * -ENOMEM, logged. */
int sm_device_heap_check(size_t size, int n_local);
/* The variable that limits the software device, with its value, where that is
 * less than size; else NULL. */
enum { SM_LIMIT_TEXT = 96 };
const char *sm_device_heap_limit_text(size_t size, char buf[SM_LIMIT_TEXT]);

/* Takes memory of the device for the whole heap or, where it grows, addresses
 * and a first part, and attaches the segment.  -errno, logged. */
int sm_device_heap_open(size_t size, bool grows);
/* Takes memory up to that offset.  commit() puts it to use, rollback() frees
 * it.  AMPLE takes a reserve, too; EXACT takes what is needed and logs -errno;
 * TRIAL is EXACT and logs nothing. */
enum sm_growth { SM_GROW_AMPLE, SM_GROW_EXACT, SM_GROW_TRIAL };
int sm_device_heap_grow(size_t end, enum sm_growth how);
void sm_device_heap_commit(void);
void sm_device_heap_rollback(void);
/* The end of the memory that was taken, committed or not. */
size_t sm_device_heap_grown(void);

/* Exports the memory that was taken last; fd as of gtl->ipc_export().  Not
 * logged: gtl_error() has the reason. */
int sm_device_heap_export(struct gtl_ipc_handle *out, int *fd);
/* Puts pinned host memory in its place, before there are blocks. */
int sm_device_heap_replace(void *p, size_t size);
void sm_device_heap_close(void);

#endif

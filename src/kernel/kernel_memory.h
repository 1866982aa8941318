/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_memory.h - memory that the library shares with kernels.  What is given
 * back is kept, and used again: no call waits for the device.  Threads: any. */
#ifndef KERNEL_KERNEL_MEMORY_H
#define KERNEL_KERNEL_MEMORY_H

#include <stddef.h>

/* Zeroed memory of the host that the device reaches, in whole pages; NULL. */
void *kernel_pinned_alloc(size_t size);
void kernel_pinned_free(void *p, size_t size);
/* At once, and it is not used again. */
void kernel_pinned_unpin(void *p, size_t size);
/* The same, but the processor may read it until the next call with this *old,
 * of the same size: a report in a signal handler may just have found it. */
void kernel_pinned_retire(void *p, size_t size, void **old);

/* Memory of the device, with any contents: 0 or an error of the driver's. */
int kernel_device_alloc(size_t size, void **out);
void kernel_device_free(void *p, size_t size);

/* The driver has all of it that is not in use. */
void kernel_memory_close(void);

#endif

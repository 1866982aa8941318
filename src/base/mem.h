/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h - how much memory this process may still use: the machine's, or less
 * where a control group bounds it.  Pages of a memfd are charged when touched,
 * and then shortage is a kill, so callers that make one check the sum before.
 * And mappings at aligned addresses. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

struct mem_bound {
    size_t bytes;
    char limit[160];            /* what sets the bound: for messages */
};
/* root is "" on a real machine; tests give a folder with proc/ and sys/. */
void mem_available(const char *root, struct mem_bound *out);

/* The same of reserved huge pages of that size. */
void mem_available_huge(const char *root, size_t page, struct mem_bound *out);

/* Zeroed pages that a device or a NIC is to reach, for munmap(): NULL with errno.
 * They are shared with children, who have no use for them: on kernels before
 * 5.9 a private page that is pinned gets a copy for this process at the first
 * store behind a fork, and the device keeps the old one.  Any thread. */
void *mem_pages(size_t size);
/* The largest power of two up to n, which is not 0. */
size_t mem_power_below(size_t n);
/* Maps size bytes of fd, to be shared, where the byte at offset `at` lies at a
 * multiple of align, a power of two.  at, and the pages of fd, are no larger
 * units than align.  MAP_FAILED with errno.  Any thread. */
void *mem_map_aligned(int fd, size_t size, size_t align, size_t at);

#endif

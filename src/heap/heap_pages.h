/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_pages.h - which pages the memory of a node has, and where they lie.
 * sm calls these while it maps that memory, on one thread; the texts are for
 * SHMEM_INFO and shmem_info. */
#ifndef HEAP_HEAP_PAGES_H
#define HEAP_HEAP_PAGES_H

#include <stddef.h>

/* The size of the reserved pages that SHMEM_HUGEPAGES asks for, or 0. */
size_t heap_pages_requested(void);
/* all: the node's memory as mapped here, before its pages exist; slot: this
 * PE's part of it.  Only the texts below report what cannot be done. */
void heap_pages_place(char *all, size_t size, char *slot, size_t slot_size,
                      size_t huge_page);
/* "4.0 KiB pages; NUMA node 0", with reasons. */
enum { HEAP_PAGES_TEXT = 256 };
const char *heap_pages_text(char buf[HEAP_PAGES_TEXT]);
/* The values that SHMEM_HUGEPAGES may have on this machine. */
const char *heap_pages_possible(char buf[HEAP_PAGES_TEXT]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* radix.h - the local sort.
 * Keys are unsigned, of 4 or 8 bytes.  They are bucketed by their highest bits
 * until a bucket fits in the cache, where least-significant-digit passes sort
 * it.  Whatever the keys, the time is at most that of one pass per 8 bits in
 * which they differ.  One caller at a time per array; it may use threads. */
#ifndef BUCKETSORT_RADIX_H
#define BUCKETSORT_RADIX_H

#include <stddef.h>

/* Sorts n keys of width bytes; tmp has room for as many and is left with
 * anything.  0, or -ENOMEM or -EAGAIN with the keys in any order. */
int radix_sort(int width, void *keys, void *tmp, size_t n, int threads);

#endif

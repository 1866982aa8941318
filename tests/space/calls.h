/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - device memory is touched by calls only, in these tests: it may be
 * memory that the processor must not touch. */
#ifndef TESTS_SPACE_CALLS_H
#define TESTS_SPACE_CALLS_H

#include "t.h"
#include <shmemx.h>

static inline void store(long *p, size_t n, long value)
{
    long v;

    for (size_t i = 0; i < n; i++) {
        v = value + (long)i;
        shmem_long_put(p + i, &v, 1, shmem_my_pe());
    }
}

/* How many of them are value, value + 1, ... */
static inline size_t holds(const long *p, size_t n, long value)
{
    size_t found = 0;
    long v = 0;

    for (size_t i = 0; i < n; i++) {
        shmem_long_get(&v, p + i, 1, shmem_my_pe());
        found += v == value + (long)i;
    }
    return found;
}

static inline shmem_space_t space_of(void *p)
{
    shmem_space_t s = SHMEM_SPACE_INVALID;

    shmem_get_space(p, &s);
    return s;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_default_stream.h - default streams of the device and of threads, as CUDA
 * and HIP name them.  Any thread. */
#ifndef GTL_GTL_DEFAULT_STREAM_H
#define GTL_GTL_DEFAULT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Handles that CUDA and HIP have for default streams: LEGACY is NULL's, which
 * drivers are given in its place, and PER_THREAD another one in each thread,
 * so that what one thread keeps of it no other one passes on. */
enum { GTL_LEGACY = 1, GTL_PER_THREAD = 2 };
static inline bool gtl_is_per_thread(const void *s)
{
    return (uintptr_t)s == GTL_PER_THREAD;
}
/* Of the calling thread: never 0, and never another one's. */
uint64_t gtl_thread_id(void);
/* The thread whose stream it is; 0: any thread's. */
static inline uint64_t gtl_stream_owner(const void *s)
{
    return __builtin_expect(gtl_is_per_thread(s), 0) ? gtl_thread_id() : 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_default_stream.c - numbers for threads: a thread's own default stream
 * has the same handle in every thread, so drivers and the stream layer
 * distinguish these streams by the number.  The drivers of GPUs call it, on any
 * thread. */
#include "gtl/gtl_default_stream.h"

uint64_t gtl_thread_id(void)
{
    static uint64_t threads;
    static __thread uint64_t mine;

    if (!mine)
        mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return mine;
}

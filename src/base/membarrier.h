/* SPDX-License-Identifier: BSD-3-Clause */
/* membarrier.h - the fence of a protocol in which two processes each store and
 * then load what the other one stores, so that at least one of them sees the
 * other's store.  The side that does this often pays nothing but keeps its
 * compiler from swapping the two (membarrier_light); the other side makes all
 * registered processes of the machine pass a fence (membarrier_all).
 * Threads: any. */
#ifndef BASE_MEMBARRIER_H
#define BASE_MEMBARRIER_H

#include "base/atomics.h"

#include <stdbool.h>

/* Registers this process.  False where the kernel refuses. */
bool membarrier_open(void);
/* Is this process registered? */
bool membarrier_works(void);
/* False where it fenced this thread alone. */
bool membarrier_all(void);

force_inline void membarrier_light(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_dump.c - what of the heap a core file has: the part in which there have
 * been blocks.  The kernel would take memory for each untouched page of the
 * rest to write it, a gibibyte for each PE that dies.  Called at start and by
 * each allocation; see core(5) and MADV_DONTDUMP in madvise(2). */
#include "heap/heap_int.h"
#include "base/lock.h"

#include <sys/mman.h>

enum { STEP = 16 << 20 };

static struct base_lock lock = LOCK_INIT;
/* Offset in the segment to which core files have it.  Raised under the lock. */
static size_t dumped;

static void advise(size_t from, size_t to, int advice)
{
    if (from < to)
        madvise((void *)(heap_segs[HEAP_HOST].base + from), to - from, advice);
}

void heap_dump_open(bool reserved)
{
    size_t size = heap_segs[HEAP_HOST].size;

    dumped = reserved ? size : heap_round_up(heap_default.from, STEP);
    advise(dumped, size, MADV_DONTDUMP);
}

void heap_dump_cover(size_t end)
{
    size_t to = heap_round_up(end, STEP);

    if (end <= __atomic_load_n(&dumped, __ATOMIC_RELAXED))
        return;
    lock_acquire(&lock);
    if (to > heap_segs[HEAP_HOST].size)
        to = heap_segs[HEAP_HOST].size;
    if (to > dumped) {
        advise(dumped, to, MADV_DODUMP);
        __atomic_store_n(&dumped, to, __ATOMIC_RELAXED);
    }
    lock_release(&lock);
}

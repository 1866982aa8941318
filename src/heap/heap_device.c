/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_device.c - the segment of device memory: where it is, how much of it has
 * memory, and how it is aligned.  sm, which has the memory from the device's
 * driver, attaches it, extends it and detaches it, on one thread. */
#include "heap/heap_int.h"
#include "base/mem.h"

bool heap_device_wanted(void)
{
    size_t size;

    return heap_env_size(HEAP_DEVICE, &size) ||
           heap_env_enabled(HEAP_DEVICE) == HEAP_ENV_ON;
}

int heap_device_attach(void *base, size_t size, size_t has_memory,
                       bool host_access)
{
    int rc = heap_space_open(&heap_device, 0, size, HEAP_ALIGN);

    if (rc)
        return rc;
    heap_device_host_access = host_access;
    heap_segs[HEAP_DEVICE].base = (uintptr_t)base;
    heap_device_extend(has_memory);
    return 0;
}

void heap_device_extend(size_t has_memory)
{
    /* release: threads that find the new end find its memory. */
    __atomic_store_n(&heap_segs[HEAP_DEVICE].size, has_memory,
                     __ATOMIC_RELEASE);
}

bool heap_device_has_memory(const void *p, size_t size)
{
    uintptr_t off = (uintptr_t)p - heap_segs[HEAP_DEVICE].base;
    size_t has = heap_seg_size(HEAP_DEVICE);

    return off >= heap_device.to || (off <= has && size <= has - off);
}

size_t heap_device_align(void)
{
    const struct heap_seg *s = &heap_segs[HEAP_DEVICE];
    size_t most = mem_power_below(heap_device.to);
    size_t has = s->base & -s->base;

    return has < most ? has : most;
}

void heap_device_agree(size_t align)
{
    heap_device.align = align;
}

void heap_device_detach(void)
{
    heap_segs[HEAP_DEVICE] = (struct heap_seg){ 0, 0 };
    heap_space_close(&heap_device);
    heap_device_host_access = false;
}

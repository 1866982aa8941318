/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric heap in device memory.  It is made by the first allocation in
 * it, or at start where the environment or the program asks for it; all PEs
 * have the same size. */
#include "heap/heap_int.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SIZE ((size_t)1 << 20)
/* Of the memory that is free, heaps nobody sized may take half together. */
enum { DEFAULT_SHARE = 2 };

bool heap_device_direct;
static void *memory;            /* of the device; NULL: lent by somebody else */

bool heap_device_wanted(void)
{
    size_t size;

    return heap_env_size(HEAP_DEVICE, &size) ||
           heap_env_enabled(HEAP_DEVICE) == HEAP_ENV_ON;
}

size_t heap_device_size(int n_local)
{
    size_t unused = 0, total = 0, size = HEAP_DEVICE_DEFAULT, share;

    if (heap_env_size(HEAP_DEVICE, &size))
        return heap_round_up(size, HEAP_ALIGN);
    if (gtl->room(&unused, &total))
        return size;
    share = unused / DEFAULT_SHARE / (size_t)n_local;
    if (share < size)
        size = share / HEAP_ALIGN * HEAP_ALIGN;
    return size < LEAST_SIZE ? HEAP_ALIGN : size;
}

int heap_device_check(size_t size, int n_local)
{
    char one[24], all[24], left[24];
    const char *name;
    struct mem_bound m;
    size_t set;

    mem_available("", &m);
    if (size <= m.bytes / (size_t)n_local)
        return 0;
    name = heap_env_size(HEAP_DEVICE, &set);
    log_warn(ERR_DEVICE, "device heaps of %s for %d PE%s take %s of the "
              "host's memory, but %s allows %s: set a smaller SHMEM_%s",
              log_size(one, (double)size), n_local, n_local == 1 ? "" : "s",
              log_size(all, (double)size * n_local), m.limit,
              log_size(left, (double)m.bytes),
              name ? name : "DEVICE_SYMMETRIC_SIZE");
    return -ENOMEM;
}

const char *heap_device_bound(size_t size, char buf[HEAP_BOUND_TEXT])
{
    char most[24];

    if (!gtl_is_software() || size <= gtl_device.memory)
        return NULL;
    log_size(most, (double)gtl_device.memory);
    snprintf(buf, HEAP_BOUND_TEXT, env_is_set("DEVICE_MEMORY")
             ? "SHMEM_DEVICE_MEMORY (%s)"
             : "SHMEM_DEVICE_MEMORY (unset: %s, half of what was available)",
             most);
    return buf;
}

static void tell_full(size_t size)
{
    size_t unused = 0, total = 0, set;
    const char *name = heap_env_size(HEAP_DEVICE, &set);
    char asked[24], taken[24], left[24], all[24], bound[HEAP_BOUND_TEXT];

    if (heap_device_bound(size, bound)) {
        log_warn(ERR_DEVICE, "a device heap of %s is more than the software "
                  "device has: raise %s or set a smaller SHMEM_%s",
                  log_size(asked, (double)size), bound,
                  name ? name : "DEVICE_SYMMETRIC_SIZE");
        return;
    }
    gtl->room(&unused, &total);
    log_warn(ERR_DEVICE, "a device heap of %s: %s; of the %s of %s %s are used and "
              "%s free: set a smaller SHMEM_%s", log_size(asked, (double)size),
              gtl_error()[0] ? gtl_error() : "refused",
              log_size(all, (double)total), gtl_device.name,
              log_size(taken, (double)(total - unused)),
              log_size(left, (double)unused),
              name ? name : "DEVICE_SYMMETRIC_SIZE");
}

static int make_ready(void *p, size_t size, bool direct)
{
    int rc = heap_space_open(&heap_device, 0, size, HEAP_ALIGN);

    if (rc)
        return rc;
    heap_device_direct = direct;
    heap_segs[HEAP_DEVICE] = (struct heap_seg){ (uintptr_t)p, size };
    log_info(LOG_HEAP, "device heap of %zu bytes at %p, %s", size, p,
             direct ? "which the processor reaches" : "the device's alone");
    return 0;
}

int heap_device_open(size_t size)
{
    void *p = NULL;
    int rc = fault_hit(FAULT_HEAP_DEVICE) ? -ENOMEM : gtl->alloc(size, &p);

    if (rc) {
        tell_full(size);
        return rc;
    }
    rc = make_ready(p, size, gtl_device.direct);
    if (rc)
        gtl->free(p);
    else
        memory = p;
    return rc;
}

size_t heap_device_align(void)
{
    const struct heap_seg *s = &heap_segs[HEAP_DEVICE];
    size_t most = mem_power_below(s->size);
    size_t has = s->base & -s->base;

    return has < most ? has : most;
}

void heap_device_agree(size_t align)
{
    heap_device.align = align;
}

int heap_device_lend(struct gtl_handle *out)
{
    return fault_hit(FAULT_HEAP_LEND) ? -ENOSYS : gtl->lend(memory, out);
}

int heap_device_replace(void *p, size_t size)
{
    heap_device_close();
    return make_ready(p, size, true);
}

void heap_device_close(void)
{
    if (!heap_device.arena)
        return;
    heap_segs[HEAP_DEVICE] = (struct heap_seg){ 0, 0 };
    heap_space_close(&heap_device);
    if (memory)
        gtl->free(memory);
    memory = NULL;
    heap_device_direct = false;
}

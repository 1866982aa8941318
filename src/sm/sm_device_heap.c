/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_device_heap.c - memory of the device for the symmetric heap: its size, its
 * allocation and growth by the driver, its export for the peers of the node,
 * and the lines that say why it cannot be had.  api makes the heap at the first
 * allocation in it, or at start where the environment or the program asks for
 * that; all PEs have the same size.  The blocks in it are heap's. */
#include "sm/sm_device_heap.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"
#include "heap/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SIZE ((size_t)1 << 20)
/* Heaps of unset size may take half of the free memory together. */
enum { DEFAULT_SHARE = 2 };

static void *memory;      /* of the device; NULL: none, or pinned host memory */
/* Of a heap that grows: its addresses, and how much of them has memory; zeros,
 * of another one. */
static struct {
    size_t most, end, before;   /* before: the last chunk */
} growth;
enum { SHARE = 8, FIRST = 64 << 20, LEAST_SHARE = 256 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

size_t sm_device_heap_size(int n_local, bool grows)
{
    size_t unused = 0, total = 0, size = SM_DEVICE_HEAP_DEFAULT, share;

    if (heap_env_size(HEAP_DEVICE, &size))
        return round_up(size, HEAP_ALIGN);
    if (gtl->memory_info(&unused, &total))
        return size;
    share = unused / DEFAULT_SHARE / (size_t)n_local;
    if (share < size || grows)
        size = share / HEAP_ALIGN * HEAP_ALIGN;
    return size < LEAST_SIZE ? HEAP_ALIGN : size;
}

int sm_device_heap_check(size_t size, int n_local)
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

const char *sm_device_heap_limit_text(size_t size, char buf[SM_LIMIT_TEXT])
{
    char most[24];

    if (!gtl_device.host_memory || size <= gtl_device.memory)
        return NULL;
    log_size(most, (double)gtl_device.memory);
    snprintf(buf, SM_LIMIT_TEXT, env_is_set("DEVICE_MEMORY")
             ? "SHMEM_DEVICE_MEMORY (%s)"
             : "SHMEM_DEVICE_MEMORY (unset: %s, half of what was available)",
             most);
    return buf;
}

static void log_no_room(size_t size)
{
    size_t unused = 0, total = 0, set;
    const char *name = heap_env_size(HEAP_DEVICE, &set);
    char wanted[24], taken[24], left[24], all[24], bound[SM_LIMIT_TEXT];

    if (sm_device_heap_limit_text(size, bound)) {
        log_warn(ERR_DEVICE, "a device heap of %s is more than the software "
                  "device has: raise %s or set a smaller SHMEM_%s",
                  log_size(wanted, (double)size), bound,
                  name ? name : "DEVICE_SYMMETRIC_SIZE");
        return;
    }
    gtl->memory_info(&unused, &total);
    log_warn(ERR_DEVICE,
             "a device heap of %s: %s; of the %s of %s %s are used and "
              "%s free: set a smaller SHMEM_%s", log_size(wanted, (double)size),
              gtl_error()[0] ? gtl_error() : "refused",
              log_size(all, (double)total), gtl_device.name,
              log_size(taken, (double)(total - unused)),
              log_size(left, (double)unused),
              name ? name : "DEVICE_SYMMETRIC_SIZE");
}

/* Of a heap that has memory, and needs more. */
static void log_no_growth(size_t end)
{
    size_t unused = 0, total = 0;
    char wanted[24], has[24], left[24], all[24];

    gtl->memory_info(&unused, &total);
    log_warn(ERR_DEVICE, "the device heap cannot grow from %s to %s: %s; %s of "
             "the %s of %s are free", log_size(has, (double)growth.end),
             log_size(wanted, (double)end),
             gtl_error()[0] ? gtl_error() : "refused",
             log_size(left, (double)unused), log_size(all, (double)total),
             gtl_device.name);
}

static void free_memory(void)
{
    if (memory)
        gtl->free(memory);
    memory = NULL;
    memset(&growth, 0, sizeof growth);
}

/* An eighth of the heap, or FIRST. */
static size_t least_step(void)
{
    size_t step = round_up(growth.most / SHARE, HEAP_ALIGN);

    return step < FIRST ? step : FIRST;
}

static int attach(void *p, size_t size, bool direct)
{
    int rc = heap_device_attach(p, size, growth.most ? growth.end : size,
                                direct);

    if (rc)
        return rc;
    log_info(LOG_HEAP, "device heap of %s%zu bytes at %p, %s",
             growth.most ? "up to " : "", size, p,
             direct ? "which the processor reaches" : "the device's alone");
    return 0;
}

int sm_device_heap_open(size_t size, bool grows)
{
    void *p = NULL;
    int rc;

    memset(&growth, 0, sizeof growth);
    if (fault_hit(FAULT_HEAP_DEVICE))
        rc = -ENOMEM;
    else
        rc = grows ? gtl->reserve(size, &p) : gtl->alloc(size, &p);
    if (rc) {
        if (!grows)
            log_no_room(size);
        return rc;
    }
    memory = p;
    if (grows) {
        growth.most = size;
        rc = sm_device_heap_grow(least_step(), SM_GROW_TRIAL);
    }
    if (!rc)
        rc = attach(p, size, gtl_device.host_access);
    if (rc)
        free_memory();
    return rc;
}

/* A chunk is half as large as all before it, unless that cannot be had. */
static size_t next_end(size_t end, enum sm_growth how)
{
    size_t step = growth.end / 2;

    step = step > least_step() ? step : least_step();
    /* Chunks are few, also where each is no larger than it must be. */
    end = round_up(end - growth.end, round_up(
        growth.most / LEAST_SHARE, HEAP_ALIGN)) + growth.end;
    if (how == SM_GROW_AMPLE && end < growth.end + step)
        end = round_up(growth.end + step, HEAP_ALIGN);
    return end < growth.most ? end : growth.most;
}

int sm_device_heap_grow(size_t end, enum sm_growth how)
{
    int rc;

    end = next_end(end, how);
    rc = fault_hit(FAULT_HEAP_DEVICE) ? -ENOMEM
                                      : gtl->grow(memory, end - growth.end);
    if (rc) {
        if (how == SM_GROW_EXACT)
            log_no_growth(end);
        return rc;
    }
    growth.before = growth.end;
    growth.end = end;
    return 0;
}

size_t sm_device_heap_grown(void)
{
    return growth.end;
}

void sm_device_heap_commit(void)
{
    heap_device_extend(growth.end);
    log_info(LOG_HEAP, "device heap: %zu of %zu bytes have memory", growth.end,
             growth.most);
}

void sm_device_heap_rollback(void)
{
    gtl->shrink(memory);
    growth.end = growth.before;
}

int sm_device_heap_export(struct gtl_ipc_handle *out, int *fd)
{
    *fd = -1;
    return fault_hit(FAULT_HEAP_EXPORT) ? -ENOSYS : gtl->ipc_export(memory, out,
                                                                  fd);
}

int sm_device_heap_replace(void *p, size_t size)
{
    sm_device_heap_close();
    return attach(p, size, true);
}

void sm_device_heap_close(void)
{
    if (!heap_device.arena)
        return;
    heap_device_detach();
    free_memory();
}

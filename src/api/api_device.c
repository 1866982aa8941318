/* SPDX-License-Identifier: BSD-3-Clause */
/* The device heap comes into being: all PEs together, at start or at the first
 * allocation that wants it, and either all have it or none has. */
#include "api/api.h"
#include "base/env.h"
#include "gtl/gtl.h"
#include "heap/heap.h"
#include "ofi/ofi.h"
#include "rt/rt.h"
#include "sm/sm.h"

#include <errno.h>

/* In symmetric memory. */
static struct words {
    uint64_t mine, least;
    _Alignas(16) char sm[SM_DEVICE_CARD], ofi[OFI_DEVICE_CARD];
} *words;
static bool failed;             /* and will again: the same on all PEs */

int api_device_open(void)
{
    failed = false;
    words = heap_reserve(sizeof *words, _Alignof(struct words));
    if (words)
        return 0;
    log_error(ERR_HEAP, "the words of the device heap do not fit the reserved "
              "part of the heap");
    return -ENOMEM;
}

bool api_device_possible(void)
{
    return !failed && env.DEVICE != ENV_DEVICE_NONE;
}

/* The least that any PE says: a meeting, too. */
static uint64_t least(uint64_t mine)
{
    words->mine = mine;
    coll_reduce(&core_world, &words->least, &words->mine, 1, sizeof mine,
                coll_ops[COLL_MIN][COLL_U64]);
    return words->least;
}

static bool all_of_us(int rc)
{
    return least(rc == 0);
}

/* Handles where they serve, else memory that all reach anyway. */
static int join(size_t size)
{
    int rc;

    if (all_of_us(sm_device_lend(words->sm)) &&
        all_of_us(sm_device_borrow(words->sm)))
        return 0;
    if (rt_job.pe == 0)
        log_warn(ERR_DEVICE, "device memory cannot be shared between the PEs "
                 "of a node (%s): the device heap lies in pinned host memory, "
                 "which is slower; do all PEs see all devices of the node?",
                 gtl_error()[0] ? gtl_error() : "another PE says why with "
                 "SHMEM_LOG=debug:sm");
    rc = sm_device_offer(words->sm);
    if (!all_of_us(rc))
        return -ENODEV;
    rc = sm_device_take(words->sm, size);
    return all_of_us(rc) ? 0 : -ENODEV;
}

static void drop(void)
{
    sm_device_return();
    least(0);                   /* nobody frees what another one still has */
    heap_device_close();
    sm_device_close();
}

static int make(void)
{
    size_t size = 0;
    int rc;

    rc = gtl_open(rt_job.local);
    if (!rc && gtl == &gtl_none)
        rc = -ENODEV;
    size = least(rc ? 0 : heap_device_size(rt_job.n_local));
    if (!size)
        return -ENODEV;
    rc = heap_device_open(size);
    if (!all_of_us(rc)) {
        heap_device_close();
        return -ENOMEM;
    }
    rc = join(size);
    if (!rc)
        rc = all_of_us(ofi_device_open(words->ofi)) ? 0 : -ENODEV;
    if (rc)
        drop();
    return rc;
}

int api_device_need(void)
{
    int rc;

    if (heap_device.arena)
        return 0;
    if (!api_device_possible())
        return -ENODEV;
    rc = make();
    failed = rc;
    return rc;
}

/* A program that has loaded a GPU's driver may pass its memory to any call. */
int api_device_start(void)
{
    if (heap_device_wanted())
        return api_device_need();
    if (env.DEVICE != ENV_DEVICE_NONE && gtl_program_has_one())
        return gtl_open(rt_job.local);
    return 0;
}

void api_device_leave(void)
{
    sm_device_return();
}

void api_device_close(void)
{
    heap_device_close();
    sm_device_close();
    gtl_close();
}

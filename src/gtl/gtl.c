/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl.c - finds the device by SHMEM_DEVICE, opens it with the first driver that
 * can, and closes it.  api calls it at start and at the end, and when device
 * memory is first asked for; any thread. */
#include "gtl/gtl_int.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct base_lock opening = LOCK_INIT;
static bool is_refused GUARDED_BY(opening);        /* and was logged */

/* By the values of SHMEM_DEVICE, in the order in which auto tries them. */
enum { AUTO = ENV_DEVICE_AUTO, N_DRIVERS = ENV_DEVICE_NONE + 1 };
const struct gtl_ops *const gtl_drivers[N_DRIVERS] = {
    [ENV_DEVICE_CUDA] = &gtl_cuda, [ENV_DEVICE_HIP] = &gtl_hip,
    [ENV_DEVICE_SOFTWARE] = &gtl_soft, [ENV_DEVICE_NONE] = &gtl_none
};

/* Which of them, or AUTO; "host" is another name of "software". */
static int wanted(void)
{
    return env.DEVICE == ENV_DEVICE_HOST ? ENV_DEVICE_SOFTWARE : env.DEVICE;
}

static int try(const struct gtl_ops *ops, int local)
{
    struct gtl_device d = { .count = 0 };
    int held = fd_hold(), rc = ops->open(local, &d);
    char size[24];

    fd_release(held);
    if (rc) {
        log_debug(LOG_GTL, "driver %s: %s", ops->name, gtl_error());
        return rc;
    }
    gtl_device = d;
    if (ops == &gtl_none)
        return 0;
    rc = gtl_blocking_open(ops);
    if (rc) {
        ops->close();
        memset(&gtl_device, 0, sizeof gtl_device);
        return rc;
    }
    gtl = gtl_trace_open(ops, d.host_streams);
    gtl_error_clear();          /* of drivers that do not open */
    gtl_device_only = !d.host_access;
    log_info(LOG_GTL, "driver %s: %s, %s, %s of %s%smemory", ops->name, d.name,
             d.id, log_size(size, (double)d.memory), d.coherence ? d.coherence
             : "", d.coherence ? " " : "");
    return 0;
}

/* A GPU that is there and does not work is no reason to go on without a
 * word. */
static int try_all(int local)
{
    int rc = -ENODEV;

    for (int i = AUTO + 1; i < N_DRIVERS && rc; i++) {
        rc = try(gtl_drivers[i], local);
        if (rc && rc != -ENODEV)
            log_warn(ERR_DEVICE, "device of driver %s: %s; it is not used",
                     gtl_drivers[i]->name, gtl_error());
    }
    return rc;
}

/* Without the device calls that want it give NULL or an error, and the program
 * goes on: a warning. */
static int try_chosen(int local) REQUIRES(opening)
{
    int rc;

    if (wanted() == AUTO)
        return try_all(local);
    rc = try(gtl_drivers[wanted()], local);
    if (rc && !is_refused)
        log_warn(ERR_DEVICE, "SHMEM_DEVICE=%s: %s",
                 gtl_drivers[wanted()]->name, gtl_error());
    is_refused = rc;
    return rc;
}

int gtl_env_check(void)
{
    return gtl_soft_load();
}

int gtl_open(int local)
{
    int rc = 0;

    lock_acquire(&opening);
    if (gtl == &gtl_none)
        rc = gtl_soft_load();
    if (!rc && gtl == &gtl_none)
        rc = try_chosen(local);
    lock_release(&opening);
    return rc;
}

/* As try_chosen() goes through them. */
static bool find_pci_address(int local, char pci[16])
{
    int held = fd_hold(), rc = -ENODEV;

    for (int i = AUTO + 1; i < N_DRIVERS && rc; i++)
        if (wanted() == AUTO || wanted() == i)
            rc = gtl_drivers[i]->pci_address(local, pci);
    fd_release(held);
    gtl_error_clear();
    return !rc && *pci;
}

bool gtl_pci_address(int local, char pci[16])
{
    bool found;

    lock_acquire(&opening);
    *pci = '\0';
    if (gtl != &gtl_none)
        snprintf(pci, 16, "%s", gtl_device.pci);
    found = gtl != &gtl_none ? *pci : find_pci_address(local, pci);
    lock_release(&opening);
    return found;
}

void gtl_close(void)
{
    lock_acquire(&opening);
    if (gtl != &gtl_none) {
        gtl_blocking_close();
        gtl_trace_close();
        gtl->close();
        gtl = &gtl_none;
        memset(&gtl_device, 0, sizeof gtl_device);
        gtl_device_only = false;
    }
    lock_release(&opening);
}

/* In a unit of at least that of any GPU. */
static size_t shared_of_group(const struct gtl_device *d, size_t shared)
{
    enum { UNIT = 512 };

    if (shared > d->shared_each)
        return shared;
    return d->shared_reserved + (shared + UNIT - 1) / UNIT * UNIT;
}

unsigned gtl_resident_groups(unsigned items, size_t shared)
{
    const struct gtl_device *d = &gtl_device;
    size_t each = d->groups_each ? d->groups_each : UINT32_MAX, all = items;

    if (d->items_unit)
        all = (all + d->items_unit - 1) / d->items_unit * d->items_unit;
    if (d->items_each && d->items_each / all < each)
        each = d->items_each / all;
    shared = shared_of_group(d, shared);
    if (d->shared_each && shared && d->shared_each / shared < each)
        each = d->shared_each / shared;
    return each >= UINT32_MAX ? 0 : d->processors * (unsigned)each;
}

unsigned gtl_certain_groups(void)
{
    return gtl_device.processors *
           (gtl_device.host_streams ? gtl_device.groups_each : 1);
}

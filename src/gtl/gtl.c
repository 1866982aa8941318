/* SPDX-License-Identifier: BSD-3-Clause */
#include "gtl/gtl_int.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct gtl_ops *gtl = &gtl_none;
struct gtl_device gtl_device;
hot_data bool gtl_device_only;

static struct base_lock opening = LOCK_INIT;
static bool refused GUARDED_BY(opening);        /* and told of */
static __thread char said[160];

const char *gtl_error(void)
{
    return said;
}

int gtl_fail(int rc, const char *call, const char *text, long code)
{
    if (code)
        snprintf(said, sizeof said, "%s: %s (%ld)", call, text, code);
    else
        snprintf(said, sizeof said, "%s: %s", call, text);
    return rc;
}

int gtl_fail_spin(const char *call)
{
    return gtl_fail(-ENOSYS, call, "a wait is a kernel here, which would take "
                    "the time of other PEs' on the device",
                    gtl_device.pes);
}

/* In the order of the words of SHMEM_DEVICE, auto first. */
enum { AUTO, N_DRIVERS = 5 };
static const struct gtl_ops *const drivers[N_DRIVERS] = {
    [1] = &gtl_cuda, [2] = &gtl_hip, [3] = &gtl_soft, [4] = &gtl_none
};

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
        return rc;
    }
    gtl = ops;
    said[0] = '\0';             /* of drivers that there are not */
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
        if (!drivers[i])
            continue;
        rc = try(drivers[i], local);
        if (rc && rc != -ENODEV)
            log_warn(ERR_DEVICE, "device of driver %s: %s; it is not used",
                     drivers[i]->name, gtl_error());
    }
    return rc;
}

/* Without the device calls that want it give NULL or an error, and the program
 * goes on: a warning. */
static int try_chosen(int local) REQUIRES(opening)
{
    int rc;

    if (env.DEVICE == AUTO)
        return try_all(local);
    rc = try(drivers[env.DEVICE], local);
    if (rc && !refused)
        log_warn(ERR_DEVICE, "SHMEM_DEVICE=%s: %s",
                 drivers[env.DEVICE]->name, gtl_error());
    refused = rc;
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
static bool find_bus(int local, char pci[16])
{
    int held = fd_hold(), rc = -ENODEV;

    for (int i = AUTO + 1; i < N_DRIVERS && rc; i++)
        if (drivers[i] && (env.DEVICE == AUTO || env.DEVICE == i))
            rc = drivers[i]->pci_address(local, pci);
    fd_release(held);
    said[0] = '\0';
    return !rc && *pci;
}

bool gtl_pci_address(int local, char pci[16])
{
    bool found;

    lock_acquire(&opening);
    *pci = '\0';
    if (gtl != &gtl_none)
        snprintf(pci, 16, "%s", gtl_device.pci);
    found = gtl != &gtl_none ? *pci : find_bus(local, pci);
    lock_release(&opening);
    return found;
}

void gtl_close(void)
{
    lock_acquire(&opening);
    if (gtl != &gtl_none) {
        gtl_blocking_close();
        gtl->close();
        gtl = &gtl_none;
        memset(&gtl_device, 0, sizeof gtl_device);
        gtl_device_only = false;
    }
    lock_release(&opening);
}

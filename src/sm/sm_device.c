/* SPDX-License-Identifier: BSD-3-Clause */
/* Device heaps of the PEs of a node.  Each is opened once by each of the
 * others, by a handle of the device's driver.  Where that cannot be, as in
 * containers that hide devices from each other, all take host memory instead,
 * pinned so that the devices reach it: slower for kernels, the same for the
 * program. */
#include "sm/sm.h"
#include "sm/sm_int.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"
#include "rt/rt.h"
#include "xport/xport.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a PE tells the others of its node. */
struct card {
    union {
        struct gtl_handle handle;
        struct sm_card offer;
    };
    char id[sizeof gtl_device.id];      /* of its device; "": not told */
    uint32_t lock;              /* see xport_device_lock */
};
_Static_assert(sizeof(struct card) <= SM_DEVICE_CARD, "sm.h says so");

static struct {
    char *base;                 /* of pinned memory; NULL: there is none */
    size_t size, each;
    int listen_fd;
} shared = { .listen_fd = -1 };

static struct card *card_of(int local, void *card)
{
    return (struct card *)xport_near(rt_job.local_pes[local], card,
                                     sizeof(struct card));
}

void sm_device_tell(void *card)
{
    memcpy(card_of(rt_job.local, card)->id, gtl_device.id,
           sizeof gtl_device.id);
}

static int users_of(const char *id, void *card)
{
    int n = 0;

    for (int i = 0; *id && i < rt_job.n_local; i++)
        n += !strncmp(card_of(i, card)->id, id, sizeof gtl_device.id);
    return n;
}

/* Nodes that share a machine are taken to be alike. */
int sm_device_users(void *card)
{
    int nodes = rt_job.one_machine
                ? (rt_job.n_pes + rt_job.n_local - 1) / rt_job.n_local : 1;
    int most = 0, n;

    for (int i = 0; i < rt_job.n_local; i++) {
        n = users_of(card_of(i, card)->id, card);
        most = n > most ? n : most;
    }
    gtl_device.pes = users_of(gtl_device.id, card) * nodes;
    return most * nodes;
}

static void set_route(int local, uintptr_t at)
{
    struct xport_route *r = &xport_routes[rt_job.local_pes[local]];
    /* The network's atomics decide for this segment as for the others. */
    bool amo = r->amo[HEAP_HOST];

    r->device = at;
    r->map[HEAP_DEVICE] = heap_device_direct ? at : 0;
    r->amo[HEAP_DEVICE] = amo ? r->map[HEAP_DEVICE] : 0;
}

int sm_device_lend(void *card)
{
    sm_device_tell(card);
    return heap_device_lend(&card_of(rt_job.local, card)->handle);
}

static void give_back(int local)
{
    struct xport_route *r = &xport_routes[rt_job.local_pes[local]];

    if (local != rt_job.local && r->device && !shared.base)
        gtl->give_back((void *)r->device);
    r->device = r->map[HEAP_DEVICE] = r->amo[HEAP_DEVICE] = 0;
}

int sm_device_borrow(void *card)
{
    const struct gtl_handle *h;
    bool atomic = true;
    void *p;
    int rc;

    for (int i = 0; i < rt_job.n_local; i++) {
        if (i == rt_job.local) {
            set_route(i, heap_segs[HEAP_DEVICE].base);
            continue;
        }
        h = &card_of(i, card)->handle;
        rc = gtl->borrow(h, &p);
        if (rc) {
            sm_device_return();
            return rc;
        }
        set_route(i, (uintptr_t)p);
        atomic &= gtl_device.direct || gtl->atomic(h);
    }
    return !atomic;
}

void sm_device_lock(void *card)
{
    xport_device_lock = &((struct card *)card)->lock;
}

int sm_device_offer(void *card)
{
    sm_device_return();
    if (rt_job.local)
        return 0;
    /* Its plan stays empty: only memory is given. */
    card_of(0, card)->offer = (struct sm_card){ .name = "" };
    return sm_meet_listen(&card_of(0, card)->offer, &shared.listen_fd);
}

static int fetch(void *card, size_t size, int *fd)
{
    struct sm_card offer = card_of(0, card)->offer;
    int rc;

    if (rt_job.local)
        return sm_meet_join(&offer, fd);
    rc = sm_memfd_make(size, 0, fd);
    if (rc) {
        close(shared.listen_fd);
        return rc;
    }
    rc = sm_meet_serve(shared.listen_fd, &offer, *fd);
    shared.listen_fd = -1;
    if (rc)
        close(*fd);
    return rc;
}

/* All of it: this PE's device reaches the peers' heaps, too. */
static int pin(void)
{
    void *seen = NULL;
    int rc = gtl->pin(shared.base, shared.size, GTL_PIN_MEMORY, &seen);

    if (rc) {
        log_warn(ERR_DEVICE, "pinning %zu bytes of host memory for the "
                 "device: %s; is the limit of locked memory too low "
                 "(ulimit -l)?", shared.size, gtl_error());
        return rc;
    }
    if (seen == shared.base)
        return 0;
    log_warn(ERR_DEVICE, "the device sees pinned host memory at another "
             "address: its memory cannot be shared on this node");
    gtl->unpin(shared.base);
    return -ENOTSUP;
}

int sm_device_take(void *card, size_t size)
{
    int fd = -1, rc;
    char *mine;

    shared.each = size;
    shared.size = size * (size_t)rt_job.n_local;
    rc = fetch(card, shared.size, &fd);
    if (rc)
        return rc;
    rc = sm_memfd_check(fd, shared.size);
    if (!rc) {
        shared.base = mem_map_aligned(fd, shared.size, mem_power_below(size),
                                      (size_t)rt_job.local * size);
        if (shared.base == MAP_FAILED) {
            rc = -errno;
            shared.base = NULL;
            log_error(ERR_NODE, "mapping %zu bytes of shared device heaps: %m",
                      shared.size);
        }
    }
    close(fd);
    if (!rc)
        rc = pin();
    if (rc)
        return rc;
    mine = shared.base + (size_t)rt_job.local * size;
    rc = heap_device_replace(mine, size);
    for (int i = 0; i < rt_job.n_local && !rc; i++)
        set_route(i, (uintptr_t)shared.base + (size_t)i * size);
    return rc;
}

void sm_device_return(void)
{
    for (int i = 0; i < rt_job.n_local; i++)
        give_back(i);
}

void sm_device_close(void)
{
    xport_device_lock = NULL;
    if (!shared.base)
        return;
    gtl->unpin(shared.base);
    munmap(shared.base, shared.size);
    shared.base = NULL;
}

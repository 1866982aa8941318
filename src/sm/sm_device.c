/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_device.c - device heaps shared by the PEs of a node.  Each PE exports its
 * heap, and each of the others opens it once, by a handle of the device's
 * driver.  Where drivers cannot, as in containers that hide devices from each
 * other, all PEs map host memory instead and pin it so that the devices reach
 * it: slower for kernels, the same for the program.  api calls it, in the
 * order that sm.h gives; it makes no barrier of its own. */
#include "sm/sm.h"
#include "sm/sm_int.h"
#include "sm/sm_device_heap.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"
#include "rt/rt.h"
#include "xport/xport.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The address blob that a PE publishes on its node. */
struct address {
    union {
        struct gtl_ipc_handle handle;
        struct sm_address offer;
    };
    struct sm_exchange_address exchange;        /* of the handle's descriptor */
    char id[sizeof gtl_device.id];      /* of its device; "": not published */
    uint32_t lock;              /* see xport_device_lock */
};
_Static_assert(sizeof(struct address) <= SM_DEVICE_ADDRESS, "sm.h says so");

static struct {
    char *base;                 /* of pinned memory; NULL: there is none */
    size_t size, each;
    int listen_fd, fd;          /* the leader's, until members have it; or -1 */
} shared = { .listen_fd = -1, .fd = -1 };
/* The descriptor of this PE's handle until the exchange; or -1. */
static int exported_fd = -1;
/* The latest chunks of the first so many PEs of the node are open. */
static int opened;

static struct address *address_of(int local, void *address)
{
    return (struct address *)xport_ptr(rt_job.local_pes[local], address,
                                     sizeof(struct address));
}

void sm_device_publish_id(void *address)
{
    memcpy(address_of(rt_job.local, address)->id, gtl_device.id,
           sizeof gtl_device.id);
}

static int users_of(const char *id, void *address)
{
    int n = 0;

    for (int i = 0; *id && i < rt_job.n_local; i++)
        n += !strncmp(address_of(i, address)->id, id, sizeof gtl_device.id);
    return n;
}

/* Nodes that share a machine are taken to be alike. */
int sm_device_count_users(void *address)
{
    int nodes = rt_job.one_machine
                ? (rt_job.n_pes + rt_job.n_local - 1) / rt_job.n_local : 1;
    int most = 0, n;

    for (int i = 0; i < rt_job.n_local; i++) {
        n = users_of(address_of(i, address)->id, address);
        most = n > most ? n : most;
    }
    gtl_device.pes = users_of(gtl_device.id, address) * nodes;
    return most * nodes;
}

static void set_route(int local, uintptr_t at)
{
    struct xport_route *r = &xport_routes[rt_job.local_pes[local]];
    /* The network's atomics decide for this segment as for the others. */
    bool amo = r->amo[HEAP_HOST];

    r->device = at;
    r->map[HEAP_DEVICE] = heap_device_host_access ? at : 0;
    r->amo[HEAP_DEVICE] = amo ? r->map[HEAP_DEVICE] : 0;
}

/* After the exchange, or in its place. */
static void close_exported(void)
{
    if (exported_fd >= 0)
        close(exported_fd);
    exported_fd = -1;
}

int sm_device_export(void *address)
{
    struct address *mine = address_of(rt_job.local, address);
    int rc;

    close_exported();
    opened = 0;
    sm_device_publish_id(address);
    rc = sm_device_heap_export(&mine->handle, &exported_fd);
    mine->exchange.has_fd = !rc && exported_fd >= 0;
    return rc || gtl_device.why_fixed ? rc : sm_exchange_open(&mine->exchange);
}

static void close_peer(int local)
{
    struct xport_route *r = &xport_routes[rt_job.local_pes[local]];

    if (local != rt_job.local && r->device && !shared.base)
        gtl->ipc_close((void *)r->device);
    r->device = r->map[HEAP_DEVICE] = r->amo[HEAP_DEVICE] = 0;
}

static const struct sm_exchange_address *
exchange_address(int local, void *address)
{
    return &address_of(local, address)->exchange;
}

static int open_from(int local, const struct gtl_ipc_handle *h, int fd)
{
    void *p = (void *)xport_routes[rt_job.local_pes[local]].device;
    bool first = !p;
    int rc = 0;

    if (local == rt_job.local)
        p = (void *)heap_segs[HEAP_DEVICE].base;
    else
        rc = gtl->ipc_open(h, fd, &p);
    if (!rc && first)
        set_route(local, (uintptr_t)p);
    return rc;
}

/* Has the handle of any PE of the node a descriptor? */
static bool any_has_fd(void *address)
{
    bool any = false;

    for (int i = 0; i < rt_job.n_local; i++)
        any |= address_of(i, address)->exchange.has_fd;
    return any;
}

/* *n: the heaps of so many PEs of the node are open. */
static int open_all(void *address, int *n)
{
    const int *fds = NULL;
    int rc = 0;

    if (any_has_fd(address))
        fds = sm_exchange_all(exchange_address, address, exported_fd);
    close_exported();
    for (*n = 0; *n < rt_job.n_local && !rc; *n += !rc)
        rc = open_from(*n, &address_of(*n, address)->handle, fds ? fds[*n]
                       : -1);
    if (fds)                    /* they keep memory that is undone again */
        sm_exchange_close_fds();
    return rc;
}

int sm_device_open_peers(void *address)
{
    bool atomic = true;
    int n, rc = open_all(address, &n);

    if (rc) {
        sm_device_close_peers();
        return rc;
    }
    for (int i = 0; i < rt_job.n_local && !gtl_device.host_access; i++)
        atomic = atomic && (i == rt_job.local ||
                            gtl->peer_atomic(&address_of(i, address)->handle));
    return !atomic;
}

int sm_device_open_growth(void *address)
{
    return open_all(address, &opened);
}

void sm_device_close_growth(void)
{
    close_exported();
    for (int i = 0; i < opened; i++)
        if (i != rt_job.local)
            gtl->shrink((void *)xport_routes[rt_job.local_pes[i]].device);
    opened = 0;
}

void sm_device_use_lock(void *address)
{
    xport_device_lock = &((struct address *)address)->lock;
}

int sm_device_pinned_listen(void *address, size_t size)
{
    int rc;

    sm_device_close_peers();
    shared.each = size;
    shared.size = size * (size_t)rt_job.n_local;
    if (rt_job.local)
        return 0;
    rc = sm_memfd_make(shared.size, 0, &shared.fd);
    if (rc)
        return rc;
    /* Its plan stays empty: only memory is given. */
    address_of(0, address)->offer = (struct sm_address){ .name = "" };
    return sm_socket_listen(&address_of(0, address)->offer, &shared.listen_fd);
}

/* A member that does not come would be waited for. */
static int fetch(void *address, int *fd)
{
    struct sm_address offer = address_of(0, address)->offer;
    int rc;

    if (rt_job.local) {
        if (sm_socket_join(&offer, fd))
            rt_fail();
        return 0;
    }
    *fd = shared.fd;
    rc = sm_socket_distribute(shared.listen_fd, &offer, *fd);
    shared.listen_fd = shared.fd = -1;
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

int sm_device_pinned_map(void *address, size_t size)
{
    int fd = -1, rc;
    char *mine;

    rc = fetch(address, &fd);
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
    rc = sm_device_heap_replace(mine, size);
    for (int i = 0; i < rt_job.n_local && !rc; i++)
        set_route(i, (uintptr_t)shared.base + (size_t)i * size);
    return rc;
}

void sm_device_close_peers(void)
{
    for (int i = 0; i < rt_job.n_local; i++)
        close_peer(i);
}

void sm_device_close(void)
{
    xport_device_lock = NULL;
    close_exported();
    sm_exchange_close();
    if (shared.listen_fd >= 0)
        close(shared.listen_fd);
    if (shared.fd >= 0)
        close(shared.fd);
    shared.listen_fd = shared.fd = -1;
    if (!shared.base)
        return;
    gtl->unpin(shared.base);
    munmap(shared.base, shared.size);
    shared.base = NULL;
}

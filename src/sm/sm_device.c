/* SPDX-License-Identifier: BSD-3-Clause */
/* Device heaps of the PEs of a node.  Each is opened once by each of the
 * others, by a handle of the device's driver.  Where that cannot be, as in
 * containers that hide devices from each other, all take host memory instead,
 * pinned so that the devices reach it: slower for kernels, the same for the
 * program. */
#include "sm/sm.h"
#include "sm/sm_int.h"
#include "heap/heap_device.h"
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
        struct gtl_ipc_handle handle;
        struct sm_address offer;
    };
    struct sm_exchange_address pass; /* of descriptors that belong to handles */
    char id[sizeof gtl_device.id];      /* of its device; "": not told */
    uint32_t lock;              /* see xport_device_lock */
};
_Static_assert(sizeof(struct card) <= SM_DEVICE_ADDRESS, "sm.h says so");

static struct {
    char *base;                 /* of pinned memory; NULL: there is none */
    size_t size, each;
    int listen_fd;
} shared = { .listen_fd = -1 };
/* Goes with this PE's handle, until it is passed. */
static int lent_fd = -1;
/* The latest piece of so many PEs is here. */
static int borrowed;

static struct card *card_of(int local, void *card)
{
    return (struct card *)xport_ptr(rt_job.local_pes[local], card,
                                     sizeof(struct card));
}

void sm_device_publish_id(void *card)
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
int sm_device_count_users(void *card)
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
    r->map[HEAP_DEVICE] = heap_device_host_access ? at : 0;
    r->amo[HEAP_DEVICE] = amo ? r->map[HEAP_DEVICE] : 0;
}

/* It has been passed, or will not be. */
static void drop_lent(void)
{
    if (lent_fd >= 0)
        close(lent_fd);
    lent_fd = -1;
}

int sm_device_export(void *card)
{
    struct card *mine = card_of(rt_job.local, card);
    int rc;

    drop_lent();
    borrowed = 0;
    sm_device_publish_id(card);
    rc = heap_device_export(&mine->handle, &lent_fd);
    mine->pass.passes = !rc && lent_fd >= 0;
    return rc || gtl_device.why_fixed ? rc : sm_exchange_open(&mine->pass);
}

static void give_back(int local)
{
    struct xport_route *r = &xport_routes[rt_job.local_pes[local]];

    if (local != rt_job.local && r->device && !shared.base)
        gtl->ipc_close((void *)r->device);
    r->device = r->map[HEAP_DEVICE] = r->amo[HEAP_DEVICE] = 0;
}

static const struct sm_exchange_address *pass_card(int local, void *card)
{
    return &card_of(local, card)->pass;
}

static int borrow_from(int local, const struct gtl_ipc_handle *h, int fd)
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

/* Does any PE of the node pass a descriptor? */
static bool any_passes(void *card)
{
    bool any = false;

    for (int i = 0; i < rt_job.n_local; i++)
        any |= card_of(i, card)->pass.passes;
    return any;
}

/* *n: of so many PEs of the node. */
static int borrow_all(void *card, int *n)
{
    const int *fds = NULL;
    int rc = 0;

    if (any_passes(card))
        fds = sm_exchange_all(pass_card, card, lent_fd);
    drop_lent();
    for (*n = 0; *n < rt_job.n_local && !rc; *n += !rc)
        rc = borrow_from(*n, &card_of(*n, card)->handle, fds ? fds[*n] : -1);
    return rc;
}

int sm_device_open_peers(void *card)
{
    bool atomic = true;
    int n, rc = borrow_all(card, &n);

    if (rc) {
        sm_device_close_peers();
        return rc;
    }
    for (int i = 0; i < rt_job.n_local && !gtl_device.host_access; i++)
        atomic = atomic && (i == rt_job.local ||
                            gtl->peer_atomic(&card_of(i, card)->handle));
    return !atomic;
}

int sm_device_open_growth(void *card)
{
    return borrow_all(card, &borrowed);
}

void sm_device_close_growth(void)
{
    drop_lent();
    for (int i = 0; i < borrowed; i++)
        if (i != rt_job.local)
            gtl->shrink((void *)xport_routes[rt_job.local_pes[i]].device);
    borrowed = 0;
}

void sm_device_use_lock(void *card)
{
    xport_device_lock = &((struct card *)card)->lock;
}

int sm_device_pinned_listen(void *card)
{
    sm_device_close_peers();
    if (rt_job.local)
        return 0;
    /* Its plan stays empty: only memory is given. */
    card_of(0, card)->offer = (struct sm_address){ .name = "" };
    return sm_socket_listen(&card_of(0, card)->offer, &shared.listen_fd);
}

static int fetch(void *card, size_t size, int *fd)
{
    struct sm_address offer = card_of(0, card)->offer;
    int rc;

    if (rt_job.local)
        return sm_socket_join(&offer, fd);
    rc = sm_memfd_make(size, 0, fd);
    if (rc) {
        close(shared.listen_fd);
        return rc;
    }
    rc = sm_socket_serve(shared.listen_fd, &offer, *fd);
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

int sm_device_pinned_map(void *card, size_t size)
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

void sm_device_close_peers(void)
{
    for (int i = 0; i < rt_job.n_local; i++)
        give_back(i);
}

void sm_device_close(void)
{
    xport_device_lock = NULL;
    drop_lent();
    sm_exchange_close();
    if (!shared.base)
        return;
    gtl->unpin(shared.base);
    munmap(shared.base, shared.size);
    shared.base = NULL;
}

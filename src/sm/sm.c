/* SPDX-License-Identifier: BSD-3-Clause */
#include "sm/sm.h"
#include "sm/sm_int.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "rt/rt.h"
#include "xport/xport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char *base;
    size_t size;
} node;

/* Sealed: no PE can cut memory away under another (SIGBUS). */
int sm_memfd_make(size_t size, int *out)
{
    int fd, rc;

    fd = fault_hit(FAULT_SM_MEMFD)
             ? (errno = ENOMEM, -1)
             : memfd_create("sluice", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        rc = -errno;
        log_error(ERR_NODE, "memfd_create: %m");
        return rc;
    }
    if (fchmod(fd, S_IRUSR | S_IWUSR) || ftruncate(fd, (off_t)size) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        rc = -errno;
        log_error(ERR_NODE, "node memory of %zu bytes: %m", size);
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

/* What came over the socket must be what the plan says, or a stray access
 * would end in SIGBUS much later. */
int sm_memfd_check(int fd, size_t size)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (fstat(fd, &st) || (size_t)st.st_size < size || seals < 0 ||
        !(seals & F_SEAL_SHRINK)) {
        log_error(ERR_NODE, "node memory from PE %d is not the sealed file of "
                  "%zu bytes that was announced", rt_job.local_pes[0], size);
        return -EPROTO;
    }
    return 0;
}

/* This PE's own slot at a multiple of its alignment, which those of its peers
 * need not have: then slots lie close together, and offsets in the slot are
 * aligned as this PE's addresses are. */
static int map_node(int fd, size_t size, const struct heap_plan *plan)
{
    void *p = fault_hit(FAULT_SM_MAP)
              ? (errno = ENOMEM, MAP_FAILED)
              : mem_map_aligned(fd, size, heap_plan_align(plan),
                                (size_t)rt_job.local * plan->slot_size);
    int rc;

    if (p == MAP_FAILED) {
        rc = -errno;
        log_error(ERR_NODE, "mapping %zu bytes of node memory (%d slots): %m; "
                  "is an address-space limit set (ulimit -v)?", size,
                  rt_job.n_local);
        return rc;
    }
    node.base = p;
    node.size = size;
    return 0;
}

static void fill_routes(const struct heap_plan *plan)
{
    struct xport_route *r;
    uintptr_t slot;

    for (int i = 0; i < rt_job.n_local; i++) {
        slot = (uintptr_t)node.base + (size_t)i * plan->slot_size;
        r = &xport_routes[rt_job.local_pes[i]];
        r->map[HEAP_HOST] = slot;
        r->map[HEAP_DATA] = plan->data_size ? slot + plan->host_size : 0;
        memcpy(r->amo, r->map, sizeof r->amo);
    }
}

/* A core file needs this PE's memory, not that of all its neighbours. */
static void keep_peers_out_of_core(size_t slot_size)
{
    size_t before = (size_t)rt_job.local * slot_size;
    size_t after = before + slot_size;

    if (before)
        madvise(node.base, before, MADV_DONTDUMP);
    if (after < node.size)
        madvise(node.base + after, node.size - after, MADV_DONTDUMP);
}

/* After the fence. */
static int compare_sizes(const struct sm_card *card)
{
    struct sm_card first = *card;
    int rc = 0;

    if (rt_job.local_pes[0])
        rc = rt_get(0, "node", &first, sizeof first);
    return rc ? rc : heap_plan_agree(&card->plan, &first.plan);
}

/* Of the leader: the plan, before it is published. */
static int make_plan(struct sm_card *card)
{
    /* Nodes that share a machine share its memory. */
    return heap_plan_make(rt_job.one_machine ? rt_job.n_pes : rt_job.n_local,
                          &card->plan);
}

/* The launcher passes the memory on: no socket of ours can be reached. */
static int agree_by_launcher(struct sm_card *card, int *out_fd)
{
    bool leads = rt_job.local == 0;
    int rc = leads ? make_plan(card) : 0;

    if (!rc && leads)
        rc = rt_put("node", card, sizeof *card);
    if (!rc)
        rc = rt_fence();
    if (!rc && !leads)
        rc = rt_get(rt_job.local_pes[0], "node", card, sizeof *card);
    if (!rc)
        rc = compare_sizes(card);
    if (!rc && leads)
        rc = sm_memfd_make((size_t)rt_job.n_local * card->plan.slot_size,
                           out_fd);
    if (rc)
        return rc;
    rc = leads ? sm_share_serve(card, *out_fd) : sm_share_join(card, out_fd);
    if (rc && *out_fd >= 0)
        close(*out_fd);
    return rc;
}

/* The plan and the memory behind it, agreed on by all PEs of the node. */
static int agree(struct sm_card *card, int *out_fd)
{
    size_t n = (size_t)rt_job.n_local;
    int listen_fd = -1, rc;

    if (rt_job.local) {
        rc = rt_fence();
        if (!rc)
            rc = rt_get(rt_job.local_pes[0], "node", card, sizeof *card);
        if (!rc)
            rc = compare_sizes(card);
        return rc ? rc : sm_meet_join(card, out_fd);
    }
    rc = make_plan(card);
    if (!rc && n > 1)
        rc = sm_meet_listen(card, &listen_fd);
    if (!rc)
        rc = rt_put("node", card, sizeof *card);
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = compare_sizes(card);
    if (!rc)
        rc = sm_memfd_make(n * card->plan.slot_size, out_fd);
    if (rc || n == 1) {
        if (listen_fd >= 0)
            close(listen_fd);
        return rc;
    }
    rc = sm_meet_serve(listen_fd, card, *out_fd);
    if (rc)
        close(*out_fd);
    return rc;
}

int sm_open(void)
{
    size_t slot_off, size;
    struct sm_card card;
    int fd = -1, rc;

    memset(&card, 0, sizeof card);
    rc = rt_shares() ? agree_by_launcher(&card, &fd) : agree(&card, &fd);
    if (rc)
        return rc;
    size = (size_t)rt_job.n_local * card.plan.slot_size;
    slot_off = (size_t)rt_job.local * card.plan.slot_size;
    rc = sm_memfd_check(fd, size);
    if (!rc)
        rc = map_node(fd, size, &card.plan);
    if (rc)
        goto close_fd;
    rc = heap_open(&card.plan, fd, (off_t)slot_off, node.base + slot_off);
    if (rc)
        goto unmap;
    fill_routes(&card.plan);
    keep_peers_out_of_core(card.plan.slot_size);
    return 0;
unmap:
    munmap(node.base, node.size);
    node.base = NULL;
close_fd:
    close(fd);
    return rc;
}

void sm_close(void)
{
    heap_close();
    munmap(node.base, node.size);
    node.base = NULL;
    node.size = 0;
}

/* Where its own pages cannot be had, a store there ends the child rather
 * than change what the PEs see. */
void sm_fork_child(void)
{
    void *p = mmap(node.base, node.size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, heap_file(), 0);

    if (p == MAP_FAILED)
        mprotect(node.base, node.size, PROT_READ);
}

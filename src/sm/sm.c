/* SPDX-License-Identifier: BSD-3-Clause */
/* sm.c - the memory file of a node: its leader plans and makes it, all PEs map
 * it whole, open the heap in their slot and fill the routes to each other.
 * api's init and finalize call it; it makes no device heap (sm_device.c). */
#include "sm/sm.h"
#include "sm/sm_int.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"
#include "heap/heap_pages.h"
#include "rt/rt.h"
#include "xport/xport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of the node as mapped here: so much of it for each PE. */
struct part {
    char *base;                 /* NULL: there is none */
    size_t size, each;
};
/* Static data is in the slots of host, unless they have huge pages. */
static struct part host, data;

/* As in linux/memfd.h. */
enum { HUGE_SHIFT = 26 };

static int make_file(size_t huge_page)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;

    if (fault_hit(FAULT_SM_MEMFD)) {
        errno = ENOMEM;
        return -1;
    }
    if (huge_page)
        flags |= MFD_HUGETLB |
                 (unsigned)__builtin_ctzl(huge_page) << HUGE_SHIFT;
    return fd_keep(memfd_create("sluice", flags));
}

/* A mapping sets huge pages apart for the file, which keeps them: no touch of
 * them later ends in SIGBUS. */
static int reserve_huge(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -ENOMEM;
    munmap(p, size);
    return 0;
}

/* Sealed: no PE can cut memory away under another (SIGBUS). */
int sm_memfd_make(size_t size, size_t huge_page, int *out)
{
    int fd = make_file(huge_page), rc;

    if (fd < 0) {
        rc = huge_page ? -ENOMEM : -errno;
        if (!huge_page)
            log_error(ERR_NODE, "memfd_create: %m");
        return rc;
    }
    if (fchmod(fd, S_IRUSR | S_IWUSR) || ftruncate(fd, (off_t)size) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        rc = -errno;
        log_error(ERR_NODE, "node memory of %zu bytes: %m", size);
    } else {
        rc = huge_page ? reserve_huge(fd, size) : 0;
    }
    if (rc)
        close(fd);
    else
        *out = fd;
    return rc;
}

/* The file from the socket must be as the plan says, or a stray access would
 * end in SIGBUS much later. */
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

/* This PE's own slot at a multiple of align, which those of its peers need not
 * have: then slots lie close together, and offsets in the slot are aligned as
 * this PE's addresses are. */
static int map_part(int fd, size_t each, size_t align, struct part *out)
{
    size_t size = each * (size_t)rt_job.n_local;
    int rc = sm_memfd_check(fd, size);
    void *p;

    if (rc)
        return rc;
    p = fault_hit(FAULT_SM_MAP)
        ? (errno = ENOMEM, MAP_FAILED)
        : mem_map_aligned(fd, size, align, (size_t)rt_job.local * each);
    if (p == MAP_FAILED) {
        rc = -errno;
        log_error(ERR_NODE, "mapping %zu bytes of node memory (%d slots): %m; "
                  "is an address-space limit set (ulimit -v)?", size,
                  rt_job.n_local);
        return rc;
    }
    *out = (struct part){ p, size, each };
    return 0;
}

static void unmap_part(struct part *p)
{
    if (p->base)
        munmap(p->base, p->size);
    *p = (struct part){ NULL, 0, 0 };
}

/* Of that PE of the node. */
static char *host_of(int local)
{
    return host.base + (size_t)local * host.each;
}

static char *data_of(const struct heap_plan *plan, int local)
{
    return !plan->data_size ? NULL
           : data.base ? data.base + (size_t)local * data.each
                       : host_of(local) + plan->host_size;
}

static void fill_routes(const struct heap_plan *plan)
{
    struct xport_route *r;

    for (int i = 0; i < rt_job.n_local; i++) {
        r = &xport_routes[rt_job.local_pes[i]];
        r->map[HEAP_HOST] = (uintptr_t)host_of(i);
        r->map[HEAP_DATA] = (uintptr_t)data_of(plan, i);
        memcpy(r->amo, r->map, sizeof r->amo);
    }
}

/* A core file needs this PE's memory, not that of all its neighbours. */
static void keep_peers_out_of_core(const struct part *p)
{
    size_t before = (size_t)rt_job.local * p->each;
    size_t after = before + p->each;

    if (before)
        madvise(p->base, before, MADV_DONTDUMP);
    if (after < p->size)
        madvise(p->base + after, p->size - after, MADV_DONTDUMP);
}

/* Its node reads the leader's address, and all nodes PE 0's plan. */
static int publish(const struct sm_address *address)
{
    int rc = 0;

    if (rt_job.n_local > 1)
        rc = rt_put_on_node("node", address, sizeof *address);
    if (!rc && rt_job.pe == 0 && rt_job.n_local < rt_job.n_pes)
        rc = rt_put("plan", &address->plan, sizeof address->plan);
    return rc;
}

/* After the fence. */
static int compare_sizes(const struct sm_address *address)
{
    struct heap_plan first = address->plan;
    int rc = 0;

    if (rt_job.local_pes[0])
        rc = rt_get(0, "plan", &first, sizeof first);
    return rc ? rc : heap_plan_compare(&address->plan, &first);
}

/* Nodes that share a machine share its memory. */
static int n_sharing(void)
{
    return rt_job.one_machine ? rt_job.n_pes : rt_job.n_local;
}

/* The available memory shrinks while the nodes start, and all are to choose the
 * same size: PE 0 reads it for them.  0: each node reads its own. */
static int read_available(size_t *available)
{
    struct mem_bound m;
    int rc = 0;

    *available = 0;
    if (!rt_job.one_machine || rt_job.n_local == rt_job.n_pes)
        return 0;
    if (rt_job.pe == 0) {
        mem_available("", &m);
        *available = m.bytes;
        rc = rt_put("memory", available, sizeof *available);
    }
    if (!rc)
        rc = rt_fence();
    if (!rc && rt_job.local == 0 && rt_job.pe)
        rc = rt_get(0, "memory", available, sizeof *available);
    return rc;
}

/* Reserved pages before the plan goes out, for others may take them first. */
static int make_host_file(struct heap_plan *plan, int *out)
{
    size_t n = (size_t)rt_job.n_local;
    int rc = -ENOMEM;

    if (plan->huge_page)
        rc = sm_memfd_make(n * plan->slot_size, plan->huge_page, out);
    if (!rc)
        return 0;
    if (plan->huge_page) {
        log_warn(ERR_HEAP,
                 "SHMEM_HUGEPAGES: the heaps' %zu bytes in huge pages "
                 "were taken by others meanwhile: the usual ones serve in "
                 "their place",
                 n * plan->slot_size);
        rc = heap_plan_without_huge(n_sharing(), plan);
        if (rc)
            return rc;
    }
    return sm_memfd_make(n * plan->slot_size, 0, out);
}

/* The others connect once for each file; a second time when they have the
 * first one. */
static int distribute_to_members(int listen_fd, struct sm_address *address,
                         const int fds[2])
{
    int again = sm_two_files(&address->plan)
                ? fcntl(listen_fd, F_DUPFD_CLOEXEC, 3) : -1;
    int rc = sm_socket_distribute(listen_fd, address, fds[0]);

    if (!rc && sm_two_files(&address->plan))
        return again < 0 ? -EMFILE
                         : sm_socket_distribute(again, address, fds[1]);
    if (again >= 0)
        close(again);
    return rc;
}

static int run_member(struct sm_address *address, int fds[2])
{
    int rc = rt_fence();

    if (!rc)
        rc = rt_get(rt_job.local_pes[0], "node", address, sizeof *address);
    if (!rc)
        rc = compare_sizes(address);
    if (!rc && rt_shares())
        return sm_launcher_join(address, fds);
    if (!rc)
        rc = sm_socket_join(address, &fds[0]);
    if (!rc && sm_two_files(&address->plan))
        rc = sm_socket_join(address, &fds[1]);
    return rc;
}

/* The plan and the memory behind it, agreed on by all PEs of the node. */
static int run_leader(size_t available, struct sm_address *address, int fds[2])
{
    size_t n = (size_t)rt_job.n_local;
    int listen_fd = -1, rc;

    rc = heap_plan_make(n_sharing(), available, &address->plan);
    if (!rc)
        rc = make_host_file(&address->plan, &fds[0]);
    if (!rc && sm_two_files(&address->plan))
        rc = sm_memfd_make(n * address->plan.data_size, 0, &fds[1]);
    if (!rc && n > 1 && !rt_shares())
        rc = sm_socket_listen(address, &listen_fd);
    if (!rc)
        rc = publish(address);
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = compare_sizes(address);
    /* The launcher passes the memory on: no socket of ours can be reached. */
    if (!rc && rt_shares())
        return sm_launcher_distribute(address, fds);
    if (!rc && n > 1)
        return distribute_to_members(listen_fd, address, fds);
    if (listen_fd >= 0)
        close(listen_fd);
    return rc;
}

static int map_files(const struct heap_plan *plan, const int fds[2])
{
    int rc = map_part(fds[0], plan->slot_size, heap_plan_align(plan), &host);

    if (!rc && sm_two_files(plan))
        rc = map_part(fds[1], plan->data_size, HEAP_ALIGN, &data);
    if (rc)
        return rc;
    if (data.base)
        heap_pages_place(data.base, data.size,
                         data_of(plan, rt_job.local), data.each, 0);
    heap_pages_place(host.base, host.size, host_of(rt_job.local), host.each,
                     plan->huge_page);
    return 0;
}

static int open_heap(const struct heap_plan *plan, const int fds[2])
{
    size_t k = (size_t)rt_job.local;
    struct heap_mapping h = { fds[0], (off_t)(k * host.each),
                            host_of(rt_job.local) };
    struct heap_mapping d = { fds[0], h.at + (off_t)plan->host_size,
                            data_of(plan, rt_job.local) };

    if (data.base) {
        d.fd = fds[1];
        d.at = (off_t)(k * data.each);
    }
    return heap_open(plan, &h, &d);
}

static void close_file(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int sm_open(void)
{
    int fds[2] = { -1, -1 }, rc;
    struct sm_address address;
    size_t available;

    memset(&address, 0, sizeof address);
    heap_hooks = (struct heap_hooks){
        .copy = gtl_copy_now, .fill = gtl_fill_now, .abort = rt_abort,
        .leave = rt_leave
    };
    rc = read_available(&available);
    if (!rc)
        rc = rt_job.local ? run_member(&address, fds)
                          : run_leader(available, &address, fds);
    /* It was made before the programs were found to differ. */
    if (!rc && !sm_two_files(&address.plan))
        close_file(&fds[1]);
    if (!rc)
        rc = map_files(&address.plan, fds);
    if (!rc)
        rc = open_heap(&address.plan, fds);
    if (rc) {
        unmap_part(&host);
        unmap_part(&data);
        for (int i = 0; i < 2; i++)
            close_file(&fds[i]);
        return rc;
    }
    fill_routes(&address.plan);
    keep_peers_out_of_core(&host);
    if (data.base)
        keep_peers_out_of_core(&data);
    return 0;
}

void sm_close(void)
{
    heap_close();
    unmap_part(&host);
    unmap_part(&data);
}

/* Where its own pages cannot be had, a store there ends the child rather
 * than change what the PEs see. */
static void make_private(const struct part *p, int fd)
{
    void *at = mmap(p->base, p->size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0);

    if (at == MAP_FAILED)
        mprotect(p->base, p->size, PROT_READ);
}

void sm_fork_child(void)
{
    make_private(&host, heap_file(HEAP_HOST));
    if (data.base)
        make_private(&data, heap_file(HEAP_DATA));
}

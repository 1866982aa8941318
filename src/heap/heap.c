/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - the plan of a node's slots, its checks against the machine, and the
 * opening and closing of this PE's slot.  sm calls it, on one thread, before
 * and after it maps the memory; it maps nothing itself. */
#include "heap/heap.h"
#include "heap/heap_int.h"
#include "heap/heap_pages.h"
#include "base/atomics.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One block of 1 GiB, which benchmarks of sorting take, and others beside it:
 * pages cost nothing until they are touched. */
#define DEFAULT_SIZE (((size_t)1 << 30) + ((size_t)16 << 20))
#define LEAST_DEFAULT ((size_t)1 << 20)
/* The pool of the library beside the heap of the program: a share of it. */
#define POOL_LEAST ((size_t)256 << 10)
#define POOL_MOST ((size_t)64 << 20)
enum { POOL_SHARE = 16 };
/* The share of free memory that heaps of unset size may take together. */
enum { DEFAULT_PERCENT = 60 };

static size_t reserved_used;
static struct fd_file files[2] = { { .fd = -1 }, { .fd = -1 } };
_Static_assert(HEAP_HOST < 2 && HEAP_DATA < 2, "indices of files");

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Sizes from user_size, which is below 2^63, and data_size. */
static void compute_layout(struct heap_plan *p)
{
    size_t unit = page_size();

    p->pool_size = p->user_size / POOL_SHARE;
    if (p->pool_size < POOL_LEAST)
        p->pool_size = POOL_LEAST;
    if (p->pool_size > POOL_MOST)
        p->pool_size = POOL_MOST;
    p->pool_size = heap_round_up(p->pool_size, unit);
    p->host_size = heap_round_up(p->user_size, unit) + HEAP_RESERVED +
                   p->pool_size;
    /* Also where this node cannot have them: all nodes' are of one size. */
    if (p->huge_requested)
        p->host_size = heap_round_up(p->host_size, p->huge_requested);
    p->slot_size = p->huge_page
                   ? p->host_size
                   : heap_round_up(p->host_size + p->data_size, HEAP_ALIGN);
}

static void use_small_pages(struct heap_plan *p)
{
    p->huge_page = 0;
    compute_layout(p);
}

/* Reserved ones if that many are left. */
static void choose_pages(int n_pes, struct heap_plan *p)
{
    struct mem_bound m;
    char need[24], has[24], each[24];

    p->huge_page = p->huge_requested = heap_pages_requested();
    compute_layout(p);
    if (!p->huge_page)
        return;
    mem_available_huge("", p->huge_page, &m);
    if (p->slot_size <= m.bytes / (size_t)n_pes)
        return;
    log_warn(ERR_HEAP, "SHMEM_HUGEPAGES: the heaps take %s in pages of %s, but "
             "only %s are free (%s): reserve more (vm.nr_hugepages) or set a "
             "smaller SHMEM_SYMMETRIC_SIZE; the usual ones serve in their "
              "place",
             log_size(need, (double)p->slot_size * n_pes),
             log_size(each, (double)p->huge_page),
             log_size(has, (double)m.bytes), m.limit);
    use_small_pages(p);
}

static void choose_default(int n_pes, size_t available, struct heap_plan *p)
{
    size_t share = available / 100 * DEFAULT_PERCENT / (size_t)n_pes;

    share -= p->data_size < share ? p->data_size : share;
    p->user_size = DEFAULT_SIZE;
    /* A power of two: nodes with a little more or less memory free choose the
     * same, as all must. */
    if (share < p->user_size)
        p->user_size = share < LEAST_DEFAULT ? LEAST_DEFAULT
                                             : mem_power_below(share);
}

/* A write past RLIMIT_FSIZE would be a signal, not an error. */
static int check_file_limit(size_t total)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY ||
        total <= l.rlim_cur)
        return 0;
    log_error(ERR_LIMIT, "node memory of %zu bytes exceeds the file size limit "
              "of %llu: raise it (ulimit -f)", total,
              (unsigned long long)l.rlim_cur);
    return -EFBIG;
}

static int check_memory(int n_pes, const struct mem_bound *m,
                        const struct heap_plan *p)
{
    size_t touched = p->data_size + (p->huge_page ? 0 : p->host_size), total;
    char one[24], all[24], free_now[24];

    if (!__builtin_mul_overflow((size_t)n_pes, p->slot_size, &total) &&
        touched <= m->bytes / (size_t)n_pes)
        return check_file_limit(total);
    log_size(one, (double)p->user_size);
    log_size(all, (double)touched * n_pes);
    log_size(free_now, (double)m->bytes);
    log_error(ERR_HEAP, "symmetric heaps of %s for %d PE%s take %s with static "
              "data, but %s allows %s: set a smaller SHMEM_SYMMETRIC_SIZE",
              one, n_pes, n_pes == 1 ? "" : "s", all, m->limit, free_now);
    return -ENOMEM;
}

static void check_available(struct mem_bound *out)
{
    mem_available("", out);
    if (fault_hit(FAULT_HEAP_COMMIT))
        out->bytes = 0;
}

int heap_plan_make(int n_pes, size_t available, struct heap_plan *out)
{
    struct heap_plan p = { 0 };
    struct heap_static d;
    struct mem_bound m;
    int rc;

    heap_static_find(&d);
    p.data_size = d.size;
    p.data_hash = d.hash;
    check_available(&m);
    if (heap_env_size(HEAP_HOST, &p.user_size))
        p.requested_size = p.user_size;
    else
        choose_default(n_pes, available ? available : m.bytes, &p);
    choose_pages(n_pes, &p);
    rc = check_memory(n_pes, &m, &p);
    if (!rc)
        *out = p;
    return rc;
}

int heap_plan_without_huge(int n_pes, struct heap_plan *plan)
{
    struct heap_plan p = *plan;
    struct mem_bound m;
    int rc;

    use_small_pages(&p);
    check_available(&m);
    rc = check_memory(n_pes, &m, &p);
    if (!rc)
        *plan = p;
    return rc;
}

size_t heap_plan_align(const struct heap_plan *plan)
{
    size_t align = mem_power_below(plan->host_size);

    /* That of huge pages is a power of two, and no larger than the heap. */
    return align < HEAP_ALIGN ? HEAP_ALIGN : align;
}

bool heap_plan_matches(const struct heap_plan *plan)
{
    struct heap_static d;

    heap_static_find(&d);
    return !plan->slot_size ||
           (d.size == plan->data_size && d.hash == plan->data_hash);
}

/* "64 MiB", "unset (512 MiB)", or "unset" if size is 0; to the byte where two
 * sizes would else look alike. */
static void report_size(bool set, size_t size, bool exact, char out[48])
{
    char text[32];

    if (exact)
        snprintf(text, sizeof text, "%zu bytes", size);
    else
        log_size(text, (double)size);
    snprintf(out, 48, set ? "%s" : size ? "unset (%s)" : "unset", text);
}

/* Without the number of this PE: oshrun can merge the line with those of other
 * PEs that were asked for as much. */
static int refuse_size(size_t requested, size_t size,
                       const struct heap_plan *first)
{
    char mine[48], its[48];
    bool exact;

    log_size(mine, (double)size);
    exact = !strcmp(mine, log_size(its, (double)first->user_size));
    report_size(requested, size, exact, mine);
    report_size(first->requested_size, first->user_size, exact, its);
    log_error(ERR_HEAP, "SHMEM_SYMMETRIC_SIZE is %s here and %s on PE 0: give "
              "all PEs the same (mpirun passes it on with -x)", mine, its);
    return -EINVAL;
}

int heap_plan_compare(const struct heap_plan *plan,
                      const struct heap_plan *first)
{
    size_t requested = 0, size;

    if (plan->huge_requested != first->huge_requested ||
        heap_pages_requested() != first->huge_requested) {
        log_error(ERR_ENV, "SHMEM_HUGEPAGES is not the same here and on PE 0: "
                  "give it to all PEs (mpirun passes it on with -x)");
        return -EINVAL;
    }
    /* By their size alone two builds look alike. */
    if (plan->data_size && first->data_size &&
        plan->data_hash != first->data_hash) {
        log_error(ERR_DATA, "this node runs another program, or another build "
                  "of it, than PE 0, so that static data is not symmetric: run "
                  "the same program everywhere, or set SHMEM_STATIC_DATA=0");
        return -EINVAL;
    }
    heap_env_size(HEAP_HOST, &requested);
    size = requested;
    if (!requested && !plan->requested_size)
        size = plan->user_size;
    heap_agreed_size[HEAP_HOST] = first->host_size;
    heap_agreed_size[HEAP_DATA] = first->data_size;
    /* The node's leader, whose environment asks for a size, has compared for
     * members that ask for none. */
    if (size ? size == first->user_size : !first->requested_size)
        return 0;
    return refuse_size(requested,
                       requested || !first->requested_size ? size : 0, first);
}

/* The slot keeps its size: the memory behind it is already made. */
void heap_plan_without_data(struct heap_plan *plan)
{
    plan->data_size = 0;
}

int heap_file(int seg)
{
    return fd_of(&files[seg]);
}

int heap_open(const struct heap_plan *plan, const struct heap_mapping *host,
              const struct heap_mapping *data)
{
    size_t blocks = HEAP_RESERVED + plan->pool_size;
    struct heap_static d = { 0 };
    int rc;

    reserved_used = 0;
    /* The rest of the last huge page behind it is not used. */
    rc = heap_space_open(&heap_default, blocks,
                         blocks + heap_round_up(plan->user_size, page_size()),
                         heap_plan_align(plan));
    if (rc)
        return rc;
    rc = heap_pool_open(HEAP_RESERVED, blocks);
    if (!rc && plan->data_size) {
        heap_static_find(&d);
        rc = heap_static_share(&d, data->fd, data->at, data->mapped);
    }
    if (rc) {
        heap_pool_close();
        heap_space_close(&heap_default);
        return rc;
    }
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)host->mapped,
                                              plan->host_size };
    heap_segs[HEAP_DATA] = (struct heap_seg){ (uintptr_t)d.start,
                                              plan->data_size };
    files[HEAP_HOST] = fd_file(host->fd);
    files[HEAP_DATA] = fd_file(data->fd);
    heap_dump_open(plan->huge_page);
    log_info(LOG_HEAP, "heap of %zu bytes at %p, static data of %zu at %p",
             plan->user_size, (void *)host->mapped, plan->data_size,
             (void *)d.start);
    return 0;
}

void heap_close(void)
{
    memset(heap_segs, 0, sizeof heap_segs);
    heap_static_unshare();
    heap_pool_close();
    heap_space_close(&heap_default);
    fd_file_close(&files[HEAP_DATA]);   /* which may be the same one */
    fd_file_close(&files[HEAP_HOST]);
}

size_t heap_fixed_size(void)
{
    return HEAP_RESERVED + heap_pool_size();
}

void *heap_reserve(size_t size, size_t align)
{
    size_t at = heap_round_up(reserved_used, align);

    if (at > HEAP_RESERVED || size > HEAP_RESERVED - at)
        return NULL;
    reserved_used = at + size;
    return (void *)(heap_segs[HEAP_HOST].base + at);
}

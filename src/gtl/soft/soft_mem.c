/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_mem.c - memory of the software device: a memfd for each allocation, so
 * that other processes can map it, and a table of all memory that the device
 * knows. The sum is limited, as a GPU's memory is: pages of a memfd are
 * charged when touched, and without a limit a large allocation would end in
 * the OOM killer later. */
#include "gtl/soft/soft_int.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

/* Unless SHMEM_DEVICE_MEMORY says it: of the memory that is available. */
enum { SHARE_PERCENT = 50 };

enum range_use { OWNED, BORROWED, PINNED };

struct range {
    uintptr_t base;
    size_t size;
    enum range_use use;
    struct fd_file file;        /* of what is owned */
    uint64_t tag;
};

static struct base_lock lock = LOCK_INIT;
static struct range *ranges GUARDED_BY(lock);   /* by address */
static size_t n_ranges GUARDED_BY(lock), n_places GUARDED_BY(lock);
static size_t used GUARDED_BY(lock), cap;

/* ---- the table ---- */

/* Index of the first range that ends behind p. */
static size_t place_of(uintptr_t p) REQUIRES(lock)
{
    size_t low = 0, high = n_ranges;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (p - ranges[mid].base < ranges[mid].size ||
            p < ranges[mid].base)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static struct range *starts_at(const void *p, enum range_use use)
    REQUIRES(lock)
{
    size_t i = place_of((uintptr_t)p);

    return i < n_ranges && ranges[i].base == (uintptr_t)p &&
           ranges[i].use == use ? &ranges[i] : NULL;
}

static int insert(struct range r) REQUIRES(lock)
{
    size_t i = place_of(r.base), places = n_places ? 2 * n_places : 16;
    struct range *more;

    if (i < n_ranges && ranges[i].base - r.base < r.size)
        return -EEXIST;
    if (i < n_ranges && r.base - ranges[i].base < ranges[i].size)
        return -EEXIST;
    if (n_ranges == n_places) {
        more = realloc(ranges, places * sizeof *more);
        if (!more)
            return -ENOMEM;
        ranges = more;
        n_places = places;
    }
    memmove(ranges + i + 1, ranges + i,
            (n_ranges - i) * sizeof *ranges);
    ranges[i] = r;
    n_ranges++;
    return 0;
}

static struct range take_out(struct range *r) REQUIRES(lock)
{
    struct range was = *r;
    size_t i = (size_t)(r - ranges);

    memmove(r, r + 1, (--n_ranges - i) * sizeof *r);
    return was;
}

int gtl_soft_classify(const void *p, struct gtl_range *out)
{
    struct gtl_range found = { .kind = GTL_PRIVATE };
    size_t i;

    lock_acquire(&lock);
    i = place_of((uintptr_t)p);
    if (i < n_ranges && (uintptr_t)p >= ranges[i].base) {
        found.kind = ranges[i].use == PINNED ? GTL_PINNED : GTL_DEVICE;
        found.base = ranges[i].base;
        found.size = ranges[i].size;
    }
    lock_release(&lock);
    *out = found;
    return 0;
}

/* ---- mappings ---- */

static int map_aligned(int fd, size_t size, size_t align, void **out)
{
    void *p = mem_map_aligned(fd, size, align, 0);

    if (p == MAP_FAILED)
        return gtl_fail(-ENOMEM, "alloc: mmap", strerror(errno), errno);
    madvise(p, size, MADV_HUGEPAGE);            /* a wish, no more */
    *out = p;
    return 0;
}

/* A write past RLIMIT_FSIZE would be a signal, not an error. */
static int check_file_limit(size_t size)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY ||
        size <= l.rlim_cur)
        return 0;
    return gtl_fail(-EFBIG, "alloc", "larger than the file size limit; "
                    "raise ulimit -f", EFBIG);
}

static int make_file(size_t size, uint64_t *tag, struct fd_file *out)
{
    char name[32];
    int fd, rc;

    rc = check_file_limit(size);
    if (rc)
        return rc;
    if (getrandom(tag, sizeof *tag, 0) != sizeof *tag)
        return gtl_fail(-EIO, "alloc: getrandom", strerror(errno), errno);
    snprintf(name, sizeof name, "sluice-%016llx", (unsigned long long)*tag);
    fd = fd_keep(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0)
        return gtl_fail(-errno, "alloc: memfd_create", strerror(errno), errno);
    if (ftruncate(fd, (off_t)size) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        rc = gtl_fail(-errno, "alloc: memfd", strerror(errno), errno);
        close(fd);
        return rc;
    }
    *out = fd_file(fd);
    return 0;
}

/* ---- memory of its own ---- */

static int too_much(size_t size, size_t taken, const struct mem_bound *bound)
{
    char requested[24], has[24], most[24], left[24], text[320];

    log_size(requested, (double)size);
    log_size(has, (double)taken);
    log_size(most, (double)cap);
    log_size(left, (double)bound->bytes);
    if (size > cap - taken)
        snprintf(text, sizeof text, "asked for %s; used %s of %s, which "
                 "SHMEM_DEVICE_MEMORY sets", requested, has, most);
    else
        snprintf(text, sizeof text, "asked for %s; used %s of %s, but %s "
                 "allows %s", requested, has, most, bound->limit, left);
    return gtl_fail(-ENOMEM, "alloc", text, ENOMEM);
}

/* Takes them from what is left. */
static int reserve(size_t size)
{
    struct mem_bound bound;
    size_t before;
    bool fits;

    mem_available("", &bound);
    lock_acquire(&lock);
    before = used;
    fits = size <= cap - used && size <= bound.bytes;
    if (fits)
        used += size;
    lock_release(&lock);
    return fits ? 0 : too_much(size, before, &bound);
}

static void unreserve(size_t size)
{
    lock_acquire(&lock);
    used -= size;
    lock_release(&lock);
}

static int enter(struct range r)
{
    int rc;

    lock_acquire(&lock);
    rc = insert(r);
    lock_release(&lock);
    return rc ? gtl_fail(rc, "memory of the device", strerror(-rc), -rc) : 0;
}

int gtl_soft_alloc(size_t size, void **out)
{
    size_t whole = (size + GTL_SOFT_UNIT - 1) / GTL_SOFT_UNIT * GTL_SOFT_UNIT;
    struct range r = { .size = whole, .use = OWNED };
    void *p = NULL;
    int rc;

    if (!size)
        return gtl_fail(-EINVAL, "alloc", "no bytes are asked for", EINVAL);
    if (whole < size || whole > PTRDIFF_MAX)
        whole = PTRDIFF_MAX;    /* more than any cap */
    rc = reserve(whole);
    if (rc)
        return rc;
    rc = make_file(whole, &r.tag, &r.file);
    if (rc)
        goto unreserve;
    /* As much as a heap in it may want: shmem_align. */
    rc = map_aligned(r.file.fd, whole, mem_power_below(whole), &p);
    if (rc)
        goto close;
    r.base = (uintptr_t)p;
    rc = enter(r);
    if (rc)
        goto unmap;
    *out = p;
    return 0;
unmap:
    munmap(p, whole);
close:
    fd_file_close(&r.file);
unreserve:
    unreserve(whole);
    return rc;
}

static bool remove_range(const void *p, enum range_use use, struct range *out)
{
    struct range *r;

    lock_acquire(&lock);
    r = starts_at(p, use);
    if (r) {
        *out = take_out(r);
        if (use == OWNED)
            used -= out->size;
    }
    lock_release(&lock);
    return r;
}

void gtl_soft_free(void *p)
{
    struct range r;

    if (remove_range(p, OWNED, &r)) {
        munmap(p, r.size);
        fd_file_close(&r.file);
    }
}

int gtl_soft_memory_info(size_t *unused, size_t *total)
{
    struct mem_bound bound;
    size_t left;

    mem_available("", &bound);
    lock_acquire(&lock);
    left = cap - used;
    lock_release(&lock);
    *unused = left < bound.bytes ? left : bound.bytes;
    *total = cap;
    return 0;
}

int gtl_soft_mem_file(void *p, int *fd, size_t *size, uint64_t *tag)
{
    struct range *r;

    lock_acquire(&lock);
    r = starts_at(p, OWNED);
    if (r) {
        *fd = fd_of(&r->file);
        *size = r->size;
        *tag = r->tag;
    }
    lock_release(&lock);
    return r ? 0 : gtl_fail(-EINVAL, "ipc_export",
                            "this is not what alloc gave", EINVAL);
}

int gtl_soft_mem_map(int fd, size_t size, void **out)
{
    struct range r = { .size = size, .use = BORROWED };
    void *p = NULL;
    int rc;

    rc = map_aligned(fd, size, GTL_SOFT_UNIT, &p);
    if (rc)
        return rc;
    r.base = (uintptr_t)p;
    rc = enter(r);
    if (rc)
        munmap(p, size);
    else
        *out = p;
    return rc;
}

void gtl_soft_ipc_close(void *p)
{
    struct range r;

    if (remove_range(p, BORROWED, &r))
        munmap(p, r.size);
}

int gtl_soft_dmabuf(void *p, size_t size, int *fd, uint64_t *offset)
{
    (void)p;
    (void)size;
    (void)fd;
    (void)offset;
    return gtl_fail(-ENOTSUP, "dmabuf", "the software device has none",
                    ENOTSUP);
}

/* ---- the program's memory ---- */

int gtl_soft_pin(void *host, size_t size, enum gtl_pin why, void **out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct range r = {
        .base = (uintptr_t)host, .size = size, .use = PINNED
    };
    int rc;

    (void)why;
    if (!size || size % page || r.base % page || r.base + size < r.base)
        return gtl_fail(-EINVAL, "pin", "not whole pages", EINVAL);
    if (msync(host, size, MS_ASYNC))    /* does nothing but look */
        return gtl_fail(-EFAULT, "pin", "memory that is not mapped", EFAULT);
    lock_acquire(&lock);
    rc = insert(r);
    lock_release(&lock);
    if (rc)
        return gtl_fail(rc, "pin", rc == -EEXIST ? "pinned or the device's"
                                                 : "out of memory", -rc);
    *out = host;
    return 0;
}

void gtl_soft_unpin(void *host)
{
    struct range r;

    remove_range(host, PINNED, &r);
}

/* ---- the device as a whole ---- */

void gtl_soft_mem_open(struct gtl_device *d)
{
    struct mem_bound bound;

    mem_available("", &bound);
    cap = env.DEVICE_MEMORY ? env.DEVICE_MEMORY
                                : bound.bytes / 100 * SHARE_PERCENT;
    if (cap > PTRDIFF_MAX - GTL_SOFT_UNIT)
        cap = PTRDIFF_MAX - GTL_SOFT_UNIT;
    d->memory = cap;
}

void gtl_soft_mem_close(void)
{
    lock_acquire(&lock);
    for (size_t i = 0; i < n_ranges; i++) {
        struct range *r = &ranges[i];

        if (r->use != PINNED)
            munmap((void *)r->base, r->size);
        if (r->use == OWNED)
            fd_file_close(&r->file);
    }
    free(ranges);
    ranges = NULL;
    n_ranges = n_places = used = 0;
    lock_release(&lock);
}

void gtl_soft_mem_fork(enum gtl_soft_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == SOFT_FORK_BEFORE)
        lock_acquire(&lock);
    else
        lock_release(&lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_static.c - static data of the main program, made symmetric. heap.c
 * calls it when the heap opens and closes.
 *
 * The pages of .data and .bss are replaced by pages of the node's memory with
 * the same content. Each replacement is one mmap, so another thread sees the
 * old or the new page, never none; but a store between the copy and the
 * replacement is lost: shmem_init comes before threads that change static
 * data. Read-only-after-relocation pages stay as they are, and so does the
 * data of shared objects, which is not symmetric.
 *
 * fork: the child must not share these pages with its parent. The library's
 * handlers are registered by a constructor, before any of the program:
 * handlers run in reverse order before a fork and in order after it, so the
 * library's are the last before and the first after, and the program's see
 * consistent data. The C library's own stores in the child come before that;
 * linked with -static, its data is among these pages and the parent's would
 * change. */
#include "heap/heap_int.h"
#include "base/dl.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void (*heap_fork_child)(void);
uintptr_t heap_program;

/* The static data that are shared now; size 0: none. */
static struct {
    char *start;
    size_t size;
    off_t at;                   /* in the file of the slot */
} shared;
/* From before a fork until after it.  Linked from libshmem.a, a variable would
 * be static data itself, which parent and child share until the child has put
 * the snapshot in place; the memory of a thread is copied by the fork. */
static _Thread_local void *snapshot;

static uintptr_t page_down(uintptr_t a)
{
    return a & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n--)                 /* FNV-1a */
        h = (h ^ *p++) * 0x100000001b3u;
    return h;
}

/* The linker's fingerprint of the program, where it wrote one. */
static uint64_t mix_build_id(uint64_t h, const struct dl_phdr_info *info,
                             const ElfW(Phdr) *ph)
{
    const char *p = (const char *)(info->dlpi_addr + ph->p_vaddr);
    const char *end = p + ph->p_memsz;
    const ElfW(Nhdr) *n;
    size_t name, desc;

    while (end - p >= (ptrdiff_t)sizeof *n) {
        n = (const ElfW(Nhdr) *)(const void *)p;
        p += sizeof *n;
        name = heap_round_up(n->n_namesz, 4);
        desc = heap_round_up(n->n_descsz, 4);
        if ((size_t)(end - p) < name + desc)
            break;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
            !memcmp(p, "GNU", 4))
            h = mix(h, p + name, n->n_descsz);
        p += name + desc;
    }
    return h;
}

/* Writable pages of one segment, without those that turn read-only. */
static void consider_range(const struct dl_phdr_info *info,
                           const ElfW(Phdr) *ph,
                     uintptr_t relro_end, struct heap_static *d)
{
    uintptr_t from = page_down(info->dlpi_addr + ph->p_vaddr);
    uintptr_t to = page_down(info->dlpi_addr + ph->p_vaddr + ph->p_memsz +
                             (uintptr_t)sysconf(_SC_PAGESIZE) - 1);

    /* The loader protects whole pages only: up to the page of the end. */
    if (relro_end > from)
        from = page_down(relro_end);
    if (from < to && to - from > d->size) {
        d->start = (char *)from;
        d->size = to - from;
    }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct heap_static *d = arg;
    uintptr_t relro_end = 0, offset;
    uint64_t h = 0xcbf29ce484222325u;
    const ElfW(Phdr) *ph;

    (void)size;
    heap_program = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_GNU_RELRO)
            relro_end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
        if (ph->p_type == PT_NOTE)
            h = mix_build_id(h, info, ph);
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD && ph->p_flags & PF_W)
            consider_range(info, ph, relro_end, d);
    }
    offset = (uintptr_t)d->start - info->dlpi_addr;
    h = mix(h, &offset, sizeof offset);
    d->hash = mix(h, &d->size, sizeof d->size);
    return 1;                   /* the first object is the main program */
}

void heap_static_find(struct heap_static *out)
{
    struct heap_static d = { 0 };

    if (env.STATIC_DATA)
        dl_iterate_phdr(visit_object, &d);
    *out = d;
}

bool heap_static_is_private(const void *ptr)
{
    struct heap_static d = { 0 };

    if (heap_segs[HEAP_DATA].size)
        return false;
    dl_iterate_phdr(visit_object, &d);
    return (uintptr_t)ptr - (uintptr_t)d.start < d.size;
}

/* To pages that hold zeros: zeros are not copied, so that a large .bss takes
 * memory only where the program has used it.  The gaps between
 * variables, which a sanitizer guards, are copied too. */
__attribute__((no_sanitize("address", "thread")))
static void copy_image(void *to, const void *from, size_t size)
{
    const volatile uint64_t *f = from;
    volatile uint64_t *t = to;
    uint64_t word;

    for (size_t i = 0; i < size / sizeof word; i++) {
        word = f[i];
        if (word)
            t[i] = word;
    }
}

int heap_static_share(const struct heap_static *d, int fd, off_t off,
                      char *view)
{
    void *p = MAP_FAILED;
    int rc;

    if (fault_hit(FAULT_HEAP_DATA)) {
        errno = ENOMEM;
    } else {
        /* Between the two this thread writes no static data: linked from
         * libshmem.a, the library's own variables are among it. */
        copy_image(view, d->start, d->size);
        p = mmap(d->start, d->size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, off);
    }
    if (p == MAP_FAILED) {
        rc = -errno;
        log_error(ERR_DATA, "remapping %zu bytes of static data: %m; "
                  "SHMEM_STATIC_DATA=0 leaves it private", d->size);
        return rc;
    }
    shared.start = d->start;
    shared.size = d->size;
    shared.at = off;
    return 0;
}

/* Reading a page of the file makes it: only those that were written count. */
static void copy_written(char *to)
{
    size_t from = 0, end;
    int fd = heap_file(HEAP_DATA);
    off_t at;

    while (from < shared.size) {
        end = shared.size;
        at = lseek(fd, shared.at + (off_t)from, SEEK_DATA);
        if (at >= shared.at + (off_t)end || (at < 0 && errno == ENXIO))
            return;
        if (at >= 0) {
            from = (size_t)(at - shared.at);
            at = lseek(fd, at, SEEK_HOLE);
            if (at >= 0 && at < shared.at + (off_t)end)
                end = (size_t)(at - shared.at);
        }
        copy_image(to + from, shared.start + from, end - from);
        from = end;
    }
}

static void *private_copy(void)
{
    void *p = mmap(NULL, shared.size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    copy_written(p);
    return p;
}

static bool put_in_place(void *copy)
{
    return mremap(copy, shared.size, shared.size,
                  MREMAP_MAYMOVE | MREMAP_FIXED, shared.start) != MAP_FAILED;
}

void heap_static_unshare(void)
{
    void *copy;

    if (!shared.size)
        return;
    copy = private_copy();
    if (!copy || !put_in_place(copy))
        log_warn(ERR_DATA, "static data stays in shared memory: %m");
    shared.size = 0;
}

static void before_fork(void)
{
    if (shared.size && dl_static()) {
        log_error(ERR_FORK, "fork in a program linked with -static, whose "
                  "child would change the C library's data of this PE; link "
                  "with -static-shmem, or set SHMEM_STATIC_DATA=0 if no "
                  "static data is symmetric");
        heap_hooks.abort(EXIT_FAILURE);
    }
    /* Without memory for a snapshot the child copies for itself, a little
     * later than it should. */
    if (shared.size)
        snapshot = private_copy();
}

static void in_parent(void)
{
    if (snapshot)
        munmap(snapshot, shared.size);
    snapshot = NULL;
}

static void in_child(void)
{
    void *copy = snapshot;

    if (shared.size) {
        if (!copy)
            copy = private_copy();
        if (!copy || !put_in_place(copy)) {
            log_error(ERR_FORK, "no memory for the static data of a forked "
                      "child (%zu bytes): %m", shared.size);
            heap_hooks.leave(EXIT_FAILURE);
        }
        shared.size = 0;
    }
    snapshot = NULL;
    if (heap_fork_child)
        heap_fork_child();
}

__attribute__((constructor))
static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

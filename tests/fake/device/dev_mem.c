/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory: files in memory, mapped twice.  Programs get an address at
 * which nothing may be touched, the threads of the device use the other one.
 * A coherent device gives its memory away as it is. */
#include "dev_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x44455631, DEVICES = 16 };

pthread_mutex_t dev_mem_lock = PTHREAD_MUTEX_INITIALIZER;
__thread int dev_on = -1;
static struct mem *all;
static size_t used[DEVICES];
static uint64_t ids;

struct mem **dev_mem_list(void)
{
    return &all;
}

void dev_mem_add(struct mem *m)
{
    m->r.id = ++ids;
    m->next = all;
    all = m;
}

static void add(struct mem *m)
{
    pthread_mutex_lock(&dev_mem_lock);
    dev_mem_add(m);
    pthread_mutex_unlock(&dev_mem_lock);
}

struct mem *dev_mem_find(uintptr_t p)
{
    struct mem *m = all;

    while (m && p - m->r.base >= m->r.size)
        m = m->next;
    return m;
}

/* The one that starts at p, out of the list. */
static struct mem *take(const void *p, enum dev_where where)
{
    struct mem **at = &all, *m;

    pthread_mutex_lock(&dev_mem_lock);
    while (*at && ((*at)->r.base != (uintptr_t)p || (*at)->r.where != where ||
                   (*at)->span))
        at = &(*at)->next;
    m = *at;
    if (m && m->borrowed > 1) {
        m->borrowed--;
        m = NULL;
    } else if (m) {
        *at = m->next;
        if (where == DEV_MEMORY)
            used[m->r.device] -= m->r.size;
    } else {
        errno = EINVAL;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return m;
}

static size_t pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

/* Does a NIC's store need a flush? */
static int show_nic(struct mem *m)
{
    if (!dev_setup()->flush)
        return 0;
    m->nic = dev_nic_new(m->fd, m->alias, pages(m->r.size),
                         m->r.where == DEV_MEMORY);
    return m->nic ? 0 : -ENOMEM;
}

/* Maps the file at a multiple of align, and for the device. */
static int map(struct mem *m, size_t align)
{
    bool open = dev_setup()->is == DEV_COHERENT;
    size_t size = pages(m->r.size), room = size + align;
    char *at, *from;

    at = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    from = (char *)(((uintptr_t)at + align - 1) / align * align);
    if (mmap(from, size, open ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_SHARED | MAP_FIXED, m->fd, 0) == MAP_FAILED) {
        munmap(at, room);
        return -ENOMEM;
    }
    if (from > at)
        munmap(at, (size_t)(from - at));
    if (from + size < at + room)
        munmap(from + size, (size_t)(at + room - from) - size);
    m->r.base = (uintptr_t)from;
    m->alias = from;
    if (open)
        return show_nic(m);
    m->alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->alias == MAP_FAILED) {
        munmap(from, size);
        return -ENOMEM;
    }
    return show_nic(m);
}

static void discard(struct mem *m)
{
    size_t size = pages(m->r.size);

    if (m->nic)
        dev_nic_release(m->nic);
    if (m->fd >= 0) {
        if (m->alias != (char *)m->r.base)
            munmap(m->alias, size);
        munmap((void *)m->r.base, size);
        close(m->fd);
    } else if (m->ours) {
        munmap((void *)m->r.base, size);
    }
    free(m);
}

static struct mem *make(enum dev_where where, size_t size, unsigned flags)
{
    struct mem *m = calloc(1, sizeof *m);

    if (m) {
        m->fd = -1;
        m->r.where = where;
        m->r.size = size;
        m->r.flags = flags;
    }
    return m;
}

bool dev_mem_take_room(int device, size_t size)
{
    bool ok = size <= dev_setup()->memory - used[device];

    if (ok)
        used[device] += size;
    return ok;
}

void dev_mem_give_room(int device, size_t size)
{
    used[device] -= size;
}

static bool take_room(int device, size_t size)
{
    bool ok;

    pthread_mutex_lock(&dev_mem_lock);
    ok = dev_mem_take_room(device, size);
    pthread_mutex_unlock(&dev_mem_lock);
    return ok;
}

int dev_alloc(int device, size_t size, size_t align, unsigned flags,
              void **out)
{
    struct mem *m;
    int rc = -ENOMEM;

    if (!take_room(device, size))
        return -ENOMEM;
    m = make(DEV_MEMORY, size, flags);
    if (!m)
        goto release;
    m->r.device = device;
    m->fd = memfd_create("fake-device", MFD_CLOEXEC);
    if (m->fd < 0 ||
        ftruncate(m->fd, (off_t)(pages(size) + DEV_NIC_ROOM)) < 0)
        goto discard;
    rc = map(m, align);
    if (rc)
        goto discard;
    add(m);
    *out = (void *)m->r.base;
    return 0;
discard:
    if (m->fd >= 0)
        close(m->fd);
    free(m);
release:
    pthread_mutex_lock(&dev_mem_lock);
    dev_mem_give_room(device, size);
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

int dev_free(void *p)
{
    struct mem *m = take(p, DEV_MEMORY);

    if (!m)
        return -EINVAL;
    discard(m);
    return 0;
}

int dev_alloc_host(size_t size, unsigned flags, void **out)
{
    struct mem *m = make(DEV_PINNED, size, flags);
    void *p;

    if (!m)
        return -ENOMEM;
    p = mmap(NULL, pages(size), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        free(m);
        return -ENOMEM;
    }
    m->r.base = (uintptr_t)p;
    m->alias = p;
    m->ours = true;
    add(m);
    *out = p;
    return 0;
}

static int release_pinned(void *p, bool ours)
{
    struct dev_range r;
    struct mem *m;
    bool fits;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    fits = m && m->ours == ours;
    pthread_mutex_unlock(&dev_mem_lock);
    if (!fits || !dev_find(p, &r) || r.base != (uintptr_t)p)
        return -EINVAL;
    m = take(p, DEV_PINNED);
    if (!m)
        return -EINVAL;
    discard(m);
    return 0;
}

int dev_free_host(void *p)
{
    return release_pinned(p, true);
}

int dev_pin(void *host, size_t size, unsigned flags)
{
    uintptr_t p = (uintptr_t)host;
    struct mem *m;
    bool taken;

    if (!host || !size)
        return -EINVAL;
    pthread_mutex_lock(&dev_mem_lock);
    taken = dev_span_holds(p, size);
    for (m = all; m; m = m->next)
        taken |= p < m->r.base + m->r.size && m->r.base < p + size;
    pthread_mutex_unlock(&dev_mem_lock);
    if (taken)
        return -EEXIST;
    m = make(DEV_PINNED, size, flags);
    if (!m)
        return -ENOMEM;
    dev_fork_watch();
    m->r.base = p;
    m->alias = host;
    add(m);
    return 0;
}

int dev_unpin(void *host)
{
    return release_pinned(host, false);
}

void dev_room(int device, size_t *unused, size_t *total)
{
    pthread_mutex_lock(&dev_mem_lock);
    *total = dev_setup()->memory;
    *unused = *total - used[device];
    pthread_mutex_unlock(&dev_mem_lock);
}

bool dev_find(const void *p, struct dev_range *out)
{
    struct mem *m;

    *out = (struct dev_range){ .where = DEV_NOWHERE };
    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m)
        *out = m->r;
    pthread_mutex_unlock(&dev_mem_lock);
    return m;
}

int dev_flag(const void *p, unsigned flags)
{
    struct mem *m;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m)
        m->r.flags |= flags;
    pthread_mutex_unlock(&dev_mem_lock);
    return m ? 0 : -EINVAL;
}

uint64_t dev_mem_inode(int fd)
{
    struct stat st;

    return fstat(fd, &st) ? 0 : (uint64_t)st.st_ino;
}

int dev_export_memory(const void *p, struct dev_export *out)
{
    struct mem *m;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m && m->r.where == DEV_MEMORY && !m->span &&
        !(m->r.flags & DEV_POOLED)) {
        *out = (struct dev_export){
            .magic = MAGIC, .pid = getpid(), .fd = m->fd, .size = m->r.size,
            .inode = dev_mem_inode(m->fd)
        };
        out->device = dev_number(m->r.device);
        rc = 0;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

/* The address of memory that is borrowed already. */
static void *again(uint64_t inode)
{
    struct mem *m;
    void *p = NULL;

    pthread_mutex_lock(&dev_mem_lock);
    for (m = all; m && !p; m = m->next) {
        if (m->r.where == DEV_BORROWED && m->inode == inode) {
            m->borrowed++;
            p = (void *)m->r.base;
        }
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return p;
}

int dev_mem_reachable(int device, int theirs, size_t size)
{
    const struct dev_setup *s = dev_setup();

    theirs -= s->first;
    if ((theirs < 0 || theirs >= s->count) && s->refuses)
        return -ENODEV;
    if (theirs == device)
        return 0;
    if (s->peers == DEV_NO_PEERS)
        return -EACCES;
    return s->bar && size > s->bar ? -ENOSPC : 0;
}

int dev_open_memory(int device, const struct dev_export *h, void **out)
{
    char path[64];
    struct mem *m;
    void *p;
    int rc;

    if (h->magic != MAGIC)
        return -EINVAL;
    if (h->pid == getpid())
        return -EXDEV;
    rc = dev_mem_reachable(device, h->device, h->size);
    if (rc)
        return rc;
    p = again(h->inode);
    if (p) {
        *out = p;
        return 0;
    }
    m = make(DEV_BORROWED, h->size, 0);
    if (!m)
        return -ENOMEM;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h->pid, h->fd);
    m->fd = open(path, O_RDWR | O_CLOEXEC);
    if (m->fd < 0 || dev_mem_inode(m->fd) != h->inode) {
        rc = -ENOENT;
        goto free;
    }
    m->r.device = h->device - dev_setup()->first;
    m->inode = h->inode;
    m->borrowed = 1;
    rc = map(m, (size_t)2 << 20);
    if (rc)
        goto free;
    add(m);
    *out = (void *)m->r.base;
    return 0;
free:
    if (m->fd >= 0)
        close(m->fd);
    free(m);
    return rc;
}

int dev_give_back(void *p)
{
    struct mem *m;

    errno = 0;
    m = take(p, DEV_BORROWED);
    if (!m)
        return -errno;
    discard(m);
    return 0;
}

int dev_dmabuf(const void *p, size_t size, int *fd, uint64_t *offset)
{
    struct mem *m;
    uint64_t at;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m && m->span) {
        rc = dev_span_dmabuf(m, (uintptr_t)p, size, fd, offset);
    } else if (m && m->fd >= 0 && !(m->r.flags & DEV_POOLED)) {
        at = (uintptr_t)p - m->r.base;
        if (size <= pages(m->r.size) - at) {
            rc = m->nic ? dev_nic_export(m->nic, at, fd)
                        : dev_nic_reopen(m->fd, at, fd);
            *offset = at;
        }
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

/* unknown: host memory that is not known here may be touched. */
static void *reach(const void *p, size_t n, bool unknown)
{
    void *at = NULL;
    struct mem *m;
    size_t off;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m && m->span) {
        at = dev_span_reach(m, (uintptr_t)p, n);
    } else if (m && !(m->coming && dev_on >= 0)) {
        off = (uintptr_t)p - m->r.base;
        if (m->nic && n <= m->r.size - off)
            dev_nic_note(m->nic, off, n);
        if (n <= m->r.size - off)
            at = m->alias + off;
        else if (m->r.where == DEV_PINNED && unknown)
            at = (void *)(uintptr_t)p;
    } else if (!m && unknown && !dev_span_holds((uintptr_t)p, n)) {
        at = (void *)(uintptr_t)p;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return at;
}

void *dev_reach(const void *p, size_t n)
{
    return reach(p, n, dev_setup()->is == DEV_COHERENT);
}

void *dev_touch(const void *p, size_t n)
{
    return reach(p, n, true);
}

bool dev_atomic(int device, const void *p)
{
    struct dev_range r;

    return dev_setup()->peers == DEV_ATOMICS || !dev_find(p, &r) ||
           r.where == DEV_PINNED || r.device == device;
}

bool dev_pageable(const void *p)
{
    struct dev_range r;

    return !dev_find(p, &r);
}

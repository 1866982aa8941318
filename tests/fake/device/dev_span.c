/* SPDX-License-Identifier: BSD-3-Clause */
/* Reservations of addresses, and what is mapped there.  A reservation is there
 * twice, as plain memory is: for programs, and for the threads of the device,
 * which find what they have access to. */
#include "dev_piece.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct span {
    struct span *next;
    uintptr_t base;
    size_t size;
    char *alias;
    struct file *file;
};

static struct span *spans;

bool dev_fits(uintptr_t p, size_t size)
{
    return size && p % DEV_UNIT == 0 && size % DEV_UNIT == 0;
}

static struct span *span_at(uintptr_t p)
{
    struct span *s = spans;

    while (s && p - s->base >= s->size)
        s = s->next;
    return s;
}

bool dev_span_holds(uintptr_t p, size_t n)
{
    struct span *s = spans;

    while (s && (p >= s->base + s->size || s->base >= p + (n ? n : 1)))
        s = s->next;
    return s;
}

bool dev_span_around(const void *p, uintptr_t *base, size_t *size)
{
    struct span *s;

    pthread_mutex_lock(&dev_mem_lock);
    s = span_at((uintptr_t)p);
    if (s) {
        *base = s->base;
        *size = s->size;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return s;
}

/* Addresses at a multiple of align, at which nothing is. */
static char *addresses(size_t size, size_t align)
{
    char *at = mmap(NULL, size + align, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *from = (char *)(((uintptr_t)at + align - 1) / align * align);

    if (at == MAP_FAILED)
        return NULL;
    if (from > at)
        munmap(at, (size_t)(from - at));
    if (from < at + align)
        munmap(from + size, (size_t)(at + align - from));
    return from;
}

static void span_release(struct span *s)
{
    if (s->alias && s->alias != (char *)s->base)
        munmap(s->alias, s->size);
    if (s->base)
        munmap((void *)s->base, s->size);
    if (s->file)
        dev_file_release(s->file);
    free(s);
}

int dev_span_reserve(size_t size, size_t align, void **out)
{
    struct span *s;

    if (!align)
        align = DEV_UNIT;
    if (!dev_fits(0, size) || align & (align - 1) || size > SIZE_MAX / 4)
        return -EINVAL;
    s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->size = size;
    pthread_mutex_lock(&dev_mem_lock);
    s->base = (uintptr_t)addresses(size, align < DEV_UNIT ? DEV_UNIT : align);
    s->alias = !s->base ? NULL : dev_setup()->is == DEV_COHERENT
        ? (char *)s->base : addresses(size, DEV_UNIT);
    s->file = s->alias ? dev_file_new(size) : NULL;
    if (s->file) {
        s->file->users++;
        s->next = spans;
        spans = s;
        *out = (void *)s->base;
    } else {
        span_release(s);
        s = NULL;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return s ? 0 : -ENOMEM;
}

/* Does anything of it overlap that? */
static bool is_mapped(uintptr_t p, size_t size)
{
    struct mem *m = *dev_mem_list();

    while (m && !(m->span && p < m->r.base + m->r.size && m->r.base < p + size))
        m = m->next;
    return m;
}

int dev_span_free(void *p, size_t size)
{
    struct span **at = &spans, *s;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    while (*at && (*at)->base != (uintptr_t)p)
        at = &(*at)->next;
    s = *at;
    if (s && s->size == size && !is_mapped(s->base, size)) {
        *at = s->next;
        span_release(s);
        rc = 0;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

/* ---- mappings ---- */

int dev_piece_kind(const void *p, struct dev_kind *out)
{
    struct mem *m;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    if (m && m->span) {
        *out = m->piece->kind;
        rc = 0;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

int dev_piece_map(void *at, size_t size, uint64_t handle)
{
    uintptr_t from = (uintptr_t)at;
    struct mem *m = calloc(1, sizeof *m);
    struct piece *p;
    struct span *s;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    p = dev_piece_of(handle);
    s = span_at(from);
    if (!m || !p || !s || !dev_fits(from, size) || size > p->size ||
        size > s->base + s->size - from || is_mapped(from, size))
        goto out;
    if (p->borrowed) {
        rc = dev_mem_reachable(p->kind.device, dev_number(p->kind.device), 0);
        if (rc == -ENODEV)
            goto out;
    }
    rc = p->file ? 0 : dev_piece_place(p, size == p->size ? s->file : NULL,
                             from - s->base);
    if (rc)
        goto out;
    m->fd = -1;
    m->r = (struct dev_range){
        .where = p->borrowed ? DEV_BORROWED : DEV_MEMORY, .base = from,
        .size = size, .device = p->kind.device, .flags = DEV_SPANNED
    };
    m->alias = s->alias + (from - s->base);
    m->span = s;
    m->piece = p;
    p->mappings++;
    dev_mem_add(m);
    m = NULL;
out:
    pthread_mutex_unlock(&dev_mem_lock);
    free(m);
    return rc;
}

static int show(struct mem *m)
{
    int prot = m->access ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *p = m->access
        ? mmap(m->alias, m->r.size, prot, MAP_SHARED | MAP_FIXED,
               m->piece->file->fd, (off_t)m->piece->offset)
        : mmap(m->alias, m->r.size, prot, MAP_PRIVATE | MAP_ANONYMOUS |
               MAP_FIXED | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? -ENOMEM : 0;
}

/* Is it one mapping, or more side by side, and nothing else? */
static bool is_whole(uintptr_t p, size_t size)
{
    struct mem *m;

    if (!dev_fits(p, size))
        return false;
    while (size) {
        m = dev_mem_find(p);
        if (!m || !m->span || m->r.base != p || m->r.size > size)
            return false;
        p += m->r.size;
        size -= m->r.size;
    }
    return true;
}

int dev_piece_unmap(void *p, size_t size)
{
    uintptr_t from = (uintptr_t)p, to = from + size;
    struct mem **at = dev_mem_list(), *m;
    int rc = -EINVAL;

    pthread_mutex_lock(&dev_mem_lock);
    if (is_whole(from, size)) {
        rc = 0;
        while ((m = *at)) {
            if (m->r.base < from || m->r.base >= to) {
                at = &m->next;
                continue;
            }
            *at = m->next;
            m->access = 0;
            show(m);
            m->piece->mappings--;
            dev_piece_unref(m->piece);
            free(m);
        }
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

/* What that device has access to of the other one's memory, and would have. */
static size_t reached(int device, int of, uintptr_t from, size_t size)
{
    size_t n = 0;

    for (struct mem *m = *dev_mem_list(); m; m = m->next)
        if (m->span && m->r.device == of &&
            ((m->access >> device & 1) || m->r.base - from < size))
            n += m->r.size;
    return n;
}

int dev_piece_access(int device, void *p, size_t size, bool may)
{
    uintptr_t from = (uintptr_t)p;
    struct mem *m;
    unsigned was;
    int rc = 0, of;

    pthread_mutex_lock(&dev_mem_lock);
    if (!is_whole(from, size))
        rc = -EINVAL;
    for (m = *dev_mem_list(); m && may && !rc; m = m->next) {
        of = m->r.device;
        if (m->r.base - from < size)
            rc = dev_mem_reachable(device, dev_number(of),
                                   reached(device, of, from, size));
    }
    for (m = *dev_mem_list(); m && !rc; m = m->next) {
        if (m->r.base - from >= size)
            continue;
        was = m->access;
        m->access = may ? was | 1u << device : was & ~(1u << device);
        if (!was != !m->access)
            rc = show(m);
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

void *dev_span_reach(struct mem *m, uintptr_t p, size_t n)
{
    void *at = m->alias + (p - m->r.base);
    struct span *s = m->span;
    size_t off, part;

    while (m && m->span == s) {
        if (!m->access || (dev_on >= 0 && !(m->access >> dev_on & 1)))
            return NULL;
        off = p - m->r.base;
        part = n < m->r.size - off ? n : m->r.size - off;
        if (m->piece->file->nic)
            dev_nic_note(m->piece->file->nic, m->piece->offset + off, part);
        p += part;
        n -= part;
        if (!n)
            return at;
        m = dev_mem_find(p);
    }
    return NULL;
}

static bool same_kind(const struct piece *a, const struct piece *b)
{
    return a->kind.device == b->kind.device && a->kind.nic == b->kind.nic &&
           a->kind.types == b->kind.types;
}

int dev_span_dmabuf(struct mem *m, uintptr_t p, size_t size, int *fd,
                    uint64_t *offset)
{
    struct file *f = m->piece->file;
    struct piece *first = m->piece;
    uint64_t at = first->offset + (p - m->r.base), begin = p - at;
    uintptr_t end = p + size;

    for (; p < end; p = m->r.base + m->r.size) {
        m = dev_mem_find(p);
        if (!m || !m->span || m->piece->borrowed || !m->piece->kind.nic ||
            !same_kind(first, m->piece))
            return -EINVAL;
        if (m->piece->file != f || m->r.base - m->piece->offset != begin) {
            fprintf(stderr, "fake device: a range for a NIC has a piece that "
                    "was exported, or mapped elsewhere, before it was mapped "
                    "there: this is a limit of the stand-in\n");
            return -EINVAL;
        }
    }
    *offset = at;
    return f->nic ? dev_nic_export(f->nic, at, fd)
                  : dev_nic_reopen(f->fd, at, fd);
}

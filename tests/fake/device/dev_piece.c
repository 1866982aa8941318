/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of memory, the files that they are in, and how other processes get
 * them.
 *
 * Behind the memory a file has the room of dev_nic.c and a table of what was
 * exported.  The descriptor that other processes get is the file, and its
 * position says which entry: an odd one, as no other descriptor has. */
#include "dev_piece.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x44455650, TABLE = 65536 };

struct entry {
    uint32_t magic;
    int32_t device, types, nic; /* device: the machine's number */
    uint64_t offset, size;
    int64_t imports;            /* atomic: pieces of others that are this one */
};
enum { ENTRIES = TABLE / sizeof(struct entry) };

static struct piece *pieces;
static struct file *files;
static uint64_t handles;

static size_t behind(void)
{
    return DEV_NIC_ROOM + TABLE;
}

/* Takes the descriptor, if it succeeds.  The next ones are under the lock. */
static struct file *file_open(int fd, size_t size, bool owner)
{
    struct file *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->c = mmap(NULL, size + behind(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                0);
    if (f->c == MAP_FAILED)
        goto free;
    if (dev_setup()->flush) {
        f->nic = dev_nic_new(fd, f->c, size, owner);
        if (!f->nic)
            goto unmap;
    }
    f->fd = fd;
    f->size = size;
    f->inode = dev_mem_inode(fd);
    f->table = (void *)(f->c + size + DEV_NIC_ROOM);
    f->next = files;
    files = f;
    return f;
unmap:
    munmap(f->c, size + behind());
free:
    free(f);
    return NULL;
}

struct file *dev_file_new(size_t size)
{
    int fd = memfd_create("fake-device", MFD_CLOEXEC);
    struct file *f = NULL;

    if (fd >= 0 && !ftruncate(fd, (off_t)(size + behind())))
        f = file_open(fd, size, true);
    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* What was exported of it has no entry in the list any more: no new piece
 * comes to this file. */
static void forget_pieces(const struct file *f)
{
    struct piece **at = &pieces, *p;

    while ((p = *at)) {
        if (p->file != f) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free(p);
    }
}

void dev_file_release(struct file *f)
{
    struct file **at = &files;

    if (--f->users)
        return;
    forget_pieces(f);
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    if (f->nic)
        dev_nic_release(f->nic);
    munmap(f->c, f->size + behind());
    close(f->fd);
    free(f);
}

/* ---- pieces ---- */

struct piece *dev_piece_of(uint64_t handle)
{
    struct piece *p = pieces;

    while (p && p->handle != handle)
        p = p->next;
    return handle ? p : NULL;
}

/* No other process takes it for one of its own. */
static struct piece *piece_add(const struct dev_kind *kind, size_t size)
{
    struct piece *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->handle = ((uint64_t)getpid() << 32) + ++handles;
    p->kind = *kind;
    p->size = size;
    p->entry = -1;
    p->next = pieces;
    pieces = p;
    return p;
}

/* Has it been exported, and have others taken it?  If not, it is too late for
 * that from here on. */
static bool imported(struct piece *p)
{
    struct entry *e = p->file && p->entry >= 0 ? &p->file->table[p->entry]
                                               : NULL;

    if (p->borrowed && e)
        __atomic_fetch_sub(&e->imports, 1, __ATOMIC_ACQ_REL);
    if (!e || p->borrowed)
        return false;
    if (__atomic_load_n(&e->imports, __ATOMIC_ACQUIRE))
        return true;
    __atomic_store_n(&e->magic, 0, __ATOMIC_RELEASE);
    p->entry = -1;
    return false;
}

/* What is in use elsewhere keeps its place in the file, for as long as there is
 * one. */
void dev_piece_unref(struct piece *p)
{
    struct piece **at = &pieces;
    struct file *f = p->file;

    if (p->handle || p->mappings)
        return;
    if (!p->borrowed)
        dev_mem_give_room(p->kind.device, p->size);
    if (!imported(p)) {
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
        if (f && !p->borrowed && f->nic)
            dev_nic_forget(f->nic, p->offset, p->size);
        else if (f && !p->borrowed)
            fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)p->offset, (off_t)p->size);
        free(p);
    }
    if (f)
        dev_file_release(f);
}

int dev_piece_new(const struct dev_kind *kind, size_t size, uint64_t *out)
{
    struct piece *p = NULL;
    int rc = -ENOMEM;

    if (!dev_fits(0, size))
        return -EINVAL;
    pthread_mutex_lock(&dev_mem_lock);
    if (dev_mem_take_room(kind->device, size)) {
        p = piece_add(kind, size);
        if (!p)
            dev_mem_give_room(kind->device, size);
    }
    if (p) {
        *out = p->handle;
        rc = 0;
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

int dev_piece_release(uint64_t handle)
{
    struct piece *p;

    pthread_mutex_lock(&dev_mem_lock);
    p = dev_piece_of(handle);
    if (p) {
        p->handle = 0;
        dev_piece_unref(p);
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return p ? 0 : -EINVAL;
}

int dev_piece_place(struct piece *p, struct file *f, uint64_t offset)
{
    for (struct piece *q = f ? pieces : NULL; q; q = q->next)
        if (q->file == f && offset < q->offset + q->size &&
            q->offset < offset + p->size)
            f = NULL;
    p->offset = f ? offset : 0;
    p->file = f ? f : dev_file_new(p->size);
    if (!p->file)
        return -ENOMEM;
    p->file->users++;
    return 0;
}

/* ---- other processes ---- */

/* Under the lock: its entry, -1: the table is full. */
static int entry_of(struct piece *p)
{
    struct entry *e = p->file->table;

    if (p->entry >= 0)
        return p->entry;
    for (int i = 0; i < (int)ENTRIES; i++)
        if (!e[i].magic) {
            e[i] = (struct entry){
                .device = dev_number(p->kind.device), .types = p->kind.types,
                .nic = p->kind.nic, .offset = p->offset, .size = p->size
            };
            __atomic_store_n(&e[i].magic, MAGIC, __ATOMIC_RELEASE);
            p->entry = i;
            return i;
        }
    fprintf(stderr, "fake device: more than %d exported pieces in one "
            "reservation\n", (int)ENTRIES);
    return -1;
}

/* Under the lock: the piece, which has an entry; 0 or -errno. */
static int exported(uint64_t handle, int type, struct piece **out)
{
    struct piece *p = dev_piece_of(handle);
    int rc = 0;

    if (!p || !(p->kind.types & type))
        return -EINVAL;
    if (!p->file)
        rc = dev_piece_place(p, NULL, 0);
    if (!rc && entry_of(p) < 0)
        rc = -ENOMEM;
    *out = p;
    return rc;
}

int dev_piece_export(uint64_t handle, int *fd)
{
    struct piece *p;
    int rc;

    pthread_mutex_lock(&dev_mem_lock);
    rc = exported(handle, DEV_BY_FD, &p);
    if (!rc)
        rc = dev_nic_reopen(p->file->fd, 2 * (uint64_t)p->entry + 1, fd);
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

int dev_piece_name(uint64_t handle, struct dev_name *out)
{
    struct piece *p;
    int rc;

    pthread_mutex_lock(&dev_mem_lock);
    rc = exported(handle, DEV_BY_NAME, &p);
    if (!rc)
        *out = (struct dev_name){ MAGIC, getpid(), p->file->fd, p->entry,
                                  p->file->inode };
    pthread_mutex_unlock(&dev_mem_lock);
    return rc;
}

/* Under the lock.  Takes the descriptor.  NULL: it is no such file. */
static struct file *theirs(int fd)
{
    struct file *f = files;
    struct stat st;
    size_t size;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
        (size_t)st.st_size <= behind() ||
        !dev_fits(0, (size_t)st.st_size - behind())) {
        close(fd);
        return NULL;
    }
    size = (size_t)st.st_size - behind();
    while (f && f->inode != (uint64_t)st.st_ino)
        f = f->next;
    if (!f)
        f = file_open(fd, size, false);
    if (!f || f->fd != fd)
        close(fd);
    return f;
}

/* The same of an entry there. */
static int import(int fd, int entry, int type, uint64_t *out)
{
    struct dev_kind kind;
    const struct entry *e;
    struct piece *p = NULL;
    struct file *f;

    pthread_mutex_lock(&dev_mem_lock);
    f = theirs(fd);
    if (f) {
        f->users++;
        e = f->table + entry;
        if (__atomic_load_n(&e->magic, __ATOMIC_ACQUIRE) == MAGIC &&
            e->types & type) {
            kind = (struct dev_kind){ e->device - dev_setup()->first, e->types,
                                      e->nic };
            p = piece_add(&kind, e->size);
        }
    }
    if (p) {
        __atomic_fetch_add(&f->table[entry].imports, 1, __ATOMIC_ACQ_REL);
        p->borrowed = true;
        p->entry = entry;
        p->file = f;
        p->offset = e->offset;
        *out = p->handle;
    } else if (f) {
        dev_file_release(f);
    }
    pthread_mutex_unlock(&dev_mem_lock);
    return p ? 0 : -EINVAL;
}

int dev_piece_import(int fd, uint64_t *out)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    int own;

    if (at < 0 || at % 2 == 0 || at / 2 >= (off_t)ENTRIES ||
        dev_nic_reopen(fd, 0, &own))
        return -EINVAL;
    return import(own, (int)(at / 2), DEV_BY_FD, out);
}

int dev_piece_import_name(const struct dev_name *name, uint64_t *out)
{
    char path[64];
    int fd;

    if (name->magic != MAGIC || name->entry < 0 ||
        name->entry >= (int)ENTRIES)
        return -EINVAL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name->pid, name->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -EINVAL;
    if (dev_mem_inode(fd) != name->inode) {
        close(fd);
        return -EINVAL;
    }
    return import(fd, name->entry, DEV_BY_NAME, out);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory as a NIC has it.
 *
 * From the first descriptor on that a NIC gets, the memory is there three
 * times: as devices see it, as the NIC does, and as both were last alike.
 * What a command has stored, the NIC has when the command ends.  What the NIC
 * has stored, devices have after the owner's next flush, byte by byte, as the
 * third copy shows what is new. */
#include "dev.h"
#include "dev_nic.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 4096, RECORDS = 256 };

/* Behind the memory, for processes that open it. */
struct room {
    pid_t pid;
    int fd, there;              /* there: atomic; what is before is known */
};

struct dev_nic {
    struct dev_nic *next;
    struct room *room;
    char *c, *nic, *alike;      /* nic: NULL before there is one */
    size_t size;
    int of;                     /* the memory's file */
    int fd;                     /* of the NIC's, then what was alike */
    bool owner;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dev_nic *all;
uint32_t *dev_flush_register;

static __thread struct note {
    struct dev_nic *nic;
    size_t off, len;
} *noted;                       /* NOTES, of a queue's thread: for ever */
static __thread int n_noted = -1;       /* of a command that runs, or -1 */
static __thread bool too_many;

struct dev_nic *dev_nic_new(int fd, char *c, size_t size, bool owner)
{
    struct dev_nic *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->room = mmap(NULL, DEV_NIC_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   (off_t)size);
    if (n->room == MAP_FAILED) {
        free(n);
        return NULL;
    }
    n->c = c;
    n->of = fd;
    n->size = size;
    n->fd = -1;
    n->owner = owner;
    pthread_mutex_lock(&lock);
    n->next = all;
    all = n;
    pthread_mutex_unlock(&lock);
    return n;
}

void dev_nic_release(struct dev_nic *n)
{
    struct dev_nic **at = &all;

    pthread_mutex_lock(&lock);
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    pthread_mutex_unlock(&lock);
    munmap(n->room, DEV_NIC_ROOM);
    if (n->nic)
        munmap(n->nic, 2 * n->size);
    if (n->fd >= 0)
        close(n->fd);
    free(n);
}

/* Under the lock. */
static int map_both(struct dev_nic *n, int fd)
{
    char *p = mmap(NULL, 2 * n->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   0);

    if (p == MAP_FAILED)
        return -errno;
    n->fd = fd;
    n->alike = p + n->size;
    __atomic_store_n(&n->nic, p, __ATOMIC_RELEASE);
    return 0;
}

/* The next bytes of the file, below n->size, that are not a hole: from *at on,
 * to the result.  0: there are none. */
static size_t next_data(const struct dev_nic *n, int fd, size_t *at)
{
    off_t from = lseek(fd, (off_t)*at, SEEK_DATA), to;

    if (from < 0 || from >= (off_t)n->size)
        return 0;
    to = lseek(fd, from, SEEK_HOLE);
    *at = (size_t)from;
    return to < 0 || to > (off_t)n->size ? n->size : (size_t)to;
}

static void copy_all(struct dev_nic *n)
{
    static const char zeros[CHUNK];

    for (size_t at = 0, to; (to = next_data(n, n->of, &at)); at = to)
        for (; at < to; at += CHUNK) {
            if (!memcmp(n->c + at, zeros, CHUNK))
                continue;
            memcpy(n->nic + at, n->c + at, CHUNK);
            memcpy(n->alike + at, n->c + at, CHUNK);
        }
}

/* Under the lock. */
static int make(struct dev_nic *n)
{
    int fd = memfd_create("fake-device-nic", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, (off_t)(2 * n->size)) || map_both(n, fd)) {
        if (fd >= 0)
            close(fd);
        return -ENOMEM;
    }
    copy_all(n);
    n->room->pid = getpid();
    n->room->fd = fd;
    __atomic_store_n(&n->room->there, 1, __ATOMIC_RELEASE);
    return 0;
}

int dev_nic_reopen(int fd, uint64_t at, int *out)
{
    char path[64];
    int new;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    new = open(path, O_RDWR | O_CLOEXEC);
    if (new < 0 || lseek(new, (off_t)at, SEEK_SET) != (off_t)at) {
        if (new >= 0)
            close(new);
        return -EINVAL;
    }
    *out = new;
    return 0;
}

int dev_nic_export(struct dev_nic *n, uint64_t at, int *fd)
{
    int rc;

    pthread_mutex_lock(&lock);
    rc = n->nic ? 0 : make(n);
    pthread_mutex_unlock(&lock);
    return rc ? rc : dev_nic_reopen(n->fd, at, fd);
}

void dev_nic_forget(struct dev_nic *n, size_t off, size_t len)
{
    int gone = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

    pthread_mutex_lock(&lock);
    fallocate(n->of, gone, (off_t)off, (off_t)len);
    if (n->nic) {
        fallocate(n->fd, gone, (off_t)off, (off_t)len);
        fallocate(n->fd, gone, (off_t)(n->size + off), (off_t)len);
    }
    pthread_mutex_unlock(&lock);
}

/* Does the NIC have it?  Looks at the owner's word for that. */
static bool is_there(struct dev_nic *n)
{
    char path[64];
    int fd;

    if (__atomic_load_n(&n->nic, __ATOMIC_ACQUIRE))
        return true;
    if (n->owner || !__atomic_load_n(&n->room->there, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&lock);
    if (!n->nic) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)n->room->pid,
                 n->room->fd);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0 && map_both(n, fd))
            close(fd);
    }
    pthread_mutex_unlock(&lock);
    return n->nic;
}

/* The bytes of `new` where it is not what was alike: all others are left. */
static void merge(uint64_t *to, uint64_t new, uint64_t mask)
{
    uint64_t was = __atomic_load_n(to, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(to, &was, (was & ~mask) | (new & mask),
                                        false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        ;
}

static uint64_t differing(uint64_t a, uint64_t b)
{
    uint64_t mask = 0;

    for (int i = 0; i < 64; i += 8)
        if ((a ^ b) >> i & 0xff)
            mask |= (uint64_t)0xff << i;
    return mask;
}

/* What is new in `from` comes to `to`; off and len are multiples of 8. */
static void bring(struct dev_nic *n, char *to, const char *from, size_t off,
                  size_t len)
{
    uint64_t new, old, mask;
    size_t part;

    for (size_t end = off + len; off < end; off += part) {
        part = CHUNK - off % CHUNK < end - off ? CHUNK - off % CHUNK
                                               : end - off;
        if (!memcmp(from + off, n->alike + off, part))
            continue;
        for (size_t at = off; at < off + part; at += 8) {
            new = __atomic_load_n((const uint64_t *)(const void *)(from + at),
                                  __ATOMIC_ACQUIRE);
            old = __atomic_load_n((uint64_t *)(void *)(n->alike + at),
                                  __ATOMIC_RELAXED);
            mask = differing(new, old);
            if (!mask)
                continue;
            merge((uint64_t *)(void *)(to + at), new, mask);
            merge((uint64_t *)(void *)(n->alike + at), new, mask);
        }
    }
}

/* Under the lock.  Pages that the file of `from` lacks were never stored to. */
static void bring_data(struct dev_nic *n, char *to, const char *from, int fd)
{
    for (size_t at = 0, end; (end = next_data(n, fd, &at)); at = end)
        bring(n, to, from, at, end - at);
}

void dev_nic_note(struct dev_nic *n, size_t off, size_t len)
{
    if (n_noted < 0 || !len || !is_there(n))
        return;
    too_many |= n_noted == RECORDS;
    if (too_many)
        return;
    noted[n_noted].nic = n;
    noted[n_noted].off = off / 8 * 8;
    noted[n_noted++].len = (off + len + 7) / 8 * 8 - off / 8 * 8;
}

void dev_nic_note_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct dev_nic *n = all; n; n = n->next)
        if (n->nic)
            bring_data(n, n->nic, n->c, n->of);
    pthread_mutex_unlock(&lock);
}

void dev_nic_begin(void)
{
    static pthread_mutex_t flushes = PTHREAD_MUTEX_INITIALIZER;

    /* What was stored before the register is there for each command that begins
     * behind it: also while another queue's thread flushes. */
    if (dev_flush_register) {
        pthread_mutex_lock(&flushes);
        if (__atomic_exchange_n(dev_flush_register, 0, __ATOMIC_ACQ_REL))
            dev_flush();
        pthread_mutex_unlock(&flushes);
    }
    if (!noted)
        noted = calloc(RECORDS, sizeof *noted);
    if (!noted)
        abort();
    n_noted = 0;
}

void dev_nic_end(void)
{
    for (int i = 0; i < n_noted; i++)
        bring(noted[i].nic, noted[i].nic->nic, noted[i].nic->c, noted[i].off,
              noted[i].len);
    n_noted = -1;
    if (too_many)
        dev_nic_note_all();
    too_many = false;
}

void dev_flush(void)
{
    pthread_mutex_lock(&lock);
    for (struct dev_nic *n = all; n; n = n->next)
        if (n->owner && n->nic)
            bring_data(n, n->c, n->nic, n->fd);
    pthread_mutex_unlock(&lock);
}

void dev_nic_has_read(void)
{
    if (dev_setup()->by_read)
        dev_flush();
}

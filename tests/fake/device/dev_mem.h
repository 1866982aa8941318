/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_mem.h - what dev_mem.c, dev_span.c and dev_pool.c share: the list of
 * memory that is known, and its lock.  Locks of dev_nic.c come after it. */
#ifndef FAKE_DEV_MEM_H
#define FAKE_DEV_MEM_H

#include "dev.h"
#include "dev_nic.h"
#include "dev_span.h"

#include <pthread.h>

struct span;
struct piece;

struct mem {
    struct mem *next;
    struct dev_range r;
    char *alias;                /* where the device finds it */
    int fd;                     /* -1: host memory, or a mapping */
    bool ours;                  /* host memory to be unmapped */
    uint64_t inode;             /* of borrowed memory */
    int borrowed;               /* times */
    struct dev_nic *nic;        /* what NICs have of it, or NULL */
    struct span *span;          /* of a mapping: where it is ... */
    struct piece *piece;        /* ... and what */
    unsigned access;            /* of a mapping: a bit for each device */
    bool coming, going;         /* of a pool: no stream has come to that yet */
};

extern pthread_mutex_t dev_mem_lock;
/* The device whose command this thread runs, or -1. */
extern __thread int dev_on;

/* From now on a fork parts the device from private pinned memory. */
void dev_fork_watch(void);

/* Under the lock. */
struct mem *dev_mem_find(uintptr_t p);
struct mem **dev_mem_list(void);
void dev_mem_add(struct mem *m);
bool dev_mem_take_room(int device, size_t size);
void dev_mem_give_room(int device, size_t size);

/* From that device of the machine to `device` of this process: 0 or -errno as
 * of dev_borrow(). */
int dev_mem_reachable(int device, int theirs, size_t size);
uint64_t dev_mem_inode(int fd);

/* ---- dev_span.c, under the lock ---- */
/* As dev_reach(), from p in m on, through mappings behind it. */
void *dev_span_reach(struct mem *m, uintptr_t p, size_t n);
/* Is any of it reserved? */
bool dev_span_holds(uintptr_t p, size_t n);
int dev_span_dmabuf(struct mem *m, uintptr_t p, size_t size, int *fd,
                    uint64_t *offset);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* dev.h - a device in software, on which stand-ins for vendors' drivers are
 * built: memory that the processor may be kept off, streams, commands.
 *
 * It knows no vendor: contexts, handles, error numbers and which call means
 * what are the stand-in's.  dev_setup.h has its environment.
 *
 * All calls from any thread.  0 or -errno unless said otherwise. */
#ifndef FAKE_DEV_H
#define FAKE_DEV_H

#include "dev_setup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many queues the vendor gives to streams; 0: one to each. */
extern int dev_queues;

/* Notes a call; the code it shall fail with, or 0. */
int dev_call(const char *call);
/* For programs, which find it by its name: from now on that one fails, after
 * so many that do not.  code 0: none does. */
void dev_fail(const char *call, int code, int after)
    __attribute__((visibility("default")));
void dev_note(const char *call, const char *words);

/* ---- memory ---- */
enum dev_where {
    DEV_NOWHERE,                /* host memory that is not known here */
    DEV_PINNED,                 /* registered, or made by dev_alloc_host() */
    DEV_MEMORY,                 /* device memory of this process */
    DEV_BORROWED                /* of another one */
};

struct dev_range {
    enum dev_where where;
    uintptr_t base;
    size_t size;
    int device;
    uint64_t id;                /* another one for each allocation */
    unsigned flags;             /* as given */
};

/* Among the flags: coarse-grained memory. */
#define DEV_COARSE (1u << 30)

/* As bytes, to be passed on by any means; 48 at most. */
struct dev_export {
    uint32_t magic;
    int32_t device;
    pid_t pid;
    int fd;
    uint64_t size, inode;
};

/* At a multiple of `align`, a power of 2.  -ENOMEM: over the limit. */
int dev_alloc(int device, size_t size, size_t align, unsigned flags,
              void **out);
/* -EINVAL: p is no such allocation's first byte. */
int dev_free(void *p);
int dev_alloc_host(size_t size, unsigned flags, void **out);
int dev_free_host(void *p);
/* -EEXIST: a part of it is registered already. */
int dev_pin(void *host, size_t size, unsigned flags);
int dev_unpin(void *host);
void dev_room(int device, size_t *unused, size_t *total);
/* False, and out->where is DEV_NOWHERE, for what is not known. */
bool dev_find(const void *p, struct dev_range *out);
/* Adds to the flags of the allocation around p.  -EINVAL: there is none. */
int dev_flag(const void *p, unsigned flags);
/* The whole allocation around p. */
int dev_export_memory(const void *p, struct dev_export *out);
/* For a device of this process.  A second dev_borrow() of it gives the same
 * address.  -EINVAL: no handle; -EXDEV: it is this process's own; -ENOENT: its
 * owner or it is gone; -ENODEV: a device that is hidden; -EACCES: one that
 * this one does not reach; -ENOSPC: not so much of it. */
int dev_open_memory(int device, const struct dev_export *h, void **out);
int dev_give_back(void *p);
/* A descriptor of the memory, for the caller to close; offset: where p is in
 * it, which is its position, too. */
int dev_dmabuf(const void *p, size_t size, int *fd, uint64_t *offset);

/* What NICs have stored in memory of this process is seen by devices. */
void dev_flush(void);
/* A NIC of this process has read there; for that NIC, by its name. */
void dev_nic_has_read(void) __attribute__((visibility("default")));
/* A register, or NULL: a store of anything but 0 is such a flush. */
extern uint32_t *dev_flush_register;

/* Where a thread of the device finds n bytes at p: NULL if some of them are
 * not its to touch.  dev_reach(): as a kernel, which meets no pageable host
 * memory but on a coherent device; dev_touch(): as a copy, which may. */
void *dev_reach(const void *p, size_t n);
void *dev_touch(const void *p, size_t n);
/* Are atomics of that device's kernels atomic at p? */
bool dev_atomic(int device, const void *p);
/* Host memory at p is neither pinned nor the device's: copies with it hold
 * the caller up. */
bool dev_pageable(const void *p);

/* ---- streams ---- */
struct dev_stream {
    struct dev_stream *next;    /* of all; none is ever freed */
    struct dev_queue *queue;
    int device, priority;
    uint64_t id;                /* never used again */
    bool fenced;                /* ordered with the default stream */
    bool live;
    struct dev_graph *graph;    /* that it records, or NULL */
    bool joined;                /* what it has recorded is waited for */
    uint64_t given, done;       /* commands */
    uint64_t wanted;            /* of them: a late one may not wait longer */
    void *owner;                /* the stand-in's */
};

/* A place in a stream; zeros have been passed. */
struct dev_mark {
    struct dev_stream *stream;
    uint64_t at;
    struct dev_graph *graph;    /* in which it was recorded, or NULL */
};

/* The device's own, with which fenced ones are in order. */
struct dev_stream *dev_default(int device);
/* The calling thread's own, one for each owner (a context, say): fenced; it
 * goes with the thread, and what it holds still runs. */
struct dev_stream *dev_per_thread(int device, void *owner);
struct dev_stream *dev_stream_create(int device, bool fenced, int priority);
/* What it holds still runs. */
void dev_stream_destroy(struct dev_stream *s);
/* The live stream at this address, or NULL.  Dead: one was, and none is. */
struct dev_stream *dev_stream_find(const void *s);
bool dev_stream_dead(const void *s);
bool dev_busy(struct dev_stream *s);
/* Returns what dev_fault() says. */
int dev_sync(struct dev_stream *s);
int dev_sync_all(int device);
/* Has a command failed?  As on hardware, nothing runs any more. */
int dev_fault(void);

/* ---- commands ---- */
enum { DEV_AGAIN = 1, DEV_ARG = 256 };
/* Runs on the device: 0, DEV_AGAIN to be run again, or -errno: a fault. */
typedef int dev_step(void *arg);
/* arg is copied, DEV_ARG bytes at most. */
void dev_submit(struct dev_stream *s, dev_step *step, const void *arg,
                size_t n);
/* The same of a kernel: none runs while another process's spins. */
void dev_launch(struct dev_stream *s, dev_step *step, const void *arg,
                size_t n);
/* The same, but it waits until the stream is to go on: a second at most. */
void dev_late(struct dev_stream *s, dev_step *step, const void *arg, size_t n);

enum dev_compare { DEV_GEQ, DEV_EQ, DEV_AND, DEV_NOR, DEV_GEQ_UNSIGNED };
struct dev_blocks {
    void *to;
    const void *from;
    size_t len, count;
    ptrdiff_t to_stride, from_stride;
    bool kernel;                /* touches memory as kernels do */
};
enum dev_word_op {
    DEV_FETCH, DEV_SET, DEV_SWAP, DEV_CSWAP, DEV_ADD, DEV_AND_WORD, DEV_OR,
    DEV_XOR
};
struct dev_amo {
    enum dev_word_op op;
    int size;
    void *word, *result;        /* result may be NULL */
    uint64_t value, cond;
};

/* Waits for the stream and copies itself where a side is pageable. */
void dev_copy(struct dev_stream *s, void *to, const void *from, size_t n);
void dev_copy_blocks(struct dev_stream *s, const struct dev_blocks *b);
/* `width` bytes (1, 2 or 4) of value, n times. */
void dev_fill(struct dev_stream *s, void *to, uint32_t value, int width,
              size_t n);
void dev_amo(struct dev_stream *s, const struct dev_amo *a);
/* Words of size 4 or 8; dev_store(): of 8, by a kernel. */
void dev_write(struct dev_stream *s, void *word, uint64_t value, int size);
void dev_store(struct dev_stream *s, void *word, uint64_t value);
/* `mask` is applied to the word first.  DEV_GEQ is cyclic. */
void dev_wait(struct dev_stream *s, void *word, uint64_t value, uint64_t mask,
              int size, enum dev_compare how);
/* Of 8 bytes, with a flush of what NICs have stored. */
void dev_wait_flush(struct dev_stream *s, void *word, uint64_t value,
                    enum dev_compare how);
void dev_host(struct dev_stream *s, void (*fn)(void *arg), void *arg);
void dev_record(struct dev_stream *s, struct dev_mark *m);
void dev_await(struct dev_stream *s, struct dev_mark m);
bool dev_passed(struct dev_mark m);
void dev_mark_sync(struct dev_mark m);

#include "dev_kernel.h"
#include "dev_span.h"

#endif

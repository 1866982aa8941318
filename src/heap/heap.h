/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - symmetric segments, address translation and the allocator.
 * A PE has up to three segments: the host heap, the static data of its main
 * program, and the device heap once there is one.  The first
 * two lie in the PE's slot of one memfd that its whole node maps:
 *
 *     slot: [ reserved | pool | blocks of shmem_malloc ... ][ static data ]
 *
 * Where the file has reserved huge pages, static data, whose place has small
 * ones, is in a file of its own.
 *
 * Each PE maps the file so that its own slot begins at a multiple of the
 * largest power of two that a slot's heap holds (heap_plan_align): an offset in
 * the host segment is aligned as the PE's own address is, on every PE.  Slots
 * themselves are multiples of HEAP_ALIGN only; alignments that were promised
 * to hold in the peers' mappings, too, would double the file.
 * An address travels as (segment, offset), since bases differ between PEs.
 * Every PE makes the same allocation calls in the same order, so offsets
 * agree without traffic.
 * Threads: heap_find() and the segment table are wait-free; the allocator
 * takes its own lock; opening and closing run on one thread.
 * Errors: 0 or -errno, logged here. */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include "base/atomics.h"
#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum heap_seg_id { HEAP_HOST, HEAP_DATA, HEAP_DEVICE, HEAP_SEGS };

/* A huge page: the alignment of slots, device memory and spaces. */
#define HEAP_ALIGN ((size_t)2 << 20)

struct heap_seg {
    uintptr_t base;             /* 0 with size 0: the segment is absent */
    size_t size;
};
extern hidden struct heap_seg heap_segs[HEAP_SEGS];
/* Where the main program is loaded: addresses less that are those of nm. */
extern hidden uintptr_t heap_program;

/* The sizes of a slot; one PE of the node plans for all. */
struct heap_plan {
    size_t data_size;           /* whole pages; 0: static data stays private */
    uint64_t data_hash;         /* equal where programs lay data out alike */
    size_t host_size;           /* reserved area, blocks and pool */
    size_t pool_size;          /* of that, the library's own: heap_pool_alloc */
    size_t requested_size;      /* SHMEM_SYMMETRIC_SIZE; 0: it is not set */
    size_t user_size;           /* that, or what was chosen in its place */
    size_t slot_size;           /* distance between two PEs' slots; the end of
                                 * one is never touched */
    size_t huge_requested;      /* reserved pages of that size are asked for */
    size_t huge_page;           /* and got, without static data; 0: not */
};

/* The plan where n_pes share the memory, checked against the memory of the
 * machine and of the container: -ENOMEM names what is short.  A size that is not
 * set is a share of `available` bytes; 0: of what is available now. */
int heap_plan_make(int n_pes, size_t available, struct heap_plan *out);
/* The alignment of the base of a PE's own slot: no block of the heap can have a
 * larger one. */
size_t heap_plan_align(const struct heap_plan *plan);
/* Does this process lay out its static data as the plan says?  An empty plan
 * says nothing. */
bool heap_plan_matches(const struct heap_plan *plan);
/* Does this node's plan have the sizes of first, that of PE 0's node?
 * -EINVAL, logged: no. */
int heap_plan_compare(const struct heap_plan *plan,
                    const struct heap_plan *first);
/* The sizes of segments in PE 0's plan. */
extern hidden size_t heap_agreed_size[HEAP_SEGS];
/* Without static data in the slot: for programs that differ. */
void heap_plan_without_data(struct heap_plan *plan);

/* Without huge pages: the same with the usual ones, checked as when made. */
int heap_plan_without_huge(int n_pes, struct heap_plan *plan);

/* A part of a file that is this PE's, and where it is mapped. */
struct heap_mapping {
    int fd;
    off_t at;
    char *mapped;
};
/* Moves the static data to its place and makes the heap ready.  Takes over the
 * descriptors, which may be the same one, if it succeeds. */
int heap_open(const struct heap_plan *plan, const struct heap_mapping *host,
              const struct heap_mapping *data);
/* Gives static data back to this process alone; forgets all blocks. */
void heap_close(void);

/* The file of HEAP_HOST or HEAP_DATA while the heap is open, or -1: a program
 * may have closed what it did not open.  Async-signal-safe. */
int heap_file(int seg);

/* Is it static data of the main program that is not symmetric?  Slow. */
bool heap_static_is_private(const void *ptr);

/* Calls of layers that heap does not include.  sm sets these before
 * heap_open(). */
struct heap_hooks {
    /* Copies and fills device-only memory; done on return: 0 or -errno. */
    int (*copy)(void *to, const void *from, size_t n);
    int (*fill)(void *to, int byte, size_t n);
    /* Ends the job; ends a forked child, which is no PE. */
    void (*abort)(int status), (*leave)(int status);
};
extern hidden struct heap_hooks heap_hooks;

/* Runs in a forked child, whose static data is private again. */
extern void (*heap_fork_child)(void);

/* Memory for the library's own symmetric flags: zeroed, never freed, at the
 * same offsets on all PEs if these make the same calls in the same order. */
void *heap_reserve(size_t size, size_t align);

/* Memory that only some PEs share, such as the flags of a team: each PE takes
 * it from its own pool, so offsets differ and have to be exchanged.  Zeroed,
 * aligned to a cache line; NULL when the pool is used up. */
void *heap_pool_alloc(size_t size);
void heap_pool_free(void *ptr);
/* All of it, for messages. */
size_t heap_pool_size(void);
/* Bytes used from the start: those of the host segment in front of the
 * program's blocks. */
size_t heap_fixed_size(void);

/* ---- spaces: parts of a segment with an allocator of their own ---- */

struct heap_arena;
struct heap_space {
    int seg;
    size_t from, to;            /* offsets in the segment */
    size_t align;               /* that the segment's base has on every PE: the
                                 * largest of a block; a power of two */
    struct heap_arena *arena;   /* NULL: there is no memory */
    struct heap_space *parent;  /* that it was cut out of */
    struct list_link link;      /* in the list of those */
};
extern struct heap_space heap_default, heap_device;

int heap_space_open(struct heap_space *s, size_t from, size_t to,
                    size_t align);
void heap_space_close(struct heap_space *s);
/* A space of size bytes inside another one: -ENOMEM.  Its blocks go with it. */
int heap_space_create(struct heap_space *from, size_t size,
                   struct heap_space **out);
void heap_space_destroy(struct heap_space *s);
void heap_space_destroy_all(void);         /* at the end of the library */
bool heap_space_is_created(const struct heap_space *s);  /* by cut, and live? */
/* The innermost one around that address, or NULL. */
struct heap_space *heap_space_of(const void *ptr);

/* The symmetric allocator.  align is a power of two (0: the default).  -EDOM:
 * more than the segment's base has. */
int heap_alloc(struct heap_space *s, size_t size, size_t align, long hints,
               void **out);
/* Is ptr the start of a live block?  Its size and hints if so. */
bool heap_block(const void *ptr, size_t *size, long *hints);
/* Bytes from ptr to the end of the live block around it: slow, for messages. */
bool heap_block_rest(const void *ptr, size_t *room);
/* Keeps the block in place where it can, else moves the content: to space `to`,
 * or with NULL within its own.  ready() first provides the memory of the new
 * block; -ENOBUFS: it failed, and nothing has changed.  -EREMOTEIO: the device
 * did not copy the content: the heap is not as on other PEs any more. */
typedef bool heap_prepare(const char *call, const void *p, size_t size);
int heap_resize(struct heap_space *to, void *ptr, size_t size,
                heap_prepare *ready, const char *call, void **out);
void heap_free(void *ptr);      /* ptr must be a live block */
/* Zeros, wherever that is: -errno where the device fails. */
int heap_clear(void *ptr, size_t size);

/* ---- heap_guard.c: red zones around the blocks of the host's heap ---- */
/* From now on, on all PEs alike; there are no blocks yet. */
void heap_guard_on(int pe);
/* Of a new block. */
void heap_guard_fill(void *ptr);
/* Overwritten beside a block: so many bytes, counted from it. */
struct heap_damage {
    const void *block;
    size_t size, bytes;
    bool before;
};
/* Of that block; or of the next few thousand. */
bool heap_guard_damaged(const void *ptr, struct heap_damage *out);
bool heap_guard_scan(size_t most, struct heap_damage *out);

struct heap_usage {
    size_t total, used, largest_free, blocks, peak_used;
};
void heap_usage_get(const struct heap_space *s, struct heap_usage *out);
/* Bytes of the default space in use, and all: async-signal-safe, maybe of a
 * moment ago. */
void heap_used(const struct heap_space *s, size_t *used, size_t *total);

/* ---- heap_env.c: settings with several variables ---- */

/* The size that the user gave that segment; the variable's name without
 * SHMEM_, or NULL where none is set. */
const char *heap_env_size(int seg, size_t *out);
enum heap_env_state { HEAP_ENV_OFF, HEAP_ENV_ON, HEAP_ENV_UNSET };
/* Is there to be a space of that segment? */
enum heap_env_state heap_env_enabled(int seg);
/* The variable that says so, without SHMEM_, or NULL. */
const char *heap_env_enabled_by(int seg);
/* Of variables that mean the same and differ. */
void heap_env_warn(void);

/* ---- heap_device.c: the segment of device memory ---- */
/* Does the environment ask for it from the start? */
bool heap_device_wanted(void);
/* The processor may load and store it. */
extern hidden bool heap_device_host_access;
/* Makes heap_device ready in [base, base + size), of which the first bytes
 * have memory; extend() says that more of them have. */
int heap_device_attach(void *base, size_t size, size_t has_memory,
                       bool host_access);
void heap_device_extend(size_t has_memory);
/* Is there memory behind these bytes?  True of bytes that are not the device
 * heap's. */
bool heap_device_has_memory(const void *p, size_t size);
/* The alignment of this PE's base; that of all PEs, from then on. */
size_t heap_device_align(void);
void heap_device_agree(size_t align);
void heap_device_detach(void);

/* It changes where a device heap grows, whose base does not. */
static inline size_t heap_seg_size(int seg)
{
    return __atomic_load_n(&heap_segs[seg].size, __ATOMIC_RELAXED);
}

/* The segment that holds all of [ptr, ptr + len), or -1. */
static inline int heap_find(const void *ptr, size_t len)
{
    for (int i = 0; i < HEAP_SEGS; i++) {
        uintptr_t off = (uintptr_t)ptr - heap_segs[i].base;
        size_t size = heap_seg_size(i);

        if (off < size && len <= size - off)
            return i;
    }
    return -1;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric memory: each call is made by every PE with the same arguments.
 *
 * Every PE runs the same allocator over the same offsets, so the calls agree
 * without traffic as long as the arguments do.  The first calls (and all of a
 * debug build) prove it: each PE publishes its arguments before the barrier
 * that the call makes anyway, and compares with its neighbour after it; if
 * any pair differs, whoever notices names the odd PE.  Two sets of words,
 * used in turn, keep a fast PE from overwriting what a slow one still reads:
 * it cannot reach the call after next before all have left this one. */
#include "api/api.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/lock.h"
#include "coll/coll.h"
#include "heap/heap.h"

#include <inttypes.h>
#include <string.h>

enum alloc_kind { ALLOC_MALLOC = 1, ALLOC_REALLOC, ALLOC_FREE };

struct alloc_args {
    uint64_t kind, size, align_or_offset, hints;
};
_Static_assert(sizeof(struct alloc_args) ==
                   sizeof((struct core_ctl *)0)->alloc_args[0],
               "the control block holds the arguments");

static uint64_t calls;

void api_heap_open(void)
{
    calls = 0;
}

static struct alloc_args args_of(int pe, unsigned turn)
{
    struct alloc_args a;

    memcpy(&a, core_peer_ctl(pe)->alloc_args[turn], sizeof a);
    return a;
}

static bool same(const struct alloc_args *a, const struct alloc_args *b)
{
    return !memcmp(a, b, sizeof *a);
}

/* The arguments most PEs passed; on a tie those of the lowest PE. */
static int majority_pe(unsigned turn)
{
    int best = 0, best_votes = 0, votes;
    struct alloc_args a, b;

    for (int i = 0; i < core_world.n_pes; i++) {
        a = args_of(i, turn);
        votes = 0;
        for (int j = 0; j < core_world.n_pes; j++) {
            b = args_of(j, turn);
            votes += same(&a, &b);
        }
        if (votes > best_votes) {
            best_votes = votes;
            best = i;
        }
        if (2 * votes > core_world.n_pes)
            break;
    }
    return best;
}

_Noreturn static void name_odd(const char *call, unsigned turn)
{
    int usual = majority_pe(turn), odd = 0;
    struct alloc_args u = args_of(usual, turn), o = u;

    while (odd < core_world.n_pes) {
        o = args_of(odd, turn);
        if (!same(&u, &o))
            break;
        odd++;
    }
    if (u.kind != o.kind)
        core_fatal(ERR_HEAPARG, call, "allocation call %" PRIu64 ": PE %d is in "
                   "another kind of call than PE %d", calls, odd, usual);
    core_fatal(ERR_HEAPARG, call, "allocation call %" PRIu64 ": PE %d passed "
               "size %" PRIu64 ", %s %" PRIu64 ", hints %" PRIu64 ", PE %d "
               "passed %" PRIu64 ", %" PRIu64 ", %" PRIu64, calls, odd, o.size,
               o.kind == ALLOC_MALLOC ? "alignment" : "block offset",
               o.align_or_offset, o.hints, usual, u.size, u.align_or_offset,
               u.hints);
}

/* The barrier of an allocation call, with the comparison when it is due. */
static void meet(const char *call, struct alloc_args a)
{
    unsigned turn = calls++ & 1;
    int next = (core_world.my_pe + 1) % core_world.n_pes;
    struct alloc_args b;

#ifdef SLUICE_DEBUG
    const bool compare = true;
#else
    const bool compare = calls <= (uint64_t)env.CHECK_ALLOC;
#endif
    if (compare)
        memcpy(core_ctl->alloc_args[turn], &a, sizeof a);
    coll_barrier_world();
    if (!compare)
        return;
    b = args_of(next, turn);
    if (!same(&a, &b))
        name_odd(call, turn);
}

/* Each place of the program that ran out is told once, by PE 0: all PEs run
 * out together. */
static void tell_full(const char *call, size_t size, const void *caller)
{
    enum { PLACES = 256 };
    static const void *told[PLACES];
    char asked[24], used[24], total[24], largest[24];
    struct heap_usage u;
    int i;

    for (i = 0; i < PLACES && told[i] && told[i] != caller; i++)
        ;
    if (core_world.my_pe || i == PLACES || told[i] == caller)
        return;
    told[i] = caller;
    heap_usage_get(&u);
    log_warn(ERR_HEAP, "%s: the symmetric heap is full: asked %s, used %s of "
             "%s, largest free block %s; raise SHMEM_SYMMETRIC_SIZE",
             call + (call[0] == 'p'), log_size(asked, size),
             log_size(used, u.used), log_size(total, u.total),
             log_size(largest, u.largest_free));
}

struct request {
    size_t size, align;
    long hints;
    bool clear;
};

static void *allocate(const char *call, const struct request *r,
                      const void *caller)
{
    void *p = NULL;

    core_need_up(call);
    if (r->size == 0)
        return NULL;
    if (fault_hit(FAULT_HEAP_ALLOC) ||
        heap_alloc(r->size, r->align, r->hints, &p))
        tell_full(call, r->size, caller);
    else if (r->clear)
        memset(p, 0, r->size);
    meet(call, (struct alloc_args){ ALLOC_MALLOC, r->size, r->align,
                                    (uint64_t)r->hints });
    return p;
}

void *pshmem_malloc(size_t size)
{
    return allocate(__func__, &(struct request){ .size = size },
                    __builtin_return_address(0));
}
API_ALIAS(shmem_malloc)

void *pshmem_calloc(size_t count, size_t size)
{
    size_t bytes;

    core_need_up(__func__);
    /* Too much to express is too much to have, on every PE alike. */
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return allocate(__func__, &(struct request){ .size = bytes, .clear = true },
                    __builtin_return_address(0));
}
API_ALIAS(shmem_calloc)

void *pshmem_align(size_t alignment, size_t size)
{
    core_need_up(__func__);
    if (CORE_CHECK(alignment % sizeof(void *) || !alignment ||
                   alignment & (alignment - 1))) {
        if (core_world.my_pe == 0)
            log_warn(ERR_ARG, "shmem_align: alignment %zu is not a power of "
                     "two and a multiple of %zu", alignment, sizeof(void *));
        return NULL;
    }
    return allocate(__func__,
                    &(struct request){ .size = size, .align = alignment },
                    __builtin_return_address(0));
}
API_ALIAS(shmem_align)

void *pshmem_malloc_with_hints(size_t size, long hints)
{
    return allocate(__func__, &(struct request){ .size = size, .hints = hints },
                    __builtin_return_address(0));
}
API_ALIAS(shmem_malloc_with_hints)

static uint64_t block_offset(const void *ptr)
{
    return (uintptr_t)ptr - heap_segs[HEAP_HOST].base;
}

/* The block's size, or a fatal error. */
static size_t need_block(const char *call, const void *ptr)
{
    size_t size = 0;
    long hints;

    if (!heap_block(ptr, &size, &hints))
        core_fatal(ERR_FREE, call, heap_find(ptr, 1) == HEAP_HOST
                   ? "%p is not the start of a live block: freed twice, or a "
                     "pointer into a block"
                   : "%p is not in the symmetric heap", ptr);
    return size;
}

void pshmem_free(void *ptr)
{
    core_need_up(__func__);
    if (!ptr)
        return;
    need_block(__func__, ptr);
    meet(__func__, (struct alloc_args){ ALLOC_FREE, 0, block_offset(ptr), 0 });
    heap_free(ptr);
}
API_ALIAS(shmem_free)

void *pshmem_realloc(void *ptr, size_t size)
{
    void *moved = NULL;

    core_need_up(__func__);
    if (!ptr)
        return allocate(__func__, &(struct request){ .size = size },
                        __builtin_return_address(0));
    if (!size) {
        pshmem_free(ptr);
        return NULL;
    }
    need_block(__func__, ptr);
    /* Nobody's traffic to the old place is under way when it moves, and
     * nobody's to the new place starts before all have moved. */
    meet(__func__, (struct alloc_args){ ALLOC_REALLOC, size, block_offset(ptr),
                                        0 });
    if (fault_hit(FAULT_HEAP_ALLOC) || heap_resize(ptr, size, &moved))
        tell_full(__func__, size, __builtin_return_address(0));
    coll_sync(&core_world);
    return moved;
}
API_ALIAS(shmem_realloc)

/* Names from before 1.2. */
void *pshmalloc(size_t size)
{
    return allocate(__func__, &(struct request){ .size = size },
                    __builtin_return_address(0));
}
API_ALIAS(shmalloc)

void pshfree(void *ptr)
{
    pshmem_free(ptr);
}
API_ALIAS(shfree)

void *pshrealloc(void *ptr, size_t size)
{
    return pshmem_realloc(ptr, size);
}
API_ALIAS(shrealloc)

void *pshmemalign(size_t alignment, size_t size)
{
    return pshmem_align(alignment, size);
}
API_ALIAS(shmemalign)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: blocks lie at the same place of every PE's heap, do not
 * overlap, keep their content, and all of the heap can be had.
 * PEs: 1 2 4
 * Ppn: 4/2
 * Env: SHMEM_SYMMETRIC_SIZE=4m SHMEM_CHECK=0
 * Expect: shmem_align: alignment 24 is not a power of two .*\[S-W-ARG\]
 * Expect: shmem_malloc: .* full: asked 4\.0 MiB, used 1008 B of 4\.0 MiB, larg
 * Expect: raise SHMEM_SYMMETRIC_SIZE \[S-W-HEAP\]$
 * Reject: S-E- */
#include "../t.h"

#include <shmem.h>

enum { HEAP = 4 << 20, BLOCKS = 200, STEPS = 3000, MANY = 4096 };

static int me, n_pes, next;
static char *base;              /* an address to measure from */
static long offsets[2];

/* Every PE got this block at one offset from base, or none got it. */
static bool same_place(const void *p)
{
    static int turn;
    long off = p ? (const char *)p - base : LONG_MIN;

    turn = !turn;               /* the word before is perhaps still read */
    shmem_long_p(&offsets[turn], off, next);
    shmem_barrier_all();
    return offsets[turn] == off;
}

static void fill(char *p, size_t size, int tag)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (char)(tag * 31 + me * 7 + (int)(i % 119));
}

static bool is_filled(const char *p, size_t size, int tag)
{
    for (size_t i = 0; i < size; i++)
        if (p[i] != (char)(tag * 31 + me * 7 + (int)(i % 119)))
            return false;
    return true;
}

static bool is_zero(const char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i])
            return false;
    return true;
}

/* The whole heap is one free block again. */
static void expect_empty(void)
{
    char *all = shmem_malloc(HEAP);

    T_TRUE(all != NULL);
    shmem_free(all);
}

T(the_whole_heap_is_one_block)
{
    char *all = shmem_malloc(HEAP), *more, *other = all + HEAP - 8;

    T_TRUE(all != NULL);
    if (!all)
        return;
    base = all;
    fill(all, HEAP, 1);
    T_EQ(shmem_malloc(1), NULL);
    shmem_barrier_all();
    shmem_long_p((long *)(void *)other, 1234 + me, next);
    shmem_barrier_all();
    T_EQ(*(long *)(void *)other, 1234 + (me + n_pes - 1) % n_pes);
    T_TRUE(is_filled(all, HEAP - 8, 1));
    T_EQ(shmem_realloc(all, HEAP + 1), NULL);
    T_TRUE(is_filled(all, HEAP - 8, 1));
    more = shmem_realloc(all, HEAP);
    T_EQ(more, all);
    shmem_free(more);
    T_EQ(shmem_malloc(HEAP + 1), NULL);
    T_EQ(shmem_malloc(SIZE_MAX), NULL);
    T_EQ(shmem_malloc(SIZE_MAX - 15), NULL);
    T_EQ(shmem_calloc(SIZE_MAX / 2, 3), NULL);
    T_EQ(shmem_calloc(HEAP, 2), NULL);
    expect_empty();
}

T(many_blocks_fill_the_heap)
{
    static char *p[MANY + 1];
    enum { SIZE = HEAP / MANY };

    for (int i = 0; i < MANY; i++) {
        p[i] = shmem_malloc(SIZE);
        if (!T_TRUE(p[i] != NULL))
            return;
        fill(p[i], SIZE, i);
    }
    T_EQ(shmem_malloc(1), NULL);
    for (int i = 0; i < MANY; i++)
        T_TRUE(is_filled(p[i], SIZE, i));
    T_TRUE(same_place(p[MANY - 1]));
    /* Every other one goes: half is free, but nothing larger than a hole. */
    for (int i = 0; i < MANY; i += 2)
        shmem_free(p[i]);
    T_EQ(shmem_malloc(SIZE + 1), NULL);
    for (int i = 0; i < MANY; i += 2) {
        p[i] = shmem_malloc(SIZE);
        if (!T_TRUE(p[i] != NULL))
            return;
        fill(p[i], SIZE, i);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        T_TRUE(is_filled(p[i], SIZE, i));
        shmem_free(p[i]);
    }
    expect_empty();
}

/* Any of the calls that give a block; *align is what it promises. */
static char *take(size_t size, size_t *align)
{
    static const long hints[] = {
        0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
        SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE
    };
    char *p;

    *align = 16;
    switch (T_RAND() % 6) {
    case 0:
        return shmem_malloc(size);
    case 1:
        p = shmem_calloc(size, 1);
        T_TRUE(!p || is_zero(p, size));
        return p;
    case 2:
        *align = sizeof(void *) << T_RAND() % 12;
        return shmem_align(*align, size);
    case 3:
        return shmem_realloc(NULL, size);
    case 4:
        return shmalloc(size);
    default:
        return shmem_malloc_with_hints(size, hints[T_RAND() % 4]);
    }
}

/* All PEs draw the same calls. */
T(random_calls)
{
    static struct { char *p; size_t size; int tag; } b[BLOCKS];
    size_t size, align = 16, kept;
    char *moved;

    for (int step = 0; step < STEPS; step++) {
        int i = (int)(T_RAND() % BLOCKS);

        size = 1 + T_RAND() % (T_RAND() % 8 ? 3000 : 60000);
        if (!b[i].p) {
            b[i].p = take(size, &align);
            T_TRUE((uintptr_t)b[i].p % align == 0);
        } else if (T_RAND() % 2) {
            T_TRUE(is_filled(b[i].p, b[i].size, b[i].tag));
            if (T_RAND() % 2)
                shmem_free(b[i].p);
            else
                shfree(b[i].p);
            b[i].p = NULL;
            continue;
        } else {
            kept = size < b[i].size ? size : b[i].size;
            moved = T_RAND() % 2 ? shmem_realloc(b[i].p, size)
                                 : shrealloc(b[i].p, size);
            if (!moved) {       /* then it has stayed as it was */
                T_TRUE(is_filled(b[i].p, b[i].size, b[i].tag));
                continue;
            }
            T_TRUE(is_filled(moved, kept, b[i].tag));
            b[i].p = moved;
        }
        if (step % 16 == 0)
            T_TRUE(same_place(b[i].p));
        b[i].size = size;
        b[i].tag = step;
        if (b[i].p)
            fill(b[i].p, size, step);
    }
    for (int i = 0; i < BLOCKS; i++) {
        T_TRUE(!b[i].p || is_filled(b[i].p, b[i].size, b[i].tag));
        shmem_free(b[i].p);
    }
    expect_empty();
}

T(calloc_clears_used_memory)
{
    char *p = shmem_malloc(HEAP);

    if (!T_TRUE(p != NULL))
        return;
    memset(p, 0xa5, HEAP);
    shmem_free(p);
    p = shmem_calloc(HEAP / 8, 8);
    T_TRUE(p != NULL);
    T_TRUE(p && is_zero(p, HEAP));
    shmem_free(p);
}

T(realloc_keeps_the_block_or_its_content)
{
    char *a = shmem_malloc(5000), *b = shmem_malloc(5000), *c;

    fill(a, 5000, 1);
    fill(b, 5000, 2);
    c = shmem_realloc(a, 9000);             /* b is in the way */
    T_TRUE(c != NULL && c != a && c != b);
    T_TRUE(same_place(c));
    T_TRUE(is_filled(c, 5000, 1));
    a = shmem_realloc(c, 100);
    T_EQ(a, c);
    T_TRUE(is_filled(a, 100, 1));
    T_EQ(shmem_realloc(a, HEAP - 100), NULL);
    T_EQ(shmem_realloc(a, SIZE_MAX), NULL);
    T_TRUE(is_filled(a, 100, 1));
    T_TRUE(is_filled(b, 5000, 2));
    T_EQ(shmem_realloc(b, 0), NULL);        /* frees */
    T_EQ(shrealloc(a, 0), NULL);
    expect_empty();
}

T(alignments)
{
    static const size_t bad[] = { 24, 0, 7, 12, 4097, SIZE_MAX };
    char *p, *first = shmem_malloc(3);

    for (size_t align = sizeof(void *); align <= HEAP / 2; align *= 2) {
        p = align & 0x5555 ? shmem_align(align, 100) : shmemalign(align, 100);
        T_TRUE(p != NULL);
        T_EQ((uintptr_t)p % align, 0);
        T_TRUE(same_place(p));
        shmem_free(p);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T_EQ(shmem_align(bad[i], 64), NULL);
    T_EQ(shmem_align((size_t)1 << 62, 8), NULL);
    for (size_t size = 1; size < 100000; size = size * 2 + 1) {
        p = shmem_malloc(size);
        T_EQ((uintptr_t)p % (size < 2048 ? 16 : 64), 0);
        shmem_free(p);
    }
    shmem_free(first);
    expect_empty();
}

/* Nor do the PEs synchronize, unless all calls are compared: one PE makes
 * these. */
T(sizes_of_zero_and_null_do_nothing)
{
    if (me == n_pes - 1) {
        T_EQ(shmem_malloc(0), NULL);
        T_EQ(shmem_calloc(0, 8), NULL);
        T_EQ(shmem_calloc(8, 0), NULL);
        T_EQ(shmem_align(64, 0), NULL);
        T_EQ(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE), NULL);
        T_EQ(shmem_realloc(NULL, 0), NULL);
        T_EQ(shmalloc(0), NULL);
        shmem_free(NULL);
        shfree(NULL);
    }
    expect_empty();
}

/* One place, whatever the compiler makes of the loop below. */
static __attribute__((noinline)) void *too_much(void)
{
    void *volatile p = shmem_malloc(HEAP);  /* no jump in place of a call */

    return p;
}

/* How often one place that runs out says so. */
T(a_full_heap_is_reported_once_per_place)
{
    FILE *log = tmpfile();
    int stderr_was = dup(2), lines = 0;
    char *p = shmem_malloc(1000);

    if (!T_TRUE(log != NULL && stderr_was >= 0))
        return;
    dup2(fileno(log), 2);
    for (int i = 0; i < 5; i++)
        T_EQ(too_much(), NULL);
    dup2(stderr_was, 2);
    close(stderr_was);
    rewind(log);
    for (int c = getc(log); c != EOF; c = getc(log)) {
        lines += c == '\n';
        putc(c, stderr);
    }
    fclose(log);
    T_EQ(lines, me == 0);
    shmem_free(p);
}

/* What a peer put before the call is there after it. */
T(allocation_and_free_are_barriers)
{
    static long done[3];
    struct timespec pause_ms = { 0, 4000000 * (long)me };
    long *p;

    nanosleep(&pause_ms, NULL);
    shmem_long_p(&done[0], 1, next);
    p = shmem_malloc(sizeof *p);
    T_EQ(done[0], 1);
    *p = 0;
    nanosleep(&pause_ms, NULL);
    shmem_long_p(&done[1], 1, next);
    p = shmem_realloc(p, 2 * sizeof *p);
    T_EQ(done[1], 1);
    nanosleep(&pause_ms, NULL);
    shmem_long_p(&done[2], 1, next);
    shmem_free(p);
    T_EQ(done[2], 1);
}

/* What was put into the old block moves with it, and no PE still moves its
 * block when another puts into it. */
T(realloc_meets_before_and_after)
{
    enum { SIZE = HEAP / 5, ROUNDS = 20 };
    struct timespec pause_ms = { 0, 300000 * (long)me };
    long *p, *blocker, lost = 0;
    size_t last = SIZE / sizeof *p - 1;

    for (int r = 1; r <= ROUNDS; r++) {
        p = shmem_malloc(SIZE);
        blocker = shmem_malloc(64);
        memset(p, 0, SIZE);
        shmem_barrier_all();
        nanosleep(&pause_ms, NULL);
        shmem_long_p(p, r, next);
        p = shmem_realloc(p, 2 * SIZE);
        if (!T_TRUE(p != NULL))
            return;
        shmem_long_p(&p[last], r, next);
        shmem_barrier_all();
        lost += (p[0] != r) + (p[last] != r);
        shmem_free(blocker);
        shmem_free(p);
    }
    T_EQ(lost, 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    T_PE(me);
    T_RUN(the_whole_heap_is_one_block);
    T_RUN(many_blocks_fill_the_heap);
    T_RUN(random_calls);
    T_RUN(calloc_clears_used_memory);
    T_RUN(realloc_keeps_the_block_or_its_content);
    T_RUN(alignments);
    T_RUN(sizes_of_zero_and_null_do_nothing);
    T_RUN(a_full_heap_is_reported_once_per_place);
    T_RUN(allocation_and_free_are_barriers);
    T_RUN(realloc_meets_before_and_after);
    shmem_finalize();
    return T_DONE();
}

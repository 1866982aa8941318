/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sizes, counts and strides beyond 2^31 bytes and offsets beyond
 * 2^32 are moved whole and to the right place.
 * Light: one PE moves, the other waits
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_SYMMETRIC_SIZE=5G
 * Reject: \[S- */
#include "off_node.h"

#include <sys/mman.h>

#define GIB ((size_t)1 << 30)
/* The large transfers: 8 bytes more than an int can count.  In the heap they
 * begin below and end above 4 GiB. */
#define BYTES (2 * GIB + 8)
#define LONGS (BYTES / sizeof(long))
#define AT (2 * GIB + GIB / 2)
/* Two heaps, what a PE has of its own, and room for the rest of the machine. */
#define NEEDED (2 * 5 * GIB + 3 * GIB)

static int me;
static char *block, *local;

/* Words on both sides of where a count of 31 or 32 bits goes wrong, and in
 * the middle of pages that no other code reads. */
static const size_t places[] = {
    0, 4096 + 8, GIB - 8, GIB, 2 * GIB - 4096, 2 * GIB - 8, 2 * GIB
};
enum { PLACES = sizeof places / sizeof *places };

static long *word(char *base, size_t at)
{
    return (long *)(void *)(base + at);
}

/* "name: number" of a file of such lines, or the number alone. */
static size_t number(const char *path, const char *name, size_t none)
{
    char line[128], *end;
    size_t n = none, value;
    FILE *f = fopen(path, "r");

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)))
            continue;
        value = strtoull(line + strlen(name), &end, 10);
        if (end != line + strlen(name))
            n = value;
    }
    if (f)
        fclose(f);
    return n;
}

/* What the machine, or the container, still has. */
static size_t memory(void)
{
    size_t free = number("/proc/meminfo", "MemAvailable:", 0) * 1024;
    size_t most = number("/sys/fs/cgroup/memory.max", "", SIZE_MAX);
    size_t used = number("/sys/fs/cgroup/memory.current", "", 0);

    if (most != SIZE_MAX && most - used < free)
        free = used < most ? most - used : 0;
    return free;
}

static void mark(char *base, long first)
{
    for (int i = 0; i < PLACES; i++)
        *word(base, places[i]) = first + i;
}

static void expect_marks(char *base, long first)
{
    for (int i = 0; i < PLACES; i++)
        T_EQ(*word(base, places[i]), first + i);
}

/* PE 1 keeps the words around the target of a large put. */
static void guard(void)
{
    *word(block, AT - 8) = -1;
    *word(block, AT + BYTES) = -2;
}

static void expect_guards(void)
{
    T_EQ(*word(block, AT - 8), -1);
    T_EQ(*word(block, AT + BYTES), -2);
}

T(one_block_of_more_than_four_gib)
{
    block = shmem_malloc(AT + BYTES + 8);
    T_TRUE(block != NULL);
    T_TRUE(shmem_addr_accessible(block + AT + BYTES + 7, 1 - me));
    if (!some_are_off_node())
        T_TRUE((char *)shmem_ptr(block + AT + BYTES, 1 - me) -
               (char *)shmem_ptr(block, 1 - me) == (ptrdiff_t)(AT + BYTES));
}

T(small_transfers_far_away)
{
    static const size_t distant[] = { 2 * GIB, 4 * GIB, 4 * GIB + 4096 };
    long *p, *low, a[2] = { 5, 6 };

    for (int i = 0; i < 3; i++) {
        p = word(block, distant[i]);
        low = word(block, distant[i] & 0x7fffffff);
        *low = 1234;
        shmem_barrier_all();
        shmem_long_p(p, 10 + me, 1 - me);
        shmem_long_atomic_add(p + 1, 20 + me, 1 - me);
        shmem_long_put(p + 2, a, 2, 1 - me);
        shmem_int_put_signal((int *)(void *)(p + 4), &me, 1,
                             (uint64_t *)(p + 5), 7, SHMEM_SIGNAL_SET, 1 - me);
        T_EQ(shmem_signal_wait_until((uint64_t *)(p + 5), SHMEM_CMP_EQ, 7), 7);
        shmem_barrier_all();
        T_EQ(p[0], 11 - me);
        T_EQ(p[1], 21 - me);
        T_EQ(p[3], 6);
        T_EQ(*(int *)(void *)(p + 4), 1 - me);
        T_EQ(shmem_long_g(p, 1 - me), 10 + me);
        T_EQ(shmem_long_atomic_fetch(p + 1, 1 - me), 20 + me);
        shmem_long_get(a, p + 2, 2, 1 - me);
        T_EQ(a[0], 5);
        T_EQ(low[0], 1234);
    }
    shmem_barrier_all();
}

/* Two elements, more than 2 GiB apart in the heap and next to each other
 * here. */
T(strides_beyond_two_gib)
{
    const ptrdiff_t stride = (ptrdiff_t)(4 * GIB / sizeof(long));
    long two[2] = { 31 + me, 41 + me }, four[4] = { 1, 2, 3, 4 };
    long *distant = word(block, 4 * GIB);

    shmem_barrier_all();
    shmem_long_iput(word(block, 0), two, stride, 1, 2, 1 - me);
    shmem_barrier_all();
    T_EQ(*word(block, 0), 32 - me);
    T_EQ(*distant, 42 - me);
    two[0] = two[1] = 0;
    shmem_long_iget(two, word(block, 0), 1, stride, 2, 1 - me);
    T_EQ(two[0], 31 + me);
    T_EQ(two[1], 41 + me);
    shmem_barrier_all();
    shmem_long_ibput(word(block, 0), four, stride, 2, 2, 2, 1 - me);
    shmem_barrier_all();
    T_EQ(word(block, 0)[1], 2);
    T_EQ(distant[0], 3);
    T_EQ(distant[1], 4);
    memset(four, 0, sizeof four);
    shmem_long_ibget(four, word(block, 0), 2, stride, 2, 2, 1 - me);
    T_EQ(four[1], 2);
    T_EQ(four[3], 4);
    shmem_barrier_all();
}

T(a_put_of_more_bytes_than_an_int_counts)
{
    if (me == 1) {
        mark(block + AT, -100);
        guard();
    } else {
        mark(local, 100);
    }
    shmem_barrier_all();
    if (me == 0)
        shmem_putmem(block + AT, local, BYTES, 1);
    shmem_barrier_all();
    if (me == 1) {
        expect_marks(block + AT, 100);
        expect_guards();
    }
}

/* What the put before has left on PE 1. */
T(a_get_of_as_many_bytes_in_longs)
{
    if (me == 0) {
        mark(local, -100);
        *word(local, BYTES) = -3;
        shmem_long_get((long *)(void *)local, word(block, AT), LONGS, 1);
        expect_marks(local, 100);
        T_EQ(*word(local, BYTES), -3);
    }
    shmem_barrier_all();
}

T(a_put_of_as_many_bytes_in_longs)
{
    if (me == 0) {
        mark(local, 200);
        shmem_long_put_nbi(word(block, AT), (long *)(void *)local, LONGS, 1);
    }
    shmem_barrier_all();
    if (me == 1) {
        expect_marks(block + AT, 200);
        expect_guards();
    }
}

static const char *obstacle;

T(needs_much_memory)
{
    if (obstacle)
        T_SKIP(obstacle);
}

int main(void)
{
    size_t size = BYTES + 8;

#ifdef __SANITIZE_THREAD__
    obstacle = "the shadow of so much memory takes too long";
#endif
    if (memory() < NEEDED)
        obstacle = "less than 13 GiB of free memory";
    T_RUN(needs_much_memory);
    if (obstacle)
        return T_DONE();
    shmem_init();
    me = shmem_my_pe();
    T_PE(me);
    if (me == 0) {
        local = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (local == MAP_FAILED)
            shmem_global_exit(1);
        madvise(local, size, MADV_HUGEPAGE);
    }
    T_RUN(one_block_of_more_than_four_gib);
    T_RUN(small_transfers_far_away);
    T_RUN(strides_beyond_two_gib);
    T_RUN(a_put_of_more_bytes_than_an_int_counts);
    T_RUN(a_get_of_as_many_bytes_in_longs);
    T_RUN(a_put_of_as_many_bytes_in_longs);
    shmem_finalize();
    return T_DONE();
}

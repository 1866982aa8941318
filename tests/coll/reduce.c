/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: reductions and scans of every type and operation equal a
 * serial model, in place and not, on random teams, with buffers in either
 * memory (memory.h); results have the same bits on all PEs.
 * PEs: 1 2 3 7 16 */
#include "../memory.h"
#include "coll.h"

#include <complex.h>

enum { ROUNDS = 8, DEVICE_ROUNDS = 2, MOST = 3000, ROOM = 131072 };

static char *source[SYMMETRIC], *dest[SYMMETRIC];
/* What is in source, and what is in dest. */
static _Alignas(64) char source_copy[ROOM], dest_copy[ROOM];

/* Elements as small integers, so that floating point is exact. */
static long value_of(int pe, size_t i)
{
    return (long)((unsigned)pe * 7 + i * 3 + i / 11) % 5 - (i % 3 == 0);
}

/* Integers have all their bits where no result overflows: unsigned ones (not
 * in products of 2 bytes, which are those of int), and signed ones where OP is
 * neither sum nor prod. */
static uint64_t bits_of(int pe, size_t i)
{
    uint64_t z = ((uint64_t)pe << 32 | i) * 0x9e3779b97f4a7c15u;

    return z ^ z >> 29;
}
enum { IS_and = 1, IS_or = 1, IS_xor = 1, IS_max = 1, IS_min = 1, IS_sum = 0,
       IS_prod = 0 };
#define IS_UNSIGNED(T)                                                      \
    _Generic((T)0, unsigned char: 1, unsigned short: 1, unsigned: 1,        \
             unsigned long: 1, unsigned long long: 1, default: 0)
#define IS_SIGNED(T)                                                        \
    _Generic((T)0, char: 1, signed char: 1, short: 1, int: 1, long: 1,      \
             long long: 1, default: 0)
#define HAS_BITS(T, OP)                                                     \
    (IS_##OP ? IS_UNSIGNED(T) || IS_SIGNED(T)                               \
             : IS_UNSIGNED(T) && sizeof(T) != 2)
#define VALUE(T, OP, pe, i)                                                 \
    (HAS_BITS(T, OP) ? (T)bits_of((pe), (i)) : (T)value_of((pe), (i)))

/* On a device also as many as there is room for. */
static size_t draw_count(size_t most)
{
    static const size_t often[] = { 0, 1, 2, 7, 64, 500 };
    uint64_t r = T_RAND();

    if (on_device && r % 32 == 0)
        return r / 32 % most;
    return r % 4 ? often[r / 4 % 6] : r / 4 % (most < MOST ? most : MOST);
}

#define OP_and(x, y) ((x) & (y))
#define OP_or(x, y) ((x) | (y))
#define OP_xor(x, y) ((x) ^ (y))
#define OP_sum(x, y) ((x) + (y))
#define OP_prod(x, y) ((x) * (y))
#define OP_max(x, y) ((x) > (y) ? (x) : (y))
#define OP_min(x, y) ((x) < (y) ? (x) : (y))

/* Fills source, calls with or without a second buffer, compares dest with the
 * elements of FIRST to LAST combined, or with 0 where ZERO. */
#define CASE(NAME, T, CALL, FIRST, LAST, OP, ZERO)                          \
    do {                                                                    \
        T *a = (T *)(void *)source_copy, *b = (T *)(void *)dest_copy;       \
        size_t n = draw_count(ROOM / sizeof(T));                            \
        int in_place = (int)(T_RAND() % 2);                                 \
        void *from = source[T_RAND() % SYMMETRIC];                          \
        void *to = dest[T_RAND() % SYMMETRIC];                              \
                                                                            \
        for (size_t i = 0; i < n; i++) {                                    \
            a[i] = VALUE(T, OP, me, i);                                     \
            b[i] = (T)99;                                                   \
        }                                                                   \
        mem_store(from, a, n * sizeof *a);                                  \
        mem_store(to, b, n * sizeof *b);                                    \
        if (in_place)                                                       \
            to = from;                                                      \
        shmem_sync_all();                                                   \
        if (g->me >= 0) {                                                   \
            T_EQ(CALL(g->team, to, from, n), 0);                            \
            mem_load(b, to, n * sizeof *b);                                 \
        }                                                                   \
        for (size_t i = 0; i < n && g->me >= 0; i++) {                      \
            T want = ZERO ? (T)0 : VALUE(T, OP, group_pe(g, FIRST), i);     \
            for (int k = (FIRST) + 1; k <= (LAST) && !(ZERO); k++)          \
                want = (T)OP_##OP(want, VALUE(T, OP, group_pe(g, k), i));   \
            if (memcmp(&want, &b[i], sizeof want < 10 ? sizeof want : 10)) { \
                fprintf(stderr, #CALL ": element %zu of %zu, %d PEs, in place "\
                        "%d\n", i, n, g->n, in_place);                      \
                T_TRUE(b[i] == want);                                       \
                break;                                                      \
            }                                                               \
        }                                                                   \
        shmem_sync_all();                                                   \
    } while (0);

#define REDUCE(NAME, T, OP)                                                 \
    CASE(NAME, T, shmem_##NAME##_##OP##_reduce, 0, g->n - 1, OP, 0)
#define BITS(NAME, T) REDUCE(NAME, T, and) REDUCE(NAME, T, or)              \
    REDUCE(NAME, T, xor)
#define MINMAX(NAME, T) REDUCE(NAME, T, max) REDUCE(NAME, T, min)
#define SUMS(NAME, T) REDUCE(NAME, T, sum) REDUCE(NAME, T, prod)            \
    CASE(NAME, T, shmem_##NAME##_sum_inscan, 0, g->me, sum, 0)              \
    CASE(NAME, T, shmem_##NAME##_sum_exscan, 0, g->me - 1, sum, g->me == 0)

static void bits(const struct group *g) { SHMEMI_REDUCE_BIT_TYPES(BITS) }
static void minmax(const struct group *g) { SHMEMI_RMA_TYPES(MINMAX) }
static void sums(const struct group *g) { SHMEMI_REDUCE_SUM_TYPES(SUMS) }

T(every_type)
{
    struct group g;

    for (int r = 0; r < (on_device ? DEVICE_ROUNDS : ROUNDS); r++) {
        g = group_of_round(r);
        bits(&g);
        minmax(&g);
        sums(&g);
        group_destroy(&g);
    }
}

/* Sums of numbers that round: whatever the order, one result for all. */
T(same_bits)
{
    enum { N = 5000 };
    static double in[N], out[N], all[16][N];
    int n = n_pes;

    for (int size = 1; size <= N; size = size * 3 + 1) {
        for (int i = 0; i < size; i++)
            in[i] = 1.0 / (3 + me * 17 + i % 101) * (i % 2 ? -1e10 : 1e-7);
        shmem_sync_all();
        T_EQ(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, out, in, (size_t)size),
             0);
        T_EQ(shmem_double_fcollect(SHMEM_TEAM_WORLD, all[0], out,
                                   (size_t)size), 0);
        for (int pe = 0; pe < n; pe++)
            T_MEM(all[0] + pe * size, out, (size_t)size * sizeof *out);
        shmem_sync_all();
    }
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    for (int w = 0; w < SYMMETRIC; w++) {
        source[w] = mem_alloc((enum memory)w, ROOM);
        dest[w] = mem_alloc((enum memory)w, ROOM);
    }
    T_RUN(every_type);
    if (!on_device)             /* its buffers are static data */
        T_RUN(same_bits);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, source[w]);
    }
    return memory_end();
}

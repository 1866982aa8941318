/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: reductions and scans of every type and operation equal a
 * serial model, in place and not, on random teams; results have the same bits
 * on all PEs.
 * PEs: 1 2 3 7 16 */
#include "coll.h"

#include <complex.h>

enum { ROUNDS = 6, MOST = 3000 };

static _Alignas(64) char a_[MOST * 16], b_[MOST * 16];

/* Elements as small integers, so that floating point is exact. */
static long value_of(int pe, size_t i)
{
    return (long)((unsigned)pe * 7 + i * 3 + i / 11) % 5 - (i % 3 == 0);
}

static size_t draw_count(size_t most)
{
    static const size_t often[] = { 0, 1, 2, 7, 64, 500 };
    uint64_t r = T_RAND();

    return r % 4 ? often[r / 4 % 6] : r / 4 % most;
}

#define OP_and(x, y) ((x) & (y))
#define OP_or(x, y) ((x) | (y))
#define OP_xor(x, y) ((x) ^ (y))
#define OP_sum(x, y) ((x) + (y))
#define OP_prod(x, y) ((x) * (y))
#define OP_max(x, y) ((x) > (y) ? (x) : (y))
#define OP_min(x, y) ((x) < (y) ? (x) : (y))

/* Fills a_, calls with or without a second buffer, compares with EXPECTED. */
#define CASE(NAME, T, CALL, FIRST, LAST, OP, ZERO)                          \
    do {                                                                    \
        T *a = (T *)(void *)a_, *b = (T *)(void *)b_;                       \
        size_t n = draw_count(MOST);                                        \
        int in_place = (int)(T_RAND() % 2);                                 \
        T *out = in_place ? a : b;                                          \
                                                                            \
        for (size_t i = 0; i < n; i++) {                                    \
            a[i] = (T)value_of(shmem_my_pe(), i);                           \
            b[i] = (T)99;                                                   \
        }                                                                   \
        shmem_sync_all();                                                   \
        if (g->me >= 0)                                                     \
            T_EQ(CALL(g->team, out, a, n), 0);                              \
        for (size_t i = 0; i < n && g->me >= 0; i++) {                      \
            T want = ZERO ? (T)0 : (T)value_of(group_pe(g, FIRST), i);      \
            for (int k = (FIRST) + 1; k <= (LAST) && !(ZERO); k++)          \
                want = (T)OP_##OP(want, (T)value_of(group_pe(g, k), i));    \
            if (memcmp(&want, &out[i], sizeof want < 10 ? sizeof want : 10)) { \
                fprintf(stderr, #CALL ": element %zu of %zu, %d PEs, in place "\
                        "%d\n", i, n, g->n, in_place);                      \
                T_TRUE(out[i] == want);                                     \
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

    for (int r = 0; r < ROUNDS; r++) {
        g = group_draw();
        bits(&g);
        minmax(&g);
        sums(&g);
        group_drop(&g);
    }
}

/* Sums of numbers that round: whatever the order, one result for all. */
T(same_bits)
{
    enum { N = 5000 };
    static double in[N], out[N], all[16][N];
    int n = shmem_n_pes(), me = shmem_my_pe();

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
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(every_type);
    T_RUN(same_bits);
    shmem_finalize();
    return T_DONE();
}

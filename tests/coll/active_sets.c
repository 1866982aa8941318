/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the deprecated collectives over active sets give what a serial
 * model gives for random sets, roots and sizes, sets that do not meet at the
 * same time, and leave pSync as it was.
 * PEs: 1 2 5 8 16 */
#include "coll.h"

#include <complex.h>

enum { ROUNDS = 60, MOST = 40, PES = 16, ARRAYS = 2 };

static long sync_array[ARRAYS][SHMEM_SYNC_SIZE];
static int64_t source[MOST * PES], dest[MOST * PES * 2];
static long long work[MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static unsigned round_now;

struct set {
    int start, log_stride, n, me;
};
#define SET(s) (s).start, (s).log_stride, (s).n
#define SYNC sync_array[round_now % ARRAYS]

/* The same on all PEs. */
static struct set draw(void)
{
    int world = shmem_n_pes();
    struct set s;

    do {
        s.start = (int)(T_RAND() % (unsigned)world);
        s.log_stride = (int)(T_RAND() % 3);
        s.n = 1 + (int)(T_RAND() % (unsigned)world);
    } while (s.start + (s.n - 1) * (1 << s.log_stride) >= world);
    s.me = shmem_my_pe() - s.start;
    s.me = s.me >= 0 && s.me % (1 << s.log_stride) == 0 ? s.me >> s.log_stride
                                                        : -1;
    if (s.me >= s.n)
        s.me = -1;
    return s;
}

static int world_pe(struct set s, int i)
{
    return s.start + i * (1 << s.log_stride);
}

static int64_t value_of(int pe, size_t i)
{
    return (int64_t)round_now * 1000003 + pe * 1009 + (int64_t)i * 7 - 500;
}

static void fill(void)
{
    for (size_t i = 0; i < MOST * PES; i++)
        source[i] = value_of(shmem_my_pe(), i);
    memset(dest, 0x5a, sizeof dest);
    shmem_sync_all();
}

static const int64_t untouched = 0x5a5a5a5a5a5a5a5a;

static void check_clean(void)
{
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            T_EQ(sync_array[a][i], SHMEM_SYNC_VALUE);
}

T(broadcasts)
{
    for (int r = 0; r < ROUNDS; r++, round_now++) {
        struct set s = draw();
        size_t n = T_RAND() % MOST, words = r % 2 ? n : n / 2;
        int root = (int)(T_RAND() % (unsigned)s.n);

        fill();
        if (s.me >= 0 && r % 2)
            shmem_broadcast64(dest, source, n, root, SET(s), SYNC);
        else if (s.me >= 0)
            shmem_broadcast32(dest, source, 2 * words, root, SET(s), SYNC);
        for (size_t i = 0; i < words; i++)
            T_EQ(dest[i], s.me >= 0 && s.me != root
                          ? value_of(world_pe(s, root), i) : untouched);
        T_EQ(dest[words], untouched);
        shmem_sync_all();
    }
    check_clean();
}

T(collects)
{
    for (int r = 0; r < ROUNDS; r++, round_now++) {
        struct set s = draw();
        size_t each = T_RAND() % MOST, at = 0;
        bool equal = r % 2;

#define HAS(i) (equal ? each : (each + (size_t)(i) * 5) % MOST)
        fill();
        if (s.me >= 0 && equal && r % 4 == 1)
            shmem_fcollect64(dest, source, each, SET(s), SYNC);
        else if (s.me >= 0 && equal)
            shmem_fcollect32(dest, source, 2 * each, SET(s), SYNC);
        else if (s.me >= 0 && r % 4 == 0)
            shmem_collect64(dest, source, HAS(s.me), SET(s), SYNC);
        else if (s.me >= 0)
            shmem_collect32(dest, source, 2 * HAS(s.me), SET(s), SYNC);
        for (int i = 0; i < s.n && s.me >= 0; i++)
            for (size_t k = 0; k < HAS(i); k++, at++)
                T_EQ(dest[at], value_of(world_pe(s, i), k));
        T_EQ(dest[at], untouched);
        shmem_sync_all();
    }
    check_clean();
}

T(exchanges)
{
    for (int r = 0; r < ROUNDS; r++, round_now++) {
        struct set s = draw();
        size_t n = T_RAND() % (MOST / 4);
        ptrdiff_t dst = 1 + r % 3, sst = 1 + r / 3 % 3;

        fill();
        if (s.me >= 0 && r % 3 == 0)
            shmem_alltoall64(dest, source, n, SET(s), SYNC);
        else if (s.me >= 0 && r % 3 == 1)
            shmem_alltoall32(dest, source, 2 * n, SET(s), SYNC);
        else if (s.me >= 0)
            shmem_alltoalls64(dest, source, dst, sst, n, SET(s), SYNC);
        if (r % 3 != 2)
            dst = sst = 1;
        for (size_t i = 0; s.me >= 0 && i < (size_t)s.n * n; i++) {
            size_t from = i / n, k = i % n;

            T_EQ(dest[i * (size_t)dst],
                 value_of(world_pe(s, (int)from),
                          ((size_t)s.me * n + k) * (size_t)sst));
            for (ptrdiff_t gap = 1; gap < dst; gap++)
                T_EQ(dest[i * (size_t)dst + (size_t)gap], untouched);
        }
        T_EQ(dest[(size_t)s.n * n * (size_t)dst + 3], untouched);
        shmem_sync_all();
    }
    check_clean();
}

/* A few elements of one type, combined over the set; small whole numbers, so
 * that every order of sums and products of floats gives the same. */
#define MODEL_and(a, b) ((a) & (b))
#define MODEL_or(a, b)  ((a) | (b))
#define MODEL_xor(a, b) ((a) ^ (b))
#define MODEL_max(a, b) ((a) > (b) ? (a) : (b))
#define MODEL_min(a, b) ((a) < (b) ? (a) : (b))
#define MODEL_sum(a, b) ((a) + (b))
#define MODEL_prod(a, b) ((a) * (b))
#define REDUCTION(NAME, TYPE, OP)                                           \
    static void NAME##_##OP(struct set s, size_t n, bool in_place)          \
    {                                                                       \
        TYPE *from = (TYPE *)source;                                        \
        TYPE *to = in_place ? from : (TYPE *)dest;                          \
                                                                            \
        for (size_t i = 0; i < n; i++)                                      \
            from[i] = (TYPE)(1 + (shmem_my_pe() + (int)i) % 3);             \
        memset(dest, 0x5a, sizeof dest);                                    \
        shmem_sync_all();                                                   \
        if (s.me >= 0)                                                      \
            shmem_##NAME##_##OP##_to_all(to, from, (int)n, SET(s),          \
                                         (TYPE *)work, SYNC);               \
        for (size_t i = 0; i < n && s.me >= 0; i++) {                       \
            TYPE want = (TYPE)(1 + (s.start + (int)i) % 3);                 \
                                                                            \
            for (int k = 1; k < s.n; k++)                                   \
                want = (TYPE)MODEL_##OP(want, (TYPE)(1 +                    \
                               (world_pe(s, k) + (int)i) % 3));             \
            T_TRUE(to[i] == want);                                          \
        }                                                                   \
        shmem_sync_all();                                                   \
        round_now++;                                                        \
    }
#define BITS(F, NAME, TYPE) F(NAME, TYPE, and) F(NAME, TYPE, or) F(NAME, TYPE, xor)
#define ORDER(F, NAME, TYPE) F(NAME, TYPE, max) F(NAME, TYPE, min)
#define SUMS(F, NAME, TYPE) F(NAME, TYPE, sum) F(NAME, TYPE, prod)
#define ALL(F)                                                              \
    BITS(F, short, short) BITS(F, int, int) BITS(F, long, long)             \
    BITS(F, longlong, long long)                                            \
    ORDER(F, short, short) ORDER(F, int, int) ORDER(F, long, long)          \
    ORDER(F, longlong, long long) ORDER(F, float, float)                    \
    ORDER(F, double, double) ORDER(F, longdouble, long double)              \
    SUMS(F, short, short) SUMS(F, int, int) SUMS(F, long, long)             \
    SUMS(F, longlong, long long) SUMS(F, float, float)                      \
    SUMS(F, double, double) SUMS(F, longdouble, long double)                \
    SUMS(F, complexf, float _Complex) SUMS(F, complexd, double _Complex)
ALL(REDUCTION)

T(reductions)
{
#define CALL(NAME, TYPE, OP) NAME##_##OP(draw(), T_RAND() % MOST, T_RAND() % 2);
    ALL(CALL)
    ALL(CALL)
    check_clean();
}

/* Two halves work apart, each with its own number of calls, then all. */
T(apart)
{
    int n = shmem_n_pes(), half = n / 2, me = shmem_my_pe();
    struct set s = me < half ? (struct set){ 0, 0, half, me }
                             : (struct set){ half, 0, n - half, me - half };
    static long sums[2], one[1];

    for (int r = 0; r < 300 * (1 + (me < half)); r++) {
        one[0] = r + me;
        shmem_long_sum_to_all(&sums[r % 2], one, 1, SET(s), (long *)work,
                              sync_array[r % 2]);
        T_EQ(sums[r % 2], (long)r * s.n +
                          (long)s.n * (s.start + s.start + s.n - 1) / 2);
        if (r % 7 == 0)
            shmem_barrier(SET(s), sync_array[0]);
        if (r % 5 == 0)
            shmem_sync(SET(s), sync_array[1]);
    }
    shmem_barrier_all();
    check_clean();
}

/* What was put before a barrier of the set is there after it. */
T(barrier_completes)
{
    static long seen;

    for (int r = 1; r <= ROUNDS; r++) {
        struct set s = draw();

        if (s.me >= 0) {
            shmem_long_put_nbi(&seen, &(long){ r }, 1,
                               world_pe(s, (s.me + 1) % s.n));
            shmem_barrier(SET(s), SYNC);
            T_EQ(seen, r);
        }
        shmem_sync_all();
    }
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            sync_array[a][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    T_RUN(broadcasts);
    T_RUN(collects);
    T_RUN(exchanges);
    T_RUN(reductions);
    T_RUN(apart);
    T_RUN(barrier_completes);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the deprecated collectives over active sets give what a serial
 * model gives for random sets, roots and sizes, buffers and pSync in either
 * memory (memory.h), sets that synchronize at different times, and leave pSync
 * as it was.
 * PEs: 1 2 5 8 16 */
#include "../memory.h"
#include "coll.h"

#include <complex.h>

enum { ROUNDS = 60, DEVICE_ROUNDS = 6, MOST = 500, PES = 16, ARRAYS = 2,
       LEN = MOST * PES };

static long *sync_array;                /* ARRAYS of SHMEM_SYNC_SIZE */
static long long *work;
static int64_t *source[SYMMETRIC], *dest[SYMMETRIC];
static int64_t mine[LEN], got[2 * LEN]; /* what is in source and in dest */
static int64_t *from, *to;              /* those of this round */
static unsigned round_now;

struct set {
    int start, log_stride, n, me;
};
#define SET(s) (s).start, (s).log_stride, (s).n
#define SYNC (sync_array + round_now % ARRAYS * SHMEM_SYNC_SIZE)

/* The same on all PEs. */
static struct set draw(void)
{
    int world = n_pes;
    struct set s;

    do {
        s.start = (int)(T_RAND() % (unsigned)world);
        s.log_stride = (int)(T_RAND() % 3);
        s.n = 1 + (int)(T_RAND() % (unsigned)world);
    } while (s.start + (s.n - 1) * (1 << s.log_stride) >= world);
    s.me = me - s.start;
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

static int rounds(void)
{
    return on_device ? DEVICE_ROUNDS : ROUNDS;
}

static void choose_buffers(void)
{
    from = source[T_RAND() % SYMMETRIC];
    to = dest[T_RAND() % SYMMETRIC];
}

static void fill(void)
{
    size_t len = MOST * (size_t)n_pes;

    choose_buffers();
    for (size_t i = 0; i < len; i++)
        mine[i] = value_of(me, i);
    mem_store(from, mine, len * sizeof *mine);
    mem_fill(to, 0x5a, 2 * len * sizeof *got);
    shmem_sync_all();
}

/* What the call has left in dest. */
static void load(void)
{
    mem_load(got, to, 2 * MOST * (size_t)n_pes * sizeof *got);
}

static const int64_t untouched = 0x5a5a5a5a5a5a5a5a;

static void check_clean(void)
{
    for (int i = 0; i < ARRAYS * SHMEM_SYNC_SIZE; i++)
        T_EQ((long)mem_load_word(&sync_array[i], sizeof *sync_array),
             SHMEM_SYNC_VALUE);
}

T(broadcasts)
{
    for (int r = 0; r < rounds(); r++, round_now++) {
        struct set s = draw();
        size_t n = T_RAND() % MOST, words = r % 2 ? n : n / 2;
        int root = (int)(T_RAND() % (unsigned)s.n);

        fill();
        if (s.me >= 0 && r % 2)
            shmem_broadcast64(to, from, n, root, SET(s), SYNC);
        else if (s.me >= 0)
            shmem_broadcast32(to, from, 2 * words, root, SET(s), SYNC);
        load();
        for (size_t i = 0; i < words; i++)
            T_EQ(got[i], s.me >= 0 && s.me != root
                          ? value_of(world_pe(s, root), i) : untouched);
        T_EQ(got[words], untouched);
        shmem_sync_all();
    }
    check_clean();
}

T(collects)
{
    for (int r = 0; r < rounds(); r++, round_now++) {
        struct set s = draw();
        size_t each = T_RAND() % MOST, at = 0;
        bool equal = r % 2;

#define HAS(i) (equal ? each : (each + (size_t)(i) * 5) % MOST)
        fill();
        if (s.me >= 0 && equal && r % 4 == 1)
            shmem_fcollect64(to, from, each, SET(s), SYNC);
        else if (s.me >= 0 && equal)
            shmem_fcollect32(to, from, 2 * each, SET(s), SYNC);
        else if (s.me >= 0 && r % 4 == 0)
            shmem_collect64(to, from, HAS(s.me), SET(s), SYNC);
        else if (s.me >= 0)
            shmem_collect32(to, from, 2 * HAS(s.me), SET(s), SYNC);
        load();
        for (int i = 0; i < s.n && s.me >= 0; i++)
            for (size_t k = 0; k < HAS(i); k++, at++)
                T_EQ(got[at], value_of(world_pe(s, i), k));
        T_EQ(got[at], untouched);
        shmem_sync_all();
    }
    check_clean();
}

T(exchanges)
{
    for (int r = 0; r < rounds(); r++, round_now++) {
        struct set s = draw();
        size_t n = T_RAND() % (r % 3 == 2 ? MOST / 4 : MOST);
        ptrdiff_t dst = 1 + r % 3, sst = 1 + r / 3 % 3;

        fill();
        if (s.me >= 0 && r % 3 == 0)
            shmem_alltoall64(to, from, n, SET(s), SYNC);
        else if (s.me >= 0 && r % 3 == 1)
            shmem_alltoall32(to, from, 2 * n, SET(s), SYNC);
        else if (s.me >= 0)
            shmem_alltoalls64(to, from, dst, sst, n, SET(s), SYNC);
        if (r % 3 != 2)
            dst = sst = 1;
        load();
        for (size_t i = 0; s.me >= 0 && i < (size_t)s.n * n; i++) {
            size_t sender = i / n, k = i % n;

            T_EQ(got[i * (size_t)dst],
                 value_of(world_pe(s, (int)sender),
                          ((size_t)s.me * n + k) * (size_t)sst));
            for (ptrdiff_t gap = 1; gap < dst; gap++)
                T_EQ(got[i * (size_t)dst + (size_t)gap], untouched);
        }
        T_EQ(got[(size_t)s.n * n * (size_t)dst + 3], untouched);
        shmem_sync_all();
    }
    check_clean();
}

/* A few elements of one type, combined over the set; small whole numbers, so
 * that every order of sums and products of floats gives the same, and all bits
 * for the operations on bits. */
static uint64_t bits_of(int pe, size_t i)
{
    return ((uint64_t)round_now << 32 | (uint64_t)pe << 16 | i) *
           0x9e3779b97f4a7c15u;
}
#define SMALL(pe, i) (1 + ((pe) + (int)(i)) % 3)
#define VALUE_and(pe, i) bits_of((pe), (i))
#define VALUE_or(pe, i)  bits_of((pe), (i))
#define VALUE_xor(pe, i) bits_of((pe), (i))
#define VALUE_max SMALL
#define VALUE_min SMALL
#define VALUE_sum SMALL
#define VALUE_prod SMALL
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
        TYPE *values = (TYPE *)mine, *result = (TYPE *)got;                 \
                                                                            \
        choose_buffers();                                                   \
        for (size_t i = 0; i < n; i++)                                      \
            values[i] = (TYPE)VALUE_##OP(me, i);                            \
        mem_store(from, values, n * sizeof *values);                        \
        mem_fill(to, 0x5a, n * sizeof *values);                             \
        if (in_place)                                                       \
            to = from;                                                      \
        shmem_sync_all();                                                   \
        if (s.me >= 0)                                                      \
            shmem_##NAME##_##OP##_to_all((TYPE *)to, (TYPE *)from, (int)n,  \
                                         SET(s), (TYPE *)work, SYNC);       \
        mem_load(result, to, n * sizeof *result);                           \
        for (size_t i = 0; i < n && s.me >= 0; i++) {                       \
            TYPE want = (TYPE)VALUE_##OP(s.start, i);                       \
                                                                            \
            for (int k = 1; k < s.n; k++)                                   \
                want = (TYPE)MODEL_##OP(want,                               \
                                        (TYPE)VALUE_##OP(world_pe(s, k), i)); \
            T_TRUE(result[i] == want);                                      \
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
    if (!on_device) {
        ALL(CALL)
    }
    check_clean();
}

/* Each half makes its own number of calls, then all synchronize. */
T(two_halves)
{
    int n = n_pes, half = n / 2;
    struct set s = me < half ? (struct set){ 0, 0, half, me }
                             : (struct set){ half, 0, n - half, me - half };
    static long sums[2], one[1];

    for (int r = 0; r < 300 * (1 + (me < half)); r++) {
        one[0] = r + me;
        shmem_long_sum_to_all(&sums[r % 2], one, 1, SET(s), (long *)work,
                              sync_array + r % 2 * SHMEM_SYNC_SIZE);
        T_EQ(sums[r % 2], (long)r * s.n +
                          (long)s.n * (s.start + s.start + s.n - 1) / 2);
        if (r % 7 == 0)
            shmem_barrier(SET(s), sync_array);
        if (r % 5 == 0)
            shmem_sync(SET(s), sync_array + SHMEM_SYNC_SIZE);
    }
    shmem_barrier_all();
    check_clean();
}

/* What was put before a barrier of the set is there after it. */
T(barrier_completes)
{
    static long seen;

    for (int r = 1; r <= rounds(); r++) {
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
    memory_begin(SHMEM_THREAD_SINGLE);
    sync_array = mem_alloc(OTHER, ARRAYS * SHMEM_SYNC_SIZE *
                                  sizeof *sync_array);
    work = mem_alloc(OTHER, (MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * 16);
    for (int w = 0; w < SYMMETRIC; w++) {
        source[w] = mem_alloc((enum memory)w, LEN * sizeof *mine);
        dest[w] = mem_alloc((enum memory)w, 2 * LEN * sizeof *got);
    }
    for (int i = 0; i < ARRAYS * SHMEM_SYNC_SIZE; i++)
        mem_store_word(&sync_array[i], (uint64_t)SHMEM_SYNC_VALUE,
                       sizeof *sync_array);
    shmem_barrier_all();
    T_RUN(broadcasts);
    T_RUN(collects);
    T_RUN(exchanges);
    T_RUN(reductions);
    T_RUN(two_halves);
    T_RUN(barrier_completes);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, source[w]);
    }
    mem_free(OTHER, work);
    mem_free(OTHER, sync_array);
    return memory_end();
}

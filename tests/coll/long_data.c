/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: long reductions, broadcasts and collects between nodes are
 * right for any number of them, for elements that divide evenly and not, in
 * place and back to back, and a reduction has the same bits on all PEs.
 * PEs: 2
 * Ppn: 2/1 3/1 7/1 11/1 12/4 7/1:SHMEM_COLL_REDUCE=halving
 * Ppn: 3/1:SHMEM_COLL_BROADCAST=scatter 7/2:SHMEM_COLL_COLLECT=bruck
 * Ppn: 5/1:SHMEM_COLL_COLLECT=bruck
 * Timeout: 120 */
#include "coll.h"

#include <complex.h>

enum { MOST = 300007, ROOM = 12 * MOST, PIECES = (16 << 20) + 4104 };

static unsigned char *source, *dest;
static int me, n;

/* Small numbers: no sum of them is rounded or wraps. */
static int small(int pe, size_t i)
{
    return (int)((i * 7 + (size_t)pe * 13) % 5) - 2;
}

static int sum_of(size_t i)
{
    int sum = 0;

    for (int pe = 0; pe < n; pe++)
        sum += small(pe, i);
    return sum;
}

#define REDUCE(NAME, TYPE)                                                  \
static void NAME##_sums(size_t bytes, bool in_place)                        \
{                                                                           \
    TYPE *in = (TYPE *)(void *)source;                                      \
    TYPE *out = in_place ? in : (TYPE *)(void *)dest;                       \
    size_t k = bytes / sizeof *in, i = 0;                                   \
                                                                            \
    for (i = 0; i < k; i++)                                                 \
        in[i] = (TYPE)small(me, i);                                         \
    shmem_sync_all();                                                       \
    T_EQ(shmem_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, out, in, k), 0);       \
    for (i = 0; i < k && out[i] == (TYPE)sum_of(i); i++)                    \
        ;                                                                   \
    if (i < k)                                                              \
        fprintf(stderr, #NAME ", element %zu of %zu\n", i, k);              \
    T_EQ(i, k);                                                             \
    shmem_sync_all();                                                       \
}

REDUCE(schar, signed char)
REDUCE(short, short)
REDUCE(float, float)
REDUCE(double, double)
REDUCE(longdouble, long double)
REDUCE(complexd, double complex)

static const size_t sizes[] = { 16, 4112, 5008, 8192, 65552, MOST };
enum { SIZES = sizeof sizes / sizeof *sizes };

T(each_element_is_the_sum_of_all)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        schar_sums(sizes[i / 2], i % 2);
        short_sums(sizes[i / 2], i % 2);
        float_sums(sizes[i / 2], i % 2);
        double_sums(sizes[i / 2], i % 2);
        longdouble_sums(sizes[i / 2], i % 2);
        complexd_sums(sizes[i / 2], i % 2);
    }
}

/* Numbers whose sum depends on the order. */
T(all_pes_get_the_same_bits)
{
    double *in = (double *)(void *)source, *out = (double *)(void *)dest;
    size_t k = MOST / sizeof *in;
    double *first = malloc(MOST);

    T_TRUE(first != NULL);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < k; i++)
            in[i] = (i % 2 ? -1e10 : 1e-7) / (3 + me * 17 + (int)(i % 101));
        shmem_sync_all();
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, out, in, k);
        shmem_sync_all();
        shmem_getmem(first, out, k * sizeof *out, 0);
        T_MEM(first, out, k * sizeof *out);
        shmem_sync_all();
    }
    free(first);
}

/* No call in between but the reductions, in turn of two results. */
T(reductions_follow_each_other)
{
    int *in = (int *)(void *)source, *out = (int *)(void *)dest;
    size_t k = 10007, bad = 0;

    for (size_t i = 0; i < k; i++)
        in[i] = me + 1;
    shmem_sync_all();
    for (int round = 0; round < 20; round++) {
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, out, in, k);
        shmem_int_max_reduce(SHMEM_TEAM_WORLD, out + k, in, k);
        for (size_t i = 0; i < k; i++)
            bad += out[i] != n * (n + 1) / 2 || out[k + i] != n;
    }
    T_EQ(bad, 0);
    shmem_sync_all();
}

static void fill(unsigned round, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        source[i] = byte_of(me, round, i);
}

static bool holds(const unsigned char *p, int pe, unsigned round, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != byte_of(pe, round, i)) {
            fprintf(stderr, "byte %zu of %zu, of PE %d\n", i, bytes, pe);
            return false;
        }
    return true;
}

T(broadcasts_come_from_every_root)
{
    for (int root = 0; root < n; root++)
        for (int i = 0; i < SIZES; i++) {
            size_t bytes = sizes[i] + (size_t)root;
            unsigned round = (unsigned)(root * SIZES + i);

            fill(round, bytes);
            memset(dest, 0xee, bytes);
            shmem_sync_all();
            T_EQ(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes,
                                    root), 0);
            T_TRUE(holds(dest, root, round, bytes));
            shmem_sync_all();
        }
}

/* Also none, of all but one. */
static size_t size_of(int pe, int round)
{
    return round % 4 == 3 ? (pe == round % n ? MOST : 0)
           : (size_t)((pe * 7919 + round * 104729) % (round % 2 ? 30011 : 41));
}

T(collects_have_each_block_in_its_place)
{
    for (int round = 0; round < 12; round++) {
        size_t at = 0;

        fill((unsigned)round, MOST);
        shmem_sync_all();
        T_EQ(shmem_collectmem(SHMEM_TEAM_WORLD, dest, source,
                              size_of(me, round)), 0);
        for (int pe = 0; pe < n; pe++) {
            T_TRUE(holds(dest + at, pe, (unsigned)round, size_of(pe, round)));
            at += size_of(pe, round);
        }
        shmem_sync_all();
        T_EQ(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source,
                               size_of(1, round)), 0);
        for (int pe = 0; pe < n; pe++)
            T_TRUE(holds(dest + (size_t)pe * size_of(1, round), pe,
                         (unsigned)round, size_of(1, round)));
        shmem_sync_all();
    }
}

/* More than goes at a time. */
T(pieces_follow_each_other)
{
    signed char *in = shmem_malloc(PIECES);
    size_t i;

    T_TRUE(in != NULL);
    for (i = 0; i < PIECES; i++)
        in[i] = (signed char)small(me, i);
    shmem_sync_all();
    T_EQ(shmem_schar_sum_reduce(SHMEM_TEAM_WORLD, in, in, PIECES), 0);
    for (i = 0; i < PIECES && in[i] == sum_of(i); i++)
        ;
    T_EQ(i, PIECES);
    shmem_free(in);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    T_PE(me);
    source = shmem_malloc(MOST + 64);
    dest = shmem_malloc(ROOM);
    T_TRUE(source && dest);
    T_RUN(each_element_is_the_sum_of_all);
    T_RUN(all_pes_get_the_same_bits);
    T_RUN(reductions_follow_each_other);
    T_RUN(broadcasts_come_from_every_root);
    T_RUN(collects_have_each_block_in_its_place);
    if (n <= 3)
        T_RUN(pieces_follow_each_other);
    shmem_finalize();
    return T_DONE();
}

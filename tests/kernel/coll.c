/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: collectives of kernels: of every type and operation, of sizes
 * from nothing to more than the scratch memory, by thread, warp and block, on
 * splits, many in a row, and in two teams by turns.
 * PEs: 1 2 3 4 9
 * Ppn: 2/1 4/2 3/1 9/3 4/2:SHMEM_DEVICE_RING_SIZE=64
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"

enum { MOST = 9, ITEMS = 33, SCOPES = 3, ROUNDS = 40 };
static int wrong;               /* atomic: items add */
static shmem_team_t team, evens, odds;
static int mine, size;          /* in the team */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void use(shmem_team_t t)
{
    team = t;
    mine = shmem_team_my_pe(t);
    size = shmem_team_n_pes(t);
}

/* ---- every type and operation ---- */

enum { N = 37, LONG = 700 };    /* eager, and not: 16 bytes times 700 */
static struct room {
    char source[MOST * LONG * 16], dest[MOST * LONG * 16];
} *room;
static size_t nelems;

/* Small, so that every type has the sums, and not 0. */
static int value_of(int pe, size_t i)
{
    return (int)(i % 3) + (pe + (int)i) % 2 + 1;
}

#define MOVES(NAME, T)                                                      \
    static void moves_##NAME(const shmemx_item_t *it, void *unused)         \
    {                                                                       \
        T *to = (T *)room->dest, *from = (T *)room->source;                 \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        for (size_t i = 0; i < nelems * (size_t)size; i++)                  \
            from[i] = (T)value_of(mine, i);                                 \
        for (int root = 0; root < size; root++) {                           \
            check(!shmemx_dev_##NAME##_broadcast(&dev, team, to, from,      \
                                                 nelems, root));            \
            for (size_t i = 0; i < nelems; i++)                             \
                check(to[i] == (T)value_of(root, i));                       \
        }                                                                   \
        check(!shmemx_dev_##NAME##_fcollect(&dev, team, to, from, nelems)); \
        for (size_t i = 0; i < nelems * (size_t)size; i++)                  \
            check(to[i] == (T)value_of((int)(i / nelems), i % nelems));     \
        check(!shmemx_dev_##NAME##_alltoall(&dev, team, to, from, nelems)); \
        for (size_t i = 0; i < nelems * (size_t)size; i++)                  \
            check(to[i] == (T)value_of((int)(i / nelems),                   \
                                       i % nelems +                         \
                                       (size_t)mine * nelems));             \
    }
SHMEMI_DEV_RMA_TYPES(MOVES)
SHMEMI_DEV_SHORT_FLOATS(MOVES)

#define SUM(x, y) ((x) + (y))
#define PROD(x, y) ((x) * (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define AND(x, y) ((x) & (y))
#define OR(x, y) ((x) | (y))
#define XOR(x, y) ((x) ^ (y))

/* Element i of all members, reduced. */
#define EXPECTED(OP)                                                        \
    static int expected_##OP(size_t i)                                      \
    {                                                                       \
        int all = value_of(0, i);                                           \
                                                                            \
        for (int pe = 1; pe < size; pe++)                                   \
            all = OP(all, value_of(pe, i));                                 \
        return all;                                                         \
    }
EXPECTED(SUM)
EXPECTED(PROD)
EXPECTED(MIN)
EXPECTED(MAX)
EXPECTED(AND)
EXPECTED(OR)
EXPECTED(XOR)

/* Into dest, then in place; then blocks. */
#define REDUCE(NAME, T, NAMED, OP)                                          \
    do {                                                                    \
        for (size_t i = 0; i < nelems * (size_t)size; i++)                  \
            from[i] = (T)value_of(mine, i);                                 \
        check(!shmemx_dev_##NAME##_##NAMED##_reducescatter(                 \
            &dev, team, to, from, nelems));                                 \
        for (size_t i = 0; i < nelems; i++)                                 \
            check(to[i] == (T)expected_##OP(i + (size_t)mine * nelems));    \
        check(!shmemx_dev_##NAME##_##NAMED##_reduce(&dev, team, to, from,   \
                                                    nelems));               \
        check(!shmemx_dev_##NAME##_##NAMED##_reduce(&dev, team, from, from, \
                                                    nelems));               \
        for (size_t i = 0; i < nelems; i++)                                 \
            check(to[i] == (T)expected_##OP(i) && from[i] == to[i]);        \
    } while (0)
#define REDUCES(NAME, T)                                                    \
    static void reduces_##NAME(const shmemx_item_t *it, void *unused)       \
    {                                                                       \
        T *to = (T *)room->dest, *from = (T *)room->source;                 \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        REDUCE(NAME, T, sum, SUM);                                          \
        REDUCE(NAME, T, prod, PROD);                                        \
        REDUCE(NAME, T, min, MIN);                                          \
        REDUCE(NAME, T, max, MAX);                                          \
    }
#define BITS(NAME, T)                                                       \
    static void bits_##NAME(const shmemx_item_t *it, void *unused)          \
    {                                                                       \
        T *to = (T *)room->dest, *from = (T *)room->source;                 \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        REDUCE(NAME, T, and, AND);                                          \
        REDUCE(NAME, T, or, OR);                                            \
        REDUCE(NAME, T, xor, XOR);                                          \
    }
SHMEMI_DEV_REDUCE_TYPES(REDUCES)
SHMEMI_DEV_SHORT_FLOATS(REDUCES)
SHMEMI_DEV_REDUCE_BIT_TYPES(BITS)

static void try_types(void)
{
#define RUN_MOVES(NAME, T) kernel_run(moves_##NAME, NULL, 1, 1, 1);
#define RUN_REDUCES(NAME, T) kernel_run(reduces_##NAME, NULL, 1, 1, 1);
#define RUN_BITS(NAME, T) kernel_run(bits_##NAME, NULL, 1, 1, 1);
    SHMEMI_DEV_RMA_TYPES(RUN_MOVES)
    SHMEMI_DEV_SHORT_FLOATS(RUN_MOVES)
    SHMEMI_DEV_REDUCE_TYPES(RUN_REDUCES)
    SHMEMI_DEV_SHORT_FLOATS(RUN_REDUCES)
    SHMEMI_DEV_REDUCE_BIT_TYPES(RUN_BITS)
    T_EQ(wrong, 0);
}

T(every_type_and_operation)
{
    use(SHMEM_DEVICE_TEAM_WORLD);
    for (int device = 0; device < 2; device++) {
        room = kernel_room(device, sizeof *room);
        nelems = N;
        try_types();
        nelems = LONG;
        try_types();
        shmem_barrier_all();
        shmem_free(room);
    }
}

/* The signs of minimum and maximum, which small values do not show, and sums
 * that wrap around. */
static void extremes(const shmemx_item_t *it, void *unused)
{
    signed char *c = (signed char *)room->source;
    unsigned char *u = (unsigned char *)room->source;
    short *s = (short *)room->source;
    long *l = (long *)room->source;
    double *d = (double *)room->source;

    (void)it;
    (void)unused;
    *c = (signed char)(mine ? 1 : -100);
    check(!shmemx_dev_schar_min_reduce(&dev, team, c, c, 1) && *c == -100);
    *u = (unsigned char)(mine ? 1 : 200);
    check(!shmemx_dev_uchar_max_reduce(&dev, team, u, u, 1) && *u == 200);
    *s = (short)(mine ? -3 : -2);
    check(!shmemx_dev_short_max_reduce(&dev, team, s, s, 1) && *s == -2);
    *l = mine ? -1 : -5;
    check(!shmemx_dev_long_min_reduce(&dev, team, l, l, 1) && *l == -5);
    *l = mine ? 1 : INT64_MAX;
    check(!shmemx_dev_long_sum_reduce(&dev, team, l, l, 1) &&
          *l == (long)((uint64_t)INT64_MAX + (uint64_t)size - 1));
    *d = mine ? 0.5 : -1e300;
    check(!shmemx_dev_double_min_reduce(&dev, team, d, d, 1) && *d == -1e300);
}

T(values_below_zero)
{
    use(SHMEM_DEVICE_TEAM_WORLD);
    room = kernel_room(false, sizeof *room);
    kernel_run(extremes, NULL, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_free(room);
}

/* ---- sizes ---- */

static unsigned char *to, *from;
static size_t n_bytes;

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)(i * 7 + i / 251 + (size_t)pe * 5);
}

static bool is_of(const unsigned char *p, size_t n, int pe, size_t first)
{
    size_t i = 0;

    while (i < n && p[i] == byte_of(pe, first + i))
        i++;
    return i == n;
}

static void every_call(size_t n)
{
    unsigned char all;
    int pe;

    for (int root = 0; root < size; root++) {
        check(!shmemx_dev_broadcastmem(&dev, team, to, from, n, root));
        check(is_of(to, n, root, 0));
    }
    check(!shmemx_dev_fcollectmem(&dev, team, to, from, n));
    for (pe = 0; pe < size; pe++)
        check(is_of(to + (size_t)pe * n, n, pe, 0));
    check(!shmemx_dev_alltoallmem(&dev, team, to, from, n));
    for (pe = 0; pe < size; pe++)
        check(is_of(to + (size_t)pe * n, n, pe, (size_t)mine * n));
    check(!shmemx_dev_uchar_sum_reduce(&dev, team, to, from, n));
    for (size_t i = 0; i < n; i++) {
        for (all = 0, pe = 0; pe < size; pe++)
            all = (unsigned char)(all + byte_of(pe, i));
        check(to[i] == all);
    }
    check(!shmemx_dev_uchar_max_reducescatter(&dev, team, to, from, n));
    for (size_t i = 0; i < n; i++) {
        for (all = 0, pe = 0; pe < size; pe++)
            if (byte_of(pe, i + (size_t)mine * n) > all)
                all = byte_of(pe, i + (size_t)mine * n);
        check(to[i] == all);
    }
    check(to[n * (size_t)size] == 99);
}

static void call_bytes(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    to[n_bytes * (size_t)size] = 99;
    every_call(n_bytes);
}

T(any_number_of_bytes)
{
    const size_t lengths[] = {
        0, 1, 3, 15, 16, 17, 1023, 1024, 1025, 2048, 4096, 4097, 8191, 9000,
        16384, 65537, 150001
    };
    const size_t n = sizeof lengths / sizeof *lengths;
    const size_t most = MOST * lengths[n - 1];

    use(SHMEM_DEVICE_TEAM_WORLD);
    for (int device = 0; device < 2; device++) {
        from = kernel_room(device, most);
        to = kernel_room(device, most + 1);
        for (size_t i = 0; i < most; i++)
            from[i] = byte_of(mine, i);
        for (size_t k = 0; k < n; k++) {
            n_bytes = lengths[k];
            kernel_run(call_bytes, NULL, 1, 1, 1);
            T_EQ(wrong, 0);
        }
        shmem_barrier_all();
        shmem_free(to);
        shmem_free(from);
    }
}

/* ---- scopes ---- */

/* One block, of which all items call; the call is a phase of its own. */
#define BY_SCOPE(SUFFIX)                                                    \
    do {                                                                    \
        long *to_ = (long *)room->dest, *from_ = (long *)room->source;      \
        int *got = (int *)(room->dest + 8 * LONG);                          \
        int *put = (int *)(room->source + 8 * LONG);                        \
                                                                            \
        switch (it->phase) {                                                \
        case 0:                                                             \
            for (size_t i = it->item; i < nelems; i += it->items) {         \
                from_[i] = value_of(mine, i);                               \
                put[i] = value_of(mine, i + 1);                             \
            }                                                               \
            break;                                                          \
        case 1:                                                             \
            check(!shmemx_dev_long_broadcast##SUFFIX(&dev, team, to_,       \
                                                     from_, nelems,         \
                                                     size - 1));            \
            break;                                                          \
        case 2:                                                             \
            for (size_t i = it->item; i < nelems; i += it->items)           \
                check(to_[i] == value_of(size - 1, i));                     \
            break;                                                          \
        case 3:                                                             \
            check(!shmemx_dev_int_sum_reduce##SUFFIX(&dev, team, got, put,  \
                                                     nelems));              \
            break;                                                          \
        case 4:                                                             \
            for (size_t i = it->item; i < nelems; i += it->items)           \
                check(got[i] == expected_SUM(i + 1));                       \
            break;                                                          \
        case 5:                                                             \
            check(!shmemx_dev_long_fcollect##SUFFIX(                        \
                &dev, team, to_, from_, nelems / (size_t)size));            \
            break;                                                          \
        default:                                                            \
            for (size_t i = it->item;                                       \
                 i < nelems / (size_t)size * (size_t)size; i += it->items)  \
                check(to_[i] ==                                             \
                      value_of((int)(i / (nelems / (size_t)size)),          \
                               i % (nelems / (size_t)size)));               \
        }                                                                   \
    } while (0)

static void by_block(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    BY_SCOPE(_block);
}

static void by_warp(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    BY_SCOPE(_warp);
}

T(blocks_and_warps)
{
    use(SHMEM_DEVICE_TEAM_WORLD);
    room = kernel_room(true, sizeof *room);
    for (int k = 0; k < 2; k++) {
        nelems = k ? LONG : N;
        kernel_run(by_block, NULL, 1, ITEMS, 7);
        kernel_run(by_warp, NULL, 1, 32, 7);
        T_EQ(wrong, 0);
    }
    shmem_barrier_all();
    shmem_free(room);
}

/* ---- many, and two teams ---- */

static long *sums, *blocks;     /* symmetric */

/* Small and large calls by turns, with nothing between them; root and source
 * change from round to round. */
static void many_rounds(const shmemx_item_t *it, void *unused)
{
    size_t n;
    int root;

    (void)it;
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        n = round % 3 == 2 ? 2 * LONG : 5;
        root = round % size;
        for (size_t i = 0; i < n; i++)
            blocks[i] = round * 10 + mine;
        check(!shmemx_dev_long_sum_reduce(&dev, team, sums, blocks, n));
        for (size_t i = 0; i < n; i++)
            check(sums[i] == (long)round * 10 * size + size * (size - 1) / 2);
        check(!shmemx_dev_long_broadcast(&dev, team, sums, blocks, n, root));
        for (size_t i = 0; i < n; i++)
            check(sums[i] == round * 10 + root);
        for (size_t i = 0; i < n; i++)
            blocks[i] = -blocks[i];
        check(!shmemx_dev_long_fcollect(&dev, team, sums, blocks, 1));
        for (int pe = 0; pe < size; pe++)
            check(sums[pe] == -(round * 10 + pe));
    }
}

T(many_rounds_in_a_row)
{
    use(SHMEM_DEVICE_TEAM_WORLD);
    sums = kernel_room(false, 2 * LONG * sizeof *sums);
    blocks = kernel_room(true, 2 * LONG * sizeof *blocks);
    kernel_run(many_rounds, NULL, 1, 1, 1);
    kernel_run(many_rounds, NULL, 1, 1, 1);
    T_EQ(wrong, 0);
}

/* Of a team that has every second PE, or all: a PE is in both by turns. */
static void by_turns(const shmemx_item_t *it, void *arg)
{
    shmem_team_t half = *(const shmem_team_t *)arg;
    int first = me % 2, count = (n_pes - first + 1) / 2, sum = 0;

    (void)it;
    for (int pe = first; pe < n_pes; pe += 2)
        sum += pe;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = round % 2 ? 1000 : 3;

        for (size_t i = 0; i < n; i++)
            blocks[i] = me + round;
        check(!shmemx_dev_long_sum_reduce(&dev, half, sums, blocks, n));
        for (size_t i = 0; i < n; i++)
            check(sums[i] == sum + round * count);
        check(!shmemx_dev_long_max_reduce(&dev, SHMEM_DEVICE_TEAM_WORLD,
                                          sums, blocks, n));
        for (size_t i = 0; i < n; i++)
            check(sums[i] == n_pes - 1 + round);
        check(!shmemx_dev_long_broadcast(&dev, half, sums, blocks, n,
                                         count - 1));
        check(sums[n - 1] == first + 2 * (count - 1) + round);
    }
}

T(two_teams_by_turns)
{
    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 0, 2,
                                  (n_pes + 1) / 2, NULL, 0, &evens), 0);
    if (n_pes > 1)
        T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 1, 2,
                                      n_pes / 2, NULL, 0, &odds), 0);
    kernel_run(by_turns, me % 2 ? &odds : &evens, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
    if (n_pes > 1)
        shmem_team_destroy(odds);
    shmem_team_destroy(evens);
}

static void no_team(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    check(shmemx_dev_long_broadcast(&dev, SHMEM_TEAM_INVALID, sums, blocks, 1,
                                    0) == -1);
    check(shmemx_dev_long_broadcast(&dev, SHMEM_DEVICE_TEAM_WORLD, sums,
                                    blocks, 1, n_pes) == -1);
    check(shmemx_dev_long_fcollect(&dev, SHMEM_TEAM_WORLD, sums, blocks,
                                   1) == -1);
    check(shmemx_dev_long_sum_reduce(&dev, SHMEM_TEAM_INVALID, sums, blocks,
                                     1) == -1);
    check(shmemx_dev_long_prod_reducescatter(&dev, SHMEM_TEAM_INVALID, sums,
                                             blocks, 1) == -1);
}

T(a_team_that_is_none)
{
    kernel_run(no_team, NULL, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
    shmem_free(blocks);
    shmem_free(sums);
}

int main(void)
{
    kernel_begin();
    T_RUN(every_type_and_operation);
    T_RUN(values_below_zero);
    T_RUN(any_number_of_bytes);
    T_RUN(blocks_and_warps);
    T_RUN(many_rounds_in_a_row);
    T_RUN(two_teams_by_turns);
    T_RUN(a_team_that_is_none);
    return kernel_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: waits and tests of kernels compare as their names say, for every
 * type, comparison and scope, and see the data that came before a signal.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"

enum { ITEMS = 3, N = 4, NONE = -1 };
static const int cmps[] = {
    SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT,
    SHMEM_CMP_LE
};
enum { CMPS = sizeof cmps / sizeof *cmps };
/* Does 5 compare so with 4, 5 and 6? */
static const bool holds[CMPS][3] = {
    { false, true, false }, { true, false, true }, { true, false, false },
    { true, true, false }, { false, false, true }, { false, true, true }
};
static uint64_t words[N];       /* symmetric */
static int wrong;               /* atomic: items add */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* The word is 5; of a signed type also -5, whose order differs. */
#define COMPARE(NAME, T)                                                    \
    static void compare_##NAME(const shmemx_item_t *it, void *unused)       \
    {                                                                       \
        const T *word = (const T *)&words[0];                               \
        const T *less = (const T *)&words[1];                               \
        int c, i;                                                           \
                                                                            \
        (void)unused;                                                       \
        for (c = 0; c < CMPS; c++)                                          \
            for (i = 0; i < 3; i++) {                                       \
                T to = (T)(4 + i);                                          \
                                                                            \
                check(shmemx_dev_##NAME##_test(&dev, word, cmps[c], to) ==  \
                      holds[c][i]);                                         \
                if (holds[c][i])                                            \
                    shmemx_dev_##NAME##_wait_until(&dev, word, cmps[c],     \
                                                   to);                     \
            }                                                               \
        check(shmemx_dev_##NAME##_test(&dev, less, SHMEM_CMP_LT, 3) ==      \
              ((T)-1 < (T)1));                                              \
        if (it->phase == 0) {                                               \
            check(shmemx_dev_##NAME##_test_warp(&dev, word, SHMEM_CMP_EQ,   \
                                                5) == 1);                   \
            shmemx_dev_##NAME##_wait_until_warp(&dev, word, SHMEM_CMP_EQ,   \
                                                5);                         \
        } else {                                                            \
            check(shmemx_dev_##NAME##_test_block(&dev, word, SHMEM_CMP_NE,  \
                                                 5) == 0);                  \
            shmemx_dev_##NAME##_wait_until_block(&dev, word, SHMEM_CMP_EQ,  \
                                                 5);                        \
        }                                                                   \
    }
SHMEMI_DEV_AMO_TYPES(COMPARE)
COMPARE(short, short)
COMPARE(ushort, unsigned short)

static void set_word(int i, long value)
{
    memcpy(&words[i], &value, sizeof value);    /* little endian */
}

#define TRY(NAME, T)                                                        \
    kernel_run(compare_##NAME, NULL, 1, ITEMS, 2);                          \
    T_EQ(wrong, 0);

T(comparisons_of_every_type)
{
    wrong = 0;
    set_word(0, 5);
    set_word(1, -5);
    SHMEMI_DEV_AMO_TYPES(TRY)
    TRY(short, short)
    TRY(ushort, unsigned short)
}

/* ---- several words ---- */

#define SETS(NAME, T)                                                       \
    static void sets_##NAME(const shmemx_item_t *it, void *arg)             \
    {                                                                       \
        const T *v = arg;       /* 1, 2, 2, 9 */                            \
        const T to[N] = { 9, 2, 9, 9 };                                     \
        const int skip[N] = { 1, 1, 0, 0 }, all[N] = { 1, 1, 1, 1 };        \
        size_t at[N] = { 0 };                                               \
                                                                            \
        (void)it;                                                           \
        check(shmemx_dev_##NAME##_test_any(&dev, v, N, NULL, SHMEM_CMP_EQ,  \
                                           2) == 1);                        \
        check(shmemx_dev_##NAME##_test_any(&dev, v, N, skip, SHMEM_CMP_EQ,  \
                                           1) == (size_t)NONE);             \
        check(shmemx_dev_##NAME##_wait_until_any(&dev, v, N, skip,          \
                                                 SHMEM_CMP_EQ, 2) == 2);    \
        check(shmemx_dev_##NAME##_wait_until_any(&dev, v, N, all,           \
                                                 SHMEM_CMP_EQ, 2) ==        \
              (size_t)NONE);                                                \
        check(shmemx_dev_##NAME##_test_some(&dev, v, N, at, NULL,           \
                                            SHMEM_CMP_EQ, 2) == 2);         \
        check(at[0] == 1 && at[1] == 2);                                    \
        check(shmemx_dev_##NAME##_wait_until_some(&dev, v, N, at, skip,     \
                                                  SHMEM_CMP_GT, 2) == 1);   \
        check(at[0] == 3);                                                  \
        check(shmemx_dev_##NAME##_wait_until_some(&dev, v, N, at, all,      \
                                                  SHMEM_CMP_GT, 2) == 0);   \
        check(shmemx_dev_##NAME##_test_all(&dev, v, N, NULL, SHMEM_CMP_GE,  \
                                           1) == 1);                        \
        check(shmemx_dev_##NAME##_test_all(&dev, v, N, NULL, SHMEM_CMP_GE,  \
                                           2) == 0);                        \
        check(shmemx_dev_##NAME##_test_all(&dev, v, N, skip, SHMEM_CMP_GE,  \
                                           2) == 1);                        \
        check(shmemx_dev_##NAME##_test_all(&dev, v, N, all, SHMEM_CMP_LT,   \
                                           0) == 1);                        \
        shmemx_dev_##NAME##_wait_until_all(&dev, v, N, NULL, SHMEM_CMP_GE,  \
                                           1);                              \
        check(shmemx_dev_##NAME##_test_any_vector(                          \
                  &dev, v, N, NULL, SHMEM_CMP_EQ, to) == 1);                \
        check(shmemx_dev_##NAME##_test_all_vector(                          \
                  &dev, v, N, NULL, SHMEM_CMP_LE, to) == 1);                \
        check(shmemx_dev_##NAME##_test_some_vector(                         \
                  &dev, v, N, at, skip, SHMEM_CMP_EQ, to) == 1);            \
        check(at[0] == 3);                                                  \
        check(shmemx_dev_##NAME##_wait_until_any_vector(                    \
                  &dev, v, N, skip, SHMEM_CMP_EQ, to) == 3);                \
        check(shmemx_dev_##NAME##_wait_until_some_vector(                   \
                  &dev, v, N, at, NULL, SHMEM_CMP_EQ, to) == 2);            \
        check(at[0] == 1 && at[1] == 3);                                    \
        shmemx_dev_##NAME##_wait_until_all_vector(&dev, v, N, NULL,         \
                                                  SHMEM_CMP_LE, to);        \
    }                                                                       \
    static void try_sets_##NAME(void *room)                                 \
    {                                                                       \
        T *v = room;                                                        \
                                                                            \
        v[0] = 1;                                                           \
        v[1] = v[2] = 2;                                                    \
        v[3] = 9;                                                           \
        kernel_run(sets_##NAME, v, 1, 1, 1);                                \
        T_EQ(wrong, 0);                                                     \
    }
SHMEMI_DEV_AMO_TYPES(SETS)

T(several_words)
{
    wrong = 0;
#define TRY_SETS(NAME, T) try_sets_##NAME(words);
    SHMEMI_DEV_AMO_TYPES(TRY_SETS)
}

/* ---- across PEs ---- */

enum { ROUNDS = 40, LONGS = 700 };
static long data[LONGS];
static uint64_t arrived, taken;
static uint64_t flags[3];

/* Each PE sends its data round the ring; the block scope needs a phase for each
 * call, so one item is enough here. */
static void pass_on(const shmemx_item_t *it, void *arg)
{
    long *sent = arg;

    (void)it;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < LONGS; i++)
            sent[i] = (long)round * 1000 + i + me;
        shmemx_dev_long_put_signal(&dev, data, sent, LONGS, &arrived, 1,
                                   SHMEM_SIGNAL_ADD, next);
        check(shmemx_dev_signal_wait_until(&dev, &arrived, SHMEM_CMP_GE,
                                           round) == round);
        for (int i = 0; i < LONGS; i++)
            check(data[i] == (long)round * 1000 + i + prev);
        shmemx_dev_signal_set(&dev, &taken, round, prev);
        shmemx_dev_signal_wait_until_block(&dev, &taken, SHMEM_CMP_GE, round);
    }
    check(shmemx_dev_signal_fetch(&dev, &arrived) == ROUNDS);
}

T(signals_come_behind_their_data)
{
    long *sent = kernel_room(true, sizeof data);

    wrong = 0;
    arrived = taken = 0;
    shmem_barrier_all();
    kernel_run(pass_on, sent, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
    shmem_free(sent);
}

/* The kernel waits for words that hosts of other PEs store, and sleeps. */
static void wait_for_hosts(const shmemx_item_t *it, void *unused)
{
    size_t some[3], n, left = 3;
    int status[3] = { 0 };

    (void)it;
    (void)unused;
    shmemx_dev_uint64_wait_until(&dev, &flags[0], SHMEM_CMP_EQ, 7);
    while (left) {
        n = shmemx_dev_uint64_wait_until_some(&dev, flags, 3, some, status,
                                              SHMEM_CMP_GE, 7);
        for (size_t i = 0; i < n; i++)
            status[some[i]] = 1;
        left -= n;
    }
}

T(words_that_hosts_store)
{
    shmemx_grid_t g = { .groups = 1, .items = 1, .phases = 1, .resident = 1 };

    memset(flags, 0, sizeof flags);
    shmem_barrier_all();
    T_EQ(shmemx_stream_launch(stream, &g, wait_for_hosts, NULL), 0);
    usleep(30000);
    for (int i = 0; i < 3; i++) {
        shmem_uint64_p(&flags[i], 7, next);
        shmem_quiet();
        usleep(3000);
    }
    T_EQ(shmemx_stream_sync(stream), 0);
    shmem_barrier_all();
}

/* A host that sleeps wakes when a kernel stores. */
static void store_late(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    usleep(30000);
    shmemx_dev_uint64_p(&dev, &flags[1], 9, next);
    shmemx_dev_quiet(&dev);
}

T(hosts_wake_when_kernels_store)
{
    shmemx_grid_t g = { .groups = 1, .items = 1, .phases = 1 };

    flags[1] = 0;
    shmem_barrier_all();
    T_EQ(shmemx_stream_launch(stream, &g, store_late, NULL), 0);
    shmem_uint64_wait_until(&flags[1], SHMEM_CMP_EQ, 9);
    T_EQ(shmemx_stream_sync(stream), 0);
    shmem_barrier_all();
}

int main(void)
{
    kernel_begin();
    T_RUN(comparisons_of_every_type);
    T_RUN(several_words);
    T_RUN(signals_come_behind_their_data);
    T_RUN(words_that_hosts_store);
    T_RUN(hosts_wake_when_kernels_store);
    return kernel_end();
}

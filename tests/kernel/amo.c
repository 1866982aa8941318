/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every atomic of kernels, of every type, changes the word of the
 * peer and returns what it was; atomics of many groups, of all PEs' kernels and
 * hosts at once lose no update.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 2/1:SHMEM_OFI_AMO=message
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"

enum { WORDS = 16, START = 53 };
enum { ADD, AND, OR, XOR, INC, SET, SWAP, CSWAP, KEPT, OPS };
static uint64_t in_data[2 * WORDS];
static uint64_t *words;         /* symmetric: the ones that change */
static uint64_t *fetched;       /* what non-blocking calls fetch */
static uint64_t was[OPS];       /* what the calls returned */

/* The value 53 is 110101 in binary; the operand is 14, 001110. */
#define WORD(T, at) ((T *)&words[at])
#define STANDARD(NAME, T)                                                   \
    static void plain_##NAME(const shmemx_item_t *it, void *unused)         \
    {                                                                       \
        (void)it;                                                           \
        (void)unused;                                                       \
        shmemx_dev_##NAME##_atomic_add(&dev, WORD(T, ADD), 14, next);       \
        shmemx_dev_##NAME##_atomic_and(&dev, WORD(T, AND), 14, next);       \
        shmemx_dev_##NAME##_atomic_or(&dev, WORD(T, OR), 14, next);         \
        shmemx_dev_##NAME##_atomic_xor(&dev, WORD(T, XOR), 14, next);       \
        shmemx_dev_##NAME##_atomic_inc(&dev, WORD(T, INC), next);           \
        shmemx_dev_quiet(&dev);                                             \
    }                                                                       \
    static void fetching_##NAME(const shmemx_item_t *it, void *unused)      \
    {                                                                       \
        (void)it;                                                           \
        (void)unused;                                                       \
        was[ADD] = (uint64_t)shmemx_dev_##NAME##_atomic_fetch_add(          \
            &dev, WORD(T, ADD), 14, next);                                  \
        was[AND] = (uint64_t)shmemx_dev_##NAME##_atomic_fetch_and(          \
            &dev, WORD(T, AND), 14, next);                                  \
        was[OR] = (uint64_t)shmemx_dev_##NAME##_atomic_fetch_or(            \
            &dev, WORD(T, OR), 14, next);                                   \
        was[XOR] = (uint64_t)shmemx_dev_##NAME##_atomic_fetch_xor(          \
            &dev, WORD(T, XOR), 14, next);                                  \
        was[INC] = (uint64_t)shmemx_dev_##NAME##_atomic_fetch_inc(          \
            &dev, WORD(T, INC), next);                                      \
        was[CSWAP] = (uint64_t)shmemx_dev_##NAME##_atomic_compare_swap(     \
            &dev, WORD(T, CSWAP), START, 14, next);                         \
        was[KEPT] = (uint64_t)shmemx_dev_##NAME##_atomic_compare_swap(      \
            &dev, WORD(T, KEPT), 5, 14, next);                              \
        shmemx_dev_quiet(&dev);                                             \
    }                                                                       \
    static void nbi_##NAME(const shmemx_item_t *it, void *unused)           \
    {                                                                       \
        T *to = (T *)fetched;                                               \
        enum { APART = sizeof(uint64_t) / sizeof(T) };                      \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        shmemx_dev_##NAME##_atomic_fetch_add_nbi(                           \
            &dev, to + ADD * APART, WORD(T, ADD), 14, next);                \
        shmemx_dev_##NAME##_atomic_fetch_and_nbi(                           \
            &dev, to + AND * APART, WORD(T, AND), 14, next);                \
        shmemx_dev_##NAME##_atomic_fetch_or_nbi(                            \
            &dev, to + OR * APART, WORD(T, OR), 14, next);                  \
        shmemx_dev_##NAME##_atomic_fetch_xor_nbi(                           \
            &dev, to + XOR * APART, WORD(T, XOR), 14, next);                \
        shmemx_dev_##NAME##_atomic_fetch_inc_nbi(                           \
            &dev, to + INC * APART, WORD(T, INC), next);                    \
        shmemx_dev_##NAME##_atomic_compare_swap_nbi(                        \
            &dev, to + CSWAP * APART, WORD(T, CSWAP), START, 14, next);     \
        shmemx_dev_##NAME##_atomic_compare_swap_nbi(                        \
            &dev, to + KEPT * APART, WORD(T, KEPT), 5, 14, next);           \
        shmemx_dev_quiet(&dev);                                             \
        for (int i = 0; i < OPS; i++)                                       \
            was[i] = (uint64_t)to[i * APART];                               \
    }
SHMEMI_DEV_AMO_TYPES(STANDARD)

static const uint64_t results[OPS] = {
    [ADD] = START + 14, [AND] = START & 14, [OR] = START | 14,
    [XOR] = START ^ 14, [INC] = START + 1, [CSWAP] = 14, [KEPT] = START
};

/* words: host, device or static memory; from: the first op that ran. */
static void try_standard(shmemx_kernel_t body, size_t size, bool fetches,
                         bool compares)
{
    for (int i = 0; i < OPS; i++) {
        uint64_t full = size == 8 ? START : 0xdeadULL << 32 | START;

        words[i] = full;
        fetched[i] = was[i] = 0;
    }
    shmem_barrier_all();
    kernel_run(body, NULL, 1, 1, 1);
    shmem_barrier_all();
    for (int i = 0; i < OPS; i++) {
        if (i == SET || i == SWAP || (!compares && (i == CSWAP || i == KEPT)))
            continue;
        T_EQ(size == 8 ? words[i] : words[i] & 0xffffffff, results[i]);
        if (size == 4)
            T_EQ(words[i] >> 32, 0xdead);
        T_EQ(was[i], fetches ? START : 0);
    }
    shmem_barrier_all();
}

#define EXTENDED(NAME, T)                                                   \
    static T got_##NAME[4];                                                 \
    static void extended_##NAME(const shmemx_item_t *it, void *unused)      \
    {                                                                       \
        T *to = (T *)fetched;                                               \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        got_##NAME[0] = shmemx_dev_##NAME##_atomic_fetch(                   \
            &dev, WORD(T, KEPT), next);                                     \
        shmemx_dev_##NAME##_atomic_fetch_nbi(&dev, to, WORD(T, KEPT),       \
                                             next);                         \
        shmemx_dev_##NAME##_atomic_set(&dev, WORD(T, SET), (T)77, next);    \
        got_##NAME[2] = shmemx_dev_##NAME##_atomic_swap(                    \
            &dev, WORD(T, SWAP), (T)78, next);                              \
        shmemx_dev_##NAME##_atomic_swap_nbi(&dev, to + 1, WORD(T, CSWAP),   \
                                            (T)79, next);                   \
        shmemx_dev_quiet(&dev);                                             \
        got_##NAME[1] = to[0];                                              \
        got_##NAME[3] = to[1];                                              \
    }                                                                       \
    static void try_extended_##NAME(void)                                   \
    {                                                                       \
        for (int i = 0; i < OPS; i++)                                       \
            *WORD(T, i) = (T)(i + 3);                                       \
        shmem_barrier_all();                                                \
        kernel_run(extended_##NAME, NULL, 1, 1, 1);                         \
        shmem_barrier_all();                                                \
        T_TRUE(got_##NAME[0] == (T)(KEPT + 3));                             \
        T_TRUE(got_##NAME[1] == (T)(KEPT + 3));                             \
        T_TRUE(got_##NAME[2] == (T)(SWAP + 3));                             \
        T_TRUE(got_##NAME[3] == (T)(CSWAP + 3));                            \
        T_TRUE(*WORD(T, KEPT) == (T)(KEPT + 3));                            \
        T_TRUE(*WORD(T, SET) == (T)77);                                     \
        T_TRUE(*WORD(T, SWAP) == (T)78);                                    \
        T_TRUE(*WORD(T, CSWAP) == (T)79);                                   \
        shmem_barrier_all();                                                \
    }
SHMEMI_DEV_AMO_EXT_TYPES(EXTENDED)

static void try_all(uint64_t *in)
{
    words = in;
    fetched = in + WORDS;
#define TRY(NAME, T)                                                        \
    try_standard(plain_##NAME, sizeof(T), false, false);                    \
    try_standard(fetching_##NAME, sizeof(T), true, true);                   \
    try_standard(nbi_##NAME, sizeof(T), true, true);
    SHMEMI_DEV_AMO_TYPES(TRY)
#define TRY_EXTENDED(NAME, T) try_extended_##NAME();
    SHMEMI_DEV_AMO_EXT_TYPES(TRY_EXTENDED)
}

T(on_words_of_any_memory)
{
    for (int device = 0; device < 2; device++) {
        try_all(kernel_room(device, sizeof in_data));
        shmem_free(words);
    }
    try_all(in_data);
}

/* ---- at once ---- */

enum { GROUPS = 6, TIMES = 200 };
static long total;
static unsigned small_total;

static void add_often(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        shmemx_dev_long_atomic_add(&dev, &total, (long)it->group + 1, 0);
        if (shmemx_dev_uint_atomic_fetch_inc(&dev, &small_total, 0) >=
            (unsigned)(GROUPS + 1) * TIMES * (unsigned)n_pes)
            shmemx_dev_long_atomic_add(&dev, &total, -1000000, 0);
    }
    shmemx_dev_quiet(&dev);
}

T(groups_and_hosts_lose_no_update)
{
    shmemx_grid_t g = { .groups = GROUPS, .items = 1, .phases = 1,
                        .resident = GROUPS };

    total = 0;
    small_total = 0;
    shmem_barrier_all();
    T_EQ(shmemx_stream_launch(stream, &g, add_often, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        shmem_long_atomic_add(&total, 100, 0);
        shmem_uint_atomic_inc(&small_total, 0);
    }
    T_EQ(shmemx_stream_sync(stream), 0);
    shmem_barrier_all();
    if (!me) {
        T_EQ(total, (long)n_pes * TIMES * (GROUPS * (GROUPS + 1) / 2 + 100));
        T_EQ(small_total, (unsigned)n_pes * TIMES * (GROUPS + 1));
    }
    shmem_barrier_all();
}

int main(void)
{
    kernel_begin();
    T_RUN(on_words_of_any_memory);
    T_RUN(groups_and_hosts_lose_no_update);
    return kernel_end();
}

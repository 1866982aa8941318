/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every put, get, p, g and put with a signal of kernels, of every
 * type, size and scope, moves what its name says, in host, device and static
 * memory.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"

/* 33 items are two warps, so the first items of both make each _warp call. */
enum { N = 5, WARPS = 2, ITEMS = 33, SCOPES = 3, MOST = 16 };
enum { PUT, PUT_NBI, IPUT, PUT_SIGNAL, PUT_SIGNAL_NBI, P, PUTS };
enum { GET, GET_NBI, IGET, G, GETS };

/* Symmetric, in one memory. */
struct area {
    char dest[SCOPES][PUTS][2 * N * MOST] __attribute__((aligned(16)));
    char source[2 * N * MOST] __attribute__((aligned(16)));
    char got[SCOPES][GETS][2 * N * MOST] __attribute__((aligned(16)));
    uint64_t signal[SCOPES][2];
};
static struct area in_data;
static struct area *area;

/* All calls of the scope on elements of type T. */
#define CALLS(PRE, POST, T, SUFFIX, at)                                     \
    do {                                                                    \
        struct area *a_ = area;                                             \
                                                                            \
        shmemx_dev_##PRE##put##POST##SUFFIX(                                \
            &dev, (T *)a_->dest[at][PUT], (T *)a_->source, N, next);        \
        shmemx_dev_##PRE##put##POST##_nbi##SUFFIX(                          \
            &dev, (T *)a_->dest[at][PUT_NBI], (T *)a_->source, N, next);    \
        shmemx_dev_##PRE##iput##POST##SUFFIX(                               \
            &dev, (T *)a_->dest[at][IPUT], (T *)a_->source, 2, 1, N, next); \
        shmemx_dev_##PRE##put##POST##_signal##SUFFIX(                       \
            &dev, (T *)a_->dest[at][PUT_SIGNAL], (T *)a_->source, N,        \
            &a_->signal[at][0], 3, SHMEM_SIGNAL_ADD, next);                 \
        shmemx_dev_##PRE##put##POST##_signal_nbi##SUFFIX(                   \
            &dev, (T *)a_->dest[at][PUT_SIGNAL_NBI], (T *)a_->source, N,    \
            &a_->signal[at][1], 7, SHMEM_SIGNAL_SET, next);                 \
        shmemx_dev_##PRE##get##POST##SUFFIX(                                \
            &dev, (T *)a_->got[at][GET], (T *)a_->source, N, next);         \
        shmemx_dev_##PRE##get##POST##_nbi##SUFFIX(                          \
            &dev, (T *)a_->got[at][GET_NBI], (T *)a_->source, N, next);     \
        shmemx_dev_##PRE##iget##POST##SUFFIX(                               \
            &dev, (T *)a_->got[at][IGET], (T *)a_->source, 2, 1, N, next);  \
        shmemx_dev_quiet##SUFFIX(&dev);                                     \
    } while (0)

#define KERNEL(NAME, PRE, POST, T)                                          \
    static void kernel_##NAME(const shmemx_item_t *it, void *unused)        \
    {                                                                       \
        (void)unused;                                                       \
        if (it->phase == 0 && it->item == 0)                                \
            CALLS(PRE, POST, T, , 0);                                       \
        else if (it->phase == 1)                                            \
            CALLS(PRE, POST, T, _warp, 1);                                  \
        else if (it->phase == 2)                                            \
            CALLS(PRE, POST, T, _block, 2);                                 \
    }
#define TYPED(NAME, T) KERNEL(NAME, NAME##_, , T)
#define SIZED(BITS, BYTES) KERNEL(BITS, , BITS, void)
SHMEMI_DEV_RMA_TYPES(TYPED)
SHMEMI_DEV_SIZES(SIZED)

#define ONE(NAME, T)                                                        \
    static void one_##NAME(const shmemx_item_t *it, void *unused)           \
    {                                                                       \
        T *to = (T *)area->dest[0][P], *got = (T *)area->got[0][G];         \
        const T *from = (const T *)area->source;                            \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        for (int i = 0; i < N; i++) {                                       \
            shmemx_dev_##NAME##_p(&dev, to + i, from[i], next);             \
            got[i] = shmemx_dev_##NAME##_g(&dev, from + i, next);           \
        }                                                                   \
        shmemx_dev_quiet(&dev);                                             \
    }
SHMEMI_DEV_RMA_TYPES(ONE)

/* The bytes of PE pe; of a long double, those that count. */
static char byte_of(int pe, size_t i, size_t size, size_t counts)
{
    return (char)(i % size < counts ? 16 * pe + 3 * (int)i + 1 : 0);
}

static void fill(size_t size, size_t counts)
{
    memset(area, 0, sizeof *area);
    for (size_t i = 0; i < N * size; i++)
        area->source[i] = byte_of(me, i, size, counts);
}

static bool moved(const char *to, int pe, size_t size, size_t counts,
                  size_t stride)
{
    bool right = true;

    for (size_t i = 0; i < N * size; i++)
        if (i % size < counts)
            right &= to[i / size * size * stride + i % size] ==
                     byte_of(pe, i, size, counts);
    return right;
}

static void check_scope(int s, size_t size, size_t counts)
{
    for (int i = PUT; i < P; i++)
        T_TRUE(moved(area->dest[s][i], prev, size, counts, 1 + (i == IPUT)));
    for (int i = GET; i < G; i++)
        T_TRUE(moved(area->got[s][i], next, size, counts, 1 + (i == IGET)));
    T_EQ(area->signal[s][0], 3 * (s == 1 ? WARPS : 1));
    T_EQ(area->signal[s][1], 7);
    /* What lies between strided elements is as it was. */
    T_EQ(area->dest[s][IPUT][size], 0);
    T_EQ(area->got[s][IGET][size], 0);
}

static void try_calls(shmemx_kernel_t calls, shmemx_kernel_t one, size_t size,
                      size_t counts)
{
    fill(size, counts);
    shmem_barrier_all();
    kernel_run(calls, NULL, 1, ITEMS, SCOPES);
    if (one)
        kernel_run(one, NULL, 1, 1, 1);
    shmem_barrier_all();
    for (int s = 0; s < SCOPES; s++)
        check_scope(s, size, counts);
    if (one) {
        T_TRUE(moved(area->dest[0][P], prev, size, counts, 1));
        T_TRUE(moved(area->got[0][G], next, size, counts, 1));
    }
    shmem_barrier_all();
}

static void try_all(struct area *in)
{
    area = in;
#define TRY_TYPE(NAME, T)                                                   \
    try_calls(kernel_##NAME, one_##NAME, sizeof(T),                         \
              sizeof(T) == sizeof(long double) ? 10 : sizeof(T));
#define TRY_SIZE(BITS, BYTES) try_calls(kernel_##BITS, NULL, BYTES, BYTES);
    SHMEMI_DEV_RMA_TYPES(TRY_TYPE)
    SHMEMI_DEV_SIZES(TRY_SIZE)
}

T(in_host_memory)
{
    try_all(kernel_room(false, sizeof *area));
    shmem_free(area);
}

T(in_device_memory)
{
    try_all(kernel_room(true, sizeof *area));
    shmem_free(area);
}

T(in_static_data)
{
    try_all(&in_data);
}

/* ---- bytes ---- */

enum { LARGE = 300001 };
static struct bytes {
    char *to[SCOPES], *from, *got[SCOPES];
    uint64_t *signal;
    size_t n;
} bytes;

#define BYTES(SUFFIX, at)                                                   \
    do {                                                                    \
        shmemx_dev_putmem##SUFFIX(&dev, bytes.to[at] + 1, bytes.from,       \
                                  bytes.n, next);                           \
        shmemx_dev_getmem##SUFFIX(&dev, bytes.got[at] + 3, bytes.from,      \
                                  bytes.n, next);                           \
        shmemx_dev_putmem_nbi##SUFFIX(&dev, bytes.to[at] + LARGE,           \
                                      bytes.from, bytes.n, next);           \
        shmemx_dev_getmem_nbi##SUFFIX(&dev, bytes.got[at] + LARGE,          \
                                      bytes.from, bytes.n, next);           \
        shmemx_dev_putmem_signal##SUFFIX(                                   \
            &dev, bytes.to[at] + 2 * LARGE, bytes.from, bytes.n,            \
            bytes.signal, 1, SHMEM_SIGNAL_ADD, next);                       \
        shmemx_dev_putmem_signal_nbi##SUFFIX(                               \
            &dev, bytes.to[at] + 3 * LARGE, bytes.from, bytes.n,            \
            bytes.signal, 1, SHMEM_SIGNAL_ADD, next);                       \
        shmemx_dev_quiet##SUFFIX(&dev);                                     \
    } while (0)

static void move_bytes(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    if (it->phase == 0)
        BYTES(, 0);
    else if (it->phase == 1)
        BYTES(_warp, 1);
    else
        BYTES(_block, 2);
}

static char of_pe(int pe, size_t i)
{
    return (char)(i * 7 + i / 251 + (size_t)pe * 5);
}

static bool is_of(const char *p, size_t n, int pe)
{
    size_t i = 0;

    while (i < n && p[i] == of_pe(pe, i))
        i++;
    return i == n && p[n] == 0;
}

T(any_number_of_bytes_at_any_alignment)
{
    const size_t lengths[] = { 0, 1, 7, 15, 16, 17, 4095, 4097, LARGE - 8 };
    const size_t room = 4 * LARGE + 8;
    bool device;

    for (size_t k = 0; k < 2 * (sizeof lengths / sizeof *lengths); k++) {
        device = k % 2;
        bytes.n = lengths[k / 2];
        for (int s = 0; s < SCOPES; s++) {
            bytes.to[s] = kernel_room(device, room);
            bytes.got[s] = kernel_room(!device, room);
        }
        bytes.from = kernel_room(device, LARGE);
        bytes.signal = kernel_room(device, sizeof *bytes.signal);
        for (size_t i = 0; i < LARGE; i++)
            bytes.from[i] = of_pe(me, i);
        shmem_barrier_all();
        kernel_run(move_bytes, NULL, 1, 1, SCOPES);
        shmem_barrier_all();
        T_EQ(*bytes.signal, 2 * SCOPES);
        for (int s = 0; s < SCOPES; s++) {
            T_TRUE(is_of(bytes.to[s] + 1, bytes.n, prev));
            T_TRUE(is_of(bytes.got[s] + 3, bytes.n, next));
            T_TRUE(is_of(bytes.got[s] + LARGE, bytes.n, next));
            for (int i = 1; i < 4; i++)
                T_TRUE(is_of(bytes.to[s] + i * LARGE, bytes.n, prev));
        }
        shmem_free(bytes.signal);
        shmem_free(bytes.from);
        for (int s = SCOPES - 1; s >= 0; s--) {
            shmem_free(bytes.got[s]);
            shmem_free(bytes.to[s]);
        }
    }
}

int main(void)
{
    kernel_begin();
    T_RUN(in_host_memory);
    T_RUN(in_device_memory);
    T_RUN(in_static_data);
    T_RUN(any_number_of_bytes_at_any_alignment);
    return kernel_end();
}

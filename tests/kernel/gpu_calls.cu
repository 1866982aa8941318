/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of kernels on a GPU, for tests/kernel/gpu_calls.sh: data in the device
 * heap, the host heap and static data; every scope; far more threads than a
 * ring has room for.  Prints a line for each family, and `wrong` for what
 * differs. */
#include <cuda_runtime.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_dev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 37, SLOTS = 8, SCOPES = 3, ROOM = 2 * N * 16 };
enum { PUT, PUT_NBI, IPUT, PUT_SIGNAL, GET, GET_NBI, IGET, ONE };
static int me, n_pes, next_pe, prev_pe, failures;
static shmemx_dev_t dev;

/* Symmetric, in one memory. */
struct area {
    char source[ROOM];
    char room[SCOPES][SLOTS][ROOM];
    unsigned long long signal[SCOPES];
};
static struct area in_data;

static void need(cudaError_t rc, int line)
{
    if (rc == cudaSuccess)
        return;
    printf("PE %d: line %d: %s\n", me, line, cudaGetErrorString(rc));
    fflush(stdout);
    shmem_global_exit(2);
}
#define CU(call) need(call, __LINE__)

static void wrong(const char *what, long at)
{
    if (failures++ < 20)
        printf("PE %d: wrong: %s, %ld\n", me, what, at);
}

#define CALLS(T, NAME, SUFFIX, at)                                          \
    do {                                                                    \
        shmemx_dev_##NAME##_put##SUFFIX(&dev, (T *)a->room[at][PUT],        \
                                        (T *)l->source, N, to);             \
        shmemx_dev_##NAME##_put_nbi##SUFFIX(&dev, (T *)a->room[at][PUT_NBI], \
                                            (T *)l->source, N, to);         \
        shmemx_dev_##NAME##_iput##SUFFIX(&dev, (T *)a->room[at][IPUT],      \
                                         (T *)l->source, 2, 1, N, to);      \
        shmemx_dev_##NAME##_put_signal##SUFFIX(                             \
            &dev, (T *)a->room[at][PUT_SIGNAL], (T *)l->source, N,          \
            &a->signal[at], 5, SHMEM_SIGNAL_ADD, to);                       \
        shmemx_dev_##NAME##_get##SUFFIX(&dev, (T *)l->room[at][GET],        \
                                        (T *)a->source, N, to);             \
        shmemx_dev_##NAME##_get_nbi##SUFFIX(&dev, (T *)l->room[at][GET_NBI], \
                                            (T *)a->source, N, to);         \
        shmemx_dev_##NAME##_iget##SUFFIX(&dev, (T *)l->room[at][IGET],      \
                                         (T *)a->source, 2, 1, N, to);      \
        shmemx_dev_quiet##SUFFIX(&dev);                                     \
    } while (0)
#define KERNEL(T, NAME)                                                     \
    __global__ void move_##NAME(SHMEMX_DEV_ARG(dev), struct area *a,        \
                                struct area *l, int to)                     \
    {                                                                       \
        if (threadIdx.x == 0) {                                             \
            CALLS(T, NAME, , 0);                                            \
            for (int i = 0; i < N; i++) {                                   \
                shmemx_dev_##NAME##_p(&dev, (T *)a->room[1][ONE] + i,       \
                                      ((T *)l->source)[i], to);             \
                ((T *)l->room[2][ONE])[i] = shmemx_dev_##NAME##_g(          \
                    &dev, (T *)a->source + i, to);                          \
            }                                                               \
            shmemx_dev_quiet(&dev);                                         \
        }                                                                   \
        __syncthreads();                                                    \
        if (threadIdx.x < 32)                                               \
            CALLS(T, NAME, _warp, 1);                                       \
        __syncthreads();                                                    \
        CALLS(T, NAME, _block, 2);                                          \
    }
#define TYPES(X) X(char, char) X(short, short) X(int, int) X(long, long)    \
    X(float, float) X(double, double) X(unsigned long long, ulonglong)
TYPES(KERNEL)

static char byte_of(int pe, size_t i) { return (char)(pe * 16 + i * 3 + 1); }

static void check_room(const char *type, const struct area *a, int s, int slot,
                       size_t size, int pe)
{
    size_t stride = 1 + (slot == IPUT || slot == IGET);

    for (size_t i = 0; i < N * size; i++)
        if (a->room[s][slot][i / size * size * stride + i % size] !=
            byte_of(pe, i)) {
            char text[80];

            snprintf(text, sizeof text, "%s, scope %d, call %d, byte", type, s,
                     slot);
            wrong(text, (long)i);
            return;
        }
}

typedef void mover(shmemx_dev_t, struct area *, struct area *, int);

static void try_type(const char *type, mover *kernel, size_t size,
                     struct area *a, struct area *l)
{
    static struct area h, got;

    memset(&h, 0, sizeof h);
    for (size_t i = 0; i < N * size; i++)
        h.source[i] = byte_of(me, i);
    CU(cudaMemcpy(a, &h, sizeof h, cudaMemcpyDefault));
    CU(cudaMemcpy(l, &h, sizeof h, cudaMemcpyDefault));
    shmem_barrier_all();
    kernel<<<1, 96>>>(dev, a, l, next_pe);
    CU(cudaDeviceSynchronize());
    shmem_barrier_all();
    CU(cudaMemcpy(&h, a, sizeof h, cudaMemcpyDefault));
    CU(cudaMemcpy(&got, l, sizeof got, cudaMemcpyDefault));
    for (int s = 0; s < SCOPES; s++) {
        for (int slot = PUT; slot < ONE; slot++)
            check_room(type, slot < GET ? &h : &got, s, slot, size,
                       slot < GET ? prev_pe : next_pe);
        if (h.signal[s] != 5)
            wrong("signal", (long)h.signal[s]);
    }
    check_room(type, &h, 1, ONE, size, prev_pe);
    check_room(type, &got, 2, ONE, size, next_pe);
    shmem_barrier_all();
}

/* l: memory that the device reaches, for the local ends. */
static void try_moves(const char *where, struct area *a, struct area *l)
{
#define TRY(T, NAME) try_type(#NAME, move_##NAME, sizeof(T), a, l);
    TYPES(TRY)
    printf("PE %d: moves in %s: %d wrong\n", me, where, failures);
}

/* ---- atomics ---- */

struct counts {
    unsigned long long add, inc, swapped, cas, bits_or, bits_and, bits_xor;
    unsigned add32, inc32;
    float value;
    int order;                  /* a fetch_inc gave each thread another one */
    unsigned char seen[4096];
};

__global__ void count(SHMEMX_DEV_ARG(dev), struct counts *c, int to)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, was;

    shmemx_dev_ulonglong_atomic_add(&dev, &c->add, t, to);
    shmemx_dev_ulonglong_atomic_inc(&dev, &c->inc, to);
    shmemx_dev_uint_atomic_add(&dev, &c->add32, 2, to);
    shmemx_dev_uint_atomic_inc(&dev, &c->inc32, to);
    shmemx_dev_ulonglong_atomic_or(&dev, &c->bits_or, 1ull << t % 64, to);
    shmemx_dev_ulonglong_atomic_and(&dev, &c->bits_and, ~(1ull << t % 64), to);
    shmemx_dev_ulonglong_atomic_xor(&dev, &c->bits_xor, 1ull << t % 63, to);
    was = shmemx_dev_int_atomic_fetch_inc(&dev, &c->order, to);
    if (was >= 0 && was < 4096)
        c->seen[was] = 1;
    if (t == 0) {
        shmemx_dev_ulonglong_atomic_set(&dev, &c->swapped, 8, to);
        if (shmemx_dev_ulonglong_atomic_swap(&dev, &c->swapped, 9, to) != 8 ||
            shmemx_dev_ulonglong_atomic_compare_swap(&dev, &c->cas, 0, 7, to) ||
            shmemx_dev_ulonglong_atomic_compare_swap(&dev, &c->cas, 0, 6, to)
                != 7 ||
            shmemx_dev_float_atomic_swap(&dev, &c->value, 2.5f, to) != 0.0f ||
            shmemx_dev_float_atomic_fetch(&dev, &c->value, to) != 2.5f ||
            shmemx_dev_ulonglong_atomic_fetch(&dev, &c->swapped, to) != 9)
            shmemx_dev_ulonglong_atomic_add(&dev, &c->inc, 100000, to);
    }
    shmemx_dev_quiet(&dev);
}

static void try_atomics(const char *where, struct counts *c)
{
    static struct counts h;
    const unsigned long long threads = 8 * 256;
    int before = failures;

    memset(&h, 0, sizeof h);
    h.bits_and = ~0ull;
    CU(cudaMemcpy(c, &h, sizeof h, cudaMemcpyDefault));
    shmem_barrier_all();
    count<<<8, 256>>>(dev, c, next_pe);
    CU(cudaDeviceSynchronize());
    shmem_barrier_all();
    CU(cudaMemcpy(&h, c, sizeof h, cudaMemcpyDefault));
    if (h.add != threads * (threads - 1) / 2)
        wrong("add", (long)h.add);
    if (h.inc != threads)
        wrong("inc", (long)h.inc);
    if (h.add32 != 2 * threads || h.inc32 != threads)
        wrong("32 bits", (long)h.add32);
    if (h.bits_or != ~0ull || h.bits_and)
        wrong("or, and", (long)h.bits_and);
    if (h.bits_xor >> 63)
        wrong("xor", (long)h.bits_xor);
    if (h.order != (int)threads)
        wrong("fetch_inc", h.order);
    for (unsigned i = 0; i < threads; i++)
        if (!h.seen[i]) {
            wrong("a value that no fetch_inc returned", i);
            break;
        }
    if (h.cas != 7 || h.swapped != 9 || h.value != 2.5f)
        wrong("swaps", (long)h.cas);
    printf("PE %d: atomics in %s: %d wrong\n", me, where, failures - before);
    shmem_barrier_all();
}

/* ---- signals, waits, barriers ---- */

enum { ROUNDS = 50, LONGS = 3000 };
struct ring {
    long data[LONGS], sent[LONGS];
    unsigned long long arrived, taken;
    long slots[64];
    unsigned long long wrong;
};

/* Each PE passes data on; with one PE to itself. */
__global__ void pass_on(SHMEMX_DEV_ARG(dev), struct ring *r)
{
    int to = (dev.my_pe + 1) % dev.n_pes;
    int from = (dev.my_pe + dev.n_pes - 1) % dev.n_pes;

    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = threadIdx.x; i < LONGS; i += blockDim.x)
            r->sent[i] = round * 10000 + i + dev.my_pe;
        __syncthreads();
        shmemx_dev_long_put_signal_block(&dev, r->data, r->sent, LONGS,
                                         &r->arrived, 1, SHMEM_SIGNAL_ADD, to);
        shmemx_dev_signal_wait_until_block(&dev, &r->arrived, SHMEM_CMP_GE,
                                           round);
        for (int i = threadIdx.x; i < LONGS; i += blockDim.x)
            if (*(volatile long *)&r->data[i] != round * 10000 + i + from)
                atomicAdd(&r->wrong, 1ull);
        __syncthreads();
        if (threadIdx.x == 0)
            shmemx_dev_signal_set(&dev, &r->taken, round, from);
        shmemx_dev_signal_wait_until_block(&dev, &r->taken, SHMEM_CMP_GE,
                                           round);
    }
}

__global__ void meet(SHMEMX_DEV_ARG(dev), struct ring *r)
{
    for (long round = 1; round <= ROUNDS; round++) {
        if ((int)threadIdx.x < dev.n_pes)
            shmemx_dev_long_p(&dev, &r->slots[dev.my_pe], round, threadIdx.x);
        __syncthreads();
        if (shmemx_dev_barrier_all_block(&dev))
            atomicAdd(&r->wrong, 1ull);
        if ((int)threadIdx.x < dev.n_pes &&
            *(volatile long *)&r->slots[threadIdx.x] != round)
            atomicAdd(&r->wrong, 1ull);
        if (shmemx_dev_sync_all_block(&dev))
            atomicAdd(&r->wrong, 1ull);
    }
}

static void try_ring(const char *where, struct ring *r)
{
    static struct ring h;
    int before = failures;

    memset(&h, 0, sizeof h);
    CU(cudaMemcpy(r, &h, sizeof h, cudaMemcpyDefault));
    shmem_barrier_all();
    pass_on<<<1, 128>>>(dev, r);
    CU(cudaDeviceSynchronize());
    shmem_barrier_all();
    meet<<<1, 64>>>(dev, r);
    CU(cudaDeviceSynchronize());
    shmem_barrier_all();
    CU(cudaMemcpy(&h, r, sizeof h, cudaMemcpyDefault));
    if (h.wrong)
        wrong("data behind a signal or a barrier", (long)h.wrong);
    printf("PE %d: signals and barriers in %s: %d wrong\n", me, where,
           failures - before);
    shmem_barrier_all();
}

/* ---- many requests, and times ---- */

__global__ void put_many(SHMEMX_DEV_ARG(dev), long *to, int pe)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = 0; i < 16; i++)
        shmemx_dev_long_p(&dev, &to[t * 16 + i], t * 16 + i + dev.my_pe, pe);
    shmemx_dev_fence(&dev);
    shmemx_dev_quiet(&dev);
}

static void try_many(const char *where, long *to)
{
    enum { THREADS = 2048, ALL = THREADS * 16 };
    static long h[ALL];
    int before = failures;

    memset(h, 0, sizeof h);
    CU(cudaMemcpy(to, h, sizeof h, cudaMemcpyDefault));
    shmem_barrier_all();
    put_many<<<THREADS / 128, 128>>>(dev, to, next_pe);
    CU(cudaDeviceSynchronize());
    shmem_barrier_all();
    CU(cudaMemcpy(h, to, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < ALL; i++)
        if (h[i] != i + prev_pe) {
            wrong("many puts", i);
            break;
        }
    printf("PE %d: many puts in %s: %d wrong\n", me, where, failures - before);
    shmem_barrier_all();
}

enum { T_STORE, T_P, T_G, T_ADD, T_FETCH, T_PUT, T_COPY, T_EMPTY, T_BARRIER,
       TIMES };
__global__ void measure(SHMEMX_DEV_ARG(dev), char *to, const char *from,
                        long long *took, int what, int times, int pe, int size)
{
    long long begin;
    long *word = (long *)to, sum = 0;

    __syncthreads();
    begin = clock64();
    for (int i = 0; i < times; i++) {
        switch (what) {
        case T_STORE: *(volatile long *)(to + 8 * (i & 63)) = i; break;
        case T_P: shmemx_dev_long_p(&dev, word + (i & 63), i, pe); break;
        case T_G: sum += shmemx_dev_long_g(&dev, word + (i & 63), pe); break;
        case T_ADD: shmemx_dev_long_atomic_add(&dev, word, 1, pe); break;
        case T_FETCH:
            sum += shmemx_dev_long_atomic_fetch_add(&dev, word, 1, pe);
            break;
        case T_PUT:
            shmemx_dev_putmem_block(&dev, to, from, size, pe);
            break;
        case T_COPY:
            for (int k = threadIdx.x; k < size / 16; k += blockDim.x)
                ((int4 *)to)[k] = ((const int4 *)from)[k];
            __syncthreads();
            break;
        case T_EMPTY:
            shmemi_dev_push(&dev, SHMEMI_DEV_HEAD(SHMEMI_DEV_NOTHING, 0, 0, 0),
                            -1, 0, 0, 0, 0, 0, 0);
            break;
        default: shmemx_dev_barrier_all_block(&dev);
        }
    }
    if (what != T_COPY && what != T_PUT)
        shmemx_dev_quiet_block(&dev);
    __syncthreads();
    if (threadIdx.x == 0)
        *took = clock64() - begin + (sum == 123456789);
}

static void time_one(const char *name, const char *where, char *to, char *from,
                     long long *took, int what, int times, int threads,
                     int size)
{
    long long best = 0, now;
    int khz = 0;

    CU(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    for (int i = 0; i < 5; i++) {
        shmem_barrier_all();
        measure<<<1, threads>>>(dev, to, from, took, what, times, next_pe,
                                size);
        CU(cudaDeviceSynchronize());
        CU(cudaMemcpy(&now, took, sizeof now, cudaMemcpyDefault));
        if (!i || now < best)
            best = now;
    }
    if (!me)
        printf("time %-26s %-12s %10.1f ns\n", name, where,
               (double)best / times / khz * 1e6);
}

static void measure_all(const char *where, char *to, char *from,
                        long long *took)
{
    const int large = 65536;

    time_one("plain store, own memory", where, to, from, took, T_STORE, 1000,
             1, 0);
    time_one("long_p", where, to, from, took, T_P, 1000, 1, 0);
    time_one("long_g", where, to, from, took, T_G, 1000, 1, 0);
    time_one("long_atomic_add", where, to, from, took, T_ADD, 1000, 1, 0);
    time_one("long_atomic_fetch_add", where, to, from, took, T_FETCH, 500, 1,
             0);
    time_one("copy of 64 KiB, 1024 threads", where, to, from, took, T_COPY,
             100, 1024, large);
    time_one("putmem_block, 64 KiB, 1024", where, to, from, took, T_PUT, 100,
             1024, large);
    time_one("empty request", where, to, from, took, T_EMPTY, 5000, 1, 0);
    if (n_pes > 1)
        time_one("barrier_all_block", where, to, from, took, T_BARRIER, 20, 32,
                 0);
}

int main(int argc, char **argv)
{
    static long many_static[2048 * 16];
    long long *took;
    char *d, *h;

    setvbuf(stdout, NULL, _IOLBF, 0);
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next_pe = (me + 1) % n_pes;
    prev_pe = (me + n_pes - 1) % n_pes;
    d = (char *)shmem_space_malloc(SHMEM_SPACE_DEVICE, 1 << 20);
    h = (char *)shmem_malloc(1 << 20);
    if (!d || !h || shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev))
        shmem_global_exit(3);
    CU(cudaMalloc(&took, sizeof *took));
    if (argc > 1 && !strcmp(argv[1], "times")) {
        measure_all("device heap", d, d + (1 << 19), took);
        measure_all("host heap", h, d + (1 << 19), took);
    } else if (argc > 1 && !strcmp(argv[1], "host")) {
        try_moves("the host heap", (struct area *)h,
                  (struct area *)(h + (1 << 19)));
        try_atomics("the host heap", (struct counts *)h);
        try_ring("the host heap", (struct ring *)h);
        try_many("the host heap", (long *)h);
        try_many("static data", many_static);
    } else {
        try_moves("the device heap", (struct area *)d,
                  (struct area *)(d + (1 << 19)));
        try_moves("the host heap", (struct area *)h,
                  (struct area *)(h + (1 << 19)));
        try_moves("static data", &in_data, (struct area *)d);
        try_atomics("the device heap", (struct counts *)d);
        try_atomics("the host heap", (struct counts *)h);
        try_ring("the device heap", (struct ring *)d);
        try_ring("the host heap", (struct ring *)h);
        try_many("the device heap", (long *)d);
        try_many("the host heap", (long *)h);
        try_many("static data", many_static);
    }
    CU(cudaFree(took));
    fflush(stdout);
    shmem_finalize();
    return failures != 0;
}

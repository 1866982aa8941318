/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of CUDA that communicate, for kernel_calls.c, which loads their PTX. */
#include <shmem.h>
#include <shmemx_dev.h>
#include <shmemx_part.h>
#include "kernel_calls.h"

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
    extern "C" __global__ void move_##NAME(SHMEMX_DEV_ARG(dev), struct area *a,        \
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
TYPES(KERNEL)

extern "C" __global__ void count(SHMEMX_DEV_ARG(dev), struct counts *c, int to)
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
        shmemx_dev_quiet(&dev);
        if (shmemx_dev_ulonglong_atomic_swap(&dev, &c->swapped, 9, to) != 8 ||
            shmemx_dev_ulonglong_atomic_compare_swap(&dev, &c->cas, 0, 7, to) ||
            shmemx_dev_ulonglong_atomic_compare_swap(&dev, &c->cas, 0, 6, to)
                != 7 ||
            shmemx_dev_float_atomic_swap(&dev, &c->value, 2.5f, to) != 0.0f ||
            shmemx_dev_float_atomic_fetch(&dev, &c->value, to) != 2.5f ||
            shmemx_dev_ulonglong_atomic_fetch(&dev, &c->swapped, to) != 9)
            c->wrong = 1;
    }
    shmemx_dev_quiet(&dev);
}

/* Each PE passes data on; with one PE to itself. */
extern "C" __global__ void pass_on(SHMEMX_DEV_ARG(dev), struct ring *r)
{
    int to = (dev.my_pe + 1) % dev.n_pes;
    int from = (dev.my_pe + dev.n_pes - 1) % dev.n_pes;

    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = threadIdx.x; i < LONGS; i += blockDim.x)
            r->sent[i] = round * 10000 + i + dev.my_pe;
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

extern "C" __global__ void meet(SHMEMX_DEV_ARG(dev), struct ring *r)
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

/* Element i of a member's source, in a round. */
static __device__ long value_of(int pe, long i, int round)
{
    return pe * 1000 + i % 100 + round;
}

static __device__ void expect(struct coll *c, bool right)
{
    if (!right)
        atomicAdd(&c->wrong, 1ull);
}

#define EACH_OF(n) for (long i = threadIdx.x; i < (n); i += blockDim.x)
#define DONE(call) expect(c, (call) == 0)
static __device__ void collect_round(const shmemx_dev_t *dev, struct coll *c,
                                     int n, int round)
{
    const shmem_team_t world = SHMEM_DEVICE_TEAM_WORLD;
    int members = dev->n_pes, me = dev->my_pe, root = round % members;
    long pes = members * (members - 1L) / 2;
    volatile long *to = c->to;

    EACH_OF((long)n * members)
        c->from[i] = value_of(me, i, round);
    EACH_OF(n)
        c->floats[i] = (float)(me + i % 7);
    DONE(shmemx_dev_long_sum_reduce_block(dev, world, c->to, c->from, n));
    EACH_OF(n)
        expect(c, to[i] == pes * 1000 + members * (i % 100 + round));
    __syncthreads();
    DONE(shmemx_dev_long_broadcast_block(dev, world, c->to, c->from, n, root));
    EACH_OF(n)
        expect(c, to[i] == value_of(root, i, round));
    __syncthreads();
    DONE(shmemx_dev_long_fcollect_block(dev, world, c->to, c->from, n));
    EACH_OF((long)n * members)
        expect(c, to[i] == value_of((int)(i / n), i % n, round));
    __syncthreads();
    DONE(shmemx_dev_long_alltoall_block(dev, world, c->to, c->from, n));
    EACH_OF((long)n * members)
        expect(c, to[i] == value_of((int)(i / n), i % n + (long)me * n, round));
    __syncthreads();
    DONE(shmemx_dev_long_max_reducescatter_block(dev, world, c->to, c->from,
                                                 n));
    EACH_OF(n)
        expect(c, to[i] == value_of(members - 1, i + (long)me * n, round));
    __syncthreads();
    if (threadIdx.x < 32)
        DONE(shmemx_dev_float_sum_reduce_warp(dev, world, c->floats, c->floats,
                                              n));
    __syncthreads();
    EACH_OF(n)
        expect(c, ((volatile float *)c->floats)[i] ==
                      (float)(pes + members * (i % 7)));
    __syncthreads();
    if (threadIdx.x == 0)
        DONE(shmemx_dev_long_fcollect(dev, world, c->to, c->from, 1));
    __syncthreads();
    EACH_OF(members)
        expect(c, to[i] == value_of((int)i, 0, round));
    __syncthreads();
}

/* Calls of a block, a warp and a thread, short and long ones by turns. */
extern "C" __global__ void collect(SHMEMX_DEV_ARG(dev), struct coll *c,
                                   int rounds)
{
    for (int round = 0; round < rounds; round++)
        collect_round(&dev, c, round % 2 ? LONG : SHORT, round);
}

extern "C" __global__ void put_many(SHMEMX_DEV_ARG(dev), long *to, int pe)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = 0; i < EACH; i++)
        shmemx_dev_long_p(&dev, &to[t * EACH + i], t * EACH + i + dev.my_pe, pe);
    shmemx_dev_fence(&dev);
    shmemx_dev_quiet(&dev);
}

/* Repeats one call, and takes the time by the device's clock.  Each has a
 * kernel of its own, so that one call's registers slow no other. */
#define TIMED(NAME, THREADS, CALL)                                          \
    extern "C" __global__ void __launch_bounds__(THREADS)                   \
    NAME(SHMEMX_DEV_ARG(dev), char *to, const char *from, long long *took,  \
         int times, int pe, int size)                                       \
    {                                                                       \
        long long begin;                                                    \
        long sum = 0;                                                       \
                                                                            \
        (void)from, (void)pe, (void)size;                                   \
        __syncthreads();                                                    \
        begin = clock64();                                                  \
        for (int i = 0; i < times; i++) {                                   \
            CALL;                                                           \
        }                                                                   \
        if (THREADS < 1024)                                                 \
            shmemx_dev_quiet_block(&dev);                                   \
        __syncthreads();                                                    \
        if (threadIdx.x == 0)                                               \
            *took = clock64() - begin + (sum == 123456789);                 \
    }

TIMED(time_store, 1, ((volatile long *)to)[i & 63] = i)
TIMED(time_p, 1, shmemx_dev_long_p(&dev, (long *)to + (i & 63), i, pe))
TIMED(time_g, 1, sum += shmemx_dev_long_g(&dev, (long *)to + (i & 63), pe))
TIMED(time_add, 1, shmemx_dev_long_atomic_add(&dev, (long *)to, 1, pe))
TIMED(time_fetch_add, 1,
      sum += shmemx_dev_long_atomic_fetch_add(&dev, (long *)to, 1, pe))
TIMED(time_put, 1024, shmemx_dev_putmem_block(&dev, to, from, size, pe))
TIMED(time_copy, 1024,
      for (int k = threadIdx.x; k < size / 16; k += blockDim.x)
          ((int4 *)to)[k] = ((const int4 *)from)[k];
      __syncthreads())
TIMED(time_empty, 1,
      shmemi_dev_push(&dev, SHMEMI_DEV_HEAD(SHMEMI_DEV_NOTHING, 0, 0, 0), -1,
                      0, 0, 0, 0, 0, 0))
TIMED(time_barrier, 32, shmemx_dev_barrier_all_block(&dev))

/* Every thread, warp and block hits; a block waits for its put and sends again;
 * one thread says what is put where, and waits for each, unless the kernel itself
 * copies. */
extern "C" __global__ void hit(SHMEMX_TRIG_ARG(t), struct triggered *a, int to)
{
    int tag = BLOCK_TAG + (int)blockIdx.x;

    shmemx_dev_trigger(&t, THREADS_TAG, 1);
    shmemx_dev_trigger_warp(&t, WARPS_TAG, 1);
    for (long round = 1; round <= 3; round++) {
        if (threadIdx.x == 0)
            a->from[blockIdx.x] = t.dev.my_pe * 1000 + 10 * blockIdx.x + round;
        shmemx_dev_trigger_block(&t, tag, 1);
        shmemx_dev_trig_wait_block(&t, tag, round);
    }
    if (threadIdx.x == 0 && shmemx_dev_trig_test(&t, tag) != 3)
        atomicAdd(&a->wrong, 1ull);
    if (blockIdx.x || threadIdx.x || t.copies)
        return;
    for (int i = 1; i <= CHOSEN; i++) {
        a->from[64 + i] = t.dev.my_pe * 1000 + i;
        shmemx_dev_trigger_op(&t, CHOSEN_TAG, 1, &a->chosen[i],
                              &a->from[64 + i], sizeof a->from[0], to);
    }
    shmemx_dev_trig_wait(&t, CHOSEN_TAG, CHOSEN);
}

/* Each block makes some partitions ready, in a scope, and then looks for those
 * that are sent here.  all: each block has a part of each partition. */
extern "C" __global__ void parts(SHMEMX_PREQUEST_ARG(out),
                                 SHMEMX_PREQUEST_ARG(in), struct parts *a,
                                 int scope, int all)
{
    unsigned step = all ? 1 : gridDim.x, first = all ? 0 : blockIdx.x;
    int me = out.trig.dev.my_pe, from = in.pe;

    for (unsigned p = first; p < PARTS; p += step) {
        for (unsigned i = threadIdx.x; i < PART_WORDS; i += blockDim.x)
            if (!all || i % gridDim.x == blockIdx.x)
                a->from[p * PART_WORDS + i] = 1000 * me + p * PART_WORDS + i +
                                              scope;
        if (scope == 0) {
            __syncthreads();
            if (threadIdx.x == 0)
                shmemx_dev_pready(&out, p);
        } else if (scope == 1) {
            __syncthreads();
            if (threadIdx.x < 32)
                shmemx_dev_pready_warp(&out, p);
        } else {
            shmemx_dev_pready_block(&out, p);
        }
    }
    for (unsigned p = blockIdx.x; p < PARTS; p += gridDim.x) {
        shmemx_dev_parrived_wait_block(&in, p);
        if (!shmemx_dev_parrived(&in, p))
            atomicAdd(&a->wrong, 1ull);
        for (unsigned i = threadIdx.x; i < PART_WORDS; i += blockDim.x)
            if (a->to[p * PART_WORDS + i] !=
                1000 * from + p * PART_WORDS + i + scope)
                atomicAdd(&a->wrong, 1ull);
    }
}

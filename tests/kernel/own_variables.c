/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: strided puts and gets of kernels move variables of the kernel's
 * own type, also where the compiler knows what else may have changed them; a
 * kernel that gets a variable again and again sees that it changes.
 * PEs: 1 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE=software */
#ifndef __clang__
#pragma GCC optimize("O2")      /* other tests' levels ignore types */
#endif
#include "kernel.h"

enum { N = 4 };

static float from[2 * N], to[2 * N], got;
static double wide_from[2 * N], wide_to[2 * N], wide_got;
static long sum;
static int flag, seen, has_begun;

#define MOVE(NAME, T, FROM, TO, GOT)                                        \
    static void move_##NAME(const shmemx_item_t *it, void *unused)          \
    {                                                                       \
        T in[N] = { 0, 0, 0, 0 }, out[N];                                   \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        shmemx_dev_##NAME##_iget(&dev, in, FROM, 1, 2, N, next);            \
        GOT = in[0] + 2 * in[1] + 4 * in[2] + 8 * in[3];                    \
        for (int i = 0; i < N; i++)                                         \
            out[i] = (T)(me + i);                                           \
        shmemx_dev_##NAME##_iput(&dev, TO, out, 2, 1, N, next);             \
        for (int i = 0; i < N; i++)                                         \
            out[i] = 0;                                                     \
        GOT += out[N - 1];                                                  \
    }
MOVE(float, float, from, to, got)
MOVE(double, double, wide_from, wide_to, wide_got)

T(strided_calls)
{
    for (int i = 0; i < 2 * N; i++)
        wide_from[i] = from[i] = (float)(100 * me + i + 1);
    shmem_barrier_all();
    kernel_run(move_float, NULL, 1, 1, 1);
    kernel_run(move_double, NULL, 1, 1, 1);
    shmem_barrier_all();
    T_EQ((long)got, 15 * (100 * next + 1) + 2 * (2 + 2 * 4 + 3 * 8));
    T_EQ((long)wide_got, 15 * (100 * next + 1) + 2 * (2 + 2 * 4 + 3 * 8));
    for (int i = 0; i < N; i++) {
        T_EQ((long)to[2 * i], prev + i);
        T_EQ((long)wide_to[2 * i], prev + i);
    }
}

static void get_until(const shmemx_item_t *it, void *unused)
{
    int v;

    (void)it;
    (void)unused;
    __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
    do {
        shmemx_dev_int_get(&dev, &v, &flag, 1, me);
        sum++;
    } while (!v);
    seen = v;
}

static void set_flag(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
        usleep(1000);
    usleep(1000);
    shmem_int_p(&flag, 7, me);
}

T(a_variable_that_changes)
{
    shmemx_stream_t s;

    T_EQ(shmemx_stream_create(&s), 0);
    T_EQ(shmemx_stream_call(s, set_flag, NULL), 0);
    kernel_run(get_until, NULL, 1, 1, 1);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(seen, 7);
    T_TRUE(sum > 0);
}

int main(void)
{
    kernel_begin();
    T_RUN(strided_calls);
    T_RUN(a_variable_that_changes);
    return kernel_end();
}

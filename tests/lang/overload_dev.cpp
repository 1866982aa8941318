/* SPDX-License-Identifier: BSD-3-Clause */
// The type-generic names of calls of kernels as C++ overloads; built and run by
// cxx.sh on 2 PEs, with the software device.
#include <shmemx_dev.h>

#include <cstdio>
#include <cstdlib>

static int me, peer;
static shmemx_dev_t dev;

#define CHECK(x)                                                            \
    do {                                                                    \
        if (!(x)) {                                                         \
            std::fprintf(stderr, "PE %d, line %d: %s\n", me, __LINE__, #x); \
            shmem_global_exit(1);                                           \
        }                                                                   \
    } while (0)

template <typename T> T *space(std::size_t n)
{
    return static_cast<T *>(shmem_calloc(n, sizeof(T)));
}

static void settle()
{
    shmemx_dev_barrier_all(&dev);
}

/* Of the PE that has stored it. */
template <typename T> T number(int pe, int i)
{
    return static_cast<T>(pe * 20 + i);
}

template <typename T> void rma()
{
    T *d = space<T>(8), *s = space<T>(8), l[4] = {};
    std::uint64_t *sig = space<std::uint64_t>(1);

    for (int i = 0; i < 8; i++)
        s[i] = number<T>(me, i);
    settle();
    shmemx_dev_put(&dev, d, s, 1, peer);
    shmemx_dev_put_block(&dev, d + 1, s + 1, 1, peer);
    shmemx_dev_put_nbi_warp(&dev, d + 2, s + 2, 1, peer);
    shmemx_dev_iput(&dev, d + 3, s + 3, 1, 1, 1, peer);
    shmemx_dev_put_signal(&dev, d + 4, s + 4, 1, sig, 3, SHMEM_SIGNAL_ADD,
                          peer);
    shmemx_dev_put_signal_nbi_block(&dev, d + 5, s + 5, 1, sig, 4,
                                    SHMEM_SIGNAL_ADD, peer);
    shmemx_dev_p(&dev, d + 6, s[6], peer);
    settle();
    for (int i = 0; i < 7; i++)
        CHECK(d[i] == number<T>(peer, i));
    CHECK(d[7] == number<T>(0, 0) && *sig == 7);
    shmemx_dev_get(&dev, l, s, 1, peer);
    shmemx_dev_get_nbi(&dev, l + 1, s + 1, 1, peer);
    shmemx_dev_iget_warp(&dev, l + 2, s + 2, 1, 1, 1, peer);
    l[3] = shmemx_dev_g(&dev, s + 3, peer);
    shmemx_dev_quiet(&dev);
    for (int i = 0; i < 4; i++)
        CHECK(l[i] == number<T>(peer, i));
    settle();
    shmem_free(sig);
    shmem_free(s);
    shmem_free(d);
}

template <typename T> void collectives()
{
    const shmem_team_t world = SHMEM_DEVICE_TEAM_WORLD;
    T *d = space<T>(4), *s = space<T>(4);

    s[0] = number<T>(me, 1);
    s[1] = number<T>(me, 2);
    CHECK(!shmemx_dev_broadcast(&dev, world, d, s, 1, 1));
    CHECK(d[0] == number<T>(1, 1));
    CHECK(!shmemx_dev_fcollect_block(&dev, world, d, s, 1));
    CHECK(d[me] == number<T>(me, 1) && d[peer] == number<T>(peer, 1));
    CHECK(!shmemx_dev_alltoall_warp(&dev, world, d, s, 1));
    CHECK(d[peer] == number<T>(peer, 1 + me));
    settle();
    shmem_free(s);
    shmem_free(d);
}

template <typename T> void reductions()
{
    const shmem_team_t world = SHMEM_DEVICE_TEAM_WORLD;
    T *d = space<T>(1), *s = space<T>(2);

    s[0] = static_cast<T>(me + 2);
    s[1] = static_cast<T>(me + 4);
    CHECK(!shmemx_dev_sum_reduce(&dev, world, d, s, 1) && *d == T(5));
    CHECK(!shmemx_dev_prod_reduce_warp(&dev, world, d, s, 1) && *d == T(6));
    CHECK(!shmemx_dev_min_reduce_block(&dev, world, d, s, 1) && *d == T(2));
    CHECK(!shmemx_dev_max_reducescatter(&dev, world, d, s, 1) &&
          *d == T(me ? 5 : 3));
    settle();
    shmem_free(s);
    shmem_free(d);
}

template <typename T> void bits()
{
    T *d = space<T>(1), *s = space<T>(1);

    s[0] = static_cast<T>(me ? 6 : 3);
    CHECK(!shmemx_dev_and_reduce(&dev, SHMEM_DEVICE_TEAM_WORLD, d, s, 1) &&
          *d == T(2));
    CHECK(!shmemx_dev_or_reduce(&dev, SHMEM_DEVICE_TEAM_WORLD, d, s, 1) &&
          *d == T(7));
    CHECK(!shmemx_dev_xor_reduce(&dev, SHMEM_DEVICE_TEAM_WORLD, d, s, 1) &&
          *d == T(5));
    settle();
    shmem_free(s);
    shmem_free(d);
}

template <typename T> void extended_atomics()
{
    T *d = space<T>(1), *got = space<T>(1);

    settle();
    shmemx_dev_atomic_set(&dev, d, T(7), peer);
    settle();
    CHECK(shmemx_dev_atomic_fetch(&dev, d, peer) == T(7));
    CHECK(shmemx_dev_atomic_swap(&dev, d, T(9), peer) == T(7));
    shmemx_dev_atomic_fetch_nbi(&dev, got, d, peer);
    shmemx_dev_quiet(&dev);
    CHECK(*got == T(9));
    settle();
    shmem_free(got);
    shmem_free(d);
}

template <typename T> void atomics_and_waits()
{
    T *d = space<T>(2), *got = space<T>(1);
    const int no[2] = { 0, 0 };

    settle();
    shmemx_dev_atomic_add(&dev, d, T(4), peer);
    shmemx_dev_atomic_or(&dev, d, T(3), peer);
    CHECK(shmemx_dev_atomic_fetch_inc(&dev, d, peer) == T(7));
    CHECK(shmemx_dev_atomic_compare_swap(&dev, d, T(8), T(1), peer) == T(8));
    shmemx_dev_atomic_fetch_xor_nbi(&dev, got, d, T(3), peer);
    shmemx_dev_quiet(&dev);
    CHECK(*got == T(1));
    shmemx_dev_p(&dev, d + 1, T(5), peer);
    shmemx_dev_wait_until(&dev, d + 1, SHMEM_CMP_EQ, T(5));
    shmemx_dev_wait_until_all(&dev, d, 2, no, SHMEM_CMP_NE, T(0));
    settle();
    CHECK(shmemx_dev_test(&dev, d, SHMEM_CMP_EQ, T(2)));
    CHECK(shmemx_dev_test_any(&dev, d, 2, no, SHMEM_CMP_EQ, T(5)) == 1);
    settle();
    shmem_free(got);
    shmem_free(d);
}

#define RMA(NAME, T) rma<T>();
#define COLLECTIVES(NAME, T) collectives<T>();
#define REDUCTIONS(NAME, T) reductions<T>();
#define BITS(NAME, T) bits<T>();
#define EXTENDED(NAME, T) extended_atomics<T>();
#define ATOMICS(NAME, T) atomics_and_waits<T>();

int main()
{
    setenv("SHMEM_DEVICE", "software", 1);
    shmem_init();
    me = shmem_my_pe();
    peer = 1 - me;
    CHECK(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev) == 0);
    SHMEMI_DEV_RMA_BASE(RMA)
    SHMEMI_DEV_RMA_BASE(COLLECTIVES)
    SHMEMI_DEV_SHORT_FLOATS(COLLECTIVES)
    SHMEMI_DEV_REDUCE_BASE(REDUCTIONS)
    SHMEMI_DEV_SHORT_FLOATS(REDUCTIONS)
    SHMEMI_DEV_REDUCE_BIT_BASE(BITS)
    bits<int>();
    bits<long>();
    SHMEMI_DEV_AMO_BASE(EXTENDED)
    SHMEMI_DEV_AMO_FLOATS(EXTENDED)
    SHMEMI_DEV_AMO_BASE(ATOMICS)
    shmem_finalize();
    std::printf("passed\n");
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
// The type-generic names as C++ overloads; built and run by cxx.sh on 2 PEs.
#include <shmem.h>

#include <complex>
#include <cstdio>
#include <cstdlib>

static int me, peer;
static shmem_ctx_t ctx;

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

template <typename T> void rma()
{
    T *d = space<T>(8), *s = space<T>(8), l = T();

    for (int i = 0; i < 8; i++)
        s[i] = static_cast<T>(me * 10 + i);
    shmem_barrier_all();
    shmem_put(d, s, 1, peer);
    shmem_put(ctx, d + 1, s + 1, 1, peer);
    shmem_p(d + 2, s[2], peer);
    shmem_iput(ctx, d + 3, s + 3, 1, 1, 1, peer);
    shmem_ibput(d + 4, s + 4, 1, 1, 1, 1, peer);
    shmem_put_nbi(d + 5, s + 5, 1, peer);
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < 6; i++)
        CHECK(d[i] == static_cast<T>(peer * 10 + i));
    shmem_get(&l, s, 1, peer);
    CHECK(l == static_cast<T>(peer * 10));
    CHECK(shmem_g(s + 1, peer) == static_cast<T>(peer * 10 + 1));
    CHECK(shmem_g(ctx, s + 1, peer) == static_cast<T>(peer * 10 + 1));
    shmem_barrier_all();
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, d, s, 1, 1) == 0);
    CHECK(d[0] == static_cast<T>(10));
    CHECK(shmem_fcollect(SHMEM_TEAM_WORLD, d + 2, s, 1) == 0);
    CHECK(d[3] == static_cast<T>(10));
    shmem_barrier_all();
    CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, d, s, 1) == 0);
    CHECK(d[0] == static_cast<T>(10));
    CHECK(shmem_sum_inscan(SHMEM_TEAM_WORLD, d + 1, s, 1) == 0);
    shmem_free(d);
    shmem_free(s);
}

template <typename T> void amo()
{
    T *d = space<T>(1), old = T();

    if (me == 0) {
        CHECK(shmem_atomic_fetch_add(d, static_cast<T>(5), 1) == 0);
        shmem_atomic_inc(ctx, d, 1);
        shmem_ctx_quiet(ctx);
        CHECK(shmem_atomic_swap(d, static_cast<T>(9), 1) == 6);
        CHECK(shmem_atomic_compare_swap(d, static_cast<T>(9),
                                        static_cast<T>(1), 1) == 9);
        shmem_atomic_fetch_nbi(&old, d, 1);
        shmem_quiet();
        CHECK(old == 1);
    } else {
        shmem_wait_until(d, SHMEM_CMP_EQ, static_cast<T>(1));
        CHECK(shmem_test_all(d, 1, nullptr, SHMEM_CMP_EQ,
                             static_cast<T>(1)) == 1);
    }
    shmem_free(d);
}

// The complex types of C, with a type in the name and without: C is one of
// them, R its part.
template <typename C, typename R>
void c_complex(int (*sum)(shmem_team_t, C *, const C *, std::size_t),
               void (*prod)(C *, const C *, int, int, int, int, C *, long *))
{
    static long sync_words[SHMEM_REDUCE_SYNC_SIZE];
    C *d = space<C>(6), *s = space<C>(1);

    __real__ s[0] = static_cast<R>(me + 1);
    __imag__ s[0] = static_cast<R>(me);
    shmem_barrier_all();
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, d, s, 1) == 0);
    CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, d + 1, s, 1) == 0);
    CHECK(shmem_sum_inscan(SHMEM_TEAM_WORLD, d + 2, s, 1) == 0);
    CHECK(shmem_sum_exscan(SHMEM_TEAM_WORLD, d + 3, s, 1) == 0);
    CHECK(sum(SHMEM_TEAM_WORLD, d + 4, s, 1) == 0);
    prod(d + 5, s, 1, 0, 0, 2, d, sync_words);
    CHECK(__real__ d[0] == 3 && __imag__ d[0] == 1);
    CHECK(__real__ d[1] == 2 && __imag__ d[1] == 1);
    CHECK(__real__ d[2] == (me ? 3 : 1) && __imag__ d[2] == (me ? 1 : 0));
    CHECK(__real__ d[3] == (me ? 1 : 0) && __imag__ d[3] == 0);
    CHECK(__real__ d[4] == 3 && __imag__ d[4] == 1);
    CHECK(__real__ d[5] == 2 && __imag__ d[5] == 1);
    shmem_free(d);
    shmem_free(s);
}

__extension__ typedef float _Complex complexf;
__extension__ typedef double _Complex complexd;

int main()
{
    static long sync_words[SHMEM_BARRIER_SYNC_SIZE];
    static std::complex<double> zd, zs;
    static std::uint64_t sig;

    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    rma<float>();
    rma<double>();
    rma<long double>();
    rma<char>();
    rma<signed char>();
    rma<unsigned short>();
    rma<int>();
    rma<long>();
    rma<long long>();
    rma<std::size_t>();
    amo<int>();
    amo<unsigned>();
    amo<long>();
    amo<unsigned long long>();
    amo<std::ptrdiff_t>();
    zs = std::complex<double>(me + 1, me);
    shmem_barrier_all();
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &zd, &zs, 1) == 0);
    CHECK(zd == std::complex<double>(3, 1));
    c_complex<complexf, float>(shmem_complexf_sum_reduce,
                               shmem_complexf_prod_to_all);
    c_complex<complexd, double>(shmem_complexd_sum_reduce,
                                shmem_complexd_prod_to_all);
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_sync(0, 0, 2, sync_words);
    shmem_signal_add(&sig, 1, peer);
    shmem_signal_add(ctx, &sig, 2, peer);
    CHECK(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 3) == 3);
    shmem_ctx_destroy(ctx);
    std::printf("PE %d passed\n", me);
    shmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
// The type-generic names of shmemx.h as C++ overloads; built and run by cxx.sh
// on 2 PEs.
#include <shmem.h>
#include <shmemx.h>

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

static void settle()
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

template <typename T> T number(int i)
{
    return static_cast<T>(i);
}

template <typename T> void rma()
{
    T *d = space<T>(4), *s = space<T>(4), l[2] = {};
    void *handle = &me;

    for (int i = 0; i < 4; i++)
        s[i] = number<T>(me * 10 + i);
    settle();
    shmemx_ibput(d, s, 1, 2, 1, 2, peer);
    shmemx_ibput(ctx, d + 2, s + 1, 1, 2, 1, 2, peer);
    settle();
    CHECK(d[0] == number<T>(peer * 10) && d[1] == number<T>(peer * 10 + 2));
    CHECK(d[2] == number<T>(peer * 10 + 1) && d[3] == number<T>(peer * 10 + 3));
    shmemx_ibget(l, s, 1, 3, 1, 2, peer);
    CHECK(l[0] == number<T>(peer * 10) && l[1] == number<T>(peer * 10 + 3));
    shmemx_ibget(ctx, l, s + 1, 2, 2, 2, 1, peer);
    CHECK(l[0] == number<T>(peer * 10 + 1));
    settle();
    shmemx_put_nb(d, s + 3, 1, peer);
    shmemx_put_nb(d + 1, s + 2, 1, peer, NULL);
    shmemx_put_nb(ctx, d + 2, s + 1, 1, peer);
    shmemx_put_nb(ctx, d + 3, s, 1, peer, &handle);
    settle();
    for (int i = 0; i < 4; i++)
        CHECK(d[i] == number<T>(peer * 10 + 3 - i));
    shmemx_get_nb(l, s + 2, 1, peer);
    shmemx_get_nb(ctx, l + 1, s + 3, 1, peer, &handle);
    settle();
    CHECK(l[0] == number<T>(peer * 10 + 2) && l[1] == number<T>(peer * 10 + 3));
    CHECK(handle == &me);
    shmem_free(d);
    shmem_free(s);
}

// one: what PE 0 brings; PE 1 brings it twice.
template <typename T> void scans(T one)
{
    T *d = space<T>(2), *s = space<T>(1), two = one;

    two += one;
    *s = me ? two : one;
    shmem_barrier_all();
    CHECK(shmemx_sum_inscan(SHMEM_TEAM_WORLD, d, s, 1) == 0);
    CHECK(shmemx_sum_exscan(SHMEM_TEAM_WORLD, d + 1, s, 1) == 0);
    two += one;
    CHECK(d[0] == (me ? two : one));
    two = one;
    two -= one;
    CHECK(d[1] == (me ? one : two));
    shmem_free(d);
    shmem_free(s);
}

template <typename T> void old_amo()
{
    T *d = space<T>(1);

    if (me == 0) {
        shmem_set(d, number<T>(10), 1);
        shmem_quiet();
        CHECK(shmem_swap(d, number<T>(20), 1) == number<T>(10));
        CHECK(shmem_cswap(d, number<T>(20), number<T>(30), 1) == number<T>(20));
        CHECK(shmem_finc(d, 1) == number<T>(30));
        shmem_inc(d, 1);
        shmem_quiet();
        CHECK(shmem_fadd(d, number<T>(8), 1) == number<T>(32));
        shmem_add(d, number<T>(60), 1);
        shmem_quiet();
        CHECK(shmem_fetch(d, 1) == number<T>(100));
    }
    shmem_free(d);
}

template <typename T> void sets()
{
    T *v = space<T>(2);
    const T each[2] = { 1, 2 };
    std::size_t at[2] = { 9, 9 };

    shmem_p(v, number<T>(1), peer);
    shmem_p(v + 1, number<T>(2), peer);
    shmem_wait_until_all_vector(v, 2, nullptr, SHMEM_CMP_EQ, each);
    shmem_wait_until_all(v, 2, nullptr, SHMEM_CMP_NE, number<T>(0));
    CHECK(shmem_wait_until_any(v, 2, nullptr, SHMEM_CMP_EQ,
                               number<T>(2)) == 1);
    CHECK(shmem_wait_until_some(v, 2, at, nullptr, SHMEM_CMP_EQ,
                                number<T>(1)) == 1 && at[0] == 0);
    CHECK(shmem_test_all(v, 2, nullptr, SHMEM_CMP_LE, number<T>(2)) == 1);
    CHECK(shmem_test_any_vector(v, 2, nullptr, SHMEM_CMP_NE, each) == SIZE_MAX);
    shmem_free(v);
}

__extension__ typedef float _Complex complexf;
__extension__ typedef double _Complex complexd;

int main()
{
    static std::uint64_t sig;
    complexf cf = complexf();
    complexd cd = complexd();

    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    rma<float>();
    rma<long double>();
    rma<char>();
    rma<unsigned short>();
    rma<long long>();
    rma<std::size_t>();
    scans(1.5);
    scans(3);
    scans(3ul);
    scans(std::complex<float>(1, 2));
    scans(std::complex<double>(3, 4));
    __real__ cf = 1, __imag__ cf = 2;
    __real__ cd = 3, __imag__ cd = 4;
    scans(cf);
    scans(cd);
    old_amo<int>();
    old_amo<long>();
    old_amo<unsigned>();
    old_amo<unsigned long long>();
    old_amo<std::ptrdiff_t>();
    CHECK(shmem_swap(space<float>(1), 1.f, peer) == 0);
    sets<short>();
    sets<unsigned short>();
    sets<int>();
    shmemx_signal_add(&sig, 1, peer);
    shmemx_signal_add(ctx, &sig, 2, peer);
    CHECK(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 3) == 3);
    settle();
    shmemx_signal_set(ctx, &sig, 7, peer);
    CHECK(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 7) == 7);
    shmem_ctx_destroy(ctx);
    std::printf("PE %d passed\n", me);
    shmem_finalize();
    return 0;
}

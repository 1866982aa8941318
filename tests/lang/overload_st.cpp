/* SPDX-License-Identifier: BSD-3-Clause */
// The type-generic names of calls on streams as C++ overloads; built and run
// by cxx.sh on 2 PEs.
#include <shmemx_st.h>

#include <cstdio>
#include <cstdlib>

static int me, peer;
static shmem_ctx_t ctx;
static shmemx_stream_t st;

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
    CHECK(shmemx_quiet_on_stream(st) == 0);
    CHECK(shmemx_stream_sync(st) == 0);
    shmem_barrier_all();
}

template <typename T> void rma()
{
    T *d = space<T>(8), *s = space<T>(8), l[6] = { 0 };
    std::uint64_t *sig = space<std::uint64_t>(1);

    for (int i = 0; i < 8; i++)
        s[i] = static_cast<T>(me * 10 + i);
    shmem_barrier_all();
    CHECK(!shmemx_put_on_stream(d, s, 1, peer, st));
    CHECK(!shmemx_put_on_stream(ctx, d + 1, s + 1, 1, peer, st));
    CHECK(!shmemx_p_on_stream(d + 2, s[2], peer, st));
    CHECK(!shmemx_iput_on_stream(ctx, d + 3, s + 3, 1, 1, 1, peer, st));
    CHECK(!shmemx_ibput_on_stream(d + 4, s + 4, 1, 1, 1, 1, peer, st));
    CHECK(!shmemx_put_nbi_on_stream(d + 5, s + 5, 1, peer, st));
    CHECK(!shmemx_put_signal_on_stream(d + 6, s + 6, 1, sig, 3,
                                       SHMEM_SIGNAL_ADD, peer, st));
    CHECK(!shmemx_put_signal_nbi_on_stream(ctx, d + 7, s + 7, 1, sig, 4,
                                           SHMEM_SIGNAL_ADD, peer, st));
    settle();
    for (int i = 0; i < 8; i++)
        CHECK(d[i] == static_cast<T>(peer * 10 + i));
    CHECK(*sig == 7);
    CHECK(!shmemx_get_on_stream(l, s, 1, peer, st));
    CHECK(!shmemx_get_nbi_on_stream(ctx, l + 1, s + 1, 1, peer, st));
    CHECK(!shmemx_iget_on_stream(l + 2, s + 2, 1, 1, 1, peer, st));
    CHECK(!shmemx_ibget_on_stream(ctx, l + 3, s + 3, 1, 1, 1, 1, peer, st));
    CHECK(!shmemx_g_on_stream(l + 4, s + 4, peer, st));
    CHECK(!shmemx_g_on_stream(ctx, l + 5, s + 5, peer, st));
    settle();
    for (int i = 0; i < 6; i++)
        CHECK(l[i] == static_cast<T>(peer * 10 + i));
    shmem_free(sig);
    shmem_free(d);
    shmem_free(s);
}

template <typename T> void ext()
{
    T *d = space<T>(1), l[2] = { 0 };
    const T seven = static_cast<T>(7);

    CHECK(!shmemx_atomic_set_on_stream(ctx, d, seven, peer, st));
    CHECK(!shmemx_atomic_swap_on_stream(l, d, static_cast<T>(9), peer, st));
    CHECK(!shmemx_atomic_fetch_on_stream(ctx, l + 1, d, peer, st));
    settle();
    CHECK(l[0] == seven && l[1] == static_cast<T>(9));
    shmem_free(d);
}

template <typename T> void amo()
{
    T *d = space<T>(2), l[3] = { 0 };
    const T five = static_cast<T>(5), values[2] = { five, five };
    std::size_t index = 9, count = 9, which[2];

    CHECK(!shmemx_atomic_add_on_stream(d, five, peer, st));
    CHECK(!shmemx_atomic_inc_on_stream(ctx, d, peer, st));
    CHECK(!shmemx_atomic_fetch_add_on_stream(l, d, five, peer, st));
    CHECK(!shmemx_atomic_fetch_inc_on_stream(ctx, l + 1, d, peer, st));
    CHECK(!shmemx_atomic_compare_swap_on_stream(
        l + 2, d, static_cast<T>(12), five, peer, st));
    settle();
    CHECK(l[0] == 6 && l[1] == 11 && l[2] == 12 && d[0] == five);
    shmem_barrier_all();
    CHECK(!shmemx_wait_until_on_stream(d + 1, SHMEM_CMP_EQ, five, st));
    CHECK(!shmemx_wait_until_all_on_stream(d, 2, nullptr, SHMEM_CMP_EQ, five,
                                           st));
    CHECK(!shmemx_wait_until_all_vector_on_stream(d, 2, nullptr, SHMEM_CMP_EQ,
                                                  values, st));
    CHECK(!shmemx_wait_until_any_on_stream(&index, d, 2, nullptr,
                                           SHMEM_CMP_EQ, five, st));
    CHECK(!shmemx_wait_until_any_vector_on_stream(
        &index, d, 2, nullptr, SHMEM_CMP_EQ, values, st));
    CHECK(!shmemx_wait_until_some_on_stream(&count, d, 2, which, nullptr,
                                            SHMEM_CMP_EQ, five, st));
    CHECK(!shmemx_wait_until_some_vector_on_stream(
        &count, d, 2, which, nullptr, SHMEM_CMP_EQ, values, st));
    shmem_p(d + 1, five, peer);
    settle();
    CHECK(index < 2 && count == 2);
    shmem_free(d);
}

template <typename T> void bits()
{
    T *d = space<T>(1), l[3] = { 0 };

    *d = static_cast<T>(12);
    shmem_barrier_all();
    CHECK(!shmemx_atomic_fetch_and_on_stream(l, d, static_cast<T>(10), peer,
                                             st));
    CHECK(!shmemx_atomic_fetch_or_on_stream(ctx, l + 1, d, static_cast<T>(3),
                                            peer, st));
    CHECK(!shmemx_atomic_fetch_xor_on_stream(l + 2, d, static_cast<T>(15),
                                             peer, st));
    CHECK(!shmemx_atomic_or_on_stream(d, static_cast<T>(8), peer, st));
    CHECK(!shmemx_atomic_and_on_stream(ctx, d, static_cast<T>(12), peer, st));
    CHECK(!shmemx_atomic_xor_on_stream(d, static_cast<T>(6), peer, st));
    settle();
    CHECK(l[0] == 12 && l[1] == 8 && l[2] == 11 && *d == 10);
    shmem_free(d);
}

int main()
{
    static std::uint64_t sig;

    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    CHECK(shmemx_stream_create(&st) == 0);
    rma<float>();
    rma<long double>();
    rma<char>();
    rma<signed char>();
    rma<unsigned short>();
    rma<int>();
    rma<long long>();
    rma<std::size_t>();
    ext<float>();
    ext<double>();
    ext<long>();
    amo<int>();
    amo<unsigned>();
    amo<std::ptrdiff_t>();
    amo<unsigned long long>();
    bits<std::int32_t>();
    bits<std::int64_t>();
    bits<std::size_t>();
    CHECK(!shmemx_signal_set_on_stream(ctx, &sig, 5, peer, st));
    settle();
    CHECK(!shmemx_signal_add_on_stream(ctx, &sig, 4, peer, st));
    settle();
    CHECK(sig == 9);
    shmem_barrier_all();
    CHECK(!shmemx_signal_add_on_stream(&sig, 4, peer, st));
    settle();
    CHECK(sig == 13);
    CHECK(shmemx_stream_destroy(st) == 0);
    shmem_ctx_destroy(ctx);
    std::printf("PE %d passed\n", me);
    shmem_finalize();
    return 0;
}

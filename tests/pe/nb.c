/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the calls that end with _nb move what those with _nbi move, by
 * the next quiet, with a handle as the last argument and without it.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>
#include <shmemx.h>

enum { N = 1000 };

static long there[N], theirs[N];
static int me, peer, before;
static shmem_ctx_t ctx;

/* What PE pe sends as its i-th element. */
static long value(int pe, int i)
{
    return 100000 * pe + i;
}

static void complete_all(void)
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

static void clear(void)
{
    memset(there, 0, sizeof there);
    shmem_barrier_all();
}

/* So many elements came to there, and no more. */
static void came(int n)
{
    complete_all();
    for (int i = 0; i < n; i++)
        T_EQ(there[i], value(before, i));
    T_TRUE(n == N || there[n] == 0);
    clear();
}

static void got(long *here)
{
    complete_all();
    for (int i = 0; i < N; i++)
        T_EQ(here[i], value(peer, i));
    memset(here, 0, sizeof there);
}

T(puts_are_done_by_quiet)
{
    static long mine[N];
    void *handle = &me;

    for (int i = 0; i < N; i++)
        mine[i] = value(me, i);
    clear();
    shmemx_long_put_nb(there, mine, N, peer);
    came(N);
    shmemx_long_put_nb(there, mine, N, peer, NULL);
    came(N);
    shmemx_long_put_nb(there, mine, N - 1, peer, &handle);
    came(N - 1);
    T_TRUE(handle == &me);
    shmemx_ctx_long_put_nb(ctx, there, mine, N, peer, &handle);
    came(N);
    shmemx_put_nb(there, mine, N, peer);
    came(N);
    shmemx_put_nb(ctx, there, mine, 1, peer, &handle);
    came(1);
    shmemx_put64_nb(there, mine, 3, peer, NULL);
    came(3);
    shmemx_ctx_put128_nb(ctx, there, mine, N / 2, peer);
    came(N);
    shmemx_putmem_nb(there, mine, sizeof mine, peer, NULL);
    came(N);
    shmemx_putmem_nb(there, mine, 0, peer, NULL);
    came(0);
}

T(gets_are_done_by_quiet)
{
    long here[N] = { 0 };

    for (int i = 0; i < N; i++)
        theirs[i] = value(me, i);
    shmem_barrier_all();
    shmemx_long_get_nb(here, theirs, N, peer);
    got(here);
    shmemx_ctx_long_get_nb(ctx, here, theirs, N, peer, NULL);
    got(here);
    shmemx_get_nb(here, theirs, N, peer);
    got(here);
    shmemx_get_nb(ctx, here, theirs, N, peer, NULL);
    got(here);
    shmemx_get32_nb(here, theirs, 2 * N, peer, NULL);
    got(here);
    shmemx_getmem_nb(here, theirs, sizeof here, peer);
    got(here);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    before = (me + shmem_n_pes() - 1) % shmem_n_pes();
    T_PE(me);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(puts_are_done_by_quiet);
    T_RUN(gets_are_done_by_quiet);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}

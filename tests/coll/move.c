/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: broadcast, collect, fcollect, alltoall and alltoalls put every
 * byte where the model says and none elsewhere: random teams, sizes, roots
 * and offsets, back to back.
 * PEs: 1 2 3 7 16 */
#include "coll.h"

enum { ROUNDS = 40, MOST = 6000, ROOM = 16 * MOST, GUARD = 64 };

static unsigned char *source, *dest;
static unsigned round_now;

/* Small sizes mostly; the same on all PEs. */
static size_t draw_size(void)
{
    static const size_t often[] = { 0, 1, 3, 8, 64, 1000 };
    uint64_t r = T_RAND();

    return r % 3 ? often[r / 3 % 6] : r / 3 % MOST;
}

static void fill(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        source[i] = byte_of(shmem_my_pe(), round_now, i);
    memset(dest, 0xee, ROOM + GUARD);
    /* dest is ready everywhere before any PE calls. */
    shmem_sync_all();
}

/* dest[at..] is what PE pe had at from. */
static void check(size_t at, int pe, size_t from, size_t bytes,
                  const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        if (dest[at + i] != byte_of(pe, round_now, from + i)) {
            fprintf(stderr, "%s: byte %zu of %zu\n", what, i, bytes);
            T_EQ(dest[at + i], byte_of(pe, round_now, from + i));
            return;
        }
}

static void check_untouched(size_t from)
{
    for (size_t i = from; i < from + GUARD; i++)
        T_EQ(dest[i], 0xee);
}

static void one_broadcast(const struct group *g, size_t bytes)
{
    int root = (int)(T_RAND() % (unsigned)g->n);

    fill(bytes);
    if (g->me < 0)
        return;
    T_EQ(shmem_broadcastmem(g->team, dest, source, bytes, root), 0);
    check(0, group_pe(g, root), 0, bytes, "broadcast");
    check_untouched(bytes);
}

static void one_collect(const struct group *g, size_t bytes)
{
    size_t at = 0, mine = 0, each[16];

    for (int i = 0; i < g->n; i++)
        each[i] = T_RAND() % (bytes + 1);
    fill(bytes);
    if (g->me < 0)
        return;
    mine = each[g->me];
    T_EQ(shmem_collectmem(g->team, dest, source, mine), 0);
    for (int i = 0; i < g->n; at += each[i++])
        check(at, group_pe(g, i), 0, each[i], "collect");
    check_untouched(at);
}

static void one_fcollect(const struct group *g, size_t bytes)
{
    fill(bytes);
    if (g->me < 0)
        return;
    T_EQ(shmem_fcollectmem(g->team, dest, source, bytes), 0);
    for (int i = 0; i < g->n; i++)
        check((size_t)i * bytes, group_pe(g, i), 0, bytes, "fcollect");
    check_untouched((size_t)g->n * bytes);
}

static void one_alltoall(const struct group *g, size_t bytes)
{
    fill((size_t)g->n * bytes);
    if (g->me < 0)
        return;
    T_EQ(shmem_alltoallmem(g->team, dest, source, bytes), 0);
    for (int i = 0; i < g->n; i++)
        check((size_t)i * bytes, group_pe(g, i), (size_t)g->me * bytes, bytes,
              "alltoall");
    check_untouched((size_t)g->n * bytes);
}

static void one_alltoalls(const struct group *g, size_t bytes)
{
    ptrdiff_t dst = 1 + (ptrdiff_t)(T_RAND() % 3);
    ptrdiff_t sst = 1 + (ptrdiff_t)(T_RAND() % 3);
    size_t n = bytes / 24, at, from;

    fill((size_t)g->n * n * (size_t)sst * 2);
    if (g->me < 0)
        return;
    T_EQ(shmem_short_alltoalls(g->team, (short *)(void *)dest,
                               (short *)(void *)source, dst, sst, n), 0);
    for (int i = 0; i < g->n; i++)
        for (size_t k = 0; k < n; k++) {
            at = ((size_t)i * n + k) * (size_t)dst * 2;
            from = ((size_t)g->me * n + k) * (size_t)sst * 2;
            check(at, group_pe(g, i), from, 2, "alltoalls");
            if (dst > 1)
                T_EQ(dest[at + 2], 0xee);
        }
}

T(moves)
{
    struct group g;

    for (int r = 0; r < ROUNDS; r++) {
        g = group_draw();
        for (int k = 0; k < 8; k++) {
            size_t bytes = draw_size();

            round_now++;
            switch (T_RAND() % 5) {
            case 0: one_broadcast(&g, bytes); break;
            case 1: one_collect(&g, bytes); break;
            case 2: one_fcollect(&g, bytes); break;
            case 3: one_alltoall(&g, bytes); break;
            default: one_alltoalls(&g, bytes);
            }
            /* Nobody prepares the next dest while others still write. */
            shmem_sync_all();
        }
        group_drop(&g);
    }
}

/* Nothing needs no buffer. */
T(nothing)
{
    shmem_team_t world = SHMEM_TEAM_WORLD;

    T_EQ(shmem_broadcastmem(world, NULL, NULL, 0, shmem_n_pes() - 1), 0);
    T_EQ(shmem_collectmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_fcollectmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_alltoallmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_alltoallsmem(world, NULL, NULL, 1, 1, 0), 0);
    T_EQ(shmem_int_sum_reduce(world, NULL, NULL, 0), 0);
    T_EQ(shmem_int_sum_inscan(world, NULL, NULL, 0), 0);
    T_EQ(shmem_int_sum_exscan(world, NULL, NULL, 0), 0);
}

/* Nor does the one that brings nothing to what others collect. */
T(some_bring_nothing)
{
    enum { ELEMS = 9000 };
    static int in[ELEMS], out[15 * ELEMS];
    int n = shmem_n_pes(), me = shmem_my_pe(), at = 0;

    for (int lacks = 0; lacks < n; lacks++)
        for (int many = 1; many <= ELEMS; many *= ELEMS) {
            for (int i = 0; i < many; i++)
                in[i] = 10 * me + i % 7;
            shmem_sync_all();
            T_EQ(shmem_int_collect(SHMEM_TEAM_WORLD, out,
                                   me == lacks ? NULL : in,
                                   me == lacks ? 0 : (size_t)many), 0);
            at = 0;
            for (int pe = 0; pe < n; pe++)
                for (int i = 0; i < many && pe != lacks; i++)
                    T_EQ(out[at++], 10 * pe + i % 7);
            shmem_sync_all();
        }
}

/* No synchronisation by the program between calls on different buffers. */
T(back_to_back)
{
    enum { CALLS = 400 };
    static long in[CALLS], out[CALLS], all[CALLS][16];
    int n = shmem_n_pes(), me = shmem_my_pe();

    for (int i = 0; i < CALLS; i++) {
        in[i] = 1000 * i + me;
        out[i] = -1;
    }
    shmem_sync_all();
    for (int i = 0; i < CALLS; i++) {
        shmem_long_broadcast(SHMEM_TEAM_WORLD, &out[i], &in[i], 1, i % n);
        T_EQ(out[i], 1000 * i + i % n);
        if (i % 3 == 0)
            shmem_long_fcollect(SHMEM_TEAM_WORLD, all[i], &in[i], 1);
        for (int k = 0; k < n && i % 3 == 0; k++)
            T_EQ(all[i][k], 1000 * i + k);
    }
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    source = shmem_malloc(ROOM + GUARD);
    dest = shmem_malloc(ROOM + GUARD);
    T_TRUE(source && dest);
    T_RUN(moves);
    T_RUN(nothing);
    T_RUN(some_bring_nothing);
    T_RUN(back_to_back);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: broadcast, collect, fcollect, alltoall and alltoalls put every
 * byte where the model says and none elsewhere: random teams, sizes and roots,
 * buffers in either memory (memory.h), back to back.
 * PEs: 1 2 3 7 16 */
#include "../memory.h"
#include "coll.h"

enum { ROUNDS = 42, DEVICE_ROUNDS = 5, EACH = 10, MOST = 6000, GUARD = 64,
       ROOM = (1 << 19) - GUARD };

static char *source[SYMMETRIC], *dest[SYMMETRIC];
static unsigned char *mine, *want;      /* of ROOM + GUARD bytes */
static unsigned round_now;

/* Small sizes mostly, of whole elements; the same on all PEs.  A buffer holds
 * `blocks` of them. */
static size_t draw_size(size_t blocks, size_t elem)
{
    static const size_t often[] = { 0, 1, 3, 8, 64, 1000 };
    uint64_t r = T_RAND();
    size_t most = ROOM / blocks / elem, n = r / 3 % MOST;

    if (r % 3)
        n = often[r / 3 % 6];
    else if (r / 3 % 4 == 0)
        n = T_RAND() % (most + 1);
    return (n < most ? n : most) * elem;
}

struct buffers {
    void *to, *from;            /* each in any of the memories */
};

static struct buffers fill(size_t to_size, size_t from_size)
{
    struct buffers b = { dest[T_RAND() % SYMMETRIC],
                         source[T_RAND() % SYMMETRIC] };

    pattern(mine, me, round_now, from_size);
    mem_store(b.from, mine, from_size);
    memset(want, 0xee, to_size + GUARD);
    mem_store(b.to, want, to_size + GUARD);
    /* dest is ready everywhere before any PE calls. */
    shmem_sync_all();
    return b;
}

/* dest[at..] is to be what PE pe had at from. */
static void expect(size_t at, int pe, size_t from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        want[at + i] = byte_of(pe, round_now, from + i);
}

/* dest holds what is expected, and behind it and between nothing else. */
static void check(const struct buffers *b, size_t to_size, const char *what)
{
    static unsigned char got[ROOM + GUARD];

    mem_load(got, b->to, to_size + GUARD);
    if (memcmp(got, want, to_size + GUARD))
        fprintf(stderr, "%s: %zu bytes\n", what, to_size);
    T_MEM(got, want, to_size + GUARD);
}

static void one_broadcast(const struct group *g)
{
    int root = (int)(T_RAND() % (unsigned)g->n);
    size_t bytes = draw_size(1, 1);
    struct buffers b = fill(bytes, bytes);

    if (g->me < 0)
        return;
    T_EQ(shmem_broadcastmem(g->team, b.to, b.from, bytes, root), 0);
    expect(0, group_pe(g, root), 0, bytes);
    check(&b, bytes, "broadcast");
}

static void one_collect(const struct group *g)
{
    bool ints = T_RAND() % 2;
    size_t at = 0, all = 0, each[16], bytes = draw_size((size_t)g->n, 4);
    struct buffers b;

    for (int i = 0; i < g->n; i++) {
        each[i] = T_RAND() % (bytes + 1);
        each[i] -= ints ? each[i] % 4 : 0;
        all += each[i];
    }
    b = fill(all, bytes);
    if (g->me < 0)
        return;
    if (ints)
        T_EQ(shmem_int_collect(g->team, b.to, b.from, each[g->me] / 4), 0);
    else
        T_EQ(shmem_collectmem(g->team, b.to, b.from, each[g->me]), 0);
    for (int i = 0; i < g->n; at += each[i++])
        expect(at, group_pe(g, i), 0, each[i]);
    check(&b, all, "collect");
}

static void one_fcollect(const struct group *g)
{
    size_t bytes = draw_size((size_t)g->n, 1), all = (size_t)g->n * bytes;
    struct buffers b = fill(all, bytes);

    if (g->me < 0)
        return;
    T_EQ(shmem_fcollectmem(g->team, b.to, b.from, bytes), 0);
    for (int i = 0; i < g->n; i++)
        expect((size_t)i * bytes, group_pe(g, i), 0, bytes);
    check(&b, all, "fcollect");
}

static void one_alltoall(const struct group *g)
{
    bool doubles = T_RAND() % 2;
    size_t bytes = draw_size((size_t)g->n, doubles ? 8 : 1);
    size_t all = (size_t)g->n * bytes;
    struct buffers b = fill(all, all);

    if (g->me < 0)
        return;
    if (doubles)
        T_EQ(shmem_double_alltoall(g->team, b.to, b.from, bytes / 8), 0);
    else
        T_EQ(shmem_alltoallmem(g->team, b.to, b.from, bytes), 0);
    for (int i = 0; i < g->n; i++)
        expect((size_t)i * bytes, group_pe(g, i), (size_t)g->me * bytes,
               bytes);
    check(&b, all, "alltoall");
}

static void one_alltoalls(const struct group *g)
{
    size_t dst = 1 + T_RAND() % 3, sst = 1 + T_RAND() % 3;
    size_t elem = T_RAND() % 2 ? sizeof(float) : sizeof(short);
    size_t n = draw_size(3 * (size_t)g->n, elem) / elem % 250, at, from;
    size_t all = (size_t)g->n * n * elem;
    struct buffers b = fill(all * dst, all * sst);

    if (g->me < 0)
        return;
    if (elem == sizeof(float))
        T_EQ(shmem_float_alltoalls(g->team, b.to, b.from, (ptrdiff_t)dst,
                                   (ptrdiff_t)sst, n), 0);
    else
        T_EQ(shmem_short_alltoalls(g->team, b.to, b.from, (ptrdiff_t)dst,
                                   (ptrdiff_t)sst, n), 0);
    for (int i = 0; i < g->n; i++)
        for (size_t k = 0; k < n; k++) {
            at = ((size_t)i * n + k) * dst * elem;
            from = ((size_t)g->me * n + k) * sst * elem;
            expect(at, group_pe(g, i), from, elem);
        }
    check(&b, all * dst, "alltoalls");
}

T(moves)
{
    struct group g;

    for (int r = 0; r < (on_device ? DEVICE_ROUNDS : ROUNDS); r++) {
        g = group_of_round(r);
        for (int k = 0; k < EACH; k++) {
            round_now++;
            switch (k % 5) {
            case 0: one_broadcast(&g); break;
            case 1: one_collect(&g); break;
            case 2: one_fcollect(&g); break;
            case 3: one_alltoall(&g); break;
            default: one_alltoalls(&g);
            }
            /* No PE fills its next dest while others still write. */
            shmem_sync_all();
        }
        group_destroy(&g);
    }
}

/* Nothing needs no buffer. */
T(nothing)
{
    shmem_team_t world = SHMEM_TEAM_WORLD;

    T_EQ(shmem_broadcastmem(world, NULL, NULL, 0, n_pes - 1), 0);
    T_EQ(shmem_collectmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_fcollectmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_alltoallmem(world, NULL, NULL, 0), 0);
    T_EQ(shmem_alltoallsmem(world, NULL, NULL, 1, 1, 0), 0);
    T_EQ(shmem_int_sum_reduce(world, NULL, NULL, 0), 0);
    T_EQ(shmem_int_sum_inscan(world, NULL, NULL, 0), 0);
    T_EQ(shmem_int_sum_exscan(world, NULL, NULL, 0), 0);
}

/* A member whose length is 0 collects without a source. */
T(some_bring_nothing)
{
    enum { ELEMS = 9000 };
    static int in[ELEMS], out[15 * ELEMS];
    int n = n_pes, at = 0;

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
    int n = n_pes;

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
    memory_begin(SHMEM_THREAD_SINGLE);
    mine = malloc(ROOM);
    want = malloc(ROOM + GUARD);
    for (int w = 0; w < SYMMETRIC; w++) {
        source[w] = mem_alloc((enum memory)w, ROOM);
        dest[w] = mem_alloc((enum memory)w, ROOM + GUARD);
    }
    T_TRUE(mine && want);
    T_RUN(moves);
    if (!on_device) {           /* buffers are static data */
        T_RUN(nothing);
        T_RUN(some_bring_nothing);
        T_RUN(back_to_back);
    }
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, source[w]);
    }
    free(mine);
    free(want);
    return memory_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every collective gives with buffers in device memory, or one of
 * them there, or dest as source, what a model gives: of the world, of teams
 * and of active sets. */
#include "../memory.h"

enum { ROOM = 1 << 19, GUARD = 0x77 };

static char *dest[SYMMETRIC], *source[SYMMETRIC];
static unsigned char *mine, *want;
static unsigned round_no;
static long *psync;

/* Who takes part; team numbers count by stride in the world. */
static struct {
    shmem_team_t team;
    int n, me, start, stride;
} g;

static int world(int i)
{
    return g.start + i * g.stride;
}

/* Up to most bytes, rarely many, of whole elements. */
static size_t draw(size_t most, size_t elem)
{
    size_t n = T_RAND() % 4 ? T_RAND() % 40 : T_RAND() % (most / elem + 1);

    return n * elem <= most ? n : most / elem;
}

struct buffers {
    char *to, *from;
};

/* In any places; both filled. */
static struct buffers begin(size_t to_size, size_t from_size)
{
    struct buffers b = { dest[T_RAND() % 2], source[T_RAND() % 2] };

    pattern(mine, me, ++round_no, from_size);
    mem_store(b.from, mine, from_size);
    mem_fill(b.to, GUARD, to_size + 64 <= ROOM ? to_size + 64 : ROOM);
    memset(want, GUARD, to_size + 64);
    shmem_barrier_all();
    return b;
}

static void end(const struct buffers *b, size_t to_size)
{
    if (g.me >= 0)
        mem_expect(b->to, want, to_size + 64 <= ROOM ? to_size + 64 : ROOM);
    shmem_barrier_all();
}

/* What member i has as source, at `at`. */
static void theirs(void *to, int i, size_t at, size_t n)
{
    unsigned char *p = to;

    for (size_t k = 0; k < n; k++)
        p[k] = byte_of(world(i), round_no, at + k);
}

T(broadcast)
{
    size_t n = draw(ROOM - 64, 1);
    int root = (int)(T_RAND() % (unsigned)g.n);
    struct buffers b = begin(n, n);

    if (g.me >= 0) {
        T_EQ(shmem_broadcastmem(g.team, b.to, b.from, n, root), 0);
        theirs(want, root, 0, n);
    }
    end(&b, n);
}

T(fcollect)
{
    size_t n = draw((ROOM - 64) / (size_t)n_pes, 1);
    struct buffers b = begin(n * (size_t)g.n, n);

    if (g.me >= 0) {
        T_EQ(shmem_fcollectmem(g.team, b.to, b.from, n), 0);
        for (int i = 0; i < g.n; i++)
            theirs(want + (size_t)i * n, i, 0, n);
    }
    end(&b, n * (size_t)g.n);
}

T(collect)
{
    size_t len[64], all = 0, at = 0;
    struct buffers b;

    for (int i = 0; i < g.n; i++)
        all += len[i] = draw((ROOM - 64) / (size_t)n_pes / 4, 4);
    b = begin(all * 4, ROOM / (size_t)n_pes);
    if (g.me >= 0) {
        T_EQ(shmem_int_collect(g.team, (int *)(void *)b.to,
                               (const int *)(const void *)b.from, len[g.me]),
             0);
        for (int i = 0; i < g.n; at += len[i++] * 4)
            theirs(want + at, i, 0, len[i] * 4);
    }
    end(&b, all * 4);
}

T(alltoall)
{
    size_t n = draw((ROOM - 64) / (size_t)n_pes, 8);
    size_t all = n * 8 * (size_t)g.n;
    struct buffers b = begin(all, all);

    if (g.me >= 0) {
        T_EQ(shmem_double_alltoall(g.team, (double *)(void *)b.to,
                                   (const double *)(const void *)b.from, n),
             0);
        for (int i = 0; i < g.n; i++)
            theirs(want + (size_t)i * n * 8, i, (size_t)g.me * n * 8, n * 8);
    }
    end(&b, all);
}

T(alltoalls)
{
    size_t dst = 1 + T_RAND() % 3, sst = 1 + T_RAND() % 3;
    size_t n = T_RAND() % 200, at, to, all = n * 4 * (size_t)g.n;
    struct buffers b = begin(all * dst, all * sst);

    if (g.me >= 0) {
        T_EQ(shmem_float_alltoalls(g.team, (float *)(void *)b.to,
                                   (const float *)(const void *)b.from,
                                   (ptrdiff_t)dst, (ptrdiff_t)sst, n), 0);
        for (int i = 0; i < g.n; i++)
            for (size_t k = 0; k < n; k++) {
                to = ((size_t)i * n + k) * dst * 4;
                at = ((size_t)g.me * n + k) * sst * 4;
                theirs(want + to, i, at, 4);
            }
    }
    end(&b, all * dst);
}

/* dest may be source. */
#define REDUCE(NAME, TYPE, OP, EXPR, FIRST, LAST)                           \
    T(NAME##_##OP)                                                          \
    {                                                                       \
        size_t n = draw(ROOM / 4, sizeof(TYPE));                            \
        struct buffers b = begin(n * sizeof(TYPE), n * sizeof(TYPE));       \
        bool in_place = T_RAND() % 3 == 0;                                  \
                                                                            \
        if (in_place)                                                       \
            b.to = b.from;                                                  \
        if (g.me >= 0) {                                                    \
            T_EQ(shmem_##NAME##_##OP(g.team, (TYPE *)(void *)b.to,          \
                                     (const TYPE *)(const void *)b.from,    \
                                     n), 0);                                \
            for (size_t k = 0; k < n; k++) {                                \
                TYPE sum = 0, a;                                            \
                                                                            \
                for (int i = FIRST; i < (LAST); i++) {                      \
                    theirs(&a, i, k * sizeof a, sizeof a);                  \
                    sum = (TYPE)(i == FIRST ? a : (EXPR));                  \
                }                                                           \
                memcpy(want + k * sizeof sum, &sum, sizeof sum);            \
            }                                                               \
            mem_expect(b.to, want, n * sizeof(TYPE));                       \
        }                                                                   \
        shmem_barrier_all();                                                \
    }
REDUCE(uint64, uint64_t, sum_reduce, sum + a, 0, g.n)
REDUCE(uint32, uint32_t, prod_reduce, sum * a, 0, g.n)
REDUCE(int16, int16_t, max_reduce, a > sum ? a : sum, 0, g.n)
REDUCE(uchar, unsigned char, min_reduce, a < sum ? a : sum, 0, g.n)
REDUCE(ulong, unsigned long, and_reduce, sum & a, 0, g.n)
REDUCE(uint8, uint8_t, or_reduce, sum | a, 0, g.n)
REDUCE(uint, unsigned, xor_reduce, sum ^ a, 0, g.n)
REDUCE(size, size_t, sum_inscan, sum + a, 0, g.me + 1)
REDUCE(uint16, uint16_t, sum_exscan, sum + a, 0, g.me)

/* Floating types: integers they hold exactly. */
T(double_sum)
{
    size_t n = 1 + draw(ROOM / 4, 8);
    double *v = (double *)(void *)mine, *w = (double *)(void *)want;
    struct buffers b = begin(n * 8, 8);

    for (size_t k = 0; k < n; k++) {
        v[k] = (double)((unsigned)me * 3 + k % 1000);
        w[k] = 0;
        for (int i = 0; i < g.n; i++)
            w[k] += (double)((unsigned)world(i) * 3 + k % 1000);
    }
    mem_store(b.from, v, n * 8);
    shmem_barrier_all();
    if (g.me >= 0) {
        T_EQ(shmem_double_sum_reduce(g.team, (double *)(void *)b.to,
                                     (const double *)(const void *)b.from, n),
             0);
        mem_expect(b.to, want, n * 8);
    }
    shmem_barrier_all();
}

static void all_of_them(void)
{
    T_RUN(broadcast);
    T_RUN(fcollect);
    T_RUN(collect);
    T_RUN(alltoall);
    T_RUN(alltoalls);
    T_RUN(uint64_sum_reduce);
    T_RUN(uint32_prod_reduce);
    T_RUN(int16_max_reduce);
    T_RUN(uchar_min_reduce);
    T_RUN(ulong_and_reduce);
    T_RUN(uint8_or_reduce);
    T_RUN(uint_xor_reduce);
    T_RUN(size_sum_inscan);
    T_RUN(uint16_sum_exscan);
    T_RUN(double_sum);
}

static void of_teams(void)
{
    g.team = SHMEM_TEAM_WORLD;
    g.n = n_pes;
    g.me = me;
    g.start = 0;
    g.stride = 1;
    for (int i = 0; i < 4; i++)
        all_of_them();
    if (n_pes < 2)
        return;
    /* The upper ones, from above. */
    g.n = (n_pes + 1) / 2;
    g.start = n_pes - 1;
    g.stride = -1;
    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, g.start, g.stride, g.n,
                                  NULL, 0, &g.team), 0);
    g.me = shmem_team_my_pe(g.team);
    all_of_them();
    shmem_team_destroy(g.team);
}

/* Of every other PE.  What is to be zeros between calls lies in device memory,
 * too. */
T(active_sets)
{
    int n = (n_pes + 1) / 2;
    struct buffers b;

    g.n = n;
    g.start = 0;
    g.stride = 2;
    g.me = me % 2 ? -1 : me / 2;
    b = begin(4000 * (size_t)n, 4000 * (size_t)n);
    if (g.me >= 0) {
        shmem_barrier(0, 1, n, psync);
        shmem_fcollect64(b.to, b.from, 500, 0, 1, n, psync);
        for (int i = 0; i < n; i++)
            theirs(want + (size_t)i * 4000, i, 0, 4000);
        mem_expect(b.to, want, 4000 * (size_t)n);
        shmem_sync(0, 1, n, psync);
        shmem_alltoall32(b.to, b.from, 1000, 0, 1, n, psync);
        for (int i = 0; i < n; i++)
            theirs(want + (size_t)i * 4000, i, (size_t)g.me * 4000, 4000);
        mem_expect(b.to, want, 4000 * (size_t)n);
        shmem_sync(0, 1, n, psync);
        shmem_longlong_xor_to_all((long long *)(void *)b.to,
                                  (long long *)(void *)b.from, 500, 0, 1, n,
                                  (long long *)(void *)(b.to + ROOM / 2),
                                  psync);
        memset(want, 0, 4000);
        for (int i = 0; i < n; i++)
            for (size_t k = 0; k < 4000; k++)
                want[k] ^= byte_of(world(i), round_no, k);
        mem_expect(b.to, want, 4000);
        shmem_sync(0, 1, n, psync);
        /* Root's dest stays. */
        shmem_broadcast64(b.to, b.from, 100, 0, 0, 1, n, psync);
        if (g.me)
            theirs(want, 0, 0, 800);
        mem_expect(b.to, want, 4000);
        shmem_sync(0, 1, n, psync);
        shmem_collect32(b.to, b.from, (size_t)g.me + 1, 0, 1, n, psync);
        for (int i = 0, at = 0; i < n; at += ++i * 4)
            theirs(want + at, i, 0, (size_t)(i + 1) * 4);
        mem_expect(b.to, want, 4000);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        T_EQ((long)mem_load_word(&psync[i], sizeof *psync), SHMEM_SYNC_VALUE);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    mine = malloc(ROOM);
    want = malloc(ROOM + 64);
    for (int w = 0; w < SYMMETRIC; w++) {
        dest[w] = mem_alloc((enum memory)w, ROOM);
        source[w] = mem_alloc((enum memory)w, ROOM);
    }
    psync = mem_alloc(DEVICE, SHMEM_REDUCE_SYNC_SIZE * sizeof *psync);
    for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        mem_store_word(&psync[i], (uint64_t)SHMEM_SYNC_VALUE, sizeof *psync);
    shmem_barrier_all();
    of_teams();
    T_RUN(active_sets);
    mem_free(DEVICE, psync);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, source[w]);
    }
    free(mine);
    free(want);
    return memory_end();
}

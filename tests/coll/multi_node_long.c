/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: long broadcasts, collects and reductions between nodes with
 * several PEs put every byte in its place, from every root, on teams that take
 * nodes whole, in part and in reverse; one result for all, back to back.
 * PEs: 5
 * Launch: --ppn 2 */
#include "coll.h"

enum { MOST = 200003, ROOM = 5 * MOST, ROUNDS = 2 };

static const size_t sizes[] = { 1, 4096, 4104, 65536, 65537, MOST };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Of 5 PEs on nodes 0 1, 2 3, 4. */
static const struct {
    int start, stride, n;
} shapes[] = {
    { 0, 1, 5 },                /* whole nodes, one smaller than the others */
    { 4, -1, 5 },
    { 1, 1, 3 },                /* a part of the first */
    { 3, -1, 3 },               /* a part of the last */
    { 0, 2, 3 },                /* no two on one node */
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static unsigned char *source, *dest;
static unsigned round_now;

static void fill(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        source[i] = byte_of(shmem_my_pe(), round_now, i);
}

static bool holds(const unsigned char *p, int pe, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != byte_of(pe, round_now, i)) {
            fprintf(stderr, "byte %zu of %zu, of PE %d\n", i, bytes, pe);
            return false;
        }
    return true;
}

static void broadcasts(const struct group *g, size_t bytes)
{
    for (int root = 0; root < g->n; root++) {
        round_now++;
        fill(bytes);
        /* The last call's dest is looked at, and this one's source is full. */
        shmem_team_sync(g->team);
        T_EQ(shmem_broadcastmem(g->team, dest, source, bytes, root), 0);
        T_TRUE(holds(dest, group_pe(g, root), bytes));
    }
}

static void collects(const struct group *g, size_t bytes)
{
    size_t mine = g->me % 2 ? bytes / 3 : bytes, at = 0;

    round_now++;
    fill(bytes);
    shmem_team_sync(g->team);
    T_EQ(shmem_fcollectmem(g->team, dest, source, bytes), 0);
    for (int i = 0; i < g->n; i++)
        T_TRUE(holds(dest + (size_t)i * bytes, group_pe(g, i), bytes));
    shmem_team_sync(g->team);
    T_EQ(shmem_collectmem(g->team, dest, source, mine), 0);
    for (int i = 0; i < g->n; i++) {
        mine = i % 2 ? bytes / 3 : bytes;
        T_TRUE(holds(dest + at, group_pe(g, i), mine));
        at += mine;
    }
}

/* Numbers that round, whose sum depends on the order. */
static double number(int pe, size_t i)
{
    return 1.0 / (3 + pe * 17 + (int)(i % 101)) * (i % 2 ? -1e10 : 1e-7);
}

static void reductions(const struct group *g, size_t bytes, bool in_place)
{
    size_t n = bytes / sizeof(double);
    double *in = (double *)(void *)source, sum, size;
    double *out = in_place ? in : (double *)(void *)dest, *first;

    for (size_t i = 0; i < n; i++)
        in[i] = number(shmem_my_pe(), i);
    shmem_team_sync(g->team);
    T_EQ(shmem_double_sum_reduce(g->team, out, in, n), 0);
    for (size_t i = 0; i < n; i++) {
        sum = size = 0;
        for (int k = 0; k < g->n; k++) {
            sum += number(group_pe(g, k), i);
            size += 1e10 / (3 + i % 101);
        }
        if (out[i] - sum > size * 1e-15 || sum - out[i] > size * 1e-15) {
            fprintf(stderr, "element %zu of %zu: %g, not %g\n", i, n, out[i],
                    sum);
            T_TRUE(!"the sum of all");
            break;
        }
    }
    first = malloc(bytes);
    T_TRUE(first != NULL);
    shmem_team_sync(g->team);
    shmem_getmem(first, out, n * sizeof *out, group_pe(g, 0));
    T_MEM(first, out, n * sizeof *out);
    free(first);
    shmem_team_sync(g->team);   /* all have looked */
}

T(long_ones)
{
    struct group g;

    for (int s = 0; s < SHAPES; s++) {
        g = (struct group){ SHMEM_TEAM_INVALID, shapes[s].n, -1,
                            shapes[s].start, shapes[s].stride };
        shmem_team_split_strided(SHMEM_TEAM_WORLD, g.start, g.stride, g.n,
                                 NULL, 0, &g.team);
        g.me = shmem_team_my_pe(g.team);
        if (g.me < 0)
            continue;
        round_now = (unsigned)s << 8;   /* also of who missed the last one */
        for (int i = 0; i < ROUNDS * SIZES; i++) {
            broadcasts(&g, sizes[i % SIZES]);
            collects(&g, sizes[i % SIZES]);
            reductions(&g, sizes[i % SIZES], i >= SIZES);
        }
        group_destroy(&g);
    }
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    source = shmem_malloc(MOST + 8);
    dest = shmem_malloc(ROOM);
    T_TRUE(source && dest);
    T_RUN(long_ones);
    shmem_finalize();
    return T_DONE();
}

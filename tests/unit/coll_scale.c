/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: operations and bytes that a PE sends in a collective grow with
 * the logarithm of the PEs, or with the bytes that it has to hand on; those of
 * a job's start and end, too.  Alone it has nothing to count:
 * coll/message_counts runs it on several nodes, with SHMEM_STATS. */
#include "t.h"

#include "coll/coll.h"
#include "rt/rt.h"
#include "xport/xport_stats.h"

enum { LONG = 1 << 20, MIDDLE = 64 << 10, ROWS = 64 };

static int n, rounds;           /* PEs; the logarithm, rounded up */
static char *dest, *source;
static uint64_t *sums;          /* ops and bytes, of this PE and the most */

static struct row {
    const char *what;
    uint64_t ops, bytes, most_ops, most_bytes;
} rows[ROWS];
static int n_rows;

/* What one call costs, after a first one, which makes connections. */
static void measure(const char *what, void (*call)(void), uint64_t most_ops,
                    uint64_t most_bytes)
{
    struct xport_stats was, is;

    for (int i = 0; i < 2; i++)
        call();
    shmem_barrier_all();
    was = xport_stats_get();
    call();
    is = xport_stats_get();
    rows[n_rows++] = (struct row){ what, is.ops - was.ops, is.bytes - was.bytes,
                                   most_ops, most_bytes };
}

static void barrier(void)
{
    shmem_barrier_all();
}

static void synchronise(void)
{
    shmem_sync_all();
}

static void broadcast(size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, 1);
}

static void broadcast_8(void)
{
    broadcast(8);
}

static void broadcast_long(void)
{
    broadcast(LONG);
}

static void fcollect_8(void)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, 8);
}

static void fcollect_long(void)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, LONG / (size_t)n);
}

/* Blocks of 0 to 24 bytes. */
static void collect_few(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, source,
                      8 * (size_t)(shmem_my_pe() % 4));
}

static void collect_long(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, source,
                      LONG / (size_t)n / (size_t)(1 + shmem_my_pe() % 2));
}

static void alltoall(void)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, 64);
}

static void reduce(size_t bytes, bool in_place)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                             (double *)(void *)(in_place ? dest : source),
                             bytes / sizeof(double));
}

static void reduce_8(void)
{
    reduce(8, false);
}

static void reduce_middle(void)
{
    reduce(MIDDLE, false);
}

static void reduce_long(void)
{
    reduce(LONG, true);
}

static void scan(void)
{
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, (long *)(void *)dest,
                           (long *)(void *)source, 1);
}

static void split_and_destroy(int start, int stride, int size)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0,
                              &team);
    shmem_team_destroy(team);
}

static void split(void)
{
    split_and_destroy(0, 1, n);
}

/* Some members have other memory than the others for it. */
static void split_unlike(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, n / 2, NULL, 0, &team);
    split_and_destroy(0, 1, n);
    shmem_team_destroy(team);
}

static void split_2d(void)
{
    shmem_team_t x, y;

    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

static void compare_sources(void)
{
    coll_alike(&core_world, shmem_my_pe() % 2, 77);
}

static void compare(void)
{
    uint64_t theirs;

    coll_differs(&core_world, 5, &theirs);
}

static void allocate(void)
{
    shmem_free(shmem_malloc(100));
}

/* L rounds of a put and a flag; SYNC words alone. */
#define L (uint64_t)rounds
#define N (uint64_t)n
#define PAIR(times) (2 * (times) * L + 4)

static void measure_all(void)
{
    uint64_t check = getenv("SHMEM_CHECK") ? L + 1 : 0;
    uint64_t sources = check ? PAIR(1) : 0;
    uint64_t args = check * 8 + (check ? 128 : 0);
#define CALL(f, ops, bytes) \
    measure(#f, f, (ops) + check, (bytes) + args + 64 * L + 64)

    CALL(barrier, L, 0);
    CALL(synchronise, L, 0);
    CALL(broadcast_8, 3 * L, 8 * L);
    CALL(broadcast_long, 3 * L + PAIR(1), 2 * LONG);
    CALL(fcollect_8, PAIR(1) + L, 8 * N);
    /* Blocks over 64 KiB go around. */
    CALL(fcollect_long, PAIR(1) + L + 2 * LONG / MIDDLE, LONG);
    CALL(collect_few, PAIR(2) + 5 * L + sources, 24 * N + 64 * L);
    CALL(collect_long, PAIR(2) + 5 * L + sources, LONG + 64 * L);
    CALL(alltoall, 2 * N, 36 * N * L);
    CALL(reduce_8, PAIR(1), 8 * L);
    CALL(reduce_middle, PAIR(3) + L, 2 * MIDDLE);
    CALL(reduce_long, PAIR(3) + L, 2 * LONG);
    CALL(scan, PAIR(1) + L, 8 * L);
    CALL(split, PAIR(1) + L + check, 64 * L);
    CALL(split_unlike, PAIR(3) + 6 * L + 4 * check, 4 * N + 256 * L);
    CALL(split_2d, PAIR(4) + 2 * L + 3 * check, 4 * N + 256 * L);
    CALL(compare, PAIR(1), 64 * L);
    CALL(compare_sources, PAIR(1), 64 * L);
    CALL(allocate, 2 * (L + 1) + check, 256);
}

/* Of the PE that sends most. */
static void take_most(void)
{
    for (int i = 0; i < n_rows; i++) {
        sums[0] = rows[i].ops;
        sums[1] = rows[i].bytes;
        shmem_ulong_max_reduce(SHMEM_TEAM_WORLD, (unsigned long *)(sums + 2),
                                (unsigned long *)sums, 2);
        rows[i].ops = sums[2];
        rows[i].bytes = sums[3];
        shmem_sync_all();
    }
}

static void show_and_check(void)
{
    for (int i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];

        if (shmem_my_pe() == 0)
            printf("%4d PEs %-16s %6lu operations %9lu bytes\n", n, r->what,
                   (unsigned long)r->ops, (unsigned long)r->bytes);
        if (r->ops > r->most_ops || r->bytes > r->most_bytes)
            fprintf(stderr, "%s on %d PEs: %lu operations, at most %lu; %lu "
                    "bytes, at most %lu\n", r->what, n, (unsigned long)r->ops,
                    (unsigned long)r->most_ops, (unsigned long)r->bytes,
                    (unsigned long)r->most_bytes);
        T_LE(r->ops, r->most_ops);
        T_LE(r->bytes, r->most_bytes);
    }
}

T(messages_grow_with_the_logarithm)
{
    struct xport_stats first = xport_stats_get(), last;
    uint64_t mask[16];
    /* Nodes of one machine exchange which of its cores they have. */
    size_t cores = 8 * (size_t)rt_cpus(mask, 16);

    rows[n_rows++] = (struct row){ "start", first.ops, first.bytes,
                                   PAIR(3) + 8 * L + 16,
                                   (128 + cores) * L + 512 };
    measure_all();
    take_most();
    show_and_check();
    last = xport_stats_get();
    shmem_finalize();
    first = xport_stats_get();
    T_LE(first.ops - last.ops, 4 * L + 4);
    T_LE(first.peers, 4 * L + 4 > N ? N : N);
}

/* Of a PE that this one writes to, its address; and the key of its region where
 * the provider makes keys. */
T(a_pe_publishes_few_bytes)
{
    const char *provider = getenv("SHMEM_OFI_PROVIDER");
    uint64_t each = provider && !strcmp(provider, "cxi") ? 4 : 2;

    if (shmem_my_pe() == 0)
        printf("%4d PEs start: %lu bytes published, %lu looked up by %lu "
               "questions, %lu fences\n", n,
               (unsigned long)rt_counts.put_bytes,
               (unsigned long)rt_counts.got_bytes,
               (unsigned long)rt_counts.gets,
               (unsigned long)rt_counts.fences);
    T_LE(rt_counts.put_bytes, 64 + (shmem_my_pe() ? 0 : 96));
    T_LE(rt_counts.gets, each * (uint64_t)rounds + 4);
}

int main(void)
{
    shmem_init();
    n = shmem_n_pes();
    if (n == 1 || !getenv("SHMEM_STATS")) {
        shmem_finalize();
        return 77;
    }
    T_PE(shmem_my_pe());
    while (1 << rounds < n)
        rounds++;
    dest = shmem_malloc(LONG + 64);
    source = shmem_malloc(LONG + 64);
    sums = shmem_malloc(4 * sizeof *sums);
    T_TRUE(dest && source && sums);
    memset(source, 0, LONG);
    T_RUN(a_pe_publishes_few_bytes);
    T_RUN(messages_grow_with_the_logarithm);
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: atomic updates of random words of a table over all PEs, in
 * batches that end with a quiet, or with a barrier; OpenSHMEM 1.4 alone, for
 * any library.
 *
 *   gups_host [-m BITS] [-n UPDATES] [-b BATCH]
 *
 * The table has 2^BITS words (2^18) in the symmetric heap.  UPDATES are those
 * of all PEs (2^18); each PE makes as many, in batches of BATCH (64).  An
 * update is T[a] ^= a, a being the next number of a shift register of 64 bits.
 * Then all are made once more, and a word that is not as before counts as an
 * error.  Status 0, 1 after errors (PE 0) or a wrong argument. */
#define _GNU_SOURCE 1
#include "gups.h"

#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    int me, n_pes;
    uint64_t words;                 /* of all PEs: a power of 2 */
    uint64_t mine;                  /* words of each PE */
    uint64_t updates;               /* of each PE */
    uint64_t batch;
} run = { .words = 1 << 18, .updates = 1 << 18, .batch = 64 };

static uint64_t *table;
static long errors;                 /* of PE 0: of all PEs */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* This PE's share; returns the seconds until all PEs have made theirs. */
static double update(void (*end_batch)(void))
{
    uint64_t x = gups_number_at(run.updates * (uint64_t)run.me), i;
    double start;

    shmem_barrier_all();
    start = now_s();
    for (uint64_t n = 1; n <= run.updates; n++) {
        x = gups_next(x);
        i = x & (run.words - 1);
        shmem_uint64_atomic_xor(&table[i % run.mine], x, (int)(i / run.mine));
        if (n % run.batch == 0)
            end_batch();
    }
    shmem_barrier_all();
    return now_s() - start;
}

/* Each word holds its index. */
static long wrong_words(void)
{
    long wrong = 0;

    for (uint64_t i = 0; i < run.mine; i++)
        wrong += table[i] != i;
    shmem_long_atomic_add(&errors, wrong, 0);
    shmem_barrier_all();
    return errors;
}

static void measure(const char *end, void (*end_batch)(void))
{
    double updates = (double)run.updates * run.n_pes, s = update(end_batch);
    long wrong;

    update(shmem_quiet);
    wrong = wrong_words();
    if (run.me == 0)
        printf("gups_host %-8s %4d %12.0f %10.6f %12.9f %8ld\n", end, run.n_pes,
               updates, s, updates / s * 1e-9, wrong);
    fflush(stdout);
}

static bool number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;

    *out = strtoull(text, &end, 10);
    return end != text && !*end && *text != '-' && *out && *out <= most;
}

static bool arguments(int argc, char **argv)
{
    uint64_t bits = 18;
    bool good = true;
    int c;

    opterr = 0;
    while ((c = getopt(argc, argv, "m:n:b:")) != -1)
        good &= c == 'm' ? number(optarg, 30, &bits)
              : c == 'n' ? number(optarg, UINT64_C(1) << 40, &run.updates)
              : c == 'b' ? number(optarg, UINT64_C(1) << 40, &run.batch)
                         : false;
    run.words = UINT64_C(1) << bits;
    run.mine = (run.words + (uint64_t)run.n_pes - 1) / (uint64_t)run.n_pes;
    run.updates = (run.updates + (uint64_t)run.n_pes - 1) /
                  (uint64_t)run.n_pes;
    return good && optind == argc;
}

int main(int argc, char **argv)
{
    int rc = 1;

    shmem_init();
    run.me = shmem_my_pe();
    run.n_pes = shmem_n_pes();
    if (!arguments(argc, argv)) {
        if (run.me == 0)
            fprintf(stderr, "usage: gups_host [-m BITS, up to 30] "
                    "[-n UPDATES] [-b BATCH]\n");
        goto finalize;
    }
    table = shmem_malloc(run.mine * sizeof *table);
    if (!table) {
        fprintf(stderr, "gups_host: no room in the symmetric heap: a smaller "
                "-m, or set SHMEM_SYMMETRIC_SIZE\n");
        goto finalize;
    }
    for (uint64_t i = 0; i < run.mine; i++)
        table[i] = i;
    if (run.me == 0)
        printf("# %-7s %-8s %4s %12s %10s %12s %8s\n", "kernel", "end", "PEs",
               "updates", "time(s)", "GUPS", "errors");
    measure("quiet", shmem_quiet);
    measure("barrier", shmem_barrier_all);
    rc = run.me == 0 && errors;
    shmem_free(table);
finalize:
    shmem_finalize();
    return rc;
}

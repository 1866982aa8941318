/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: bandwidth of puts and gets to another node, between host and
 * device memory, beside that between host memories and that of the device's
 * copies: staged transfers are held against the smaller of these two.
 *
 *   off_node [-r ROUNDS] [-s LEAST] [-S MOST] [-w WINDOW] [-g]
 *
 * Sizes from LEAST to MOST by fours; WINDOW bytes, or one operation, to a
 * quiet; -g: gets alone.  PE 0 measures, PE 1 waits inside the library.  MB/s,
 * medians over the rounds, and the median of the ratios in each round. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <shmem_space.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOST, DEVICE, PLACES, COPIES = 2, MOST_ROUNDS = 99 };
#define ROUND_NS 30e6

static char *there[PLACES], *here[PLACES];
static size_t least = 65536, most = 16777216, window = 8388608, room;
static int rounds = 5;
static bool gets;

struct shape {
    int here, there;
    const char *name;
};
static const struct shape shapes[] = {
    { HOST, HOST, "H-H" }, { DEVICE, DEVICE, "D-D" },
    { HOST, DEVICE, "H-D" }, { DEVICE, HOST, "D-H" },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* One window, to a quiet. */
static void transfer(const struct shape *s, size_t size, int pe)
{
    for (size_t at = 0; !at || at + size <= window; at += size) {
        char *remote = there[s->there] + at % room;
        char *local = here[s->here] + at % room;

        if (gets)
            shmem_getmem_nbi(local, remote, size, pe);
        else
            shmem_putmem_nbi(remote, local, size, pe);
    }
    shmem_quiet();
}

/* MB/s */
static double rate(const struct shape *s, size_t size, int pe)
{
    double start = bench_now_ns(), ns = 0;
    size_t n = 0, each = window / size ? window / size : 1;

    do {
        transfer(s, size, pe);
        n += each;
        ns = bench_now_ns() - start;
    } while (ns < ROUND_NS);
    return (double)(n * size) / ns * 1e3;
}

/* The slower direction, between this PE's host and device memory. */
static double copy_rate(size_t size)
{
    const struct shape out = { DEVICE, HOST, "" }, in = { HOST, DEVICE, "" };
    double a = rate(&out, size, 0), b = rate(&in, size, 0);

    return a < b ? a : b;
}

static void measure(size_t size)
{
    static double got[SHAPES][MOST_ROUNDS], of[SHAPES][MOST_ROUNDS];
    static double copy[MOST_ROUNDS];

    for (int s = 0; s < SHAPES; s++)
        transfer(&shapes[s], size, 1);
    for (int r = 0; r < rounds; r++) {
        copy[r] = copy_rate(size);
        for (int s = 0; s < SHAPES; s++) {
            got[s][r] = rate(&shapes[s], size, 1);
            of[s][r] = got[s][r] / (copy[r] < got[0][r] ? copy[r] : got[0][r]);
        }
    }
    printf("%9zu %9.0f", size, bench_median(copy, rounds));
    for (int s = 0; s < SHAPES; s++) {
        printf(" %9.0f", bench_median(got[s], rounds));
        if (s)
            printf(" %5.2f", bench_median(of[s], rounds));
    }
    printf("\n");
    fflush(stdout);
}

static int options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "r:s:S:w:g")) != -1) {
        switch (c) {
        case 'r': rounds = atoi(optarg); break;
        case 's': least = strtoul(optarg, NULL, 0); break;
        case 'S': most = strtoul(optarg, NULL, 0); break;
        case 'w': window = strtoul(optarg, NULL, 0); break;
        case 'g': gets = true; break;
        default: return 2;
        }
    }
    return rounds > 0 && rounds <= MOST_ROUNDS && least && least <= most &&
           window && optind == argc ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (options(argc, argv)) {
        fprintf(stderr, "usage: off_node [-r ROUNDS] [-s LEAST] "
                "[-S MOST] [-w WINDOW] [-g]\n");
        return 2;
    }
    shmem_init();
    room = window > most ? window : most;
    for (int p = 0; p < PLACES; p++) {
        there[p] = p == HOST ? shmem_malloc(room)
                             : shmem_space_malloc(SHMEM_SPACE_DEVICE, room);
        here[p] = p == HOST ? shmem_malloc(room)
                            : shmem_space_malloc(SHMEM_SPACE_DEVICE, room);
        if (!there[p] || !here[p])
            shmem_global_exit(1);
    }
    memset(there[HOST], 1, room);
    memset(here[HOST], 2, room);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        printf("# %s, MB/s%4s", gets ? "gets" : "puts", "copy");
        for (int s = 0; s < SHAPES; s++)
            printf(s ? " %9s of" : " %9s", shapes[s].name);
        printf("\n");
        for (size_t size = least; size <= most; size *= 4)
            measure(size);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: operations that a kernel triggers, with 16 to 4096 active tags
 * that are hit in a random order, beside the same puts as calls of the host; and
 * ways to find the operation of a tag, beside each other.  PE 0 measures, on
 * the software device; PE 1 may be on another node.
 *
 *   trigger [--tsv] [-n ROUNDS]         of each row (21)
 *
 * kernel: from the first hit until all puts of 8 bytes have completed, by
 * operation; host: as many shmem_putmem_nbi and a shmem_quiet.  The finders
 * are what a NIC might do with a tag that arrives (LeBeane et al., SC'17): a
 * list, 16 associative entries before a list, a hash table; table: tags are
 * numbers from 0 on, as those of shmemx_trig.h.  Medians; status 1 after an
 * error or wrong data. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <shmemx_trig.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, CACHED = 16, FINDERS = 4, ROUNDS_MOST = 1001 };

static int rounds = BENCH_ROUNDS, me;
static uint64_t source[MOST], dest[MOST];
static int order[MOST];
static shmemx_stream_t stream;
static shmemx_trig_t trig;
static shmemx_trig_dev_t hits;
static struct {
    int tags;
    uint64_t done;              /* of each tag, before this round */
    double ns;
} run;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "trigger: %s: %s\n", what, strerror(rc < 0 ? -rc : rc));
    shmem_global_exit(1);
}

static void shuffle(int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)((unsigned)rand() % (unsigned)(i + 1)), was = order[i];

        order[i] = order[k];
        order[k] = was;
    }
}

/* ---- operations ---- */

static void body(const shmemx_item_t *it, void *arg)
{
    double start = bench_now_ns();

    (void)it;
    (void)arg;
    for (int i = 0; i < run.tags; i++)
        shmemx_dev_trigger(&hits, order[i], 1);
    for (int i = 0; i < run.tags; i++)
        shmemx_dev_trig_wait(&hits, i, run.done + 1);
    run.ns = (bench_now_ns() - start) / run.tags;
}

static double kernel_ns(void)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1,
                                        .resident = 1 };

    must(shmemx_stream_launch(stream, &grid, body, NULL), "a launch");
    must(shmemx_stream_sync(stream), "a kernel");
    run.done++;
    return run.ns;
}

static double host_ns(void)
{
    double start = bench_now_ns();

    for (int i = 0; i < run.tags; i++)
        shmem_putmem_nbi(&dest[order[i]], &source[order[i]], 8, 1);
    shmem_quiet();
    return (bench_now_ns() - start) / run.tags;
}

static void post(int tags)
{
    must(shmemx_trig_create(SHMEM_CTX_DEFAULT, tags, NULL, 0, &trig),
         "a trigger");
    for (int i = 0; i < tags; i++) {
        source[i] = (uint64_t)(tags * 10000 + i);
        must(shmemx_trig_put(trig, i, 1, &dest[i], &source[i], 8, 1), "a put");
        must(shmemx_trig_repeat(trig, i), "a put that repeats");
    }
    must(shmemx_trig_dev(trig, &hits), "a trigger for kernels");
    run.tags = tags;
    run.done = 0;
}

static void check(int tags)
{
    static uint64_t there[MOST];

    shmem_getmem(there, dest, (size_t)tags * sizeof *there, 1);
    if (memcmp(there, source, (size_t)tags * sizeof *there)) {
        fprintf(stderr, "trigger: with %d tags the puts brought other data\n",
                tags);
        shmem_global_exit(1);
    }
}

/* ---- finders ---- */

/* Tags of 64 bits, as a program may choose them. */
static struct entry {
    uint64_t tag, count;
    struct entry *next, *chain;
} entries[MOST], *list, *hashed[2 * MOST], *cached[CACHED];
static unsigned next_victim;

static uint64_t tag_of(int i)
{
    return (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
}

static void fill(int n)
{
    list = NULL;
    memset(hashed, 0, sizeof hashed);
    memset(cached, 0, sizeof cached);
    for (int i = 0; i < n; i++) {
        struct entry *e = &entries[i], **at;

        *e = (struct entry){ .tag = tag_of(i), .next = list };
        list = e;
        at = &hashed[e->tag % (2 * MOST)];
        e->chain = *at;
        *at = e;
    }
}

static struct entry *in_list(int i)
{
    struct entry *e = list;

    while (e->tag != tag_of(i))
        e = e->next;
    return e;
}

static struct entry *in_cache(int i)
{
    for (int k = 0; k < CACHED; k++)
        if (cached[k] && cached[k]->tag == tag_of(i))
            return cached[k];
    return cached[next_victim++ % CACHED] = in_list(i);
}

static struct entry *in_hash(int i)
{
    struct entry *e = hashed[tag_of(i) % (2 * MOST)];

    while (e->tag != tag_of(i))
        e = e->chain;
    return e;
}

static struct entry *in_table(int i)
{
    return &entries[i];
}

static double find_ns(struct entry *(*find)(int i), int n)
{
    double start = bench_now_ns();

    for (int i = 0; i < n; i++)
        __atomic_fetch_add(&find(order[i])->count, 1, __ATOMIC_RELAXED);
    return (bench_now_ns() - start) / n;
}

/* ---- rows ---- */

static void row(int tags, bool tsv)
{
    static struct entry *(*const find[FINDERS])(int) = {
        in_list, in_cache, in_hash, in_table
    };
    static double kernel[ROUNDS_MOST], host[ROUNDS_MOST],
        found[FINDERS][ROUNDS_MOST];

    post(tags);
    fill(tags);
    for (int r = -2; r < rounds; r++) {
        int at = r < 0 ? 0 : r;

        shuffle(tags);
        kernel[at] = kernel_ns();
        host[at] = host_ns();
        for (int f = 0; f < FINDERS; f++)
            found[f][at] = find_ns(find[f], tags);
    }
    check(tags);
    must(shmemx_trig_free(&trig), "to free a trigger");
    printf(tsv ? "%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n"
               : "%-8d%12.1f%12.1f%12.1f%12.1f%12.1f%12.1f\n",
           tags, bench_median(kernel, rounds), bench_median(host, rounds),
           bench_median(found[0], rounds), bench_median(found[1], rounds),
           bench_median(found[2], rounds), bench_median(found[3], rounds));
}

int main(int argc, char **argv)
{
    bool tsv = false;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--tsv")) {
            tsv = true;
        } else if (!strcmp(argv[i], "-n") && i + 1 < argc &&
                   (rounds = atoi(argv[++i])) > 0 && rounds <= ROUNDS_MOST) {
            continue;
        } else {
            fprintf(stderr, "usage: trigger [--tsv] [-n ROUNDS]\n");
            return 1;
        }
    }
    shmem_init();
    me = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "trigger: needs 2 PEs\n");
        shmem_global_exit(1);
    }
    must(shmemx_stream_create(&stream), "SHMEM_DEVICE=software: a stream");
    if (me == 0) {
        if (!tsv)
            printf("# %-6s%12s%12s%12s%12s%12s%12s\n", "tags", "kernel(ns)",
                   "host(ns)", "list(ns)", "cache(ns)", "hash(ns)", "table(ns)");
        for (int tags = 16; tags <= MOST; tags *= 4)
            row(tags, tsv);
    }
    shmem_barrier_all();
    must(shmemx_stream_destroy(stream), "to destroy a stream");
    shmem_finalize();
    return 0;
}

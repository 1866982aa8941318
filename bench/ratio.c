/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the library's calls against the same work done by hand on
 * shmem_ptr(), both in this run and taking turns.  2 PEs, each on its core;
 * PE 0 measures, and where two must act, both do. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LARGEST ((size_t)4 << 20)
#define RATE_OPS 500

/* Words by which the PEs synchronize, on lines of their own; those of PE 1 are
 * used
 * by both. */
struct shared {
    _Alignas(128) long counter;
    _Alignas(128) _Atomic uint64_t ball;
    _Alignas(128) _Atomic uint64_t flag;
};

struct place {
    char *mine, *dest;              /* symmetric, of this PE */
    char *theirs;                   /* dest at PE 1, as mapped here */
    size_t size;
    struct shared *shared;          /* of this PE */
    struct shared *at_1;            /* at PE 1, as mapped here; or NULL */
};

static char global_dest[LARGEST] __attribute__((aligned(4096)));
static char global_mine[LARGEST] __attribute__((aligned(4096)));

/* ------------------------------------------------- what the calls are ---- */

static void put_quiet(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++) {
        shmem_putmem(p->dest, p->mine, p->size, 1);
        shmem_quiet();
    }
}

static void put_typed_quiet(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++) {
        shmem_long_p((long *)(void *)p->dest, i, 1);
        shmem_quiet();
    }
}

static void put(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++)
        shmem_putmem(p->dest, p->mine, p->size, 1);
    shmem_quiet();
}

static void get(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++)
        shmem_getmem(p->mine, p->dest, p->size, 1);
}

static void get_typed(void *arg, int iters)
{
    const struct place *p = arg;
    long sink = 0;

    for (int i = 0; i < iters; i++)
        sink += shmem_long_g((const long *)(const void *)p->dest, 1);
    bench_store(p->mine, (uint64_t)sink);
}

static void rate_nbi(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i += RATE_OPS) {
        for (size_t k = 0; k < RATE_OPS; k++)
            shmem_putmem_nbi(p->dest + 8 * k, p->mine + 8 * k, 8, 1);
        shmem_quiet();
    }
}

static void rate_get_nbi(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i += RATE_OPS) {
        for (size_t k = 0; k < RATE_OPS; k++)
            shmem_getmem_nbi(p->mine + 8 * k, p->dest + 8 * k, 8, 1);
        shmem_quiet();
    }
}

static void fetch_add(void *arg, int iters)
{
    const struct place *p = arg;
    long *counter = &p->shared->counter;

    for (int i = 0; i < iters; i++)
        shmem_long_atomic_fetch_add(counter, 1, 1);
}

static void barriers(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        shmem_barrier_all();
}

/* ----------------------------------------------- and the same by hand ---- */

static void store_xchg(void *arg, int iters)
{
    const struct place *p = arg;
    _Atomic uint64_t own = 0;

    for (int i = 0; i < iters; i++) {
        bench_store(p->theirs, *(volatile uint64_t *)(void *)p->mine);
        atomic_exchange_explicit(&own, 1, memory_order_seq_cst);
    }
}

static void load_store(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++)
        bench_store(p->mine, *(volatile uint64_t *)(void *)p->theirs);
}

static void stores(void *arg, int iters)
{
    const struct place *p = arg;
    _Atomic uint64_t own = 0;

    for (int i = 0; i < iters; i += RATE_OPS) {
        for (size_t k = 0; k < RATE_OPS; k++)
            bench_store(p->theirs + 8 * k,
                        *(volatile uint64_t *)(void *)(p->mine + 8 * k));
        atomic_exchange_explicit(&own, 1, memory_order_seq_cst);
    }
}

static void copy_there(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++) {
        memcpy(p->theirs, p->mine, p->size);
        bench_barrier();
    }
}

static void copy_here(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++) {
        memcpy(p->mine, p->theirs, p->size);
        bench_barrier();
    }
}

static void c11_add(void *arg, int iters)
{
    const struct place *p = arg;
    _Atomic long *at = (_Atomic long *)(void *)&p->at_1->counter;

    for (int i = 0; i < iters; i++)
        atomic_fetch_add_explicit(at, 1, memory_order_seq_cst);
}

/* Both PEs: a line goes to and fro iters times. */
static void ping_pong(void *arg, int iters)
{
    const struct place *p = arg;
    _Atomic uint64_t *ball = &p->at_1->ball;
    uint64_t me = (uint64_t)shmem_my_pe(), at;

    at = atomic_load_explicit(&p->at_1->flag, memory_order_relaxed) + me;
    for (int i = 0; i < iters; i++, at += 2) {
        while (atomic_load_explicit(ball, memory_order_acquire) != at)
            bench_pause();
        atomic_store_explicit(ball, at + 1, memory_order_release);
    }
    /* PE 1 has the last word, and says where the next game begins. */
    if (me == 1)
        atomic_store_explicit(&p->at_1->flag, at - 1, memory_order_relaxed);
}

/* --------------------------------------------------------------- rows ---- */

static void row(const struct place *p, struct bench_row r, bench_loop *ours,
                bench_loop *limit, int iters)
{
    struct place place = *p;
    struct bench_pair b;

    if (!p->theirs) {
        r.ours = bench_one(ours, &place, iters);
    } else {
        b = bench_both(ours, limit, &place, iters);
        r.ours = b.ours;
        r.limit = b.limit;
        r.ratio = b.ratio;
    }
    if (!strcmp(r.unit, "M/s")) {
        r.ours = 1e3 / r.ours;
        r.limit = r.limit > 0 ? 1e3 / r.limit : 0;
        r.ratio = r.limit > 0 ? r.ours / r.limit : 0;
    }
    bench_print(&r);
}

static void small(const struct place *heap, const struct place *global)
{
    row(heap, (struct bench_row){ .name = "put 8 B + quiet, heap",
        .unit = "ns", .target = 14 }, put_quiet, store_xchg, 20000);
    row(global, (struct bench_row){ .name = "put 8 B + quiet, global",
        .unit = "ns", .target = 14 }, put_quiet, store_xchg, 20000);
    row(heap, (struct bench_row){ .name = "p + quiet, heap", .unit = "ns",
        .target = 14 }, put_typed_quiet, store_xchg, 20000);
    row(heap, (struct bench_row){ .name = "get 8 B, heap", .unit = "ns",
        .target = 7 }, get, load_store, 20000);
    row(global, (struct bench_row){ .name = "get 8 B, global", .unit = "ns",
        .target = 7 }, get, load_store, 20000);
    row(heap, (struct bench_row){ .name = "g, heap", .unit = "ns",
        .target = 7 }, get_typed, load_store, 20000);
    row(heap, (struct bench_row){ .name = "put_nbi 8 B, one quiet per 500",
        .unit = "M/s", .target = 120 }, rate_nbi, stores, 20000);
    row(heap, (struct bench_row){ .name = "get_nbi 8 B, one quiet per 500",
        .unit = "M/s" }, rate_get_nbi, stores, 20000);
}

static void large(const struct place *heap)
{
    static const size_t sizes[] = { 64, 1024, 4096, 16384, 65536, 262144,
                                    1048576, LARGEST };
    struct place p = *heap;
    char name[40];

    for (int is_get = 0; is_get < 2; is_get++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct bench_row r = { .name = name, .unit = "ns",
                .target_ratio = sizes[i] < 4096 ? 0 : 1.05 };
            int iters = sizes[i] < 4096 ? 20000
                                        : (int)(20000000 / sizes[i]) + 2;

            p.size = sizes[i];
            snprintf(name, sizeof name, "%s %zu B, memcpy",
                     is_get ? "get" : "put", sizes[i]);
            row(&p, r, is_get ? get : put, is_get ? copy_here : copy_there,
                iters);
        }
    }
}

/* Both PEs add to one word of PE 1; the rounds of the two kinds take turns
 * behind barriers.  A figure is of PE 0, from the rounds in which both were
 * on their cores: there PE 1 has added about as much. */
static void contended(const struct place *p)
{
    enum { ITERS = 50000, TRIES = 4 * BENCH_ROUNDS };
    bench_loop *const loops[] = { c11_add, fetch_add };
    struct bench_row r = { .name = "fetch_add, both PEs on one word",
                           .unit = "ns", .target_ratio = 1.3 };
    double ns[2][TRIES], q[TRIES], now[2];
    int good = 0;

    for (int t = 0; t < TRIES; t++) {
        int fair = 1;

        for (int k = 0; k < 2; k++) {
            long before, after;
            double start;

            shmem_barrier_all();
            before = shmem_long_atomic_fetch(&p->shared->counter, 1);
            start = bench_now_ns();
            loops[k]((void *)(uintptr_t)p, ITERS);
            now[k] = (bench_now_ns() - start) / ITERS;
            after = shmem_long_atomic_fetch(&p->shared->counter, 1);
            fair &= after - before > ITERS * 3 / 2;
        }
        ns[0][good] = now[0];
        ns[1][good] = now[1];
        q[good] = now[1] / now[0];
        good += fair;
    }
    if (shmem_my_pe() != 0)
        return;
    if (good) {
        r.limit = bench_median(ns[0], good);
        r.ours = bench_median(ns[1], good);
        r.ratio = bench_median(q, good);
    }
    bench_print(&r);
}

/* Both PEs: a barrier against a line that goes there and back. */
static void meeting(const struct place *p)
{
    struct bench_pair b = bench_both(barriers, ping_pong,
                                     (void *)(uintptr_t)p, 20000);
    struct bench_row r = { .name = "barrier_all, 2 PEs; line to and fro",
                           .unit = "ns", .ours = b.ours, .limit = b.limit,
                           .ratio = b.ratio, .target = 200,
                           .target_ratio = 1.3 };

    if (shmem_my_pe() == 0)
        bench_print(&r);
}

int main(int argc, char **argv)
{
    struct place heap, global;
    int pe;

    bench_open(argc, argv);
    shmem_init();
    pe = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        if (pe == 0)
            fprintf(stderr, "ratio: needs 2 PEs: oshrun -n 2 ratio\n");
        shmem_finalize();
        return 1;
    }
    bench_pin(pe);
    heap.dest = shmem_align(4096, LARGEST);
    heap.mine = shmem_align(4096, LARGEST);
    heap.shared = shmem_align(4096, sizeof *heap.shared);
    memset(heap.shared, 0, sizeof *heap.shared);
    memset(heap.mine, 1, LARGEST);
    memset(heap.dest, 2, LARGEST);
    memset(global_mine, 1, LARGEST);
    memset(global_dest, 2, LARGEST);
    heap.size = 8;
    heap.theirs = shmem_ptr(heap.dest, 1);
    heap.at_1 = shmem_ptr(heap.shared, 1);
    global = heap;
    global.dest = global_dest;
    global.mine = global_mine;
    global.theirs = shmem_ptr(global_dest, 1);
    shmem_barrier_all();
    if (pe == 0) {
        small(&heap, &global);
        large(&heap);
        row(&heap, (struct bench_row){ .name = "fetch_add, alone",
            .unit = "ns", .target = 9 }, fetch_add, c11_add, 20000);
    }
    shmem_barrier_all();
    if (heap.at_1) {
        contended(&heap);
        meeting(&heap);
    }
    shmem_finalize();
    return 0;
}

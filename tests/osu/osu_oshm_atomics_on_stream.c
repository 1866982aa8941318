/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rate and time of a step of the device and an int or long long
 * atomic, one per element, from the first half of the PEs to the second, made
 * by the device's stream or by the program.  Rows are those of
 * osu_oshm_atomics: a quiet follows each operation only in those ending in
 * _q. */
#include "osu_stream.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

union elem {
    int i;
    long long ll;
};

static union elem elems[OSU_ATOMIC_MAX];
static int marks[OSU_ATOMIC_MAX];       /* how often a value was fetched */

static const struct osu_prog prog = {
    .name = "osu_oshm_atomics_on_stream",
    .title = "OSU OpenSHMEM Atomic Operation on Stream Rate Test",
    .kind = OSU_ATOMIC,
    .src = (char *)elems,
    .dst = (char *)elems,
    .bytes = sizeof elems,
    .on_stream = true,
};

static union elem *elems_at(char *buffer)
{
    return (union elem *)(void *)buffer;
}

/* One operation, by host or stream: what it finds at e of PE pe goes
 * to f here if the stream makes it, else it is returned. */
typedef long long osu_amo(struct osu *o, union elem *f, union elem *e, int pe);

#define FETCHING(name, t, m, op, ...)                                       \
    static long long name(struct osu *o, union elem *f, union elem *e,      \
                          int pe)                                           \
    {                                                                       \
        osu_work(o);                                                        \
        if (osu_by_host(o)) {                                               \
            osu_stream_sync(o);                                             \
            return shmem_##t##_atomic_##op(&e->m, ##__VA_ARGS__, pe);       \
        }                                                                   \
        osu_notified(o, shmemx_##t##_atomic_##op##_on_stream(               \
                        &f->m, &e->m, ##__VA_ARGS__, pe, o->stream->at));   \
        return 0;                                                           \
    }

#define PLAIN(name, quiet, t, m, op, ...)                                   \
    static long long name(struct osu *o, union elem *f, union elem *e,      \
                          int pe)                                           \
    {                                                                       \
        shmemx_stream_t s = o->stream->at;                                  \
                                                                            \
        (void)f;                                                            \
        osu_work(o);                                                        \
        if (osu_by_host(o)) {                                               \
            osu_stream_sync(o);                                             \
            shmem_##t##_atomic_##op(&e->m, ##__VA_ARGS__, pe);              \
            if (quiet)                                                      \
                shmem_quiet();                                              \
            return 0;                                                       \
        }                                                                   \
        osu_notified(o, shmemx_##t##_atomic_##op##_on_stream(               \
                        &e->m, ##__VA_ARGS__, pe, s));                      \
        if (quiet)                                                          \
            osu_notified(o, shmemx_quiet_on_stream(s));                     \
        return 0;                                                           \
    }

#define OPS_OF(T, t, m)                                                     \
    FETCHING(t##_fadd, t, m, fetch_add, 1)                                  \
    FETCHING(t##_finc, t, m, fetch_inc)                                     \
    PLAIN(t##_add, false, t, m, add, 7)                                     \
    PLAIN(t##_add_q, true, t, m, add, 7)                                    \
    PLAIN(t##_inc, false, t, m, inc)                                        \
    PLAIN(t##_inc_q, true, t, m, inc)                                       \
    FETCHING(t##_cswap, t, m, compare_swap, (T)pe, 9)                       \
    FETCHING(t##_swap, t, m, swap, 9)                                       \
    PLAIN(t##_set, false, t, m, set, 1)                                     \
    PLAIN(t##_set_q, true, t, m, set, 1)                                    \
    FETCHING(t##_fetch, t, m, fetch)
OPS_OF(int, int, i)
OPS_OF(long long, longlong, ll)

static const struct row {
    const char *name;
    osu_amo *op;
    size_t width;                       /* of the type */
} rows[] = {
#define ROW(t, w, op) { "shmem_" #t "_" #op, t##_##op, w },
#define ROWS(t, w)                                                          \
    ROW(t, w, fadd) ROW(t, w, finc) ROW(t, w, add) ROW(t, w, add_q)         \
    ROW(t, w, inc) ROW(t, w, inc_q) ROW(t, w, cswap) ROW(t, w, swap)        \
    ROW(t, w, set) ROW(t, w, set_q) ROW(t, w, fetch)
    ROWS(int, sizeof(int))
    ROWS(longlong, sizeof(long long))
};

/* Those of the checks, by width. */
static const struct set {
    osu_amo *fadd, *finc, *add, *inc, *cswap, *swap, *set, *fetch;
} sets[] = {
#define SET(t) { t##_fadd, t##_finc, t##_add, t##_inc, t##_cswap, t##_swap, \
                 t##_set, t##_fetch }
    SET(int), SET(longlong)
};

/* Microseconds per operation. */
static double row_us(struct osu *o, const struct row *r)
{
    union elem *words = elems_at(o->dst), *results = elems_at(o->src);
    double start;

    osu_stream_sync(o);
    start = osu_now();
    for (int n = 0; n < o->iters; n++) {
        r->op(o, results + n, words + n, o->peer);
        if (o->wait_each)
            osu_stream_sync(o);
    }
    if (!osu_by_host(o))
        osu_notified(o, shmemx_quiet_on_stream(o->stream->at));
    osu_stream_sync(o);
    return (osu_now() - start) / o->iters;
}

static long long value_of(const union elem *e, size_t width)
{
    union elem v;

    osu_load(&v, e, sizeof v);
    return width == sizeof(int) ? v.i : v.ll;
}

/* What is done by op on PE pe's word, when it has been done. */
static long long done(struct osu *o, osu_amo *op, union elem *word, int pe,
                      size_t width)
{
    union elem *f = elems_at(o->src) + 1;
    long long v = op(o, f, word, pe);

    osu_stream_sync(o);
    if (osu_by_host(o))
        shmem_quiet();
    else
        v = value_of(f, width);
    return v;
}

/* All PEs have made theirs, those of streams too. */
static void synchronize(struct osu *o)
{
    if (!osu_by_host(o))
        osu_notified(o, shmemx_quiet_on_stream(o->stream->at));
    osu_stream_sync(o);
    shmem_barrier_all();
}

/* The first word of each PE is 0 and nothing is marked. */
static void clear(struct osu *o)
{
    static const union elem zero;

    synchronize(o);
    osu_store(o->dst, &zero, sizeof zero);
    memset(marks, 0, sizeof marks);
    shmem_barrier_all();
}

/* Every PE fetches and adds 1 on one word of PE 0: together they must see each
 * value below the sum once. */
static int check_fetching(struct osu *o, const struct set *c, size_t width,
                          int rounds)
{
    union elem *word = elems_at(o->dst), *got = elems_at(o->src) + 1;
    long long *seen = osu_host_buffer(o, sizeof *seen * (size_t)rounds);
    int wrong = 0, all = rounds * o->npes;

    clear(o);
    for (int i = 0; i < rounds; i++)
        seen[i] = (i % 2 ? c->finc : c->fadd)(o, got + i, word, 0);
    synchronize(o);
    for (int i = 0; i < rounds; i++) {
        if (!osu_by_host(o))
            seen[i] = value_of(got + i, width);
        if (seen[i] < 0 || seen[i] >= all)
            wrong++;
        else
            shmem_int_atomic_inc(&marks[seen[i]], 0);
    }
    shmem_barrier_all();
    for (int i = 0; o->pe == 0 && i < all; i++)
        wrong += marks[i] != 1;
    if (o->pe == 0)
        wrong += done(o, c->fetch, word, 0, width) != all;
    free(seen);
    return wrong;
}

/* What fetches nothing, and swaps: sums. */
static int check_sums(struct osu *o, const struct set *c, size_t width,
                      int rounds)
{
    union elem *word = elems_at(o->dst);
    long long was, sum = 8ll * rounds * o->npes;
    int wrong = 0;
    double all;

    clear(o);
    for (int i = 0; i < rounds; i++) {
        c->add(o, NULL, word, 0);
        c->inc(o, NULL, word, 0);
    }
    synchronize(o);
    if (o->pe == 0)
        wrong += done(o, c->fetch, word, 0, width) != sum;
    synchronize(o);
    was = done(o, c->swap, word, 0, width);     /* one has the sum, else 9 */
    all = osu_sum(o, (double)was);
    wrong += o->pe == 0 && all != (double)sum + 9.0 * (o->npes - 1);
    synchronize(o);
    c->set(o, NULL, word, o->pe);               /* 1 */
    synchronize(o);
    was = done(o, c->cswap, word, o->pe, width);    /* for this PE's number */
    wrong += was != 1;
    wrong += done(o, c->fetch, word, o->pe, width) != (o->pe == 1 ? 9 : 1);
    synchronize(o);
    return wrong;
}

/* Failed checks of the place at hand, by the type's width. */
static int check(struct osu *o, size_t width)
{
    const struct set *c = &sets[width != sizeof(int)];
    int most = OSU_ATOMIC_MAX / o->npes - 1;
    int rounds = o->iters < most ? o->iters : most;

    return check_fetching(o, c, width, rounds) +
           check_sums(o, c, width, rounds);
}

/* Compare-and-swap finds what it expects, for the words of a PE hold
 * its number. */
static void touch(struct osu *o, const struct row *r)
{
    size_t bytes = sizeof(union elem) * (size_t)o->iters;
    union elem *all = osu_host_buffer(o, bytes);

    memset(all, 0, bytes);
    for (int n = 0; n < o->iters; n++) {
        if (r->width == sizeof(int))
            all[n].i = o->pe;
        else
            all[n].ll = o->pe;
    }
    osu_store(o->dst, all, bytes);
    free(all);
    shmem_barrier_all();
}

/* One operation at each place; the checks depend on the type alone. */
static void measure(struct osu *o, const struct row *r)
{
    static int wrong[OSU_PLACES];
    bool same = r > rows && r[-1].width == r->width;

    for (int k = 0; k < o->n_places; k++) {
        osu_place(o, k);
        if (o->check && !same)
            wrong[k] = check(o, r->width);
        if (!same) {                /* the first is not to pay for binding */
            touch(o, r);
            if (o->pe < o->pairs)
                row_us(o, r);
        }
        shmem_barrier_all();
        touch(o, r);
        osu_measured_atomic(o, o->pe < o->pairs ? row_us(o, r) : 0, wrong[k]);
    }
    osu_row_atomic(o, r->name);
}

int main(int argc, char **argv)
{
    struct osu o;

    if (osu_open(&o, &prog, argc, argv))
        return osu_close(&o);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        measure(&o, &rows[r]);
    return osu_close(&o);
}

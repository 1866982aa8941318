/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rate and time of int and long long atomics, one per element,
 * from the first half of the PEs to the second, made inside a kernel by a
 * thread, or by the program.  Rows are those of osu_oshm_atomics: a quiet
 * follows each operation only in those ending in _q. */
#include "osu_int.h"
#include "osu_kernel.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static union osu_elem elems[OSU_ATOMIC_MAX];
static int marks[OSU_ATOMIC_MAX];       /* how often a value was fetched */
static long long *found;                /* by the operations */

static const struct osu_prog prog = {
    .name = "osu_oshm_atomics_kernel",
    .title = "OSU OpenSHMEM Atomic Operation in Kernel Rate Test",
    .kind = OSU_ATOMIC,
    .src = (char *)elems,
    .dst = (char *)elems,
    .bytes = sizeof elems,
    .callers = OSU_CALLER(HOST) | OSU_CALLER(THREAD),
};

#define LOOP(NAME, CALL, QUIET)                                             \
    static void NAME##_host(struct osu *o, size_t unused, int n)            \
    {                                                                       \
        const struct osu_job *w = &o->kernel->job;                          \
                                                                            \
        (void)unused;                                                       \
        for (int i = 0; i < n; i++) {                                       \
            union osu_elem *e = w->words + (size_t)i * (size_t)w->stride;   \
                                                                            \
            CALL;                                                           \
            QUIET;                                                          \
        }                                                                   \
    }                                                                       \
    static const struct osu_work NAME = { NAME##_host, OSU_LOOP_##NAME };
#define FETCHING(NAME, t_, m, op, ...)                                      \
    LOOP(NAME, found[i] = shmem_##t_##_atomic_##op(&e->m, ##__VA_ARGS__,    \
                                                   w->peer), )
#define PLAIN(NAME, t_, m, op, ...)                                         \
    LOOP(NAME, shmem_##t_##_atomic_##op(&e->m, ##__VA_ARGS__, w->peer), )      \
    LOOP(NAME##_q, shmem_##t_##_atomic_##op(&e->m, ##__VA_ARGS__, w->peer),    \
         shmem_quiet())

#define OPS_OF(T, t_, m)                                                    \
    FETCHING(t_##_fadd, t_, m, fetch_add, 1)                                \
    FETCHING(t_##_finc, t_, m, fetch_inc)                                   \
    PLAIN(t_##_add, t_, m, add, 7)                                          \
    PLAIN(t_##_inc, t_, m, inc)                                             \
    FETCHING(t_##_cswap, t_, m, compare_swap, (T)w->peer, 9)                   \
    FETCHING(t_##_swap, t_, m, swap, 9)                                     \
    PLAIN(t_##_set, t_, m, set, 1)                                          \
    FETCHING(t_##_fetch, t_, m, fetch)
OPS_OF(int, int, i)
OPS_OF(long long, longlong, ll)

static const struct row {
    const char *name;
    const struct osu_work *op;
    size_t width;                       /* of the type */
} rows[] = {
#define ROW(t, w, op) { "shmem_" #t "_" #op, &t##_##op, w },
#define ROWS(t, w)                                                          \
    ROW(t, w, fadd) ROW(t, w, finc) ROW(t, w, add) ROW(t, w, add_q)         \
    ROW(t, w, inc) ROW(t, w, inc_q) ROW(t, w, cswap) ROW(t, w, swap)        \
    ROW(t, w, set) ROW(t, w, set_q) ROW(t, w, fetch)
    ROWS(int, sizeof(int))
    ROWS(longlong, sizeof(long long))
};

/* Those of the checks, by width. */
static const struct set {
    const struct osu_work *fadd, *finc, *add, *inc, *cswap, *swap, *set, *fetch;
} sets[] = {
#define SET(t) { &t##_fadd, &t##_finc, &t##_add, &t##_inc, &t##_cswap,      \
                 &t##_swap, &t##_set, &t##_fetch }
    SET(int), SET(longlong)
};

static union osu_elem *words(const struct osu *o)
{
    return (union osu_elem *)(void *)o->dst;
}

/* Microseconds of n operations, by host or kernel, at the place at hand. */
static double run(struct osu *o, const struct osu_work *op, union osu_elem *e,
                  int stride, int pe, int n)
{
    struct osu_job *job = &o->kernel->job;

    job->words = e;
    job->stride = stride;
    job->peer = pe;
    job->found = found;
    return osu_kernel_run(o, op, 0, n);
}

/* What one operation finds at PE pe's first word, when it is complete. */
static long long one(struct osu *o, const struct osu_work *op, int pe)
{
    run(o, op, words(o), 0, pe, 1);
    return found[0];
}

/* All PEs have made theirs, those of kernels too. */
static void synchronize(struct osu *o)
{
    if (o->places[o->place].exec == OSU_BY_THREAD)
        osu_kernel_quiet(o);
    shmem_barrier_all();
}

/* The first word of each PE is 0 and nothing is marked. */
static void clear(struct osu *o)
{
    static const union osu_elem zero;

    synchronize(o);
    osu_store(o->dst, &zero, sizeof zero);
    memset(marks, 0, sizeof marks);
    shmem_barrier_all();
}

/* Every PE fetches and adds 1 on one word of PE 0: together they must see each
 * value below the sum once. */
static int check_fetching(struct osu *o, const struct set *c, int rounds)
{
    int wrong = 0, all = 2 * rounds * o->npes;

    clear(o);
    for (int k = 0; k < 2; k++) {
        run(o, k ? c->finc : c->fadd, words(o), 0, 0, rounds);
        for (int i = 0; i < rounds; i++) {
            if (found[i] < 0 || found[i] >= all)
                wrong++;
            else
                shmem_int_atomic_inc(&marks[found[i]], 0);
        }
    }
    synchronize(o);
    for (int i = 0; o->pe == 0 && i < all; i++)
        wrong += marks[i] != 1;
    if (o->pe == 0)
        wrong += one(o, c->fetch, 0) != all;
    return wrong;
}

/* What fetches nothing, and swaps: sums. */
static int check_sums(struct osu *o, const struct set *c, int rounds)
{
    long long was, sum = 8ll * rounds * o->npes;
    int wrong = 0;
    double all;

    clear(o);
    run(o, c->add, words(o), 0, 0, rounds);
    run(o, c->inc, words(o), 0, 0, rounds);
    synchronize(o);
    if (o->pe == 0)
        wrong += one(o, c->fetch, 0) != sum;
    synchronize(o);
    was = one(o, c->swap, 0);           /* one has the sum, else 9 */
    all = osu_sum(o, (double)was);
    wrong += o->pe == 0 && all != (double)sum + 9.0 * (o->npes - 1);
    synchronize(o);
    run(o, c->set, words(o), 0, o->pe, 1);      /* 1 */
    synchronize(o);
    wrong += one(o, c->cswap, o->pe) != 1;      /* for this PE's number */
    wrong += one(o, c->fetch, o->pe) != (o->pe == 1 ? 9 : 1);
    synchronize(o);
    return wrong;
}

/* Failed checks of the place at hand, by the type's width. */
static int check(struct osu *o, size_t width)
{
    const struct set *c = &sets[width != sizeof(int)];
    int most = OSU_ATOMIC_MAX / (2 * o->npes);
    int rounds = o->iters < most ? o->iters : most;

    return check_fetching(o, c, rounds) + check_sums(o, c, rounds);
}

/* Compare-and-swap finds what it expects, for the words of a PE hold its
 * number. */
static void touch(struct osu *o, const struct row *r)
{
    size_t bytes = sizeof(union osu_elem) * (size_t)o->iters;
    union osu_elem *all = osu_host_buffer(o, bytes);

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

static double row_us(struct osu *o, const struct row *r)
{
    return run(o, r->op, words(o), 1, o->peer, o->iters) / o->iters;
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
        touch(o, r);
        if (!same && o->pe < o->pairs)  /* the first is not to pay for all */
            row_us(o, r);
        synchronize(o);
        touch(o, r);
        osu_measured_atomic(o, o->pe < o->pairs ? row_us(o, r) : 0, wrong[k]);
        synchronize(o);
    }
    osu_row_atomic(o, r->name);
}

int main(int argc, char **argv)
{
    struct osu o;

    if (osu_open(&o, &prog, argc, argv))
        return osu_close(&o);
    found = osu_words(&o, OSU_ATOMIC_MAX * sizeof *found, OSU_HOST);
    if (!found) {
        o.status = osu_complain(&o, "has no room for results in the heap");
        return osu_close(&o);
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        measure(&o, &rows[r]);
    return osu_close(&o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rate and time of int and long long atomics, one per element,
 * from the first half of the PEs to the second.  OSU waits for no completion
 * after operations that fetch nothing; the extra rows ending in _q have a
 * quiet after each of those.  With -s or -d there are rows ending in _nbi:
 * what they fetch goes where -s says, with one quiet in the end. */
#include "osu.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

/* OSU's elements hold any type, so ints are 8 bytes apart too. */
union elem {
    int i;
    long long ll;
};

static union elem elems[OSU_ATOMIC_MAX];
static int marks[OSU_ATOMIC_MAX];       /* how often a value was fetched */

static const struct osu_prog prog = {
    .name = "osu_oshm_atomics",
    .title = "OSU OpenSHMEM Atomic Operation Rate Test",
    .kind = OSU_ATOMIC,
    .src = (char *)elems,
    .dst = (char *)elems,
    .bytes = sizeof elems,
};

static union elem *elems_at(char *buffer)
{
    return (union elem *)(void *)buffer;
}

/* name as OSU prints it, type, member, the call on element pointer e */
#define OPS_OF(X, T, t, m)                                                    \
    X(shmem_##t##_fadd, T, sink = shmem_##t##_atomic_fetch_add(&e->m, 1, pe)) \
    X(shmem_##t##_finc, T, sink = shmem_##t##_atomic_fetch_inc(&e->m, pe))    \
    X(shmem_##t##_add, T, shmem_##t##_atomic_add(&e->m, 7, pe))               \
    X(shmem_##t##_add_q, T, shmem_##t##_atomic_add(&e->m, 7, pe);             \
      shmem_quiet())                                                          \
    X(shmem_##t##_inc, T, shmem_##t##_atomic_inc(&e->m, pe))                  \
    X(shmem_##t##_inc_q, T, shmem_##t##_atomic_inc(&e->m, pe); shmem_quiet()) \
    X(shmem_##t##_cswap, T,                                                   \
      sink = shmem_##t##_atomic_compare_swap(&e->m, (T)pe, 9, pe))            \
    X(shmem_##t##_swap, T, sink = shmem_##t##_atomic_swap(&e->m, 9, pe))      \
    X(shmem_##t##_set, T, shmem_##t##_atomic_set(&e->m, 1, pe))               \
    X(shmem_##t##_set_q, T, shmem_##t##_atomic_set(&e->m, 1, pe);             \
      shmem_quiet())                                                          \
    X(shmem_##t##_fetch, T, sink = shmem_##t##_atomic_fetch(&e->m, pe))

#define OPS(X) OPS_OF(X, int, int, i) OPS_OF(X, long long, longlong, ll)

/* The same into element pointer f of this PE; OpenSHMEM 1.5. */
#define NBI_OF(X, T, t, m)                                                    \
    X(shmem_##t##_fadd_nbi, T,                                                \
      shmem_##t##_atomic_fetch_add_nbi(&f->m, &e->m, 1, pe))                  \
    X(shmem_##t##_finc_nbi, T,                                                \
      shmem_##t##_atomic_fetch_inc_nbi(&f->m, &e->m, pe))                     \
    X(shmem_##t##_cswap_nbi, T,                                               \
      shmem_##t##_atomic_compare_swap_nbi(&f->m, &e->m, (T)pe, 9, pe))        \
    X(shmem_##t##_swap_nbi, T,                                                \
      shmem_##t##_atomic_swap_nbi(&f->m, &e->m, 9, pe))                       \
    X(shmem_##t##_fetch_nbi, T,                                               \
      shmem_##t##_atomic_fetch_nbi(&f->m, &e->m, pe))

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAVE_NBI 1
#define NBI(X) NBI_OF(X, int, int, i) NBI_OF(X, long long, longlong, ll)
#else
#define HAVE_NBI 0
#define NBI(X)
#endif

/* Microseconds per operation. */
#define LOOP(name, T, ...)                                                    \
    static double name##_us(struct osu *o)                                    \
    {                                                                         \
        union elem *const all = elems_at(o->dst);                             \
        const int pe = o->peer, iters = o->iters;                             \
        double start = osu_now();                                             \
        T sink = 0;                                                           \
                                                                              \
        for (int n = 0; n < iters; n++) {                                     \
            union elem *const e = all + n;                                    \
            __VA_ARGS__;                                                      \
        }                                                                     \
        (void)sink;                                                           \
        return (osu_now() - start) / iters;                                   \
    }
OPS(LOOP)

#define NBI_LOOP(name, T, ...)                                                \
    static double name##_us(struct osu *o)                                    \
    {                                                                         \
        union elem *const all = elems_at(o->dst);                             \
        union elem *const results = elems_at(o->src);                         \
        const int pe = o->peer, iters = o->iters;                             \
        double start = osu_now();                                             \
                                                                              \
        for (int n = 0; n < iters; n++) {                                     \
            union elem *const e = all + n, *const f = results + n;            \
            __VA_ARGS__;                                                      \
        }                                                                     \
        shmem_quiet();                                                        \
        return (osu_now() - start) / iters;                                   \
    }
NBI(NBI_LOOP)

static const struct row {
    const char *name;
    double (*us)(struct osu *o);
    size_t width;                       /* of the type */
    bool nbi;
} rows[] = {
#define ROW(name, T, ...) { #name, name##_us, sizeof(T), false },
    OPS(ROW)
#define NBI_ROW(name, T, ...) { #name, name##_us, sizeof(T), true },
    NBI(NBI_ROW)
};

/* What the checks act on is the first element of PE 0, or of each PE. */
static union elem *target_clear(struct osu *o)
{
    static const union elem zero;
    union elem *target = elems_at(o->dst);

    shmem_barrier_all();
    osu_store(target, &zero, sizeof zero);
    memset(marks, 0, sizeof marks);
    shmem_barrier_all();
    return target;
}

/* One value that this PE fetched of those below all. */
static int mark(long long seen, int all)
{
    if (seen < 0 || seen >= all)
        return 1;
    shmem_int_atomic_inc(&marks[seen], 0);
    return 0;
}

/* At PE 0, when all PEs have marked: each value is there once. */
static int wrong_marks(struct osu *o, int all)
{
    int wrong = 0;

    shmem_barrier_all();
    for (int i = 0; o->pe == 0 && i < all; i++)
        wrong += marks[i] != 1;
    return wrong;
}

/* Every PE fetches and adds 1 on one element of PE 0: together they must see
 * each value below the sum once. */
#define CHECK_FETCH(t, m)                                                     \
    static int check_fetch_##t(struct osu *o, int rounds)                     \
    {                                                                         \
        union elem *target = target_clear(o);                                 \
        int wrong = 0, all = rounds * o->npes;                                \
                                                                              \
        for (int i = 0; i < rounds; i++)                                      \
            wrong += mark(i % 2 ?                                             \
                shmem_##t##_atomic_fetch_inc(&target->m, 0) :                 \
                shmem_##t##_atomic_fetch_add(&target->m, 1, 0), all);         \
        wrong += wrong_marks(o, all);                                         \
        if (o->pe == 0)                                                       \
            wrong += shmem_##t##_atomic_fetch(&target->m, 0) != all;          \
        return wrong;                                                         \
    }

/* The same into elements of each PE, beside the target where source and
 * destination are one buffer. */
#define CHECK_NBI(t, m)                                                       \
    static int check_nbi_##t(struct osu *o, int rounds)                       \
    {                                                                         \
        union elem *target = target_clear(o), *got = elems_at(o->src) + 1;    \
        union elem seen;                                                      \
        int wrong = 0, all = rounds * o->npes;                                \
                                                                              \
        for (int i = 0; i < rounds; i++) {                                    \
            if (i % 2)                                                        \
                shmem_##t##_atomic_fetch_inc_nbi(&got[i].m, &target->m, 0);   \
            else                                                              \
                shmem_##t##_atomic_fetch_add_nbi(&got[i].m, &target->m, 1,    \
                                                 0);                          \
        }                                                                     \
        shmem_quiet();                                                        \
        for (int i = 0; i < rounds; i++) {                                    \
            osu_load(&seen, &got[i], sizeof seen);                            \
            wrong += mark(seen.m, all);                                       \
        }                                                                     \
        return wrong + wrong_marks(o, all);                                   \
    }

/* The ones that fetch nothing, compare-and-swap and swap: sums. */
#define CHECK_SUM(t, m)                                                       \
    static int check_sum_##t(struct osu *o, int rounds)                       \
    {                                                                         \
        union elem *target = target_clear(o);                                 \
        int wrong = 0;                                                        \
        long long seen = 0;                                                   \
        double sum;                                                           \
                                                                              \
        for (int i = 0; i < rounds; i++) {                                    \
            shmem_##t##_atomic_add(&target->m, 7, 0);                         \
            shmem_##t##_atomic_inc(&target->m, 0);                            \
            shmem_quiet();                                                    \
            seen = shmem_##t##_atomic_fetch(&target->m, 0);                   \
            while (seen != shmem_##t##_atomic_compare_swap(&target->m,        \
                       seen, seen + 2, 0))                                    \
                seen = shmem_##t##_atomic_fetch(&target->m, 0);               \
        }                                                                     \
        shmem_barrier_all();                                                  \
        wrong += o->pe == 0 && shmem_##t##_atomic_fetch(&target->m, 0) !=     \
                               10 * rounds * o->npes;                         \
        shmem_barrier_all();                                                  \
        seen = shmem_##t##_atomic_swap(&target->m, o->pe + 1, 0);             \
        sum = osu_sum(o, (double)seen);                                       \
        if (o->pe == 0)                                                       \
            sum += (double)shmem_##t##_atomic_fetch(&target->m, 0);           \
        wrong += o->pe == 0 && sum != 10.0 * rounds * o->npes +               \
                                      o->npes * (o->npes + 1) / 2;            \
        shmem_##t##_atomic_set(&target->m, 40 + o->pe, o->pe);                \
        wrong += shmem_##t##_atomic_fetch(&target->m, o->pe) != 40 + o->pe;   \
        return wrong;                                                         \
    }
CHECK_FETCH(int, i)
CHECK_FETCH(longlong, ll)
CHECK_SUM(int, i)
CHECK_SUM(longlong, ll)
#if HAVE_NBI
CHECK_NBI(int, i)
CHECK_NBI(longlong, ll)
#endif

/* Failed checks of the place at hand, by the type's width. */
static int check(struct osu *o, bool nbi, size_t width)
{
    int most = OSU_ATOMIC_MAX / o->npes;
    int rounds = o->iters < most ? o->iters : most;
    bool is_int = width == sizeof(int);

    if (nbi) {
#if HAVE_NBI
        return is_int ? check_nbi_int(o, rounds)
                      : check_nbi_longlong(o, rounds);
#endif
    }
    if (is_int)
        return check_fetch_int(o, rounds) + check_sum_int(o, rounds);
    return check_fetch_longlong(o, rounds) + check_sum_longlong(o, rounds);
}

/* OSU touches the elements with a constant byte; cswap finds what it expects
 * because the elements of a PE hold its number. */
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

static void warm_up(struct osu *o)
{
    union elem *to = elems_at(o->dst), *from = elems_at(o->src);

    for (int i = 0; o->pe < o->pairs && i < o->skip; i++)
        shmem_putmem(to + i, from + i, sizeof(int), o->peer);
}

/* One operation at each place; the checks do not depend on the row, but on
 * type and kind, and are repeated where these change. */
static void measure(struct osu *o, const struct row *r)
{
    static int wrong[OSU_PLACES];
    bool same = r > rows && r[-1].width == r->width && r[-1].nbi == r->nbi;

    if (o->n_places > 1) {          /* the first is not to pay for binding */
        osu_place(o, 0);
        touch(o, r);
        if (o->pe < o->pairs)
            r->us(o);
        shmem_barrier_all();
    }
    for (int k = 0; k < o->n_places; k++) {
        osu_place(o, k);
        if (r == rows)
            warm_up(o);
        if (o->check && !same)
            wrong[k] = check(o, r->nbi, r->width);
        touch(o, r);
        osu_measured_atomic(o, o->pe < o->pairs ? r->us(o) : 0, wrong[k]);
    }
    osu_row_atomic(o, r->name);
}

int main(int argc, char **argv)
{
    struct osu o;

    if (osu_open(&o, &prog, argc, argv))
        return osu_close(&o);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!rows[r].nbi || o.src_opt || o.dst_opt)
            measure(&o, &rows[r]);
    }
    return osu_close(&o);
}

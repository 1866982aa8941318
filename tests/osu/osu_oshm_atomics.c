/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rate and time of int and long long atomics, one per element,
 * from the first half of the PEs to the second.  OSU waits for no completion
 * after operations that fetch nothing; the extra rows ending in _q have a
 * quiet after each of those. */
#include "osu.h"

#include <shmem.h>
#include <stdio.h>
#include <string.h>

/* OSU's elements hold any type, so ints are 8 bytes apart too. */
union elem {
    int i;
    long long ll;
};

static union elem elems[OSU_ATOMIC_MAX];
static int marks[OSU_ATOMIC_MAX];       /* how often a value was fetched */
static union elem target;               /* what the checks act on */

static const struct osu_prog prog = {
    .name = "osu_oshm_atomics",
    .title = "OSU OpenSHMEM Atomic Operation Rate Test",
    .kind = OSU_ATOMIC,
    .src = (char *)elems,
    .dst = (char *)elems,
    .bytes = sizeof elems,
};

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

/* Microseconds per operation. */
#define LOOP(name, T, ...)                                                    \
    static double name##_us(struct osu *o, union elem *all)                   \
    {                                                                         \
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

static const struct row {
    const char *name;
    double (*us)(struct osu *o, union elem *all);
    size_t width;                       /* of the type */
} rows[] = {
#define ROW(name, T, ...) { #name, name##_us, sizeof(T) },
    OPS(ROW)
};

/* Every PE fetches and adds 1 on one element of PE 0: together they must see
 * each value below the sum once. */
#define CHECK_FETCH(t, m)                                                     \
    static int check_fetch_##t(struct osu *o, int rounds)                     \
    {                                                                         \
        int wrong = 0, all = rounds * o->npes;                                \
                                                                              \
        memset(marks, 0, sizeof *marks * (size_t)all);                        \
        target.ll = 0;                                                        \
        shmem_barrier_all();                                                  \
        for (int i = 0; i < rounds; i++) {                                    \
            int seen = (int)(i % 2 ?                                          \
                shmem_##t##_atomic_fetch_inc(&target.m, 0) :                  \
                shmem_##t##_atomic_fetch_add(&target.m, 1, 0));               \
            if (seen < 0 || seen >= all)                                      \
                wrong++;                                                      \
            else                                                              \
                shmem_int_atomic_inc(&marks[seen], 0);                        \
        }                                                                     \
        shmem_barrier_all();                                                  \
        for (int i = 0; o->pe == 0 && i < all; i++)                           \
            wrong += marks[i] != 1;                                           \
        if (o->pe == 0)                                                       \
            wrong += shmem_##t##_atomic_fetch(&target.m, 0) != all;           \
        return wrong;                                                         \
    }

/* The ones that fetch nothing, compare-and-swap and swap: sums. */
#define CHECK_SUM(t, m)                                                       \
    static int check_sum_##t(struct osu *o, int rounds)                       \
    {                                                                         \
        int wrong = 0;                                                        \
        long long seen = 0;                                                   \
        double sum;                                                           \
                                                                              \
        target.ll = 0;                                                        \
        shmem_barrier_all();                                                  \
        for (int i = 0; i < rounds; i++) {                                    \
            shmem_##t##_atomic_add(&target.m, 7, 0);                          \
            shmem_##t##_atomic_inc(&target.m, 0);                             \
            shmem_quiet();                                                    \
            seen = shmem_##t##_atomic_fetch(&target.m, 0);                    \
            while (seen != shmem_##t##_atomic_compare_swap(&target.m,         \
                       seen, seen + 2, 0))                                    \
                seen = shmem_##t##_atomic_fetch(&target.m, 0);                \
        }                                                                     \
        shmem_barrier_all();                                                  \
        wrong += o->pe == 0 && shmem_##t##_atomic_fetch(&target.m, 0) !=      \
                               10 * rounds * o->npes;                         \
        shmem_barrier_all();                                                  \
        seen = shmem_##t##_atomic_swap(&target.m, o->pe + 1, 0);              \
        sum = osu_sum(o, (double)seen);                                       \
        wrong += o->pe == 0 && sum + (double)target.m !=                      \
                 10.0 * rounds * o->npes + o->npes * (o->npes + 1) / 2;       \
        shmem_##t##_atomic_set(&target.m, 40 + o->pe, o->pe);                 \
        wrong += shmem_##t##_atomic_fetch(&target.m, o->pe) != 40 + o->pe;    \
        return wrong;                                                         \
    }
CHECK_FETCH(int, i)
CHECK_FETCH(longlong, ll)
CHECK_SUM(int, i)
CHECK_SUM(longlong, ll)

/* OSU touches the elements with a constant byte; cswap finds what it expects
 * because the elements of a PE hold its number. */
static void touch(struct osu *o, union elem *all, const struct row *r)
{
    for (int n = 0; n < o->iters; n++) {
        all[n].ll = 0;
        if (r->width == sizeof(int))
            all[n].i = o->pe;
        else
            all[n].ll = o->pe;
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    struct osu o;
    union elem *all;
    int wrong[2] = { 0, 0 };

    if (osu_open(&o, &prog, argc, argv))
        return osu_close(&o);
    all = (union elem *)(void *)o.dst;
    for (int i = 0; o.pe < o.pairs && i < o.skip; i++)
        shmem_putmem(all + i, all + i, sizeof(int), o.peer);
    if (o.check) {
        int most = OSU_ATOMIC_MAX / o.npes;
        int rounds = o.iters < most ? o.iters : most;

        wrong[0] = check_fetch_int(&o, rounds) + check_sum_int(&o, rounds);
        wrong[1] = check_fetch_longlong(&o, rounds) +
                   check_sum_longlong(&o, rounds);
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        touch(&o, all, &rows[r]);
        osu_row_atomic(&o, rows[r].name,
                       o.pe < o.pairs ? rows[r].us(&o, all) : 0,
                       wrong[rows[r].width == sizeof(long long)]);
    }
    return osu_close(&o);
}

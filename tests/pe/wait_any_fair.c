/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: where many elements hold all the time, calls of wait_until_any
 * and test_any name each of them again and again, with a bounded number of
 * calls between, however large the set, whatever else is asked in turn and
 * whichever PE updates meanwhile; wait_until_some and test_some name all.
 * PEs: 1 2 3 */
#include "../t.h"

#include <sched.h>
#include <shmem.h>

/* Calls per element that may pass until an element comes again: for one set,
 * and for each of up to FEW sets that take turns. */
enum { MOST = 1000, LAPS = 12, ALONE = 3, FEW = 8, IN_TURN = 8, GIFTS = 100 };

static uint64_t words[MOST];    /* 1 and more hold */
static uint64_t ones[MOST];     /* for the vector forms */
static uint32_t halves[MOST];
static int status[MOST];
static size_t indices[MOST];
static int me, n_pes, next;

static const size_t sizes[] = {
    1, 2, 3, 4, 5, 7, 8, 13, 16, 21, 34, 55, 64, 89, 100, 233, 256, 377, MOST
};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Who was named when, of one set. */
struct record {
    size_t n, calls, gap;       /* gap: the longest between two of an element */
    size_t last[MOST];
};

static struct record *begin(size_t n)
{
    struct record *r = calloc(1, sizeof *r);

    if (!r)
        abort();
    r->n = n;
    return r;
}

static void named(struct record *r, size_t i)
{
    size_t gap;

    r->calls++;
    if (!T_LT(i, r->n))
        return;
    gap = r->calls - r->last[i];
    r->gap = gap > r->gap ? gap : r->gap;
    r->last[i] = r->calls;
}

/* Those that hold came at least once in each `most` calls. */
static void end(struct record *r, const uint64_t *holds, size_t most)
{
    for (size_t i = 0; i < r->n; i++) {
        if (holds && (!holds[i] || status[i])) {
            T_EQ(r->last[i], 0);
            continue;
        }
        T_LE(r->calls - r->last[i], most);
    }
    T_LE(r->gap, most);
    free(r);
}

/* ---- One set ---- */

static size_t call(int form, size_t n, const int *st)
{
    switch (form) {
    case 0:
        return shmem_uint64_wait_until_any(words, n, st, SHMEM_CMP_NE, 0);
    case 1:
        return shmem_uint64_test_any(words, n, st, SHMEM_CMP_GT, 0);
    case 2:
        return shmem_uint64_wait_until_any_vector(words, n, st, SHMEM_CMP_GE,
                                                  ones);
    default:
        return shmem_uint64_test_any_vector(words, n, st, SHMEM_CMP_GE, ones);
    }
}

T(of_all_that_hold_each_is_named)
{
    struct record *r;

    for (int k = 0; k < SIZES; k++)
        for (int form = 0; form < 4; form++) {
            r = begin(sizes[k]);
            for (size_t i = 0; i < LAPS * sizes[k]; i++)
                named(r, call(form, sizes[k], NULL));
            end(r, NULL, ALONE * sizes[k]);
        }
}

/* Three of four do not hold, and some of the others are left out. */
T(of_some_that_hold_each_is_named)
{
    struct record *r;

    for (size_t i = 0; i < MOST; i++) {
        words[i] = T_RAND() % 4 == 0;
        status[i] = T_RAND() % 3 == 0;
    }
    words[0] = 1;               /* so that each set has one */
    status[0] = 0;
    for (int k = 0; k < SIZES; k++)
        for (int form = 0; form < 4; form++) {
            r = begin(sizes[k]);
            for (size_t i = 0; i < LAPS * sizes[k]; i++)
                named(r, call(form, sizes[k], status));
            end(r, words, ALONE * sizes[k]);
        }
    for (size_t i = 0; i < MOST; i++) {
        words[i] = 1;
        status[i] = 0;
    }
}

/* ---- Several sets ---- */

/* Parts of one array are asked by turns: none waits on the others' luck. */
T(sets_that_take_turns_are_each_served)
{
    struct record *r[FEW];

    for (size_t few = 2; few <= FEW; few++)
        for (size_t n = 2; n <= MOST / FEW; n = n * 3 / 2) {
            for (size_t s = 0; s < few; s++)
                r[s] = begin(n);
            for (size_t i = 0; i < LAPS * n; i++)
                for (size_t s = 0; s < few; s++)
                    named(r[s], s % 2
                          ? shmem_uint64_test_any(words + s * n, n, NULL,
                                                  SHMEM_CMP_EQ, 1)
                          : shmem_uint32_wait_until_any(
                                halves + s * n, n, NULL, SHMEM_CMP_EQ, 0));
            for (size_t s = 0; s < few; s++)
                end(r[s], NULL, IN_TURN * n);
        }
}

/* ---- Updates meanwhile ---- */

/* Each PE gives to every element of the next one, which takes a gift at a
 * time from whichever is named: no element starves while others have some,
 * and all gifts are found. */
T(gifts_are_found_while_more_come)
{
    enum { N = 50 };
    static uint64_t gifts[N];
    struct record *r = begin(N);
    size_t given = 0, taken = 0;

    for (size_t i = 0; i < N; i++)
        gifts[i] = GIFTS;
    shmem_barrier_all();
    while (taken < 2 * N * GIFTS) {
        size_t i;

        if (given < N * GIFTS)
            shmem_uint64_atomic_inc(&gifts[given++ * 7 % N], next);
        i = shmem_uint64_wait_until_any(gifts, N, NULL, SHMEM_CMP_GT, 0);
        if (!T_LT(i, N))
            break;
        if (taken < N * GIFTS / 2)      /* so long none can have run out */
            named(r, i);
        T_LT(0, shmem_uint64_atomic_fetch_add(&gifts[i], -1ull, me));
        taken++;
    }
    T_EQ(r->calls, N * GIFTS / 2);
    end(r, NULL, ALONE * N);
    shmem_barrier_all();
    T_EQ(shmem_uint64_test_any(gifts, N, NULL, SHMEM_CMP_NE, 0), SIZE_MAX);
}

/* ---- Some ---- */

static void check_all_named(size_t found, size_t n)
{
    static bool seen[MOST];

    memset(seen, 0, sizeof seen);
    T_EQ(found, n);
    for (size_t k = 0; k < found && k < n; k++) {
        if (!T_LT(indices[k], n))
            return;
        T_TRUE(!seen[indices[k]]);
        seen[indices[k]] = true;
    }
}

T(some_names_all)
{
    for (int k = 0; k < SIZES; k++) {
        size_t n = sizes[k];

        check_all_named(shmem_uint64_wait_until_some(
            words, n, indices, NULL, SHMEM_CMP_GE, 1), n);
        check_all_named(shmem_uint64_test_some(
            words, n, indices, NULL, SHMEM_CMP_GE, 1), n);
        check_all_named(shmem_uint64_wait_until_some_vector(
            words, n, indices, NULL, SHMEM_CMP_EQ, ones), n);
        check_all_named(shmem_uint64_test_some_vector(
            words, n, indices, NULL, SHMEM_CMP_EQ, ones), n);
    }
}

/* Each PE says how many elements it has set, and no answer names fewer. */
T(some_misses_none_that_held_before)
{
    static uint64_t marks[MOST], set;
    uint64_t before;
    size_t found;

    for (uint64_t r = 1; r <= 20; r++) {
        shmem_barrier_all();
        for (size_t i = MOST; i-- > 0; ) {
            shmem_uint64_atomic_set(&marks[i], r, next);
            if (i % 50)
                continue;
            shmem_fence();
            shmem_uint64_atomic_set(&set, MOST - i, next);
            before = shmem_uint64_atomic_fetch(&set, me);
            T_LE(before, shmem_uint64_test_some(marks, MOST, indices, NULL,
                                                SHMEM_CMP_EQ, r));
        }
        while ((found = shmem_uint64_wait_until_some(
                    marks, MOST, indices, NULL, SHMEM_CMP_EQ, r)) < MOST)
            sched_yield();
        check_all_named(found, MOST);
        shmem_uint64_wait_until(&set, SHMEM_CMP_EQ, MOST);
        shmem_barrier_all();
        set = 0;
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    T_PE(me);
    for (size_t i = 0; i < MOST; i++)
        words[i] = ones[i] = 1;
    T_RUN(of_all_that_hold_each_is_named);
    T_RUN(of_some_that_hold_each_is_named);
    T_RUN(sets_that_take_turns_are_each_served);
    T_RUN(gifts_are_found_while_more_come);
    T_RUN(some_names_all);
    T_RUN(some_misses_none_that_held_before);
    shmem_finalize();
    return T_DONE();
}

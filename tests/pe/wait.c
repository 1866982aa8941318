/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each wait ends and each test succeeds exactly when its set of
 * variables satisfies the comparison, for every type and in every symmetric
 * memory; an update wakes a sleeping waiter, and a long wait costs little
 * processor time.
 * Light: waiters sleep
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 4/2:SHMEM_OFI_AMO=message */
#include "budget.h"
#include "off_node.h"
#include "../memory.h"

#include <sys/resource.h>

enum { MOST = 9, SETS = 300, DELAY_MS = 30, WAKES = 6, LONG_MS = 300 };

static uint64_t *vars[SYMMETRIC];
static shmem_ctx_t ctx;

static const int cmps[] = { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                            SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };

/* Few values, so that all comparisons often hold: around 0 and the extremes
 * of signed and unsigned types of that size. */
static uint64_t small_or_extreme(size_t size)
{
    uint64_t msb = (uint64_t)1 << (size * 8 - 1);

    return (T_RAND() % 3 ? 0 : msb) + T_RAND() % 3 - 1;
}

/* ---- All forms against a model, on one PE ---- */

/* What a set is and what calls must say of it. */
static struct {
    size_t n;
    int cmp;
    int status_of[MOST];
    const int *status;          /* NULL, or status_of */
    bool holds[MOST], in[MOST];
    size_t n_in, n_hold;
    size_t indices[MOST];
} set;

static void draw_set(void)
{
    int kind = (int)(T_RAND() % 4);

    set.n = T_RAND() % (MOST + 1);
    set.cmp = cmps[T_RAND() % 6];
    set.status = kind ? set.status_of : NULL;
    for (size_t i = 0; i < MOST; i++) {
        set.status_of[i] = kind == 1 ? -1 : kind == 2 ? 0
                           : (int)(T_RAND() % 3);
        set.in[i] = i < set.n && (!kind || !set.status_of[i]);
        set.indices[i] = SIZE_MAX - 1;
    }
}

static void count_set(void)
{
    set.n_in = set.n_hold = 0;
    for (size_t i = 0; i < set.n; i++) {
        set.n_in += set.in[i];
        set.n_hold += set.in[i] && set.holds[i];
    }
}

static void check_any(size_t i)
{
    if (!set.n_hold)
        T_EQ(i, SIZE_MAX);
    else
        T_TRUE(i < set.n && set.in[i] && set.holds[i]);
}

/* found is how many, set.indices which: each hit once, and no other. */
static void check_some(size_t found)
{
    bool seen[MOST] = { false };

    T_EQ(found, set.n_hold);
    for (size_t k = 0; k < found && k < MOST; k++) {
        size_t i = set.indices[k];

        if (!T_TRUE(i < set.n && set.in[i] && set.holds[i] && !seen[i]))
            return;
        seen[i] = true;
    }
}

/* The waits are made only where they end at once. */
#define CHECK_FORMS(NAME, SUFFIX, value)                                    \
    do {                                                                    \
        count_set();                                                        \
        T_EQ(shmem_##NAME##_test_all##SUFFIX(v, set.n, set.status, set.cmp, \
                                             value),                        \
             set.n_hold == set.n_in);                                       \
        check_any(shmem_##NAME##_test_any##SUFFIX(v, set.n, set.status,     \
                                                  set.cmp, value));         \
        check_some(shmem_##NAME##_test_some##SUFFIX(                        \
            v, set.n, set.indices, set.status, set.cmp, value));            \
        if (set.n_hold == set.n_in)                                         \
            shmem_##NAME##_wait_until_all##SUFFIX(v, set.n, set.status,     \
                                                  set.cmp, value);          \
        if (set.n_in && !set.n_hold)                                        \
            break;                                                          \
        check_any(shmem_##NAME##_wait_until_any##SUFFIX(                    \
            v, set.n, set.status, set.cmp, value));                         \
        check_some(shmem_##NAME##_wait_until_some##SUFFIX(                  \
            v, set.n, set.indices, set.status, set.cmp, value));            \
    } while (0)

#define COMPARE(T, a, cmp, b)                                               \
    ((cmp) == SHMEM_CMP_EQ ? (a) == (b) : (cmp) == SHMEM_CMP_NE ? (a) != (b) \
     : (cmp) == SHMEM_CMP_GT ? (a) > (b) : (cmp) == SHMEM_CMP_GE            \
     ? (a) >= (b) : (cmp) == SHMEM_CMP_LT ? (a) < (b) : (a) <= (b))

#define FORMS(NAME, T)                                                      \
    static void forms_##NAME(void *at)                                      \
    {                                                                       \
        T *v = at, is[MOST], values[MOST];                                  \
                                                                            \
        draw_set();                                                         \
        for (size_t i = 0; i < MOST; i++) {                                 \
            is[i] = (T)small_or_extreme(sizeof(T));                         \
            values[i] = (T)small_or_extreme(sizeof(T));                     \
            set.holds[i] = COMPARE(T, is[i], set.cmp, values[i]);           \
        }                                                                   \
        mem_store(v, is, sizeof is);                                        \
        CHECK_FORMS(NAME, _vector, values);                                 \
        for (size_t i = 0; i < MOST; i++)                                   \
            set.holds[i] = COMPARE(T, is[i], set.cmp, values[0]);           \
        CHECK_FORMS(NAME, , values[0]);                                     \
        one_##NAME(v, is[0], values[0]);                                    \
    }
#define ONE(NAME, T)                                                        \
    static void one_##NAME(T *v, T is, T value)                             \
    {                                                                       \
        for (int c = 0; c < 6; c++) {                                       \
            bool now = COMPARE(T, is, cmps[c], value);                      \
                                                                            \
            T_EQ(shmem_##NAME##_test(v, cmps[c], value), now);              \
            if (now)                                                        \
                shmem_##NAME##_wait_until(v, cmps[c], value);               \
        }                                                                   \
    }
SHMEMI_AMO_TYPES(ONE)
SHMEMI_AMO_TYPES(FORMS)
SHMEMI_WAIT_OLD_TYPES(ONE)
#define RUN_FORMS(NAME, T)                                                  \
    for (int i = 0; i < sets; i++)                                          \
        forms_##NAME(vars[i % SYMMETRIC]);
#define RUN_ONE(NAME, T)                                                    \
    for (int i = 0; i < sets; i++) {                                        \
        T *v = (T *)(void *)vars[i % SYMMETRIC], is[2];                     \
                                                                            \
        is[0] = (T)small_or_extreme(sizeof(T));                             \
        is[1] = (T)~is[0];      /* beside it, not compared */               \
        mem_store(v, is, sizeof is);                                        \
        one_##NAME(v, is[0], (T)small_or_extreme(sizeof(T)));               \
    }

T(each_form_says_what_holds)
{
    const int sets = on_device ? 3 : SETS;

    SHMEMI_AMO_TYPES(RUN_FORMS)
    SHMEMI_WAIT_OLD_TYPES(RUN_ONE)
}

/* A caller that asks again and again gets every element that holds. */
T(any_overlooks_no_element)
{
    static uint64_t a[MOST], b[2], c[MOST];
    unsigned seen_a = 0, seen_b = 0, seen_c = 0;

    for (int i = 0; i < 20 * MOST; i++) {
        seen_a |= 1u << shmem_uint64_wait_until_any(a, MOST, NULL,
                                                    SHMEM_CMP_EQ, 0);
        seen_b |= 1u << shmem_uint64_test_any(b, 2, NULL, SHMEM_CMP_EQ, 0);
    }
    for (int i = 0; i < 20 * MOST; i++)
        seen_c |= 1u << shmem_uint64_test_any(c, MOST, NULL, SHMEM_CMP_EQ, 0);
    T_EQ(seen_a, (1u << MOST) - 1);
    T_EQ(seen_b, 3);
    T_EQ(seen_c, (1u << MOST) - 1);
}

T(an_element_that_never_holds_holds_up_no_other)
{
    static uint64_t v[MOST] = { 0, 0, 0, 1 };
    size_t indices[MOST];

    T_EQ(shmem_uint64_wait_until_any(v, MOST, NULL, SHMEM_CMP_NE, 0), 3);
    T_EQ(shmem_uint64_wait_until_some(v, MOST, indices, NULL, SHMEM_CMP_NE, 0),
         1);
    T_EQ(indices[0], 3);
    T_EQ(shmem_uint64_test_all(v, MOST, NULL, SHMEM_CMP_NE, 0), 0);
}

/* ---- Updates from another PE while the waiter waits ---- */

enum { ALL_VECTOR, ANY_VECTOR, SOME, ONE_BY_ONE, ANY, SOME_VECTOR, ALL, KINDS };

/* Each type, each kind of wait: PE 0's neighbour fills all elements, each
 * with the last of several updates, so that a wait that ends early shows. */
#define REMOTE(NAME, T)                                                     \
    static T value_##NAME(const T *v)                                       \
    {                                                                       \
        T is;                                                               \
                                                                            \
        mem_load(&is, v, sizeof is);                                        \
        return is;                                                          \
    }                                                                       \
    static size_t any_##NAME(T *v, const T *values, const int *status,      \
                             int kind)                                      \
    {                                                                       \
        return kind == ANY                                                  \
               ? shmem_##NAME##_wait_until_any(v, MOST, status,             \
                                               SHMEM_CMP_GT, 1)             \
               : shmem_##NAME##_wait_until_any_vector(                      \
                     v, MOST, status, SHMEM_CMP_GE, (T *)values);           \
    }                                                                       \
    static size_t some_##NAME(T *v, const T *values, const int *status,     \
                              size_t *indices, int kind)                    \
    {                                                                       \
        return kind == SOME                                                 \
               ? shmem_##NAME##_wait_until_some(v, MOST, indices, status,   \
                                                SHMEM_CMP_GT, 1)            \
               : shmem_##NAME##_wait_until_some_vector(                     \
                     v, MOST, indices, status, SHMEM_CMP_GE, (T *)values);  \
    }                                                                       \
    static void remote_##NAME(void *at)                                     \
    {                                                                       \
        T *v = at, values[MOST];                                            \
        size_t indices[MOST], found = 0;                                    \
        int status[MOST] = { 0 };                                           \
                                                                            \
        for (size_t i = 0; i < MOST; i++)                                   \
            values[i] = (T)(i + 3);                                         \
        for (int kind = 0; kind < KINDS; kind++) {                          \
            mem_fill(v, 0, MOST * sizeof(T));                               \
            memset(status, 0, sizeof status);                               \
            shmem_barrier_all();                                            \
            T_EQ(shmem_##NAME##_test_any(v, MOST, NULL, SHMEM_CMP_LT, 0),   \
                 SIZE_MAX);                                                 \
            for (size_t k = 0; k < 2 * MOST; k++) {                         \
                size_t i = (k * 4 + (unsigned)kind) % MOST;                 \
                T value = k < MOST ? 1 : values[i];                         \
                                                                            \
                if (k == MOST)                                              \
                    shmem_fence();                                          \
                if ((k + (unsigned)kind) % 2)                               \
                    shmem_##NAME##_p(&v[i], value, next);                   \
                else                                                        \
                    shmem_##NAME##_atomic_set(&v[i], value, next);          \
            }                                                               \
            if (kind == ALL_VECTOR)                                         \
                shmem_##NAME##_wait_until_all_vector(v, MOST, NULL,         \
                                                     SHMEM_CMP_EQ, values); \
            if (kind == ALL)                                                \
                shmem_##NAME##_wait_until_all(v, MOST, NULL, SHMEM_CMP_GT,  \
                                              1);                           \
            for (found = 0; (kind == ANY || kind == ANY_VECTOR) &&          \
                 found < MOST; found++) {                                   \
                size_t i = any_##NAME(v, values, status, kind);             \
                                                                            \
                T_EQ(value_##NAME(&v[i]), values[i]);                       \
                T_EQ(status[i]++, 0);                                       \
            }                                                               \
            for (found = 0; (kind == SOME || kind == SOME_VECTOR) &&        \
                 found < MOST; ) {                                          \
                size_t n = some_##NAME(v, values, status, indices, kind);   \
                                                                            \
                T_LT(0, n);                                                 \
                for (size_t k = 0; k < n; k++) {                            \
                    T_EQ(value_##NAME(&v[indices[k]]), values[indices[k]]); \
                    T_EQ(status[indices[k]]++, 0);                          \
                }                                                           \
                found += n;                                                 \
            }                                                               \
            for (size_t i = 0; kind == ONE_BY_ONE && i < MOST; i++)         \
                shmem_##NAME##_wait_until(&v[i], SHMEM_CMP_EQ, values[i]);  \
            for (size_t i = 0; i < MOST; i++)                               \
                T_EQ(value_##NAME(&v[i]), values[i]);                       \
            shmem_barrier_all();                                            \
            shmem_##NAME##_atomic_inc(v, next);                             \
            shmem_##NAME##_wait_until(v, SHMEM_CMP_GT, values[0]);          \
            shmem_barrier_all();                                            \
        }                                                                   \
    }
SHMEMI_AMO_TYPES(REMOTE)
#define RUN_REMOTE(NAME, T)                                                 \
    for (int i = 0; i < n; i++)                                             \
        remote_##NAME(vars[(i + on_device) % SYMMETRIC]);

T(waits_see_what_another_pe_updates)
{
    const int n = on_device ? 1 : rounds(10, 2);

    SHMEMI_AMO_TYPES(RUN_REMOTE)
}

/* ---- Sleeping ---- */

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

enum how { PUT, P, BULK, ATOMIC, FETCHING, SIGNAL, PUT_SIGNAL, STORE, HOWS };

/* The bulk of a put of many words, of which the last is waited for. */
enum { BULK_WORDS = 1000 };
static uint64_t *wake_words, *wake_word;
static double stored_at;        /* PE 0's, read by the others */

static void update(enum how how, int pe)
{
    static uint64_t bulk[BULK_WORDS];
    const uint64_t one = 1;
    double t = now();

    shmem_double_p(&stored_at, t, pe);
    shmem_fence();
    bulk[BULK_WORDS - 1] = 1;
    switch (how) {
    case PUT: shmem_uint64_put(wake_word, &one, 1, pe); break;
    case P: shmem_uint64_p(wake_word, 1, pe); break;
    case BULK: shmem_put64_nbi(wake_words, bulk, BULK_WORDS, pe); break;
    case ATOMIC: shmem_uint64_atomic_set(wake_word, 1, pe); break;
    case FETCHING: shmem_ctx_uint64_atomic_fetch_inc(ctx, wake_word, pe); break;
    case SIGNAL: shmem_signal_add(wake_word, 1, pe); break;
    case PUT_SIGNAL:
        shmem_putmem_signal(wake_words, bulk, 100, wake_word, 1,
                            SHMEM_SIGNAL_SET, pe);
        break;
    default:
        __atomic_store_n((uint64_t *)shmem_ptr(wake_word, pe), 1,
                         __ATOMIC_RELEASE);
    }
}

/* Seconds from the update to the end of the wait. */
static double wait_once(enum how how, int round)
{
    size_t i = SIZE_MAX;

    mem_store_word(wake_word, 0, sizeof *wake_word);
    shmem_barrier_all();
    if (me == 0) {
        sleep_ms(on_device ? DELAY_MS / 2 : DELAY_MS);
        for (int pe = 1; pe < n_pes; pe++)
            update(how, pe);
        return 0;
    }
    if (how == SIGNAL || how == PUT_SIGNAL)
        shmem_signal_wait_until(wake_word, SHMEM_CMP_EQ, 1);
    else if (round % 3 == 0)
        shmem_uint64_wait_until(wake_word, SHMEM_CMP_EQ, 1);
    else if (round % 3 == 1)
        shmem_uint64_wait_until_all(wake_word, 1, NULL, SHMEM_CMP_NE, 0);
    else
        i = shmem_uint64_wait_until_any(wake_words, BULK_WORDS, NULL,
                                        SHMEM_CMP_GT, 0);
    T_TRUE(i == SIZE_MAX || i == BULK_WORDS - 1);
    return now() - stored_at;
}

/* How many of WAKES waits end within 0.3 ms. */
static int quick_waits(enum how how)
{
    int quick = 0;
    double took;

    for (int r = 0; r < WAKES; r++) {
        took = wait_once(how, r);
        quick += took < (some_are_off_node() ? 1500e-6 : 300e-6);
        T_LT(took, 20);
    }
    return quick;
}

/* A sleep lasts an eighth of the wait so far, here up to 4 ms, if no update
 * ends it: three of six waits are over within 0.3 ms where an update does, and
 * one time in a hundred where none does.  A busy machine has five tries.
 * Between nodes the way there counts too. */
T(an_update_wakes_the_sleeper)
{
    static int slow, any;

    for (enum how how = PUT; how < STORE; how++) {
        any = 1;
        for (int i = 0; i < 5 && any; i++) {
            slow = quick_waits(how) < WAKES / 2;    /* PE 0 waits for none */
            shmem_int_max_reduce(SHMEM_TEAM_WORLD, &any, &slow, 1);
        }
        if (!T_EQ(slow, 0))
            fprintf(stderr, "PE %d: update %d wakes no sleeper\n", me, (int)how);
    }
    if (!some_are_off_node())        /* a pointer to each PE's word */
        T_LT(wait_once(STORE, 0), 20);
    shmem_barrier_all();
}

/* On a device, where a wait takes as long as the device. */
T(each_update_ends_a_wait_that_sleeps)
{
    for (enum how how = PUT; how < STORE; how++)
        T_LT(wait_once(how, (int)how), 20);
    shmem_barrier_all();
}

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* T_AWAKE_MS: so long a wait stays awake here, as on a provider that reports
 * nothing. */
T(a_long_wait_costs_little)
{
    const char *awake = getenv("T_AWAKE_MS");
    double wall, used;

    mem_store_word(wake_word, 0, sizeof *wake_word);
    shmem_barrier_all();
    wall = now();
    used = cpu();
    if (me == 0) {
        sleep_ms(LONG_MS + (awake ? 6 * atoi(awake) : 0));
        for (int pe = 1; pe < n_pes; pe++)
            shmem_uint64_p(wake_word, 1, pe);
    } else {
        shmem_uint64_wait_until(wake_word, SHMEM_CMP_EQ, 1);
    }
    T_LT(cpu() - used, 0.3 * (now() - wall));
    shmem_barrier_all();
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    for (int w = 0; w < SYMMETRIC; w++)
        vars[w] = mem_alloc((enum memory)w, MOST * sizeof *vars[w]);
    wake_words = mem_alloc(OTHER, BULK_WORDS * sizeof *wake_words);
    mem_fill(wake_words, 0, BULK_WORDS * sizeof *wake_words);
    wake_word = &wake_words[BULK_WORDS - 1];
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(each_form_says_what_holds);
    T_RUN(any_overlooks_no_element);
    T_RUN(an_element_that_never_holds_holds_up_no_other);
    T_RUN(waits_see_what_another_pe_updates);
    if (n_pes > 1 && on_device) {
        T_RUN(each_update_ends_a_wait_that_sleeps);
    } else if (n_pes > 1) {     /* one PE alone has none to wake it */
        T_RUN(an_update_wakes_the_sleeper);
        T_RUN(a_long_wait_costs_little);
    }
    shmem_ctx_destroy(ctx);
    mem_free(OTHER, wake_words);
    for (int w = 0; w < SYMMETRIC; w++)
        mem_free((enum memory)w, vars[w]);
    return memory_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each function of shmemg.h that kernels call does what its name
 * says: of every type and scope, on the default context and on one that the
 * program has made, in host, device and static memory; lang/shmemg_names finds
 * all names in here.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"
#include <shmemg.h>

/* 33 items are two warps, whose first items both make each call of a warp. */
enum { ITEMS = 33, WARPS = 2, SCOPES = 3, BYTES = 41, FORMS = 2 };
static shmem_ctx_t ctx;         /* of the program */
static int wrong;               /* atomic: items add */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* X(argument of the form, its name, its number): without a context and with. */
#define ARG_
#define ARG_ctx_ ctx,

/* ---- puts, gets, puts with a signal ---- */

enum { PUT, PUT_NBI, PUT_SIGNAL, PUT_SIGNAL_NBI, GET, GET_NBI, MOVES };
struct area {
    char source[BYTES];
    char moved[FORMS][SCOPES][MOVES][BYTES + 1];
    uint64_t signal[FORMS][SCOPES][2];
    /* A long double has 16 bytes. */
    _Alignas(16) long long ones[2][2 * FORMS];
    _Alignas(16) long long from[2 * FORMS];
    _Alignas(16) long long got[2 * FORMS];
    uint64_t ordered[FORMS][SCOPES][2];
} __attribute__((aligned(16)));
static struct area in_data, *area;

#define MOVE(CTX, form, SUFFIX, at)                                         \
    do {                                                                    \
        char(*to_)[BYTES + 1] = area->moved[form][at];                      \
        uint64_t *s_ = area->signal[form][at];                              \
                                                                            \
        shmemg_##CTX##putmem##SUFFIX(ARG_##CTX to_[PUT], area->source,      \
                                     BYTES, next);                          \
        shmemg_##CTX##putmem_nbi##SUFFIX(ARG_##CTX to_[PUT_NBI],            \
                                         area->source, BYTES, next);        \
        shmemg_##CTX##putmem_signal##SUFFIX(                                \
            ARG_##CTX to_[PUT_SIGNAL], area->source, BYTES, &s_[0], 3,      \
            SHMEM_SIGNAL_ADD, next);                                        \
        shmemg_##CTX##putmem_signal_nbi##SUFFIX(                            \
            ARG_##CTX to_[PUT_SIGNAL_NBI], area->source, BYTES, &s_[1], 7,  \
            SHMEM_SIGNAL_SET, next);                                        \
        shmemg_##CTX##getmem##SUFFIX(ARG_##CTX to_[GET], area->source,      \
                                     BYTES, next);                          \
        shmemg_##CTX##getmem_nbi##SUFFIX(ARG_##CTX to_[GET_NBI],            \
                                         area->source, BYTES, next);        \
        shmemg_##CTX##quiet##SUFFIX(ARG1_##CTX);                            \
    } while (0)
#define ARG1_
#define ARG1_ctx_ ctx
#define MOVE_BOTH(SUFFIX, at)                                               \
    do {                                                                    \
        MOVE(, 0, SUFFIX, at);                                              \
        MOVE(ctx_, 1, SUFFIX, at);                                          \
    } while (0)

static void move(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    if (it->phase == 0 && it->item == 0)
        MOVE_BOTH(, 0);
    else if (it->phase == 1)
        MOVE_BOTH(_htg, 1);
    else if (it->phase == 2)
        MOVE_BOTH(_tg, 2);
}

static char byte_of(int pe, size_t i)
{
    return (char)(7 * (size_t)pe + 3 * i + 1);
}

static bool is_of(const char *p, int pe)
{
    size_t i = 0;

    while (i < BYTES && p[i] == byte_of(pe, i))
        i++;
    return i == BYTES && p[BYTES] == 0;
}

static void try_moves(void)
{
    memset(area, 0, sizeof *area);
    for (size_t i = 0; i < BYTES; i++)
        area->source[i] = byte_of(me, i);
    shmem_barrier_all();
    kernel_run(move, NULL, 1, ITEMS, SCOPES);
    shmem_barrier_all();
    for (int at = 0; at < FORMS * SCOPES; at++) {
        int form = at / SCOPES, scope = at % SCOPES;

        for (int i = 0; i < MOVES; i++)
            T_TRUE(is_of(area->moved[form][scope][i], i < GET ? prev : next));
        T_EQ(area->signal[form][scope][0], 3 * (scope == 1 ? WARPS : 1));
        T_EQ(area->signal[form][scope][1], 7);
    }
    shmem_barrier_all();
}

#define ONE(NAME, T)                                                        \
    static void one_##NAME(const shmemx_item_t *it, void *unused)           \
    {                                                                       \
        T *to = (T *)area->ones[0], *to_ctx = (T *)area->ones[1];           \
        T *from = (T *)area->from, *got = (T *)area->got;                   \
                                                                            \
        (void)it;                                                           \
        (void)unused;                                                       \
        shmemg_##NAME##_p(to, (T)(10 + me), next);                          \
        shmemg_ctx_##NAME##_p(ctx, to_ctx, (T)(20 + me), next);             \
        got[0] = shmemg_##NAME##_g(from, next);                             \
        got[1] = shmemg_ctx_##NAME##_g(ctx, from + 1, next);                \
        shmemg_quiet();                                                     \
        shmemg_ctx_quiet(ctx);                                              \
    }                                                                       \
    static void try_one_##NAME(void)                                        \
    {                                                                       \
        T *from = (T *)area->from, *got = (T *)area->got;                   \
        T *to = (T *)area->ones[0], *to_ctx = (T *)area->ones[1];           \
                                                                            \
        memset(area->ones, 0, sizeof area->ones);                           \
        from[0] = (T)(30 + me);                                             \
        from[1] = (T)(40 + me);                                             \
        shmem_barrier_all();                                                \
        kernel_run(one_##NAME, NULL, 1, 1, 1);                              \
        shmem_barrier_all();                                                \
        T_TRUE(to[0] == (T)(10 + prev));                                    \
        T_TRUE(to_ctx[0] == (T)(20 + prev));                                \
        T_TRUE(got[0] == (T)(30 + next));                                   \
        T_TRUE(got[1] == (T)(40 + next));                                   \
        T_TRUE(to[1] == (T)0 && to_ctx[1] == (T)0);                         \
        shmem_barrier_all();                                                \
    }
SHMEMI_DEV_RMA_TYPES(ONE)
#define TRY_ONE(NAME, T) try_one_##NAME();

static void try_memory(struct area *in)
{
    area = in;
    try_moves();
    SHMEMI_DEV_RMA_TYPES(TRY_ONE)
}

T(moves_bytes_and_values)
{
    for (int device = 0; device < 2; device++) {
        try_memory(kernel_room(device, sizeof *area));
        shmem_free(area);
    }
    try_memory(&in_data);
}

/* ---- atomics ---- */

/* The word is 53, 110101 in binary; the operand is 14, 001110. */
enum { START = 53, BY = 14 };
enum {
    ADD, AND, OR, XOR, INC, FADD, FAND, FOR, FXOR, FINC, CSWAP, KEPT, FADD_N,
    FAND_N, FOR_N, FXOR_N, FINC_N, CSWAP_N, SET, FETCH, FETCH_N, SWAP, SWAP_N,
    OPS, EXTENDED = SET
};
static const int results[OPS] = {
    [ADD] = START + BY, [AND] = START & BY, [OR] = START | BY,
    [XOR] = START ^ BY, [INC] = START + 1, [FADD] = START + BY,
    [FAND] = START & BY, [FOR] = START | BY, [FXOR] = START ^ BY,
    [FINC] = START + 1, [CSWAP] = BY, [KEPT] = START, [FADD_N] = START + BY,
    [FAND_N] = START & BY, [FOR_N] = START | BY, [FXOR_N] = START ^ BY,
    [FINC_N] = START + 1, [CSWAP_N] = BY, [SET] = BY, [FETCH] = START,
    [FETCH_N] = START, [SWAP] = BY, [SWAP_N] = BY
};
static bool returns(int op)
{
    return op > INC && op != SET;
}
/* Symmetric, of 8 bytes each: the words, what non-blocking calls fetch, and what
 * the others return. */
static char *words, *fetched, *was;
enum { ROOM = 8 * OPS };

#define AT(T, list, op) ((T *)(void *)(list + 8 * (op)))
#define FETCHING(CTX, NAME, T, call, op)                                    \
    *AT(T, was, op) = shmemg_##CTX##NAME##_atomic_##call(                   \
        ARG_##CTX AT(T, words, op), BY, next);                              \
    shmemg_##CTX##NAME##_atomic_##call##_nbi(                               \
        ARG_##CTX AT(T, fetched, op##_N), AT(T, words, op##_N), BY, next)
#define STANDARD(CTX, NAME, T)                                              \
    static void standard_##CTX##NAME(void)                                  \
    {                                                                       \
        shmemg_##CTX##NAME##_atomic_add(ARG_##CTX AT(T, words, ADD), BY,    \
                                        next);                              \
        shmemg_##CTX##NAME##_atomic_and(ARG_##CTX AT(T, words, AND), BY,    \
                                        next);                              \
        shmemg_##CTX##NAME##_atomic_or(ARG_##CTX AT(T, words, OR), BY,      \
                                       next);                               \
        shmemg_##CTX##NAME##_atomic_xor(ARG_##CTX AT(T, words, XOR), BY,    \
                                        next);                              \
        shmemg_##CTX##NAME##_atomic_inc(ARG_##CTX AT(T, words, INC), next); \
        FETCHING(CTX, NAME, T, fetch_add, FADD);                            \
        FETCHING(CTX, NAME, T, fetch_and, FAND);                            \
        FETCHING(CTX, NAME, T, fetch_or, FOR);                              \
        FETCHING(CTX, NAME, T, fetch_xor, FXOR);                            \
        *AT(T, was, FINC) = shmemg_##CTX##NAME##_atomic_fetch_inc(          \
            ARG_##CTX AT(T, words, FINC), next);                            \
        shmemg_##CTX##NAME##_atomic_fetch_inc_nbi(                          \
            ARG_##CTX AT(T, fetched, FINC_N), AT(T, words, FINC_N), next);  \
        *AT(T, was, CSWAP) = shmemg_##CTX##NAME##_atomic_compare_swap(      \
            ARG_##CTX AT(T, words, CSWAP), START, BY, next);                \
        *AT(T, was, KEPT) = shmemg_##CTX##NAME##_atomic_compare_swap(       \
            ARG_##CTX AT(T, words, KEPT), 5, BY, next);                     \
        shmemg_##CTX##NAME##_atomic_compare_swap_nbi(                       \
            ARG_##CTX AT(T, fetched, CSWAP_N), AT(T, words, CSWAP_N),       \
            START, BY, next);                                               \
    }
#define STANDARD_BOTH(NAME, T) STANDARD(, NAME, T) STANDARD(ctx_, NAME, T)
SHMEMI_DEV_AMO_TYPES(STANDARD_BOTH)
/* They have no more. */
static void standard_float(void) {}
static void standard_double(void) {}
static void standard_ctx_float(void) {}
static void standard_ctx_double(void) {}

#define ATOMICS(CTX, NAME, T)                                               \
    static void atomics_##CTX##NAME(const shmemx_item_t *it, void *unused)  \
    {                                                                       \
        (void)it;                                                           \
        (void)unused;                                                       \
        standard_##CTX##NAME();                                             \
        shmemg_##CTX##NAME##_atomic_set(ARG_##CTX AT(T, words, SET), BY,    \
                                        next);                              \
        *AT(T, was, FETCH) = shmemg_##CTX##NAME##_atomic_fetch(             \
            ARG_##CTX AT(T, words, FETCH), next);                           \
        shmemg_##CTX##NAME##_atomic_fetch_nbi(                              \
            ARG_##CTX AT(T, fetched, FETCH_N), AT(T, words, FETCH_N),       \
            next);                                                          \
        FETCHING(CTX, NAME, T, swap, SWAP);                                 \
        shmemg_##CTX##quiet(ARG1_##CTX);                                    \
        for (int op = 0; op < OPS; op++)                                    \
            if (*AT(T, fetched, op) != (T)0)                                \
                *AT(T, was, op) = *AT(T, fetched, op);                      \
    }                                                                       \
    static void try_##CTX##NAME(int first)                                  \
    {                                                                       \
        memset(was, 0, ROOM);                                               \
        memset(fetched, 0, ROOM);                                           \
        memset(words, -1, ROOM);                                            \
        for (int op = 0; op < OPS; op++)                                    \
            *AT(T, words, op) = START;                                      \
        shmem_barrier_all();                                                \
        kernel_run(atomics_##CTX##NAME, NULL, 1, 1, 1);                     \
        shmem_barrier_all();                                                \
        for (int op = first; op < OPS; op++) {                              \
            T_EQ((long)*AT(T, words, op), results[op]);                     \
            T_EQ((long)*AT(T, was, op), returns(op) ? START : 0);           \
            if (sizeof(T) == 4)                                             \
                T_EQ(words[8 * op + 4], (char)-1);                          \
        }                                                                   \
        shmem_barrier_all();                                                \
    }
#define ATOMICS_BOTH(NAME, T) ATOMICS(, NAME, T) ATOMICS(ctx_, NAME, T)
SHMEMI_DEV_AMO_EXT_TYPES(ATOMICS_BOTH)
#define TRY_STANDARD(NAME, T) try_##NAME(0); try_ctx_##NAME(0);
#define TRY_FLOATS(NAME, T) try_##NAME(EXTENDED); try_ctx_##NAME(EXTENDED);

T(atomics_of_every_type)
{
    words = kernel_room(true, ROOM);
    fetched = kernel_room(false, ROOM);
    was = kernel_room(false, ROOM);
    SHMEMI_DEV_AMO_TYPES(TRY_STANDARD)
    SHMEMI_DEV_AMO_FLOATS(TRY_FLOATS)
    shmem_free(was);
    shmem_free(fetched);
    shmem_free(words);
}

/* ---- waits and tests ---- */

static uint64_t variable, signals[SCOPES];
static void *const any = &variable;

#define WAITS(NAME, T)                                                      \
    static void waits_##NAME(const shmemx_item_t *it, void *unused)         \
    {                                                                       \
        T *v = (T *)any;                                                    \
                                                                            \
        (void)unused;                                                       \
        switch (it->phase) {                                                \
        case 0:                                                             \
            shmemg_##NAME##_wait_until(v, SHMEM_CMP_GE, 5);                 \
            check(shmemg_##NAME##_test(v, SHMEM_CMP_LT, 6) == 1);           \
            check(shmemg_##NAME##_test(v, SHMEM_CMP_NE, 5) == 0);           \
            break;                                                          \
        case 1:                                                             \
            shmemg_##NAME##_wait_until_htg(v, SHMEM_CMP_EQ, 5);             \
            check(shmemg_##NAME##_test_htg(v, SHMEM_CMP_EQ, 5) == 1);       \
            check(shmemg_##NAME##_test_htg(v, SHMEM_CMP_GT, 5) == 0);       \
            break;                                                          \
        default:                                                            \
            shmemg_##NAME##_wait_until_tg(v, SHMEM_CMP_LE, 5);              \
            check(shmemg_##NAME##_test_tg(v, SHMEM_CMP_GE, 5) == 1);        \
            check(shmemg_##NAME##_test_tg(v, SHMEM_CMP_LT, 5) == 0);        \
        }                                                                   \
    }
SHMEMI_DEV_AMO_TYPES(WAITS)
WAITS(short, short)
WAITS(ushort, unsigned short)
#define TRY_WAITS(NAME, T)                                                  \
    variable = 0;                                                           \
    memcpy(any, &(T){ 5 }, sizeof(T));                                      \
    kernel_run(waits_##NAME, NULL, 1, ITEMS, SCOPES);                       \
    T_EQ(wrong, 0);

T(waits_and_tests_of_every_type)
{
    wrong = 0;
    SHMEMI_DEV_AMO_TYPES(TRY_WAITS)
    TRY_WAITS(short, short)
    TRY_WAITS(ushort, unsigned short)
}

/* Each PE raises the signals of the next one, and waits for its own. */
static void wait_for_signals(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    if (it->phase == 0 && it->item == 0) {
        for (int s = 0; s < SCOPES; s++)
            shmemg_putmem_signal(area, area, 0, &signals[s], 9,
                                 SHMEM_SIGNAL_SET, next);
        check(shmemg_signal_wait_until(&signals[0], SHMEM_CMP_NE, 0) == 9);
        check(shmemg_signal_fetch(&signals[0]) == 9);
    } else if (it->phase == 1) {
        check(shmemg_signal_wait_until_htg(&signals[1], SHMEM_CMP_EQ, 9) == 9);
    } else if (it->phase == 2) {
        check(shmemg_signal_wait_until_tg(&signals[2], SHMEM_CMP_GT, 8) == 9);
    }
}

T(waits_for_signals)
{
    wrong = 0;
    area = &in_data;
    shmem_barrier_all();
    kernel_run(wait_for_signals, NULL, 1, ITEMS, SCOPES);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

/* ---- who, order, synchronization ---- */

static void query(const shmemx_item_t *it, void *unused)
{
    void *there = shmemg_ptr(&variable, next), *mine = shmemg_ptr(&variable, me);

    (void)it;
    (void)unused;
    check(shmemg_my_pe() == me);
    check(shmemg_n_pes() == n_pes);
    check((there != NULL) == (shmem_ptr(&variable, next) != NULL));
    check(mine != NULL && *(uint64_t *)mine == variable);
    check(!there || *(uint64_t *)there == (uint64_t)(100 + next));
    check(shmemg_ptr(&variable, n_pes) == NULL);
}

T(kernels_know_who_they_are)
{
    wrong = 0;
    variable = (uint64_t)(100 + me);
    shmem_barrier_all();
    kernel_run(query, NULL, 1, 2, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

/* The flag comes behind the data, which a fence puts before it. */
#define ORDER(CTX, form, SUFFIX, at)                                        \
    do {                                                                    \
        shmemg_##CTX##uint64_p(ARG_##CTX &area->ordered[form][at][0],       \
                               50 + round, next);                           \
        shmemg_##CTX##fence##SUFFIX(ARG1_##CTX);                            \
        shmemg_##CTX##uint64_p(ARG_##CTX &area->ordered[form][at][1],       \
                               round, next);                                \
        shmemg_uint64_wait_until(&area->ordered[form][at][1],               \
                                 SHMEM_CMP_GE, round);                      \
        check(shmemg_uint64_atomic_fetch(&area->ordered[form][at][0], me)   \
              >= 50 + round);                                               \
        shmemg_##CTX##quiet##SUFFIX(ARG1_##CTX);                            \
    } while (0)

static void order(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    for (uint64_t round = 1; round < 40; round++) {
        ORDER(, 0, , 0);
        ORDER(, 0, _htg, 1);
        ORDER(, 0, _tg, 2);
        ORDER(ctx_, 1, , 0);
        ORDER(ctx_, 1, _htg, 1);
        ORDER(ctx_, 1, _tg, 2);
    }
    /* None of these has anything to do. */
    shmemg_ctx_fence(SHMEM_CTX_INVALID);
    shmemg_ctx_fence_htg(SHMEM_CTX_INVALID);
    shmemg_ctx_fence_tg(SHMEM_CTX_INVALID);
    shmemg_ctx_quiet(SHMEM_CTX_INVALID);
    shmemg_ctx_quiet_htg(SHMEM_CTX_INVALID);
    shmemg_ctx_quiet_tg(SHMEM_CTX_INVALID);
}

T(a_fence_orders_what_is_put)
{
    wrong = 0;
    area = &in_data;
    memset(area->ordered, 0, sizeof area->ordered);
    shmem_barrier_all();
    kernel_run(order, NULL, 1, 1, 1);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

static uint64_t rounds[4];      /* of PE i in place i % 4 */
static shmem_team_t split;

static bool all_are(uint64_t round)
{
    bool right = true;

    for (int pe = 0; pe < n_pes && pe < 4; pe++)
        right &= __atomic_load_n(&rounds[pe], __ATOMIC_ACQUIRE) == round;
    return right;
}

static void put_to_all(uint64_t round)
{
    for (int pe = 0; pe < n_pes; pe++)
        shmemg_uint64_p(&rounds[me], round, pe);
    shmemg_quiet();
}

/* All see after phase 1 what the first item has put in phase 0. */
enum { ALL, ALL_WARP, ALL_BLOCK, TEAM, TEAM_WARP, TEAM_BLOCK, CALLS };
static void synchronize(const shmemx_item_t *it, void *arg)
{
    int call = *(int *)arg;

    if (it->phase == 0 && it->item == 0)
        put_to_all((uint64_t)call + 1);
    if (it->phase == 2)
        check(all_are((uint64_t)call + 1));
    if (it->phase != 1)
        return;
    if (call == ALL && it->item == 0)
        check(shmemg_sync_all() == 0);
    else if (call == ALL_WARP)
        check(shmemg_sync_all_htg() == 0);
    else if (call == ALL_BLOCK)
        check(shmemg_sync_all_tg() == 0);
    else if (call == TEAM && it->item == 0)
        check(shmemg_team_sync(split) == 0);
    else if (call == TEAM_WARP)
        check(shmemg_team_sync_htg(split) == 0);
    else if (call == TEAM_BLOCK)
        check(shmemg_team_sync_tg(SHMEM_DEVICE_TEAM_WORLD) == 0);
}

T(kernels_synchronize)
{
    wrong = 0;
    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 0, 1, n_pes, NULL,
                                  0, &split), 0);
    for (int call = 0; call < CALLS; call++) {
        shmem_barrier_all();
        kernel_run(synchronize, &call, 1, 7, 3);
    }
    T_EQ(wrong, 0);
    shmem_team_destroy(split);
}

/* Numbers of PEs are those of the context's team. */
static void put_backwards(const shmemx_item_t *it, void *arg)
{
    (void)it;
    shmemg_ctx_uint64_p(*(shmem_ctx_t *)arg, &variable, 70, 0);
    shmemg_ctx_quiet(*(shmem_ctx_t *)arg);
}

T(a_context_counts_the_members_of_its_team)
{
    shmem_ctx_t of_last = SHMEM_CTX_INVALID;

    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, n_pes - 1, 1, 1,
                                  NULL, 0, &split), 0);
    variable = 0;
    shmem_barrier_all();
    if (split != SHMEM_TEAM_INVALID) {
        T_EQ(shmem_team_create_ctx(split, SHMEM_DEVICE_CTX, &of_last), 0);
        kernel_run(put_backwards, &of_last, 1, 1, 1);
        shmem_ctx_destroy(of_last);
        shmem_team_destroy(split);
    }
    shmem_barrier_all();
    T_EQ(variable, me == n_pes - 1 ? 70 : 0);
    shmem_barrier_all();
}

int main(void)
{
    int got = 0;

    T_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_KERNEL_INIT,
                           &got), 0);
    T_EQ(got, SHMEM_THREAD_SINGLE | SHMEM_DEVICE_KERNEL_INIT);
    kernel_begin();
    T_EQ(shmem_ctx_create(SHMEM_DEVICE_CTX, &ctx), 0);
    T_RUN(moves_bytes_and_values);
    T_RUN(atomics_of_every_type);
    T_RUN(waits_and_tests_of_every_type);
    T_RUN(waits_for_signals);
    T_RUN(kernels_know_who_they_are);
    T_RUN(a_fence_orders_what_is_put);
    T_RUN(kernels_synchronize);
    T_RUN(a_context_counts_the_members_of_its_team);
    shmem_ctx_destroy(ctx);
    shmem_finalize();           /* one for each initialization */
    return kernel_end();
}

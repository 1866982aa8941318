/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every atomic of every type on a word in device memory returns
 * the old value, leaves the right new one and touches nothing beside it, also
 * where the old value goes to device memory; under contention none is lost. */
#include "device.h"

struct cell { uint64_t below, at, above; };
#define BELOW 0x1111111111111111u
#define ABOVE 0x2222222222222222u

static struct cell *cell[SYMMETRIC];
static char *fetch[PLACES];
static shmem_ctx_t ctx;
static unsigned turn;

static enum place place_of_fetch(void)
{
    return (enum place)(turn++ % PLACES);
}

#define SAME(a, b) T_TRUE(memcmp(&(a), &(b), sizeof(a)) == 0)
#define PLAIN(NAME, OP, ...) shmem_##NAME##_atomic_##OP(__VA_ARGS__)
#define IN_CTX(NAME, OP, ...) shmem_ctx_##NAME##_atomic_##OP(ctx, __VA_ARGS__)
#define SETTLE() (shmem_quiet(), shmem_ctx_quiet(ctx))
/* What the word is now. */
#define LEFT(V, NAME, now)                                                  \
    do {                                                                    \
        SETTLE();                                                           \
        was = (now);                                                        \
        old = V(NAME, fetch, d, next);                                      \
        SAME(old, was);                                                     \
    } while (0)
/* What it was goes somewhere by the quiet. */
#define INTO(V, NAME, OP, ...)                                              \
    do {                                                                    \
        T *to_ = (T *)(void *)fetch[place_of_fetch()];                      \
                                                                            \
        V(NAME, OP, to_, __VA_ARGS__);                                      \
        SETTLE();                                                           \
        load(&old, to_, sizeof old);                                        \
        SAME(old, was);                                                     \
    } while (0)
#define BACK(V, NAME, OP, now, ...)                                         \
    do {                                                                    \
        old = V(NAME, OP, d, __VA_ARGS__);                                  \
        SAME(old, was);                                                     \
        LEFT(V, NAME, now);                                                 \
        INTO(V, NAME, OP##_nbi, d, __VA_ARGS__);                            \
    } while (0)

#define EXT(V, NAME)                                                        \
    do {                                                                    \
        V(NAME, set, d, a, next);                                           \
        LEFT(V, NAME, a);                                                   \
        BACK(V, NAME, swap, b, b, next);                                    \
        INTO(V, NAME, fetch_nbi, d, next);                                  \
    } while (0)
#define EXT_CASE(NAME, TYPE)                                                \
    static void ext_##NAME(void *at)                                        \
    {                                                                       \
        typedef TYPE T;                                                     \
        uint64_t bits[2] = { T_RAND(), T_RAND() };                          \
        T *d = at, a, b, old, was;                                          \
                                                                            \
        memcpy(&a, &bits[0], sizeof a);                                     \
        memcpy(&b, &bits[1], sizeof b);                                     \
        EXT(PLAIN, NAME);                                                   \
        EXT(IN_CTX, NAME);                                                  \
    }
SHMEMI_AMO_EXT_TYPES(EXT_CASE)

#define SUM(x, y) ((T)((uint64_t)(x) + (uint64_t)(y)))
#define STD(V, NAME)                                                        \
    do {                                                                    \
        V(NAME, set, d, a, next);                                           \
        LEFT(V, NAME, a);                                                   \
        V(NAME, inc, d, next);                                              \
        LEFT(V, NAME, SUM(was, 1));                                         \
        V(NAME, add, d, b, next);                                           \
        LEFT(V, NAME, SUM(was, b));                                         \
        old = V(NAME, fetch_inc, d, next);                                  \
        SAME(old, was);                                                     \
        LEFT(V, NAME, SUM(was, 1));                                         \
        INTO(V, NAME, fetch_inc_nbi, d, next);                              \
        LEFT(V, NAME, SUM(was, 1));                                         \
        BACK(V, NAME, fetch_add, SUM(was, b), b, next);                     \
        LEFT(V, NAME, SUM(was, b));                                         \
        old = V(NAME, compare_swap, d, SUM(was, 1), b, next);               \
        SAME(old, was);                                                     \
        LEFT(V, NAME, was);                                                 \
        old = V(NAME, compare_swap, d, was, b, next);                       \
        SAME(old, was);                                                     \
        LEFT(V, NAME, b);                                                   \
        INTO(V, NAME, compare_swap_nbi, d, b, a, next);                     \
        LEFT(V, NAME, a);                                                   \
    } while (0)
#define STD_CASE(NAME, TYPE)                                                \
    static void std_##NAME(void *at)                                        \
    {                                                                       \
        typedef TYPE T;                                                     \
        T *d = at, a = (T)T_RAND(), b = (T)T_RAND(), old, was;              \
                                                                            \
        STD(PLAIN, NAME);                                                   \
        STD(IN_CTX, NAME);                                                  \
    }
SHMEMI_AMO_TYPES(STD_CASE)

#define BIT_OP(V, NAME, OP, sign)                                           \
    do {                                                                    \
        V(NAME, set, d, a, next);                                           \
        LEFT(V, NAME, a);                                                   \
        V(NAME, OP, d, b, next);                                            \
        LEFT(V, NAME, (T)(was sign b));                                     \
        BACK(V, NAME, fetch_##OP, (T)(was sign b), b, next);                \
    } while (0)
#define BIT_CASE(NAME, TYPE)                                                \
    static void bit_##NAME(void *at)                                        \
    {                                                                       \
        typedef TYPE T;                                                     \
        T *d = at, a = (T)T_RAND(), b = (T)T_RAND(), old, was;              \
                                                                            \
        BIT_OP(PLAIN, NAME, and, &);                                        \
        BIT_OP(PLAIN, NAME, or, |);                                         \
        BIT_OP(PLAIN, NAME, xor, ^);                                        \
        BIT_OP(IN_CTX, NAME, and, &);                                       \
        BIT_OP(IN_CTX, NAME, or, |);                                        \
        BIT_OP(IN_CTX, NAME, xor, ^);                                       \
    }
SHMEMI_AMO_BIT_TYPES(BIT_CASE)

/* All PEs on their neighbours' cells at once. */
#define RUN_EXT(NAME, T) ext_##NAME(&cell[DEVICE]->at);
#define RUN_STD(NAME, T) std_##NAME(&cell[DEVICE]->at);
#define RUN_BIT(NAME, T) bit_##NAME(&cell[DEVICE]->at);
T(every_type)
{
    const struct cell empty = { BELOW, 0, ABOVE };

    store(cell[DEVICE], &empty, sizeof empty);
    shmem_barrier_all();
    SHMEMI_AMO_EXT_TYPES(RUN_EXT)
    SHMEMI_AMO_TYPES(RUN_STD)
    SHMEMI_AMO_BIT_TYPES(RUN_BIT)
    shmem_barrier_all();
    T_EQ(load_word(&cell[DEVICE]->below, 8), BELOW);
    T_EQ(load_word(&cell[DEVICE]->above, 8), ABOVE);
    shmem_barrier_all();
}

/* On host memory, the old value to device memory. */
T(fetched_to_device)
{
    uint64_t v = 40;

    store(&cell[HOST]->at, &v, sizeof v);
    shmem_barrier_all();
    for (int w = 0; w < PLACES; w++) {
        uint64_t *to = (uint64_t *)(void *)fetch[w];

        shmem_uint64_atomic_fetch_add_nbi(to, &cell[HOST]->at, 2, next);
        shmem_quiet();
        T_EQ(load_word(to, 8), v);
        shmem_uint64_atomic_fetch_nbi(to, &cell[HOST]->at, next);
        shmem_quiet();
        v += 2;
        T_EQ(load_word(to, 8), v);
    }
    shmem_barrier_all();
}

/* Words of both sizes on PE 0, all at them: no add is lost, and a lock by
 * compare and swap excludes. */
T(contended)
{
    enum { ADDS = 40, TURNS = 6 };
    uint64_t tickets = 0, seen;
    const struct cell none = { 0, 0, 0 };

    store(cell[DEVICE], &none, sizeof none);
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) {
        tickets += shmem_uint64_atomic_fetch_inc(&cell[DEVICE]->below, 0);
        shmem_uint32_atomic_add((uint32_t *)(void *)&cell[DEVICE]->at, 3, 0);
    }
    for (int i = 0; i < TURNS; i++) {
        while (shmem_uint64_atomic_compare_swap(&cell[DEVICE]->above, 0,
                                                (uint64_t)me + 1, 0))
            usleep(20);
        seen = shmem_uint64_g(&cell[HOST]->below, 0);
        shmem_uint64_p(&cell[HOST]->below, seen + 1, 0);
        shmem_quiet();
        shmem_uint64_atomic_set(&cell[DEVICE]->above, 0, 0);
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_uint64_atomic_add(&cell[HOST]->at, tickets, 0);
    shmem_barrier_all();
    if (me == 0) {
        uint64_t all = (uint64_t)(ADDS * n_pes);

        T_EQ(load_word(&cell[DEVICE]->below, 8), all);
        T_EQ(load_word(&cell[DEVICE]->at, 4), all * 3);
        T_EQ(load_word((char *)&cell[DEVICE]->at + 4, 4), 0);
        T_EQ(load_word(&cell[HOST]->at, 8), all * (all - 1) / 2);
        T_EQ(load_word(&cell[HOST]->below, 8), TURNS * n_pes);
    }
    shmem_barrier_all();
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    for (int w = 0; w < SYMMETRIC; w++) {
        cell[w] = room_make((enum place)w, sizeof *cell[w]);
        store_byte(cell[w], 0, sizeof *cell[w]);
    }
    for (int w = 0; w < PLACES; w++)
        fetch[w] = room_make((enum place)w, 64);
    T_RUN(every_type);
    T_RUN(fetched_to_device);
    store_byte(cell[HOST], 0, sizeof *cell[HOST]);
    shmem_barrier_all();
    T_RUN(contended);
    for (int w = 0; w < PLACES; w++)
        room_drop((enum place)w, fetch[w]);
    for (int w = 0; w < SYMMETRIC; w++)
        room_drop((enum place)w, cell[w]);
    shmem_ctx_destroy(ctx);
    return device_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that sees the signal of a put sees its data, for every
 * form, size and operator and between all memories; signals add up exactly, and
 * a wait for one returns a value that satisfies the comparison.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "budget.h"
#include "../memory.h"

#include <shmemx.h>

enum { DATA = 5000, ROUNDS = 100000, ROOM = 64 << 10, PRODUCTS = 10000 };
#define PING_PONG_S 1.0

static uint64_t *signals[SYMMETRIC];    /* two words */
static char *data[SYMMETRIC], *sources[MEMORIES];
static uint64_t *source;        /* sources[HOST] */
static shmem_ctx_t ctx;

/* ---- Every form, once around the ring ---- */

static uint64_t expected;       /* of the signal, which only grows */
static unsigned char want[DATA];

/* Waits for the PE before, compares what it sent, and makes room. */
static void receive(const void *dest, uint64_t *sig, size_t len)
{
    T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, expected), expected);
    T_EQ(shmem_signal_fetch(sig), expected);
    memset(want, 0xa5, DATA);
    pattern(want, before, (unsigned)expected, len);
    mem_expect(dest, want, DATA);
    shmem_barrier_all();
}

/* A random length, rarely more than a few elements, in memories in turn. */
static size_t prepare(void **dest, uint64_t **sig, void **from, size_t elem)
{
    size_t count = T_RAND() % ((T_RAND() % 4 ? 384 : DATA) / elem + 1);
    unsigned turn = (unsigned)++expected;

    *from = sources[turn % MEMORIES];
    *dest = data[turn / MEMORIES % SYMMETRIC];
    *sig = signals[turn / MEMORIES / SYMMETRIC % SYMMETRIC];
    mem_fill(*dest, 0xa5, DATA);
    pattern(want, me, turn, count * elem);
    mem_store(*from, want, count * elem);
    /* The other signal keeps pace, so that ADD 1 also gives the round. */
    for (int w = 0; w < SYMMETRIC; w++)
        mem_store_word(signals[w], expected - 1, sizeof *signals[w]);
    shmem_barrier_all();
    return count;
}

#define SEND(PUT, C, elem)                                                  \
    do {                                                                    \
        void *dest, *from;                                                  \
        uint64_t *sig;                                                      \
        size_t count;                                                       \
                                                                            \
        count = prepare(&dest, &sig, &from, elem);                          \
        PUT(C dest, (const void *)from, count, sig, expected,               \
            SHMEM_SIGNAL_SET, next);                                        \
        receive(dest, sig, count * (elem));                                 \
        count = prepare(&dest, &sig, &from, elem);                          \
        PUT(C dest, (const void *)from, count, sig, 1, SHMEM_SIGNAL_ADD,    \
            next);                                                          \
        receive(dest, sig, count * (elem));                                 \
    } while (0)
#define NOTHING
#define IN_CTX ctx,
/* On a device two of them for each type, in turn. */
#define FORMS(KIND, elem)                                                   \
    unsigned odd = on_device && expected / 4 % 2;                           \
                                                                            \
    if (!odd) {                                                             \
        SEND(shmem_##KIND##_signal, NOTHING, elem);                         \
        SEND(shmem_ctx_##KIND##_signal_nbi, IN_CTX, elem);                  \
    }                                                                       \
    if (odd || !on_device) {                                                \
        SEND(shmem_##KIND##_signal_nbi, NOTHING, elem);                     \
        SEND(shmem_ctx_##KIND##_signal, IN_CTX, elem);                      \
    }
#define TYPED(NAME, T)                                                      \
    static void send_##NAME(void) { FORMS(NAME##_put, sizeof(T)) }
#define SIZED(S, BYTES)                                                     \
    static void send_##S(void) { FORMS(put##S, BYTES) }
#define RUN(NAME, T) send_##NAME();
SHMEMI_RMA_TYPES(TYPED)
SHMEMI_SIZES(SIZED)
SIZED(mem, 1)

T(each_form_brings_its_data_before_its_signal)
{
    SHMEMI_RMA_TYPES(RUN)
    SHMEMI_SIZES(RUN)
    RUN(mem, 1)
}

#define ALONE(CALL, C, value, after)                                        \
    do {                                                                    \
        CALL(C sig, value, next);                                           \
        T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, after), after);     \
        T_EQ(mem_load_word(&sig[1], sizeof *sig), 0x1234);                  \
        shmem_barrier_all();                                                \
    } while (0)

T(signals_alone_set_and_add)
{
    uint64_t *sig = signals[OTHER];

    mem_store_word(&sig[0], 0, sizeof *sig);
    mem_store_word(&sig[1], 0x1234, sizeof *sig);
    shmem_barrier_all();
    ALONE(shmem_signal_set, NOTHING, UINT64_MAX, UINT64_MAX);
    ALONE(shmem_signal_add, NOTHING, 5, (uint64_t)4);
    ALONE(shmem_ctx_signal_add, IN_CTX, (uint64_t)-3, (uint64_t)1);
    ALONE(shmem_ctx_signal_set, IN_CTX, (uint64_t)1 << 63,
          (uint64_t)1 << 63);
    ALONE(shmemx_signal_add, NOTHING, 7, ((uint64_t)1 << 63) + 7);
    ALONE(shmemx_signal_set, NOTHING, 70, (uint64_t)70);
    ALONE(shmemx_ctx_signal_add, IN_CTX, 1, (uint64_t)71);
    ALONE(shmemx_ctx_signal_set, IN_CTX, 0, (uint64_t)0);
}

/* ---- Comparisons ---- */

static bool holds(uint64_t a, int cmp, uint64_t b)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return a == b;
    case SHMEM_CMP_NE: return a != b;
    case SHMEM_CMP_GT: return a > b;
    case SHMEM_CMP_GE: return a >= b;
    case SHMEM_CMP_LT: return a < b;
    case SHMEM_CMP_LE: return a <= b;
    }
    return false;
}

static const uint64_t edges[] = {
    0, 1, 2, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX
};
enum { EDGES = sizeof edges / sizeof *edges };

T(a_wait_ends_with_a_value_that_satisfies)
{
    static const int cmps[] = { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };

    uint64_t *sig = signals[OTHER];
    int first = on_device ? (int)(T_RAND() % EDGES) : 0;

    for (int c = 0; c < 6; c++)
        for (int i = first; i < (on_device ? first + 1 : EDGES); i++)
            for (int k = 0; k < EDGES; k++) {
                uint64_t a = edges[i], b = edges[k];

                if (!holds(b, cmps[c], a))
                    continue;
                /* From a value that often does not hold to one that does. */
                mem_store_word(sig, edges[(i + k + c) % EDGES], sizeof *sig);
                shmem_barrier_all();
                shmem_signal_set(sig, b, next);
                T_TRUE(holds(shmem_signal_wait_until(sig, cmps[c], a),
                             cmps[c], a));
                T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, b), b);
                shmem_barrier_all();
            }
}

/* ---- Rounds between pairs, of host memory ---- */

/* Words of the payload of a round, and what they all hold. */
static size_t words_of(uint64_t round, uint64_t seed)
{
    uint64_t z = (round + seed) * 0x9e3779b97f4a7c15u;

    return (z >> 20) % ((ROOM / 8 + 1) >> (z >> 58) % 14);
}

static void check_words(const uint64_t *got, size_t n, uint64_t round)
{
    uint64_t odd = 0;

    for (size_t i = 0; i < n; i++)
        odd |= got[i] ^ round;
    if (odd)
        for (size_t i = 0; i < n; i++)
            T_EQ(got[i], round);
}

static void send_round(uint64_t *to, uint64_t *sig, uint64_t r, int peer)
{
    size_t n = words_of(r, T_SEED());

    for (size_t i = 0; i < n; i++)
        source[i] = r;
    switch (r % 4) {
    case 0:
        shmem_putmem_signal(to, source, n * 8, sig, r, SHMEM_SIGNAL_SET,
                            peer);
        break;
    case 1:
        shmem_put64_signal_nbi(to, source, n, sig, 1, SHMEM_SIGNAL_ADD,
                               peer);
        shmem_quiet();          /* the source will be written again */
        break;
    case 2:
        shmem_ctx_uint64_put_signal(ctx, to, source, n, sig, r,
                                    SHMEM_SIGNAL_SET, peer);
        break;
    default:
        shmem_ctx_putmem_signal(ctx, to, source, n * 8, sig, 1,
                                SHMEM_SIGNAL_ADD, peer);
    }
}

/* The even PE begins; each writes into the other only after its answer. */
T(ping_pong_never_shows_an_old_payload)
{
    uint64_t *to = shmem_malloc(ROOM), *sig = signals[HOST];
    int peer = me ^ 1;

    *sig = 0;
    memset(to, 0, ROOM);
    shmem_barrier_all();
    for (uint64_t r = 1;
         peer < n_pes && r <= ROUNDS && in_time(r, PING_PONG_S); r++) {
        if (me % 2 == 0)
            send_round(to, sig, r, peer);
        T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_GE, r), r);
        check_words(to, words_of(r, T_SEED()), r);
        if (me % 2)
            send_round(to, sig, r, peer);
    }
    shmem_barrier_all();
    shmem_free(to);
}

/* Every PE sends products to PE 0, each into its own place; a signal of n
 * from one PE stands for n products, and all signals are one word. */
T(many_producers_add_to_one_signal)
{
    uint64_t *place = shmem_calloc((size_t)n_pes, 8), sum, seen, all;

    signals[HOST][0] = 0;
    shmem_barrier_all();
    all = (uint64_t)(n_pes * PRODUCTS);
    for (uint64_t i = 1; i <= PRODUCTS; i++)
        if (i % 2)
            shmem_uint64_put_signal(&place[me], &i, 1, signals[HOST], 1,
                                    SHMEM_SIGNAL_ADD, 0);
        else {
            shmem_uint64_p(&place[me], i, 0);
            shmem_fence();
            shmem_signal_add(signals[HOST], 1, 0);
        }
    for (seen = 0; me == 0 && seen < all; ) {
        seen = shmem_signal_wait_until(signals[HOST], SHMEM_CMP_GT, seen);
        sum = 0;
        for (int pe = 0; pe < n_pes; pe++)
            sum += shmem_uint64_atomic_fetch(&place[pe], 0);
        T_LE(seen, sum);
        T_LE(seen, all);
    }
    shmem_barrier_all();
    if (me == 0)
        T_EQ(shmem_signal_fetch(signals[HOST]), all);
    shmem_free(place);
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    for (int w = 0; w < SYMMETRIC; w++) {
        signals[w] = mem_alloc((enum memory)w, 2 * sizeof *signals[w]);
        data[w] = mem_alloc((enum memory)w, DATA);
    }
    for (int w = 0; w < MEMORIES; w++)
        sources[w] = mem_alloc((enum memory)w, ROOM);
    source = (uint64_t *)(void *)sources[HOST];
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(each_form_brings_its_data_before_its_signal);
    T_RUN(signals_alone_set_and_add);
    T_RUN(a_wait_ends_with_a_value_that_satisfies);
    if (!on_device) {
        T_RUN(ping_pong_never_shows_an_old_payload);
        T_RUN(many_producers_add_to_one_signal);
    }
    shmem_ctx_destroy(ctx);
    for (int w = 0; w < MEMORIES; w++)
        mem_free((enum memory)w, sources[w]);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, data[w]);
        mem_free((enum memory)w, signals[w]);
    }
    return memory_end();
}

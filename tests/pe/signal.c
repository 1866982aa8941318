/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: who sees the signal of a put sees its data, for every form,
 * size and operator; signals add up exactly, and a wait for one returns a
 * value that satisfies the comparison.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "budget.h"

#include <shmemx.h>

enum { N = 24, ROUNDS = 100000, ROOM = 64 << 10, PRODUCTS = 10000 };
#define PING_PONG_S 1.0

static uint64_t static_signal, static_data[N * 2];
static uint64_t *heap_signal, *heap_data, *source;
static shmem_ctx_t ctx;
static int me, n_pes, next, last;

/* ---- Every form, once around the ring ---- */

static uint64_t expected;       /* of the signal, which only grows */

static unsigned char byte_of(int pe, uint64_t round, size_t i)
{
    return (unsigned char)(i * 7 + round * 31 + (unsigned)pe * 101 + 1);
}

/* Waits for what the PE before sent, looks at it, and makes room. */
static void receive(const void *data, uint64_t *sig, size_t len)
{
    const unsigned char *d = data;

    T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, expected), expected);
    T_EQ(shmem_signal_fetch(sig), expected);
    for (size_t i = 0; i < len; i++)
        if (d[i] != byte_of(last, expected, i)) {
            T_EQ(d[i], byte_of(last, expected, i));
            break;
        }
    for (size_t i = len; i < sizeof static_data; i++)
        if (d[i] != 0xa5) {
            T_EQ(d[i], 0xa5);
            break;
        }
    shmem_barrier_all();
}

/* A random place and length; the source is for the next PE's eyes. */
static size_t prepare(void **dest, uint64_t **sig, size_t elem)
{
    size_t count = T_RAND() % (sizeof static_data / elem + 1);
    unsigned char *s = (unsigned char *)source;
    bool on_heap = T_RAND() % 2;

    expected++;
    *dest = on_heap ? (void *)heap_data : (void *)static_data;
    *sig = T_RAND() % 2 ? heap_signal : &static_signal;
    memset(*dest, 0xa5, sizeof static_data);
    for (size_t i = 0; i < count * elem; i++)
        s[i] = byte_of(me, expected, i);
    /* The other signal keeps pace, so that ADD 1 also gives the round. */
    *heap_signal = static_signal = expected - 1;
    shmem_barrier_all();
    return count;
}

#define SEND(PUT, C, elem, ...)                                             \
    do {                                                                    \
        void *dest;                                                         \
        uint64_t *sig;                                                      \
        size_t count;                                                       \
                                                                            \
        count = prepare(&dest, &sig, elem);                                 \
        PUT(C dest, (const void *)source, count, sig, expected,             \
            SHMEM_SIGNAL_SET, next);                                        \
        receive(dest, sig, count * (elem));                                 \
        count = prepare(&dest, &sig, elem);                                 \
        PUT(C dest, (const void *)source, count, sig, 1, SHMEM_SIGNAL_ADD,  \
            next);                                                          \
        receive(dest, sig, count * (elem));                                 \
    } while (0)
#define NOTHING
#define IN_CTX ctx,
#define FORMS(KIND, elem)                                                   \
    SEND(shmem_##KIND##_signal, NOTHING, elem);                             \
    SEND(shmem_##KIND##_signal_nbi, NOTHING, elem);                         \
    SEND(shmem_ctx_##KIND##_signal, IN_CTX, elem);                          \
    SEND(shmem_ctx_##KIND##_signal_nbi, IN_CTX, elem);
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
        CALL(C heap_signal, value, next);                                   \
        T_EQ(shmem_signal_wait_until(heap_signal, SHMEM_CMP_EQ, after),     \
             after);                                                        \
        T_EQ(heap_signal[1], 0x1234);                                       \
        shmem_barrier_all();                                                \
    } while (0)

T(signals_alone_set_and_add)
{
    heap_signal[0] = 0;
    heap_signal[1] = 0x1234;
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

    for (int c = 0; c < 6; c++)
        for (int i = 0; i < EDGES; i++)
            for (int k = 0; k < EDGES; k++) {
                uint64_t a = edges[i], b = edges[k];

                if (!holds(b, cmps[c], a))
                    continue;
                /* From a value that often does not hold to one that does. */
                heap_signal[0] = edges[(i + k + c) % EDGES];
                shmem_barrier_all();
                shmem_signal_set(heap_signal, b, next);
                T_TRUE(holds(shmem_signal_wait_until(heap_signal, cmps[c], a),
                             cmps[c], a));
                T_EQ(shmem_signal_wait_until(heap_signal, SHMEM_CMP_EQ, b), b);
                shmem_barrier_all();
            }
}

/* ---- Streams between pairs ---- */

/* Words of the payload of a round, and what they all hold. */
static size_t words_of(uint64_t round, uint64_t seed)
{
    uint64_t z = (round + seed) * 0x9e3779b97f4a7c15u;

    return (z >> 20) % ((ROOM / 8 + 1) >> (z >> 58) % 14);
}

static void check_area(const uint64_t *data, size_t n, uint64_t round)
{
    uint64_t odd = 0;

    for (size_t i = 0; i < n; i++)
        odd |= data[i] ^ round;
    if (odd)
        for (size_t i = 0; i < n; i++)
            T_EQ(data[i], round);
}

static void send_round(uint64_t *data, uint64_t *sig, uint64_t r, int peer)
{
    size_t n = words_of(r, T_SEED());

    for (size_t i = 0; i < n; i++)
        source[i] = r;
    switch (r % 4) {
    case 0:
        shmem_putmem_signal(data, source, n * 8, sig, r, SHMEM_SIGNAL_SET,
                            peer);
        break;
    case 1:
        shmem_put64_signal_nbi(data, source, n, sig, 1, SHMEM_SIGNAL_ADD,
                               peer);
        shmem_quiet();          /* the source will be written again */
        break;
    case 2:
        shmem_ctx_uint64_put_signal(ctx, data, source, n, sig, r,
                                    SHMEM_SIGNAL_SET, peer);
        break;
    default:
        shmem_ctx_putmem_signal(ctx, data, source, n * 8, sig, 1,
                                SHMEM_SIGNAL_ADD, peer);
    }
}

/* The even PE begins; each writes into the other only after its answer. */
T(ping_pong_never_shows_an_old_payload)
{
    uint64_t *data = shmem_malloc(ROOM), *sig = heap_signal;
    int peer = me ^ 1;

    *sig = 0;
    memset(data, 0, ROOM);
    shmem_barrier_all();
    for (uint64_t r = 1;
         peer < n_pes && r <= ROUNDS && in_time(r, PING_PONG_S); r++) {
        if (me % 2 == 0)
            send_round(data, sig, r, peer);
        T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_GE, r), r);
        check_area(data, words_of(r, T_SEED()), r);
        if (me % 2)
            send_round(data, sig, r, peer);
    }
    shmem_barrier_all();
    shmem_free(data);
}

/* Every PE sends products to PE 0, each into its own place; a signal of n
 * from one PE tells of n products, and all signals are one word. */
T(many_producers_add_to_one_signal)
{
    uint64_t *place = shmem_calloc((size_t)n_pes, 8), sum, seen, all;

    heap_signal[0] = 0;
    shmem_barrier_all();
    all = (uint64_t)(n_pes * PRODUCTS);
    for (uint64_t i = 1; i <= PRODUCTS; i++)
        if (i % 2)
            shmem_uint64_put_signal(&place[me], &i, 1, heap_signal, 1,
                                    SHMEM_SIGNAL_ADD, 0);
        else {
            shmem_uint64_p(&place[me], i, 0);
            shmem_fence();
            shmem_signal_add(heap_signal, 1, 0);
        }
    for (seen = 0; me == 0 && seen < all; ) {
        seen = shmem_signal_wait_until(heap_signal, SHMEM_CMP_GT, seen);
        sum = 0;
        for (int pe = 0; pe < n_pes; pe++)
            sum += shmem_uint64_atomic_fetch(&place[pe], 0);
        T_LE(seen, sum);
        T_LE(seen, all);
    }
    shmem_barrier_all();
    if (me == 0)
        T_EQ(shmem_signal_fetch(heap_signal), all);
    shmem_free(place);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    heap_signal = shmem_calloc(2, 8);
    heap_data = shmem_malloc(sizeof static_data);
    source = shmem_malloc(ROOM);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(each_form_brings_its_data_before_its_signal);
    T_RUN(signals_alone_set_and_add);
    T_RUN(a_wait_ends_with_a_value_that_satisfies);
    T_RUN(ping_pong_never_shows_an_old_payload);
    T_RUN(many_producers_add_to_one_signal);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}

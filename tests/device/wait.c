/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: signals and words in device memory are waited for and tested
 * like those in host memory, and who sees one sees the data before it, with
 * data and signal in any two places. */
#include "../memory.h"

enum { LEN = 5000, WORDS = 12 };

static shmem_ctx_t ctx;

/* ---- data and signal ---- */

static void send(int how, unsigned char *dest, const unsigned char *source,
                 size_t len, uint64_t *sig, uint64_t v, int op)
{
    switch (how % 4) {
    case 0: shmem_putmem_signal(dest, source, len, sig, v, op, next); break;
    case 1: shmem_putmem_signal_nbi(dest, source, len, sig, v, op, next);
        break;
    case 2: shmem_ctx_putmem_signal(ctx, dest, source, len, sig, v, op, next);
        break;
    default: shmem_ctx_putmem_signal_nbi(ctx, dest, source, len, sig, v, op,
                                         next);
    }
}

T(put_signal)
{
    static const size_t lens[] = { 0, 1, 3, 8, 64, LEN };
    unsigned char *dest[SYMMETRIC], *source[MEMORIES], want[LEN];
    uint64_t *sig[SYMMETRIC], told[SYMMETRIC] = { 0, 0 }, *ack;
    unsigned round = 0;

    ack = mem_alloc(HOST, 64);
    mem_fill(ack, 0, 8);
    for (int w = 0; w < SYMMETRIC; w++) {
        dest[w] = mem_alloc((enum memory)w, LEN);
        sig[w] = mem_alloc((enum memory)w, 64);
        mem_fill(sig[w], 0, 8);
    }
    for (int w = 0; w < MEMORIES; w++)
        source[w] = mem_alloc((enum memory)w, LEN);
    shmem_barrier_all();
    for (int i = 0; i < 48; i++) {
        int from = i % MEMORIES, to = i / 4 % 2, at = i / 8 % 2;
        int op = i % 3 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
        size_t len = lens[T_RAND() % 6];
        uint64_t v = op == SHMEM_SIGNAL_SET ? told[at] + 5 : 5;

        told[at] += 5;
        pattern(want, me, ++round, len);
        mem_store(source[from], want, len);
        send((int)(T_RAND() % 4), dest[to], source[from], len, sig[at], v, op);
        T_EQ(shmem_signal_wait_until(sig[at], SHMEM_CMP_GE, told[at]),
             told[at]);
        T_EQ(shmem_signal_fetch(sig[at]), told[at]);
        pattern(want, before, round, len);
        mem_expect(dest[to], want, len);
        /* The next one may come. */
        shmem_quiet();
        shmem_ctx_quiet(ctx);
        shmem_uint64_p(ack, (uint64_t)i + 1, before);
        shmem_uint64_wait_until(ack, SHMEM_CMP_GE, (uint64_t)i + 1);
    }
    shmem_barrier_all();
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, sig[w]);
    }
    for (int w = 0; w < MEMORIES; w++)
        mem_free((enum memory)w, source[w]);
    shmem_free(ack);
}

/* Typed and sized ones, and signals alone. */
#define ONE(NAME, TYPE)                                                     \
    shmem_##NAME##_put_signal((TYPE *)dest, (const TYPE *)source, 3, sig,   \
                              ++told, SHMEM_SIGNAL_SET, next);              \
    shmem_signal_wait_until(sig, SHMEM_CMP_EQ, told);                       \
    mem_expect(dest, want, 3 * sizeof(TYPE));                               \
    shmem_barrier_all();                                                    \
    mem_fill(dest, 0, 64);                                                  \
    shmem_barrier_all();
#define ONE_SIZED(S, BYTES)                                                 \
    shmem_put##S##_signal_nbi(dest, source, 2, sig, 1, SHMEM_SIGNAL_ADD,    \
                              next);                                        \
    shmem_signal_wait_until(sig, SHMEM_CMP_EQ, ++told);                     \
    mem_expect(dest, want, 2 * BYTES);                                      \
    shmem_barrier_all();
T(signals)
{
    void *dest = mem_alloc(DEVICE, 64), *source = mem_alloc(DEVICE, 64);
    uint64_t *sig = mem_alloc(DEVICE, 64), told = 0;
    unsigned char want[64];

    pattern(want, 0, 9, sizeof want);
    mem_store(source, want, sizeof want);
    mem_fill(sig, 0, 8);
    shmem_barrier_all();
    ONE(float, float)
    ONE(double, double)
    ONE(longdouble, long double)
    ONE(char, char)
    ONE(short, short)
    ONE(uint32, uint32_t)
    ONE(longlong, long long)
    ONE(size, size_t)
    SHMEMI_SIZES(ONE_SIZED)
    shmem_signal_set(sig, 100, next);
    shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 100);
    shmem_barrier_all();
    shmem_ctx_signal_add(ctx, sig, 11, next);
    T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_GT, 100), 111);
    shmem_barrier_all();
    mem_free(DEVICE, dest);
    mem_free(DEVICE, source);
    mem_free(DEVICE, sig);
}

/* ---- one word of each type ---- */

#define WORD(NAME, TYPE)                                                    \
    static void word_##NAME(void *at)                                       \
    {                                                                       \
        TYPE *w = at;                                                       \
                                                                            \
        mem_store_word(w, 0, sizeof *w);                                    \
        shmem_barrier_all();                                                \
        T_EQ(shmem_##NAME##_test(w, SHMEM_CMP_NE, 0), 0);                   \
        shmem_barrier_all();                                                \
        shmem_##NAME##_p(w, 7, next);                                       \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_EQ, 7);                      \
        T_EQ(shmem_##NAME##_test(w, SHMEM_CMP_GE, 7), 1);                   \
        T_EQ(shmem_##NAME##_test(w, SHMEM_CMP_LT, 7), 0);                   \
        T_EQ(shmem_##NAME##_test(w, SHMEM_CMP_LE, 8), 1);                   \
        shmem_barrier_all();                                                \
        shmem_##NAME##_atomic_inc(w, next);                                 \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_GT, 7);                      \
        shmem_barrier_all();                                                \
    }
SHMEMI_AMO_TYPES(WORD)
#define RUN_WORD(NAME, TYPE) word_##NAME(at);

T(words)
{
    void *at = mem_alloc(DEVICE, 64);
    short *s = at;

    SHMEMI_AMO_TYPES(RUN_WORD)
    mem_store_word(s, 0, sizeof *s);
    shmem_barrier_all();
    shmem_short_p(s, -3, next);
    shmem_short_wait_until(s, SHMEM_CMP_EQ, -3);
    T_EQ(shmem_short_test(s, SHMEM_CMP_LT, 0), 1);
    shmem_barrier_all();
    mem_free(DEVICE, at);
}

/* Long enough to sleep: each is woken by what the other does then. */
T(asleep)
{
    uint64_t *w = mem_alloc(DEVICE, 64), *h = mem_alloc(HOST, 64);

    mem_fill(w, 0, 8);
    mem_fill(h, 0, 8);
    shmem_barrier_all();
    for (uint64_t i = 1; i <= 3; i++) {
        if (me == 0) {
            usleep(30000);
            shmem_uint64_atomic_set(w, i, next);
        }
        shmem_uint64_wait_until(w, SHMEM_CMP_GE, i);
        if (me)
            shmem_putmem(w, &i, sizeof i, next);
        if (me == n_pes - 1)
            shmem_signal_add(h, 1, 0);
        if (me == 0)
            shmem_uint64_wait_until(h, SHMEM_CMP_EQ, i);
        shmem_barrier_all();
    }
    mem_free(DEVICE, w);
    mem_free(HOST, h);
}

/* ---- several words ---- */

#define SET(NAME, TYPE)                                                     \
    static void set_##NAME(void *at)                                        \
    {                                                                       \
        TYPE *w = at, values[WORDS];                                        \
        int status[WORDS] = { [1] = 1 }, seen[WORDS] = { 0 };               \
        size_t found[WORDS], n = 0, i;                                      \
                                                                            \
        mem_fill(w, 0, WORDS * sizeof *w);                                  \
        for (i = 0; i < WORDS; i++)                                         \
            values[i] = (TYPE)(i + 1);                                      \
        shmem_barrier_all();                                                \
        T_EQ(shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_NE, 0),      \
             SIZE_MAX);                                                     \
        T_EQ(shmem_##NAME##_test_all(w, WORDS, NULL, SHMEM_CMP_EQ, 0), 1);  \
        T_EQ(shmem_##NAME##_test_some(w, WORDS, found, NULL, SHMEM_CMP_NE,  \
                                      0), 0);                               \
        T_EQ(shmem_##NAME##_test_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ,   \
                                            values), 0);                    \
        T_EQ(shmem_##NAME##_test_any_vector(w, WORDS, NULL, SHMEM_CMP_EQ,   \
                                            values), SIZE_MAX);             \
        T_EQ(shmem_##NAME##_test_some_vector(w, WORDS, found, NULL,         \
                                             SHMEM_CMP_EQ, values), 0);     \
        shmem_barrier_all();                                                \
        for (i = 0; i < WORDS; i++)                                         \
            if (i != 1)                                                     \
                shmem_##NAME##_p(w + i, values[i], next);                   \
        i = shmem_##NAME##_wait_until_any(w, WORDS, status, SHMEM_CMP_NE,   \
                                          0);                               \
        T_TRUE(i < WORDS && i != 1);                                        \
        i = shmem_##NAME##_wait_until_any_vector(w, WORDS, status,          \
                                                 SHMEM_CMP_EQ, values);     \
        T_TRUE(i < WORDS && i != 1);                                        \
        while (n < WORDS - 1) {                                             \
            size_t k = n % 2 ? shmem_##NAME##_wait_until_some(              \
                                   w, WORDS, found, status, SHMEM_CMP_NE,   \
                                   0)                                       \
                             : shmem_##NAME##_wait_until_some_vector(       \
                                   w, WORDS, found, status, SHMEM_CMP_EQ,   \
                                   values);                                 \
            T_TRUE(k > 0 && k < WORDS);                                     \
            for (i = 0; i < k; i++) {                                       \
                T_EQ(seen[found[i]]++, 0);                                  \
                status[found[i]] = 1;                                       \
            }                                                               \
            n += k;                                                         \
        }                                                                   \
        shmem_##NAME##_p(w + 1, values[1], next);                           \
        shmem_##NAME##_wait_until_all(w, WORDS, NULL, SHMEM_CMP_NE, 0);     \
        shmem_##NAME##_wait_until_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ,  \
                                             values);                       \
        T_EQ(shmem_##NAME##_test_all(w, WORDS, NULL, SHMEM_CMP_GT, 0), 1);  \
        T_EQ(shmem_##NAME##_test_some(w, WORDS, found, NULL, SHMEM_CMP_EQ,  \
                                      3), 1);                               \
        T_EQ(found[0], 2);                                                  \
        T_EQ(shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_EQ, 5), 4);  \
        shmem_barrier_all();                                                \
    }
SHMEMI_AMO_TYPES(SET)
#define RUN_SET(NAME, TYPE) set_##NAME(at);

T(sets)
{
    void *at = mem_alloc(DEVICE, WORDS * 8);

    SHMEMI_AMO_TYPES(RUN_SET)
    mem_free(DEVICE, at);
}

/* ---- locks ---- */

T(locks)
{
    enum { LOCKS = 5, TURNS = 4 };
    long *lock = mem_alloc(DEVICE, LOCKS * sizeof *lock);
    uint64_t *sum = mem_alloc(DEVICE, LOCKS * sizeof *sum), v;

    mem_fill(lock, 0, LOCKS * sizeof *lock);
    mem_fill(sum, 0, LOCKS * sizeof *sum);
    shmem_barrier_all();
    for (int t = 0; t < TURNS; t++)
        for (int k = 0; k < LOCKS; k++) {
            if (t % 2 == 0)
                shmem_set_lock(&lock[k]);
            else
                while (shmem_test_lock(&lock[k]))
                    usleep(50);
            v = shmem_uint64_g(&sum[k], 0) + 1;
            shmem_uint64_p(&sum[k], v, 0);
            shmem_clear_lock(&lock[k]);
        }
    shmem_barrier_all();
    if (me == 0)
        for (int k = 0; k < LOCKS; k++)
            T_EQ(mem_load_word(&sum[k], 8), TURNS * n_pes);
    shmem_barrier_all();
    mem_free(DEVICE, lock);
    mem_free(DEVICE, sum);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(put_signal);
    T_RUN(signals);
    T_RUN(words);
    T_RUN(asleep);
    T_RUN(sets);
    T_RUN(locks);
    shmem_ctx_destroy(ctx);
    return memory_end();
}

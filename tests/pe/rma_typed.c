/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: put, get, p, g and their nonblocking and context forms move
 * the elements they name and no others, for every type, between heap and
 * static data, to this PE and to others.
 * PEs: 1 2 3
 * Ppn: 2/1 4/2 */
#include "../t.h"

#include <shmem.h>

enum { N = 40, ROUNDS = 12 };

static _Alignas(16) char static_data[N * 16];
static char *heap_data, *source;
static shmem_ctx_t ctx;
static int me, n_pes;

/* One random transfer in each direction; both PEs draw the same numbers. */
#define CASE(NAME, T)                                                       \
    do {                                                                    \
        T *d = (T *)(void *)(T_RAND() % 2 ? static_data : heap_data);       \
        T *s = (T *)(void *)source, local[N], want[N];                      \
        size_t at = T_RAND() % N, count = T_RAND() % (N - at + 1);          \
        int peer = (int)((unsigned)me + T_RAND() % (unsigned)n_pes);        \
        unsigned how = (unsigned)(T_RAND() % 6);                            \
        int from;                                                           \
                                                                            \
        peer %= n_pes;                                                      \
        from = (2 * me - peer + n_pes) % n_pes;                             \
        for (size_t i = 0; i < N; i++) {                                    \
            s[i] = (T)(me * 3 + (int)i + 1);                                \
            d[i] = (T)100;                                                  \
            want[i] = d[i];                                                 \
        }                                                                   \
        shmem_barrier_all();                                                \
        switch (how) {                                                      \
        case 0: shmem_##NAME##_put(d + at, s + at, count, peer); break;     \
        case 1: shmem_ctx_##NAME##_put(ctx, d + at, s + at, count, peer);   \
            break;                                                          \
        case 2: shmem_##NAME##_put_nbi(d + at, s + at, count, peer); break; \
        case 3: shmem_ctx_##NAME##_put_nbi(ctx, d + at, s + at, count,      \
                                           peer);                           \
            break;                                                          \
        case 4: count = 1; shmem_##NAME##_p(d + at, s[at], peer); break;    \
        default: count = 1; shmem_ctx_##NAME##_p(ctx, d + at, s[at], peer); \
        }                                                                   \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        shmem_barrier_all();                                                \
        for (size_t i = at; i < at + count; i++)                            \
            want[i] = (T)(from * 3 + (int)i + 1);                           \
        T_TRUE(same_##NAME(d, want));                                       \
        for (size_t i = 0; i < N; i++)                                      \
            local[i] = want[i] = (T)7;                                      \
        switch (how) {                                                      \
        case 0: shmem_##NAME##_get(local + at, s + at, count, peer); break; \
        case 1: shmem_ctx_##NAME##_get(ctx, local + at, s + at, count,      \
                                       peer);                               \
            break;                                                          \
        case 2: shmem_##NAME##_get_nbi(local + at, s + at, count, peer);    \
            break;                                                          \
        case 3: shmem_ctx_##NAME##_get_nbi(ctx, local + at, s + at, count,  \
                                           peer);                           \
            break;                                                          \
        case 4: local[at] = shmem_##NAME##_g(s + at, peer); break;          \
        default: local[at] = shmem_ctx_##NAME##_g(ctx, s + at, peer);       \
        }                                                                   \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        for (size_t i = at; i < at + count; i++)                            \
            want[i] = (T)(peer * 3 + (int)i + 1);                           \
        T_TRUE(same_##NAME(local, want));                                   \
        shmem_barrier_all();                                                \
    } while (0);

/* By value: a long double has bytes that mean nothing. */
#define SAME(NAME, T)                                                       \
    static int same_##NAME(const T *a, const T *b)                          \
    {                                                                       \
        for (int i = 0; i < N; i++)                                         \
            if (a[i] != b[i])                                               \
                return 0;                                                   \
        return 1;                                                           \
    }
SHMEMI_RMA_TYPES(SAME)

/* A function per type: the stack of one holds one type's arrays. */
#define TYPE(NAME, T) static void case_##NAME(void) { CASE(NAME, T) }
SHMEMI_RMA_TYPES(TYPE)
#define RUN(NAME, T) case_##NAME();

T(every_type)
{
    for (int r = 0; r < ROUNDS; r++) {
        SHMEMI_RMA_TYPES(RUN)
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    heap_data = shmem_malloc(N * 16);
    source = shmem_malloc(N * 16);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(every_type);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}

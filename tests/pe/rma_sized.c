/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the forms by size and by byte move exactly the bytes they name
 * for every size from 0 to 300, every alignment, and random sizes to 4 MiB;
 * zero bytes touch nothing, whatever the pointers.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>

enum { SMALL = 300, ROOM = 8 << 20 };

static unsigned char *dest, *source, *model;
static int me, peer;
static shmem_ctx_t ctx;

static unsigned char at(int pe, size_t i)
{
    return (unsigned char)(i * 167 + i / 253 + (unsigned)pe * 91 + 1);
}

/* Both PEs put [from, from + n) to offset to of the other's dest. */
static void check_put(size_t to, size_t from, size_t n)
{
    size_t lo = to > 64 ? to - 64 : 0;

    memset(dest + lo, 0xa5, to - lo + n + 64);
    shmem_barrier_all();
    if (n % 2)
        shmem_putmem(dest + to, source + from, n, peer);
    else
        shmem_ctx_putmem_nbi(ctx, dest + to, source + from, n, peer);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (size_t i = lo; i < to; i++)
        T_EQ(dest[i], 0xa5);
    for (size_t i = 0; i < n; i++)
        if (dest[to + i] != at(peer, from + i)) {
            T_EQ(dest[to + i], at(peer, from + i));
            break;
        }
    for (size_t i = to + n; i < to + n + 64; i++)
        T_EQ(dest[i], 0xa5);
    shmem_barrier_all();
}

static void check_get(size_t to, size_t from, size_t n)
{
    memset(model + to, 0xa5, n + 64);
    if (n % 2)
        shmem_getmem_nbi(model + to, source + from, n, peer);
    else
        shmem_ctx_getmem(ctx, model + to, source + from, n, peer);
    shmem_quiet();
    for (size_t i = 0; i < n; i++)
        if (model[to + i] != at(peer, from + i)) {
            T_EQ(model[to + i], at(peer, from + i));
            break;
        }
    for (size_t i = to + n; i < to + n + 64; i++)
        T_EQ(model[i], 0xa5);
}

T(every_small_size)
{
    for (size_t n = 0; n <= SMALL; n++) {
        check_put(64 + n % 64, (n * 7) % 64, n);
        check_get(64 + (n * 5) % 64, n % 64, n);
    }
}

T(every_alignment)
{
    static const size_t sizes[] = { 8, 33, 4096 };

    for (size_t a = 0; a < 64; a++)
        for (size_t k = 0; k < 3; k++) {
            check_put(64 + a, 63 - a, sizes[k]);
            check_get(64 + a, a / 3, sizes[k]);
        }
}

T(random_sizes)
{
    for (int r = 0; r < 12; r++) {
        size_t n = T_RAND() % (ROOM / 2), to = 64 + T_RAND() % 5000;

        check_put(to, T_RAND() % 5000, n);
        check_get(to, T_RAND() % 5000, n);
    }
}

#define SIZED(S, BYTES)                                                     \
    for (size_t n = 0; n < 20; n++) {                                       \
        size_t off = 16 * (n % 3);                                          \
                                                                            \
        memset(dest, 0xa5, 1024);                                           \
        shmem_barrier_all();                                                \
        switch (n % 4) {                                                    \
        case 0: shmem_put##S(dest + off, source + 16, n, peer); break;      \
        case 1: shmem_ctx_put##S(ctx, dest + off, source + 16, n, peer);    \
            break;                                                          \
        case 2: shmem_put##S##_nbi(dest + off, source + 16, n, peer); break; \
        default: shmem_ctx_put##S##_nbi(ctx, dest + off, source + 16, n,    \
                                        peer);                              \
        }                                                                   \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        shmem_barrier_all();                                                \
        for (size_t i = 0; i < 1024; i++)                                   \
            T_EQ(dest[i], i < off || i >= off + n * BYTES                   \
                              ? 0xa5 : at(peer, 16 + i - off));             \
        memset(model, 0xa5, 1024);                                          \
        switch (n % 4) {                                                    \
        case 0: shmem_get##S(model + off, source, n, peer); break;          \
        case 1: shmem_ctx_get##S(ctx, model + off, source, n, peer); break; \
        case 2: shmem_get##S##_nbi(model + off, source, n, peer); break;    \
        default: shmem_ctx_get##S##_nbi(ctx, model + off, source, n, peer); \
        }                                                                   \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        for (size_t i = 0; i < 1024; i++)                                   \
            T_EQ(model[i], i < off || i >= off + n * BYTES                  \
                               ? 0xa5 : at(peer, i - off));                 \
        shmem_barrier_all();                                                \
    }

T(by_element_size)
{
    SHMEMI_SIZES(SIZED)
}

T(zero_bytes)
{
    int local;

    shmem_putmem(&local, NULL, 0, peer);
    shmem_getmem(NULL, &local, 0, peer);
    shmem_putmem(dest, NULL, 0, peer);
    shmem_getmem(NULL, dest, 0, peer);
    shmem_put64(NULL, NULL, 0, peer);
    shmem_iput32(NULL, NULL, 1, 1, 0, peer);
    shmem_double_put_signal(NULL, NULL, 0, (uint64_t *)(void *)dest, 1,
                            SHMEM_SIGNAL_SET, me);
    shmem_quiet();
    T_EQ(*(uint64_t *)(void *)dest, 1);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    peer = 1 - me;
    T_PE(me);
    dest = shmem_align(64, ROOM);
    source = shmem_align(64, ROOM);
    model = malloc(ROOM);
    T_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    for (size_t i = 0; i < ROOM; i++)
        source[i] = at(me, i);
    shmem_barrier_all();
    T_RUN(every_small_size);
    T_RUN(every_alignment);
    T_RUN(random_sizes);
    T_RUN(by_element_size);
    T_RUN(zero_bytes);
    free(model);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: iput, iget, ibput and ibget of every type and size place each
 * element as a model does and leave the gaps alone.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>

enum { ROOM = 8192, ROUNDS = 6 };

static _Alignas(16) unsigned char dest[ROOM], source[ROOM], model[ROOM];
static int me, peer;
static shmem_ctx_t ctx;

struct shape {
    ptrdiff_t dst, sst;
    size_t bsize, n;
};

/* That fits the buffers with elements of that size; bsize 1 for iput. */
static struct shape draw(size_t elem, int blocked)
{
    struct shape s;

    do {
        s.bsize = blocked ? 1 + T_RAND() % 4 : 1;
        s.dst = (ptrdiff_t)(s.bsize + T_RAND() % 6);
        s.sst = (ptrdiff_t)(s.bsize + T_RAND() % 6);
        s.n = T_RAND() % 40;
    } while ((s.n * (size_t)(s.dst > s.sst ? s.dst : s.sst) + s.bsize) * elem >
             ROOM);
    return s;
}

static void fill(unsigned char *p, int pe)
{
    for (size_t i = 0; i < ROOM; i++)
        p[i] = (unsigned char)(i * 31 + i / 250 + (unsigned)pe * 77);
}

static void apply(const struct shape *s, size_t elem, const unsigned char *from)
{
    for (size_t i = 0; i < s->n; i++)
        memcpy(model + i * (size_t)s->dst * elem,
               from + i * (size_t)s->sst * elem, s->bsize * elem);
}

/* dest is what the peer's source gives after both made the same call. */
static void expect_put(const struct shape *s, size_t elem)
{
    static unsigned char theirs[ROOM];

    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    memset(model, 0x5a, ROOM);
    fill(theirs, peer);
    apply(s, elem, theirs);
    T_MEM(dest, model, ROOM);
    shmem_barrier_all();
    memset(dest, 0x5a, ROOM);
    shmem_barrier_all();
}

static void expect_get(const struct shape *s, size_t elem)
{
    static unsigned char theirs[ROOM];

    memset(model, 0x5a, ROOM);
    fill(theirs, peer);
    apply(s, elem, theirs);
    T_MEM(dest, model, ROOM);
    memset(dest, 0x5a, ROOM);
    shmem_barrier_all();
}

#define ALL(IPUT, IGET, IBPUT, IBGET, CTX, T, ELEM)                         \
    do {                                                                    \
        struct shape a = draw(ELEM, 0), b = draw(ELEM, 1);                  \
        T *d = (T *)(void *)dest, *s = (T *)(void *)source;                 \
                                                                            \
        IPUT(CTX d, s, a.dst, a.sst, a.n, peer);                            \
        expect_put(&a, ELEM);                                               \
        IGET(CTX d, s, a.dst, a.sst, a.n, peer);                            \
        expect_get(&a, ELEM);                                               \
        IBPUT(CTX d, s, b.dst, b.sst, b.bsize, b.n, peer);                  \
        expect_put(&b, ELEM);                                               \
        IBGET(CTX d, s, b.dst, b.sst, b.bsize, b.n, peer);                  \
        expect_get(&b, ELEM);                                               \
    } while (0);
#define COMMA ctx,
#define TYPED(NAME, T)                                                      \
    ALL(shmem_##NAME##_iput, shmem_##NAME##_iget, shmem_##NAME##_ibput,     \
        shmem_##NAME##_ibget, , T, sizeof(T))                               \
    ALL(shmem_ctx_##NAME##_iput, shmem_ctx_##NAME##_iget,                   \
        shmem_ctx_##NAME##_ibput, shmem_ctx_##NAME##_ibget, COMMA, T,       \
        sizeof(T))
#define SIZED(S, BYTES)                                                     \
    ALL(shmem_iput##S, shmem_iget##S, shmem_ibput##S, shmem_ibget##S, ,     \
        void, BYTES)                                                        \
    ALL(shmem_ctx_iput##S, shmem_ctx_iget##S, shmem_ctx_ibput##S,           \
        shmem_ctx_ibget##S, COMMA, void, BYTES)

T(every_type)
{
    for (int r = 0; r < ROUNDS; r++) {
        SHMEMI_RMA_TYPES(TYPED)
    }
}

T(every_size)
{
    for (int r = 0; r < ROUNDS; r++) {
        SHMEMI_SIZES(SIZED)
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    T_PE(me);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    fill(source, me);
    memset(dest, 0x5a, ROOM);
    shmem_barrier_all();
    T_RUN(every_type);
    T_RUN(every_size);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}

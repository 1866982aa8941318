/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: put, get, p, g, iput, iget, ibput, ibget and their nonblocking
 * and context forms place each element where a model does and leave all others
 * alone, for every type and size, between all memories, to this PE and to
 * others.
 *
 * Each transfer has its pair of memories, the one after that of the last one.
 * All PEs make the same call, with a peer at the same distance.
 * PEs: 1 2 3
 * Ppn: 2/1 4/2 2/1:FI_OFI_RXM_BUFFER_SIZE=512 */
#include "../memory.h"

enum { ROOM = 8192, GUARD = 0x5a, N = 40, ROUNDS = 6 };

static shmem_ctx_t ctx;
static char *sym[SYMMETRIC], *loc[MEMORIES];
static unsigned char theirs[ROOM], model[ROOM];
static unsigned turn;
static int peer, back;          /* the target; the PE whose target this is */

/* In elements.  Blocks of len, n of them, from `at` on. */
struct shape {
    size_t at, dst, sst, len, n;
};

static int target_kind(void)
{
    return (int)(turn / MEMORIES % SYMMETRIC);
}

static int origin_kind(void)
{
    return (int)(turn % MEMORIES);
}

#define TO ((T *)(void *)sym[target_kind()])
#define FROM ((T *)(void *)loc[origin_kind()])

static void apply(const struct shape *s, size_t elem)
{
    memset(model, GUARD, ROOM);
    for (size_t i = 0; i < s->n; i++)
        memcpy(model + (s->at + i * s->dst) * elem,
               theirs + (s->at + i * s->sst) * elem, s->len * elem);
}

static void choose_peer(int distance)
{
    peer = (me + distance) % n_pes;
    back = (me - distance % n_pes + n_pes) % n_pes;
}

static void ready_to_put(void)
{
    turn++;
    pattern(theirs, me, turn, ROOM);
    mem_store(loc[origin_kind()], theirs, ROOM);
    mem_fill(sym[target_kind()], GUARD, ROOM);
    shmem_barrier_all();
}

static void expect_put(const struct shape *s, size_t elem)
{
    shmem_quiet();
    finish_transfers(ctx);
    pattern(theirs, back, turn, ROOM);
    apply(s, elem);
    mem_expect(sym[target_kind()], model, ROOM);
    shmem_barrier_all();
}

static void ready_to_get(void)
{
    turn++;
    pattern(theirs, me, turn, ROOM);
    mem_store(sym[target_kind()], theirs, ROOM);
    mem_fill(loc[origin_kind()], GUARD, ROOM);
    shmem_barrier_all();
}

static void expect_get(const struct shape *s, size_t elem)
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    pattern(theirs, peer, turn, ROOM);
    apply(s, elem);
    mem_expect(loc[origin_kind()], model, ROOM);
    shmem_barrier_all();
}

#define PUT(CALL)                                                           \
    do {                                                                    \
        ready_to_put();                                                     \
        CALL;                                                               \
        expect_put(&s, elem);                                               \
    } while (0)
#define GET(CALL)                                                           \
    do {                                                                    \
        ready_to_get();                                                     \
        CALL;                                                               \
        expect_get(&s, elem);                                               \
    } while (0)

static void rma_begin(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    for (int w = 0; w < SYMMETRIC; w++)
        sym[w] = mem_alloc((enum memory)w, ROOM);
    for (int w = 0; w < MEMORIES; w++)
        loc[w] = mem_alloc((enum memory)w, ROOM);
}

static int rma_end(void)
{
    for (int w = 0; w < MEMORIES; w++)
        mem_free((enum memory)w, loc[w]);
    for (int w = 0; w < SYMMETRIC; w++)
        mem_free((enum memory)w, sym[w]);
    shmem_ctx_destroy(ctx);
    return memory_end();
}

/* ---- arrays and elements ---- */

/* Elements somewhere in the first N. */
static struct shape draw_array(void)
{
    struct shape s = { T_RAND() % N, 1, 1, 1, 0 };

    s.n = T_RAND() % (N - s.at + 1);
    return s;
}

/* PRE and POST make the name; CTX chooses the context. */
#define MOVES(PRE, POST, CTX)                                               \
    s = draw_array();                                                       \
    PUT(PRE##put##POST(CTX AT(TO), AT(FROM), s.n, peer));                   \
    PUT(PRE##put##POST##_nbi(CTX AT(TO), AT(FROM), s.n, peer));             \
    GET(PRE##get##POST(CTX AT(FROM), AT(TO), s.n, peer));                   \
    GET(PRE##get##POST##_nbi(CTX AT(FROM), AT(TO), s.n, peer));
#define AT(p) ((T *)(void *)((char *)(p) + s.at * elem))
#define C ctx,

/* No byte differs from GUARD but those of the element. */
static void expect_guards(const void *array, size_t at, size_t elem)
{
    memset(model, GUARD, ROOM);
    mem_load(theirs, array, ROOM);
    memset(theirs + at * elem, GUARD, elem);
    T_MEM(theirs, model, ROOM);
}

/* By value: a long double has bytes that mean nothing. */
#define SINGLE(PRE, CTX)                                                    \
    do {                                                                    \
        T v = 0, w;                                                         \
                                                                            \
        s = draw_array();                                                   \
        v += (T)(turn % 100 + 1);                                           \
        mem_fill(TO, GUARD, ROOM);                                          \
        shmem_barrier_all();                                                \
        PRE##p(CTX AT(TO), v, peer);                                        \
        finish_transfers(ctx);                                              \
        w = PRE##g(CTX AT(TO), peer);                                       \
        T_TRUE(v == w);                                                     \
        mem_load(&w, AT(TO), sizeof w);                                     \
        T_TRUE(v == w);                                                     \
        expect_guards(TO, s.at, elem);                                      \
        shmem_barrier_all();    /* before the peer's is filled again */     \
        turn++;                                                             \
    } while (0)

/* ---- strided elements and blocks ---- */

static struct shape draw_blocks(size_t elem, bool blocked)
{
    struct shape s = { .at = 0 };

    do {
        s.len = blocked ? 1 + T_RAND() % 4 : 1;
        s.dst = s.len + T_RAND() % 6;
        s.sst = s.len + T_RAND() % 6;
        s.n = T_RAND() % 40;
    } while ((s.n * (s.dst > s.sst ? s.dst : s.sst) + s.len) * elem > ROOM);
    return s;
}

#define STRIDED(PRE, POST, CTX)                                             \
    s = draw_blocks(elem, false);                                           \
    PUT(PRE##iput##POST(CTX TO, FROM, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,   \
                        s.n, peer));                                        \
    GET(PRE##iget##POST(CTX FROM, TO, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,   \
                        s.n, peer));                                        \
    s = draw_blocks(elem, true);                                            \
    PUT(PRE##ibput##POST(CTX TO, FROM, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,  \
                         s.len, s.n, peer));                                \
    GET(PRE##ibget##POST(CTX FROM, TO, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,  \
                         s.len, s.n, peer));

/* ---- all of them ---- */

/* On a device, where each transfer takes a thousand times as long, one of the
 * contexts for each kind of call. */
#define TYPED(NAME, TYPE)                                                   \
    static void typed_##NAME(void)                                          \
    {                                                                       \
        typedef TYPE T;                                                     \
        const size_t elem = sizeof(T);                                      \
        const bool odd = turn / 7 % 2;                                      \
        struct shape s;                                                     \
                                                                            \
        SINGLE(shmem_##NAME##_, );                                          \
        SINGLE(shmem_ctx_##NAME##_, C);                                     \
        if (odd || !on_device) {                                            \
            MOVES(shmem_##NAME##_, , )                                      \
            STRIDED(shmem_ctx_##NAME##_, , C)                               \
        }                                                                   \
        if (!odd || !on_device) {                                           \
            MOVES(shmem_ctx_##NAME##_, , C)                                 \
            STRIDED(shmem_##NAME##_, , )                                    \
        }                                                                   \
    }
SHMEMI_RMA_TYPES(TYPED)

#define SIZED(S, BYTES)                                                     \
    static void sized_##S(void)                                             \
    {                                                                       \
        typedef void T;                                                     \
        const size_t elem = BYTES;                                          \
        struct shape s;                                                     \
                                                                            \
        MOVES(shmem_, S, )                                                  \
        MOVES(shmem_ctx_, S, C)                                             \
        STRIDED(shmem_, S, )                                                \
        STRIDED(shmem_ctx_, S, C)                                           \
    }
SHMEMI_SIZES(SIZED)

#define RUN_TYPED(NAME, TYPE) typed_##NAME();
#define RUN_SIZED(S, BYTES) sized_##S();

T(every_type)
{
    SHMEMI_RMA_TYPES(RUN_TYPED)
}

T(every_size)
{
    SHMEMI_SIZES(RUN_SIZED)
}

int main(void)
{
    rma_begin();
    for (int r = 0; r < (on_device ? 1 : ROUNDS); r++) {
        choose_peer(1 + r);     /* also to this PE itself */
        T_RUN(every_type);
        T_RUN(every_size);
    }
    return rma_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the typed and sized forms of put, get, p, g and the strided and
 * blocked ones place each element where a model does, between host and device
 * memory, symmetric and private, in the default context and another. */
#include "device.h"

enum { ROOM = 2048, GUARD = 0x5a };

static shmem_ctx_t ctx;
static char *sym[SYMMETRIC], *loc[PLACES];
static unsigned char theirs[ROOM], model[ROOM];
static unsigned turn;

struct shape {
    size_t dst, sst, len, n;    /* in elements; of one block; blocks */
};

static struct shape draw(size_t elem, bool blocked)
{
    struct shape s;

    do {
        s.len = blocked ? 1 + T_RAND() % 4 : 1;
        s.dst = s.len + T_RAND() % 4;
        s.sst = s.len + T_RAND() % 4;
        s.n = T_RAND() % 20;
    } while ((s.n * (s.dst > s.sst ? s.dst : s.sst) + s.len) * elem > ROOM);
    return s;
}

static void apply(const struct shape *s, size_t elem)
{
    memset(model, GUARD, ROOM);
    for (size_t i = 0; i < s->n; i++)
        memcpy(model + i * s->dst * elem, theirs + i * s->sst * elem,
               s->len * elem);
}

/* A pair of places after the other. */
static int far_place(void)
{
    return (int)(turn / PLACES % SYMMETRIC);
}

static int near_place(void)
{
    return (int)(turn % PLACES);
}

static void ready_to_put(void)
{
    turn++;
    pattern(theirs, me, turn, ROOM);
    store(loc[near_place()], theirs, ROOM);
    store_byte(sym[far_place()], GUARD, ROOM);
    shmem_barrier_all();
}

static void put_came(const struct shape *s, size_t elem)
{
    settle(ctx);
    pattern(theirs, before, turn, ROOM);
    apply(s, elem);
    expect(sym[far_place()], model, ROOM);
    shmem_barrier_all();
}

static void ready_to_get(void)
{
    turn++;
    pattern(theirs, me, turn, ROOM);
    store(sym[far_place()], theirs, ROOM);
    store_byte(loc[near_place()], GUARD, ROOM);
    shmem_barrier_all();
}

static void got(const struct shape *s, size_t elem)
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    pattern(theirs, next, turn, ROOM);
    apply(s, elem);
    expect(loc[near_place()], model, ROOM);
    shmem_barrier_all();
}

#define TO ((T *)(void *)sym[far_place()])
#define FROM ((T *)(void *)loc[near_place()])
#define PUT(CALL)                                                           \
    do {                                                                    \
        ready_to_put();                                                     \
        CALL;                                                               \
        put_came(&s, elem);                                                 \
    } while (0)
#define GET(CALL)                                                           \
    do {                                                                    \
        ready_to_get();                                                     \
        CALL;                                                               \
        got(&s, elem);                                                      \
    } while (0)
#define C ctx,
/* PRE and POST make the name; CTX and ARG choose the context. */
#define MOVES(PRE, POST, CTX)                                               \
    s = (struct shape){ 1, 1, 1, T_RAND() % 16 };                           \
    PUT(PRE##put##POST(CTX TO, FROM, s.n, next));                           \
    PUT(PRE##put##POST##_nbi(CTX TO, FROM, s.n, next));                     \
    GET(PRE##get##POST(CTX FROM, TO, s.n, next));                           \
    GET(PRE##get##POST##_nbi(CTX FROM, TO, s.n, next));
#define STRIDED(PRE, POST, CTX)                                             \
    s = draw(elem, false);                                                  \
    PUT(PRE##iput##POST(CTX TO, FROM, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,   \
                        s.n, next));                                        \
    GET(PRE##iget##POST(CTX FROM, TO, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,   \
                        s.n, next));                                        \
    s = draw(elem, true);                                                   \
    PUT(PRE##ibput##POST(CTX TO, FROM, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,  \
                         s.len, s.n, next));                                \
    GET(PRE##ibget##POST(CTX FROM, TO, (ptrdiff_t)s.dst, (ptrdiff_t)s.sst,  \
                         s.len, s.n, next));
/* By value, in the order of the bytes that hold it. */
#define SINGLE(PRE, CTX)                                                    \
    do {                                                                    \
        T v = 0, w;                                                         \
                                                                            \
        v += (T)(turn % 100 + 1);                                           \
        shmem_barrier_all();                                                \
        PRE##p(CTX TO, v, next);                                            \
        settle(ctx);                                                        \
        w = PRE##g(CTX TO, next);                                           \
        T_TRUE(v == w);                                                     \
        load(&w, TO, sizeof w);                                             \
        T_TRUE(v == w);                                                     \
        shmem_barrier_all();    /* before next is made ready again */       \
        turn++;                                                             \
    } while (0)

#define TYPED(NAME, TYPE)                                                   \
    static void typed_##NAME(void)                                          \
    {                                                                       \
        typedef TYPE T;                                                     \
        const size_t elem = sizeof(T);                                      \
        struct shape s;                                                     \
                                                                            \
        SINGLE(shmem_##NAME##_, );                                          \
        SINGLE(shmem_ctx_##NAME##_, C);                                     \
        if (turn / 7 % 2) {                                                 \
            MOVES(shmem_##NAME##_, , )                                      \
            STRIDED(shmem_ctx_##NAME##_, , C)                               \
        } else {                                                            \
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
    device_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    for (int w = 0; w < SYMMETRIC; w++)
        sym[w] = room_make((enum place)w, ROOM);
    for (int w = 0; w < PLACES; w++)
        loc[w] = room_make((enum place)w, ROOM);
    T_RUN(every_type);
    T_RUN(every_size);
    for (int w = 0; w < PLACES; w++)
        room_drop((enum place)w, loc[w]);
    for (int w = 0; w < SYMMETRIC; w++)
        room_drop((enum place)w, sym[w]);
    shmem_ctx_destroy(ctx);
    return device_end();
}

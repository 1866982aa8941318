/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every one-sided call on a stream, of every type and with and
 * without a context, does what its name says, in host and in device memory.
 * PEs: 1 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"
#include <float.h>

/* Each call has a room of its own in symmetric memory, so that one barrier
 * serves all of them: its peer works there.  What is in the rooms is seen and
 * set through a shadow, for it may be a GPU's memory. */
enum { N = 3, ROOM = 128, ROOMS = 800, FUNCTIONS = 1074 };

static int calls;
static shmemx_stream_t s, aside;
static uint64_t *start_flag;
static shmem_ctx_t ctx;
static bool with;               /* the context */
static char *area;
static char shadow[ROOMS][ROOM], source[ROOMS][ROOM], got[ROOMS][ROOM];
static int room;

static struct expectation {
    const char *call;
    const void *at;
    size_t n;
    char want[ROOM];
} expected[4 * ROOMS];
static int n_expected;

/* The n bytes at `at` will be those. */
static void expect(const char *call, const void *at, const void *want,
                   size_t n)
{
    struct expectation *e = &expected[n_expected++];

    e->call = call;
    e->at = at;
    e->n = n;
    memcpy(e->want, want, n);
}

static char byte_of(int pe, int k, size_t i)
{
    return (char)(17 * pe + 5 * k + 3 * (int)i + 1);
}

/* The next room, on this PE and its peer. */
static char *fresh(void)
{
    room++;
    for (size_t i = 0; i < ROOM; i++)
        source[room][i] = byte_of(me, room, i);
    return area + (size_t)room * ROOM;
}

/* Element i of a room holds element j of that PE's source. */
static void holds(const char *call, char (*rooms)[ROOM], int pe, int i, int j,
                  size_t size)
{
    char want[ROOM];

    for (size_t b = 0; b < size; b++)
        want[b] = byte_of(pe, rooms == got ? 0 : room, (size_t)j * size + b);
    expect(call, rooms[room] + (size_t)i * size, want, size);
}

/* F, or the form of it with a context. */
#define DO(F, ...)                                                          \
    do {                                                                    \
        calls++;                                                            \
        if (with ? shmemx_ctx_##F##_on_stream(ctx, __VA_ARGS__, s)          \
                 : shmemx_##F##_on_stream(__VA_ARGS__, s))                  \
            T_STR("refused", #F);                                           \
    } while (0)
/* F, which has no form with a context. */
#define DO_ONE(F, ...)                                                      \
    do {                                                                    \
        calls += !with;                                                     \
        if (shmemx_##F##_on_stream(__VA_ARGS__, s))                         \
            T_STR("refused", #F);                                           \
    } while (0)

/* ---- what moves bytes; room 0 is what others get ---- */

#define PUT(F, SIZE)                                                        \
    do {                                                                    \
        void *d_ = fresh();                                                 \
                                                                            \
        DO(F, d_, (void *)source[room], N, next);                           \
        for (int i_ = 0; i_ < N; i_++)                                      \
            holds(#F, shadow, prev, i_, i_, SIZE);                          \
    } while (0)
#define GET(F, SIZE)                                                        \
    do {                                                                    \
        fresh();                                                            \
        DO(F, (void *)got[room], (void *)area, N, next);                    \
        for (int i_ = 0; i_ < N; i_++)                                      \
            holds(#F, got, next, i_, i_, SIZE);                             \
    } while (0)
#define SIGNALLED(F, SIZE, OP, WAS, NOW)                                    \
    do {                                                                    \
        uint64_t *sig_ = (void *)fresh(), was_ = (WAS), now_ = (NOW);       \
                                                                            \
        memcpy(shadow[room], &was_, sizeof was_);                           \
        expect(#F, shadow[room], &now_, sizeof now_);                       \
        fresh();                                                            \
        DO(F, (void *)(area + (size_t)room * ROOM), (void *)source[room],   \
           N, sig_, 5, OP, next);                                           \
        for (int i_ = 0; i_ < N; i_++)                                      \
            holds(#F, shadow, prev, i_, i_, SIZE);                          \
    } while (0)
/* Elements 0, 2 of the source to 0, 3 of dest. */
#define IPUT(F, SIZE)                                                       \
    do {                                                                    \
        void *d_ = fresh();                                                 \
                                                                            \
        DO(F, d_, (void *)source[room], 3, 2, 2, next);                     \
        for (int i_ = 0; i_ < 2; i_++)                                      \
            holds(#F, shadow, prev, 3 * i_, 2 * i_, SIZE);                  \
    } while (0)
#define IGET(F, SIZE)                                                       \
    do {                                                                    \
        fresh();                                                            \
        DO(F, (void *)got[room], (void *)area, 3, 2, 2, next);              \
        for (int i_ = 0; i_ < 2; i_++)                                      \
            holds(#F, got, next, 3 * i_, 2 * i_, SIZE);                     \
    } while (0)
/* Two blocks of two elements: 0 1 3 4 to 0 1 4 5. */
#define IBPUT(F, SIZE)                                                      \
    do {                                                                    \
        void *d_ = fresh();                                                 \
                                                                            \
        DO(F, d_, (void *)source[room], 4, 3, 2, 2, next);                  \
        for (int i_ = 0; i_ < 4; i_++)                                      \
            holds(#F, shadow, prev, i_ / 2 * 4 + i_ % 2,                    \
                  i_ / 2 * 3 + i_ % 2, SIZE);                               \
    } while (0)
#define IBGET(F, SIZE)                                                      \
    do {                                                                    \
        fresh();                                                            \
        DO(F, (void *)got[room], (void *)area, 4, 3, 2, 2, next);           \
        for (int i_ = 0; i_ < 4; i_++)                                      \
            holds(#F, got, next, i_ / 2 * 4 + i_ % 2, i_ / 2 * 3 + i_ % 2,  \
                  SIZE);                                                    \
    } while (0)

/* Of a long double, those of the number. */
#define BYTES(T)                                                            \
    (sizeof(T) > 8 && LDBL_MANT_DIG == 64 ? (size_t)10 : sizeof(T))

#define TYPED(NAME, T)                                                      \
    static void NAME##_moves(void)                                          \
    {                                                                       \
        T mine = (T)(me + 40), theirs = (T)(prev + 40), side = (T)7;        \
                                                                            \
        PUT(NAME##_put, sizeof(T));                                         \
        GET(NAME##_get, sizeof(T));                                         \
        PUT(NAME##_put_nbi, sizeof(T));                                     \
        GET(NAME##_get_nbi, sizeof(T));                                     \
        IPUT(NAME##_iput, sizeof(T));                                       \
        IGET(NAME##_iget, sizeof(T));                                       \
        IBPUT(NAME##_ibput, sizeof(T));                                     \
        IBGET(NAME##_ibget, sizeof(T));                                     \
        SIGNALLED(NAME##_put_signal, sizeof(T), SHMEM_SIGNAL_ADD, 3, 8);    \
        SIGNALLED(NAME##_put_signal_nbi, sizeof(T), SHMEM_SIGNAL_SET, 3, 5);\
        DO(NAME##_p, (T *)(void *)fresh(), mine, next);                     \
        mine = 0;                                                           \
        expect(#NAME "_p", shadow[room], &theirs, BYTES(T));                \
        fresh();                                                            \
        memcpy(shadow[room], &side, sizeof side);                           \
        DO(NAME##_g, (T *)(void *)got[room],                                \
           (T *)(void *)(area + (size_t)room * ROOM), next);                \
        expect(#NAME "_g", got[room], &side, BYTES(T));                     \
    }
SHMEMI_RMA_TYPES(TYPED)

#define SIZED(S, SIZE)                                                      \
    static void size##S##_moves(void)                                       \
    {                                                                       \
        PUT(put##S, SIZE);                                                  \
        GET(get##S, SIZE);                                                  \
        PUT(put##S##_nbi, SIZE);                                            \
        GET(get##S##_nbi, SIZE);                                            \
        IPUT(iput##S, SIZE);                                                \
        IGET(iget##S, SIZE);                                                \
        IBPUT(ibput##S, SIZE);                                              \
        IBGET(ibget##S, SIZE);                                              \
        SIGNALLED(put##S##_signal, SIZE, SHMEM_SIGNAL_SET, 3, 5);           \
        SIGNALLED(put##S##_signal_nbi, SIZE, SHMEM_SIGNAL_ADD, 3, 8);       \
    }
SHMEMI_SIZES(SIZED)

static void bytes_move(void)
{
    PUT(putmem, 1);
    GET(getmem, 1);
    PUT(putmem_nbi, 1);
    GET(getmem_nbi, 1);
    SIGNALLED(putmem_signal, 1, SHMEM_SIGNAL_ADD, 3, 8);
    SIGNALLED(putmem_signal_nbi, 1, SHMEM_SIGNAL_ADD, 3, 8);
}

/* ---- atomics: on a word that is 12 ---- */

#define WORD(T) ((T *)(void *)word(&(T){ 12 }, sizeof(T)))
static void *word(const void *was, size_t size)
{
    char *at = fresh();

    memcpy(shadow[room], was, size);
    return at;
}

#define NOW(F, T, V) expect(#F, shadow[room], &(T){ V }, sizeof(T))
#define WAS(F, T) expect(#F, got[room], &(T){ 12 }, sizeof(T))
#define FETCH(T) ((T *)(void *)got[room])
#define PLAIN(F, T, V)                                                      \
    do {                                                                    \
        T *w_ = WORD(T);                                                    \
                                                                            \
        DO(F, w_, 10, next);                                                \
        NOW(F, T, V);                                                       \
    } while (0)
#define FETCHING(F, T, V)                                                   \
    do {                                                                    \
        T *w_ = WORD(T);                                                    \
                                                                            \
        DO(F, FETCH(T), w_, 10, next);                                      \
        NOW(F, T, V);                                                       \
        WAS(F, T);                                                          \
    } while (0)
#define EXT(NAME, T)                                                        \
    static void NAME##_ext(void)                                            \
    {                                                                       \
        T *w = WORD(T);                                                     \
                                                                            \
        DO(NAME##_atomic_fetch, FETCH(T), w, next);                         \
        NOW(NAME##_atomic_fetch, T, 12);                                    \
        WAS(NAME##_atomic_fetch, T);                                        \
        PLAIN(NAME##_atomic_set, T, 10);                                    \
        FETCHING(NAME##_atomic_swap, T, 10);                                \
    }
SHMEMI_AMO_EXT_TYPES(EXT)
#define STD(NAME, T)                                                        \
    static void NAME##_std(void)                                            \
    {                                                                       \
        T *w = WORD(T);                                                     \
                                                                            \
        DO(NAME##_atomic_compare_swap, FETCH(T), w, 12, 9, next);           \
        NOW(NAME##_atomic_compare_swap, T, 9);                              \
        WAS(NAME##_atomic_compare_swap, T);                                 \
        w = WORD(T);                                                        \
        DO(NAME##_atomic_fetch_inc, FETCH(T), w, next);                     \
        NOW(NAME##_atomic_fetch_inc, T, 13);                                \
        WAS(NAME##_atomic_fetch_inc, T);                                    \
        w = WORD(T);                                                        \
        DO(NAME##_atomic_inc, w, next);                                     \
        NOW(NAME##_atomic_inc, T, 13);                                      \
        FETCHING(NAME##_atomic_fetch_add, T, 22);                           \
        PLAIN(NAME##_atomic_add, T, 22);                                    \
    }
SHMEMI_AMO_TYPES(STD)
#define BIT(NAME, T)                                                        \
    static void NAME##_bit(void)                                            \
    {                                                                       \
        FETCHING(NAME##_atomic_fetch_and, T, 8);                            \
        FETCHING(NAME##_atomic_fetch_or, T, 14);                            \
        FETCHING(NAME##_atomic_fetch_xor, T, 6);                            \
        PLAIN(NAME##_atomic_and, T, 8);                                     \
        PLAIN(NAME##_atomic_or, T, 14);                                     \
        PLAIN(NAME##_atomic_xor, T, 6);                                     \
    }
SHMEMI_AMO_BIT_TYPES(BIT)

static void signals_change(void)
{
    uint64_t *w = WORD(uint64_t);

    DO(signal_set, w, 10, next);
    NOW(signal_set, uint64_t, 10);
    w = WORD(uint64_t);
    DO(signal_add, w, 10, next);
    NOW(signal_add, uint64_t, 22);
    w = WORD(uint64_t);
    DO(signal_op, w, 10, SHMEM_SIGNAL_ADD, next);
    NOW(signal_op, uint64_t, 22);
    w = WORD(uint64_t);
    DO_ONE(signal_fetch, FETCH(uint64_t), w);
    WAS(signal_fetch, uint64_t);
}

static void order_is_kept(void)
{
    int pes[] = { next, me };

    calls += 3;
    if (with) {
        T_EQ(shmemx_ctx_fence_on_stream(ctx, s), 0);
        T_EQ(shmemx_ctx_quiet_on_stream(ctx, s), 0);
    } else {
        T_EQ(shmemx_fence_on_stream(s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
    }
    DO(pe_quiet, pes, 2);
    calls--;
}

/* ---- waits: of three words that are 0, the last is raised to 10; of those
 * that must all be, the first does not count ---- */

static const int status[N] = { 1 };
static size_t index_of[ROOMS], count_of[ROOMS], indices_of[ROOMS][N];

#define ZEROS(T) ((T *)(void *)word((char[sizeof(T) * N]){ 0 },             \
                                    sizeof(T) * N))
#define WAIT(NAME, T, V, VALUE)                                             \
    do {                                                                    \
        T *w_ = ZEROS(T);                                                   \
                                                                            \
        DO_ONE(NAME##_wait_until_all##V, w_, N, status, SHMEM_CMP_GE,       \
               VALUE);                                                      \
        raise[n_raise++] = (struct raise){ room, sizeof(T), 1 };            \
        raise[n_raise++] = (struct raise){ room, sizeof(T), 2 };            \
        w_ = ZEROS(T);                                                      \
        index_of[room] = 99;                                                \
        DO_ONE(NAME##_wait_until_any##V, &index_of[room], w_, N, status,    \
               SHMEM_CMP_EQ, VALUE);                                        \
        raise[n_raise++] = (struct raise){ room, sizeof(T), 2 };            \
        expect(#NAME "_wait_until_any" #V, &index_of[room], &(size_t){ 2 }, \
               sizeof(size_t));                                             \
        w_ = ZEROS(T);                                                      \
        DO_ONE(NAME##_wait_until_some##V, &count_of[room], w_, N,           \
               indices_of[room], status, SHMEM_CMP_EQ, VALUE);              \
        raise[n_raise++] = (struct raise){ room, sizeof(T), 2 };            \
        expect(#NAME "_wait_until_some" #V, &count_of[room],                \
               &(size_t){ 1 }, sizeof(size_t));                             \
        expect(#NAME "_wait_until_some" #V, indices_of[room],               \
               &(size_t){ 2 }, sizeof(size_t));                             \
    } while (0)
static struct raise { int room; size_t size; int i; } raise[ROOMS];
static int n_raise;

#define WAITS(NAME, T)                                                      \
    static void NAME##_waits(void)                                          \
    {                                                                       \
        static const T values[N] = { 10, 10, 10 };                          \
        T *w = ZEROS(T);                                                    \
                                                                            \
        DO_ONE(NAME##_wait_until, w, SHMEM_CMP_GT, 9);                      \
        raise[n_raise++] = (struct raise){ room, sizeof(T), 0 };            \
        WAIT(NAME, T, , 10);                                                \
        WAIT(NAME, T, _vector, values);                                     \
    }
SHMEMI_AMO_TYPES(WAITS)

static void raise_all(void)
{
    for (int i = 0; i < n_raise; i++) {
        char *at = area + (size_t)raise[i].room * ROOM +
                   raise[i].size * (size_t)raise[i].i;

        if (raise[i].size == 4)
            shmem_int32_p((int32_t *)(void *)at, 10, next);
        else
            shmem_int64_p((int64_t *)(void *)at, 10, next);
    }
}

/* ---- */

static void begin(bool with_ctx)
{
    with = with_ctx;
    room = n_expected = n_raise = 0;
    if (!with)
        calls = 0;
    memset(got, 0, sizeof got);
    memset(shadow, 0, sizeof shadow);
    for (size_t i = 0; i < ROOM; i++)
        shadow[0][i] = byte_of(me, 0, i);
}

static void call_all(void)
{
#define RUN_RMA(NAME, T) NAME##_moves();
    SHMEMI_RMA_TYPES(RUN_RMA)
#define RUN_SIZE(S, SIZE) size##S##_moves();
    SHMEMI_SIZES(RUN_SIZE)
    bytes_move();
#define RUN_EXT(NAME, T) NAME##_ext();
    SHMEMI_AMO_EXT_TYPES(RUN_EXT)
#define RUN_STD(NAME, T) NAME##_std();
    SHMEMI_AMO_TYPES(RUN_STD)
#define RUN_BIT(NAME, T) NAME##_bit();
    SHMEMI_AMO_BIT_TYPES(RUN_BIT)
    signals_change();
#define RUN_WAITS(NAME, T) NAME##_waits();
    SHMEMI_AMO_TYPES(RUN_WAITS)
    order_is_kept();
    T_LT(room, ROOMS);
}

static void copy(void *to, const void *from)
{
    T_EQ(shmemx_stream_copy(aside, to, from, sizeof shadow), 0);
    T_EQ(shmemx_stream_sync(aside), 0);
}

/* What the calls are to find is known when they have been made, so they run
 * behind a start flag. */
static void all(bool with_ctx)
{
    begin(with_ctx);
    *start_flag = 0;
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, start_flag, SHMEM_CMP_EQ, 1,
                                            s),
         0);
    calls += !with;
    call_all();
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    copy(area, shadow);
    shmem_barrier_all();
    shmem_uint64_p(start_flag, 1, me);
    raise_all();
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    copy(shadow, area);
    for (int i = 0; i < n_expected; i++)
        if (memcmp(expected[i].at, expected[i].want, expected[i].n))
            T_STR("wrong", expected[i].call);
    shmem_barrier_all();
}

T(every_call_does_what_it_says)
{
    shmem_space_t spaces[] = { SHMEM_SPACE_CPU, SHMEM_SPACE_DEVICE };

    for (int k = 0; k < 2; k++) {
        area = shmem_space_malloc(spaces[k], sizeof shadow);
        T_TRUE(area != NULL);
        all(false);
        all(true);
        T_EQ(calls, FUNCTIONS);
        shmem_free(area);
    }
}

int main(void)
{
    st_begin();
    start_flag = shmem_calloc(1, sizeof *start_flag);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_EQ(shmemx_stream_create(&s), 0);
    T_EQ(shmemx_stream_create(&aside), 0);
    T_RUN(every_call_does_what_it_says);
    T_EQ(shmemx_stream_destroy(aside), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_ctx_destroy(ctx);
    return st_end();
}

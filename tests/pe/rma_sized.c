/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the forms by size and by byte move exactly the bytes they name
 * between all memories, for every size from 0 to 300, every alignment, and
 * random sizes to 4 MiB, one after the other and many at once; zero bytes touch
 * nothing, whatever the pointers; a fence orders puts.
 * PEs: 2
 * Ppn: 2/1 */
#include "../memory.h"

enum {
    SMALL = 300, GUARDS = 64, GUARD = 0xa5,
    ROOM = 8 << 20, DEVICE_ROOM = 2 << 20, STATIC_ROOM = 1 << 18,
    AT_ONCE = 160, AT_ONCE_ROOM = 1 << 17
};

static char *dest[SYMMETRIC];   /* of puts */
static char *source[MEMORIES];  /* bytes of this PE, which stay */
static char *local[MEMORIES];   /* dest of gets */
static size_t room[MEMORIES];   /* of each of these */
static unsigned char *want;
static shmem_ctx_t ctx;
static unsigned turn;

static unsigned char at(int pe, size_t i)
{
    return (unsigned char)(i * 167 + i / 253 + (unsigned)pe * 91 + 1);
}

static void want_bytes(unsigned char *to, int pe, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = at(pe, from + i);
}

/* A pair of memories with that much room; the one after the last one after two
 * transfers. */
static enum memory origin_kind(size_t bytes)
{
    enum memory w = (enum memory)(turn / 2 % MEMORIES);

    return bytes <= room[w] ? w : HOST;
}

static enum memory target_kind(size_t bytes)
{
    enum memory w = (enum memory)(turn / 2 / MEMORIES % SYMMETRIC);

    return bytes <= room[w] ? w : HOST;
}

/* All PEs put [from, from + n) to offset to of the next one's dest. */
static void check_put(size_t to, size_t from, size_t n)
{
    size_t lo = to > GUARDS ? to - GUARDS : 0, all = to - lo + n + GUARDS;
    char *d = dest[target_kind(lo + all)];
    char *s = source[origin_kind(from + n)];

    mem_fill(d + lo, GUARD, all);
    shmem_barrier_all();
    if (n % 2)
        shmem_putmem(d + to, s + from, n, next);
    else
        shmem_ctx_putmem_nbi(ctx, d + to, s + from, n, next);
    finish_transfers(ctx);
    memset(want, GUARD, all);
    want_bytes(want + (to - lo), before, from, n);
    mem_expect(d + lo, want, all);
    shmem_barrier_all();
}

static void check_get(size_t to, size_t from, size_t n)
{
    char *d = local[origin_kind(to + n + GUARDS)];
    const char *s = source[target_kind(from + n)];

    mem_fill(d + to, GUARD, n + GUARDS);
    if (n % 2)
        shmem_getmem_nbi(d + to, s + from, n, next);
    else
        shmem_ctx_getmem(ctx, d + to, s + from, n, next);
    shmem_quiet();
    memset(want, GUARD, n + GUARDS);
    want_bytes(want, next, from, n);
    mem_expect(d + to, want, n + GUARDS);
    turn++;
}

/* On a device, which is slow, a part of them, another one in each run. */
static size_t start(size_t step)
{
    return T_RAND() % step;
}

T(every_small_size)
{
    size_t step = on_device ? 11 : 1;

    for (size_t n = start(step); n <= SMALL; n += step) {
        check_put(64 + n % 64, (n * 7) % 64, n);
        check_get(64 + (n * 5) % 64, n % 64, n);
    }
}

T(every_alignment)
{
    static const size_t sizes[] = { 8, 33, 4096 };

    size_t step = on_device ? 9 : 1;

    for (size_t a = start(step); a < 64; a += step)
        for (size_t k = 0; k < 3; k++) {
            check_put(64 + a, 63 - a, sizes[k]);
            check_get(64 + a, a / 3, sizes[k]);
        }
}

T(random_sizes)
{
    for (int r = 0; r < (on_device ? 4 : 12); r++) {
        size_t n = T_RAND() % (room[HOST] / 2), to = 64 + T_RAND() % 5000;

        check_put(to, T_RAND() % 5000, n);
        check_get(to, T_RAND() % 5000, n);
    }
}

/* Longer than any bounce buffer of the library, as target as there is room. */
T(large_between_all_memories)
{
    for (unsigned i = 0; i < 2 * MEMORIES * SYMMETRIC; i++) {
        size_t most = room[origin_kind(0)] < room[target_kind(0)]
                      ? room[origin_kind(0)] : room[target_kind(0)];
        size_t n = (most < DEVICE_ROOM ? most : DEVICE_ROOM) / 2 + i;

        check_put(64 + T_RAND() % 64, T_RAND() % 64, n);
        check_get(64 + T_RAND() % 64, T_RAND() % 64, n);
    }
}

#define SIZED(S, BYTES)                                                     \
    for (size_t n = 0; n < 20; n++) {                                       \
        size_t off = 16 * (n % 3);                                          \
        char *d = dest[target_kind(0)], *l = local[origin_kind(0)];         \
        char *origin = source[origin_kind(0)];                              \
        char *target = source[target_kind(0)];                              \
                                                                            \
        mem_fill(d, GUARD, 1024);                                           \
        shmem_barrier_all();                                                \
        switch (n % 4) {                                                    \
        case 0: shmem_put##S(d + off, origin + 16, n, next); break;         \
        case 1: shmem_ctx_put##S(ctx, d + off, origin + 16, n, next); break; \
        case 2: shmem_put##S##_nbi(d + off, origin + 16, n, next); break;   \
        default: shmem_ctx_put##S##_nbi(ctx, d + off, origin + 16, n, next); \
        }                                                                   \
        shmem_quiet();                                                      \
        finish_transfers(ctx);                                              \
        memset(want, GUARD, 1024);                                          \
        want_bytes(want + off, before, 16, n * BYTES);                      \
        mem_expect(d, want, 1024);                                          \
        mem_fill(l, GUARD, 1024);                                           \
        switch (n % 4) {                                                    \
        case 0: shmem_get##S(l + off, target, n, next); break;              \
        case 1: shmem_ctx_get##S(ctx, l + off, target, n, next); break;     \
        case 2: shmem_get##S##_nbi(l + off, target, n, next); break;        \
        default: shmem_ctx_get##S##_nbi(ctx, l + off, target, n, next);     \
        }                                                                   \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        memset(want, GUARD, 1024);                                          \
        want_bytes(want + off, next, 0, n * BYTES);                         \
        mem_expect(l, want, 1024);                                          \
        shmem_barrier_all();                                                \
        turn++;                                                             \
    }

T(by_element_size)
{
    SHMEMI_SIZES(SIZED)
}

T(zero_bytes)
{
    char *p = dest[OTHER];
    int here;

    shmem_putmem(&here, NULL, 0, next);
    shmem_getmem(NULL, &here, 0, next);
    shmem_putmem(p, NULL, 0, next);
    shmem_getmem(NULL, p, 0, next);
    shmem_put64(NULL, NULL, 0, next);
    shmem_iput32(NULL, NULL, 1, 1, 0, next);
    shmem_double_put_signal(NULL, NULL, 0, (uint64_t *)(void *)p, 1,
                            SHMEM_SIGNAL_SET, me);
    shmem_quiet();
    T_EQ(mem_load_word(p, 8), 1);
    shmem_barrier_all();
}

/* ---- many at once ---- */

/* One transfer, the same on all PEs. */
struct op {
    enum memory origin, target;
    size_t origin_at, target_at, len;
    unsigned form;
};

static void put(const struct op *o)
{
    char *to = dest[o->target] + o->target_at;
    char *p = source[o->origin] + o->origin_at;

    switch (o->form % 4) {
    case 0: shmem_putmem(to, p, o->len, next); break;
    case 1: shmem_putmem_nbi(to, p, o->len, next); break;
    case 2: shmem_ctx_putmem(ctx, to, p, o->len, next); break;
    default: shmem_ctx_putmem_nbi(ctx, to, p, o->len, next);
    }
}

static void get(const struct op *o)
{
    char *p = source[o->target] + o->target_at;
    char *to = local[o->origin] + o->origin_at;

    switch (o->form % 4) {
    case 0: shmem_getmem(to, p, o->len, next); break;
    case 1: shmem_getmem_nbi(to, p, o->len, next); break;
    case 2: shmem_ctx_getmem(ctx, to, p, o->len, next); break;
    default: shmem_ctx_getmem_nbi(ctx, to, p, o->len, next);
    }
}

/* In each memory there is what was moved to it, and no other byte changed. */
static void check_puts(const struct op *ops, int n)
{
    for (enum memory w = HOST; w < SYMMETRIC; w++) {
        memset(want, GUARD, AT_ONCE_ROOM);
        for (int i = 0; i < n; i++)
            if (ops[i].target == w)
                want_bytes(want + ops[i].target_at, before, ops[i].origin_at,
                           ops[i].len);
        mem_expect(dest[w], want, AT_ONCE_ROOM);
    }
    shmem_barrier_all();
}

static void check_gets(const struct op *ops, int n)
{
    for (enum memory w = HOST; w < MEMORIES; w++) {
        memset(want, GUARD, AT_ONCE_ROOM);
        for (int i = 0; i < n; i++)
            if (ops[i].origin == w)
                want_bytes(want + ops[i].origin_at, next, ops[i].target_at,
                           ops[i].len);
        mem_expect(local[w], want, AT_ONCE_ROOM);
    }
    shmem_barrier_all();
}

/* No two go to the same place; how many there are. */
static int draw(struct op *ops)
{
    static const size_t lens[] = {
        0, 1, 3, 8, 8, 16, 64, 200, 896, 3584, 4096
    };
    static const size_t offs[] = { 0, 0, 1, 3, 8 };
    size_t from = 0;
    int n;

    for (n = 0; n < AT_ONCE; n++) {
        ops[n].origin = (enum memory)(n % MEMORIES);
        ops[n].target = (enum memory)(n / MEMORIES % SYMMETRIC);
        ops[n].form = (unsigned)(n / MEMORIES / SYMMETRIC);
        ops[n].len = lens[T_RAND() % (sizeof lens / sizeof *lens)];
        ops[n].target_at = from + offs[T_RAND() % (sizeof offs / sizeof *offs)];
        ops[n].origin_at = from + offs[T_RAND() % (sizeof offs / sizeof *offs)];
        from += (ops[n].len + 24) / 16 * 16;
        if (from + 4096 + 64 > AT_ONCE_ROOM)
            break;
    }
    return n;
}

T(many_at_once)
{
    struct op ops[AT_ONCE];
    int n = draw(ops);

    for (int w = 0; w < SYMMETRIC; w++)
        mem_fill(dest[w], GUARD, AT_ONCE_ROOM);
    for (int w = 0; w < MEMORIES; w++)
        mem_fill(local[w], GUARD, AT_ONCE_ROOM);
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        put(&ops[i]);
    finish_transfers(ctx);
    check_puts(ops, n);
    for (int i = 0; i < n; i++)
        get(&ops[i]);
    finish_transfers(ctx);
    check_gets(ops, n);
}

/* ---- order ---- */

/* To this PE itself, from one memory to the other. */
T(to_self)
{
    unsigned char p[200];
    char *a = dest[OTHER], *b = dest[HOST];

    want_bytes(p, me, 3, sizeof p);
    mem_store(a, p, sizeof p);
    shmem_putmem(a + 256, a, sizeof p, me);
    shmem_quiet();
    shmem_getmem(b, a + 256, sizeof p, me);
    shmem_putmem(b + 256, b, sizeof p, me);
    shmem_quiet();
    mem_expect(a + 256, p, sizeof p);
    mem_expect(b, p, sizeof p);
    mem_expect(b + 256, p, sizeof p);
    shmem_barrier_all();
}

/* A fence between puts to one word: the later one wins. */
T(fence_orders)
{
    uint64_t *w[SYMMETRIC], v;
    uint64_t *mine = mem_alloc(OTHER, 64);

    for (int i = 0; i < SYMMETRIC; i++)
        w[i] = mem_alloc((enum memory)i, 64);
    for (v = 1; v <= 10; v++) {
        mem_store_word(mine, v, 8);
        for (int i = 0; i < SYMMETRIC; i++) {
            shmem_putmem(w[i], &v, 8, next);
            shmem_fence();
            shmem_putmem(w[i], mine, 8, next);
            shmem_fence();
        }
    }
    finish_transfers(ctx);
    for (int i = 0; i < SYMMETRIC; i++) {
        T_EQ(mem_load_word(w[i], 8), 10);
        mem_free((enum memory)i, w[i]);
    }
    mem_free(OTHER, mine);
}

static void make_buffers(void)
{
    for (int w = 0; w < MEMORIES; w++) {
        room[w] = on_device ? DEVICE_ROOM : w == OTHER ? STATIC_ROOM : ROOM;
        source[w] = mem_alloc((enum memory)w, room[w]);
        local[w] = mem_alloc((enum memory)w, room[w]);
        if (w < SYMMETRIC)
            dest[w] = mem_alloc((enum memory)w, room[w]);
    }
    want = malloc(room[HOST]);
    want_bytes(want, me, 0, room[HOST]);
    for (int w = 0; w < MEMORIES; w++)
        mem_store(source[w], want, room[w]);
    shmem_barrier_all();
}

static void free_buffers(void)
{
    for (int w = 0; w < MEMORIES; w++) {
        if (w < SYMMETRIC)
            mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, local[w]);
        mem_free((enum memory)w, source[w]);
    }
    free(want);
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    make_buffers();
    T_RUN(every_small_size);
    T_RUN(every_alignment);
    T_RUN(random_sizes);
    T_RUN(large_between_all_memories);
    T_RUN(by_element_size);
    T_RUN(zero_bytes);
    T_RUN(many_at_once);
    T_RUN(to_self);
    T_RUN(fence_orders);
    free_buffers();
    shmem_ctx_destroy(ctx);
    return memory_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts and gets of all sizes move the bytes they name and no
 * others, between host and device memory, symmetric and private, aligned or
 * not, blocking or not, in the default context and another. */
#include "device.h"

enum { SMALL = 1 << 17, BIG = (1 << 20) + 128, GUARD = 0xee, OPS = 160 };

static shmem_ctx_t ctx;
static char *sym[SYMMETRIC], *loc[PLACES];
static size_t size;             /* of each */
static unsigned char *want[PLACES], *from[SYMMETRIC];

/* One transfer, the same on all PEs. */
struct op {
    enum place near, far;
    size_t near_at, far_at, len;
    unsigned how;
};

static void put(const struct op *o)
{
    char *to = sym[o->far] + o->far_at, *p = loc[o->near] + o->near_at;

    switch (o->how % 4) {
    case 0: shmem_putmem(to, p, o->len, next); break;
    case 1: shmem_putmem_nbi(to, p, o->len, next); break;
    case 2: shmem_ctx_putmem(ctx, to, p, o->len, next); break;
    default: shmem_ctx_putmem_nbi(ctx, to, p, o->len, next);
    }
}

static void get(const struct op *o)
{
    char *p = sym[o->far] + o->far_at, *to = loc[o->near] + o->near_at;

    switch (o->how % 4) {
    case 0: shmem_getmem(to, p, o->len, next); break;
    case 1: shmem_getmem_nbi(to, p, o->len, next); break;
    case 2: shmem_ctx_getmem(ctx, to, p, o->len, next); break;
    default: shmem_ctx_getmem_nbi(ctx, to, p, o->len, next);
    }
}

/* What was put from a local place is what `before` has there: the same bytes
 * in all its places. */
static void check_puts(const struct op *ops, int n)
{
    settle(ctx);
    pattern(from[0], before, 1, size);
    for (int w = 0; w < SYMMETRIC; w++)
        memset(want[w], GUARD, size);
    for (int i = 0; i < n; i++)
        memcpy(want[ops[i].far] + ops[i].far_at, from[0] + ops[i].near_at,
               ops[i].len);
    for (int w = 0; w < SYMMETRIC; w++)
        expect(sym[w], want[w], size);
    shmem_barrier_all();
}

static void check_gets(const struct op *ops, int n)
{
    settle(ctx);
    pattern(from[0], next, 2, size);
    for (int w = 0; w < PLACES; w++)
        memset(want[w], GUARD, size);
    for (int i = 0; i < n; i++)
        memcpy(want[ops[i].near] + ops[i].near_at, from[0] + ops[i].far_at,
               ops[i].len);
    for (int w = 0; w < PLACES; w++)
        expect(loc[w], want[w], size);
    shmem_barrier_all();
}

static void make(size_t bytes)
{
    size = bytes;
    for (int w = 0; w < PLACES; w++) {
        loc[w] = room_make((enum place)w, size);
        want[w] = malloc(size);
    }
    for (int w = 0; w < SYMMETRIC; w++) {
        sym[w] = room_make((enum place)w, size);
        from[w] = malloc(size);
    }
}

static void drop(void)
{
    for (int w = 0; w < PLACES; w++) {
        room_drop((enum place)w, loc[w]);
        free(want[w]);
    }
    for (int w = 0; w < SYMMETRIC; w++) {
        room_drop((enum place)w, sym[w]);
        free(from[w]);
    }
}

static void run(const struct op *ops, int n)
{
    unsigned char *p = malloc(size);

    pattern(p, me, 1, size);
    for (int w = 0; w < PLACES; w++)
        store(loc[w], p, size);
    for (int w = 0; w < SYMMETRIC; w++)
        store_byte(sym[w], GUARD, size);
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        put(&ops[i]);
    check_puts(ops, n);
    pattern(p, me, 2, size);
    for (int w = 0; w < SYMMETRIC; w++)
        store(sym[w], p, size);
    for (int w = 0; w < PLACES; w++)
        store_byte(loc[w], GUARD, size);
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        get(&ops[i]);
    check_gets(ops, n);
    free(p);
}

/* Each of the sizes in turn, wherever it lands: not where another one of this
 * run has landed. */
T(all_sizes)
{
    static const size_t lens[] = { 0, 1, 3, 8, 8, 16, 64, 200, 896, 3584, 4096 };
    static const size_t offs[] = { 0, 0, 1, 3, 8 };
    struct op ops[OPS];
    size_t at = 0;
    int n;

    make(SMALL);
    for (n = 0; n < OPS; n++) {
        ops[n].near = (enum place)(n % PLACES);
        ops[n].far = (enum place)(n / PLACES % SYMMETRIC);
        ops[n].how = (unsigned)(n / PLACES / SYMMETRIC);
        ops[n].len = lens[T_RAND() % (sizeof lens / sizeof *lens)];
        ops[n].far_at = at + offs[T_RAND() % (sizeof offs / sizeof *offs)];
        ops[n].near_at = at + offs[T_RAND() % (sizeof offs / sizeof *offs)];
        at += (ops[n].len + 24) / 16 * 16;
        if (at + 4096 + 64 > SMALL)
            break;
    }
    run(ops, n);
    drop();
}

/* The largest between each two places. */
T(large)
{
    make(BIG);
    for (unsigned i = 0; i < PLACES; i++) {
        unsigned near = i, far = (i + T_RAND()) % SYMMETRIC;
        struct op o = { (enum place)near, (enum place)far, T_RAND() % 64,
                        T_RAND() % 64, (1 << 20) + 5,
                        (unsigned)(T_RAND() % 4) };

        run(&o, 1);
    }
    drop();
}

/* To this PE itself, from one place to the other. */
T(to_self)
{
    unsigned char p[200];
    char *a = room_make(DEVICE, 512), *b = room_make(HOST, 512);

    pattern(p, me, 3, sizeof p);
    store(a, p, sizeof p);
    shmem_putmem(a + 256, a, sizeof p, me);
    shmem_getmem(b, a + 256, sizeof p, me);
    shmem_putmem(b + 256, b, sizeof p, me);
    shmem_quiet();
    expect(a + 256, p, sizeof p);
    expect(b, p, sizeof p);
    expect(b + 256, p, sizeof p);
    room_drop(DEVICE, a);
    room_drop(HOST, b);
}

/* A fence between puts to one word: the later one wins. */
T(fence_orders)
{
    uint64_t *w[SYMMETRIC], v = 0;
    uint64_t *mine = room_make(DEVICE, 64);

    for (int i = 0; i < SYMMETRIC; i++)
        w[i] = room_make((enum place)i, 64);
    for (v = 1; v <= 10; v++) {
        store_word(mine, v, 8);
        for (int i = 0; i < SYMMETRIC; i++) {
            shmem_putmem(w[i], &v, 8, next);
            shmem_fence();
            shmem_putmem(w[i], mine, 8, next);
            shmem_fence();
        }
    }
    settle(ctx);
    for (int i = 0; i < SYMMETRIC; i++) {
        T_EQ(load_word(w[i], 8), 10);
        room_drop((enum place)i, w[i]);
    }
    room_drop(DEVICE, mine);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(to_self);
    T_RUN(all_sizes);
    T_RUN(large);
    T_RUN(fence_orders);
    shmem_ctx_destroy(ctx);
    return device_end();
}

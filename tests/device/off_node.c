/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is put to another node, from and to device memory and
 * longer than one message, is there before the flag or signal that follows;
 * many PEs may use one PE's device at once, several threads, too; and blocks
 * of any length keep their places. */
#include "../memory.h"

#include <pthread.h>

enum { MOST = (3 << 20) + 5, SPARE = 64, SLICE = 700001, THREADS = 2,
       BLOCKS = 5 };

static char *sym[SYMMETRIC], *loc[MEMORIES];
static unsigned char *want;
static uint64_t *flags[SYMMETRIC];      /* symmetric words */
static unsigned turn;

static const size_t sizes[] = {
    1, 3584, 3585, 16385, 32768, 65537, 262145, (1 << 20) + 3, MOST
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool usable(enum memory p)
{
    return p != DEVICE_PRIVATE || has_device_private;
}

/* One put to next with a flag or a signal behind it, and the same from
 * before. */
static void notified(enum memory origin, enum memory target, size_t len)
{
    size_t at = turn % SPARE, to = turn * 7 % SPARE;
    uint64_t *flag = flags[turn % SYMMETRIC];
    unsigned how = ++turn % 4;

    pattern(want, me, turn, len);
    mem_store(loc[origin] + at, want, len);
    if (how == 0) {
        shmem_putmem(sym[target] + to, loc[origin] + at, len, next);
    } else if (how == 1) {
        shmem_putmem_nbi(sym[target] + to, loc[origin] + at, len, next);
    } else if (how == 2) {
        shmem_putmem_signal(sym[target] + to, loc[origin] + at, len, flag,
                                turn,
                            SHMEM_SIGNAL_SET, next);
    } else {
        shmem_putmem_signal_nbi(sym[target] + to, loc[origin] + at, len, flag,
                                turn,
                                SHMEM_SIGNAL_SET, next);
    }
    if (how < 2) {
        shmem_fence();
        shmem_uint64_p(flag, turn, next);
    }
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, turn);
    pattern(want, before, turn, len);
    mem_expect(sym[target] + to, want, len);
    shmem_barrier_all();
}

T(data_before_flags)
{
    for (enum memory target = 0; target < SYMMETRIC; target++)
        for (enum memory origin = 0; origin < MEMORIES; origin++)
            for (unsigned i = 0; i < SIZES && usable(origin); i++)
                notified(origin, target, sizes[i]);
}

/* All at once with PE 0, which only sleeps. */
T(crowd)
{
    size_t at = (size_t)me * SLICE;

    turn++;
    pattern(want, me, turn, SLICE);
    mem_store(loc[DEVICE], want, SLICE);
    shmem_barrier_all();
    if (me == 0)
        usleep(30000);
    shmem_putmem_nbi(sym[DEVICE] + at, loc[DEVICE], SLICE, 0);
    shmem_quiet();
    shmem_getmem_nbi(loc[HOST], sym[DEVICE] + at, SLICE, 0);
    mem_fill(loc[DEVICE], 0, SLICE);
    shmem_getmem(loc[DEVICE], sym[DEVICE] + at, SLICE, 0);
    shmem_quiet();
    mem_expect(loc[HOST], want, SLICE);
    mem_expect(loc[DEVICE], want, SLICE);
    shmem_barrier_all();
}

static void *work(void *arg)
{
    size_t at = (size_t)*(const int *)arg * SLICE;
    unsigned char *mine = malloc(SLICE), *got = malloc(SLICE);
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    T_TRUE(mine && got);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    for (unsigned r = 0; r < 3 && mine && got; r++) {
        pattern(mine, me * THREADS + *(const int *)arg, r, SLICE);
        shmem_ctx_putmem(ctx, loc[DEVICE] + at, mine, SLICE, me);
        shmem_ctx_quiet(ctx);
        if (r % 2)
            shmem_ctx_putmem_nbi(ctx, sym[DEVICE] + at, mine, SLICE, next);
        else
            shmem_ctx_putmem(ctx, sym[DEVICE] + at, loc[DEVICE] + at, SLICE,
                             next);
        shmem_ctx_quiet(ctx);
        shmem_ctx_getmem(ctx, got, sym[DEVICE] + at, SLICE, next);
        T_MEM(got, mine, SLICE);
    }
    shmem_ctx_destroy(ctx);
    free(mine);
    free(got);
    return NULL;
}

T(threads)
{
    pthread_t t[THREADS];
    int id[THREADS];

    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        T_EQ(pthread_create(&t[i], NULL, work, &id[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    shmem_barrier_all();
}

static void spread(unsigned char *to, const unsigned char *from, size_t len,
                   size_t to_stride, size_t from_stride)
{
    for (int i = 0; i < BLOCKS; i++)
        memcpy(to + (size_t)i * to_stride, from + (size_t)i * from_stride,
               len);
}

/* Blocks of bytes, put to next and got from there. */
T(blocks)
{
    static const size_t lens[] = { 1, 700, 3000, 9001, 40000 };
    unsigned char *out = malloc(MOST), *back = malloc(MOST);

    T_TRUE(out && back);
    for (unsigned i = 0; i < sizeof lens / sizeof *lens && out && back; i++) {
        size_t len = lens[i], wide = 2 * len + 3, all = BLOCKS * wide;

        pattern(want, me, i, all);
        mem_store(loc[DEVICE], want, all);
        mem_fill(sym[DEVICE], 0xee, all);
        shmem_barrier_all();
        shmem_uint8_ibput((uint8_t *)sym[DEVICE], (uint8_t *)loc[DEVICE],
                          (ptrdiff_t)wide, (ptrdiff_t)len + 1, len, BLOCKS,
                          next);
        finish_transfers(SHMEM_CTX_DEFAULT);
        pattern(want, before, i, all);
        memset(out, 0xee, all);
        spread(out, want, len, wide, len + 1);
        mem_expect(sym[DEVICE], out, all);
        mem_fill(loc[DEVICE], 0xdd, all);
        shmem_uint8_ibget((uint8_t *)loc[DEVICE], (uint8_t *)sym[DEVICE],
                          (ptrdiff_t)len + 2, (ptrdiff_t)wide, len, BLOCKS,
                          next);
        pattern(want, me, i, all);
        memset(out, 0xdd, all);
        spread(out, want, len, len + 2, len + 1);
        mem_expect(loc[DEVICE], out, all);
        shmem_barrier_all();
    }
    free(out);
    free(back);
}

int main(void)
{
    device_begin(SHMEM_THREAD_MULTIPLE);
    for (enum memory p = 0; p < SYMMETRIC; p++) {
        size_t all = (size_t)n_pes * SLICE;

        sym[p] = mem_alloc(p, SPARE + (all > MOST ? all : MOST));
        loc[p] = mem_alloc(p, SPARE + MOST);
        flags[p] = mem_alloc(p, sizeof *flags[p]);
        mem_fill(flags[p], 0, sizeof *flags[p]);
    }
    loc[PRIVATE] = malloc(SPARE + MOST);
    loc[DEVICE_PRIVATE] = mem_alloc_private(SPARE + MOST);
    want = malloc(MOST + SPARE);
    T_TRUE(loc[PRIVATE] && want);
    shmem_barrier_all();
    T_RUN(data_before_flags);
    T_RUN(crowd);
    T_RUN(threads);
    T_RUN(blocks);
    mem_free_private(loc[DEVICE_PRIVATE]);
    free(loc[PRIVATE]);
    free(want);
    for (enum memory p = 0; p < SYMMETRIC; p++) {
        mem_free(p, flags[p]);
        mem_free(p, loc[p]);
        mem_free(p, sym[p]);
    }
    return memory_end();
}

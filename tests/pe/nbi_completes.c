/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: non-blocking puts and gets of either memory (memory.h) are
 * complete after a quiet and ordered by a fence, a signal comes after its data,
 * in each context and thread; the call that destroys a context, or ends the
 * library, completes what was put on it.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "../memory.h"

#include <pthread.h>

enum { LEN = 300000, ROUNDS = 6, THREADS = 6 };

static char *dest[SYMMETRIC], *source[SYMMETRIC];
static uint64_t *sig[SYMMETRIC];
static unsigned char *mine;

/* Between any two places. */
T(quiet_completes)
{
    unsigned char want[1000];

    for (unsigned r = 0; r < 4; r++) {
        char *to = dest[r % 2], *from = source[r / 2];

        pattern(mine, me, r, LEN);
        mem_store(from, mine, LEN);
        mem_fill(to, 0, LEN);
        shmem_barrier_all();
        shmem_putmem_nbi(to, from, LEN, next);
        shmem_quiet();
        /* Not before: it would be seen by a put of this PE, too. */
        shmem_getmem(want, to + LEN - sizeof want, sizeof want, next);
        T_MEM(want, mine + LEN - sizeof want, sizeof want);
        shmem_barrier_all();
        pattern(mine, before, r, LEN);
        mem_expect(to, mine, LEN);
        shmem_barrier_all();
        mem_fill(to, 0, LEN);
        shmem_getmem_nbi(to, from, LEN, before);
        shmem_quiet();
        mem_expect(to, mine, LEN);
        shmem_barrier_all();
    }
}

/* The later put wins, whichever of them did not block. */
T(fence_orders)
{
    for (unsigned r = 0; r < ROUNDS; r++) {
        char *to = dest[OTHER];
        uint64_t word = r + 1;

        pattern(mine, me, r, LEN);
        mem_store(source[OTHER], mine, LEN);
        pattern(mine, me, r + 100, LEN);
        mem_store(source[HOST], mine, LEN);
        shmem_barrier_all();
        shmem_putmem_nbi(to, source[OTHER], LEN, next);
        shmem_fence();
        if (r % 2)
            shmem_putmem(to, source[HOST], LEN, next);
        else
            shmem_putmem_nbi(to, source[HOST], LEN, next);
        shmem_fence();
        shmem_putmem_nbi(to + LEN - 8, &word, 8, next);
        shmem_barrier_all();
        pattern(mine, before, r + 100, LEN);
        memcpy(mine + LEN - 8, &word, 8);
        mem_expect(to, mine, LEN);
        shmem_barrier_all();
    }
}

/* With no quiet at all, by setting and adding, of words in both memories. */
T(signals_follow_data)
{
    for (unsigned r = 0; r < 4 * ROUNDS; r++) {
        int where = (int)(r % 2), op = r / 2 % 2 ? SHMEM_SIGNAL_SET
                                                 : SHMEM_SIGNAL_ADD;
        char *to = dest[r / 4 % 2], *from = source[OTHER];
        unsigned char got[1000];

        pattern(mine, me, r, LEN);
        mem_store(from, mine, LEN);
        mem_store_word(sig[where], 0, 8);
        shmem_barrier_all();
        shmem_putmem_signal_nbi(to, from, LEN, sig[where], 3, op, next);
        T_EQ(shmem_signal_wait_until(sig[where], SHMEM_CMP_NE, 0), 3);
        mem_load(got, to + LEN - sizeof got, sizeof got);
        pattern(mine, before, r, LEN);
        T_MEM(got, mine + LEN - sizeof got, sizeof got);
        shmem_barrier_all();
    }
}

/* More than there is room for on the way. */
T(many_signals)
{
    for (int where = 0; where < SYMMETRIC; where++) {
        mem_store_word(sig[where], 0, 8);
        shmem_barrier_all();
        for (int i = 0; i < 150; i++)
            shmem_putmem_signal_nbi(dest[OTHER] + i * 16, source[OTHER], 16,
                                    sig[where], 2, SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(sig[where], SHMEM_CMP_GE, 300);
        shmem_barrier_all();
        T_EQ(mem_load_word(sig[where], 8), 300);
        shmem_barrier_all();
    }
}

T(destroying_completes)
{
    shmem_ctx_t ctx[5];

    pattern(mine, me, 50, LEN);
    mem_store(source[OTHER], mine, LEN);
    mem_fill(dest[OTHER], 0, LEN);
    shmem_barrier_all();
    for (int i = 0; i < 5; i++) {
        T_EQ(shmem_ctx_create(i % 2 ? SHMEM_CTX_NOSTORE : 0, &ctx[i]), 0);
        shmem_ctx_putmem_nbi(ctx[i], dest[OTHER] + i * (LEN / 5),
                             source[OTHER] + i * (LEN / 5), LEN / 5, next);
    }
    for (int i = 0; i < 5; i++)
        shmem_ctx_destroy(ctx[i]);
    shmem_sync_all();
    pattern(mine, before, 50, LEN);
    mem_expect(dest[OTHER], mine, LEN);
    shmem_barrier_all();
}

/* Each thread has its part, and more contexts than there are streams. */
static void *work(void *arg)
{
    enum { PART = LEN / THREADS / 8 * 8 };
    size_t at = (size_t)*(int *)arg * PART;
    unsigned char want[PART], got[PART];
    shmem_ctx_t ctx;

    T_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), 0);
    for (unsigned r = 0; r < 2 * ROUNDS; r++) {
        pattern(want, me, r + (unsigned)at, PART);
        shmem_ctx_putmem_nbi(ctx, source[OTHER] + at, want, PART, me);
        shmem_ctx_quiet(ctx);
        shmem_ctx_putmem_nbi(ctx, dest[OTHER] + at, source[OTHER] + at,
                             PART, next);
        shmem_ctx_quiet(ctx);
        shmem_ctx_getmem_nbi(ctx, got, dest[OTHER] + at, PART, next);
        shmem_ctx_quiet(ctx);
        T_MEM(got, want, PART);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

T(threads_and_contexts)
{
    pthread_t threads[THREADS];
    int ids[THREADS];

    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        T_EQ(pthread_create(&threads[i], NULL, work, &ids[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
}

/* The library's end completes what contexts are left with. */
static void leave_contexts(void)
{
    enum { CONTEXTS = 4, PUTS = 20 };
    shmem_ctx_t ctx;

    for (int i = 0; i < CONTEXTS; i++) {
        T_EQ(shmem_ctx_create(0, &ctx), 0);
        for (int k = 0; k < PUTS; k++)
            shmem_ctx_putmem_nbi(ctx, dest[OTHER], source[OTHER], LEN, next);
    }
}

/* For device/nbi.sh: none of these waits for the device. */
static void do_not_wait(void)
{
    shmem_barrier_all();
    mem_log("BEGIN");
    for (int i = 0; i < 10; i++) {
        shmem_putmem_nbi(dest[OTHER], source[OTHER], LEN, next);
        shmem_getmem_nbi(source[OTHER] + LEN / 2, dest[OTHER] + LEN / 2,
                         1000, next);
        shmem_putmem_signal_nbi(dest[OTHER], source[OTHER], 1000,
                                sig[OTHER], 1, SHMEM_SIGNAL_ADD, next);
        shmem_uint64_put_nbi(sig[OTHER] + 1, sig[OTHER] + 2, 1, next);
    }
    mem_log("END");
    shmem_barrier_all();
}

int main(void)
{
    memory_begin(SHMEM_THREAD_MULTIPLE);
    mine = malloc(LEN);
    for (int w = 0; w < SYMMETRIC; w++) {
        dest[w] = mem_alloc((enum memory)w, LEN);
        source[w] = mem_alloc((enum memory)w, LEN);
        sig[w] = mem_alloc((enum memory)w, 64);
        mem_fill(sig[w], 0, 64);
    }
    T_RUN(quiet_completes);
    T_RUN(fence_orders);
    T_RUN(signals_follow_data);
    T_RUN(many_signals);
    T_RUN(destroying_completes);
    T_RUN(threads_and_contexts);
    do_not_wait();
    for (int w = 0; w < SYMMETRIC; w++)
        mem_free((enum memory)w, sig[w]);
    mem_free(HOST, source[HOST]);
    mem_free(HOST, dest[HOST]);
    free(mine);
    leave_contexts();
    shmem_finalize();
    return T_DONE();
}

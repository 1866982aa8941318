/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts and gets around the size from which they are striped over
 * NICs, at odd places and of odd lengths, bring all their bytes and no others;
 * a signal, a fence and a quiet come after the whole of them, with several
 * threads, too, and in what the heap has grown by.
 * PEs: 2 3
 * Ppn: 2/1 4/2 2/1:SHMEM_OFI_RAILS=2 */
#include "off_node.h"

#include <pthread.h>

enum {
    LIMIT = 32768,              /* SHMEM_OFI_RAIL_THRESHOLD at least */
    MOST = 1 << 20, EDGE = 64, THREADS = 4
};
/* With words that nothing may touch before and behind. */
enum { ROOM = MOST + 2 * EDGE };

static const size_t sizes[] = {
    LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 64, 2 * LIMIT - 7, 100003, 131072,
    262144 + 33, MOST - 5, MOST
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char fixed[ROOM];       /* of the static data */
static unsigned char *heap;
static uint64_t signals[THREADS], flag;
static int me, n_pes, next, last;
static int rounds_of_all;

static unsigned char byte_of(size_t i, int round, int pe)
{
    return (unsigned char)(i * 7 + (i >> 8) * 13 + (size_t)round * 31 +
                           (size_t)pe * 101 + 1);
}

static void fill(unsigned char *p, size_t n, int round, int pe)
{
    for (size_t i = 0; i < n; i++)
        p[i] = byte_of(i, round, pe);
}

/* How many of the n bytes are not what that PE put in that round. */
static size_t wrong(const unsigned char *p, size_t n, int round, int pe)
{
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += p[i] != byte_of(i, round, pe);
    return bad;
}

static size_t not_zero(const unsigned char *p, size_t n)
{
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += p[i] != 0;
    return bad;
}

static void check(const unsigned char *room, size_t off, size_t n, int round)
{
    T_EQ(wrong(room + off, n, round, last), 0);
    T_EQ(not_zero(room, off), 0);
    T_EQ(not_zero(room + off + n, ROOM - off - n), 0);
}

static void put_all(unsigned char *room, bool nbi)
{
    unsigned char *source = malloc(MOST + EDGE);

    for (int k = 0; k < SIZES; k++) {
        size_t n = sizes[k], off = EDGE + (size_t)k * 5 % EDGE;
        size_t at = (size_t)k * 3 % EDGE;

        if (off + n > ROOM)
            off = ROOM - n;
        memset(room, 0, ROOM);
        fill(source + at, n, k, me);
        shmem_barrier_all();
        if (nbi) {
            shmem_putmem_nbi(room + off, source + at, n, next);
            shmem_quiet();
        } else {
            shmem_putmem(room + off, source + at, n, next);
            memset(source + at, 0, n);  /* it is ours again */
        }
        shmem_barrier_all();
        check(room, off, n, k);
        shmem_barrier_all();
    }
    free(source);
}

T(a_large_put_brings_its_bytes_and_no_others)
{
    put_all(heap, false);
    put_all(heap, true);
    put_all(fixed, true);
}

T(a_large_get_brings_its_bytes_and_no_others)
{
    unsigned char *dest = malloc(ROOM);

    fill(heap, MOST, 3, me);
    shmem_barrier_all();
    for (int k = 0; k < 2 * SIZES; k++) {
        size_t n = sizes[k / 2], at = (size_t)k * 3 % EDGE;

        memset(dest, 0, ROOM);
        if (k % 2) {
            shmem_getmem_nbi(dest + at, heap, n, next);
            shmem_quiet();
        } else {
            shmem_getmem(dest + at, heap, n, next);
        }
        T_EQ(wrong(dest + at, n, 3, next), 0);
        T_EQ(not_zero(dest, at), 0);
        T_EQ(not_zero(dest + at + n, ROOM - at - n), 0);
    }
    shmem_barrier_all();
    free(dest);
}

T(a_signal_comes_after_the_whole_of_its_put)
{
    unsigned char *source = malloc(MOST);

    signals[0] = 0;
    for (int r = 1; r <= rounds_of_all; r++) {
        size_t n = sizes[r % SIZES];

        fill(source, n, r, me);
        memset(heap, 0, MOST);
        shmem_barrier_all();
        if (r % 2)
            shmem_putmem_signal_nbi(heap, source, n, signals, 1,
                                    SHMEM_SIGNAL_ADD, next);
        else
            shmem_putmem_signal(heap, source, n, signals, (uint64_t)r,
                                SHMEM_SIGNAL_SET, next);
        shmem_signal_wait_until(signals, SHMEM_CMP_EQ, (uint64_t)r);
        T_EQ(wrong(heap, n, r, last), 0);
        shmem_quiet();
        shmem_barrier_all();
    }
    free(source);
}

T(a_fence_keeps_what_follows_behind_the_whole_of_a_put)
{
    unsigned char *source = malloc(MOST);

    flag = 0;
    for (int r = 1; r <= rounds_of_all; r++) {
        size_t n = sizes[SIZES - 1 - r % 4];

        fill(source, n, r, me);
        memset(heap, 0, MOST);
        shmem_barrier_all();
        shmem_putmem_nbi(heap, source, n, next);
        shmem_fence();
        if (r % 2)
            shmem_uint64_p(&flag, (uint64_t)r, next);
        else
            shmem_uint64_atomic_set(&flag, (uint64_t)r, next);
        shmem_uint64_wait_until(&flag, SHMEM_CMP_EQ, (uint64_t)r);
        T_EQ(wrong(heap, n, r, last), 0);
        shmem_quiet();
        shmem_barrier_all();
    }
    free(source);
}

/* What is small is not held up by what is large, nor mixed with it. */
/* The first one goes over one NIC, like all that is short. */
T(a_fence_keeps_a_large_put_behind_what_was_put_before)
{
    unsigned char *source = malloc(MOST), *old = calloc(1, LIMIT);

    for (int r = 1; r <= rounds_of_all; r++) {
        fill(source, MOST, r, me);
        shmem_barrier_all();
        for (int i = 0; i < 16; i++)
            shmem_putmem_nbi(heap + MOST - (LIMIT - 1), old, LIMIT - 1, next);
        shmem_fence();
        shmem_putmem_nbi(heap, source, MOST, next);
        shmem_quiet();
        shmem_barrier_all();
        T_EQ(wrong(heap, MOST, r, last), 0);
    }
    free(source);
    free(old);
}

T(many_large_and_small_puts_are_done_at_a_quiet)
{
    enum { PARTS = 24, EACH = MOST / PARTS };
    static uint64_t words[PARTS];
    unsigned char *source = malloc(MOST);

    fill(source, MOST, 5, me);
    memset(heap, 0, MOST);
    memset(words, 0, sizeof words);
    shmem_barrier_all();
    for (int i = 0; i < PARTS; i++) {
        shmem_putmem_nbi(heap + i * EACH, source + i * EACH, EACH, next);
        shmem_uint64_p(&words[i], (uint64_t)i + 1, next);
    }
    shmem_quiet();
    shmem_barrier_all();
    T_EQ(wrong(heap, PARTS * EACH, 5, last), 0);
    for (int i = 0; i < PARTS; i++)
        T_EQ(words[i], i + 1);
    shmem_barrier_all();
    free(source);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    int id;
    size_t bad;
};

static void *work(void *arg)
{
    enum { PART = MOST / THREADS };
    struct worker *w = arg;
    unsigned char *mine = heap + w->id * PART, *copy = malloc(PART);
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    if (w->id % 2 && shmem_ctx_create(0, &ctx))
        ctx = SHMEM_CTX_DEFAULT;
    for (int r = 1; r <= rounds_of_all / 2; r++) {
        size_t n = PART - (size_t)(r * 11 + w->id);

        fill(copy, n, r, me + w->id);
        shmem_ctx_putmem_signal_nbi(ctx, mine, copy, n, &signals[w->id], 1,
                                    SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(&signals[w->id], SHMEM_CMP_GE, (uint64_t)r);
        w->bad += wrong(mine, n, r, last + w->id);
        shmem_ctx_quiet(ctx);
        memset(copy, 0, n);
        shmem_ctx_getmem(ctx, copy, mine, n, next);
        w->bad += wrong(copy, n, r, me + w->id);
        /* The PE before may go on when this one has looked. */
        shmem_ctx_uint64_atomic_inc(ctx, &flag, last);
        shmem_uint64_wait_until(&flag, SHMEM_CMP_GE, (uint64_t)r * THREADS);
        shmem_ctx_quiet(ctx);
    }
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    free(copy);
    return NULL;
}

T(threads_that_put_and_get_side_by_side_see_their_own)
{
    struct worker w[THREADS];

    memset(signals, 0, sizeof signals);
    flag = 0;
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .id = i };
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        T_EQ(w[i].bad, 0);
    }
    shmem_barrier_all();
}

/* Registered anew where the provider pins it. */
T(what_the_heap_has_grown_by_is_reached)
{
    unsigned char *small = heap;

    for (int i = 0; i < 2; i++) {
        heap = shmem_malloc((size_t)(40 << 20) << i);
        if (!heap)
            T_SKIP("the heap is too small");
        put_all(heap, i % 2);
    }
    heap = small;
    put_all(heap, true);
}

int main(void)
{
    int provided;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    T_PE(me = shmem_my_pe());
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    rounds_of_all = rounds(20, 8);
    heap = shmem_malloc(ROOM);
    T_RUN(a_large_put_brings_its_bytes_and_no_others);
    T_RUN(a_large_get_brings_its_bytes_and_no_others);
    T_RUN(a_signal_comes_after_the_whole_of_its_put);
    T_RUN(a_fence_keeps_what_follows_behind_the_whole_of_a_put);
    T_RUN(a_fence_keeps_a_large_put_behind_what_was_put_before);
    T_RUN(many_large_and_small_puts_are_done_at_a_quiet);
    T_RUN(threads_that_put_and_get_side_by_side_see_their_own);
    T_RUN(what_the_heap_has_grown_by_is_reached);
    shmem_finalize();
    return T_DONE();
}

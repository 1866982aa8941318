/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: eight threads of SHMEM_THREAD_MULTIPLE put, get, count, order,
 * wait and lock at the same time, on the default context and on contexts of
 * every kind, while another allocates, and nothing is lost or mixed.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "off_node.h"

#include <pthread.h>
#include <sched.h>

#ifdef __SANITIZE_THREAD__
enum { SHARE = 10 };
#else
enum { SHARE = 1 };
#endif
enum { THREADS = 8, WORDS = 40, WAKES = 5 };

/* What thread i of the PE before writes to thread i of this one. */
static struct inbox {
    _Alignas(64) uint64_t data[WORDS];
    uint64_t arrived;           /* signal: the round of the data */
    uint64_t taken;             /* signal: rounds the one behind has read */
    uint64_t lone[2];           /* others than the waited one are 0 */
} boxes[THREADS];
static uint64_t drawn, pot;
static uint32_t narrow[3];      /* neighbours of a counter stay as they are */
static long locks[THREADS + 1];
static uint64_t guarded[THREADS + 1];
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int me, n_pes, next, last;
static uint64_t turns, blocks;

struct worker {
    pthread_t thread;
    int id;
    shmem_ctx_t ctx;            /* made by the thread */
    uint64_t drawn_sum;           /* sum of what its fetches gave */
    uint64_t paid, changed;     /* sums into and out of the pot */
};

static void run(void *(*body)(void *), struct worker *w)
{
    memset(w, 0, THREADS * sizeof *w);
    memset(boxes, 0, sizeof boxes);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        w[i].id = i;
        if (!T_EQ(pthread_create(&w[i].thread, NULL, body, &w[i]), 0))
            exit(1);
    }
}

static void join(struct worker *w)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    shmem_barrier_all();
}

/* ---- All kinds of operations at once ---- */

/* Threads 0 and 4 share the default context with all others, 1 and 5 have a
 * shareable one, 2 and 6 a private, 3 and 7 a serialized one. */
static shmem_ctx_t own_context(int id)
{
    static const long options[] = {
        0, 0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED
    };
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    if (id % 4)
        T_EQ(shmem_ctx_create(options[id % 4], &ctx), 0);
    return ctx;
}

/* Data and its flag, by four methods. */
static void send(struct worker *w, uint64_t r)
{
    struct inbox *b = &boxes[w->id];
    uint64_t data[WORDS];

    for (int i = 0; i < WORDS; i++)
        data[i] = r << 8 | (uint64_t)w->id;
    shmem_signal_wait_until(&b->taken, SHMEM_CMP_GE, r - 1);
    if (r % 4 == 0) {
        shmem_ctx_uint64_put_signal(w->ctx, b->data, data, WORDS, &b->arrived,
                                    r, SHMEM_SIGNAL_SET, next);
    } else if (r % 4 == 1) {
        shmem_ctx_uint64_put_signal_nbi(w->ctx, b->data, data, WORDS,
                                        &b->arrived, 1, SHMEM_SIGNAL_ADD,
                                        next);
    } else {
        shmem_ctx_putmem_nbi(w->ctx, b->data, data, sizeof data, next);
        if (r % 4 == 2)
            shmem_ctx_fence(w->ctx);
        else
            shmem_ctx_pe_quiet(w->ctx, &next, 1);
        shmem_ctx_uint64_atomic_set(w->ctx, &b->arrived, r, next);
    }
    shmem_ctx_quiet(w->ctx);
}

/* Waits in turn with each form for the thread's own word. */
static void await(struct worker *w, uint64_t r)
{
    struct inbox *b = &boxes[w->id];
    size_t one;

    switch (r % 5) {
    case 0:
        T_EQ(shmem_signal_wait_until(&b->arrived, SHMEM_CMP_GE, r), r);
        break;
    case 1:
        shmem_uint64_wait_until(&b->arrived, SHMEM_CMP_EQ, r);
        break;
    case 2:
        T_EQ(shmem_uint64_wait_until_any(&b->arrived, 1, NULL, SHMEM_CMP_GE,
                                         r), 0);
        break;
    case 3:
        T_EQ(shmem_uint64_wait_until_some(&b->arrived, 1, &one, NULL,
                                          SHMEM_CMP_GT, r - 1), 1);
        break;
    default:
        while (!shmem_uint64_test(&b->arrived, SHMEM_CMP_EQ, r))
            sched_yield();
    }
    for (int i = 0; i < WORDS; i++)
        T_EQ(b->data[i], r << 8 | (uint64_t)w->id);
    shmem_signal_add(&b->taken, 1, last);
}

/* What was sent stays there until the next round. */
static void read_back(struct worker *w, uint64_t r)
{
    struct inbox *b = &boxes[w->id];
    uint64_t want = r << 8 | (uint64_t)w->id, back[WORDS], word;

    shmem_ctx_get64_nbi(w->ctx, back, b->data, WORDS, next);
    shmem_ctx_uint64_atomic_fetch_nbi(w->ctx, &word, &b->arrived, next);
    shmem_ctx_quiet(w->ctx);
    for (int i = 0; i < WORDS; i++)
        T_EQ(back[i], want);
    T_EQ(word, r);
    T_EQ(shmem_ctx_uint64_g(w->ctx, &b->data[r % WORDS], next), want);
}

static void count(struct worker *w, uint64_t r)
{
    uint64_t v = (uint64_t)me << 32 | r << 8 | (uint64_t)w->id;
    uint32_t was = shmem_ctx_uint32_atomic_fetch(w->ctx, &narrow[1], 0), old;

    w->drawn_sum += shmem_ctx_uint64_atomic_fetch_inc(w->ctx, &drawn, 0);
    w->paid += v;
    w->changed += shmem_ctx_uint64_atomic_swap(w->ctx, &pot, v, 0);
    while ((old = shmem_ctx_uint32_atomic_compare_swap(
                w->ctx, &narrow[1], was, was + 1, 0)) != was)
        was = old;
}

static void count_locked(struct worker *w, int lock)
{
    int home = n_pes - 1;
    uint64_t was;

    shmem_set_lock(&locks[lock]);
    was = shmem_ctx_uint64_g(w->ctx, &guarded[lock], home);
    shmem_ctx_uint64_p(w->ctx, &guarded[lock], was + 1, home);
    shmem_ctx_quiet(w->ctx);
    shmem_clear_lock(&locks[lock]);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    int level = -1;

    shmem_query_thread(&level);
    T_EQ(level, SHMEM_THREAD_MULTIPLE);
    T_EQ(shmem_my_pe(), me);
    w->ctx = own_context(w->id);
    for (uint64_t r = 1; r <= turns; r++) {
        send(w, r);
        count(w, r);
        read_back(w, r);
        await(w, r);
        count_locked(w, w->id);
        /* A lock is a PE's: its threads take turns at it by themselves. */
        pthread_mutex_lock(&inner);
        count_locked(w, THREADS);
        pthread_mutex_unlock(&inner);
    }
    if (w->id % 4)
        shmem_ctx_destroy(w->ctx);
    return NULL;
}

T(nothing_is_lost_or_mixed)
{
    static uint64_t sums[3];    /* of all PEs, at PE 0 */
    uint64_t n = (uint64_t)n_pes * THREADS * turns;
    struct worker w[THREADS];

    run(work, w);
    join(w);
    for (int i = 0; i < THREADS; i++) {
        shmem_uint64_atomic_add(&sums[0], w[i].drawn_sum, 0);
        shmem_uint64_atomic_add(&sums[1], w[i].paid, 0);
        shmem_uint64_atomic_add(&sums[2], w[i].changed, 0);
        T_EQ(boxes[i].arrived, turns);
        T_EQ(boxes[i].taken, turns);
    }
    shmem_barrier_all();
    if (me == 0) {
        T_EQ(drawn, n);
        T_EQ(sums[0], n * (n - 1) / 2);
        T_EQ(sums[2] + pot, sums[1]);
        T_EQ(narrow[1], n);
    }
    T_EQ(narrow[0], 0);
    T_EQ(narrow[2], 0);
    for (int i = 0; i <= THREADS && me == n_pes - 1; i++)
        T_EQ(guarded[i], i < THREADS ? n / THREADS : n);
}

/* ---- One allocates while the others communicate ---- */

static atomic_bool enough;
static uint64_t counted[THREADS];

static void *keep_counting(void *arg)
{
    struct worker *w = arg;

    while (!atomic_load(&enough)) {
        w->ctx = own_context(w->id);
        for (int i = 0; i < 20; i++) {
            shmem_ctx_uint64_atomic_inc(w->ctx, &counted[w->id], next);
            shmem_ctx_uint64_put_nbi(w->ctx, &boxes[w->id].lone[1],
                                     &w->drawn_sum, 1, next);
            shmem_ctx_quiet(w->ctx);
            T_EQ(shmem_ctx_uint64_g(w->ctx, &boxes[w->id].lone[1], next),
                 w->drawn_sum);
            w->drawn_sum++;
        }
        if (w->id % 4)
            shmem_ctx_destroy(w->ctx);
        sched_yield();
    }
    return NULL;
}

/* A block comes, is written by the PE before, grows and goes. */
static void use_block(size_t i)
{
    size_t n = 1 + i * 37 % 500;
    uint64_t *block = i % 2 ? shmem_malloc(n * 8) : shmem_calloc(n, 8);

    if (!T_TRUE(block != NULL))
        return;
    for (size_t k = 0; i % 2 == 0 && k < n; k++)
        T_EQ(block[k], 0);
    shmem_barrier_all();
    for (size_t k = 0; k < n; k++)
        shmem_uint64_p(&block[k], i + k, next);
    shmem_barrier_all();
    block = shmem_realloc(block, 2 * n * 8);
    for (size_t k = 0; T_TRUE(block != NULL) && k < n; k++)
        T_EQ(block[k], i + k);
    shmem_free(block);
}

T(one_allocates_while_the_others_communicate)
{
    struct worker w[THREADS];

    run(keep_counting, w);
    for (size_t i = 0; i < blocks; i++)
        use_block(i);
    atomic_store(&enough, true);
    join(w);
    for (int i = 0; i < THREADS; i++)
        T_EQ(shmem_uint64_g(&counted[i], next), w[i].drawn_sum);
    shmem_barrier_all();
}

/* ---- Sleepers ---- */

static atomic_int returns[THREADS];
static uint64_t returned[THREADS];

static void *sleep_often(void *arg)
{
    struct worker *w = arg;
    uint64_t *word = boxes[w->id].lone;

    for (uint64_t r = 1; r <= WAKES; r++) {
        if (w->id % 2)
            shmem_uint64_wait_until(&word[0], SHMEM_CMP_EQ, r);
        else
            T_EQ(shmem_uint64_wait_until_any(word, 2, NULL, SHMEM_CMP_GE, r),
                 0);
        atomic_fetch_add(&returns[w->id], 1);
        shmem_uint64_atomic_set(&returned[w->id], r, last);
    }
    return NULL;
}

/* Threads sleep for neighbouring words at once; each returns for its own. */
T(each_sleeper_returns_for_its_own_word)
{
    struct timespec pause_ms = { 0, 3000000 };
    struct worker w[THREADS];

    run(sleep_often, w);
    for (uint64_t r = 1; r <= WAKES; r++) {
        nanosleep(&pause_ms, NULL);
        for (int k = 0; k < THREADS; k++) {
            int i = (k * 3 + (int)r) % THREADS;

            T_LT(shmem_uint64_atomic_fetch(&returned[i], me), r);
            shmem_uint64_atomic_set(&boxes[i].lone[0], r, next);
            shmem_uint64_wait_until(&returned[i], SHMEM_CMP_EQ, r);
        }
    }
    join(w);
    for (int i = 0; i < THREADS; i++)
        T_EQ(atomic_load(&returns[i]), WAKES);
}

int main(void)
{
    int provided = -1;

    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    T_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    turns = (uint64_t)rounds(1200, 60) / SHARE;
    blocks = (uint64_t)rounds(200, 30) / SHARE;
    T_RUN(nothing_is_lost_or_mixed);
    T_RUN(one_allocates_while_the_others_communicate);
    T_RUN(each_sleeper_returns_for_its_own_word);
    shmem_finalize();
    return T_DONE();
}

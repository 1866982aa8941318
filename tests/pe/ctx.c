/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: contexts of every option, thousands at once, carry every kind
 * of operation in PE numbers of their team, order what they carry, complete
 * it when they are destroyed, and belong to threads as their options say.
 * PEs: 1 2 4
 * Ppn: 4/2 */
#include "budget.h"
#include "off_node.h"

#include <pthread.h>

enum { MANY = 4000, OPTIONS = 8, ROUNDS = 20000, THREADS = 4, OPS = 2000 };
#define STEPS_S 0.3

static shmem_ctx_t ctxs[MANY];
static uint64_t words[MANY], flag, sums[MANY];
static uint64_t *heap_words;
static int me, n_pes, next, last;

static const long all_options[OPTIONS] = {
    0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE,
    SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED,
    SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
    SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE,
    SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE,
};

static void shuffle(shmem_ctx_t *list, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = T_RAND() % i;
        shmem_ctx_t t = list[i - 1];

        list[i - 1] = list[k];
        list[k] = t;
    }
}

static int by_handle(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(const shmem_ctx_t *)a;
    uintptr_t y = (uintptr_t)*(const shmem_ctx_t *)b;

    return x < y ? -1 : x > y;
}

static void create_many(void)
{
    for (int i = 0; i < MANY; i++) {
        ctxs[i] = SHMEM_CTX_INVALID;
        T_EQ(shmem_ctx_create(all_options[i % OPTIONS], &ctxs[i]), 0);
        T_TRUE(ctxs[i] != SHMEM_CTX_INVALID && ctxs[i] != SHMEM_CTX_DEFAULT);
    }
}

static void destroy_many(void)
{
    for (int i = 0; i < MANY; i++)
        shmem_ctx_destroy(ctxs[i]);
}

T(thousands_live_at_once_and_go_in_any_order)
{
    for (int round = 0; round < 3; round++) {
        create_many();
        qsort(ctxs, MANY, sizeof *ctxs, by_handle);
        for (int i = 1; i < MANY; i++)
            T_TRUE(ctxs[i] != ctxs[i - 1]);
        shuffle(ctxs, MANY);
        destroy_many();
    }
    for (int i = 0; i < 10 * MANY; i++) {
        if (!T_EQ(shmem_ctx_create(all_options[i % OPTIONS], &ctxs[0]), 0))
            return;
        shmem_ctx_destroy(ctxs[0]);
    }
}

/* Word i of the next PE by context i, with each operation in turn. */
static void operate(shmem_ctx_t ctx, int i, uint64_t v)
{
    uint64_t got = 0, old = 0;

    switch (i % 5) {
    case 0: shmem_ctx_uint64_p(ctx, &words[i], v, next); break;
    case 1: shmem_ctx_putmem(ctx, &words[i], &v, 8, next); break;
    case 2:
        shmem_ctx_put64_nbi(ctx, &words[i], &v, 1, next);
        shmem_ctx_quiet(ctx);   /* v goes away */
        break;
    case 3: shmem_ctx_uint64_atomic_set(ctx, &words[i], v, next); break;
    default: shmem_ctx_uint64_atomic_add(ctx, &words[i], v, next); break;
    }
    shmem_ctx_uint64_put_signal(ctx, &heap_words[i], &v, 1, &sums[i], 1,
                                SHMEM_SIGNAL_ADD, next);
    shmem_ctx_quiet(ctx);
    T_EQ(shmem_ctx_uint64_g(ctx, &words[i], next), v);
    shmem_ctx_getmem(ctx, &got, &heap_words[i], 8, next);
    T_EQ(got, v);
    shmem_ctx_uint64_atomic_fetch_nbi(ctx, &old, &words[i], next);
    shmem_ctx_quiet(ctx);
    T_EQ(old, v);
}

T(each_carries_every_operation)
{
    memset(words, 0, sizeof words);
    memset(sums, 0, sizeof sums);
    shmem_barrier_all();
    create_many();
    for (int i = 0; i < MANY; i++)
        operate(ctxs[i], i, (uint64_t)(me * MANY + i + 1));
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++) {
        T_EQ(words[i], (uint64_t)(last * MANY + i + 1));
        T_EQ(heap_words[i], (uint64_t)(last * MANY + i + 1));
        T_EQ(shmem_signal_fetch(&sums[i]), 1);
    }
    destroy_many();
    shmem_barrier_all();
}

/* ---- Order and completion ---- */

/* Data through many contexts, each quieted, then one flag through another. */
T(each_orders_and_completes_its_own)
{
    enum { FEW = 8 };
    shmem_ctx_t ctx[FEW];
    uint64_t most = (uint64_t)rounds(ROUNDS, 1000), seen;

    memset(words, 0, sizeof words);
    flag = 0;
    for (int i = 0; i < FEW; i++)
        T_EQ(shmem_ctx_create(all_options[i], &ctx[i]), 0);
    shmem_barrier_all();
    for (uint64_t r = 1; r <= most; r++) {
        unsigned turn = (unsigned)(r % FEW);

        for (int i = 0; i < FEW; i++) {
            shmem_ctx_fence(ctx[i]);    /* after the last round's */
            shmem_ctx_uint64_p(ctx[i], &words[i * 8], r, next);
        }
        if (r % 2) {            /* all but the one that brings the flag */
            for (unsigned i = 0; i < FEW; i++)
                if (i != turn)
                    shmem_ctx_quiet(ctx[i]);
            shmem_ctx_fence(ctx[turn]);
            shmem_ctx_uint64_p(ctx[turn], &flag, r, next);
        }
        seen = __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
        for (int i = 0; i < FEW; i++)
            T_LE(seen, __atomic_load_n(&words[i * 8], __ATOMIC_ACQUIRE));
    }
    for (int i = 0; i < FEW; i++)
        shmem_ctx_destroy(ctx[i]);
    shmem_barrier_all();
}

T(destroying_completes)
{
    shmem_ctx_t ctx;
    uint64_t steps = 0, mine, *read_in = calloc(ROUNDS + 1, 8), theirs;
    int peer = (me ^ 1) < n_pes ? me ^ 1 : me;

    words[0] = flag = 0;
    for (uint64_t r = 1; r <= ROUNDS && in_time(r, STEPS_S); r++) {
        steps = r;
        T_EQ(shmem_ctx_create(all_options[r % 3], &ctx), 0);
        shmem_barrier_all();
        mine = r;
        shmem_ctx_put64_nbi(ctx, &words[0], &mine, 1, peer);
        shmem_ctx_destroy(ctx);
        read_in[r] = shmem_uint64_g(&words[0], me);
        T_EQ(shmem_uint64_g(&words[0], peer), r);
    }
    /* As after quiet, one of two sees the other's store. */
    for (uint64_t r = 1; r <= steps; r++) {
        sums[0] = read_in[r];
        if (r % 16)
            continue;
        shmem_barrier_all();
        theirs = shmem_uint64_g(&sums[0], peer);
        T_TRUE(read_in[r] >= r || theirs >= r);
        shmem_barrier_all();
    }
    free(read_in);
    shmem_barrier_all();
}

/* ---- Invalid and default handles, teams ---- */

T(an_invalid_context_does_nothing)
{
    shmem_ctx_session_config_t config = { 10 };
    shmem_team_t team = SHMEM_TEAM_WORLD;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH,
                            &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    T_NE(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team), 0);
    T_TRUE(team == SHMEM_TEAM_INVALID);
    T_NE(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx), 0);
    T_TRUE(ctx == SHMEM_CTX_INVALID);
    ctx = SHMEM_CTX_DEFAULT;
    T_NE(shmem_ctx_create(1L << 20, &ctx), 0);
    T_TRUE(ctx == SHMEM_CTX_INVALID);
}

T(the_default_context_is_always_there)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;

    shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    T_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    T_TRUE(team == SHMEM_TEAM_WORLD);
    words[0] = 0;
    shmem_barrier_all();
    shmem_ctx_uint64_p(SHMEM_CTX_DEFAULT, &words[0], 9, next);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    T_EQ(shmem_uint64_g(&words[0], next), 9);
    shmem_barrier_all();
}

static void check_team(shmem_team_t team)
{
    int n = shmem_team_n_pes(team), my = shmem_team_my_pe(team);
    shmem_team_t of = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx;
    int list[] = { 0, n - 1 };

    T_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    T_EQ(shmem_ctx_get_team(ctx, &of), 0);
    T_TRUE(of == team);
    shmem_team_sync(team);
    /* Each member writes its world number where the next one looks. */
    shmem_ctx_uint64_p(ctx, &words[my], (uint64_t)me + 1, (my + 1) % n);
    shmem_ctx_pe_quiet(ctx, list, 2);
    shmem_ctx_quiet(ctx);
    T_EQ(shmem_ctx_uint64_g(ctx, &words[my], (my + 1) % n), (uint64_t)me + 1);
    shmem_team_sync(team);
    T_EQ(words[(my + n - 1) % n],
         (uint64_t)shmem_team_translate_pe(team, (my + n - 1) % n,
                                           SHMEM_TEAM_WORLD) + 1);
    shmem_team_sync(team);
    shmem_ctx_destroy(ctx);
}

T(pe_numbers_are_of_the_contexts_team)
{
    shmem_team_t half[2], reversed;
    shmem_ctx_t left;

    check_team(SHMEM_TEAM_WORLD);
    check_team(SHMEM_TEAM_SHARED);
    for (int i = 0; i < 2 && n_pes > 1; i++)
        T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, i, 2, n_pes / 2, NULL,
                                      0, &half[i]), 0);
    if (n_pes > 1) {
        check_team(half[me % 2]);
        shmem_team_destroy(half[me % 2]);
    }
    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, NULL,
                                  0, &reversed), 0);
    check_team(reversed);
    /* What the team leaves behind goes with it. */
    T_EQ(shmem_team_create_ctx(reversed, 0, &left), 0);
    shmem_team_destroy(reversed);
}

T(sessions_change_no_result)
{
    shmem_ctx_session_config_t config = { 100 };
    shmem_ctx_t ctx;

    T_EQ(shmem_ctx_create(0, &ctx), 0);
    memset(words, 0, sizeof words);
    shmem_barrier_all();
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config,
                            SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    for (int i = 0; i < 100; i++)
        shmem_ctx_uint64_p(ctx, &words[i], (uint64_t)i + 1, next);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < 100; i++)
        T_EQ(shmem_ctx_uint64_g(ctx, &words[i], next), (uint64_t)i + 1);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
}

/* ---- Threads ---- */

static shmem_ctx_t serialized, shareable;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Adds 1 to sums[0..2] OPS times, through a private context, the serialized
 * one and the shareable one. */
static void *add(void *unused)
{
    shmem_ctx_t mine;

    for (int i = 0; i < OPS; i++) {
        T_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &mine), 0);
        shmem_ctx_uint64_atomic_inc(mine, &sums[0], next);
        shmem_ctx_destroy(mine);
        pthread_mutex_lock(&turn);
        shmem_ctx_uint64_p(serialized, &sums[1],
                           shmem_ctx_uint64_g(serialized, &sums[1], next) + 1,
                           next);
        shmem_ctx_quiet(serialized);
        pthread_mutex_unlock(&turn);
        shmem_ctx_uint64_atomic_add(shareable, &sums[2], 1, next);
        if (i % 8 == 0)
            shmem_ctx_quiet(shareable);
    }
    return unused;
}

T(threads_use_them_as_their_options_say)
{
    pthread_t t[THREADS];

    memset(sums, 0, sizeof sums);
    shmem_barrier_all();
    T_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &serialized), 0);
    T_EQ(shmem_ctx_create(0, &shareable), 0);
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&t[i], NULL, add, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    shmem_ctx_destroy(serialized);
    shmem_ctx_destroy(shareable);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        T_EQ(sums[i], THREADS * OPS);
    shmem_barrier_all();
}

int main(void)
{
    int provided;

    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    T_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    heap_words = shmem_calloc(MANY, sizeof *heap_words);
    T_RUN(thousands_live_at_once_and_go_in_any_order);
    T_RUN(each_carries_every_operation);
    T_RUN(each_orders_and_completes_its_own);
    T_RUN(destroying_completes);
    T_RUN(an_invalid_context_does_nothing);
    T_RUN(the_default_context_is_always_there);
    T_RUN(pe_numbers_are_of_the_contexts_team);
    T_RUN(sessions_change_no_result);
    T_RUN(threads_use_them_as_their_options_say);
    /* shmem_finalize destroys what is left. */
    for (int i = 0; i < 100; i++)
        T_EQ(shmem_ctx_create(i % 2 ? SHMEM_CTX_SERIALIZED : 0, &ctxs[i]), 0);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads of SHMEM_THREAD_MULTIPLE make collectives at the same
 * time, each on a team of its own, splitting it further and destroying it,
 * while others put; nothing mixes.
 * PEs: 1 2 3 */
#include "../t.h"

#include <pthread.h>
#include <shmem.h>

enum { THREADS = 8, ROUNDS = 60, N = 50 };

struct work {
    shmem_team_t team;
    shmem_ctx_t ctx;
    long *source, *dest, *inbox;
    int id;
};

static void one_round(struct work *w, int r)
{
    int n = shmem_team_n_pes(w->team), me = shmem_team_my_pe(w->team);
    int next = (me + 1) % n, before = (me + n - 1) % n;
    long sum = 0;

    for (int i = 0; i < N; i++)
        w->source[i] = w->id * 1000 + r + me * i;
    shmem_long_sum_reduce(w->team, w->dest, w->source, N);
    for (int i = 0; i < N; i++) {
        sum = (long)n * (w->id * 1000 + r) + (long)i * n * (n - 1) / 2;
        T_EQ(w->dest[i], sum);
    }
    shmem_ctx_long_p(w->ctx, w->inbox, w->id * 7 + r + me, next);
    shmem_ctx_quiet(w->ctx);
    shmem_team_sync(w->team);
    T_EQ(w->inbox[0], w->id * 7 + r + before);
    shmem_long_broadcast(w->team, w->dest, w->source, N, r % n);
    for (int i = 0; i < N; i++)
        T_EQ(w->dest[i], w->id * 1000 + r + r % n * i);
    shmem_team_sync(w->team);
}

static void split_and_destroy(struct work *w)
{
    int n = shmem_team_n_pes(w->team);
    shmem_team_t part;

    T_EQ(shmem_team_split_strided(w->team, n - 1, -1, n, NULL, 0, &part), 0);
    T_EQ(shmem_team_my_pe(part), n - 1 - shmem_team_my_pe(w->team));
    w->source[0] = 1;
    shmem_long_sum_inscan(part, w->dest, w->source, 1);
    T_EQ(w->dest[0], shmem_team_my_pe(part) + 1);
    shmem_team_destroy(part);
}

static void *thread(void *arg)
{
    struct work *w = arg;

    for (int r = 0; r < ROUNDS; r++) {
        one_round(w, r);
        if (r % 8 == w->id)
            split_and_destroy(w);
    }
    return NULL;
}

T(teams_of_threads)
{
    struct work w[THREADS];
    pthread_t threads[THREADS];
    int n = shmem_n_pes();

    for (int i = 0; i < THREADS; i++) {
        w[i].id = i;
        T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0,
                                      &w[i].team), 0);
        T_EQ(shmem_team_create_ctx(w[i].team, 0, &w[i].ctx), 0);
        w[i].source = shmem_malloc(N * sizeof(long));
        w[i].dest = shmem_malloc(N * sizeof(long));
        w[i].inbox = shmem_malloc(sizeof(long));
    }
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&threads[i], NULL, thread, &w[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        shmem_ctx_destroy(w[i].ctx);
        shmem_team_destroy(w[i].team);
        shmem_free(w[i].inbox);
        shmem_free(w[i].dest);
        shmem_free(w[i].source);
    }
}

int main(void)
{
    int provided;

    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided))
        return 1;
    T_PE(shmem_my_pe());
    T_EQ(provided, SHMEM_THREAD_MULTIPLE);
    T_RUN(teams_of_threads);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads with a stream each do not delay each other, and hand
 * their streams and requests on.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "st.h"
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 300, N = 700 };

static long in[THREADS][N], count;
static shmemx_stream_t streams[THREADS];
static pthread_barrier_t synchronize;

static void *play(void *arg)
{
    int k = *(int *)arg;
    static long out[THREADS][N], back[THREADS][N];

    for (int r = 0; r < ROUNDS; r++) {
        shmemx_stream_t s = streams[(k + r / 50) % THREADS];

        for (int i = 0; i < N; i++)
            out[k][i] = 1000 * r + i + me;
        T_EQ(shmemx_long_put_on_stream(in[k], out[k], N, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_long_get_on_stream(back[k], in[k], N, next, s), 0);
        T_EQ(shmemx_long_atomic_inc_on_stream(&count, 0, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_MEM(out[k], back[k], sizeof out[k]);
        if (r % 50 == 49)       /* streams change hands */
            pthread_barrier_wait(&synchronize);
    }
    return NULL;
}

/* A request that one thread's queue started goes on to the other's. */
static void *hand_on(void *arg)
{
    static long d[THREADS], x[THREADS] = { 3, 4 };
    static shmemx_req_t given[THREADS];
    int k = *(int *)arg;
    shmemx_req_t r, copy;
    shmemx_queue_t q;

    for (int i = 0; i < ROUNDS; i++) {
        T_EQ(shmemx_queue_create(streams[k], NULL, 0, &q), 0);
        T_EQ(shmemx_put_init(&d[k], &x[k], sizeof *d, me, &r), 0);
        T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
        T_EQ(shmemx_enqueue_waitall(q, 1, &r), 0);
        T_EQ(shmemx_queue_wait(q), 0);
        given[k] = r;
        pthread_barrier_wait(&synchronize);
        r = copy = given[THREADS - 1 - k];
        T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
        T_EQ(shmemx_req_wait(r), 0);
        T_EQ(shmemx_req_free(&r), 0);
        T_EQ(shmemx_req_free(&copy), -EINVAL);
        pthread_barrier_wait(&synchronize);
        T_EQ(shmemx_queue_destroy(q), 0);
    }
    return NULL;
}

static void run(void *(*what)(void *))
{
    static int k[THREADS];
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++) {
        k[i] = i;
        pthread_create(&t[i], NULL, what, &k[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

int main(void)
{
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (level < SHMEM_THREAD_MULTIPLE)
        return 77;
    st_begin();
    pthread_barrier_init(&synchronize, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        streams[i] = st_make();
    shmem_barrier_all();
    run(play);
    run(hand_on);
    shmem_barrier_all();
    T_EQ(me == 0 ? count : 0, me == 0 ? THREADS * ROUNDS * n_pes : 0);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        T_EQ(shmemx_stream_destroy(streams[i]), 0);
    shmem_finalize();
    return st_end();
}

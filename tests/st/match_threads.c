/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads match, start and free messages of their own at the same
 * time and do not delay each other.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "msg.h"
#include <pthread.h>

enum { THREADS = 3, CYCLES = 40, PAIRS = 5, MESSAGES = 10 };

static shmemx_stream_t streams[THREADS];
static int cycles;

/* Each thread of a PE has its tag. */
static void *play(void *arg)
{
    int k = *(int *)arg;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(streams[k], NULL, 0, &q), 0);
    for (int c = 0; c < cycles; c++) {
        struct msg_end e[2 * PAIRS];
        shmemx_req_t r[2 * PAIRS], match;
        uint64_t x[MESSAGES], y[MESSAGES];

        for (int i = 0; i < PAIRS; i++) {
            msg_sends(&e[i], next, k, c * PAIRS + i);
            msg_receives(&e[PAIRS + i], prev, k, c * PAIRS + i);
        }
        for (int i = 0; i < 2 * PAIRS; i++)
            r[i] = e[i].r;
        msg_shuffle(r, 2 * PAIRS);
        for (int i = 0; i < PAIRS; i++)
            T_EQ(shmemx_match(r[i]), 0);
        T_EQ(shmemx_imatchall(PAIRS, r + PAIRS, &match), 0);
        T_EQ(shmemx_req_wait(match), 0);
        T_EQ(shmemx_req_free(&match), 0);
        for (int i = 0; i < MESSAGES; i++) {
            x[i] = (uint64_t)(c * 1000 + me * 100 + i);
            T_EQ(shmemx_enqueue_send(q, &x[i], 8, next, k, NULL), 0);
            T_EQ(shmemx_enqueue_recv(q, &y[i], 8, prev, k, NULL), 0);
        }
        T_EQ(shmemx_enqueue_start(q), 0);
        msg_exchange(q, e, 2 * PAIRS);
        T_EQ(shmemx_queue_wait(q), 0);
        for (int i = 0; i < MESSAGES; i++)
            T_EQ(y[i], (uint64_t)(c * 1000 + prev * 100 + i));
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
    T_EQ(shmemx_queue_destroy(q), 0);
    return NULL;
}

int main(void)
{
    static int k[THREADS];
    pthread_t t[THREADS];
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (level < SHMEM_THREAD_MULTIPLE)
        return 77;
    st_begin();
    T_SEED();
    cycles = msg_times(CYCLES, CYCLES);
    for (int i = 0; i < THREADS; i++)
        streams[i] = st_make();
    for (int i = 0; i < THREADS; i++) {
        k[i] = i;
        pthread_create(&t[i], NULL, play, &k[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        T_EQ(shmemx_stream_destroy(streams[i]), 0);
    shmem_finalize();
    return st_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages to another node are counted past the largest number
 * that they have, on several endpoints, by threads at a time, and none is taken
 * for lost; contexts come and go meanwhile.
 * PEs: 2
 * Ppn: 2/1 */
#include "off_node.h"

#include <pthread.h>

enum { MESSAGES = 70000, THREADS = 3, CONTEXTS = 20 };

static long sums[THREADS];
static int me, other;

static void *add(void *arg)
{
    long *sum = arg;
    shmem_ctx_t ctx;
    int rc = 0;

    for (int i = 0; i < CONTEXTS; i++) {
        rc |= shmem_ctx_create(0, &ctx);
        for (int k = 0; k < MESSAGES / CONTEXTS; k++)
            shmem_ctx_long_atomic_add(ctx, sum, 1, other);
        shmem_ctx_destroy(ctx);
    }
    T_EQ(rc, 0);
    return NULL;
}

T(numbers_wrap)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&threads[i], NULL, add, &sums[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        T_EQ(sums[i], MESSAGES / CONTEXTS * CONTEXTS);
    shmem_barrier_all();
}

int main(void)
{
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    me = shmem_my_pe();
    other = (me + 1) % shmem_n_pes();
    T_PE(me);
    T_RUN(numbers_wrap);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a message that another thread of the program takes from the
 * network wakes the thread that sleeps for what it stores, in static data and in
 * the heap alike.
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_STATS=1
 * Expect: PE 1 .*: waits: .*; [0-9]+ updates woke no PE
 * Reject: PE 1 .*: waits: .*; (1[5-9]|[2-9][0-9]|1[0-9][0-9]) updates woke no PE */
#include "t.h"

#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { UPDATES = 100, IN_HEAP = 20, PAUSE_MS = 30 };     /* after that long a wait sleeps */

static uint64_t in_data[UPDATES], *in_heap;
static bool ended;

static void *poll_network(void *unused)
{
    const struct timespec pause = { 0, 20000 };
    shmem_ctx_t ctx;

    (void)unused;
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        shmem_ctx_uint64_g(ctx, in_data, 0);
        nanosleep(&pause, NULL);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

static void update(uint64_t *words, int n)
{
    const struct timespec pause = { 0, PAUSE_MS * 1000000L };

    for (int i = 0; i < n; i++) {
        nanosleep(&pause, NULL);
        shmem_uint64_p(&words[i], 1, 1);
        shmem_quiet();
    }
}

int main(void)
{
    int provided;
    pthread_t t;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    in_heap = shmem_calloc(IN_HEAP, sizeof *in_heap);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        update(in_data, UPDATES);
        update(in_heap, IN_HEAP);
    } else {
        T_EQ(pthread_create(&t, NULL, poll_network, NULL), 0);
        for (int i = 0; i < UPDATES; i++)
            shmem_uint64_wait_until(&in_data[i], SHMEM_CMP_EQ, 1);
        for (int i = 0; i < IN_HEAP; i++)
            shmem_uint64_wait_until(&in_heap[i], SHMEM_CMP_EQ, 1);
        __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
        pthread_join(t, NULL);
    }
    shmem_barrier_all();
    shmem_free(in_heap);
    shmem_finalize();
    return T_DONE();
}

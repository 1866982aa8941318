/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one thread's first operation for another node opens the NIC's
 * deferred work, and closes it again where its test fails (doorbell.sh loses
 * what streams store to doorbells), while another thread queries its stream.
 * PEs: 2
 * Ppn: 2/1 */
#include "st.h"

#include <pthread.h>
#include <sched.h>

static atomic_bool over;
static atomic_long queries;

static void *query(void *arg)
{
    shmemx_stream_t s = arg;

    while (!atomic_load(&over)) {
        int rc = shmemx_stream_query(s);

        if (rc)
            T_EQ(rc, 0);
        if (atomic_fetch_add(&queries, 1) % 64 == 0)
            sched_yield();
    }
    return NULL;
}

T(streams_are_queried_while_deferred_work_opens)
{
    static long to, from;
    shmemx_stream_t s = st_make(), other = st_make();
    pthread_t t;

    from = 5;
    T_EQ(pthread_create(&t, NULL, query, other), 0);
    while (!atomic_load(&queries))
        sched_yield();
    T_EQ(shmemx_putmem_on_stream(&to, &from, sizeof to, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    atomic_store(&over, true);
    pthread_join(t, NULL);
    shmem_barrier_all();
    T_EQ(to, 5);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
}

int main(void)
{
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    T_PE(shmem_my_pe());
    n_pes = shmem_n_pes();
    next = (shmem_my_pe() + 1) % n_pes;
    T_RUN(streams_are_queried_while_deferred_work_opens);
    return st_end();
}

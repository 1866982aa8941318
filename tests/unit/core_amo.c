/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: atomics count right while counting for shmem_top begins and ends,
 * which switches the routes of all contexts. */
#include "unit.h"

#include "base/clock.h"
#include "base/trace.h"
#include "shmem.h"

#include <pthread.h>

enum { MS = 500 };

static uint64_t ends_ns;
static bool done;

static void *switches(void *arg)
{
    while (clock_ns() < ends_ns) {
        trace_count(true);
        trace_count(false);
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    return arg;
}

T(atomics_while_counting_begins_and_ends)
{
    static uint64_t still;
    uint64_t *in_heap = shmem_calloc(1, sizeof *in_heap), n = 0;
    pthread_t thread;

    T_TRUE(in_heap != NULL);
    ends_ns = clock_ns() + MS * UINT64_C(1000000);
    T_EQ(pthread_create(&thread, NULL, switches, NULL), 0);
    for (; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); n++) {
        T_EQ(shmem_uint64_atomic_fetch_add(in_heap, 1, 0), n);
        shmem_uint64_atomic_inc(&still, 0);
    }
    T_EQ(pthread_join(thread, NULL), 0);
    T_TRUE(n > 0);
    T_EQ(shmem_uint64_atomic_fetch(in_heap, 0), n);
    T_EQ(shmem_uint64_atomic_fetch(&still, 0), n);
    shmem_free(in_heap);
}

int main(void)
{
    shmem_init();
    T_RUN(atomics_while_counting_begins_and_ends);
    shmem_finalize();
    return T_DONE();
}

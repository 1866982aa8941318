/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that waits in a context of its own goes on answering, and
 * takes the buffers of its answers back, however much others ask.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "t.h"

#include <shmem.h>
#include <string.h>

enum { WORDS = 60000, GETS = 4, ADDS = 2000 };
static uint64_t there[2 * WORDS], here[WORDS], count;

static shmem_ctx_t ctx;

T(waits_in_its_own_context)
{
    for (uint64_t i = 0; i < ADDS; i++)
        T_EQ(shmem_ctx_uint64_atomic_fetch_add(ctx, &count, 1, 1), i);
}

T(asks_for_more_than_there_are_buffers)
{
    for (int k = 0; k < GETS; k++) {
        memset(here, 0, sizeof here);
        shmem_uint64_iget(here, there, 1, 2, WORDS, 0);
        for (size_t i = 0; i < WORDS; i++)
            if (here[i] != 2 * i) {
                T_EQ(here[i], 2 * i);
                return;
            }
    }
}

int main(void)
{
    int me;

    shmem_init();
    me = shmem_my_pe();
    T_PE(me);
    for (size_t i = 0; i < 2 * WORDS; i++)
        there[i] = i;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx))
        return 1;
    shmem_barrier_all();
    if (me == 0)
        T_RUN(waits_in_its_own_context);
    else
        T_RUN(asks_for_more_than_there_are_buffers);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a library that is initialised again starts without a device
 * heap, and makes one again; a default space of the time before is forgotten.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "calls.h"

static void once(long mark)
{
    const shmem_space_config_t config = {
        SHMEM_DEVICE_GPU, 4096, SHMEM_SPACE_FLAG_DEFAULT
    };
    int next, me;
    shmem_space_t s;
    long *p, *q;

    shmem_init();
    me = shmem_my_pe();
    next = (me + 1) % shmem_n_pes();
    T_TRUE(SHMEM_SPACE_DEFAULT == SHMEM_SPACE_CPU);
    p = shmem_space_calloc(SHMEM_SPACE_GPU, 4, sizeof *p);
    T_TRUE(p != NULL);
    shmem_long_p(p, mark + me, next);
    shmem_barrier_all();
    T_EQ(shmem_long_g(p, next), mark + me);
    T_EQ(shmem_space_create(&config, &s, NULL), 0);
    q = shmem_malloc(8);
    T_TRUE(space_of(q) == s);
    shmem_finalize();           /* with blocks and a space left */
}

int main(void)
{
    for (int i = 1; i <= 3; i++)
        once(1000 * i);
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A number goes round: each PE waits for the one of the PE before it. */
#include <shmem.h>

int main(void)
{
    static long number;
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (long i = 1; i <= 20; i++) {
        if (me)
            shmem_long_wait_until(&number, SHMEM_CMP_GE, i);
        shmem_long_p(&number, i, (me + 1) % n);
        if (!me)
            shmem_long_wait_until(&number, SHMEM_CMP_GE, i);
    }
    shmem_finalize();
    return 0;
}

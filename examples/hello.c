/* SPDX-License-Identifier: BSD-3-Clause */
/* hello.c */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    static long seen;                 /* static data is symmetric */

    shmem_init();
    shmem_long_atomic_inc(&seen, 0);  /* on PE 0 */
    shmem_barrier_all();
    printf("PE %d of %d: PE 0 was greeted %ld times\n", shmem_my_pe(),
           shmem_n_pes(), shmem_long_g(&seen, 0));
    shmem_finalize();
    return 0;
}

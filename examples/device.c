/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    int mine, got, *there;

    shmem_init();
    mine = shmem_my_pe();
    there = shmem_space_malloc(SHMEM_SPACE_DEVICE, sizeof *there);
    if (!there) {                     /* on all PEs or none; the reason is printed */
        shmem_finalize();
        return 1;
    }
    shmem_int_put(there, &mine, 1, (mine + 1) % shmem_n_pes()); /* to the device of a neighbor */
    shmem_barrier_all();
    shmem_int_get(&got, there, 1, mine);
    printf("PE %d has %d\n", mine, got);
    shmem_free(there);
    shmem_finalize();
    return 0;
}

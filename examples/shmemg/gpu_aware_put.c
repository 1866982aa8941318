/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_aware_put - no kernel: the host puts a variable of its own into the device
 * heap of the PE on its right. */
#include "gpu.h"

int main(void)
{
    int *dest, mine, got = -1, me, n;

    start(SHMEM_DEVICE_HOST_INIT);
    me = shmem_my_pe();
    n = shmem_n_pes();
    dest = (int *)symmetric(sizeof *dest);
    mine = 600 + me;
    shmem_int_put(dest, &mine, 1, right_of(me, n));
    shmem_barrier_all();
    to_host(&got, dest, sizeof got);
    shmem_barrier_all();
    shmemg_free(dest);
    return finish("gpu_aware_put", got != 600 + left_of(me, n));
}

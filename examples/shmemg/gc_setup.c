/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_setup - a kernel asks which PE it belongs to, and of how many: the smallest
 * program whose kernels call the library. */
#include "gpu.h"

struct answer {
    int *me, *n_pes;            /* in the device heap */
};

KERNEL(query, struct answer)
{
    (void)i;
    *arg->me = shmemg_my_pe();
    *arg->n_pes = shmemg_n_pes();
}

int main(void)
{
    struct answer answer;
    int *numbers, got[2] = { -1, -1 };

    start(SHMEM_DEVICE_KERNEL_INIT);
    numbers = (int *)symmetric(2 * sizeof *numbers);
    answer.me = numbers;
    answer.n_pes = numbers + 1;
    RUN(query, &answer);
    to_host(got, numbers, sizeof got);
    shmem_barrier_all();
    shmemg_free(numbers);
    return finish("gc_setup",
                  got[0] != shmem_my_pe() || got[1] != shmem_n_pes());
}

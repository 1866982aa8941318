/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_rma - a ring: the kernel of each PE puts a number to the PE on its right,
 * and a quiet completes the put. */
#include "gpu.h"

struct step {
    int *dest;
    const int *source;          /* both in the device heap */
};

KERNEL(put_right, struct step)
{
    int right = (shmemg_my_pe() + 1) % shmemg_n_pes();

    (void)i;
    shmemg_putmem(arg->dest, arg->source, sizeof *arg->dest, right);
    shmemg_quiet();
}

int main(void)
{
    struct step step;
    int *numbers, mine, got = -1;

    start(SHMEM_DEVICE_KERNEL_INIT);
    numbers = (int *)symmetric(2 * sizeof *numbers);
    step.dest = numbers;
    step.source = numbers + 1;
    mine = 100 + shmem_my_pe();
    to_device(numbers + 1, &mine, sizeof mine);
    shmem_barrier_all();
    RUN(put_right, &step);
    shmem_barrier_all();
    to_host(&got, numbers, sizeof got);
    shmem_barrier_all();
    shmemg_free(numbers);
    return finish("gc_rma",
                  got != 100 + left_of(shmem_my_pe(), shmem_n_pes()));
}

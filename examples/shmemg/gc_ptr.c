/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_ptr - a kernel stores to the memory of the PE on its right where the device
 * reaches that, and puts where it does not, as on another node.  What it puts is
 * a variable of the kernel. */
#include "gpu.h"

struct step {
    int *dest;                  /* in the device heap */
    int *stored;                /* in the same: was it a store? */
};

KERNEL(store_or_put, struct step)
{
    int right = (shmemg_my_pe() + 1) % shmemg_n_pes();
    int value = 200 + shmemg_my_pe();
    int *there = (int *)shmemg_ptr(arg->dest, right);

    (void)i;
    if (there)
        *there = value;
    else
        shmemg_putmem(arg->dest, &value, sizeof value, right);
    *arg->stored = there != NULL;
    shmemg_quiet();
}

int main(void)
{
    struct step step;
    int *numbers, got[2] = { -1, -1 }, me, n;

    start(SHMEM_DEVICE_KERNEL_INIT);
    me = shmem_my_pe();
    n = shmem_n_pes();
    numbers = (int *)symmetric(2 * sizeof *numbers);
    step.dest = numbers;
    step.stored = numbers + 1;
    RUN(store_or_put, &step);
    shmem_barrier_all();
    to_host(got, numbers, sizeof got);
    shmem_barrier_all();
    shmemg_free(numbers);
    /* A PE always reaches its own memory. */
    return finish("gc_ptr", got[0] != 200 + left_of(me, n) ||
                                (right_of(me, n) == me && !got[1]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_collectives - kernels put to the right, complete the puts and synchronize:
 * behind that each kernel reads what the PE on its left has put, with no call of
 * the host in between. */
#include "gpu.h"

struct step {
    int *dest, *seen;           /* in the device heap */
    int *error;
};

KERNEL(exchange, struct step)
{
    int me = shmemg_my_pe(), n = shmemg_n_pes();

    (void)i;
    shmemg_int_p(arg->dest, 500 + me, (me + 1) % n);
    shmemg_quiet();
    *arg->error = shmemg_sync_all();
    *arg->seen = *arg->dest;
}

int main(void)
{
    struct step step;
    int *numbers, got[2] = { -1, -1 };

    start(SHMEM_DEVICE_KERNEL_INIT);
    numbers = (int *)symmetric(3 * sizeof *numbers);
    step.seen = numbers;
    step.error = numbers + 1;
    step.dest = numbers + 2;
    RUN(exchange, &step);
    to_host(got, numbers, sizeof got);
    shmem_barrier_all();
    shmemg_free(numbers);
    return finish("gc_collectives",
                  got[0] != 500 + left_of(shmem_my_pe(), shmem_n_pes()) ||
                      got[1] != 0);
}

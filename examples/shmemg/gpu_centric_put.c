/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_centric_put - the exchange of gpu_aware_put, made by a kernel: the host
 * neither puts nor waits for the network. */
#include "gpu.h"

struct step {
    int *dest;                  /* in the device heap */
    int value;
};

KERNEL(put_value, struct step)
{
    (void)i;
    shmemg_int_p(arg->dest, arg->value,
                 (shmemg_my_pe() + 1) % shmemg_n_pes());
    shmemg_quiet();
}

int main(void)
{
    struct step step;
    int got = -1, me, n;

    start(SHMEM_DEVICE_KERNEL_INIT);
    me = shmem_my_pe();
    n = shmem_n_pes();
    step.dest = (int *)symmetric(sizeof *step.dest);
    step.value = 700 + me;
    RUN(put_value, &step);
    shmem_barrier_all();
    to_host(&got, step.dest, sizeof got);
    shmem_barrier_all();
    shmemg_free(step.dest);
    return finish("gpu_centric_put", got != 700 + left_of(me, n));
}

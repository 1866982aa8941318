/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_context - the host makes a context for kernels; a kernel puts on it and
 * completes what is on this context alone. */
#include "gpu.h"

struct step {
    shmem_ctx_t ctx;
    int *dest;
    const int *source;
};

KERNEL(put_on_context, struct step)
{
    int right = (shmemg_my_pe() + 1) % shmemg_n_pes();

    (void)i;
    shmemg_ctx_putmem(arg->ctx, arg->dest, arg->source, sizeof *arg->dest,
                      right);
    shmemg_ctx_quiet(arg->ctx);
}

int main(void)
{
    struct step step;
    int *numbers, mine, got = -1;

    start(SHMEM_DEVICE_KERNEL_INIT);
    TRY(shmem_team_create_ctx(SHMEM_DEVICE_TEAM_WORLD, SHMEM_DEVICE_CTX,
                              &step.ctx));
    numbers = (int *)symmetric(2 * sizeof *numbers);
    step.dest = numbers;
    step.source = numbers + 1;
    mine = 300 + shmem_my_pe();
    to_device(numbers + 1, &mine, sizeof mine);
    shmem_barrier_all();
    RUN(put_on_context, &step);
    shmem_barrier_all();
    to_host(&got, numbers, sizeof got);
    shmem_ctx_destroy(step.ctx);
    shmem_barrier_all();
    shmemg_free(numbers);
    return finish("gc_context",
                  got != 300 + left_of(shmem_my_pe(), shmem_n_pes()));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_p2p - the kernel of PE 0 puts a number, and behind a fence a flag; the
 * kernel of PE 1 waits for the flag, and reads the number.  With one PE it sends
 * to itself. */
#include "gpu.h"

struct step {
    long *number, *flag, *seen, *one;   /* in the device heap */
    int from, to;
};

KERNEL(put_or_wait, struct step)
{
    long value = 42;

    (void)i;
    if (shmemg_my_pe() == arg->from) {
        shmemg_putmem(arg->number, &value, sizeof value, arg->to);
        shmemg_fence();
        shmemg_putmem(arg->flag, arg->one, sizeof *arg->flag, arg->to);
        shmemg_quiet();
    }
    if (shmemg_my_pe() == arg->to) {
        shmemg_long_wait_until(arg->flag, SHMEM_CMP_EQ, 1);
        *arg->seen = *arg->number;
    }
}

int main(void)
{
    struct step step;
    long *memory, one = 1, got = 42;

    start(SHMEM_DEVICE_KERNEL_INIT);
    memory = (long *)symmetric(4 * sizeof *memory);
    step.number = memory;
    step.flag = memory + 1;
    step.seen = memory + 2;
    step.one = memory + 3;
    step.from = 0;
    step.to = right_of(0, shmem_n_pes());
    to_device(step.one, &one, sizeof one);
    shmem_barrier_all();
    RUN(put_or_wait, &step);
    if (shmem_my_pe() == step.to)
        to_host(&got, step.seen, sizeof got);
    shmem_barrier_all();
    shmemg_free(memory);
    return finish("gc_p2p", got != 42);
}

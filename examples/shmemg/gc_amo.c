/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_amo - kernels draw numbers from a counter of PE 0 by an atomic, so that no
 * two kernels get the same one. */
#include "gpu.h"

struct draw {
    long *counter;              /* that of PE 0 counts */
    long *number;               /* what this PE has drawn */
};

KERNEL(draw_one, struct draw)
{
    (void)i;
    *arg->number = shmemg_long_atomic_fetch_add(arg->counter, 1, 0);
}

/* The numbers of all PEs are 0 to n - 1, whatever their order. */
int main(void)
{
    static long sum, squares, mine, square;
    struct draw draw;
    long *counter, drawn = -1, left = 0, n;

    start(SHMEM_DEVICE_KERNEL_INIT);
    n = shmem_n_pes();
    counter = (long *)symmetric(2 * sizeof *counter);
    draw.counter = counter;
    draw.number = counter + 1;
    RUN(draw_one, &draw);
    shmem_barrier_all();
    to_host(&drawn, counter + 1, sizeof drawn);
    if (shmem_my_pe() == 0)
        to_host(&left, counter, sizeof left);
    mine = drawn;
    square = drawn * drawn;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &squares, &square, 1);
    shmemg_free(counter);
    return finish("gc_amo", sum != n * (n - 1) / 2 ||
                                squares != n * (n - 1) * (2 * n - 1) / 6 ||
                                (shmem_my_pe() == 0 && left != n));
}

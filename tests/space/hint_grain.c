/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a hint which memory of a device is wanted is one of three, and
 * of device memory alone; the space is as usable with it as without.
 * PEs: 2
 * Env: SHMEM_DEVICE=software */
#include "t.h"

#include <errno.h>
#include <shmem.h>

enum { SIZE = 2 << 20, N = 1000 };

static shmem_space_t make(long flags, shmem_device_type_t type, int wanted)
{
    const shmem_space_config_t config = { type, SIZE, flags };
    shmem_space_t s = SHMEM_SPACE_INVALID;

    T_EQ(shmem_space_create(&config, &s, NULL), wanted);
    return s;
}

static void is_usable(shmem_space_t s)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    char *p = shmem_space_malloc(s, N), out[N], in[N];

    T_TRUE(p);
    memset(out, 'a' + shmem_my_pe(), N);
    shmem_putmem(p, out, N, next);
    shmem_getmem(in, p, N, next);
    T_MEM(in, out, N);
    shmem_barrier_all();
    shmem_space_free(s, p);
    T_EQ(shmem_space_destroy(s), 0);
}

T(hints_that_are_none)
{
    make(SHMEMX_SPACE_GRAIN_COARSE | SHMEMX_SPACE_GRAIN_FINE,
         SHMEM_DEVICE_GPU, -EINVAL);
    make(SHMEMX_SPACE_GRAIN_FINE, SHMEM_DEVICE_CPU, -EINVAL);
}

T(spaces_with_hints_are_usable)
{
    is_usable(make(SHMEMX_SPACE_GRAIN_FINE, SHMEM_DEVICE_GPU, 0));
    is_usable(make(SHMEMX_SPACE_GRAIN_COARSE, SHMEM_DEVICE_GPU, 0));
    is_usable(make(SHMEMX_SPACE_GRAIN_UNCACHED, SHMEM_DEVICE_GPU, 0));
    is_usable(make(0, SHMEM_DEVICE_GPU, 0));
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(hints_that_are_none);
    T_RUN(spaces_with_hints_are_usable);
    shmem_finalize();
    return T_DONE();
}

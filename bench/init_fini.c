/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: starts the library, meets the others, ends it;
 * scripts/bench-startup times the launch. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* init - starts the library and ends it; scripts/bench times the launch. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}

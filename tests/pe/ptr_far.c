/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a job whose PEs count as being on several nodes ends at its
 * start with a line that says so, since no transport joins nodes.
 * PEs: 2 3
 * Launch: --ppn 1
 * Status: nonzero
 * Expect: ^sluice: .*1 of the [23] PEs are on this node.*\[S-E-NET\]
 * Reject: reached */
#include <shmem.h>

#include <stdio.h>

int main(void)
{
    shmem_init();
    puts("reached");
    shmem_finalize();
    return 0;
}

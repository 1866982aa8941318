/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_align keeps its promise up to a huge page, on each PE's
 * own address and on the mappings of its peers, and refuses more.
 * PEs: 1 3
 * Launch: -x SHMEM_SYMMETRIC_SIZE=9m
 * Expect: shmem_align: alignment 4194304 is not .* up to 2097152 \[S-W-ARG\] */
#include "t.h"

#include <shmem.h>

#define MOST ((size_t)2 << 20)

T(blocks_are_aligned_wherever_they_are_mapped)
{
    char *p, *near;

    for (size_t align = sizeof(void *); align <= MOST; align *= 2) {
        T_NE(shmem_malloc(40), NULL);   /* the next offset is an odd one */
        p = shmem_align(align, 100);
        if (!T_NE(p, NULL))
            return;
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            near = shmem_ptr(p, pe);
            T_EQ((uintptr_t)near % align, 0);
        }
    }
}

T(more_than_a_huge_page_is_refused)
{
    T_EQ(shmem_align(2 * MOST, 8), NULL);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(blocks_are_aligned_wherever_they_are_mapped);
    T_RUN(more_than_a_huge_page_is_refused);
    shmem_finalize();
    return T_DONE();
}

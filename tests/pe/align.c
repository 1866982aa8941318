/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_align gives blocks at multiples of any power of two that
 * the heap holds, on each PE's own address; what it refuses it names.
 * PEs: 1 3
 * Launch: -x SHMEM_SYMMETRIC_SIZE=33m -x SHMEM_DEVICE=software
 * Launch: -x SHMEM_DEVICE_SYMMETRIC_SIZE=16m
 * Expect: shmem_align: alignment 1 is less than .* up to 8 \[S-W-ARG\]
 * Expect: shmem_align: alignment 0 is not a power of two \[S-W-ARG\]
 * Expect: shmem_align: alignment 24 is not a power of two \[S-W-ARG\]
 * Expect: shmem_align: .* full: asked 8 B at a multiple of 64.0 MiB, .*raise
 * Reject: alignment 2 is less than */
#include "t.h"

#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

/* Else it is a heap of any size. */
static bool sized(void)
{
    return getenv("SHMEM_SYMMETRIC_SIZE");
}

static void *aligned(size_t align, size_t size)
{
    char *p = shmem_align(align, size);

    if (T_NE(p, NULL))
        T_EQ((uintptr_t)p % align, 0);
    return p;
}

T(shmem_align_keeps_any_power_of_two_that_fits)
{
    char *p;

    for (size_t align = 32 * MIB; align >= sizeof(void *); align /= 2) {
        T_NE(shmem_malloc(40), NULL);   /* the next offset is an odd one */
        p = aligned(align, 100);
        if (!p)
            return;
        memset(p, shmem_my_pe() + 1, 100);
    }
}

/* Of up to a huge page, the peers' mappings keep it, too. */
T(shmem_align_holds_in_shmem_ptr_up_to_2_mib)
{
    char *p = aligned(2 * MIB, 100), *low;

    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        low = shmem_ptr(p, pe);
        if (low)
            T_EQ((uintptr_t)low % (2 * MIB), 0);
    }
    shmem_free(p);
}

T(shmem_align_blocks_of_all_pes_are_the_same_one)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *p = aligned(16 * MIB, 8);

    if (!p)
        return;
    *p = -1;
    shmem_barrier_all();
    shmem_long_p(p, me, (me + 1) % n);
    shmem_barrier_all();
    T_EQ(*p, (me + n - 1) % n);
    shmem_free(p);
}

T(shmem_align_rounds_less_than_a_pointer_up)
{
    T_NE(aligned(1, 24), NULL);
    T_NE(aligned(2, 24), NULL);
    T_NE(aligned(sizeof(void *), 24), NULL);
}

T(shmem_align_refuses_what_no_heap_has)
{
    T_EQ(shmem_align(0, 8), NULL);
    T_EQ(shmem_align(24, 8), NULL);
    for (size_t align = sized() ? 64 * MIB : MIB << 20; align; align *= 2)
        T_EQ(shmem_align(align, 8), NULL);
    T_EQ(shmem_align(SIZE_MAX, 8), NULL);
}

T(shmem_space_align_keeps_any_power_of_two_that_fits)
{
    char *p;

    for (size_t align = 64; align <= 8 * MIB; align *= 2) {
        p = shmem_space_align(SHMEM_SPACE_DEVICE, align, 100);
        if (!T_NE(p, NULL))
            return;
        T_EQ((uintptr_t)p % align, 0);
        shmem_space_free(SHMEM_SPACE_DEVICE, p);
    }
    T_EQ(shmem_space_align(SHMEM_SPACE_DEVICE, sized() ? 32 * MIB : MIB << 20,
                           8), NULL);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(shmem_align_blocks_of_all_pes_are_the_same_one);
    T_RUN(shmem_align_holds_in_shmem_ptr_up_to_2_mib);
    T_RUN(shmem_align_keeps_any_power_of_two_that_fits);
    T_RUN(shmem_align_rounds_less_than_a_pointer_up);
    T_RUN(shmem_align_refuses_what_no_heap_has);
    T_RUN(shmem_space_align_keeps_any_power_of_two_that_fits);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: without argument checks, sizes and strides are computed as with
 * them. */
#undef SLUICE_CHECKS
#include "../../src/core/core_rma.c"

#include "unit.h"

T(strides_are_in_bytes)
{
    struct core_strided s;

    memset(&s, 0x55, sizeof s);
    core_strided_make("shmem_int_iput", 3, 2, 1, 10, 4, &s);
    T_EQ(s.dst, 12);
    T_EQ(s.sst, 8);
    T_EQ(s.len, 4);
    T_EQ(s.count, 10);
    memset(&s, 0x55, sizeof s);
    core_strided_make("shmem_ibget64", 7, 9, 5, 11, 8, &s);
    T_EQ(s.dst, 56);
    T_EQ(s.sst, 72);
    T_EQ(s.len, 40);
    T_EQ(s.count, 11);
}

T(sizes_are_in_bytes)
{
    T_EQ(core_bytes("shmem_put64", 1000, 8), 8000);
    T_EQ(core_bytes("shmem_put64", 0, 8), 0);
}

int main(void)
{
    T_RUN(strides_are_in_bytes);
    T_RUN(sizes_are_in_bytes);
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo.inc"

#include "../../../apps/jacobi2d/kernels.inc"

JACOBI_KERNELS(BODY)
__attribute__((visibility("default")))
const struct dev_kernel dev_kernels[] = {
    HALO_ROWS ROW(relax, relaxing, 3) ROW(square_rows, relaxing, 3)
        ROW(total, totaling, 2) { .name = NULL }
};

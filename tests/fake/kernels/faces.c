/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo.inc"

#include "../../../apps/faces/kernels.inc"

FACES_KERNELS(BODY)
__attribute__((visibility("default")))
const struct dev_kernel dev_kernels[] = {
    HALO_ROWS ROW(fill, filling, 1) ROW(sum, summing, 1) ROW(fold, folding, 1)
    { .name = NULL }
};

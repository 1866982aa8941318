/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo.inc"

#include "../../../apps/gol2d/kernels.inc"

LIFE_KERNELS(BODY)
__attribute__((visibility("default")))
const struct dev_kernel dev_kernels[] = {
    HALO_ROWS ROW(life, life, 2) { .name = NULL }
};

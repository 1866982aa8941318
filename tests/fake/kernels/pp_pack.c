/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of pp_pack for the stand-ins of GPUs, from the same text. */
#include "dev.h"

#include "../../../bench/pp_kernels.inc"

#define RUN(name) \
static void run_##name(const struct dev_item *it, const void *arg) \
{ \
    const struct coord p = { it->group, it->item, it->groups, it->items }; \
    name(arg, &p); \
}
KERNELS(RUN)

#define ROW(name) { "pp_" #name, run_##name, 1, 3, sizeof(struct step) },
__attribute__((visibility("default")))
const struct dev_kernel dev_kernels[] = { KERNELS(ROW) { .name = NULL } };

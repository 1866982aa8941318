/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bucketsort for the stand-ins of GPUs, from the same text. */
#include "dev.h"

#define KERNELS_OF_GPU          /* counters lie as there */
#include "../../../apps/bucketsort/kernels.inc"

#define RUN(name, phases) \
static void run_##name(const struct dev_item *it, const void *arg) \
{ \
    const struct coord s = { it->group, it->item, it->groups, it->items }; \
    name(arg, &s, it->phase); \
}
KERNELS(RUN)

#define ROW(name, phases) \
    { "sort_" #name, run_##name, phases, 10, sizeof(struct work) },
__attribute__((visibility("default")))
const struct dev_kernel dev_kernels[] = { KERNELS(ROW) { .name = NULL } };

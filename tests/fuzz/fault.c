/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_FAULT. */
#include "fuzz.h"

#include "base/env.h"
#include "base/fault.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    env.FAULT = text;
    if (!fault_load()) {
        for (int i = 0; i < FAULT_SITES; i++)
            (void)fault_hit((enum fault_site)i);
        fault_report();
    }
    env.FAULT = "";
    fault_load();
    free(text);
}

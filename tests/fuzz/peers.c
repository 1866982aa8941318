/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's list of a node's PEs, in a job of 300. */
#include "fuzz.h"

#include "rt/rt_int.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    char *list = fuzz_text(data, size);
    int n, *pes;

    if (!rt_peers_parse(list, 300, &n, &pes)) {
        FUZZ_CHECK(n > 0 && pes[0] >= 0 && pes[n - 1] < 300);
        for (int i = 1; i < n; i++)
            FUZZ_CHECK(pes[i - 1] < pes[i]);
        free(pes);
    }
    free(list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_NIC_MAP: a byte for the number of the PE on its node, then the map. */
#include "fuzz.h"

#include "rt/rt_int.h"

#include <errno.h>

void fuzz_one(const uint8_t *data, size_t size)
{
    static const struct rt_nic nics[] = {
        { .name = "cxi0" }, { .name = "cxi1" }, { .name = "0:3" }, { .name = "" }
    };
    enum { NICS = sizeof nics / sizeof *nics };
    char *map;
    int rc;

    if (!size)
        return;
    map = fuzz_text(data + 1, size - 1);
    rc = rt_nic_map(map, nics, NICS, data[0]);
    FUZZ_CHECK(rc == -EINVAL || (rc >= 0 && rc <= NICS));
    rc = rt_nic_map_stray(map, nics, NICS, data[0]);
    FUZZ_CHECK(rc == -1 || rc >= data[0]);
    free(map);
}

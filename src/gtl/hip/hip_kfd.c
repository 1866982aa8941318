/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_kfd.c - asks the kernel's driver about AMD's devices that this process
 * does not see (ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES), about which the
 * runtime answers no question. The runtime, too, has its answers from there.
 * hip_mem.c asks when it opens a peer's memory. */
#include "gtl/hip/hip_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NODES "/sys/class/kfd/kfd/topology/nodes"
/* Nodes and links of one machine, and the flags of a link: the low bit is not
 * asked of. */
enum { MOST = 128, NO_ATOMICS = 1 << 2 | 1 << 3, NO_PEERS = 1 << 4 };

/* The numbers of a file of "name number" lines. */
struct field {
    const char *name;
    uint64_t value;
};

static bool read_fields(const char *path, struct field *f, int n)
{
    FILE *file = fopen(path, "re");
    char line[128], name[64];
    uint64_t value;

    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %" SCNu64, name, &value) != 2)
            continue;
        for (int i = 0; i < n; i++)
            if (!strcmp(name, f[i].name))
                f[i].value = value;
    }
    fclose(file);
    return true;
}

/* As gtl_hip_identify() makes it of the runtime's answers. */
static uint64_t id_of(const struct field *f)
{
    unsigned where = (unsigned)f[1].value;
    char id[sizeof gtl_device.id], uuid[17];
    int at;

    snprintf(uuid, sizeof uuid, "%016" PRIx64, f[2].value);
    at = snprintf(id, sizeof id, "%04x:%02x:%02x.%x", (unsigned)f[0].value,
                  where >> 8 & 0xff, where >> 3 & 0x1f, where & 7);
    for (unsigned i = 0; i < 16 && at < (int)sizeof id; i++)
        at += snprintf(id + at, sizeof id - (size_t)at, "%02x",
                       (unsigned char)uuid[i]);
    return gtl_id_hash(id);
}

/* The node of that device, or -1. */
static int find(uint64_t id)
{
    char path[128];

    for (int i = 0; i < MOST; i++) {
        struct field f[] = { { "domain", 0 }, { "location_id", 0 },
                             { "unique_id", 0 } };

        snprintf(path, sizeof path, NODES "/%d/properties", i);
        if (!read_fields(path, f, 3))
            return -1;
        if (f[2].value && id_of(f) == id)
            return i;
    }
    return -1;
}

/* Among the links of that kind: of the bus, or others. */
static bool has_link(int from, int to, const char *kind)
{
    char path[160];

    for (int i = 0; i < MOST; i++) {
        struct field f[] = { { "node_to", MOST }, { "flags", NO_ATOMICS } };

        snprintf(path, sizeof path, NODES "/%d/%s/%d/properties", from, kind,
                 i);
        if (!read_fields(path, f, 2))
            return false;
        if (f[0].value == (uint64_t)to)
            return !(f[1].value & (NO_ATOMICS | NO_PEERS));
    }
    return false;
}

bool gtl_hip_hidden_atomic(uint64_t theirs)
{
    int from = find(gtl_hip_state.id), to = find(theirs);

    return from >= 0 && to >= 0 &&
           (has_link(from, to, "io_links") || has_link(from, to, "p2p_links"));
}

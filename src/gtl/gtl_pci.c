/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_pci.c - why a device cannot map the memory of another one over PCI:
 * looks for what is in the way, and keeps it as the reason for gtl_error().
 * The drivers call it after such a mapping has failed; it changes nothing. */
#include "gtl/gtl_int.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYSFS "/sys/bus/pci/devices"
enum { IS_MEMORY = 0x200 };     /* among the flags of a resource */

/* Drivers write the place in either case, the kernel in small letters. */
static FILE *open_resources(const char *pci)
{
    char path[256];
    int at = snprintf(path, sizeof path, SYSFS "/"), n;

    n = snprintf(path + at, sizeof path - (size_t)at, "%s/resource", pci);
    if (n >= (int)sizeof path - at)
        return NULL;
    for (char *c = path + at; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return fopen(path, "re");
}

/* The bytes of a device that others on the bus reach: its largest region, for
 * the others are registers.  0: not known. */
static uint64_t bar_size(const char *pci)
{
    uint64_t first, last, flags, most = 0;
    char line[128];
    FILE *f;

    if (!*pci)
        return 0;
    f = open_resources(pci);
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &first, &last,
                   &flags) == 3 &&
            (flags & IS_MEMORY) && last > first && last - first + 1 > most)
            most = last - first + 1;
    }
    fclose(f);
    return most;
}

int gtl_fail_peer(int rc, bool access, const char *ours, const char *theirs)
{
    uint64_t window;
    char text[128], size[24];

    if (!access) {
        snprintf(text, sizeof text, "the device at %s has no access to the "
                 "memory of the one at %s", ours, theirs);
        return gtl_fail(-EXDEV, "peer access", text, 0);
    }
    window = bar_size(theirs);
    if (!window || window >= gtl_device.memory)
        return rc;
    snprintf(text, sizeof text, "the window (BAR) of the device at %s has "
             "room for %s", theirs, log_size(size, (double)window));
    return gtl_fail(-ENOSPC, "mapping memory of a device", text, -rc);
}

uint64_t gtl_id_hash(const char *id)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    while (*id)
        hash = (hash ^ (unsigned char)*id++) * UINT64_C(0x100000001b3);
    return hash;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what an address belongs to, for messages about addresses that a call
 * refuses.  Called by core where an error ends the job. */
#include "base/mapping.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct mapping {
    uintptr_t from, to;
    char name[256];             /* of a file, or like [stack]; or empty */
};

/* The mapping of the address, and that of this function's frame. */
static bool find(uintptr_t at, struct mapping *found, struct mapping *frame)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    FILE *f = fopen("/proc/self/maps", "re");
    struct mapping m;
    char line[512];
    bool any = false;

    frame->from = frame->to = 0;
    while (f && fgets(line, sizeof line, f)) {
        m.name[0] = '\0';
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %255[^\n]",
                   &m.from, &m.to, m.name) < 2)
            continue;
        if (here - m.from < m.to - m.from)
            *frame = m;
        if (at - m.from < m.to - m.from) {
            *found = m;
            any = true;
        }
    }
    if (f)
        fclose(f);
    return any;
}

bool mapping_describe(const void *at, char *text, size_t size)
{
    struct mapping m, frame;
    const char *slash;

    if (!find((uintptr_t)at, &m, &frame)) {
        snprintf(text, size, "not mapped at all");
        return false;
    }
    if (strstr(m.name, "memfd:sluice")) {
        snprintf(text, size, "memory of the library's own");
        return false;
    }
    slash = strrchr(m.name, '/');
    if (m.from == frame.from)
        snprintf(text, size, "on the stack of this thread");
    else if (!strcmp(m.name, "[stack]"))
        snprintf(text, size, "on the stack of the first thread");
    else if (slash)
        snprintf(text, size, "data of %s", slash + 1);
    else
        snprintf(text, size, "private memory, as of malloc");
    return true;
}

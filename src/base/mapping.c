/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what an address belongs to, for messages about addresses that a call
 * refuses.  Called by core where an error ends the job. */
#include "base/mapping.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Room for a path, or for a name like [stack]; empty: memory without a file. */
enum { NAME_SIZE = 256 };

static bool find(uintptr_t at, char name[NAME_SIZE])
{
    FILE *f = fopen("/proc/self/maps", "re");
    uintptr_t from, to;
    char line[512];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f)) {
        name[0] = '\0';
        found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %255[^\n]",
                       &from, &to, name) >= 2 && at - from < to - from;
    }
    if (f)
        fclose(f);
    return found;
}

static bool is_on_stack(uintptr_t at)
{
    pthread_attr_t attr;
    size_t size = 0;
    void *low = NULL;

    if (pthread_getattr_np(pthread_self(), &attr))
        return false;
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    return at - (uintptr_t)low < size;
}

bool mapping_describe(const void *at, char *text, size_t size)
{
    char name[NAME_SIZE];
    const char *slash;

    if (!find((uintptr_t)at, name)) {
        snprintf(text, size, "not mapped");
        return false;
    }
    if (strstr(name, "memfd:sluice")) {
        snprintf(text, size, "memory of the library's own");
        return false;
    }
    slash = strrchr(name, '/');
    if (is_on_stack((uintptr_t)at))
        snprintf(text, size, "on the stack of this thread");
    else if (!strcmp(name, "[stack]"))
        snprintf(text, size, "on the stack of the first thread");
    else if (slash)
        snprintf(text, size, "data of %s", slash + 1);
    else
        snprintf(text, size, "private memory, such as malloc's");
    return true;
}

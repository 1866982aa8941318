/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_env.c - settings of the heaps that the environment has under several
 * names, since drafts of memory spaces spell them differently: the first that
 * is set counts.  heap, sm and api ask here instead of reading those rows. */
#include "heap/heap_int.h"
#include "base/env.h"
#include "base/log.h"

#include <string.h>

#define NAME(seg, name) { seg, #name, &env.name }
static const struct {
    int seg;
    const char *name;
    const size_t *value;
} names[] = {
    NAME(HEAP_HOST, SPACE_CPU_SYMMETRIC_SIZE),
    NAME(HEAP_HOST, CPU_SYMMETRIC_SIZE),
    NAME(HEAP_HOST, SYMMETRIC_SIZE),
    NAME(HEAP_DEVICE, DEVICE_SYMMETRIC_SIZE),
    NAME(HEAP_DEVICE, SYMMETRIC_SIZE_DEVICE),
    NAME(HEAP_DEVICE, SPACE_GPU_SYMMETRIC_SIZE),
    NAME(HEAP_DEVICE, GPU_SYMMETRIC_SIZE)
};
enum { NAMES = sizeof names / sizeof *names };

#define ENABLE(seg, name) { seg, "ENABLE_" #name, &env.ENABLE_##name }
static const struct {
    int seg;
    const char *name;
    const bool *value;
} switches[] = {
    ENABLE(HEAP_HOST, SPACE_CPU), ENABLE(HEAP_HOST, CPU_SPACE),
    ENABLE(HEAP_DEVICE, SPACE_GPU), ENABLE(HEAP_DEVICE, GPU_SPACE)
};
enum { SWITCHES = sizeof switches / sizeof *switches };

const char *heap_env_size(int seg, size_t *out)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].seg == seg && env_is_set(names[i].name)) {
            *out = *names[i].value;
            return names[i].name;
        }
    return NULL;
}

static const char *enabled(int seg, bool *out)
{
    for (int i = 0; i < SWITCHES; i++)
        if (switches[i].seg == seg && env_is_set(switches[i].name)) {
            *out = *switches[i].value;
            return switches[i].name;
        }
    return NULL;
}

const char *heap_env_enabled_by(int seg)
{
    return enabled(seg, &(bool){ false });
}

enum heap_env_state heap_env_enabled(int seg)
{
    bool on = false;

    return !enabled(seg, &on) ? HEAP_ENV_UNSET
           : on ? HEAP_ENV_ON : HEAP_ENV_OFF;
}

static void warn_differs(const char *counts, const char *other)
{
    log_warn(ERR_ENV, "SHMEM_%s and SHMEM_%s differ: the former counts",
             counts, other);
}

static void warn_contradictions(void)
{
    const char *first;
    bool on = false;

    first = enabled(HEAP_DEVICE, &on);
    if (first && on && env.DEVICE == ENV_DEVICE_NONE)
        log_warn(ERR_ENV, "SHMEM_%s has no effect: SHMEM_DEVICE=none switches "
                 "the device off", first);
    first = enabled(HEAP_HOST, &on);
    if (first && !on && env_is_set("DEFAULT_SPACE") &&
        env.DEFAULT_SPACE == ENV_SPACE_CPU)
        log_warn(ERR_ENV, "SHMEM_DEFAULT_SPACE=cpu has no effect: SHMEM_%s=0 "
                 "excludes that space", first);
}

void heap_env_warn(void)
{
    const char *first;
    size_t size = 0;
    bool on = false;

    for (int i = 0; i < NAMES; i++) {
        first = heap_env_size(names[i].seg, &size);
        if (first && env_is_set(names[i].name) && *names[i].value != size)
            warn_differs(first, names[i].name);
    }
    for (int i = 0; i < SWITCHES; i++) {
        first = enabled(switches[i].seg, &on);
        if (first && env_is_set(switches[i].name) && *switches[i].value != on)
            warn_differs(first, switches[i].name);
    }
    warn_contradictions();
}

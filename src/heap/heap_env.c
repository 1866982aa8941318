/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes that the environment gives under several names, as drafts of memory
 * spaces spell them: the first that is set counts. */
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

const char *heap_env_size(int seg, size_t *out)
{
    const char *found = NULL;

    for (int i = 0; i < NAMES; i++) {
        if (names[i].seg != seg || !env_is_set(names[i].name))
            continue;
        if (!found) {
            found = names[i].name;
            *out = *names[i].value;
        } else if (*names[i].value != *out) {
            log_warn(ERR_ENV, "SHMEM_%s and SHMEM_%s differ: the former counts",
                     found, names[i].name);
        }
    }
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_nvml.c - asks NVIDIA's management library about devices that this
 * process does not see (CUDA_VISIBLE_DEVICES): the driver maps their memory
 * all the same, but answers no question about them. cuda_mem.c asks when it
 * opens a peer's memory. */
#include "gtl/cuda/cuda_int.h"
#include "base/dl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* nvmlGpuP2PCapsIndex_t and nvmlGpuP2PStatus_t. */
enum { P2P_ATOMICS = 3, P2P_OK = 0, MOST = 64 };

#define NVML_CALLS(X)                                                       \
    X(nvmlInit_v2, (void))                                                  \
    X(nvmlShutdown, (void))                                                 \
    X(nvmlDeviceGetCount_v2, (unsigned *n))                                 \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned i, void **out))              \
    X(nvmlDeviceGetUUID, (void *device, char *text, unsigned size))         \
    X(nvmlDeviceGetP2PStatus, (void *a, void *b, int what, int *status))
static struct {
#define X(name, args) int (*name)args;
    NVML_CALLS(X)
#undef X
} nvml;

static bool bind_library(void)
{
    static const char *const names[] = { "libnvidia-ml.so.1", NULL };
#define X(name, args) { #name, &nvml.name },
    static const struct dl_sym needed[] = { NVML_CALLS(X) };
#undef X
    static void *lib;

    return lib || !dl_open(names, needed, sizeof needed / sizeof *needed,
                           &lib);
}

/* "GPU-8a3f...": the first bytes of it. */
static bool has_id(void *device, uint64_t id)
{
    unsigned char b[sizeof id];
    char text[96], digits[2 * sizeof id + 1];
    size_t n = 0;
    unsigned byte;

    if (nvml.nvmlDeviceGetUUID(device, text, sizeof text) ||
        strncmp(text, "GPU-", 4))
        return false;
    for (const char *c = text + 4; *c && n < 2 * sizeof id; c++)
        if (isxdigit((unsigned char)*c))
            digits[n++] = *c;
    digits[n] = '\0';
    for (size_t i = 0; i < sizeof id; i++) {
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1)
            return false;
        b[i] = (unsigned char)byte;
    }
    return !memcmp(b, &id, sizeof id);
}

static void *find(uint64_t id)
{
    unsigned n = 0;
    void *device;

    if (nvml.nvmlDeviceGetCount_v2(&n))
        return NULL;
    for (unsigned i = 0; i < n && i < MOST; i++)
        if (!nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) &&
            has_id(device, id))
            return device;
    return NULL;
}

bool gtl_cu_hidden_atomic(uint64_t ours, uint64_t theirs)
{
    int status = !P2P_OK;
    void *a, *b;

    if (!bind_library() || nvml.nvmlInit_v2())
        return false;
    a = find(ours);
    b = find(theirs);
    if (!a || !b || nvml.nvmlDeviceGetP2PStatus(a, b, P2P_ATOMICS, &status))
        status = !P2P_OK;
    nvml.nvmlShutdown();
    return status == P2P_OK;
}

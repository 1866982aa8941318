/* SPDX-License-Identifier: BSD-3-Clause */
/* The vendor's management library, which is found here by its own name: it
 * knows all devices of the machine, whichever a process sees. */
#include "fake.h"

#include <stdio.h>

enum { NOT_INITIALISED = 1, INVALID = 2 };
static int users;               /* atomic */

API int nvmlInit_v2(void);
API int nvmlShutdown(void);
API int nvmlDeviceGetCount_v2(unsigned *n);
API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out);
API int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
API int nvmlDeviceGetP2PStatus(void *a, void *b, int what, int *status);

int nvmlInit_v2(void)
{
    dev_call("nvmlInit_v2");
    __atomic_fetch_add(&users, 1, __ATOMIC_RELAXED);
    return 0;
}

int nvmlShutdown(void)
{
    return __atomic_fetch_sub(&users, 1, __ATOMIC_RELAXED) < 1;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    if (!__atomic_load_n(&users, __ATOMIC_RELAXED))
        return NOT_INITIALISED;
    *n = (unsigned)dev_setup()->machine;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out)
{
    if (i >= (unsigned)dev_setup()->machine)
        return INVALID;
    *out = (void *)(uintptr_t)(i + 1);
    return 0;
}

/* That of cuDeviceGetUuid(), in the vendor's groups of digits. */
int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    char b[32] = "";
    int at = snprintf(text, size, "GPU-");

    snprintf(b, sizeof b, "%02dfake device", (int)(uintptr_t)device - 1);
    for (int i = 0; i < 16; i++)
        at += snprintf(text + at, size - (unsigned)at, "%s%02x",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)b[i]);
    return 0;
}

int nvmlDeviceGetP2PStatus(void *a, void *b, int what, int *status)
{
    if (a == b || what < 0 || what > 5)
        return INVALID;
    *status = dev_setup()->peers == DEV_NO_PEERS ||
              (what == 3 && dev_setup()->peers != DEV_ATOMICS);
    return 0;
}

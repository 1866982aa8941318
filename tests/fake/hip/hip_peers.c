/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other devices: what was opened is reached after
 * hipDeviceEnablePeerAccess(), and not by the flag of hipIpcOpenMemHandle(). */
#include "hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16 };
static bool enabled[DEVICES][DEVICES];  /* atomic */

unsigned hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    int count = dev_setup()->count;

    CALL(DeviceEnablePeerAccess);
    if (flags)
        return hip_result(HIP_INVALID_VALUE);
    if (peer < 0 || peer >= count || peer >= DEVICES || peer == hip_current())
        return hip_result(HIP_INVALID_DEVICE);
    if (dev_setup()->peers == DEV_NO_PEERS)
        return hip_result(HIP_PEER_ACCESS_UNSUPPORTED);
    return hip_result(__atomic_exchange_n(&enabled[hip_current()][peer], true,
                                          __ATOMIC_ACQ_REL)
                      ? HIP_PEER_ACCESS_ENABLED : HIP_OK);
}

bool hip_mapped(int device, const void *p)
{
    const char *text = getenv("FAKE_HIP_PEERS");
    struct dev_range r;

    if (!dev_find(hip_here(p), &r) || r.where != DEV_BORROWED ||
        r.device == device || (text && !strcmp(text, "lazy")) ||
        r.device < 0 || r.device >= dev_setup()->count ||
        __atomic_load_n(&enabled[device][r.device], __ATOMIC_ACQUIRE))
        return true;
    fprintf(stderr, "fake HIP: device %d touches memory of device %d without "
            "peer access\n", device, r.device);
    return false;
}

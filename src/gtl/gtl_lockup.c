/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings with which a stream that waits can hold up what it waits for. */
#include "gtl/gtl_lockup.h"
#include "base/env.h"
#include "gtl/gtl_int.h"

#include <stdio.h>
#include <string.h>

static bool is_on(const char *name)
{
    const char *text = env_foreign(name);

    return text && strcmp(text, "0");
}

/* Kernels are loaded when they are first launched, and that waits for the
 * streams, unless the program asks for all at start. */
static const char *of_cuda(unsigned streams)
{
    const char *loading = env_foreign("CUDA_MODULE_LOADING");

    if (is_on("CUDA_LAUNCH_BLOCKING"))
        return "; CUDA_LAUNCH_BLOCKING is set: a call that enqueues behind a "
               "wait does not return; unset it";
    if (streams ? !loading || strcmp(loading, "EAGER")
                : loading && !strcmp(loading, "LAZY"))
        return "; a kernel that is launched for the first time waits for all "
               "streams: set CUDA_MODULE_LOADING=EAGER, or launch it once "
               "before";
    return NULL;
}

static const char *of_hip(unsigned streams)
{
    static __thread char text[200];

    if (is_on("HIP_LAUNCH_BLOCKING") || is_on("AMD_SERIALIZE_KERNEL"))
        return "; HIP_LAUNCH_BLOCKING or AMD_SERIALIZE_KERNEL is set: a call "
               "that enqueues behind a wait does not return; unset it";
    if (!streams)               /* as they all do */
        return NULL;
    snprintf(text, sizeof text, "; %u stream%s, and all streams share %d "
             "hardware queues, where one that waits stops what is behind it: "
             "GPU_MAX_HW_QUEUES can raise that", streams,
             streams == 1 ? " waits" : "s wait", gtl_device.hw_queues);
    return text;
}

const char *gtl_lockup_hint(unsigned streams)
{
    return gtl == &gtl_cuda ? of_cuda(streams)
           : gtl == &gtl_hip ? of_hip(streams) : NULL;
}

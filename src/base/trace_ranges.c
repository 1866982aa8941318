/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the library of NVTX or that of ROCTx, whichever is there; a profiler
 * that runs the program replaces what their functions do.  trace.c calls them;
 * nothing here records. */
#include "base/trace_ranges.h"
#include "base/dl.h"
#include "base/log.h"

#include <stddef.h>

const struct trace_ranges *trace_ranges;

static struct trace_ranges loaded;
static void *library;

/* NVTX: the last name is that of CUDA before 12.9.  ROCTx: that of
 * rocprofiler-sdk, and that of the tracer before it. */
static const char *const nvtx_names[] = { "libnvtx3interop.so",
                                          "libnvtx3interop.so.1",
                                          "libnvToolsExt.so.1", NULL };
static const char *const roctx_names[] = { "librocprofiler-sdk-roctx.so",
                                           "librocprofiler-sdk-roctx.so.1",
                                           "libroctx64.so.4", NULL };
static const struct dl_sym nvtx[] = {
    { "nvtxRangePushA", &loaded.push }, { "nvtxRangePop", &loaded.pop },
    { "nvtxMarkA", &loaded.mark }
};
static const struct dl_sym roctx[] = {
    { "roctxRangePushA", &loaded.push }, { "roctxRangePop", &loaded.pop },
    { "roctxMarkA", &loaded.mark }
};

bool trace_ranges_open(void)
{
    enum { SYMBOLS = sizeof nvtx / sizeof *nvtx };

    if (!library && dl_open(nvtx_names, nvtx, SYMBOLS, &library) &&
        dl_open(roctx_names, roctx, SYMBOLS, &library)) {
        log_warn(ERR_TRACE, "SHMEM_TRACE_RANGES: there is neither NVTX (%s, "
                 "%s) nor ROCTx (%s, %s) where libraries are searched; "
                 "LD_LIBRARY_PATH may name its directory", nvtx_names[0],
                 nvtx_names[2], roctx_names[0], roctx_names[2]);
        return false;
    }
    trace_ranges = &loaded;
    return true;
}

/* The library stays: a thread may be about to end a range. */
void trace_ranges_close(void)
{
    trace_ranges = NULL;
}

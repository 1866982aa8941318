/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_ranges.h - SHMEM_TRACE_RANGES: events as ranges of the vendors'
 * profilers, by NVTX or ROCTx.  For trace.c.  Threads: any; the start and the end
 * are of the thread that opens and closes the library. */
#ifndef BASE_TRACE_RANGES_H
#define BASE_TRACE_RANGES_H

#include "base/atomics.h"

#include <stdbool.h>

/* A range of this thread begins, or its last one ends; an event without
 * duration. */
struct trace_ranges {
    int (*push)(const char *name);
    int (*pop)(void);
    void (*mark)(const char *name);
};
/* NULL: there are none. */
extern hidden const struct trace_ranges *trace_ranges;

/* Loads the library: true, or false and a line. */
bool trace_ranges_open(void);
void trace_ranges_close(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c - makes one trace of those that the PEs of a dead job have left.  The
 * front calls it when all of them have ended; a job that has finalized has done
 * it itself, and left none. */
#include "oshrun.h"
#include "base/log.h"
#include "base/trace.h"
#include "base/trace_merge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the PEs saw it: -x has precedence over the environment. */
static const char *wanted_file(const struct opts *o)
{
    static const char name[] = "SHMEM_TRACE";
    const char *file = getenv(name);

    for (int i = 0; i < o->n_exports; i++)
        if (!strncmp(o->exports[i], name, sizeof name - 1) &&
            o->exports[i][sizeof name - 1] == '=')
            file = o->exports[i] + sizeof name;
    return file && *file ? file : NULL;
}

/* A process may start the library again, and each time has a file. */
void merge_traces(const struct opts *o)
{
    const char *file = wanted_file(o);
    char name[TRACE_PATH];
    unsigned run = 1;

    if (!file)
        return;
    log_tool("oshrun");
    do {
        trace_merge_report(file, run);
        trace_name(name, file, run++);
    } while (access(name, F_OK) == 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_merge.h - one trace of a job from those of its PEs.
 * Called by PE 0 at finalize, by oshrun when a job has died, and by shmem_info
 * for jobs of other launchers.  Threads: one. */
#ifndef BASE_TRACE_MERGE_H
#define BASE_TRACE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_merged {
    uint32_t n_pes, found;      /* PEs; of which files were read */
    uint32_t missing;           /* the first PE without one */
    uint64_t events, lost;      /* in the trace; that rings had no room for */
    uint64_t arrows;
};

/* Writes `file` from file.0, file.1, ... and removes these if all were there:
 * 0, -ENOENT if there is none, or -errno of what failed last. */
int trace_merge(const char *file, struct trace_merged *out);
/* The same of that run of SHMEM_TRACE, where there is a part, with a line about
 * what came out.  False: it failed, or lacks PEs. */
bool trace_merge_report(const char *file, unsigned run);
/* Removes the parts of PEs from number n_pes on, of a larger job before, and no
 * file that is none. */
void trace_merge_remove(const char *file, uint32_t n_pes);
/* Is there a part of that file? */
bool trace_merge_has_parts(const char *file);
/* By PE 0, when all PEs of a job end: waits until they have closed theirs. */
void trace_merge_all(uint32_t n_pes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* core_report.h - what core says in a hang report: the wait of this PE, or its
 * last call, the operations under way, and the use of the heaps. */
#ifndef CORE_CORE_REPORT_H
#define CORE_CORE_REPORT_H

#include "base/line.h"
#include "core/core_wait.h"

/* Opens diag with the waits alone: the first of all layers that may wait for
 * other PEs follows.  call: the public call that this is part of. */
void core_report_start(const char *call);
/* Registers core's other sources with diag. */
void core_report_open(void);
/* Before core gives its memory back: from here on diag reports waits alone
 * again, those of shmem_finalize. */
void core_report_close(void);
/* Closes diag: nothing waits for other PEs any more. */
void core_report_end(void);

/* ---- core_start_watch.c ---- */

/* Registers the source that watches the fences of rt. */
void core_fence_open(const char *call);
void core_fence_close(void);
/* Appends what fence this PE waits in; false: it is in none. */
bool core_fence_describe(struct line *out);

/* ---- waits ---- */

/* This thread is about to sleep in w: the report describes w until the end of
 * the wait, or until another thread goes to sleep.  One thread at a time. */
void core_report_wait(struct core_waiter *w);
/* w ends; last: no other thread waits. */
void core_report_wait_end(const struct core_waiter *w, bool last);
/* The name of the object that w waits for, for a handler, as forming it takes
 * locks: if the report describes w. */
enum { CORE_WAIT_NAME = 192 };
void core_report_name(const struct core_waiter *w,
                      const char *text);
/* Is any wait published?  A thread that sleeps while none is publishes its own
 * again. */
bool core_report_has_wait(void);
/* Does the report describe this wait? */
bool core_report_shows(const struct core_waiter *w);

#endif

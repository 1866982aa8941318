/* SPDX-License-Identifier: BSD-3-Clause */
/* core_report.h - what core says in a hang report: the wait of this PE, or its
 * last call, the operations under way, and the use of the heaps. */
#ifndef CORE_CORE_REPORT_H
#define CORE_CORE_REPORT_H

#include "core/core_wait.h"

/* Registers core's sources with diag. */
void core_report_open(void);

/* This thread is about to sleep in w: the report describes w until the end of
 * the wait, or until another thread goes to sleep.  One thread at a time. */
void core_report_wait(struct core_waiter *w);
/* w ends; last: no other thread waits. */
void core_report_wait_end(const struct core_waiter *w, bool last);
/* Is any wait published?  A thread that sleeps while none is publishes its own
 * again. */
bool core_report_has_wait(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* core_stall.h - waits that last: a line on what each waits for and on the PEs
 * that keep it waiting, and the end of the job where a PE is lost.
 * PEs of this node are read; others are queried without waiting for the reply,
 * and one that never replies ends the job.  Threads: any. */
#ifndef CORE_CORE_STALL_H
#define CORE_CORE_STALL_H

#include "core/core_activity.h"
#include "diag/diag.h"

/* After the environment is read, and before the endpoint contexts are closed.
 * 0, or -ENOMEM, logged. */
int core_stall_open(void);
void core_stall_close(void);

/* An operation lasts for which no thread waits.  `text` says which one and how
 * long, and that PE, or one of all (-1), is to act.  The layer that sees it
 * calls core_stall_outstanding() again and again; lines are printed as those of
 * waits, with what the PEs do between who and advice. */
struct core_outstanding {
    struct core_waiter w;      /* wait_began_ns: the caller's */
    int pe;
    const char *text, *who;
    const char *advice;         /* or NULL */
    bool *reported;                 /* set when a line has been printed */
};
void core_stall_outstanding(struct core_outstanding *o, uint64_t now);
/* The operation begins with the first call.  Has it lasted for so long that it
 * is to be reported? */
static inline bool core_stall_overdue(struct core_outstanding *o, uint64_t now)
{
    if (!o->w.wait_began_ns)
        o->w.wait_began_ns = o->w.examined_ns = o->w.printed_ns = now;
    return now - o->w.wait_began_ns > diag_stall_ns;
}

#endif

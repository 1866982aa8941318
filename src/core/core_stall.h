/* SPDX-License-Identifier: BSD-3-Clause */
/* core_stall.h - who waits for whom.
 * Each PE keeps in its control block what it did last.  A wait that lasts says
 * what it waits for, and what they do who have not come; far PEs are asked for
 * that without waiting for the answer, and one that gives none ends the job.
 * Threads: any. */
#ifndef CORE_CORE_STALL_H
#define CORE_CORE_STALL_H

#include "core/core.h"

/* This PE makes that call: not from where a few nanoseconds count. */
void core_activity_call(const char *call);
/* The same, of a collective call: this thread's waits are for all of t.  NULL:
 * it is only about to make one. */
void core_activity_enter(const char *call, struct core_team *t);

/* A wait longer than this takes a step of the watch now and then. */
extern hidden uint64_t core_stall_ns;
void core_stall_step(struct core_waiter *w, uint64_t now) __attribute__((cold));

/* The same for operations on far PEs: see xport_wait_stalled. */
void core_stall_transport(struct xport_wait *w);

/* Something lasts for which no thread waits: text says what and how long, and
 * that PE, or one of all (-1), is to act.  Whoever sees it last calls this
 * again and again; what the PEs do is added to a line each SHMEM_STALL
 * seconds, between who and advice. */
struct core_outstanding {
    struct core_waiter w;       /* since_ns: the caller's; told_ns: ours */
    int pe;
    const char *text, *who;
    const char *advice;         /* or NULL */
    bool *told;                 /* set when a line has been printed */
};
void core_stall_outstanding(struct core_outstanding *l, uint64_t now);
/* It begins with the first call.  Has it lasted for so long that it is to be
 * reported? */
static inline bool core_stall_overdue(struct core_outstanding *l, uint64_t now)
{
    if (!l->w.since_ns)
        l->w.since_ns = l->w.told_ns = now;
    return now - l->w.since_ns > core_stall_ns;
}

/* After the environment is read, and before the flows are closed.  0, or
 * -ENOMEM, logged. */
int core_stall_open(void);
void core_stall_close(void);

/* ---- core_report.c: SIGUSR2 prints what this PE does ---- */
/* More to say, beginning "; ", or NULL; atomic. */
extern hidden const char *core_report_more;
void core_report_open(void);
/* From here on a thread answers: when all that it may look at is there. */
void core_report_start_thread(void);
void core_report_close(void);
/* This thread sleeps now; it waits no more, and if it is the last no other
 * does.  One thread at a time. */
void core_report_wait(struct core_waiter *w);
void core_report_wait_end(const struct core_waiter *w, bool last);
/* Is any shown?  Who sleeps while none is shows itself again. */
bool core_report_has_wait(void);

/* Whom this thread's waits for all are for; NULL: not known. */
extern hidden __thread struct core_team *core_activity_team
    __attribute__((tls_model("initial-exec")));

/* ---- core_activity.c: what this PE does, as others read it ---- */
void core_activity_open(void);
/* Some thread waits that way, or none does any more. */
enum { CORE_WAITS_SLEEP = 1, CORE_WAITS_FAR = 2 };
void core_activity_waits(unsigned which, bool on);
/* This thread waits in the transport; no more. */
void core_activity_transport(struct xport_wait *w, uint64_t now);
void core_activity_transport_end(struct xport_wait *w);
/* For the handler of a signal. */
extern hidden struct core_transport_wait {
    const void *of;             /* NULL: no thread does */
    const char *call;           /* or NULL */
    int pe;                     /* -1: several */
    char host[64];              /* of pe, once the wait has lasted */
    uint64_t since_ns;
} core_transport_wait;

/* The word of a member that has come to its n-th collective call, and what
 * tells calls apart there. */
uint32_t core_activity_call_id(const char *name);
static inline uint64_t core_activity_entry(uint64_t n, uint32_t id)
{
    return (uint64_t)id << 32 | (uint32_t)n;
}

/* The sign of a comparison, and where an address lies: "heap", "static data",
 * or NULL, and how far in it: of static data, as nm says. */
const char *core_cmp_sign(int cmp);
const char *core_segment_name(const void *addr, uint64_t *off);
/* The value there, extended to 64 bits. */
uint64_t core_wait_value(const struct core_waiter *w);

/* Does that PE hold the lock whose copy there is this word? */
bool core_lock_holds(uint64_t word);
/* For whom a lock's holder waits that has none behind it yet. */
#define CORE_LOCK_BEHIND UINT64_MAX

#endif

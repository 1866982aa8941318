/* SPDX-License-Identifier: BSD-3-Clause */
/* core_activity.h - the activity record: this PE's last call and whether it
 * waits, kept in its control block where other PEs read it.
 * Threads: any; the record is exact for one thread, and true for several. */
#ifndef CORE_CORE_ACTIVITY_H
#define CORE_CORE_ACTIVITY_H

#include "core/core.h"

void core_activity_open(void);

/* This PE makes that call.  Not for calls where a few nanoseconds count. */
void core_activity_call(const char *call);
/* This PE enters a collective call: the thread's waits are for all members of
 * t.  NULL: the team is not known yet. */
void core_activity_enter(const char *call, struct core_team *t);

/* The team that this thread's waits are for; NULL: not known. */
extern hidden __thread struct core_team *core_activity_team;

/* Some thread waits in that way, or none does any more. */
enum { CORE_WAITS_SLEEP = 1, CORE_WAITS_TRANSPORT = 2 };
void core_activity_waits(unsigned which, bool on);

/* This thread waits in the transport; it waits no longer. */
void core_activity_transport(struct xport_wait *w, uint64_t now);
void core_activity_transport_end(struct xport_wait *w);
/* The thread that began such a wait last, for the hang report. */
extern hidden struct core_transport_wait {
    const void *of;             /* atomic; NULL: no thread waits there */
    const char *call;           /* or NULL */
    int pe;                     /* -1: several */
    char host[64];              /* of pe, once the wait has lasted */
    uint64_t since_ns;
} core_transport_wait;

/* A member's `entry` at its n-th collective call; a hash stands for the
 * call's name. */
uint32_t core_activity_call_id(const char *name);
static inline uint64_t core_activity_entry(uint64_t n, uint32_t id)
{
    return (uint64_t)id << 32 | (uint32_t)n;
}

#endif

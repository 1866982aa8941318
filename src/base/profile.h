/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h - SHMEM_STATS: how often the program made each call, with how many
 * bytes, and how long that took.
 *
 * trace.h calls it where events begin and end, on the program's threads: the
 * outermost event of a thread is a call of the program's, and what lies inside
 * belongs to it.  shmem_top has them counted in a running job.
 * Threads: any; profile_start() runs while none counts, and the functions that
 * read sorted rows on the thread that closes the library.  Counting takes no
 * lock. */
#ifndef BASE_PROFILE_H
#define BASE_PROFILE_H

#include "base/trace.h"

/* Of a call: the PE that it names, if it names one. */
enum profile_peers { PROFILE_NO_PE, PROFILE_SELF, PROFILE_NODE, PROFILE_NETWORK,
                     PROFILE_PEERS };

enum { PROFILE_CALL = 64, PROFILE_SITE = 128 };
/* A call, or with a site the calls that one place of the program made: these
 * are sampled.  PEs read each other's rows. */
struct profile_row {
    char call[PROFILE_CALL], site[PROFILE_SITE];
    uint64_t peers;
    uint64_t count, bytes, ns, most_ns;
    uint64_t waited_ns;         /* of ns: until other PEs had done something */
};

/* Atomic; stays on when trace.h ends a count: open events end in it. */
extern hidden bool profile_on;
static inline bool profile_is_on(void)
{
    return __atomic_load_n(&profile_on, __ATOMIC_RELAXED);
}

/* From zero, with the places of the program that call. */
void profile_start(void);
/* From where it was, without places; while threads make calls. */
void profile_resume(void);
void profile_stop(void);
/* Set by core: which PE that is. */
extern hidden enum profile_peers (*profile_peers_of)(int pe);

/* ---- for trace.c ---- */
void profile_enter(const struct trace_what *w, uint64_t now_ns)
    __attribute__((cold));
void profile_leave(uint64_t now_ns) __attribute__((cold));
/* An event of which the beginning was known. */
void profile_span(const struct trace_what *w, uint64_t begin_ns,
                  uint64_t now_ns) __attribute__((cold));

/* ---- the result ---- */
/* The rows with the largest time first; *lost counts calls that found no room.
 */
unsigned profile_calls(struct profile_row *out, unsigned most, uint64_t *lost);
unsigned profile_sites(struct profile_row *out, unsigned most);
/* The rows as they are now, in no order.  Any thread, while others count. */
unsigned profile_snapshot(struct profile_row *out, unsigned most, uint64_t *lost);

#endif

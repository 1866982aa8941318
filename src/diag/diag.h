/* SPDX-License-Identifier: BSD-3-Clause */
/* diag.h - what the library reports about itself: one hang report, one
 * watchdog, one set of statistics.
 *
 * A layer that has objects to report registers a source: a constant table of
 * callbacks, of which each may be NULL.  diag knows no object of any layer; it
 * decides when a source is asked, on which thread, and where the text goes.
 *
 *   describe    hang report: SIGUSR2, oshrun, shmem_info --state, shmem_top
 *   awaited     shmem_top: the PEs that a PE waits for
 *   check       watchdog: objects that last longer than SHMEM_STALL seconds
 *   statistics  SHMEM_STATS: printed once, at finalize
 *
 * Threads: sources are registered and closed on the thread that opens and
 * closes the library; every other call may come from any thread. */
#ifndef DIAG_DIAG_H
#define DIAG_DIAG_H

#include "base/atomics.h"
#include "base/line.h"

#include <stdbool.h>
#include <stdint.h>

/* The order of the parts of a hang report. */
enum diag_part { DIAG_WAITS, DIAG_OPERATIONS, DIAG_STREAMS, DIAG_MEMORY };

struct diag_source {
    enum diag_part part;
    /* Appends what the layer's objects do now, each piece but the report's
     * first after "; ".  Runs in a signal handler or on the diag thread: takes
     * no lock, allocates nothing, and may read what other threads write. */
    void (*describe)(struct line *out);
    /* Stores the first PEs that this one waits for, and returns how many there
     * are, 0 where it is not known.  As describe. */
    unsigned (*awaited)(int32_t *pes, unsigned most);
    /* Looks for objects that have lasted too long and prints a line for each.
     * Runs on the diag thread, several times in diag_stall_ns. */
    void (*check)(uint64_t now_ns);
    /* The process did not run for that long before now: the time does not
     * count against any object.  On the diag thread, before check. */
    void (*paused)(uint64_t ns, uint64_t now_ns);
    /* Prints lines with log_print() and sets the counters back to zero. */
    void (*statistics)(void);
};

/* Reads SHMEM_STALL and installs the handler of SIGUSR2, unless the program has
 * one or SHMEM_STATE_SIGNAL=0. */
void diag_open(void);
/* After the layer's part of diag_open(), until diag_close(); again: nothing.
 * Any thread. */
void diag_register(const struct diag_source *s);
/* From here on the diag thread answers requests for a report. */
void diag_answer_requests(void);
/* Ends the diag thread until the next start of the watchdog or
 * diag_answer_requests(): heap is about to replace the pages of static data,
 * among them, in a program linked with the archive, what this thread writes. */
void diag_stop_thread(void);
/* Ends the diag thread; no source is asked any more.  A signal is answered as
 * outside of the library. */
void diag_close(void);

/* ---- hang report ---- */

/* The text of a report in place of the sources' text, while the library is not
 * usable: "a forked child, which is no PE".  NULL: the sources describe; until
 * the first such call nothing is described. */
void diag_set_state_text(const char *text);

/* ---- for shmem_top (base/status_page.h) ---- */

/* Which PE this is, of which job: NULL, if the launcher has no name for it.
 * Before the first diag_answer_requests(). */
void diag_set_identity(int pe, int n_pes, const char *job);
/* The page disappears; after diag_close(), at the end of the library's use. */
void diag_status_close(void);

/* ---- watchdog ---- */

/* A wait or an operation that lasts longer is reported: SHMEM_STALL seconds, or
 * ten where that is 0, since a lost peer is found in any case; UINT64_MAX
 * before diag_open() and after diag_close(). */
extern hidden uint64_t diag_stall_ns;
/* Is anything printed of stalls?  False with SHMEM_STALL=0. */
bool diag_stall_is_reported(void);
/* Is a line due about what has lasted since since_ns, and of which the last line
 * was printed at printed_ns, or none if that is not later?  The first one is due
 * after diag_stall_ns, each other one after twice the time of the one before, or
 * an hour after it: a job that hangs over night fills no disk. */
static inline bool diag_line_is_due(uint64_t since_ns, uint64_t printed_ns,
                                    uint64_t now_ns)
{
    const uint64_t hour_ns = (uint64_t)3600 * 1000000000u;
    uint64_t before = printed_ns > since_ns ? printed_ns - since_ns : 0;
    uint64_t next = before < hour_ns ? 2 * before : before + hour_ns;

    /* Some checks are early. */
    return now_ns - since_ns >= (before ? next - diag_stall_ns / 8
                                        : diag_stall_ns);
}
/* Starts the periodic checks, if they do not run: 0, or -errno of a thread
 * that cannot be started; diag_watchdog_stop() follows in either case. */
int diag_watchdog_start(void);
/* Undoes one start.  The last one ends the checks: none runs when it
 * returns. */
void diag_watchdog_stop(void);
/* Runs fn soon on the diag thread, which a start has begun.  Calls that come
 * before it has run make one run.  NULL: takes it back; fn does not run any
 * more when this returns. */
void diag_watchdog_call(void (*fn)(void));

/* ---- statistics ---- */

/* Prints every source's statistics, with SHMEM_STATS. */
void diag_print_statistics(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h - SHMEM_TRACE=FILE: events of this PE and their times.  The profile
 * of SHMEM_STATS (profile.h) counts the same events.
 *
 * Every thread records events in a ring of its own.  The rings of a PE lie in a
 * file, FILE.<PE>, that the PE maps: the events of a PE remain when it is
 * killed.  At the end of the job trace_merge.h makes one file of all.
 *
 * An event is written when it begins and again when it ends, so that one that
 * never ended is seen, too.  Recording takes no lock and allocates nothing, but
 * for the first event of a thread, and of a name.
 *
 * Threads: any; trace_start() and trace_stop() run on the thread that opens and
 * closes the library. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_kind {
    TRACE_CALL,                 /* a call of the program's */
    TRACE_TRANSFER,             /* bytes that move */
    TRACE_WAIT,                 /* until another PE has done something */
    TRACE_STREAM,               /* a step of a stream, on the device */
    TRACE_MESSAGE,              /* a state of a protocol: tag, start */
    TRACE_TRIGGER,              /* tag, threshold */
    TRACE_PARTITION,            /* partition, tag */
    TRACE_KINDS
};

/* How events of two PEs belong together.  An event that sees what another one
 * stores has the bytes at `at`; a message has one number at both ends. */
enum trace_role { TRACE_ALONE, TRACE_STORES, TRACE_SEES, TRACE_SENDS,
                  TRACE_RECEIVES };

/* at: a position in symmetric memory as core_position() gives it, or the number
 * of a message; pe: of the job. */
#define TRACE_NOWHERE UINT64_MAX
struct trace_what {
    const char *name;           /* constant; see symbol_public() */
    enum trace_kind kind;
    enum trace_role role;
    int pe;                     /* another PE + 1; 0: none, or several */
    uint64_t at, bytes;
    int64_t arg[2];             /* by kind: see there */
};

/* A line of the cache. */
struct trace_event {
    uint64_t begin_ns;
    uint64_t end_ns;            /* atomic; 0: it lasts */
    uint64_t at, bytes;
    int64_t arg[2];
    int32_t pe;
    uint32_t thread;            /* the system's number of it */
    uint16_t name;              /* in the file's table */
    uint8_t kind, role;
    uint32_t used;              /* atomic: 0 while it is written */
};
_Static_assert(sizeof(struct trace_event) == 64, "a line of the cache");

/* relaxed: events about the time of the change may be missed. */
extern hidden bool trace_on;
/* The same, but not for the profile alone, which wants no places. */
extern hidden bool trace_records;

/* The event of this thread that begins now, or NULL: there is no memory. */
struct trace_event *trace_begin(const struct trace_what *w);
/* It has ended now.  NULL: nothing. */
void trace_end(struct trace_event *e);
/* An event that takes no time. */
void trace_mark(const struct trace_what *w) __attribute__((cold));
/* An event of which the caller knows the beginning; it ends now. */
void trace_span_since(const struct trace_what *w, uint64_t begin_ns)
    __attribute__((cold));

/* A row of events that no thread of this process makes, such as a stream of a
 * GPU's, until the trace ends; NULL: there is no room. */
struct trace_ring;
struct trace_ring *trace_row(const char *name);
/* By one thread at a time. */
void trace_row_span(struct trace_ring *row, const struct trace_what *w,
                    uint64_t begin_ns, uint64_t end_ns) __attribute__((cold));

/* The place of any address: its position, and the PE whose memory it is + 1, 0
 * for this one.  Set by core; TRACE_NOWHERE before. */
extern hidden void (*trace_place)(const void *p, uint64_t *at, int *pe);

static inline bool trace_is_on(void)
{
    return unlikely(__atomic_load_n(&trace_on, __ATOMIC_RELAXED));
}

static inline bool trace_is_recorded(void)
{
    return trace_is_on() && __atomic_load_n(&trace_records, __ATOMIC_RELAXED);
}

static inline void trace_end_of_scope(struct trace_event **e)
{
    if (unlikely(*e != NULL))
        trace_end(*e);
}

/* From here to the end of the block; the arguments initialise a struct
 * trace_what. */
#define TRACE_SCOPE(...)                                                    \
    struct trace_event *trace_scope_                                        \
        __attribute__((cleanup(trace_end_of_scope), unused)) =              \
            trace_is_on() ? trace_begin(&(struct trace_what){ __VA_ARGS__ }) \
                          : NULL
#define TRACE_MARK(...)                                                     \
    do {                                                                    \
        if (trace_is_recorded())                                            \
            trace_mark(&(struct trace_what){ __VA_ARGS__ });                \
    } while (0)

/* ---- the file of a PE ---- */

/* Its head, and rings behind it: trace_ring_size() bytes each. */
#define TRACE_MAGIC "Sluice trace 1"
enum { TRACE_NAMES = 2048, TRACE_NAME = 64 };
struct trace_file {
    char magic[16];
    uint32_t pe, n_pes, rings, ring_events;     /* rings: atomic */
    uint32_t event_size, closed;                /* closed: atomic */
    char host[64];
    /* PE 0's clock is that many ns ahead, as of that time here; the first pair
     * is of the start, the second of the end. */
    uint64_t clock_at[2];
    int64_t clock_ahead[2];
    /* Number 0 stands for those that the table had no room for. */
    char names[TRACE_NAMES][TRACE_NAME];
};

struct trace_ring {
    uint64_t count;             /* atomic: events so far */
    uint32_t thread;
    char name[52];              /* of the thread */
    struct trace_event events[];
};
_Static_assert(sizeof(struct trace_ring) == 64, "events are lines of the cache");

enum { TRACE_PAGE = 4096 };
#define TRACE_HEAD                                                          \
    ((sizeof(struct trace_file) + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE)
static inline uint64_t trace_ring_size(uint32_t events)
{
    return (sizeof(struct trace_ring) +
            events * (uint64_t)sizeof(struct trace_event) + TRACE_PAGE - 1) /
           TRACE_PAGE * TRACE_PAGE;
}

/* Starts to record, where SHMEM_TRACE, SHMEM_TRACE_RANGES or SHMEM_STATS say so;
 * a line says why it cannot. */
void trace_start(int pe, int n_pes);
/* The file of the whole job: that of SHMEM_TRACE; a process that starts the
 * library again has FILE-2, and so on.  The run counts from 1. */
enum { TRACE_PATH = 4096 };
void trace_name(char name[TRACE_PATH], const char *file, unsigned run);
unsigned trace_run(void);
/* Is there a file, for clocks and for the end? */
struct trace_file *trace_file(void);
/* Ends it: events that last stay open.  several_nodes: another node is to read
 * the file. */
void trace_stop(bool several_nodes);
/* For shmem_top: from here on calls are counted, or no longer.  One thread, and
 * not that which starts or stops meanwhile. */
void trace_count(bool on);
/* Gets the same: core's accesses that record nothing change to those that do,
 * and back.  NULL: core is closed. */
extern hidden void (*trace_switched)(bool on);
/* In a forked child, which is no PE: nothing is recorded. */
void trace_forget(void);

#endif

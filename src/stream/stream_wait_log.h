/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_wait_log.h - which flags each stream waits for.
 *
 * A thread that enqueues a wait leaves a note of it in the stream's record, by
 * a few stores; the watchdog reads them.  A record belongs to a handle: it ends
 * with the stream, or, of a stream that the program destroys by the vendor's
 * call, serves the handle's next stream, or goes when there are many and all
 * its waits are past, oldest first.
 * The device is never asked about the stream, which may be gone, nor given
 * anything there by the watchdog, which a stream that hangs could hold up.  It
 * is asked about events of ours behind the last waits, which the thread that
 * enqueues these records.
 * The memory of records stays for others, so a thread that comes late reads
 * nothing that was freed; its own notes name its own stream.
 * Threads: any; one at a time leaves notes for one stream. */
#ifndef STREAM_STREAM_WAIT_LOG_H
#define STREAM_STREAM_WAIT_LOG_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_where;

/* Enqueued: the stream waits until *word, sym for the program, is at least
 * that; pe: the PE that raises it, or -1.  sym NULL: the NIC raises it behind
 * operations on other nodes. */
void stream_watch_add(const struct stream_where *w, const void *sym,
                      uint64_t *word, uint64_t least, int pe);
/* The stream has all waits that were noted; ours: of those since the last time,
 * the words are the library's, which only rise, so that one that the processor
 * reads needs no event; else the program's. */
void stream_watch_enqueued(void *stream, bool ours);

enum {
    STREAM_WAIT_LOG_ENTRIES = 64,       /* of one stream; older ones are lost */
    STREAM_WAIT_LOG_EVENTS = 4,       /* so many waits, the last, have events */
    STREAM_WAIT_LOGS = 1024       /* with more, those without a wait go */
};

struct stream_wait_log_entry {
    uintptr_t of;               /* the record's key when it was written */
    const char *call;
    const void *sym;            /* as the program writes it, or NULL */
    uint64_t *word;             /* as the device does */
    uint64_t least;
    int pe;                     /* the PE that is to raise it, or -1 */
};

/* Written under the module's lock but for what the notes are. */
struct stream_wait_log {
    struct list_link link;      /* of those in use, oldest first, or unused */
    struct stream_wait_log *same;  /* next in its place of the table */
    struct stream_wait_log *next;  /* of all there are: constant */
    uintptr_t key;              /* atomic; 0: no stream's */
    uint64_t n;                 /* atomic: notes left so far, of all streams */
    uint64_t over;              /* atomic: notes that are past */
    uint64_t seen;              /* atomic: n at the watchdog's last look */
    uint64_t unsure;            /* atomic: the last of those whose flag may not
                                 * say that they are past, plus one */
    /* Made when no call waits for them, and recorded in turn by the stream's
     * thread; once the device is past one, the notes before `at` are. */
    struct stream_wait_log_event {
        void *event;
        uint64_t at;            /* atomic */
    } marks[STREAM_WAIT_LOG_EVENTS];
    unsigned n_marks;           /* atomic: whose events are made */
    unsigned turn;              /* atomic */
    /* Each member is atomic. */
    struct stream_wait_log_entry entries[STREAM_WAIT_LOG_ENTRIES];
};

static inline void *stream_wait_log_stream(uintptr_t key)
{
    return (void *)(key - 1);
}

/* Makes some events in advance, by one thread at a time; the threads of streams
 * make none. */
void stream_wait_log_make_events(void);
/* The stream's waits have one more.  Without memory for it, no note.  True:
 * stream_wait_log_query_events() is due, for an event. */
bool stream_wait_log_add(void *stream,
                         const struct stream_wait_log_entry *note);
/* The stream has come past all of them. */
void stream_wait_log_completed(void *stream);
/* Of the watchdog's: waits that are past by what events say. */
void stream_wait_log_query_events(void);
/* The stream is no more. */
void stream_wait_log_stream_destroyed(void *stream);
/* The memory of these flags is about to go: waits for them count as past. */
void stream_wait_log_forget(const void *flags, size_t size);
/* Is the watchdog within a check, in which it may have read a note of a flag just
 * before that was forgotten?  It says so by the second call. */
bool stream_wait_log_is_read(void);
void stream_wait_log_reads(bool begins);

/* The first wait from note *i on that is not over, to *out, and its number to
 * *i; notes that are, at the front, count as past.  word: that one alone, and
 * least, or NULL: any.  False: none. */
bool stream_wait_log_find(struct stream_wait_log *s, uintptr_t key,
                       const uint64_t *word, uint64_t least, uint64_t *i,
                       struct stream_wait_log_entry *out);
/* Of the watchdog's: all there are, also those of no stream. */
struct stream_wait_log *stream_wait_log_first(void);
/* All are past: the device closes. */
void stream_wait_log_close(void);

/* Records of streams now; and there are, for any. */
void stream_wait_log_count(unsigned *used, unsigned *made);

/* ---- stream_watchdog.c: by which diag checks and describes streams ---- */
/* With the layer: the watchdog checks from then on. */
void stream_watchdog_open(void);
void stream_watchdog_close(void);

#endif

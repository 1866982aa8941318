/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_watch.h - what streams wait for, kept for the watchdog
 * (stream_watchdog.c).  No wait waits for it. */
#ifndef STREAM_STREAM_WATCH_H
#define STREAM_STREAM_WATCH_H

#include "base/list.h"
#include "core/core.h"

struct stream_where;

/* Enqueued: the stream waits until *word, sym for the program, is at least
 * that; pe: the PE that raises it, or -1.  sym NULL: the NIC raises it behind
 * operations on other nodes. */
void stream_watch_add(const struct stream_where *w, const void *sym,
                      uint64_t *word, uint64_t least, int pe);
/* The stream has all waits that were noted; ours: of those since the last time,
 * the words are the library's, or else the program's. */
void stream_watch_enqueued(void *stream, bool ours);
/* A stream's thread waits, from begin to end. */
struct stream_thread_wait {
    struct list_link link;
    uint64_t turn;              /* another one for each */
    void *stream;
    int pe;
    struct core_waiter what;
};
void stream_watch_begin(struct stream_thread_wait *o);
void stream_watch_end(struct stream_thread_wait *o);

/* Each wait of a thread, under a lock. */
void stream_watch_visit(void (*visit)(const struct stream_thread_wait *o));

/* The watchdog's checks begin with the first wait. */
void stream_watch_open(void);
void stream_watch_start(void);
void stream_watch_close(void);

/* ---- stream_watchdog.c: by which diag checks and describes streams ---- */
/* With the layer.  From the first wait on, see stream_watch_start(), the
 * watchdog checks. */
void stream_watchdog_open(void);
/* Behind stream_watch_close(): no check runs any more. */
void stream_watchdog_close(void);

#endif

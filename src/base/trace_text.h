/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_text.h - the text of a merged trace, and its arrows; for trace_merge.c.
 * Threads: one. */
#ifndef BASE_TRACE_TEXT_H
#define BASE_TRACE_TEXT_H

#include "base/trace.h"
#include "base/trace_merge.h"

#include <stdio.h>

/* An event of a PE on the common clock. */
struct trace_entry {
    const struct trace_event *event;
    const char *name;
    int pe;
    bool lasts;                 /* it never ended */
    uint64_t begin_ns, end_ns;
};

/* The two ends of arrows: a store or message, and the event that saw it. */
struct trace_end_list {
    struct trace_entry *at;
    size_t n, room;
};
struct trace_ends {
    FILE *to;
    struct trace_end_list sources, sinks;
    bool failed;                /* no memory */
};

void trace_ends_add(struct trace_ends *e, const struct trace_entry *s);
void trace_ends_free(struct trace_ends *e);
/* How many were written. */
uint64_t trace_write_arrows(struct trace_ends *e, uint64_t first_ns);

void trace_write_begin(FILE *to);
void trace_write_process(FILE *to, const struct trace_file *f, bool first);
void trace_write_thread(FILE *to, const struct trace_file *f,
                        const struct trace_ring *r);
void trace_write_event(FILE *to, const struct trace_entry *s,
                       uint64_t first_ns);
void trace_write_end(FILE *to, const struct trace_merged *m);

#endif

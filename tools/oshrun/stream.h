/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - output of the PEs, from their pipes to oshrun's output.
 *
 * A source is one pipe (or pseudo-terminal) of a PE; a sink is our standard
 * output or error.  Sources pass whole lines on, so lines of different PEs
 * never mix; a line longer than LINE_MAX_BYTES is split.  Sinks
 * never block the loop: output for a slow reader waits in memory, and
 * beyond SINK_FULL the sources are not read, which slows the PEs down. */
#ifndef OSHRUN_STREAM_H
#define OSHRUN_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_MAX_BYTES (64 * 1024)
#define SINK_FULL (1024 * 1024)

struct source;
struct merge;

struct sink {
    int fd;
    bool tty;
    bool regular;                   /* a file: writing never has to wait */
    int error;                      /* errno that ended it, or 0 */
    int64_t retry_at;               /* poll() calls it writable, and it is not */
    char *data;                     /* bytes [head, tail) wait */
    size_t head, tail, cap;
    const struct source *open_line; /* source of the last, unfinished line */
};

void sink_open(struct sink *s, int fd);
/* Whether two descriptors lead to the same file, pipe or terminal. */
bool sink_same(int a, int b);
void sink_put(struct sink *s, const void *data, size_t len);
/* Before a line of another source: end the line that a PE has left
 * unfinished. */
void sink_end_line(struct sink *s);
/* Write what can be written without waiting. */
void sink_pump(struct sink *s);
static inline size_t sink_waiting(const struct sink *s)
{
    return s->tail - s->head;
}
/* Sets the descriptor to be polled, -1 for none; returns when to pump without
 * poll(), or INT64_MAX. */
int64_t sink_watch(const struct sink *s, struct pollfd *p);

struct source {
    int fd;                         /* -1: ended */
    int pe;
    bool tag;                       /* lines begin with "[PE] " */
    bool is_error;                  /* the PE's standard error */
    bool at_line_start;
    bool has_output;                     /* something has come */
    bool printed_error;             /* a line with an error code has passed */
    struct sink *sink;
    struct merge *merge;            /* for lines of the library, or NULL */
    char *part;                     /* the line so far */
    size_t n_part;
    int64_t part_since;             /* ms; for terminals */
};

/* Read once: true when there may be more. */
bool source_read(struct source *s);
/* Show an unfinished line: at the end, or when a terminal has waited. */
void source_flush(struct source *s);
/* When to flush for the terminal's sake, or INT64_MAX. */
int64_t source_due(const struct source *s);
void source_close(struct source *s);

/* ---- identical messages of several PEs (merge.c) ---- */

#define MERGE_MS 150

/* Lines go to sink; n PEs.  Returns NULL when out of memory. */
struct merge *merge_open(struct sink *sink, int n);
/* Take a line of this PE that starts "sluice: PE <n> (<host>): ", or the same
 * without PE, and ends in a code; false: not such a line, pass it on.  len
 * includes the newline. */
bool merge_take(struct merge *m, int pe, const char *line, size_t len);
/* Print what has waited MERGE_MS, or everything. */
void merge_flush(struct merge *m, bool all);
/* When merge_flush() has something to do, or INT64_MAX. */
int64_t merge_due(const struct merge *m);

#endif

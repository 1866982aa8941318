/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - a line of text that is built piece by piece in a fixed buffer.
 * The log, the hang report and the watchdog build their lines here.  A text too
 * long is cut, and always ends with a zero.  Threads: a line
 * belongs to one thread.  line_add() and line_addf() call nothing that takes a
 * lock or allocates, so a signal handler may call them. */
#ifndef BASE_LINE_H
#define BASE_LINE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* With the newline that line_write() adds. */
enum { LINE_SIZE = 1024 };

struct line {
    size_t n;                   /* bytes without the final zero */
    char at[LINE_SIZE];
};

/* An empty line; clears no more than it must. */
static inline void line_begin(struct line *l)
{
    l->n = 0;
    l->at[0] = '\0';
}

void line_add(struct line *l, const char *text);
/* Understands %s %c %d %i %u %x %p %%, with l, ll, z, t as lengths and
 * a precision (%.39s, %.*s) for %s.  Anything else of printf's prints "%?" and
 * ends the piece: line_vprintf() is for that. */
void line_addf(struct line *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with all that vsnprintf() understands; not in a signal handler. */
void line_vprintf(struct line *l, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* The library's usual form of a quantity: "10 KiB", and seconds rounded to the
 * nearest, without their unit. */
void line_add_bytes(struct line *l, uint64_t bytes);
static inline unsigned long long line_seconds(uint64_t ns)
{
    return (ns + 500000000u) / 1000000000u;
}

/* Writes the text and a newline to fd with one write(2); a control character
 * becomes a question mark.  May be called in a signal handler; errno stays. */
void line_write(struct line *l, int fd);

#endif

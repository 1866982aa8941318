/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - how far a program is, on the terminal of its first PE: one line
 * that is written again and again, with the time that is left.  The applications,
 * benchmarks and OSU-style programs share it.  On one thread; lines of a program
 * that is silent cost nothing. */
#ifndef APPS_PROGRESS_H
#define APPS_PROGRESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct progress {
    const char *program;
    bool on, line;              /* line: a terminal, where lines replace others */
    bool stands;                /* a line stands there */
    double begun, last;         /* seconds */
};

static inline double progress_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From here on the time counts.  speaks: this PE is the one that reports;
 * always: without a terminal, too, a line each time. */
static inline void progress_begin(struct progress *p, const char *program,
                                  bool speaks, bool always)
{
    p->program = program;
    p->line = isatty(STDERR_FILENO);
    p->on = speaks && (p->line || always);
    p->begun = progress_now();
    p->last = 0;
}

/* Is it time for another line? */
static inline bool progress_is_due(struct progress *p)
{
    double now;

    if (!p->on)
        return false;
    now = progress_now();
    if (now - p->last < 0.5)
        return false;
    p->last = now;
    return true;
}

/* part: 0 to 1, of what takes time since the beginning. */
__attribute__((format(printf, 3, 4)))
static inline void progress_show(struct progress *p, double part,
                                 const char *fmt, ...)
{
    double spent;
    va_list ap;

    if (!progress_is_due(p))
        return;
    spent = p->last - p->begun;
    fprintf(stderr, "%s%s: ", p->line ? "\r\033[K" : "", p->program);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, " %.0f %%", 100 * part);
    /* Before that the guess is a poor one. */
    if (spent > 1 && part > 0.02 && part < 1)
        fprintf(stderr, ", %.0f s left", spent / part * (1 - part));
    fputs(p->line ? "" : "\n", stderr);
    fflush(stderr);
    p->stands = p->line;
}

/* Before other lines. */
static inline void progress_clear(struct progress *p)
{
    if (p->stands)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    p->stands = false;
}

#endif

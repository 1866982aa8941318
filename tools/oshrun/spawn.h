/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.h - making the process of one PE. */
#ifndef OSHRUN_SPAWN_H
#define OSHRUN_SPAWN_H

#include "oshrun.h"
#include "place.h"

#include <sys/resource.h>

struct spawn {
    const struct start *start;
    char **env;                     /* for all PEs, malloc'ed like its strings */
    const struct place *place;      /* NULL: not bound */
    struct rlimit files;            /* RLIMIT_NOFILE as the user set it */
    int report;                     /* where a child says why exec failed */
    int null;                       /* /dev/null */
    int tty_out, tty_err;           /* terminals to imitate, or -1 */
};

struct job;

/* The report that a child writes. */
struct spawn_failure {
    int pe;
    int err;
};

struct spawned {
    pid_t pid;                      /* leads a process group of its own */
    int out, err;                   /* non-blocking ends to read from */
};

/* Drop what describes another launcher's job, apply -x and --ppn; from the
 * environment of this process. */
void spawn_environment(const struct opts *o);
/* Open the files of *s but for start and place; enough descriptors for n PEs
 * are allowed from then on.  *report_end is the end to read failures from.
 * 0, or -1 with the reason said. */
int spawn_open(struct spawn *s, int n, int *report_end);
/* Descriptors that a job of n PEs takes here at most. */
int spawn_files(int n);
/* 0, or -1 with the reason said. */
int spawn_pe(const struct spawn *s, const struct job *j, int pe,
             struct spawned *out);

#endif

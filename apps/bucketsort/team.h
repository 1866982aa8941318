/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - threads that work on one thing.
 * They are POSIX threads and not an OpenMP pool: a pool's idle threads spin,
 * which steals cores from other PEs wherever these outnumber the cores. */
#ifndef BUCKETSORT_TEAM_H
#define BUCKETSORT_TEAM_H

enum { THREADS_MAX = 64 };

/* Runs fn(arg, 0) here and fn(arg, 1..threads-1) beside; all have returned
 * when it returns.  Either all are run, or none and the result is -EAGAIN. */
int team_run(int threads, void (*fn)(void *arg, int thread), void *arg);

#endif

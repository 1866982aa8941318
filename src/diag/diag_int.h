/* SPDX-License-Identifier: BSD-3-Clause */
/* diag_int.h - what the files of diag share.
 * They are read in this order: diag.c (open, close), diag_thread.c (the
 * thread), diag_report.c, diag_status.c and diag_watchdog.c (what it runs),
 * diag_file.c (the report for programs), diag_source.c (the list of the
 * sources). */
#ifndef DIAG_DIAG_INT_H
#define DIAG_DIAG_INT_H

#include "diag/diag.h"

/* ---- diag_source.c ---- */

/* Source number i in the order of their parts, or NULL.  Signal-safe. */
const struct diag_source *diag_source(unsigned i);
/* Forgets all sources. */
void diag_sources_clear(void);

/* ---- diag_report.c ---- */

/* Installs the handler of SIGUSR2; false: the program's own stays, or
 * SHMEM_STATE_SIGNAL=0. */
bool diag_report_open(void);
void diag_report_close(void);
/* On behalf of another process: prints the report, or, where the program has
 * installed a handler meanwhile, sends SIGUSR2 to it. */
void diag_report_answer(void);
/* Is the handler ours? */
bool diag_report_handles(void);
/* Appends the report: the part about memory to the second line, which may be
 * the same.  Signal-safe. */
void diag_report_describe(struct line *l, struct line *memory);
/* Is it the sources that describe, and no text of the state? */
bool diag_report_sources_describe(void);

/* ---- diag_status.c ---- */

/* The page of this PE; again: nothing.  With no diag thread. */
void diag_status_open(void);
/* On the diag thread: fills the page, if a reader waits for that. */
void diag_status_answer(void);
/* On the diag thread: ends the counting that no reader has asked for of late;
 * returns when it wants to run again, UINT64_MAX for not before a request. */
uint64_t diag_status_run(void);
/* The end of the diag thread. */
void diag_status_stop(void);

/* ---- diag_file.c ---- */

void diag_file_open(void);
/* Appends a record, if SHMEM_STALL_FILE is set.  Signal-safe. */
void diag_file_write(const char *kind, const char *text);

/* ---- diag_watchdog.c ---- */

void diag_watchdog_open(void);
void diag_watchdog_close(void);
/* Runs the checks that are due and the function that diag_watchdog_call() got;
 * returns when it wants to run again, UINT64_MAX for not before another call.
 * One thread at a time: the diag thread, or a poller of another thread. */
uint64_t diag_watchdog_run(void);

/* ---- diag_thread.c ---- */

/* Starts the diag thread unless it runs; answers: requests for a report, too.
 * 0 or -errno. */
int diag_thread_start(bool answers);
/* Makes the thread call diag_watchdog_run() now. */
void diag_thread_wake(void);
void diag_thread_stop(void);

#endif

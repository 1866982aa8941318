/* SPDX-License-Identifier: BSD-3-Clause */
/* crash.h - SHMEM_BACKTRACE and SHMEM_TRAP: where a PE was when a signal or an
 * error ended it. */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

/* Handles the signals of a crash, but for those that the program, a sanitizer or
 * another library handles.  On the thread that opens and closes the library. */
void crash_open(void);
void crash_close(void);

/* An error has been printed and is about to end the job: prints the backtrace of
 * this thread, and stops in a debugger.  Nothing without these variables. */
void crash_on_error(void);

#endif

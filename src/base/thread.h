/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - threads of the library's own.
 * Every thread that the library starts is started here, so that one place
 * decides about signals. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/atomics.h"

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that runs fn(arg).  The thread blocks all signals, which are
 * for the program's threads, but those that its own instructions raise: with
 * one of these blocked, the kernel ends the process without a call of the
 * handler of a sanitizer, a debugger or the program.
 * 0, or a negative errno, not logged.  Any thread. */
int thread_start(pthread_t *out, void *(*fn)(void *), void *arg);

/* Is the calling thread one of these? */
extern hidden __thread bool thread_is_librarys;

#endif

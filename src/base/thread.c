/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the library's own threads.  Called by every layer that has one. */
#include "base/thread.h"

#include <signal.h>

static void signals_of_program(sigset_t *out)
{
    sigfillset(out);
    sigdelset(out, SIGSEGV);
    sigdelset(out, SIGBUS);
    sigdelset(out, SIGFPE);
    sigdelset(out, SIGILL);
    sigdelset(out, SIGTRAP);
}

int thread_start(pthread_t *out, void *(*fn)(void *), void *arg)
{
    sigset_t masked, old;
    int rc;

    signals_of_program(&masked);
    pthread_sigmask(SIG_SETMASK, &masked, &old);
    rc = pthread_create(out, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

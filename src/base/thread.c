/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the library's own threads.  Called by every layer that has one. */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

__thread bool thread_is_librarys;

struct start {
    void *(*fn)(void *);
    void *arg;
};

static void signals_of_program(sigset_t *out)
{
    sigfillset(out);
    sigdelset(out, SIGSEGV);
    sigdelset(out, SIGBUS);
    sigdelset(out, SIGFPE);
    sigdelset(out, SIGILL);
    sigdelset(out, SIGTRAP);
}

static void *begin(void *start)
{
    struct start s = *(struct start *)start;

    free(start);
    thread_is_librarys = true;
    return s.fn(s.arg);
}

int thread_start(pthread_t *out, void *(*fn)(void *), void *arg)
{
    struct start *s = malloc(sizeof *s);
    sigset_t masked, old;
    int rc;

    if (!s)
        return -ENOMEM;
    *s = (struct start){ fn, arg };

    signals_of_program(&masked);
    pthread_sigmask(SIG_SETMASK, &masked, &old);
    rc = pthread_create(out, NULL, begin, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc)
        free(s);
    return -rc;
}

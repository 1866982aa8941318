/* SPDX-License-Identifier: BSD-3-Clause */
/* The hang report: SIGUSR2 makes a PE print one line on what it does, wherever
 * it is.  The handler reads variables and calls write(2) only, so it may
 * interrupt any code.  oshrun and shmem_info ask the diag thread for the same
 * line instead, which interrupts no thread of the program.  The line is for
 * people: the state that it reads may change meanwhile. */
#include "diag/diag_int.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define CLOSED_TEXT "not between shmem_init and shmem_finalize"

static const char *state_text = CLOSED_TEXT;    /* atomic */

void diag_set_state_text(const char *text)
{
    __atomic_store_n(&state_text, text, __ATOMIC_RELEASE);
}

bool diag_report_sources_describe(void)
{
    return !__atomic_load_n(&state_text, __ATOMIC_ACQUIRE);
}

void diag_report_describe(struct line *l, struct line *memory)
{
    const char *text = __atomic_load_n(&state_text, __ATOMIC_ACQUIRE);
    const struct diag_source *s;

    if (text) {
        line_add(l, text);
        return;
    }
    for (unsigned i = 0; (s = diag_source(i)); i++)
        if (s->describe)
            s->describe(s->part == DIAG_MEMORY ? memory : l);
}

static void print_report(int sig)
{
    int saved = errno;
    struct line l;
    size_t head;

    (void)sig;
    log_begin(&l);
    head = l.n;
    diag_report_describe(&l, &l);
    diag_file_write("state", l.at + head);
    line_write(&l, STDERR_FILENO);
    errno = saved;
}

bool diag_report_handles(void)
{
    struct sigaction now;

    return !sigaction(SIGUSR2, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == print_report;
}

void diag_report_answer(void)
{
    if (diag_report_handles())
        print_report(SIGUSR2);
    else
        kill(getpid(), SIGUSR2);
}

/* A handler of the program stays, and one that it installs later replaces this
 * one. */
bool diag_report_open(void)
{
    struct sigaction act = { .sa_handler = print_report,
                             .sa_flags = SA_RESTART | SA_ONSTACK }, old;

    log_host();                 /* looked up before a handler needs it */
    if (!env.STATE_SIGNAL)
        return false;
    if (diag_report_handles())
        return true;
    if (sigaction(SIGUSR2, NULL, &old) || old.sa_flags & SA_SIGINFO ||
        old.sa_handler != SIG_DFL)
        return false;
    sigemptyset(&act.sa_mask);
    return !sigaction(SIGUSR2, &act, NULL);
}

void diag_report_close(void)
{
    diag_set_state_text(CLOSED_TEXT);
}

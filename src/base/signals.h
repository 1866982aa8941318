/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals.h - which signals the library's own threads leave to the program's.
 *
 * All but those that a thread's own instruction raises: with one of these
 * blocked, the kernel ends the process without asking the handler of a
 * sanitizer, a debugger or the program.
 */
#ifndef SLUICE_BASE_SIGNALS_H
#define SLUICE_BASE_SIGNALS_H

#include <signal.h>

static inline void signals_of_program(sigset_t *out)
{
    sigfillset(out);
    sigdelset(out, SIGSEGV);
    sigdelset(out, SIGBUS);
    sigdelset(out, SIGFPE);
    sigdelset(out, SIGILL);
    sigdelset(out, SIGTRAP);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - oshrun --pmix: the PMIx server of a job on one node, for
 * programs of other libraries.
 *
 * libpmix calls back on a thread of its own; each event is queued
 * and read by the supervisor's loop, which waits on server_fd().  Nothing is
 * ever written to a file: data stay in the server's memory, and the address of
 * its socket travels in the environment of the PEs. */
#ifndef OSHRUN_SERVER_H
#define OSHRUN_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Ways in which a PE may be served, together as well. */
enum { VIA_PMIX = 1, VIA_CHANNEL = 2 };

enum server_what {
    SERVER_CONNECTED,               /* the PE has called PMIx_Init or the like */
    SERVER_FINALIZED,               /* ... PMIx_Finalize */
    SERVER_ABORT,                   /* ... PMIx_Abort with this status */
    SERVER_FENCE,                   /* a fence of PMIx that cannot complete, to
                                     * answer */
    SERVER_WAITS,                   /* the PE waits in a fence for others */
    SERVER_LOST                     /* its session ended without finalizing */
};

struct server_event {
    enum server_what what;
    unsigned by;                    /* VIA_... */
    int pe;                         /* -1 for a fence of PMIx */
    int status;
    void (*fence)(int status, const char *data, size_t size, void *arg,
                  void (*release)(void *), void *release_arg);
    void *arg;
};

/* Serve a job of n PEs on this host under that name.  Called once, before any
 * PE starts; where it is not, the calls below do nothing.  0, or -1 with the
 * reason said. */
int server_open(int n, const char *host, const char *name);
int server_fd(void);            /* -1: not open */
/* The next thing that happened, if any. */
bool server_next(struct server_event *out);
/* Fail the fence of a SERVER_FENCE. */
void server_answer(struct server_event *ev);
/* PMIx_Finalize returns in all PEs together.  Does one wait for others? */
bool server_finalize_pending(void);
/* Let it return in the PEs that wait. */
void server_complete_finalize(void);
/* The process of a PE has ended: no PMIx_Finalize waits for it. */
void server_gone(int pe);
/* Add what this PE needs to find the server; env and its strings are
 * malloc'ed.  0, or -1 with the reason said. */
int server_env(int pe, char ***env);

#endif

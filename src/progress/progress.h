/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - the progress thread: one per PE, for all layers.
 *
 * A layer whose operations need a processor while the program computes
 * registers a poller.  The thread starts with the first poller and ends with
 * the last one.  It calls the turn of each poller that is due: its time has
 * come, progress_wake() was called for it, or one of its file descriptors has
 * input.  Between turns the thread sleeps as long as every poller allows.
 *
 * A turn does not wait: not for a peer, not for room, not for a lock that is
 * held for long.  While a turn runs, the other pollers stand still.  So the
 * watchdog, which reports a thread that is stuck in a call of a provider or a
 * driver, is no poller and has a thread of its own.
 *
 * The thread holds no lock while it calls a turn.  Turns may call
 * progress_wake(), of any poller, progress_back_off() and progress_is_here(), and
 * nothing else of this header. */
#ifndef PROGRESS_PROGRESS_H
#define PROGRESS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_POLLERS = 5,    /* at most */
       PROGRESS_FDS = 16 };     /* of one poller, at most */

/* How long a turn allows to sleep: ns; at once; until it is woken. */
#define PROGRESS_AGAIN ((uint64_t)0)
#define PROGRESS_WHEN_WOKEN UINT64_MAX

/* Why the turn is called. */
struct progress_turn {
    uint64_t now_ns;            /* clock_ns() */
    bool event;                 /* input on a descriptor, or what no
                                 * descriptor shows may be there */
};

struct progress_poller {
    /* One turn, on the progress thread: the longest sleep until the next. */
    uint64_t (*turn)(struct progress_poller *p, const struct progress_turn *t);
    /* Descriptors whose input makes the poller due, into fds: how many, or -1
     * if there may be something already.  Called before each sleep while
     * uses_fds is set, on the progress thread; NULL: none ever. */
    int (*wait_fds)(int fds[PROGRESS_FDS]);
    bool uses_fds;              /* the turn's, for the sleep that follows it */

    /* progress.c */
    bool due;                   /* atomic */
    bool leaves, left;          /* atomic: progress_unregister() waits */
    bool event;
    uint64_t at_ns;             /* the time of its next turn */
};

/* Starts the thread if it does not run.  0, or -errno of eventfd() and
 * pthread_create(), not logged.  Not on the progress thread. */
int progress_register(struct progress_poller *p);
/* No turn of p runs when it returns, and none will.  Ends the thread if p was
 * the last poller.  Not on the progress thread. */
void progress_unregister(struct progress_poller *p);
/* The poller gets a turn soon.  The caller's earlier stores are visible to it.
 * Any thread; a system call only if the thread sleeps. */
void progress_wake(struct progress_poller *p);
/* For a poller whose last operation advanced waited_ns ago: pauses or yields,
 * and PROGRESS_AGAIN; or, after a while, the longest sleep that still finds the
 * next one soon.  oversubscribed: it does not pause first; spins: it does
 * nothing else.  On the progress thread. */
uint64_t progress_back_off(uint64_t waited_ns, bool oversubscribed, bool spins);
/* Is the calling thread the progress thread? */
bool progress_is_here(void);
/* How often the thread has slept since it was started last. */
uint64_t progress_sleeps(void);

#endif

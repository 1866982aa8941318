/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - the state of the running job, in the supervisor.
 *
 * A job runs until all PEs have ended.  When one fails the job passes through
 * GRACE, in which the other PEs may still print what they know, TERM and KILL;
 * the first cause counts, for the message and for the exit status. */
#ifndef OSHRUN_JOB_H
#define OSHRUN_JOB_H

#include "oshrun.h"
#include "server.h"
#include "spawn.h"
#include "stream.h"

#include <limits.h>

struct pe {
    pid_t pid;                      /* 0: not started */
    bool ended;
    unsigned joined;                /* VIA_...: it has started there once */
    unsigned in;                    /* ... and has not finalized since */
    bool lost;                      /* the process that had started has ended,
                                     * though that of the PE goes on */
    int wstatus;                    /* of the one that has ended */
    struct source out, err;
};

enum phase { RUN, GRACE, TERM, KILL };

enum cause {
    NONE,
    BY_SIGNAL,                      /* a PE was killed */
    BY_STATUS,                      /* a PE exited with a status of its own */
    BY_ABORT,                       /* shmem_global_exit or the like */
    BY_SILENCE,                     /* exited without finalizing */
    BY_ABSENCE,                     /* exited, and others start the library */
    BY_TIMEOUT,
    BY_USER,                        /* a signal to oshrun */
    BY_READER,                      /* the reader of the output has ended */
    BY_START                        /* a PE could not be started; the line is
                                     * out already */
};

#define MAX_FENCES 16

struct job {
    const struct opts *o;
    char host[256];
    char name[64];                  /* hard to guess */
    int cpus;                       /* that the supervisor may use */
    int n, alive;                   /* PEs; those that run */
    struct pe *pe;
    struct sink sinks[2];
    struct sink *out, *err;         /* err may be the same as out */
    struct sink *files;             /* --output-filename: one for each PE */
    bool file_lost;                 /* one of these cannot be written */
    struct merge *merge;
    enum phase phase;
    int64_t phase_until;
    int64_t failed_at;
    enum cause cause;
    int failed_pe;                    /* the PE of the cause */
    int status;                     /* our exit status */
    bool reported;
    bool output_lost;               /* standard output cannot be written */
    int user_signal;                /* forwarded last, or 0 */
    int64_t user_signal_at;
    bool stopped;
    int silent;                     /* a PE that left without finalizing, -1 */
    int64_t silent_at;              /* when to check that PE */
    int64_t ending_since;           /* since then one is about to end; or 0 */
    int64_t absent_at;              /* when to check which PE a fence lacks */
    int64_t answer_at;              /* when PMIx_Finalize returns anyway */
    int64_t timeout_at;
    struct server_event fence[MAX_FENCES];
    int n_fences;
    int64_t fence_at;
};

void job_init(struct job *j, const struct opts *o);
/* --output-filename.  0, or -1 with the reason said. */
int job_open_files(struct job *j);
void job_note_started(struct job *j, int pe, const struct spawned *s);
/* The PE's process has ended; its output so far has been read. */
void job_note_exit(struct job *j, int pe, int wstatus);
void job_note_server(struct job *j, const struct server_event *ev);
/* A signal that came to oshrun. */
void job_note_signal(struct job *j, int sig);
/* Begin to end the job, unless it is ending; grace_ms: see above. */
void job_end(struct job *j, enum cause cause, int pe, int status, int grace_ms);
/* End it at once: SIGKILL. */
void job_kill(struct job *j);
/* Do what is due; returns when to call again, or INT64_MAX. */
int64_t job_tick(struct job *j);
bool job_over(const struct job *j);
/* The one line about the cause, if there is something to say. */
void job_report(struct job *j);

#endif

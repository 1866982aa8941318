/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun.h - what the parts of the launcher share.
 *
 * Two processes make up oshrun.  The front is the one the user started: it
 * owns the terminal, takes the signals and passes its exit status on.  The
 * supervisor, its child in a session of its own, serves the PEs' channels, and
 * is the parent of the PEs and the subreaper of everything that the PEs start.
 * When one of the two dies, the other one ends all processes of the job: no
 * process outlives the job, even after SIGKILL. */
#ifndef OSHRUN_H
#define OSHRUN_H

#include <stdbool.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* Exit codes that are oshrun's own; a shell uses the same ones. */
enum {
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    EXIT_NOEXEC = 126,
    EXIT_NOPROG = 127,
    EXIT_SIGNAL = 128               /* plus the number of the signal */
};

/* --bind-to. */
enum bind {
    BIND_SHARE,                     /* not said: cores of its own, if free */
    BIND_CORE,
    BIND_SOCKET,
    BIND_NUMA,
    BIND_NONE
};

struct opts {
    int n;                          /* PEs; 0: not given */
    int ppn;                        /* PEs that count as a node; 0: all */
    int64_t timeout_ms;             /* 0: none */
    bool tag;
    bool verbose;
    enum bind bind;
    bool oversubscribe;
    bool pmix;
    bool report_bindings;
    const char *wdir;               /* or NULL, as those below */
    const char *output;             /* names of files begin with it */
    const char *debug;              /* "gdb" or "valgrind" */
    int debug_pe;                   /* the PE to be debugged; -1: all */
    const char *hosts;              /* as written after -H, or NULL */
    const char *hostfile;
    char **exports;                 /* NAME or NAME=VALUE, n_exports of them */
    int n_exports;
    char **argv;                    /* the program and its arguments */
};

/* Fill *o from the command line, or end the process: with status 0 after
 * --help and --version, with EXIT_USAGE and one line otherwise. */
void opts_parse(struct opts *o, int argc, char **argv);
/* The option of oshrun in place of that option of another launcher, or NULL
 * (other_launchers.c). */
const char *other_launcher_hint(const char *option);

/* ---- messages (say.c) ---- */

/* One line on standard error, in one write: "oshrun: TEXT [CODE]".  code may
 * be NULL. */
void say(const char *code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Send such lines elsewhere; the line ends in a newline. */
void redirect_messages(void (*put)(const char *line, size_t len));

/* The system gives no further process or thread, for which fmt stands: says
 * so with the limits. */
void print_process_limit(int err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same string or memory, or the end of the process with one line. */
void *must(void *ptr);
char *alloc_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

int64_t now_ms(void);               /* monotonic */
void host_name(char *buf, size_t size);
/* "1-3,7" for the PEs whose flag is set, at most size bytes. */
void pe_list(char *buf, size_t size, const bool *set, int n);

/* ---- hosts and other launchers (hosts.c, handover.c) ---- */

struct host {
    char *name;
    int slots;
    bool counted;                   /* the slots were given, else they are 1 */
};

/* The hosts of -H and --hostfile with their slots; *out is malloc'ed.  Ends
 * the process with one line on an unreadable file or a malformed line. */
int hosts_read(const struct opts *o, struct host **out);
bool host_is_local(const char *name);

/* SHMEM_LAUNCHER and OSHRUN_LAUNCHER: run that instead, if set. */
void handover_replaced(const struct opts *o, int argc, char **argv);
/* Run srun, prterun or mpirun when the job is wider than this host; return
 * with o->n set when it is not.  Ends the process if none is there. */
void handover_hosts(struct opts *o);

/* Where the shell would find a program: a path to free, or NULL with *err
 * set to the errno that explains it. */
char *find_program(const char *name, int *err);

/* ---- the two processes (front.c, job.c) ---- */

struct start {
    const struct opts *opts;
    char *path;                     /* the program, found */
    char *debug_path, **debug_argv; /* with --debug, for PEs that it names */
    int stdin_fd;                   /* for PE 0, or the one that is debugged */
    int control;                    /* supervisor's end: signals come in, and
                                     * EXIT_BY_SIGINT goes out */
    const sigset_t *mask;           /* the user's signal mask ... */
    bool sigpipe_ignored;           /* ... and disposition, for the PEs */
    char *arg0;                     /* argv[0] of oshrun, to write over */
};

/* Returns the exit status of oshrun. */
int front_run(const struct opts *o, char *arg0);
/* Finds the tool of --debug (debug.c). */
void debug_prepare(const struct opts *o, char *program, struct start *s);
/* ---- trace.c ---- */
void merge_traces(const struct opts *o);
/* The supervisor's main function; returns its exit code. */
int job_run(const struct start *s);

/* The byte that the supervisor may send to the front before it ends. */
#define EXIT_BY_SIGINT 'I'             /* end by SIGINT, as a shell expects */
/* The front sends to the supervisor signal numbers, one byte each. */

#endif

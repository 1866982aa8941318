/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c - the process that the user started: it owns the terminal, forwards
 * signals to the supervisor and returns the job's exit status.  It starts no
 * PE. */
#include "oshrun.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often a background job checks whether it is in the foreground now: the
 * shell sends no signal to a job that was never stopped. */
#define FOREGROUND_MS 500
#define LAST_KILL_MS 2000

struct front {
    pid_t supervisor;
    int control;
    int signals;
    int feed;                       /* to PE 0, when stdin is a terminal */
    char buf[4096];                 /* typed, not yet taken by PE 0 */
    size_t n_buf;
    int wstatus;
    bool supervisor_ended;
};

static const int forwarded[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT
};

/* Signals that the parent had ignored (nohup, a background job of a script)
 * stay ignored. */
static int open_signals(sigset_t *was)
{
    struct sigaction act;
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
        if (sigaction(forwarded[i], NULL, &act) == 0 &&
            act.sa_handler != SIG_IGN)
            sigaddset(&set, forwarded[i]);
    sigaddset(&set, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, was);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The job is over: what ends processes ends this one, whatever it still does.
 * was: the mask from before open_signals(). */
static void stop_forwarding(const struct front *f, const sigset_t *was)
{
    static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
    struct signalfd_siginfo info;
    sigset_t set;

    while (read(f->signals, &info, sizeof(info)) == sizeof(info))
        ;                           /* they were for the job */
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (!sigismember(was, ends[i]))
            sigaddset(&set, ends[i]);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void send_to_supervisor(const struct front *f, int sig)
{
    unsigned char byte = (unsigned char)sig;

    if (send(f->control, &byte, 1, MSG_NOSIGNAL) < 0)
        return;                     /* it has ended: SIGCHLD follows */
}

static void forward_signal(struct front *f, int sig)
{
    if (sig == SIGCHLD) {
        if (waitpid(f->supervisor, &f->wstatus, WNOHANG) == f->supervisor)
            f->supervisor_ended = true;
        return;
    }
    send_to_supervisor(f, sig);
    if (sig == SIGTSTP)
        raise(SIGSTOP);
}

/* ---- terminal input ---- */

/* A terminal that is not the controlling one stops none of its readers. */
static bool foreground(void)
{
    pid_t group = tcgetpgrp(STDIN_FILENO);

    return group == getpgrp() || (group < 0 && errno == ENOTTY);
}

static void close_feed(struct front *f)
{
    close(f->feed);
    f->feed = -1;
}

static void feed(struct front *f, bool input)
{
    ssize_t n;

    if (input && f->n_buf == 0 && foreground()) {
        n = read(STDIN_FILENO, f->buf, sizeof(f->buf));
        if (n > 0)
            f->n_buf = (size_t)n;
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            close_feed(f);          /* end of file, or the terminal is gone */
    }
    if (f->feed < 0 || f->n_buf == 0)
        return;
    n = write(f->feed, f->buf, f->n_buf);
    if (n > 0) {
        f->n_buf -= (size_t)n;
        memmove(f->buf, f->buf + n, f->n_buf);
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close_feed(f);              /* PE 0 does not read any more */
    }
}

/* ---- the loop ---- */

static void poll_once(struct front *f)
{
    struct signalfd_siginfo info;
    bool background = f->feed >= 0 && !foreground();
    struct pollfd p[3] = {
        { .fd = f->signals, .events = POLLIN },
        { .fd = f->feed < 0 || f->n_buf || background ? -1 : STDIN_FILENO,
          .events = POLLIN },
        { .fd = f->feed, .events = f->n_buf ? POLLOUT : 0 },
    };

    if (poll(p, 3, background ? FOREGROUND_MS : -1) < 0)
        return;
    while (read(f->signals, &info, sizeof(info)) == sizeof(info))
        forward_signal(f, (int)info.ssi_signo);
    if (f->feed >= 0 && (p[2].revents & (POLLERR | POLLHUP)))
        close_feed(f);
    else if (f->feed >= 0)
        feed(f, p[1].revents != 0);
}

static int raise_default(int sig)
{
    sigset_t set;

    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
    return EXIT_SIGNAL + sig;
}

static int result(struct front *f)
{
    char byte = 0;

    if (WIFEXITED(f->wstatus)) {
        if (recv(f->control, &byte, 1, MSG_DONTWAIT) == 1 &&
            byte == EXIT_BY_SIGINT)
            return raise_default(SIGINT);
        return WEXITSTATUS(f->wstatus);
    }
    say("S-E-SUPERVISOR", "the supervisor of the job (pid %d) was killed by "
        "signal %d (%s); all PEs were ended", (int)f->supervisor,
        WTERMSIG(f->wstatus),
        strsignal(WTERMSIG(f->wstatus)));
    return EXIT_SIGNAL + WTERMSIG(f->wstatus);
}

/* ---- the start ---- */

/* Linux shares the processors between sessions first (sched(7), autogroups),
 * and a new session has the usual share: `nice oshrun` wants a smaller one. */
static void keep_nice(void)
{
    int value = getpriority(PRIO_PROCESS, 0);
    int fd = value ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)                     /* nothing to keep, or no autogroups */
        return;
    /* Users other than root may do so once in 0.1 s, all of them together. */
    for (int i = 0; i < 10 && dprintf(fd, "%d", value) < 0 && errno == EAGAIN;
         i++)
        usleep(30000);
    close(fd);
}

static _Noreturn void run_supervisor(struct start *s)
{
    setsid();                       /* no terminal, no signals from it */
    keep_nice();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    _exit(job_run(s));
}

/* A terminal can only be read by its foreground processes, so the front reads
 * it; anything else PE 0 reads directly. */
static int open_input(struct front *f, struct start *s)
{
    int ends[2];

    f->feed = -1;
    s->stdin_fd = STDIN_FILENO;
    if (!isatty(STDIN_FILENO))
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    s->stdin_fd = ends[0];
    f->feed = ends[1];
    return 0;
}

/* Only PE 0 holds the input, so that the writer notices when PE 0 ends. */
static void replace_stdin(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        dup2(fd, STDIN_FILENO);
        close(fd);
    }
}

static int launch(struct front *f, struct start *s)
{
    int ends[2];

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
        open_input(f, s) < 0 || f->signals < 0) {
        say("S-E-SPAWN", "cannot open what the supervisor needs: %m");
        return -1;
    }
    f->control = ends[0];
    s->control = ends[1];
    f->supervisor = fork();
    if (f->supervisor < 0) {
        print_process_limit(errno, "the supervisor of the job: fork");
        return -1;
    }
    if (f->supervisor == 0) {
        close(f->control);
        close(f->signals);
        if (f->feed >= 0)
            close(f->feed);
        run_supervisor(s);
    }
    close(s->control);
    if (f->feed >= 0)
        close(s->stdin_fd);
    else
        replace_stdin();
    return 0;
}

/* A user who types "hello" for a program of this directory gets the hint. */
static void print_no_program(const char *name, int err)
{
    if (err != ENOENT || strchr(name, '/'))
        say("S-E-PROG", "%s: %s", name, strerror(err));
    else if (access(name, X_OK) == 0)
        say("S-E-PROG", "%s: %s in PATH; is ./%s meant, which exists?", name,
            strerror(err), name);
    else
        say("S-E-PROG", "%s: %s in PATH", name, strerror(err));
}

static void enter_directory(const struct opts *o)
{
    char *path;

    if (!o->wdir)
        return;
    if (chdir(o->wdir) < 0) {
        say("S-E-ARGS", "--wdir %s: %m", o->wdir);
        exit(EXIT_USAGE);
    }
    path = getcwd(NULL, 0);
    if (path)
        setenv("PWD", path, 1);
    free(path);
}

int front_run(const struct opts *o, char *arg0)
{
    struct start s = { .opts = o, .arg0 = arg0 };
    struct sigaction pipe_act;
    struct front f = { .n_buf = 0 };
    sigset_t mask;
    int err;

    enter_directory(o);
    s.path = find_program(o->argv[0], &err);
    if (!s.path) {
        print_no_program(o->argv[0], err);
        return err == ENOENT || err == ENOTDIR ? EXIT_NOPROG : EXIT_NOEXEC;
    }
    debug_prepare(o, s.path, &s);
    sigaction(SIGPIPE, NULL, &pipe_act);
    signal(SIGPIPE, SIG_IGN);
    f.signals = open_signals(&mask);
    s.mask = &mask;
    s.sigpipe_ignored = pipe_act.sa_handler == SIG_IGN;
    if (launch(&f, &s) < 0)
        return EXIT_FAILURE;
    free(s.path);
    while (!f.supervisor_ended)
        poll_once(&f);
    /* The PEs ended with it; processes that they had started are this
     * process's children now. */
    if (!WIFEXITED(f.wstatus))
        tree_kill(LAST_KILL_MS);
    stop_forwarding(&f, &mask);
    merge_traces(o);
    return result(&f);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c - the supervisor's loop: one thread with one poll() over the
 * signals, the front, the PEs' output and channels and the PMIx server.  It
 * reads events, hands them to job.c, and writes output; nothing here may
 * block. */
#include "channel.h"
#include "job.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Places in the set of descriptors; four for each PE follow. */
enum { AT_SIGNALS, AT_CONTROL, AT_SERVER, AT_REPORT, AT_OUT, AT_ERR, AT_PES };
enum { PE_OUT, PE_ERR, PE_CHANNEL, PE_SESSION, PE_FDS };

/* Processes that PEs started and did not wait for get this long after
 * SIGTERM. */
#define LEFTOVER_MS 100
#define LEFTOVER_KILL_MS 2000
/* After a signal of the user the job ends, although the reader of its output
 * has read nothing for so long. */
#define READER_MS 1000

static struct supervisor {
    struct job job;
    struct pollfd *fds;
    int signals, control, report;
} supervisor;

/* A child that has ended; events of the server and the channels are read before
 * it is handled, and of one that a signal ended its own channel alone. */
struct exited_child {
    pid_t pid;
    int wstatus;
};

static void message_to_sink(const char *line, size_t len)
{
    sink_end_line(supervisor.job.err);
    sink_put(supervisor.job.err, line, len);
}

/* ---- reading ---- */

/* The front has ended, and with it the user's interest in the job. */
static _Noreturn void end_orphaned_job(void)
{
    tree_kill(LEFTOVER_KILL_MS);
    _exit(EXIT_SIGNAL + SIGKILL);
}

static void read_control(struct supervisor *k)
{
    unsigned char sig;
    ssize_t n = recv(k->control, &sig, sizeof(sig), MSG_DONTWAIT);

    if (n == 1)
        job_note_signal(&k->job, sig);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        end_orphaned_job();
}

static void read_signals(struct supervisor *k)
{
    struct signalfd_siginfo info;

    while (read(k->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD)
            job_note_signal(&k->job, (int)info.ssi_signo);
}

static void read_server(struct supervisor *k)
{
    struct server_event ev;
    uint64_t n;

    if (server_fd() < 0)
        return;
    if (read(server_fd(), &n, sizeof(n)) < 0 && errno != EAGAIN)
        say("S-E-SERVER", "eventfd: %m");
    while (server_next(&ev))
        job_note_server(&k->job, &ev);
}

static void watch_channel(struct supervisor *k, int pe)
{
    struct pollfd *p = &k->fds[AT_PES + PE_FDS * pe + PE_CHANNEL];
    int fds[2];

    channel_fds(pe, fds);
    for (int i = 0; i < 2; i++)
        p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
}

static void read_channels(struct supervisor *k)
{
    const struct pollfd *p;

    for (int i = 0; i < k->job.n; i++) {
        p = &k->fds[AT_PES + PE_FDS * i + PE_CHANNEL];
        if (p[0].revents || p[1].revents)
            channel_read(&k->job, i);
    }
}

static void read_channel_now(struct supervisor *k, int pe)
{
    struct pollfd *p = &k->fds[AT_PES + PE_FDS * pe + PE_CHANNEL];

    watch_channel(k, pe);
    if (poll(p, 2, 0) > 0)
        channel_read(&k->job, pe);
}

/* Reads what PEs sent before they ended. */
static void read_channels_now(struct supervisor *k)
{
    for (int i = 0; i < k->job.n; i++)
        watch_channel(k, i);
    if (poll(k->fds + AT_PES, (nfds_t)(PE_FDS * k->job.n), 0) > 0)
        read_channels(k);
}

/* A child that could not become the program. */
static void read_report(struct supervisor *k)
{
    struct spawn_failure f;
    ssize_t n;

    while ((n = read(k->report, &f, sizeof(f))) == (ssize_t)sizeof(f)) {
        if (k->job.phase == RUN)
            say("S-E-PROG", "PE %d: %s: %s%s", f.pe, k->job.o->argv[0],
                strerror(f.err), f.err == ENOENT
                ? " (the interpreter named in its first line?)"
                : f.err == ENOEXEC ? " (no program for this machine, and no #! "
                                     "line)" : "");
        job_end(&k->job, BY_START, f.pe,
                f.err == ENOENT ? EXIT_NOPROG : EXIT_NOEXEC, 0);
        job_kill(&k->job);
    }
    if (n == 0) {                   /* all have become the program */
        close(k->report);
        k->report = -1;
    }
}

static int reap(struct exited_child *out, int max)
{
    int n = 0;

    while (n < max && (out[n].pid = waitpid(-1, &out[n].wstatus, WNOHANG)) > 0)
        n++;
    return n;
}

static struct pe *pe_of(struct job *j, pid_t pid)
{
    for (int i = 0; i < j->n; i++)
        if (j->pe[i].pid == pid && !j->pe[i].ended)
            return &j->pe[i];
    return NULL;                    /* an orphan that a PE had started */
}

/* Reads what a PE wrote before its end from its pipes, at most 32 times: its
 * child processes may write without end. */
static void drain(struct pe *p)
{
    for (int i = 0; i < 32 && source_read(&p->out); i++)
        ;
    for (int i = 0; i < 32 && source_read(&p->err); i++)
        ;
}

/* Those that a signal ended, or the others. */
static void note_exits(struct supervisor *k, const struct exited_child *dead,
                       int n, bool by_signal)
{
    struct pe *p;
    int pe;

    for (int i = 0; i < n; i++) {
        p = pe_of(&k->job, dead[i].pid);
        if (!p || !WIFSIGNALED(dead[i].wstatus) == by_signal)
            continue;
        pe = (int)(p - k->job.pe);
        if (by_signal)
            read_channel_now(k, pe);
        drain(p);
        job_note_exit(&k->job, pe, dead[i].wstatus);
    }
}

/* False: there are none.  What others have sent when a PE was killed is taken to
 * be about that. */
static bool handle_exited_children(struct supervisor *k)
{
    struct exited_child dead[64];
    bool any = false;
    int n;

    while ((n = reap(dead, 64)) > 0) {
        any = true;
        note_exits(k, dead, n, true);
        read_server(k);
        read_channels_now(k);
        if (k->report >= 0)
            read_report(k);
        note_exits(k, dead, n, false);
    }
    return any;
}

/* ---- writing ---- */

/* Standard output cannot be written: no line where its reader has ended, as for
 * any program in a pipeline. */
static void check_output(struct job *j)
{
    int err = j->out->error;
    bool fails = j->alive;

    if (!err || j->output_lost)
        return;
    j->output_lost = true;
    if (err == EPIPE) {
        job_end(j, BY_READER, -1, EXIT_SIGNAL + SIGPIPE, 0);
    } else if (err == EIO && j->out->tty) {
        job_end(j, BY_READER, -1, EXIT_SIGNAL + SIGHUP, 0);
    } else {
        say("S-E-OUTPUT", "cannot write standard output: %s; what the PEs print "
            "is lost from here on", strerror(err));
        fails = true;
    }
    if (j->status == 0 && fails)
        j->status = EXIT_FAILURE;
}

/* That of one PE: the others' go on. */
static void check_file(struct job *j, int pe)
{
    if (!j->files[pe].error || j->file_lost)
        return;
    j->file_lost = true;
    say("S-E-OUTPUT", "cannot write %s.%d: %s; what the PE prints is lost from "
        "here on", j->o->output, pe, strerror(j->files[pe].error));
    if (j->status == 0)
        j->status = EXIT_FAILURE;
}

static void write_output(struct job *j)
{
    sink_pump(j->out);
    if (j->err != j->out)
        sink_pump(j->err);
    check_output(j);
    for (int i = 0; j->files && i < j->n; i++) {
        sink_pump(&j->files[i]);
        check_file(j, i);
    }
}

/* ---- the loop ---- */

static void poll_source(struct pollfd *p, const struct source *s)
{
    p->fd = sink_waiting(s->sink) < SINK_FULL ? s->fd : -1;
    p->events = POLLIN;
}

/* All but the PEs; returns when output is to be tried again. */
static int64_t watch_job(struct supervisor *k)
{
    struct job *j = &k->job;
    int64_t out = sink_watch(j->out, &k->fds[AT_OUT]), err = INT64_MAX;

    k->fds[AT_REPORT].fd = k->report;
    k->fds[AT_ERR].fd = -1;
    if (j->err != j->out)
        err = sink_watch(j->err, &k->fds[AT_ERR]);
    return out < err ? out : err;
}

/* Fill the set; returns when a terminal wants an unfinished line, or output is
 * to be tried again. */
static int64_t fill_poll_set(struct supervisor *k)
{
    struct job *j = &k->job;
    int64_t due = watch_job(k);

    for (int i = 0; i < j->n; i++) {
        struct pollfd *p = &k->fds[AT_PES + PE_FDS * i];
        struct source *s[2] = { &j->pe[i].out, &j->pe[i].err };

        for (int w = 0; w < 2; w++) {
            if (!s[w]->sink)
                p[w].fd = -1;
            else
                poll_source(&p[w], s[w]);
            if (s[w]->n_part && source_due(s[w]) < due)
                due = source_due(s[w]);
        }
        watch_channel(k, i);
    }
    return due;
}

static void flush_partial_lines(struct job *j)
{
    int64_t now = now_ms();

    for (int i = 0; i < j->n; i++) {
        if (j->pe[i].out.n_part && source_due(&j->pe[i].out) <= now)
            source_flush(&j->pe[i].out);
        if (j->pe[i].err.n_part && source_due(&j->pe[i].err) <= now)
            source_flush(&j->pe[i].err);
    }
}

static int timeout_ms_until(int64_t until)
{
    int64_t ms = until - now_ms();

    if (until == INT64_MAX)
        return -1;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void poll_once(struct supervisor *k, int64_t until)
{
    struct job *j = &k->job;
    int64_t due = fill_poll_set(k);

    if (poll(k->fds, (nfds_t)(AT_PES + PE_FDS * j->n),
             timeout_ms_until(due < until ? due : until)) < 0)
        return;
    if (k->fds[AT_CONTROL].revents)
        read_control(k);
    if (k->fds[AT_SIGNALS].revents)
        read_signals(k);
    for (int i = 0; i < j->n; i++) {
        const struct pollfd *p = &k->fds[AT_PES + PE_FDS * i];

        if (p[PE_OUT].revents)
            source_read(&j->pe[i].out);
        if (p[PE_ERR].revents)
            source_read(&j->pe[i].err);
    }
    if (!handle_exited_children(k)) {
        read_channels(k);
        if (k->fds[AT_SERVER].revents)
            read_server(k);
        if (k->report >= 0 && k->fds[AT_REPORT].revents)
            read_report(k);
    }
    flush_partial_lines(j);
    write_output(j);
}

/* ---- the end ---- */

/* Processes that PEs started and did not wait for. */
static void end_leftovers(struct job *j)
{
    int64_t end = now_ms() + LEFTOVER_MS;
    int left;

    if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
        return;
    if (j->phase == RUN)
        tree_signal(SIGTERM);
    while (j->phase == RUN && now_ms() < end) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return;
        usleep(2000);
    }
    left = tree_kill(LEFTOVER_KILL_MS);
    if (left)
        say("S-E-STUCK", "%d processes started by PEs cannot be killed", left);
}

/* Writes all output that is still in memory. */
static void flush_all(struct supervisor *k)
{
    struct job *j = &k->job;
    int64_t signalled = j->user_signal_at;
    bool wanted = j->cause == BY_USER || j->cause == BY_TIMEOUT;
    int64_t retry, given_up = INT64_MAX;
    size_t left = SIZE_MAX, was;

    for (int i = 0; i < j->n; i++) {
        drain(&j->pe[i]);
        if (j->pe[i].out.sink)
            source_close(&j->pe[i].out);
        if (j->pe[i].err.sink)
            source_close(&j->pe[i].err);
    }
    job_report(j);
    for (write_output(j); sink_waiting(j->out) || sink_waiting(j->err);
         write_output(j)) {
        was = left;
        left = sink_waiting(j->out) + sink_waiting(j->err);
        if (wanted && left < was)
            given_up = now_ms() + READER_MS;
        if (now_ms() >= given_up)
            return;
        retry = watch_job(k);       /* a start that failed has no more */
        if (poll(k->fds, AT_PES, timeout_ms_until(retry < given_up
                                                  ? retry : given_up)) < 0)
            continue;
        if (k->fds[AT_CONTROL].revents)
            read_control(k);
        if (k->fds[AT_SIGNALS].revents)
            read_signals(k);
        if (j->user_signal_at != signalled) {
            j->status = EXIT_SIGNAL + j->user_signal;
            return;                 /* the reader is slow, the user is not */
        }
    }
}

static int finish(struct supervisor *k, int64_t started)
{
    struct job *j = &k->job;
    char byte = EXIT_BY_SIGINT;

    end_leftovers(j);
    if (j->o->verbose)
        say(NULL, "ended with status %d after %.3f s", j->status,
            (double)(now_ms() - started) / 1000);
    flush_all(k);
    if (j->cause == BY_USER && j->status == EXIT_SIGNAL + SIGINT &&
        send(k->control, &byte, 1, MSG_NOSIGNAL) < 0)
        return j->status;
    return j->status;
}

/* ---- the start ---- */

static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int choose_places(const struct job *j, struct spawn *sp,
                         struct place *place)
{
    enum bind bind = j->o->bind;
    char text[512];

    if (bind == BIND_SHARE) {
        if (place_share(place, j->n))
            sp->place = place;
    } else if (bind != BIND_NONE) {
        if (place_open(place, j->n, bind) < 0)
            return -1;
        sp->place = place;
    }
    for (int pe = 0; j->o->report_bindings && pe < j->n; pe++) {
        place_text(sp->place, pe, text, sizeof(text));
        say(NULL, "PE %d on %s: %s %s", pe, j->host, sp->place
            ? "bound to processors" : "not bound; may use processors", text);
    }
    return 0;
}

static int open_all(struct supervisor *k, const struct start *s,
                    struct spawn *sp, struct place *place)
{
    struct job *j = &k->job;

    sink_open(&j->sinks[0], STDOUT_FILENO);
    sink_open(&j->sinks[1], STDERR_FILENO);
    j->out = &j->sinks[0];
    j->err = sink_same(STDOUT_FILENO, STDERR_FILENO) ? j->out : &j->sinks[1];
    redirect_messages(message_to_sink);
    j->merge = must(merge_open(j->err, j->n));
    k->fds = must(calloc((size_t)(AT_PES + PE_FDS * j->n), sizeof(*k->fds)));
    /* Before anything can fail: the line about it is written by the loop. */
    k->fds[AT_SIGNALS] = (struct pollfd){ .fd = k->signals, .events = POLLIN };
    k->fds[AT_CONTROL] = (struct pollfd){ .fd = k->control, .events = POLLIN };
    k->fds[AT_SERVER].fd = k->report = -1;
    k->fds[AT_OUT].events = k->fds[AT_ERR].events = POLLOUT;
    sp->start = s;
    if (spawn_open(sp, j->n, &k->report) < 0 || job_open_files(j) < 0)
        return -1;
    spawn_environment(j->o);
    if (choose_places(j, sp, place) < 0)
        return -1;
    if (channel_open(j->n) < 0 ||
        (j->o->pmix && server_open(j->n, j->host, j->name) < 0))
        return -1;
    k->fds[AT_SERVER] = (struct pollfd){ .fd = server_fd(), .events = POLLIN };
    k->fds[AT_REPORT].events = POLLIN;
    return 0;
}

static void start_pes(struct supervisor *k, struct spawn *sp)
{
    extern char **environ;
    struct job *j = &k->job;
    struct spawned made;

    if (j->o->verbose)
        say(NULL, "starting %d PE%s of %s on %s%s", j->n, j->n > 1 ? "s" : "",
            sp->start->path, j->host,
            j->o->pmix ? ", PMIx " SLUICE_PMIX_VERSION : "");
    sp->env = environ;
    for (int pe = 0; pe < j->n && j->phase == RUN; pe++) {
        if (spawn_pe(sp, j, pe, &made) < 0) {
            job_end(j, BY_START, pe, EXIT_FAILURE, 0);
            job_kill(j);
            break;
        }
        job_note_started(j, pe, &made);
        if (j->o->verbose)
            say(NULL, "PE %d is pid %d", pe, (int)made.pid);
        if (pe % 16 == 15)          /* start-up of many: stay responsive */
            poll_once(k, 0);
    }
    close(sp->report);
}

/* "pkill -9 oshrun" is to hit the front alone: the supervisor then ends the
 * job's processes. */
static void rename_self(char *arg0)
{
    prctl(PR_SET_NAME, "sluice-super");
    strncpy(arg0, "sluice-super", strlen(arg0));
}

int job_run(const struct start *s)
{
    int64_t started = now_ms();
    struct supervisor *k = &supervisor;
    struct spawn sp = { .place = NULL };
    struct place place;

    rename_self(s->arg0);
    k->control = s->control;
    k->report = -1;
    k->signals = open_signals();
    job_init(&k->job, s->opts);
    if (open_all(k, s, &sp, &place) < 0) {
        k->job.status = EXIT_FAILURE;
        flush_all(k);
        return EXIT_FAILURE;
    }
    start_pes(k, &sp);
    dup2(sp.null, STDIN_FILENO);    /* the writer to PE 0 sees PE 0 end */
    close(sp.null);
    if (s->stdin_fd != STDIN_FILENO)
        close(s->stdin_fd);
    while (!job_over(&k->job))
        poll_once(k, job_tick(&k->job));
    return finish(k, started);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - the state machine of a job in the supervisor: events of its PEs, and
 * the end of the job.  loop.c calls the job_note_...() functions with
 * events and job_tick() for what is due; no function here waits. */
#include "job.h"

#include "channel.h"
#include "place.h"
#include "tree.h"

#include "base/report_request.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS MERGE_MS           /* other PEs may still print their cause */
#define GRACE_EXIT_MS 20            /* after shmem_global_exit(0) */
#define TERM_MS 1000                /* between SIGTERM and SIGKILL */
#define KILL_REPEAT_MS 50
#define GIVE_UP_MS 10000            /* processes that SIGKILL does not end */
#define SILENT_MS 500               /* exits of one job fall together */
#define ENDING_MS 120000            /* a core file may take that long */
#define ANSWER_MS 1500              /* PMIx_Finalize gives up after 2 s */
#define FENCE_MS 3000
#define REPEAT_MS 300               /* closer ones are one keystroke */

/* The PMIx server accepts every process that knows this name. */
static void name_job(struct job *j)
{
    uint64_t secret;

    if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
        secret = (uint64_t)now_ms() * (uint64_t)getpid();
    snprintf(j->name, sizeof(j->name), "oshrun-%d-%016llx", (int)getpid(),
             (unsigned long long)secret);
}

void job_init(struct job *j, const struct opts *o)
{
    memset(j, 0, sizeof(*j));
    j->o = o;
    j->n = o->n;
    j->silent = -1;
    j->silent_at = j->absent_at = j->answer_at = j->fence_at = INT64_MAX;
    j->timeout_at = j->phase_until = INT64_MAX;
    name_job(j);
    j->cpus = place_cpus();
    if (o->timeout_ms)
        j->timeout_at = now_ms() + o->timeout_ms;
    host_name(j->host, sizeof(j->host));
    j->pe = must(calloc((size_t)j->n, sizeof(*j->pe)));
    for (int i = 0; i < j->n; i++)
        j->pe[i].out.fd = j->pe[i].err.fd = -1;
}

int job_open_files(struct job *j)
{
    char *path;
    int fd;

    if (!j->o->output)
        return 0;
    j->files = must(calloc((size_t)j->n, sizeof(*j->files)));
    for (int i = 0; i < j->n; i++) {
        path = alloc_printf("%s.%d", j->o->output, i);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK,
                  0666);
        if (fd < 0) {
            say("S-E-OUTPUT", "--output-filename: %s: %m", path);
            return -1;
        }
        sink_open(&j->files[i], fd);
        if (!j->files[i].regular) {
            say("S-E-OUTPUT", "--output-filename: %s exists and is no file",
                path);
            return -1;
        }
        free(path);
    }
    return 0;
}

static void source_init(struct source *s, struct job *j, int pe, int fd,
                        bool err)
{
    s->fd = fd;
    s->pe = pe;
    s->tag = j->o->tag;
    s->at_line_start = true;
    s->sink = j->files ? &j->files[pe] : err ? j->err : j->out;
    s->merge = err && !j->files ? j->merge : NULL;
    s->is_error = err;
}

void job_note_started(struct job *j, int pe, const struct spawned *s)
{
    j->pe[pe].pid = s->pid;
    j->alive++;
    source_init(&j->pe[pe].out, j, pe, s->out, false);
    source_init(&j->pe[pe].err, j, pe, s->err, true);
}

/* ---- ending ---- */

/* The PE that started this process, by its process group, or NULL. */
static const struct pe *pe_of_group(const struct job *j, pid_t group)
{
    for (int i = 0; i < j->n; i++)
        if (j->pe[i].pid == group && !j->pe[i].ended)
            return &j->pe[i];
    return NULL;
}

/* A PE in the library has a thread that takes the request, so that none of the
 * program's is interrupted; other processes of the groups get SIGUSR2 if they
 * take it.  It would end a PE that has not called shmem_init, which is named
 * instead, and a shell that runs one. */
static void request_state_all(const struct job *j)
{
    DIR *d = opendir("/proc");
    const struct pe *pe;
    struct dirent *e;
    pid_t pid;

    while (d && (e = readdir(d))) {
        pid = (pid_t)atoi(e->d_name);
        pe = pid > 0 ? pe_of_group(j, getpgid(pid)) : NULL;
        if (pe && !report_request_process(pid) &&
            (tree_process_takes(pid, SIGUSR2) ||
             (pe->in && pid == channel_owner((int)(pe - j->pe)))))
            kill(pid, SIGUSR2);
    }
    if (d)
        closedir(d);
    for (int i = 0; i < j->n; i++)
        if (!j->pe[i].ended && !j->pe[i].in &&
            !tree_process_takes(j->pe[i].pid, SIGUSR2))
            say(NULL, "PE %d (pid %d) is not in shmem_init yet", i,
                (int)j->pe[i].pid);
}

static void signal_all(struct job *j, int sig)
{
    if (sig == SIGUSR2) {
        request_state_all(j);
        return;
    }
    for (int i = 0; i < j->n; i++)
        if (j->pe[i].pid && !j->pe[i].ended)
            kill(-j->pe[i].pid, sig);
}

void job_end(struct job *j, enum cause cause, int pe, int status, int grace_ms)
{
    if (j->phase != RUN)
        return;
    j->phase = GRACE;
    j->cause = cause;
    j->failed_pe = pe;
    j->status = status;
    j->failed_at = now_ms();
    j->phase_until = j->failed_at + grace_ms;
}

void job_kill(struct job *j)
{
    job_end(j, BY_USER, -1, EXIT_SIGNAL + SIGKILL, 0);
    j->phase = KILL;
    j->phase_until = now_ms() + KILL_REPEAT_MS;
    tree_signal(SIGKILL);
}

static void advance(struct job *j, int64_t now)
{
    if (j->phase == GRACE) {
        job_report(j);
        signal_all(j, SIGTERM);
        signal_all(j, SIGCONT);     /* a stopped process takes no SIGTERM */
        j->phase = TERM;
        j->phase_until = now + TERM_MS;
        return;
    }
    if (j->phase == KILL && now > j->failed_at + GIVE_UP_MS) {
        say("S-E-STUCK", "%d PE%s cannot be killed: stuck in the kernel",
            j->alive, j->alive == 1 ? "" : "s");
        j->alive = 0;
        return;
    }
    job_kill(j);
}

bool job_over(const struct job *j)
{
    return j->alive == 0;
}

/* ---- what happens ---- */

static bool left_unfinalized(const struct pe *p)
{
    return (p->ended || p->lost) && p->in;
}

/* A PE exited with status 0 but without finalizing.  PEs that still use the
 * library would wait for it without end; if they exit in the same way soon, the
 * job is fine. */
static void check_silent_exit(struct job *j)
{
    int64_t now = now_ms();

    j->silent_at = INT64_MAX;
    if (j->silent >= 0 && channel_owner_is_ending(j, j->silent)) {
        if (!j->ending_since)
            j->ending_since = now;
        if (now - j->ending_since < ENDING_MS) {
            j->silent_at = now + SILENT_MS;     /* how it ends is to come */
            return;
        }
    }
    for (int i = 0; i < j->n && j->silent >= 0; i++) {
        if (!j->pe[i].pid || j->pe[i].ended || j->pe[i].lost)
            continue;
        if (j->pe[i].in) {
            job_end(j, BY_SILENCE, j->silent, EXIT_FAILURE, 0);
            return;
        }
        if (!j->pe[i].joined)       /* it may come later */
            j->silent_at = now_ms() + SILENT_MS;
    }
}

static void note_silent(struct job *j, int pe)
{
    if (j->silent < 0)
        j->silent = pe;
    j->silent_at = now_ms() + SILENT_MS;
}

/* A script has started its next program. */
static void note_reconnected(struct job *j, int pe)
{
    j->pe[pe].lost = false;
    if (j->silent == pe) {
        j->silent = 0;
        while (j->silent < j->n && !left_unfinalized(&j->pe[j->silent]))
            j->silent++;
        if (j->silent == j->n)
            j->silent = -1;
    }
    if (j->silent >= 0)
        j->silent_at = now_ms() + SILENT_MS;
}

/* PEs in a fence wait for a PE that has ended. */
static void check_absent(struct job *j)
{
    j->absent_at = INT64_MAX;
    for (int i = 0; i < j->n && channel_fence_waits(); i++)
        if (j->pe[i].ended) {
            job_end(j, BY_ABSENCE, i, EXIT_FAILURE, 0);
            return;
        }
}

static void note_waiting(struct job *j)
{
    for (int i = 0; i < j->n && j->absent_at == INT64_MAX; i++)
        if (j->pe[i].ended)
            j->absent_at = now_ms() + SILENT_MS;
}

static void hold_fence(struct job *j, const struct server_event *ev)
{
    struct server_event now = *ev;

    if (j->n_fences == MAX_FENCES) {
        server_answer(&now);
        return;
    }
    j->fence[j->n_fences++] = *ev;
    if (j->fence_at == INT64_MAX)
        j->fence_at = now_ms() + FENCE_MS;
}

static void answer_fences(struct job *j)
{
    j->fence_at = INT64_MAX;
    while (j->n_fences > 0)
        server_answer(&j->fence[--j->n_fences]);
}

void job_note_server(struct job *j, const struct server_event *ev)
{
    struct pe *pe = ev->pe >= 0 ? &j->pe[ev->pe] : NULL;
    int status = ev->status & 0xff;

    switch (ev->what) {
    case SERVER_CONNECTED:
        pe->joined |= ev->by;
        pe->in |= ev->by;
        note_reconnected(j, ev->pe);
        break;
    case SERVER_LOST:
        pe->lost = true;
        note_silent(j, ev->pe);
        break;
    case SERVER_WAITS:
        note_waiting(j);
        break;
    case SERVER_FINALIZED:
        pe->in &= ~ev->by;
        if (!server_finalize_pending())
            j->answer_at = INT64_MAX;
        else if (j->answer_at == INT64_MAX)
            j->answer_at = now_ms() + ANSWER_MS;
        break;
    case SERVER_ABORT:
        if (ev->status && !status)
            status = EXIT_FAILURE;  /* 256 is no success */
        job_end(j, BY_ABORT, ev->pe, status, status ? GRACE_MS : GRACE_EXIT_MS);
        break;
    case SERVER_FENCE:
        hold_fence(j, ev);
        break;
    }
}

/* libfabric's provider shm keeps the memory of each process in a file that
 * starts with its number, which stays when the process ends in an error. */
static void remove_provider_files(pid_t pid)
{
    struct dirent *e;
    char start[32];
    DIR *d;

    if (pid <= 0 || tree_process_runs(pid, -1) ||
        !(d = opendir("/dev/shm")))
        return;
    snprintf(start, sizeof(start), "%d:%u:", (int)pid, (unsigned)getuid());
    while ((e = readdir(d)))
        if (strncmp(e->d_name, start, strlen(start)) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

void job_note_exit(struct job *j, int pe, int wstatus)
{
    struct pe *p = &j->pe[pe];
    int sig = WIFSIGNALED(wstatus) ? WTERMSIG(wstatus) : 0;
    int code = sig ? EXIT_SIGNAL + sig : WEXITSTATUS(wstatus);

    p->ended = true;
    p->wstatus = wstatus;
    j->alive--;
    if (j->o->verbose)
        say(NULL, "PE %d (pid %d) ended with %s %d", pe, (int)p->pid,
            sig ? "signal" : "status", sig ? sig : code);
    server_gone(pe);
    if (code) {
        remove_provider_files(p->pid);
        if (channel_owner(pe) != p->pid)
            remove_provider_files(channel_owner(pe));
    }
    if (code && j->user_signal && code == EXIT_SIGNAL + j->user_signal)
        job_end(j, BY_USER, pe, code, GRACE_MS);
    else if (sig)
        job_end(j, BY_SIGNAL, pe, code, GRACE_MS);
    else if (code)
        job_end(j, BY_STATUS, pe, code, GRACE_MS);
    else if (p->in)
        note_silent(j, pe);
    else if (channel_fence_waits())
        note_waiting(j);
}

/* The user types ^C for gdb. */
static bool is_debugger_interrupt(const struct job *j)
{
    const struct opts *o = j->o;

    return o->debug && o->debug[0] == 'g' && o->debug_pe >= 0 &&
           j->pe[o->debug_pe].pid && !j->pe[o->debug_pe].ended;
}

void job_note_signal(struct job *j, int sig)
{
    int64_t now = now_ms();

    switch (sig) {
    case SIGTSTP:                   /* the PEs' session of its own does not
                                     * stop by it */
        j->stopped = true;
        signal_all(j, SIGSTOP);
        return;
    case SIGCONT:
        j->stopped = false;
        signal_all(j, SIGCONT);
        return;
    case SIGINT:
        if (is_debugger_interrupt(j)) {
            kill(j->pe[j->o->debug_pe].pid, sig);
            return;
        }
        /* fall through */
    case SIGTERM:
    case SIGQUIT:
    case SIGHUP:
        if (j->user_signal == sig) {
            if (now < j->user_signal_at + REPEAT_MS)
                return;
            job_end(j, BY_USER, -1, EXIT_SIGNAL + sig, 0);
            job_kill(j);
            return;
        }
        j->user_signal = sig;
        j->user_signal_at = now;
        break;
    }
    signal_all(j, sig);
    if (j->stopped)
        signal_all(j, SIGCONT);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t job_tick(struct job *j)
{
    int64_t now = now_ms(), next;

    if (j->phase == RUN && now >= j->timeout_at) {
        job_end(j, BY_TIMEOUT, -1, EXIT_TIMEOUT, 0);
        j->timeout_at = INT64_MAX;
    }
    if (j->phase == RUN && now >= j->silent_at)
        check_silent_exit(j);
    if (j->phase == RUN && now >= j->absent_at)
        check_absent(j);
    if (now >= j->answer_at) {
        j->answer_at = INT64_MAX;
        server_complete_finalize();
    }
    if (now >= j->fence_at && j->phase == RUN)
        answer_fences(j);
    if (j->phase != RUN && now >= j->phase_until && j->alive)
        advance(j, now);
    if (now >= merge_due(j->merge))
        merge_flush(j->merge, false);

    next = earlier(j->phase == RUN ? j->timeout_at : j->phase_until,
                   j->answer_at);
    if (j->phase == RUN)
        next = earlier(earlier(next, j->fence_at),
                       earlier(j->silent_at, j->absent_at));
    return earlier(next, merge_due(j->merge));
}

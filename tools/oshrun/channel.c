/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c - serves the channels by which PEs join their job and exchange
 * keys, fences and descriptors (rt/rt_wire.h).  The supervisor's loop calls
 * channel_read(); a PE that sends garbage costs its own session alone. */
#include "channel.h"
#include "tree.h"

#include "rt/rt_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The PEs' ends get a number that scripts do not use: shells redirect 0 to 9
 * and keep copies from 10 on. */
#define PE_FD 32
/* More keys than the library has: a heap that grows takes up to 96. */
#define MAX_KEYS 128
/* A PE that sends without end does not keep the loop from the other PEs, the
 * clock and the user. */
#define MESSAGES_AT_ONCE 64
/* The PEs that a line on missing ones names. */
#define NAMED 3

struct entry {
    char key[RT_WIRE_KEY + 1];
    size_t size;
    void *value;
};

struct member {
    int channel;                    /* -1: none yet, or its PE has ended */
    int session;                    /* -1: none of its processes has one */
    pid_t owner;                    /* of the session */
    int64_t owner_started;          /* see tree_started() */
    unsigned sessions, fences;      /* how many so far; of this session */
    bool in_fence;
    bool bad_reported;                   /* said */
    int shared, takers;             /* a descriptor for so many PEs, or -1 */
    struct entry *entry;
    int n_entries;
};

static struct {
    int n, in_fence;
    int null, pe_fd;                /* pe_fd is null where no PE's end is */
    struct member *member;
} all;

/* ---- the start ---- */

int channel_open(int n)
{
    all.n = n;
    all.member = must(calloc((size_t)n, sizeof(*all.member)));
    for (int i = 0; i < n; i++)
        all.member[i].channel = all.member[i].session = all.member[i].shared
                              = -1;
    all.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    all.pe_fd = all.null < 0 ? -1 : fcntl(all.null, F_DUPFD_CLOEXEC, PE_FD);
    if (all.pe_fd >= 0)
        return 0;
    say("S-E-CHANNEL", "cannot reserve a descriptor for the PEs: %m");
    return -1;
}

static void add(char ***env, size_t *n, char *line)
{
    *env = must(realloc(*env, (*n + 2) * sizeof(**env)));
    (*env)[(*n)++] = line;
    (*env)[*n] = NULL;
}

int channel_make(const struct job *j, int pe, char ***env)
{
    struct stat st;
    size_t n = 0;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        say("S-E-CHANNEL", "cannot start PE %d: socketpair: %m", pe);
        return -1;
    }
    if (fstat(ends[1], &st) < 0 ||
        dup3(ends[1], all.pe_fd, O_CLOEXEC) < 0) {
        say("S-E-CHANNEL", "cannot start PE %d: its channel: %m", pe);
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    close(ends[1]);
    all.member[pe].channel = ends[0];
    while ((*env)[n])
        n++;
    add(env, &n, alloc_printf(RT_JOB_NAME "=%s", j->name));
    add(env, &n, alloc_printf(RT_JOB_PE "=%d", pe));
    add(env, &n, alloc_printf(RT_JOB_PES "=%d", all.n));
    add(env, &n, alloc_printf(RT_JOB_LOCAL "=0-%d", all.n - 1));
    add(env, &n, alloc_printf(RT_JOB_CPUS "=%d", j->cpus));
    add(env, &n, alloc_printf(RT_JOB_CHANNEL "=%d:%llu", all.pe_fd,
                             (unsigned long long)st.st_ino));
    return all.pe_fd;
}

void channel_made(void)
{
    dup3(all.null, all.pe_fd, O_CLOEXEC);
}

void channel_fds(int pe, int out[2])
{
    out[0] = all.member[pe].channel;
    out[1] = all.member[pe].session;
}

/* ---- sessions ---- */

static void stop_sharing(struct member *m)
{
    if (m->shared >= 0)
        close(m->shared);
    m->shared = -1;
}

static void end_session(struct job *j, int pe, enum server_what what)
{
    struct member *m = &all.member[pe];
    struct server_event ev = { .what = what, .by = VIA_CHANNEL, .pe = pe };

    if (m->session < 0)
        return;
    close(m->session);
    m->session = -1;
    stop_sharing(m);
    if (m->in_fence)
        all.in_fence--;
    m->in_fence = false;
    for (int i = 0; i < m->n_entries; i++)
        free(m->entry[i].value);
    free(m->entry);
    m->entry = NULL;
    m->n_entries = 0;
    job_note_server(j, &ev);
}

/* A process that has ended may have sent more, so its end of file is read in
 * turn; the session of a process that does not read its answers ends. */
static void answer(struct job *j, int pe, const struct rt_wire *m, int fd)
{
    int rc = rt_wire_send(all.member[pe].session, MSG_DONTWAIT, m, fd);

    if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
        end_session(j, pe, SERVER_LOST);
}

static void reply_status(struct job *j, int pe, int status)
{
    struct rt_wire m = { .type = RT_ANSWER, .status = status };

    answer(j, pe, &m, -1);
}

static void refuse(int session, int status, pid_t owner)
{
    struct rt_wire m = { .type = RT_ANSWER, .status = status, .pe = owner };

    rt_wire_send(session, MSG_DONTWAIT, &m, -1);
    close(session);
}

/* The process that created this end of a socket pair. */
static pid_t creator_pid(int session)
{
    struct ucred who = { .pid = 0 };
    socklen_t len = sizeof(who);

    return getsockopt(session, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0
               ? 0 : who.pid;
}

static void begin_session(struct job *j, int pe, int session)
{
    struct server_event ev = { .what = SERVER_CONNECTED, .by = VIA_CHANNEL,
                               .pe = pe };
    struct member *m = &all.member[pe];

    /* The session of a process that has ended may be open: a child that it
     * has forked holds it, or the system has not closed it yet. */
    if (m->session >= 0 && m->owner > 0 &&
        !tree_process_runs(m->owner, m->owner_started))
        end_session(j, pe, SERVER_LOST);
    if (m->session >= 0) {
        refuse(session, -EBUSY, m->owner);
        return;
    }
    m->session = session;
    m->owner = creator_pid(session);
    m->owner_started = tree_started(m->owner);
    m->sessions++;
    m->fences = 0;
    job_note_server(j, &ev);
    reply_status(j, pe, 0);
}

/* ---- requests ---- */

static void put(struct job *j, int pe, const struct rt_wire *in)
{
    struct member *m = &all.member[pe];
    int i = 0;

    while (i < m->n_entries && strcmp(m->entry[i].key, in->key) != 0)
        i++;
    if (i == MAX_KEYS) {
        reply_status(j, pe, -ENOSPC);
        return;
    }
    if (i == m->n_entries) {
        m->entry = must(realloc(m->entry, (size_t)(i + 1) * sizeof(*m->entry)));
        m->entry[i] = (struct entry){ .size = 0 };
        strcpy(m->entry[i].key, in->key);
        m->n_entries++;
    }
    free(m->entry[i].value);
    m->entry[i].value = must(malloc(in->value_size + 1));
    memcpy(m->entry[i].value, in->value, in->value_size);
    m->entry[i].size = in->value_size;
    reply_status(j, pe, 0);
}

static void get(struct job *j, int pe, const struct rt_wire *in)
{
    struct rt_wire out = { .type = RT_ANSWER, .status = -ENOENT };
    const struct member *m;

    if (in->pe >= all.n) {
        reply_status(j, pe, -ESRCH);
        return;
    }
    m = &all.member[in->pe];
    for (int i = 0; i < m->n_entries; i++)
        if (strcmp(m->entry[i].key, in->key) == 0) {
            out.status = 0;
            out.value = m->entry[i].value;
            out.value_size = m->entry[i].size;
        }
    answer(j, pe, &out, -1);
}

/* PEs whose processes have started the library unlike often, as when one was
 * killed in a script that goes on, are not in the same fence. */
static bool same_fence(void)
{
    for (int i = 1; i < all.n; i++)
        if (all.member[i].sessions != all.member[0].sessions ||
            all.member[i].fences != all.member[0].fences)
            return false;
    return true;
}

static void fence(struct job *j, int pe)
{
    struct server_event ev = { .what = SERVER_WAITS, .by = VIA_CHANNEL,
                               .pe = pe };
    struct member *m = &all.member[pe];
    struct rt_wire reply = { .type = RT_FENCED };

    if (m->in_fence) {
        end_session(j, pe, SERVER_LOST);
        return;
    }
    m->in_fence = true;
    m->fences++;
    if (++all.in_fence < all.n) {
        job_note_server(j, &ev);
        return;
    }
    reply.status = same_fence() ? 0 : -EXDEV;
    all.in_fence = 0;
    for (int i = 0; i < all.n; i++)
        all.member[i].in_fence = false;
    for (int i = 0; i < all.n; i++)
        answer(j, i, &reply, -1);
}

/* ", PE 3 (pid 4711, stopped)": a process of its program that has joined the
 * job, or else the one that oshrun has started. */
static int add_missing(char *text, size_t size, const struct job *j, int pe)
{
    const struct member *m = &all.member[pe];
    pid_t pid = m->session >= 0 && m->owner > 0 ? m->owner : j->pe[pe].pid;

    return snprintf(text, size, "PE %d (pid %d%s)", pe, (int)pid,
                    tree_process_is_stopped(pid) ? ", stopped"
                    : j->pe[pe].ended ? ", ended"
                    : m->session < 0 ? ", not in shmem_init yet" : "");
}

static bool may_report(const struct member *m)
{
    return m->in_fence && !(m->owner > 0 && tree_process_is_stopped(m->owner));
}

/* The first PE that has arrived, and runs, reports for all others. */
static void missing(struct job *j, int pe)
{
    struct rt_wire out = { .type = RT_ANSWER };
    int first = 0, n = 0, at, named = 0;
    char text[512];

    while (first < all.n && !may_report(&all.member[first]))
        first++;
    if (first != pe) {
        reply_status(j, pe, -EALREADY);
        return;
    }
    at = snprintf(text, sizeof(text), "%d of %d PEs arrived; missing ",
                  all.in_fence, all.n);
    for (int i = 0; i < all.n; i++) {
        if (all.member[i].in_fence || n++ >= NAMED)
            continue;
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s",
                       named++ ? ", " : "");
        at += add_missing(text + at, sizeof(text) - (size_t)at, j, i);
    }
    if (n > NAMED)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " and %d more",
                       n - NAMED);
    out.value = text;
    out.value_size = (size_t)at;
    answer(j, pe, &out, -1);
}

static void share(struct job *j, int pe, const struct rt_wire *in, int *fd)
{
    struct member *m = &all.member[pe];

    if (*fd < 0 || in->status < 1) {
        reply_status(j, pe, -EINVAL);
        return;
    }
    stop_sharing(m);
    m->shared = *fd;
    m->takers = in->status;
    *fd = -1;
    reply_status(j, pe, 0);
}

static void take(struct job *j, int pe, const struct rt_wire *in)
{
    struct rt_wire out = { .type = RT_ANSWER };
    struct member *m;

    if (in->pe >= all.n || all.member[in->pe].shared < 0) {
        reply_status(j, pe, -ENOENT);
        return;
    }
    m = &all.member[in->pe];
    answer(j, pe, &out, m->shared);
    if (--m->takers == 0)
        stop_sharing(m);
}

/* Handles one message of the session; fd is its descriptor or -1.  The function
 * closes fd unless an entry keeps it. */
static void handle_request(struct job *j, int pe, const struct rt_wire *in,
                         int fd)
{
    struct server_event ev = { .what = SERVER_ABORT, .by = VIA_CHANNEL,
                               .pe = pe, .status = in->status };

    switch (in->type) {
    case RT_PUT:
        put(j, pe, in);
        break;
    case RT_GET:
        get(j, pe, in);
        break;
    case RT_FENCE:
        fence(j, pe);
        break;
    case RT_MISSING:
        missing(j, pe);
        break;
    case RT_SHARE:
        share(j, pe, in, &fd);
        break;
    case RT_TAKE:
        take(j, pe, in);
        break;
    case RT_ABORT:
        job_note_server(j, &ev);
        break;
    case RT_BYE:
        end_session(j, pe, SERVER_FINALIZED);
        break;
    default:
        end_session(j, pe, SERVER_LOST);
    }
    if (fd >= 0)
        close(fd);
}

/* ---- reading ---- */

static void report_bad_message(int pe, int rc)
{
    if (!all.member[pe].bad_reported && rc == -EMFILE)
        say("S-E-CHANNEL", "oshrun has as many open files as it may, and none "
            "for what PE %d sent: raise the limit (ulimit -Hn)", pe);
    else if (!all.member[pe].bad_reported)
        say("S-E-CHANNEL", "PE %d sent what is no message%s", pe,
            rc == -EPROTONOSUPPORT
                ? ": its program is of another version of Sluice" : "");
    all.member[pe].bad_reported = true;
}

static void read_session(struct job *j, int pe)
{
    struct member *m = &all.member[pe];
    struct rt_wire_packet packet;
    struct rt_wire in;
    int rc = 0, fd;

    for (int n = 0; m->session >= 0 && rc == 0 && n < MESSAGES_AT_ONCE; n++) {
        rc = rt_wire_receive(m->session, MSG_DONTWAIT, &packet, &in, &fd);
        if (rc == 0) {
            handle_request(j, pe, &in, fd);
            continue;
        }
        if (fd >= 0)
            close(fd);
        if (rc == -EAGAIN)
            return;
        if (rc != -ECONNRESET)
            report_bad_message(pe, rc);
        end_session(j, pe, SERVER_LOST);
    }
}

void channel_read(struct job *j, int pe)
{
    struct member *m = &all.member[pe];
    struct rt_wire_packet packet;
    struct rt_wire in;
    int rc = 0, fd;

    /* The session of a process comes before that of a later one. */
    read_session(j, pe);
    for (int n = 0; m->channel >= 0 && rc == 0 && n < MESSAGES_AT_ONCE; n++) {
        rc = rt_wire_receive(m->channel, MSG_DONTWAIT, &packet, &in, &fd);
        if (rc == 0 && in.type == RT_HELLO && fd >= 0) {
            read_session(j, pe);
            begin_session(j, pe, fd);
            continue;
        }
        if (rc == -EAGAIN)
            return;
        if (fd >= 0)
            refuse(fd, rc ? rc : -EPROTO, 0);
        if (rc == -ECONNRESET) {    /* all its processes have closed it */
            close(m->channel);
            m->channel = -1;
        } else {
            report_bad_message(pe, rc);
            rc = 0;
        }
    }
}

bool channel_fence_waits(void)
{
    return all.in_fence > 0;
}

bool channel_owner_is_ending(const struct job *j, int pe)
{
    const struct member *m = &all.member[pe];

    if (m->owner <= 0 || j->pe[pe].ended)
        return false;
    /* A child of oshrun: its status is to come, whatever state it is in. */
    if (m->owner == j->pe[pe].pid)
        return !tree_process_runs(m->owner, m->owner_started);
    return tree_started(m->owner) == m->owner_started &&
           tree_process_is_ending(m->owner);
}

pid_t channel_owner(int pe)
{
    return all.member[pe].owner;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_launcher.c - the driver for jobs of oshrun: its own channel, see
 * rt_wire.h.  No other process can reach it, and it needs no thread. */
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "rt/rt_wire.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int session = -1;
/* Held from a request to its ANSWER.  A fence, which may take long, is waited
 * for without it: a thread that holds up the other PEs by what it asks would
 * wait for them. */
static struct base_lock asking = LOCK_INIT;

/* ---- requests ---- */

static const char *why(int rc)
{
    return rc == -ECONNRESET || rc == -EPIPE ? "oshrun has closed the session"
           : rc == -EPROTO ? "oshrun and the program disagree"
           : rc == -EMFILE ? "all descriptors that this process may have are "
                             "open: raise the limit (ulimit -n)"
           : rc == -EXDEV ? "some PEs have started the library more often than "
                            "others"
           : rc == -EPROTONOSUPPORT ? "oshrun is of another version of Sluice"
                                    : strerror(-rc);
}

/* The next message of that type, which one thread at a time waits for. */
static int receive(enum rt_wire_type type, struct rt_wire_packet *packet,
                   struct rt_wire *answer, int *fd)
{
    int rc = rt_wire_await(session, type);

    return rc ? rc : rt_wire_receive(session, 0, packet, answer, fd);
}

/* Sends the request and waits for its answer; *fd is what came with that, or
 * -1.  The answer's value lies in *packet. */
static int send_request(const struct rt_wire *request, int send_fd,
               struct rt_wire_packet *packet, struct rt_wire *answer, int *fd)
{
    int rc;

    *fd = -1;
    lock_acquire(&asking);
    rc = rt_wire_send(session, 0, request, send_fd);
    if (!rc)
        rc = receive(RT_ANSWER, packet, answer, fd);
    lock_release(&asking);
    return rc ? rc : answer->status;
}

/* A request whose answer is only a status. */
static int request_status(const struct rt_wire *request, int send_fd)
{
    struct rt_wire_packet packet;
    struct rt_wire answer;
    int fd, rc;

    rc = send_request(request, send_fd, &packet, &answer, &fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- the start ---- */

/* A program between oshrun and this one may have closed the channel, and its
 * number may be that of another file now. */
static bool channel_open(const struct rt_invitation *in)
{
    struct stat st;

    return fstat(in->fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
           st.st_ino == (ino_t)in->inode;
}

/* Another launcher, started by a PE of oshrun, closes what it does not know
 * and announces a job of its own.  The server of oshrun --pmix does not count:
 * its other PEs may still have their channels. */
static bool another_launcher(void)
{
    const char *theirs = env_foreign("PMIX_NAMESPACE");

    return theirs && strcmp(theirs, env_foreign(RT_JOB_NAME)) &&
           rt_inherited("PMIX_NAMESPACE", theirs);
}

static const char *check_invitation(struct rt_invitation *in)
{
    return rt_invitation_parse(
        env_foreign(RT_JOB_PE), env_foreign(RT_JOB_PES),
        env_foreign(RT_JOB_LOCAL), env_foreign(RT_JOB_CHANNEL), in);
}

bool rt_launcher_invites(void)
{
    const char *name = env_foreign(RT_JOB_NAME);
    struct rt_invitation in;

    if (!name || !*name)
        return false;
    return check_invitation(&in) || channel_open(&in) || !another_launcher();
}

static int read_invitation(struct rt_invitation *in)
{
    const char *bad = check_invitation(in), *value;

    if (!bad)
        return 0;
    value = env_foreign(bad);
    log_error(ERR_PMI, "%s is set but %s is %s%.32s%s: oshrun of another "
              "version, or a program between oshrun and this one has changed "
              "it; unset %s if oshrun did not start this", RT_JOB_NAME, bad,
              value ? "\"" : "not set", value ? value : "", value ? "\"" : "",
              RT_JOB_NAME);
    return -EPROTO;
}

static int no_channel(const struct rt_invitation *in)
{
    if (env.SINGLETON) {
        rt_open_singleton();
        return 0;
    }
    log_identify(in->pe, log_host());
    log_error(ERR_PMI, "oshrun's channel, descriptor %d of %s, is closed: a "
              "program between oshrun and this one has closed it; make it keep "
              "its descriptors (close_fds=False in Python), or set "
              "SHMEM_SINGLETON=1 if one PE is meant", in->fd, RT_JOB_CHANNEL);
    return -ENOTCONN;
}

/* Opens the session; *pid: -EBUSY, the process that has one already. */
static int say_hello(int channel, int *pid)
{
    struct rt_wire hello = { .type = RT_HELLO }, answer;
    struct rt_wire_packet packet;
    int ends[2], rc, fd = -1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -errno;
    session = fd_keep(ends[0]);
    rc = session < 0 ? -errno : rt_wire_send(channel, 0, &hello, ends[1]);
    close(ends[1]);
    if (!rc)
        rc = rt_wire_receive(session, 0, &packet, &answer, &fd);
    if (fd >= 0)
        close(fd);
    if (!rc)
        rc = answer.type == RT_ANSWER ? answer.status : -EPROTO;
    *pid = rc == -EBUSY ? answer.pe : 0;
    if (rc && session >= 0) {
        close(session);
        session = -1;
    }
    return rc;
}

static int fill_job(const struct rt_invitation *in)
{
    int n = in->last - in->first + 1, *pes, rc;

    rt_job.pe = in->pe;
    rt_job.n_pes = in->n_pes;
    pes = malloc((size_t)n * sizeof *pes);
    if (!pes)
        return -ENOMEM;
    for (int i = 0; i < n; i++)
        pes[i] = in->first + i;
    rc = rt_keep_group(pes, n);
    rt_job.launched = !rc;
    return rc;
}

static void close_launcher(void)
{
    struct rt_wire bye = { .type = RT_BYE };

    /* oshrun may have gone: then no process waits for this. */
    rt_wire_send(session, 0, &bye, -1);
    close(session);
    session = -1;
}

static int open_launcher(void)
{
    struct rt_invitation in;
    int pid, rc;

    rc = read_invitation(&in);
    if (rc)
        return rc;
    if (fault_hit(FAULT_RT_INIT) || !channel_open(&in))
        return no_channel(&in);
    rc = say_hello(in.fd, &pid);
    if (rc == -EBUSY && env.SINGLETON) {
        rt_open_singleton();
        return 0;
    }
    log_identify(in.pe, log_host());
    if (rc == -EBUSY)
        log_error(ERR_PMI, "process %d is PE %d of this job already; start "
                  "with an oshrun of its own what a PE starts, or set "
                  "SHMEM_SINGLETON=1 if one PE is meant", pid, in.pe);
    else if (rc)
        log_error(ERR_PMI, "joining the job of oshrun: %s", why(rc));
    else if ((rc = fill_job(&in)) != 0)
        close_launcher();       /* a program may try again */
    return rc;
}

/* ---- the calls ---- */

/* oshrun sends what a PE asks for, and nothing else, to any node. */
static int put(const char *key, const void *value, size_t size, bool on_node)
{
    struct rt_wire m = { .type = RT_PUT, .value = value, .value_size = size };
    int rc;

    (void)on_node;
    snprintf(m.key, sizeof m.key, "%s", key);
    rc = request_status(&m, -1);
    if (rc)
        log_error(ERR_PMI, "publishing %s, %zu bytes: %s", key, size, why(rc));
    return rc;
}

static int channel_fence(void)
{
    struct rt_wire m = { .type = RT_FENCE }, reply;
    struct rt_wire_packet packet;
    int fd = -1, rc = rt_wire_send(session, 0, &m, -1);

    if (!rc)
        rc = receive(RT_FENCED, &packet, &reply, &fd);
    if (fd >= 0)
        close(fd);
    return rc ? rc : reply.status;
}

static int fence(void)
{
    int rc = fault_hit(FAULT_RT_FENCE) ? -ETIMEDOUT : channel_fence();

    if (!rc)
        return 0;
    rt_await_end();
    log_error(ERR_PMI, "the fence of %d PEs at start-up: %s", rt_job.n_pes,
              why(rc));
    return -EPROTO;
}

/* While this or another thread waits in the fence. */
static int missing(char *out, size_t size)
{
    struct rt_wire m = { .type = RT_MISSING }, answer;
    struct rt_wire_packet packet;
    int fd, rc;

    rc = send_request(&m, -1, &packet, &answer, &fd);
    if (fd >= 0)
        close(fd);
    if (!rc)
        snprintf(out, size, "%.*s", (int)answer.value_size,
                 (const char *)answer.value);
    return rc;
}

static int get(int pe, const char *key, void *out, size_t size, size_t *got)
{
    struct rt_wire m = { .type = RT_GET, .pe = pe }, answer;
    struct rt_wire_packet packet;
    int fd, rc;

    snprintf(m.key, sizeof m.key, "%s", key);
    rc = send_request(&m, -1, &packet, &answer, &fd);
    if (fd >= 0)
        close(fd);
    if (rc) {
        /* oshrun forgets what a PE has published when that PE's start fails. */
        rt_await_end();
        log_error(ERR_PMI, "what PE %d has published as %s: %s", pe, key,
                  why(rc));
        return rc;
    }
    if (got ? answer.value_size > size : answer.value_size != size) {
        log_error(ERR_PMI, "what PE %d has published as %s: %zu bytes, %zu "
                  "expected: it runs another version of Sluice", pe, key,
                  answer.value_size, size);
        return -EMSGSIZE;
    }
    memcpy(out, answer.value, answer.value_size);
    if (got)
        *got = answer.value_size;
    return 0;
}

/* oshrun's own channel does not leave the host. */
static bool host_of(int pe, char *out, size_t size)
{
    (void)pe;
    snprintf(out, size, "%s", log_host());
    return true;
}

static int share(int fd, int takers)
{
    struct rt_wire m = { .type = RT_SHARE, .status = takers };
    int rc = request_status(&m, fd);

    if (rc)
        log_error(ERR_PMI, "sharing the memory of this node: %s", why(rc));
    return rc;
}

static int take(int pe, int *out)
{
    struct rt_wire m = { .type = RT_TAKE, .pe = pe }, answer;
    struct rt_wire_packet packet;
    int fd, rc;

    rc = send_request(&m, -1, &packet, &answer, &fd);
    if (!rc && fd < 0)
        rc = -EPROTO;
    fd = fd_keep(fd);
    if (!rc && fd < 0)
        rc = -errno;
    if (rc) {
        if (fd >= 0)
            close(fd);
        if (rc != -EMFILE)
            rt_await_end();
        log_error(ERR_PMI, "taking the memory that PE %d shares: %s", pe,
                  why(rc));
        return rc;
    }
    *out = fd;
    return 0;
}

/* One packet, which mixes with no other thread's. */
static void abort_job(int status)
{
    struct rt_wire m = { .type = RT_ABORT, .status = status };

    rt_wire_send(session, 0, &m, -1);
}

const struct rt_driver rt_launcher = {
    .open = open_launcher,
    .close = close_launcher,
    .put = put,
    .fence = fence,
    .missing = missing,
    .get = get,
    .host = host_of,
    .abort = abort_job,
    .share = share,
    .take = take,
};

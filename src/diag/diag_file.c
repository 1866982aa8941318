/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_STALL_FILE: the lines about blocked calls and the hang reports of this PE
 * as JSON, one object a line, for programs that watch jobs.  The log and the hang
 * report call it; a signal handler may be among them, so it calls nothing but
 * open, write and clock_gettime. */
#include "diag/diag_int.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A text of LINE_SIZE bytes and the rest; one with many bytes that are escaped
 * is cut.  It lies on a handler's stack, which may have 8 KiB in all. */
struct record {
    size_t n;
    char at[LINE_SIZE + 512];
};
enum { END = 8 };               /* room for the ends of a string and a record */

static void add(struct record *r, const char *text)
{
    size_t n = strlen(text);

    if (n > sizeof r->at - r->n)
        n = sizeof r->at - r->n;
    memcpy(r->at + r->n, text, n);
    r->n += n;
}

static void add_string(struct record *r, const char *key, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    add(r, key);
    add(r, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        char one[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], '\0' };
        bool control = c < ' ' || c == 127;

        if (!control) {
            one[1] = *text;
            one[2] = '\0';
        }
        if (r->n + sizeof one + END > sizeof r->at)
            break;
        add(r, control || c == '"' || c == '\\' ? one : one + 1);
    }
    add(r, "\"");
}

static void add_head(struct record *r)
{
    struct timespec now;
    struct line l;

    clock_gettime(CLOCK_REALTIME, &now);
    line_begin(&l);
    line_addf(&l, "{\"time\":%ld,\"pe\":%d,\"pid\":%d", (long)now.tv_sec,
              log_pe(), (int)getpid());
    add(r, l.at);
}

void diag_file_write(const char *kind, const char *text)
{
    struct record r;
    int saved = errno, fd;

    if (!env.STALL_FILE[0])
        return;
    fd = open(env.STALL_FILE, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) {
        r.n = 0;
        add_head(&r);
        add_string(&r, ",\"host\":", log_host());
        add_string(&r, ",\"kind\":", kind);
        add_string(&r, ",\"text\":", text);
        add(&r, "}\n");
        if (write(fd, r.at, r.n) < 0)
            errno = saved;      /* the same is on standard error */
        close(fd);
    }
    errno = saved;
}

static void note_stall(const char *text)
{
    diag_file_write("stall", text);
}

/* A file that cannot be written is reported now, not when a job hangs, and once
 * in a process: finalize opens it again. */
void diag_file_open(void)
{
    static const char *refused;
    int fd;

    log_stalled = NULL;
    if (!env.STALL_FILE[0])
        return;
    fd = open(env.STALL_FILE, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        if (refused != env.STALL_FILE)
            log_warn(ERR_ENV, "SHMEM_STALL_FILE: %s: %m", env.STALL_FILE);
        refused = env.STALL_FILE;
        return;
    }
    refused = NULL;
    close(fd);
    log_stalled = note_stall;
}

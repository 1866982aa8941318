/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - passes the output of the PEs on, line by line, without ever
 * blocking the supervisor.  loop.c calls it for each descriptor that is
 * ready; the contract is in stream.h. */
#include "stream.h"

#include "oshrun.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that poll() calls writable takes this much at once. */
#define PIECE 4096
/* A prompt or a progress line reaches the terminal after this long. */
#define TTY_MS 40
/* A terminal may have room for less than a character takes. */
#define RETRY_MS 10

/* ---- sinks ---- */

/* A terminal is writable as soon as it has any room, and then a write of more
 * waits: it gets an open file of its own, which the parent does not share. */
static int nonblocking_tty(int fd)
{
    char path[32];
    int own;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    return own < 0 ? fd : own;
}

void sink_open(struct sink *s, int fd)
{
    struct stat st;

    memset(s, 0, sizeof(*s));
    s->tty = isatty(fd);
    s->fd = s->tty ? nonblocking_tty(fd) : fd;
    s->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool sink_same(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino && x.st_rdev == y.st_rdev;
}

void sink_put(struct sink *s, const void *data, size_t len)
{
    if (s->error)
        return;
    if (s->tail + len > s->cap && s->head > 0) {
        memmove(s->data, s->data + s->head, s->tail - s->head);
        s->tail -= s->head;
        s->head = 0;
    }
    if (s->tail + len > s->cap) {
        s->cap = (s->tail + len) * 2;
        s->data = must(realloc(s->data, s->cap));
    }
    memcpy(s->data + s->tail, data, len);
    s->tail += len;
}

void sink_end_line(struct sink *s)
{
    if (s->open_line && (s->tty || s->open_line->fd < 0))
        sink_put(s, "\n", 1);
    s->open_line = NULL;
}

/* A descriptor that is shared with the parent process, as all but terminals', is
 * not made non-blocking; an error is writable, too: write() says which. */
static bool writable(const struct sink *s)
{
    struct pollfd p = { .fd = s->fd, .events = POLLOUT };

    return s->regular || poll(&p, 1, 0) > 0;
}

void sink_pump(struct sink *s)
{
    size_t len;
    ssize_t done;

    while (s->head < s->tail && !s->error && writable(s)) {
        len = s->tail - s->head;
        if (!s->regular && len > PIECE)
            len = PIECE;
        done = write(s->fd, s->data + s->head, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            s->retry_at = now_ms() + RETRY_MS;
            return;
        }
        if (done < 0) {
            s->error = errno;
            break;
        }
        s->head += (size_t)done;
        if (!s->regular)
            break;                  /* ask poll() again */
    }
    if (s->head == s->tail || s->error)
        s->head = s->tail = 0;
}

int64_t sink_watch(const struct sink *s, struct pollfd *p)
{
    bool full = sink_waiting(s) && s->retry_at > now_ms();

    p->fd = sink_waiting(s) && !full ? s->fd : -1;
    return full ? s->retry_at : INT64_MAX;
}

/* ---- sources ---- */

/* Pass on bytes that end a line or are the flushed part of one. */
static void emit(struct source *s, const char *data, size_t len)
{
    struct sink *k = s->sink;
    char tag[16];

    if (len == 0)
        return;
    if (k->open_line != s)
        sink_end_line(k);
    if (s->tag && s->at_line_start)
        sink_put(k, tag, (size_t)snprintf(tag, sizeof(tag), "[%d] ", s->pe));
    sink_put(k, data, len);
    s->at_line_start = data[len - 1] == '\n';
    k->open_line = s->at_line_start ? NULL : s;
}

static bool has_error_code(const char *line, size_t len)
{
    return len > 8 && memcmp(line, "sluice: ", 8) == 0 &&
           memmem(line, len, "[S-E-", 5);
}

static void pass_line(struct source *s, const char *line, size_t len)
{
    if (s->is_error && s->at_line_start && *line == 's') {
        if (has_error_code(line, len))
            s->printed_error = true;
        if (s->merge && merge_take(s->merge, s->pe, line, len))
            return;
    }
    emit(s, line, len);
}

/* Whole lines, len > 0 bytes: one by one where each is looked at. */
static void pass_lines(struct source *s, const char *data, size_t len)
{
    size_t n;

    if (!s->is_error && !s->tag) {
        emit(s, data, len);
        return;
    }
    for (; len; data += n, len -= n) {
        n = (size_t)((const char *)memchr(data, '\n', len) - data) + 1;
        pass_line(s, data, n);
    }
}

static void hold(struct source *s, const char *data, size_t len)
{
    if (len == 0)
        return;
    if (s->n_part + len > LINE_MAX_BYTES) {
        source_flush(s);
        if (len >= LINE_MAX_BYTES) {
            emit(s, data, len);
            return;
        }
    }
    s->part = must(realloc(s->part, s->n_part + len));
    memcpy(s->part + s->n_part, data, len);
    if (s->n_part == 0)
        s->part_since = now_ms();
    s->n_part += len;
}

static void take(struct source *s, const char *data, size_t len)
{
    const char *nl = memchr(data, '\n', len), *last;
    size_t first;

    if (nl && s->n_part) {          /* finish the line that waits */
        first = (size_t)(nl - data) + 1;
        s->part = must(realloc(s->part, s->n_part + first));
        memcpy(s->part + s->n_part, data, first);
        s->n_part += first;
        pass_lines(s, s->part, s->n_part);
        s->n_part = 0;
        data += first;
        len -= first;
    }
    last = len ? memrchr(data, '\n', len) : NULL;
    if (last) {
        pass_lines(s, data, (size_t)(last - data) + 1);
        len -= (size_t)(last - data) + 1;
        data = last + 1;
    }
    hold(s, data, len);
}

bool source_read(struct source *s)
{
    static char buf[LINE_MAX_BYTES];
    ssize_t n;

    if (s->fd < 0)
        return false;
    n = read(s->fd, buf, sizeof(buf));
    if (n > 0) {
        s->has_output = true;
        take(s, buf, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    source_close(s);                /* a pseudo-terminal ends with EIO */
    return false;
}

void source_flush(struct source *s)
{
    size_t n = s->n_part;

    s->n_part = 0;
    if (n && s->part[n - 1] == '\n')
        pass_lines(s, s->part, n);
    else if (n)
        emit(s, s->part, n);
}

int64_t source_due(const struct source *s)
{
    return s->n_part && s->sink->tty ? s->part_since + TTY_MS : INT64_MAX;
}

void source_close(struct source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    source_flush(s);
    free(s->part);
    s->part = NULL;
}

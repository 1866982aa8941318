/* SPDX-License-Identifier: BSD-3-Clause */
/* say.c - say() prints one line of oshrun's own.  Behind it are small helpers
 * that every file of oshrun uses: must() and alloc_printf(), which end the
 * process without memory, the clock, lists of PEs. */
#include "oshrun.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void (*message_sink)(const char *line, size_t len);

void redirect_messages(void (*put)(const char *line, size_t len))
{
    message_sink = put;
}

void say(const char *code, const char *fmt, ...)
{
    char line[2048];
    size_t n, room = sizeof(line) - 32;     /* the code always fits */
    va_list ap;
    int w;

    n = (size_t)snprintf(line, room, "oshrun: ");
    va_start(ap, fmt);
    w = vsnprintf(line + n, room - n, fmt, ap);
    va_end(ap);
    if (w > 0)
        n += (size_t)w < room - n ? (size_t)w : room - n - 1;
    if (code)
        n += (size_t)snprintf(line + n, sizeof(line) - n - 1, " [%s]", code);
    for (size_t i = 0; i < n; i++)          /* what users pass may hold newlines */
        if ((unsigned char)line[i] < ' ')
            line[i] = '?';
    line[n++] = '\n';
    if (message_sink)
        message_sink(line, n);
    else if (write(STDERR_FILENO, line, n) < 0)
        return;                             /* the last descriptor is closed */
}

/* The limit of the control group, as its file says, or "". */
static const char *pids_max(void)
{
    static char text[32];
    char line[512], path[600];
    FILE *f = fopen("/proc/self/cgroup", "re");

    while (f && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) != 0)
            continue;
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/pids.max", line + 3);
        fclose(f);
        f = fopen(path, "re");
        if (f && fgets(text, sizeof(text), f))
            text[strcspn(text, "\n")] = '\0';
        break;
    }
    if (f)
        fclose(f);
    return text;
}

void print_process_limit(int err, const char *fmt, ...)
{
    const char *group = pids_max();
    char user[32] = "unlimited", what[128];
    struct rlimit l;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    if (getrlimit(RLIMIT_NPROC, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
        snprintf(user, sizeof(user), "%llu", (unsigned long long)l.rlim_cur);
    say("S-E-LIMIT", "cannot start %s: %s; processes allowed: %s for this "
        "user (ulimit -u)%s%s%s", what, strerror(err), user,
        *group ? ", " : "", group, *group ? " in this cgroup (pids.max)" : "");
}

void *must(void *ptr)
{
    if (!ptr) {
        bool supervises = message_sink;

        message_sink = NULL;                /* which takes memory */
        say("S-E-MEM", "out of memory: %m");
        if (supervises)                     /* oshrun then ends all processes */
            raise(SIGKILL);
        exit(EXIT_FAILURE);
    }
    return ptr;
}

char *alloc_printf(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    int w;

    va_start(ap, fmt);
    w = vasprintf(&text, fmt, ap);
    va_end(ap);
    return must(w < 0 ? NULL : text);
}

int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void host_name(char *buf, size_t size)
{
    if (gethostname(buf, size) < 0)
        snprintf(buf, size, "localhost");
    buf[size - 1] = '\0';
}

void pe_list(char *buf, size_t size, const bool *set, int n)
{
    size_t len = 0;
    int i, end;

    buf[0] = '\0';
    for (i = 0; i < n; i = end + 1) {
        end = i;
        if (!set[i])
            continue;
        while (end + 1 < n && set[end + 1])
            end++;
        if (size - len < 32) {
            snprintf(buf + len, size - len, ",...");
            return;
        }
        len += (size_t)snprintf(buf + len, size - len, len ? ",%d" : "%d", i);
        if (end > i)
            len += (size_t)snprintf(buf + len, size - len, "-%d", end);
    }
}

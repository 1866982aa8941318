/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks another process for its hang report.  Called by oshrun and shmem_info.
 * Sends a signal to the one thread that waits for it, never to the process;
 * shmem_top wakes that thread. */
#include "base/report_request.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_named(pid_t pid, const char *thread, const char *wanted)
{
    char path[64], name[32];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%.20s/comm", (int)pid, thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, name, sizeof name);
    close(fd);
    return n == (ssize_t)strlen(wanted) + 1 && name[n - 1] == '\n' &&
           !memcmp(name, wanted, strlen(wanted));
}

/* The number of the thread, or 0. */
static int thread_named(pid_t pid, const char *name)
{
    char path[32];
    struct dirent *e;
    int thread = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d && !thread && (e = readdir(d)))
        if (e->d_name[0] != '.' && is_named(pid, e->d_name, name))
            thread = atoi(e->d_name);
    if (d)
        closedir(d);
    return thread;
}

bool report_request_process(pid_t pid)
{
    int thread = thread_named(pid, REPORT_THREAD);

    return thread && !syscall(SYS_tgkill, pid, thread, REPORT_SIGNAL);
}

bool report_wake_process(pid_t pid)
{
    siginfo_t info = { .si_signo = REPORT_SIGNAL, .si_code = SI_QUEUE };
    int thread = thread_named(pid, REPORT_THREAD);

    if (!thread)
        thread = thread_named(pid, WATCHDOG_THREAD);
    info.si_pid = getpid();
    info.si_uid = getuid();
    return thread && !syscall(SYS_rt_tgsigqueueinfo, pid, thread, REPORT_SIGNAL,
                              &info);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks another process for its hang report.  Called by oshrun and shmem_info.
 * Sends a signal to the one thread that waits for it, never to the process. */
#include "base/report_request.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_named(pid_t pid, const char *thread)
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
    return n == sizeof REPORT_THREAD &&
           !memcmp(name, REPORT_THREAD "\n", sizeof REPORT_THREAD);
}

bool report_request_process(pid_t pid)
{
    char path[32];
    struct dirent *e;
    bool requested = false;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d && !requested && (e = readdir(d)))
        if (e->d_name[0] != '.' && is_named(pid, e->d_name))
            requested = !syscall(SYS_tgkill, pid, atoi(e->d_name),
                                 REPORT_SIGNAL);
    if (d)
        closedir(d);
    return requested;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - finds and signals every descendant of the calling process by reading
 * /proc.  Both processes of oshrun call it when a job ends; the contract is in
 * tree.h. */
#include "tree.h"

#include "oshrun.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum relation { UNKNOWN, UNRELATED, DESCENDANT };

struct proc {
    pid_t pid, parent;
    bool dead;                      /* a zombie, waiting for its parent */
    enum relation relation;
};

struct procs {
    struct proc *at;
    size_t n;
};

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

/* "<pid> (<name>) <state> <parent> ...", where the name may hold anything:
 * from its end, or NULL. */
static char *stat_text(const char *path, char *text, size_t size)
{
    char *p = read_text(path, text, size) ? strrchr(text, ')') : NULL;

    return p && strlen(p) >= 5 ? p : NULL;
}

static bool read_stat(const char *pid, struct proc *out)
{
    char path[64], text[512], *p;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    p = stat_text(path, text, sizeof(text));
    if (!p)
        return false;
    out->pid = (pid_t)atoi(pid);
    out->dead = p[2] == 'Z' || p[2] == 'X';
    out->parent = (pid_t)atoi(p + 4);
    out->relation = UNKNOWN;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct proc *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void read_all(struct procs *all)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    size_t cap = 0;

    all->at = NULL;
    all->n = 0;
    while (dir && (e = readdir(dir))) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        if (all->n == cap) {
            cap = cap ? 2 * cap : 256;
            all->at = must(realloc(all->at, cap * sizeof(*all->at)));
        }
        if (read_stat(e->d_name, &all->at[all->n]))
            all->n++;
    }
    if (dir)
        closedir(dir);
    if (all->n)
        qsort(all->at, all->n, sizeof(*all->at), by_pid);
}

/* Walk up to an ancestor whose relation is known, then mark the way. */
static enum relation relation_of(struct procs *all, struct proc *p)
{
    struct proc key, *up;

    if (p->relation != UNKNOWN)
        return p->relation;
    p->relation = UNRELATED;              /* ends a loop of reused numbers */
    key.pid = p->parent;
    if (p->parent == getpid())
        p->relation = DESCENDANT;
    else if ((up = bsearch(&key, all->at, all->n, sizeof(key), by_pid)))
        p->relation = relation_of(all, up);
    return p->relation;
}

int tree_signal(int sig)
{
    struct procs all;
    int alive = 0;

    read_all(&all);
    for (size_t i = 0; i < all.n; i++) {
        if (relation_of(&all, &all.at[i]) != DESCENDANT || all.at[i].dead)
            continue;
        alive++;
        kill(all.at[i].pid, sig);
    }
    free(all.at);
    return alive;
}

int tree_kill(int ms)
{
    int64_t end = now_ms() + ms;
    int alive;

    for (;;) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return 0;
        alive = tree_signal(SIGKILL);
        if (now_ms() >= end)
            return alive;
        usleep(2000);
    }
}

/* ---- one process ---- */

/* As in linux/sched.h: it leaves the kernel no more; by a signal. */
enum { PF_EXITING = 0x4, PF_SIGNALED = 0x400 };

int64_t tree_started(pid_t pid)
{
    char path[64], text[512], *p;
    long long at;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    p = stat_text(path, text, sizeof(text));
    return p && sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                       "%*u %*d %*d %*d %*d %*d %*d %lld", &at) == 1 ? at : -1;
}

static bool mask_has(const char *status, const char *mask, int sig)
{
    const char *p = strstr(status, mask);

    return p && strtoull(p + strlen(mask), NULL, 16) >> (sig - 1) & 1;
}

static bool kill_pends(const char *task)
{
    char path[340], text[4096];

    snprintf(path, sizeof(path), "%s/status", task);
    return read_text(path, text, sizeof(text)) &&
           mask_has(text, "\nSigPnd:", SIGKILL);
}

/* Of a process or thread by its directory in /proc. */
enum life { RUNS, IS_ENDING, HAS_ENDED };

static enum life life_of(const char *task)
{
    char path[340], text[512], state, *p;
    unsigned flags;

    snprintf(path, sizeof(path), "%s/stat", task);
    p = stat_text(path, text, sizeof(text));
    if (!p)
        return HAS_ENDED;           /* meanwhile */
    if (sscanf(p + 2, "%c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return RUNS;
    return state == 'Z' || state == 'X' ? HAS_ENDED
           : flags & (PF_EXITING | PF_SIGNALED) || kill_pends(task) ? IS_ENDING
                                                                    : RUNS;
}

bool tree_process_is_ending(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return life_of(path) == IS_ENDING;
}

bool tree_process_runs(pid_t pid, int64_t started)
{
    char path[64], task[324];
    struct dirent *e;
    bool runs = false;
    DIR *dir;

    if (kill(pid, 0) < 0 && errno == ESRCH)
        return false;
    if (started >= 0 && tree_started(pid) != started)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return errno != ENOENT || started < 0;
    /* The first thread may end before the others. */
    while (!runs && (e = readdir(dir)))
        if (isdigit((unsigned char)e->d_name[0])) {
            snprintf(task, sizeof(task), "%s/%s", path, e->d_name);
            runs = life_of(task) == RUNS;
        }
    closedir(dir);
    return runs;
}

bool tree_process_is_stopped(pid_t pid)
{
    char path[64], text[512], *p;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    p = stat_text(path, text, sizeof(text));
    return p && (p[2] == 'T' || p[2] == 't');
}

bool tree_process_takes(pid_t pid, int sig)
{
    char path[64], text[4096];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    return read_text(path, text, sizeof(text)) &&
           (mask_has(text, "\nSigCgt:", sig) ||
            mask_has(text, "\nSigIgn:", sig));
}

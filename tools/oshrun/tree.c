/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - see tree.h. */
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

enum kin { UNKNOWN, STRANGER, DESCENDANT };

struct proc {
    pid_t pid, parent;
    bool dead;                      /* a zombie, waiting for its parent */
    enum kin kin;
};

struct procs {
    struct proc *at;
    size_t n;
};

/* "<pid> (<name>) <state> <parent> ...", where the name may hold anything. */
static bool read_stat(const char *pid, struct proc *out)
{
    char path[64], text[512], *p;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    p = strrchr(text, ')');
    if (!p || strlen(p) < 5)
        return false;
    out->pid = (pid_t)atoi(pid);
    out->dead = p[2] == 'Z' || p[2] == 'X';
    out->parent = (pid_t)atoi(p + 4);
    out->kin = UNKNOWN;
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

/* Walk up to an ancestor whose kin is known, then mark the way. */
static enum kin kin_of(struct procs *all, struct proc *p)
{
    struct proc key, *up;

    if (p->kin != UNKNOWN)
        return p->kin;
    p->kin = STRANGER;              /* ends a loop of reused numbers */
    key.pid = p->parent;
    if (p->parent == getpid())
        p->kin = DESCENDANT;
    else if ((up = bsearch(&key, all->at, all->n, sizeof(key), by_pid)))
        p->kin = kin_of(all, up);
    return p->kin;
}

int tree_signal(int sig)
{
    struct procs all;
    int alive = 0;

    read_all(&all);
    for (size_t i = 0; i < all.n; i++) {
        if (kin_of(&all, &all.at[i]) != DESCENDANT || all.at[i].dead)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - shmem_top finds the PEs of this host: processes with a descriptor of
 * a status page.  main.c calls it now and then; it sends no request. */
#include "top.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_page(const char *path)
{
    static const char name[] = "/memfd:" STATUS_NAME;
    char target[64];
    ssize_t n = readlink(path, target, sizeof target);

    return n >= (ssize_t)sizeof name - 1 &&
           !memcmp(target, name, sizeof name - 1);
}

/* NULL: it is none, of another version, or inherited from the process that it
 * describes. */
static struct status_page *map_page(const char *path, int pid)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct status_page *p = MAP_FAILED;
    struct stat st;

    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && st.st_size == sizeof *p)
        p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return NULL;
    if (!memcmp(p->magic, STATUS_MAGIC, sizeof STATUS_MAGIC) &&
        p->size == sizeof *p && p->pid == (uint32_t)pid)
        return p;
    munmap(p, sizeof *p);
    return NULL;
}

static struct status_page *page_of(int pid)
{
    char folder[32], path[64];
    struct status_page *page = NULL;
    struct dirent *e;
    DIR *d;

    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    d = opendir(folder);
    while (d && !page && (e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%.20s", folder, e->d_name);
        if (is_page(path))
            page = map_page(path, pid);
    }
    if (d)
        closedir(d);
    return page;
}

static bool is_known(const struct pes *all, int pid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].pid == pid)
            return true;
    return false;
}

static void add(struct pes *all, int pid)
{
    struct status_page *page = is_known(all, pid) ? NULL : page_of(pid);
    struct pe *at;

    if (!page)
        return;
    at = realloc(all->at, (all->n + 1) * sizeof *at);
    if (!at) {
        munmap(page, sizeof *page);
        return;
    }
    all->at = at;
    memset(&at[all->n], 0, sizeof *at);
    at[all->n].pid = pid;
    at[all->n++].page = page;
}

static int by_job_and_pe(const void *a, const void *b)
{
    const struct pe *x = a, *y = b;
    int by_job = memcmp(x->page->job, y->page->job, STATUS_JOB);

    /* Jobs of one process have no name. */
    if (!by_job && x->page->n_pes == 1 && y->page->n_pes == 1)
        return x->pid < y->pid ? -1 : x->pid > y->pid;
    return by_job ? by_job : x->page->pe < y->page->pe ? -1
                             : x->page->pe > y->page->pe;
}

void find_pes(struct pes *all, const int *pids)
{
    struct dirent *e;
    DIR *d = pids ? NULL : opendir("/proc");

    for (; pids && *pids; pids++)
        add(all, *pids);
    while (d && (e = readdir(d)))
        if (atoi(e->d_name) > 0)
            add(all, atoi(e->d_name));
    if (d)
        closedir(d);
    if (all->n)
        qsort(all->at, all->n, sizeof *all->at, by_job_and_pe);
}

void forget_ended(struct pes *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (all->at[i].state && all->at[i].state != 'Z')
            all->at[n++] = all->at[i];
        else
            munmap(all->at[i].page, sizeof *all->at[i].page);
    }
    all->n = n;
}

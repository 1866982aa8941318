/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all PEs of a machine that use a NIC share, also those that SHMEM_PPN
 * counts as other nodes: its counters, and the entries of deferred work that
 * are reserved for them.  A file that they map has a place for each process;
 * what a process took that died is free, as the driver frees it.  The name of
 * the file has the job's, of oshrun's variables.
 */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 256 };

struct place {
    _Atomic int pid;
    atomic_long used[CXI_SHARED];
};

struct cxi_nic_use {
    struct place *all, *mine;
    int fd, refs;
    char name[200], nic[16];
    struct cxi_nic_use *next;
};

/* A process has one place on a NIC, however often it opens that. */
static struct cxi_nic_use *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void name_file(char *out, size_t size, const char *nic)
{
    const char *job = getenv("SLUICE_JOB"), *dir = getenv("TMPDIR");
    char alone[24];

    snprintf(alone, sizeof alone, "%d", (int)getpid());
    snprintf(out, size, "%s/fake-cxi-%d-%s-%s", dir && *dir ? dir : "/tmp",
             (int)getuid(), job ? job : alone, nic);
}

static bool lives(int pid)
{
    return pid && (!kill(pid, 0) || errno != ESRCH);
}

/* Under the file's lock. */
static struct place *take_place(struct place *all)
{
    for (int i = 0; i < PLACES; i++)
        if (!lives(atomic_load(&all[i].pid))) {
            for (int w = 0; w < CXI_SHARED; w++)
                atomic_store(&all[i].used[w], 0);
            atomic_store(&all[i].pid, getpid());
            return &all[i];
        }
    return NULL;
}

static int map_file(struct cxi_nic_use *u)
{
    size_t size = PLACES * sizeof *u->all;

    u->fd = open(u->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (u->fd < 0 || flock(u->fd, LOCK_EX) || ftruncate(u->fd, (off_t)size))
        return -FI_EINVAL;
    u->all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, 0);
    if (u->all == MAP_FAILED)
        return -FI_ENOMEM;
    u->mine = take_place(u->all);
    flock(u->fd, LOCK_UN);
    return u->mine ? 0 : -FI_ENOSPC;
}

int cxi_use_open(const char *nic, struct cxi_nic_use **out)
{
    struct cxi_nic_use *u;
    int rc = 0;

    pthread_mutex_lock(&lock);
    for (u = first; u && strcmp(u->nic, nic); u = u->next)
        ;
    if (!u) {
        u = calloc(1, sizeof *u);
        if (!u)
            abort();
        snprintf(u->nic, sizeof u->nic, "%s", nic);
        name_file(u->name, sizeof u->name, nic);
        rc = map_file(u);
        u->next = first;
        first = u;
    }
    u->refs++;
    pthread_mutex_unlock(&lock);
    if (rc)
        cxi_use_close(u);
    else
        *out = u;
    return rc;
}

/* The last one takes the file away. */
void cxi_use_close(struct cxi_nic_use *u)
{
    struct cxi_nic_use **at;
    bool others = false;

    pthread_mutex_lock(&lock);
    if (!--u->refs) {
        for (at = &first; *at != u; at = &(*at)->next)
            ;
        *at = u->next;
        flock(u->fd, LOCK_EX);
        if (u->mine)
            atomic_store(&u->mine->pid, 0);
        for (int i = 0; u->mine && i < PLACES; i++)
            others |= lives(atomic_load(&u->all[i].pid));
        if (!others)
            unlink(u->name);
        if (u->mine)
            munmap(u->all, PLACES * sizeof *u->all);
        close(u->fd);
        free(u);
    }
    pthread_mutex_unlock(&lock);
}

long cxi_used(struct cxi_nic_use *u, enum cxi_what what)
{
    long sum = 0;

    for (int i = 0; i < PLACES; i++)
        if (&u->all[i] == u->mine || lives(atomic_load(&u->all[i].pid)))
            sum += atomic_load(&u->all[i].used[what]);
    return sum;
}

/* The provider keeps 8 of the entries that are reserved, and the difference is
 * an int before it is a size. */
static int left_of_reserved(void)
{
    return (int)cxi_env("FAKE_CXI_RESERVED",
                        8 + cxi_env("FAKE_CXI_DEPTH", 500)) - 8;
}

size_t cxi_depth(void)
{
    return (size_t)left_of_reserved();
}

long cxi_most(struct cxi_nic_use *u, enum cxi_what what)
{
    (void)u;
    return what == CXI_CNTRS ? cxi_env("FAKE_CXI_CNTRS", 2047)
           : left_of_reserved() > 0 ? left_of_reserved() : 0;
}

/* Two that take the last one at a time both see that it is too much. */
int cxi_use(struct cxi_nic_use *u, enum cxi_what what, long n)
{
    atomic_fetch_add(&u->mine->used[what], n);
    if (n <= 0 || cxi_used(u, what) <= cxi_most(u, what))
        return 0;
    atomic_fetch_sub(&u->mine->used[what], n);
    return -FI_ENOSPC;
}

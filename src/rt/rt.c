/* SPDX-License-Identifier: BSD-3-Clause */
/* rt.c - the part that all drivers share: the choice of one, the PEs of a node,
 * a job of one PE, the end of the process.  Upper layers call it (rt.h); only
 * rt_abort() ends the process. */
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "rt/rt_wire.h"
#include "base/crash.h"
#include "base/env.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct rt_job rt_job;
struct rt_counts rt_counts;

static const struct rt_driver *driver;  /* NULL: not open, or a job of one PE */

void rt_open_singleton(void)
{
    static int only[1];

    rt_job.pe = 0;
    rt_job.n_pes = 1;
    rt_job.local = 0;
    rt_job.n_local = 1;
    rt_job.one_machine = true;
    rt_job.local_pes = only;
    rt_job.launched = false;
}

bool rt_inherited(const char *name, const char *value)
{
    char *line = NULL;
    size_t cap = 0, len = strlen(name);
    FILE *f = fopen("/proc/self/environ", "re");
    bool found = false;

    while (f && !found && getdelim(&line, &cap, '\0', f) > 0)
        found = !strncmp(line, name, len) && line[len] == '=' &&
                !strcmp(line + len + 1, value);
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* The PEs of the list that share SHMEM_PPN's group with this one. */
int rt_keep_group(int *pes, int all)
{
    int n = 0;

    rt_job.local = -1;
    for (int i = 0; i < all; i++) {
        if (env.PPN && pes[i] / env.PPN != rt_job.pe / env.PPN)
            continue;
        if (pes[i] == rt_job.pe)
            rt_job.local = n;
        pes[n++] = pes[i];
    }
    if (rt_job.local < 0) {
        free(pes);
        return -ESRCH;
    }
    rt_job.local_pes = pes;
    rt_job.n_local = n;
    rt_job.one_machine = all == rt_job.n_pes;
    return 0;
}

const char *rt_pmi2_why;

/* oshrun's own variables come first: MPI_Init of a program that oshrun has
 * started puts the PMIx variables of a job of one process into the
 * environment.  Launchers that have PMIx may have PMI-2 as well. */
static const struct rt_driver *choose(void)
{
    if (rt_launcher_invites())
        return &rt_launcher;
    if (!env_foreign("PMIX_NAMESPACE") && rt_pmi2_invites() &&
        !rt_pmi2_begin(&rt_pmi2_why))
        return &rt_pmi2;
    return &rt_pmix;
}

int rt_open(void)
{
    const struct rt_driver *d = choose();
    int rc = d->open();

    rt_counts = (struct rt_counts){ 0 };
    if (!rc && rt_job.launched)
        driver = d;
    return rc;
}

const char *rt_job_name(void)
{
    static const char *const names[] = { RT_JOB_NAME, "PMIX_NAMESPACE",
                                         "PMI_JOBID", "SLURM_STEP_ID" };
    const char *job = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !job; i++)
        job = driver ? env_foreign(names[i]) : NULL;
    return job;
}

void rt_close(void)
{
    if (driver) {
        free(rt_job.local_pes);
        driver->close();
    }
    driver = NULL;
    rt_job.local_pes = NULL;
    rt_job.launched = false;
}

int rt_put(const char *key, const void *value, size_t size)
{
    rt_counts.puts++;
    rt_counts.put_bytes += size;
    return driver ? driver->put(key, value, size, false) : 0;
}

int rt_put_on_node(const char *key, const void *value, size_t size)
{
    rt_counts.puts++;
    rt_counts.node_bytes += size;
    return driver ? driver->put(key, value, size, true) : 0;
}

void (*rt_fence_watch)(bool begins);

int rt_fence(void)
{
    int rc;

    rt_counts.fences++;
    if (!driver)
        return 0;
    if (rt_fence_watch)
        rt_fence_watch(true);
    rc = driver->fence();
    if (rt_fence_watch)
        rt_fence_watch(false);
    return rc;
}

int rt_fence_missing(char *out, size_t size)
{
    return driver && driver->missing ? driver->missing(out, size) : -ENOTSUP;
}

/* The thread of the network asks, too. */
static void count(uint64_t *to, uint64_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

int rt_get_some(int pe, const char *key, void *out, size_t size, size_t *got)
{
    int rc = driver ? driver->get(pe, key, out, size, got) : -ENOENT;

    count(&rt_counts.gets, 1);
    if (!rc)
        count(&rt_counts.got_bytes, got ? *got : size);
    return rc;
}

int rt_get(int pe, const char *key, void *out, size_t size)
{
    return rt_get_some(pe, key, out, size, NULL);
}

bool rt_host(int pe, char *out, size_t size)
{
    return driver && driver->host(pe, out, size);
}

bool rt_shares(void)
{
    return driver && driver->share;
}

int rt_share(int fd, int takers)
{
    return driver->share(fd, takers);
}

int rt_take(int pe, int *out)
{
    return driver->take(pe, out);
}

void rt_await_end(void)
{
    const struct timespec patience = { .tv_sec = 1 };

    if (driver)
        nanosleep(&patience, NULL);
}

static bool flushed;

/* On a thread of its own, which is left where it has to wait: for the holder of
 * stdout, maybe the caller itself, in a signal handler; or for a reader.
 * Other streams come second: some thread may be reading one of them. */
static void *flush(void *arg)
{
    if (!ftrylockfile(stdout)) {
        fflush(stdout);
        funlockfile(stdout);
    }
    fflush(NULL);
    __atomic_store_n(&flushed, true, __ATOMIC_RELEASE);
    return arg;
}

/* The output of the program before an error shows how the error came about. */
static void flush_output(void)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    pthread_t thread;

    __atomic_store_n(&flushed, false, __ATOMIC_RELAXED);
    if (thread_start(&thread, flush, NULL))
        return;
    for (int i = 0; i < 2500 && !__atomic_load_n(&flushed, __ATOMIC_ACQUIRE);
         i++)
        nanosleep(&pause, NULL);
    if (__atomic_load_n(&flushed, __ATOMIC_ACQUIRE))
        pthread_join(thread, NULL);     /* it only has to end */
    else
        pthread_detach(thread);
}

void rt_abort(int status)
{
    flush_output();
    if (driver)
        driver->abort(status);
    /* The system keeps 8 bits: 256 must not look like success. */
    _exit(status && !(status & 0xff) ? EXIT_FAILURE : status);
}

void rt_fail(void)
{
    crash_on_error();
    rt_abort(EXIT_FAILURE);
}

void rt_leave(int status)
{
    _exit(status);
}

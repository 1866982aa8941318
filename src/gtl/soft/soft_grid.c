/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_grid.c - kernels of the software device: the stream's thread and the
 * threads of a pool, one for each further core, take the groups of a grid one
 * after the other. A stream always runs its own grid, so a kernel that
 * occupies the pool holds up no other stream.
 *
 * Groups that must be resident together may wait for each other by a plain
 * loop, so each of them needs a thread that the system's scheduler runs:
 * fibres could not be preempted in such a loop. The pool has these threads
 * besides those of the cores, and a stream reserves its share of them at the
 * launch, for as long as it has such grids: a launched grid always finds its
 * threads, and resident grids of several streams may wait for each other, too.
 */
#include "gtl/soft/soft_int.h"
#include "gtl/gtl_item.h"
#include "base/env.h"
#include "base/list.h"
#include "base/lock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HELPERS_MOST = 63 };

struct job {
    struct list_link link;
    const struct shmemx_grid *grid;
    gtl_kernel *body;
    void *arg;
    unsigned next;              /* the next group to be taken */
    unsigned wanted;            /* residents that have not come yet */
    unsigned helpers;           /* at work on it */
};

struct resident {
    struct resident *next;
    pthread_t thread;
    char *scratch;
};

static struct pool {
    struct base_lock lock;
    pthread_cond_t more, wanted, left;
    struct list_link jobs;
    bool open, stop;
    unsigned n;
    pthread_t threads[HELPERS_MOST];
    char *scratch;              /* GTL_SOFT_SCRATCH for each */
    struct resident *residents;
    unsigned n_residents;
    unsigned groups, streams;   /* that are reserved, and by so many */
} pool = {
    .lock = LOCK_INIT, .more = PTHREAD_COND_INITIALIZER,
    .wanted = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER,
    .jobs = LIST_INIT(pool.jobs)
};

__thread const struct shmemx_item *gtl_item;
__thread const void *gtl_item_grid;
__thread unsigned gtl_item_groups;

static void run_group(const struct job *j, unsigned group, void *scratch)
{
    const struct shmemx_grid *g = j->grid;
    struct shmemx_item it = {
        .group = group, .groups = g->groups, .items = g->items,
        .scratch = scratch
    };

    if (g->scratch)
        memset(scratch, 0, g->scratch);
    gtl_item_groups++;
    gtl_item_grid = j;
    gtl_item = &it;
    for (it.phase = 0; it.phase < g->phases; it.phase++)
        for (it.item = 0; it.item < g->items; it.item++)
            j->body(&it, j->arg);
    gtl_item = NULL;
}

bool gtl_item_describe_grid(const void *grid, char *text, size_t size)
{
    const struct job *j = grid;
    unsigned begun = __atomic_load_n(&j->next, __ATOMIC_RELAXED);

    if (begun >= j->grid->groups || j->grid->resident)
        return false;
    snprintf(text, size, "%u of %u groups of its grid have not begun: groups "
             "that wait for each other need shmemx_grid_t.resident",
             j->grid->groups - begun, j->grid->groups);
    return true;
}

static void take_groups(struct job *j, void *scratch)
{
    unsigned group;

    for (;;) {
        group = __atomic_load_n(&j->next, __ATOMIC_RELAXED);
        do {
            if (group >= j->grid->groups)
                return;
        } while (!__atomic_compare_exchange_n(&j->next, &group, group + 1,
                                              false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED));
        run_group(j, group, scratch);
    }
}

static struct job *find_job(bool resident)
{
    struct list_link *pos, *tmp;

    list_each(pos, tmp, &pool.jobs) {
        struct job *j = list_entry(pos, struct job, link);

        if (resident && !j->wanted)
            continue;
        if (__atomic_load_n(&j->next, __ATOMIC_RELAXED) < j->grid->groups)
            return j;
    }
    return NULL;
}

static void work(bool resident, char *scratch)
{
    struct job *j;

    lock_acquire(&pool.lock);
    while (!pool.stop) {
        j = find_job(resident);
        if (!j) {
            pthread_cond_wait(resident ? &pool.wanted : &pool.more,
                              &pool.lock.mutex);
            continue;
        }
        j->helpers++;
        j->wanted -= resident;
        lock_release(&pool.lock);
        take_groups(j, scratch);
        lock_acquire(&pool.lock);
        if (--j->helpers == 0)
            pthread_cond_broadcast(&pool.left);
    }
    lock_release(&pool.lock);
}

static void *help(void *scratch)
{
    work(false, scratch);
    return NULL;
}

static void *reside(void *scratch)
{
    work(true, scratch);
    return NULL;
}

static unsigned further_cores(void)
{
    cpu_set_t set;
    int n = 1;

    if (!sched_getaffinity(0, sizeof set, &set))
        n = CPU_COUNT(&set);
    return n > HELPERS_MOST ? HELPERS_MOST : (unsigned)n - 1;
}

/* With fewer threads, or none, kernels run all the same. */
void gtl_soft_grid_open(void)
{
    unsigned want;
    void *p;

    if (likely(__atomic_load_n(&pool.open, __ATOMIC_RELAXED)))
        return;
    lock_acquire(&pool.lock);
    want = further_cores();
    if (pool.open)
        goto unlock;
    __atomic_store_n(&pool.open, true, __ATOMIC_RELAXED);
    pool.stop = false;
    if (!want)
        goto unlock;
    p = mmap(NULL, want * GTL_SOFT_SCRATCH, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        goto unlock;
    pool.scratch = p;
    for (pool.n = 0; pool.n < want; pool.n++)
        if (gtl_soft_thread(&pool.threads[pool.n], help,
                            pool.scratch + pool.n * GTL_SOFT_SCRATCH))
            break;
    if (pool.n < want)          /* helpers never use what is behind theirs */
        munmap(pool.scratch + pool.n * GTL_SOFT_SCRATCH,
               (want - pool.n) * GTL_SOFT_SCRATCH);
unlock:
    lock_release(&pool.lock);
}

/* ---- groups that are resident together ---- */

static void *scratch_new(void)
{
    void *p = mmap(NULL, GTL_SOFT_SCRATCH, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static bool add_resident(void) REQUIRES(pool.lock)
{
    struct resident *r = malloc(sizeof *r);

    if (!r)
        return false;
    r->scratch = scratch_new();
    if (!r->scratch)
        goto free_r;
    if (gtl_soft_thread(&r->thread, reside, r->scratch))
        goto unmap;
    r->next = pool.residents;
    pool.residents = r;
    pool.n_residents++;
    return true;
unmap:
    munmap(r->scratch, GTL_SOFT_SCRATCH);
free_r:
    free(r);
    return false;
}

static int too_many(unsigned groups, const char *limit)
{
    char text[128];

    snprintf(text, sizeof text,
             "a grid asks for %u resident groups, and %s", groups,
             limit);
    return gtl_fail(-ENOSPC, "launch", text, 0);
}

/* A stream runs a grid at a time, so the largest counts. */
int gtl_soft_grid_reserve(struct gtl_soft_resident_share *share,
                          unsigned groups, uint64_t grids)
{
    unsigned most = (unsigned)env.DEVICE_RESIDENT, more, streams;
    char limit[80];
    int rc = 0;

    lock_acquire(&pool.lock);
    pool.stop = false;
    more = groups > share->groups ? groups - share->groups : 0;
    streams = pool.streams + !share->groups;
    if (more > most - pool.groups) {
        snprintf(limit, sizeof limit, "%u of %u are free: raise "
                 "SHMEM_DEVICE_RESIDENT", most - pool.groups + share->groups,
                 most);
        rc = too_many(groups, limit);
        goto unlock;
    }
    /* The stream's own thread is one of them. */
    while (pool.n_residents < pool.groups + more - streams)
        if (!add_resident()) {
            snprintf(limit, sizeof limit, "the system has threads for %u: "
                     "raise ulimit -u or -v", pool.n_residents + 1);
            rc = too_many(groups, limit);
            goto unlock;
        }
    pool.groups += more;
    pool.streams = streams;
    share->groups += more;
    share->grids += grids;
unlock:
    lock_release(&pool.lock);
    return rc;
}

static void release(struct gtl_soft_resident_share *share) REQUIRES(pool.lock)
{
    if (--share->grids)
        return;
    pool.groups -= share->groups;
    pool.streams--;
    share->groups = 0;
}

void gtl_soft_grid_unreserve(struct gtl_soft_resident_share *share,
                             uint64_t grids)
{
    lock_acquire(&pool.lock);
    share->grids -= grids - 1;
    release(share);
    lock_release(&pool.lock);
}

static void close_residents(void)
{
    struct resident *r, *next;

    for (r = pool.residents; r; r = next) {
        next = r->next;
        pthread_join(r->thread, NULL);
        munmap(r->scratch, GTL_SOFT_SCRATCH);
        free(r);
    }
    pool.residents = NULL;
    pool.n_residents = pool.groups = pool.streams = 0;
}

/* ---- a grid ---- */

void gtl_soft_grid_close(void)
{
    lock_acquire(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.more);
    pthread_cond_broadcast(&pool.wanted);
    lock_release(&pool.lock);
    for (unsigned i = 0; i < pool.n; i++)
        pthread_join(pool.threads[i], NULL);
    if (pool.n)
        munmap(pool.scratch, pool.n * GTL_SOFT_SCRATCH);
    close_residents();
    pool.n = 0;
    pool.open = false;
}

void gtl_soft_grid_run(const struct gtl_soft_command *c,
                       struct gtl_soft_resident_share *share)
{
    struct job j = { .grid = &c->grid, .body = c->body, .arg = c->arg };

    if (c->grid.groups == 1) {
        j.next = 1;
        run_group(&j, 0, c->scratch);
        return;
    }
    if (c->grid.resident > 1)
        j.wanted = c->grid.resident - 1;
    lock_acquire(&pool.lock);
    list_append(&pool.jobs, &j.link);
    pthread_cond_broadcast(&pool.more);
    for (unsigned i = 0; i < j.wanted; i++)
        pthread_cond_signal(&pool.wanted);
    lock_release(&pool.lock);
    take_groups(&j, c->scratch);
    lock_acquire(&pool.lock);
    list_remove(&j.link);
    while (j.helpers)
        pthread_cond_wait(&pool.left, &pool.lock.mutex);
    if (c->grid.resident > 1)
        release(share);
    lock_release(&pool.lock);
}

void gtl_soft_grid_fork(enum gtl_soft_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == SOFT_FORK_BEFORE) {
        lock_acquire(&pool.lock);
        return;
    }
    if (when == SOFT_FORK_CHILD) {
        pool.jobs.next = pool.jobs.prev = &pool.jobs;
        pool.n = 0;
        pool.open = false;
        pool.residents = NULL;
        pool.n_residents = pool.groups = pool.streams = 0;
        pthread_cond_init(&pool.more, NULL);
        pthread_cond_init(&pool.wanted, NULL);
        pthread_cond_init(&pool.left, NULL);
    }
    lock_release(&pool.lock);
}

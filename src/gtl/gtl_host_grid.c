/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the software device: the groups of a grid are taken one after
 * the other by the stream's thread and by those of a pool, one for each
 * further core.  A stream always runs its own grid, so a kernel that holds
 * the pool holds nobody else. */
#include "gtl/gtl_host_int.h"
#include "base/list.h"
#include "base/lock.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { HELPERS_MOST = 63 };

struct job {
    struct list_link link;
    const struct shmemx_grid *grid;
    gtl_kernel *body;
    void *arg;
    unsigned next;              /* group that nobody has taken */
    unsigned helpers;           /* at work on it */
};

static struct pool {
    struct base_lock lock;
    pthread_cond_t more, left;
    struct list_link jobs;
    bool open, stop;
    unsigned n;
    pthread_t threads[HELPERS_MOST];
    char *scratch;              /* GTL_HOST_SCRATCH for each */
} pool = {
    .lock = LOCK_INIT, .more = PTHREAD_COND_INITIALIZER,
    .left = PTHREAD_COND_INITIALIZER, .jobs = LIST_INIT(pool.jobs)
};

static void run_group(const struct job *j, unsigned group, void *scratch)
{
    const struct shmemx_grid *g = j->grid;
    struct shmemx_item it = {
        .group = group, .groups = g->groups, .items = g->items,
        .scratch = scratch
    };

    if (g->scratch)
        memset(scratch, 0, g->scratch);
    for (it.phase = 0; it.phase < g->phases; it.phase++)
        for (it.item = 0; it.item < g->items; it.item++)
            j->body(&it, j->arg);
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

static struct job *find_job(void)
{
    struct list_link *pos, *tmp;

    list_each(pos, tmp, &pool.jobs) {
        struct job *j = list_entry(pos, struct job, link);

        if (__atomic_load_n(&j->next, __ATOMIC_RELAXED) < j->grid->groups)
            return j;
    }
    return NULL;
}

static void *help(void *scratch)
{
    struct job *j;

    lock_acquire(&pool.lock);
    while (!pool.stop) {
        j = find_job();
        if (!j) {
            pthread_cond_wait(&pool.more, &pool.lock.mutex);
            continue;
        }
        j->helpers++;
        lock_release(&pool.lock);
        take_groups(j, scratch);
        lock_acquire(&pool.lock);
        if (--j->helpers == 0)
            pthread_cond_broadcast(&pool.left);
    }
    lock_release(&pool.lock);
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
void gtl_host_grid_open(void)
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
    p = mmap(NULL, want * GTL_HOST_SCRATCH, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        goto unlock;
    pool.scratch = p;
    for (pool.n = 0; pool.n < want; pool.n++)
        if (gtl_host_thread(&pool.threads[pool.n], help,
                            pool.scratch + pool.n * GTL_HOST_SCRATCH))
            break;
    if (pool.n < want)          /* helpers never use what is behind theirs */
        munmap(pool.scratch + pool.n * GTL_HOST_SCRATCH,
               (want - pool.n) * GTL_HOST_SCRATCH);
unlock:
    lock_release(&pool.lock);
}

void gtl_host_grid_close(void)
{
    lock_acquire(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.more);
    lock_release(&pool.lock);
    for (unsigned i = 0; i < pool.n; i++)
        pthread_join(pool.threads[i], NULL);
    if (pool.n)
        munmap(pool.scratch, pool.n * GTL_HOST_SCRATCH);
    pool.n = 0;
    pool.open = false;
}

void gtl_host_grid_run(const struct shmemx_grid *grid, gtl_kernel *body,
                       void *arg, void *scratch)
{
    struct job j = { .grid = grid, .body = body, .arg = arg };

    if (grid->groups == 1) {
        run_group(&j, 0, scratch);
        return;
    }
    lock_acquire(&pool.lock);
    list_append(&pool.jobs, &j.link);
    pthread_cond_broadcast(&pool.more);
    lock_release(&pool.lock);
    take_groups(&j, scratch);
    lock_acquire(&pool.lock);
    list_remove(&j.link);
    while (j.helpers)
        pthread_cond_wait(&pool.left, &pool.lock.mutex);
    lock_release(&pool.lock);
}

void gtl_host_grid_fork(enum gtl_host_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == HOST_FORK_BEFORE) {
        lock_acquire(&pool.lock);
        return;
    }
    if (when == HOST_FORK_CHILD) {
        pool.jobs.next = pool.jobs.prev = &pool.jobs;
        pool.n = 0;
        pool.open = false;
        pthread_cond_init(&pool.more, NULL);
        pthread_cond_init(&pool.left, NULL);
    }
    lock_release(&pool.lock);
}

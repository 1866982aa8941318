/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <pthread.h>
#include <stdbool.h>

/* No member starts before all exist: members may wait for each other. */
struct start {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool open, cancelled;       /* under lock */
};

struct member {
    struct start *start;
    void (*fn)(void *arg, int thread);
    void *arg;
    int thread;
};

static void *member_main(void *self)
{
    struct member *m = self;
    bool cancelled;

    pthread_mutex_lock(&m->start->lock);
    while (!m->start->open)
        pthread_cond_wait(&m->start->moved, &m->start->lock);
    cancelled = m->start->cancelled;
    pthread_mutex_unlock(&m->start->lock);
    if (!cancelled)
        m->fn(m->arg, m->thread);
    return NULL;
}

int team_run(int threads, void (*fn)(void *arg, int thread), void *arg)
{
    struct start start = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                         false, false };
    struct member member[THREADS_MAX];
    pthread_t id[THREADS_MAX];
    int made, rc = 0;

    for (made = 1; made < threads && rc == 0; made++) {
        member[made] = (struct member){ &start, fn, arg, made };
        rc = -pthread_create(&id[made], NULL, member_main, &member[made]);
        if (rc)
            break;
    }
    pthread_mutex_lock(&start.lock);
    start.open = true;
    start.cancelled = rc != 0;
    pthread_cond_broadcast(&start.moved);
    pthread_mutex_unlock(&start.lock);
    if (rc == 0)
        fn(arg, 0);
    for (int i = 1; i < made; i++)
        pthread_join(id[i], NULL);
    return rc;
}

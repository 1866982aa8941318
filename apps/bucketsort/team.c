/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <pthread.h>
#include <stdbool.h>

/* Nobody starts before all exist: members may wait for each other. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool open, cancelled;       /* under lock */
};

struct member {
    struct gate *gate;
    void (*fn)(void *arg, int thread);
    void *arg;
    int thread;
};

static void *member_main(void *self)
{
    struct member *m = self;
    bool cancelled;

    pthread_mutex_lock(&m->gate->lock);
    while (!m->gate->open)
        pthread_cond_wait(&m->gate->moved, &m->gate->lock);
    cancelled = m->gate->cancelled;
    pthread_mutex_unlock(&m->gate->lock);
    if (!cancelled)
        m->fn(m->arg, m->thread);
    return NULL;
}

int team_run(int threads, void (*fn)(void *arg, int thread), void *arg)
{
    struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                         false, false };
    struct member member[THREADS_MAX];
    pthread_t id[THREADS_MAX];
    int made, rc = 0;

    for (made = 1; made < threads && rc == 0; made++) {
        member[made] = (struct member){ &gate, fn, arg, made };
        rc = -pthread_create(&id[made], NULL, member_main, &member[made]);
        if (rc)
            break;
    }
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    gate.cancelled = rc != 0;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
    if (rc == 0)
        fn(arg, 0);
    for (int i = 1; i < made; i++)
        pthread_join(id[i], NULL);
    return rc;
}

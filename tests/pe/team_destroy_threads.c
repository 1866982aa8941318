/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a thread waits for the other PEs in its first allocation of
 * device memory, after another thread has destroyed the team of its last
 * collective call; reports of the wait read nothing of that team.
 * PEs: 2
 * Env: SHMEM_DEVICE=software SHMEM_STALL=1
 * Light: it sleeps */
#include "t.h"

#include <pthread.h>
#include <shmem.h>
#include <shmemg.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* LATE_S is longer than SHMEM_STALL, so that the wait is reported. */
enum { LATE_S = 3, MOST = 1024, STEP = 16 };

static shmem_team_t team;
static pthread_barrier_t synced, destroyed;
static void *block;

static void *allocate(void *unused)
{
    shmem_team_sync(team);
    pthread_barrier_wait(&synced);
    pthread_barrier_wait(&destroyed);
    if (shmem_my_pe())
        sleep(LATE_S);
    block = shmemg_malloc(64);
    return unused;
}

/* Memory of freed objects of this thread has other contents from now on. */
static void overwrite_freed(void)
{
    char *p[MOST / STEP];

    for (size_t i = 0; i < MOST / STEP; i++) {
        p[i] = malloc((i + 1) * STEP - 8);
        memset(p[i], 0x3f, (i + 1) * STEP - 8);
        __asm__ volatile("" : : "r"(p[i]) : "memory");
    }
    for (size_t i = 0; i < MOST / STEP; i++)
        free(p[i]);
}

T(a_destroyed_team_is_in_no_report)
{
    pthread_t other;

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL,
                                  0, &team), 0);
    T_EQ(pthread_create(&other, NULL, allocate, NULL), 0);
    pthread_barrier_wait(&synced);
    shmem_team_destroy(team);
    overwrite_freed();
    pthread_barrier_wait(&destroyed);
    pthread_join(other, NULL);
    T_TRUE(block);
    shmem_free(block);
}

int main(void)
{
    int level;

    pthread_barrier_init(&synced, NULL, 2);
    pthread_barrier_init(&destroyed, NULL, 2);
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level))
        return 1;
    T_RUN(a_destroyed_team_is_in_no_report);
    shmem_finalize();
    return T_DONE();
}

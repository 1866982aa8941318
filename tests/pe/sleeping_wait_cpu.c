/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that sleeps, and one that waits long for a word or in a
 * barrier, for a PE that sleeps or is stopped, take little processor time.
 * Light: it sleeps
 * PEs: 2
 * Ppn: 2/1 */
#include "budget.h"
#include "off_node.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/* T_AWAKE_MS: so long a wait stays awake here. */
static int idle_s = 2;
static double most = 0.1;
static uint64_t word, late;
static long pid_of;
static int me;

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The figure that counts is 0.02; a machine with other work is noisy. */
static void judge(const char *what, double used)
{
    printf("PE %d %s: %.2f %% of a core\n", me, what, used / idle_s * 100);
    T_LT(used / idle_s, most);
}

static void sleep_briefly(void)
{
    struct timespec t = { idle_s, 0 };

    nanosleep(&t, NULL);
}

T(a_sleep_costs_little)
{
    double before;

    shmem_barrier_all();
    before = cpu();
    sleep_briefly();
    judge("sleeps", cpu() - before);
    shmem_barrier_all();
}

T(a_wait_costs_little)
{
    double before;

    shmem_barrier_all();
    before = cpu();
    if (me == 0) {
        sleep_briefly();
        shmem_uint64_p(&word, 1, 1);
    } else {
        shmem_uint64_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    judge(me ? "waits" : "makes PE 1 wait", cpu() - before);
    shmem_barrier_all();
}

T(a_barrier_costs_little)
{
    double before;

    shmem_barrier_all();
    before = cpu();
    if (me == 0)
        sleep_briefly();
    shmem_barrier_all();
    judge(me ? "waits in a barrier" : "comes late", cpu() - before);
}

static void *wake(void *unused)
{
    do {                        /* again, if it stops only now */
        sleep_briefly();
        kill((pid_t)pid_of, SIGCONT);
    } while (!__atomic_load_n(&late, __ATOMIC_ACQUIRE));
    return unused;
}

/* PE 0 stops, and can do nothing until the thread of PE 1 wakes it. */
T(a_wait_for_a_stopped_pe_costs_little)
{
    pthread_t thread;
    double before;

    if (me == 0)
        shmem_long_p(&pid_of, getpid(), 1);
    shmem_barrier_all();
    before = cpu();
    if (me == 0) {
        raise(SIGSTOP);
        shmem_uint64_p(&late, 1, 1);
    } else {
        T_EQ(pthread_create(&thread, NULL, wake, NULL), 0);
        shmem_uint64_wait_until(&late, SHMEM_CMP_EQ, 1);
        pthread_join(thread, NULL);
    }
    judge(me ? "waits for a stopped PE" : "is stopped", cpu() - before);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    T_PE(me);
    if (getenv("T_AWAKE_MS")) {
        idle_s += 6 * atoi(getenv("T_AWAKE_MS")) / 1000;
        most = 0.3;
    }
    T_RUN(a_sleep_costs_little);
    T_RUN(a_wait_costs_little);
    T_RUN(a_barrier_costs_little);
    T_RUN(a_wait_for_a_stopped_pe_costs_little);
    shmem_finalize();
    return T_DONE();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that sleeps, and one that waits long for a word, take
 * little processor time.
 * Light: it sleeps
 * PEs: 2
 * Far: 2/1 */
#include "budget.h"
#include "far.h"

#include <sys/resource.h>

#define IDLE_S 2

static uint64_t word;
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
    printf("PE %d %s: %.2f %% of a core\n", me, what, used / IDLE_S * 100);
    T_LT(used / IDLE_S, 0.1);
}

static void doze(void)
{
    struct timespec t = { IDLE_S, 0 };

    nanosleep(&t, NULL);
}

T(a_sleep_costs_little)
{
    double before;

    shmem_barrier_all();
    before = cpu();
    doze();
    judge("sleeps", cpu() - before);
    shmem_barrier_all();
}

T(a_wait_costs_little)
{
    double before;

    shmem_barrier_all();
    before = cpu();
    if (me == 0) {
        doze();
        shmem_uint64_p(&word, 1, 1);
    } else {
        shmem_uint64_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    judge(me ? "waits" : "lets wait", cpu() - before);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    T_PE(me);
    T_RUN(a_sleep_costs_little);
    T_RUN(a_wait_costs_little);
    shmem_finalize();
    return T_DONE();
}

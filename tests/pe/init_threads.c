/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: of two threads that start or end the library at once, each
 * returns when that is complete: an init beside the first one waits for it, one
 * beside the last finalize starts the library anew, and of two finalizes the
 * last one ends it.
 * Light: threads wait for each other
 * PEs: 2 3
 * Ppn: 2/1
 * Reject: \[S- */
#include "../t.h"

#include <fcntl.h>
#include <pthread.h>
#include <shmem.h>

enum { ROUNDS = 4, LATE_US = 150000, BESIDE_US = 50000 };

static long word;

/* The last PE comes late, so that the others are within a call until then. */
static int me = -1, n_pes;

static int initialized(void)
{
    int is = -1;

    shmem_query_initialized(&is);
    return is;
}

static void be_late(void)
{
    if (me == n_pes - 1)
        usleep(LATE_US);
}

static int going;        /* atomic: now it inits or finalizes */

static void set_going(int on)
{
    __atomic_store_n(&going, on, __ATOMIC_RELEASE);
}

static void start_one(void)
{
    int provided = -1;

    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    T_EQ(provided, SHMEM_THREAD_MULTIPLE);
    T_EQ(initialized(), 1);
    T_LT(0, shmem_n_pes());
    T_EQ(shmem_long_g(&word, shmem_my_pe()), 5);
}

static void *start_beside(void *unused)
{
    while (!__atomic_load_n(&going, __ATOMIC_ACQUIRE))
        usleep(1000);
    usleep(BESIDE_US);
    start_one();
    return unused;
}

static void end_one(void)
{
    T_EQ(initialized(), 1);
    shmem_finalize();
}

static void *end_beside(void *unused)
{
    usleep(BESIDE_US);
    end_one();
    return unused;
}

static pthread_t beside(void *(*fn)(void *))
{
    pthread_t t;

    T_EQ(pthread_create(&t, NULL, fn, NULL), 0);
    return t;
}

/* One of them comes late; which, is not known before. */
T(an_init_beside_the_first_one_waits_for_it)
{
    int late = open("late", O_CREAT | O_EXCL | O_WRONLY, 0600);
    pthread_t t;

    set_going(1);
    t = beside(start_beside);
    if (late >= 0) {
        usleep(LATE_US);
        close(late);
    }
    start_one();
    T_EQ(pthread_join(t, NULL), 0);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    shmem_finalize();
    T_EQ(initialized(), 1);
    shmem_barrier_all();
}

T(an_init_beside_the_last_finalize_starts_anew)
{
    pthread_t t;

    for (int i = 0; i < ROUNDS; i++) {
        be_late();              /* the others' second threads come first */
        set_going(0);
        t = beside(start_beside);
        set_going(1);
        shmem_finalize();
        T_EQ(pthread_join(t, NULL), 0);
        T_EQ(shmem_my_pe(), me);
        shmem_long_p(&word, 5, (me + 1) % n_pes);
        shmem_barrier_all();
    }
}

T(of_two_finalizes_the_last_one_ends_the_library)
{
    pthread_t t;

    for (int i = 0; i < ROUNDS; i++) {
        start_one();
        t = beside(end_beside);
        be_late();
        end_one();
        T_EQ(pthread_join(t, NULL), 0);
        T_EQ(initialized(), 0);
        t = beside(start_beside);
        be_late();
        start_one();
        T_EQ(pthread_join(t, NULL), 0);
        shmem_finalize();
        shmem_barrier_all();
    }
    shmem_finalize();
    T_EQ(initialized(), 0);
}

int main(void)
{
    word = 5;
    T_RUN(an_init_beside_the_first_one_waits_for_it);
    T_RUN(an_init_beside_the_last_finalize_starts_anew);
    T_RUN(of_two_finalizes_the_last_one_ends_the_library);
    return T_DONE();
}

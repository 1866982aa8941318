/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: inits and finalizes are counted, only the last finalize ends
 * the library, it may start again, and the thread level asked for is given.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Reject: \[S- */
#include "../t.h"

#include <dirent.h>
#include <pthread.h>
#include <shmem.h>

enum { ROUNDS = 3, DEPTH = 3 };

static int me = -1, n_pes;
static long kept = 5, notified[DEPTH + 2];

static int initialized(void)
{
    int is = -1;

    shmem_query_initialized(&is);
    return is;
}

static int level(void)
{
    int provided = -1;

    shmem_query_thread(&provided);
    return provided;
}

static void *query(void *unused)
{
    (void)unused;
    return initialized() ? &me : NULL;
}

/* What another thread reports. */
static int initialized_elsewhere(void)
{
    void *answer = NULL;
    pthread_t t;

    if (pthread_create(&t, NULL, query, NULL))
        return -1;
    pthread_join(t, &answer);
    return answer != NULL;
}

/* Late PEs notify the next one, which must know after a barrier. */
static void notify(int what)
{
    struct timespec pause_ms = { 0, 3000000 * (long)me };

    nanosleep(&pause_ms, NULL);
    shmem_long_p(&notified[what], what, (me + 1) % n_pes);
}

/* Open descriptors, the one that looks included. */
static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

T(query_initialized_before_init)
{
    T_EQ(initialized(), 0);
    T_EQ(initialized_elsewhere(), 0);
}

T(nested_inits)
{
    long *heap, *again;
    int provided = -1;

    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    T_TRUE(me >= 0 && me < n_pes);
    T_EQ(initialized(), 1);
    T_EQ(initialized_elsewhere(), 1);
    T_EQ(kept, 5);              /* static data moved, values did not */
    heap = shmem_malloc(sizeof *heap);
    T_NE(heap, NULL);
    *heap = 40 + me;
    for (int i = 1; i < DEPTH; i++) {
        if (i % 2)
            T_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
        else
            shmem_init();
        T_EQ(shmem_my_pe(), me);
    }
    for (int i = 1; i < DEPTH; i++) {
        notify(i);
        shmem_finalize();       /* acts like a barrier and frees nothing */
        T_EQ(notified[i], i);
        T_EQ(initialized(), 1);
        T_EQ(shmem_n_pes(), n_pes);
        T_EQ(shmem_long_g(heap, (me + 1) % n_pes), 40 + (me + 1) % n_pes);
    }
    again = shmem_malloc(sizeof *again);
    T_TRUE(again != NULL && again != heap);
    notify(DEPTH);
    shmem_finalize();           /* completes what is under way */
    T_EQ(notified[DEPTH], DEPTH);
    T_EQ(initialized(), 0);
    T_EQ(initialized_elsewhere(), 0);
}

T(init_again)
{
    int open_before = descriptors();
    long *heap, *first;

    for (int r = 0; r < ROUNDS; r++) {
        kept = 5 + r;
        shmem_init();
        T_EQ(initialized(), 1);
        T_EQ(shmem_my_pe(), me);
        T_EQ(shmem_n_pes(), n_pes);
        T_EQ(kept, 5 + r);
        shmem_barrier_all();
        shmem_long_atomic_add(&kept, 100, (me + 1) % n_pes);
        heap = shmem_calloc(100000, sizeof *heap);
        first = heap;
        T_TRUE(heap != NULL);
        for (int i = 0; i < 100000; i += 99999)
            T_EQ(heap[i], 0);
        shmem_barrier_all();
        for (int i = 0; i < 100000; i += 99999)
            shmem_long_p(&heap[i], me + r, (me + 1) % n_pes);
        shmem_barrier_all();
        for (int i = 0; i < 100000; i += 99999)
            T_EQ(heap[i], (me + n_pes - 1) % n_pes + r);
        heap = shmem_realloc(heap, 1000000 * sizeof *heap);
        T_EQ(heap[99999], (me + n_pes - 1) % n_pes + r);
        T_EQ(heap, first);      /* nothing is behind it */
        shmem_finalize();       /* with a block that is left */
        T_EQ(initialized(), 0);
        T_EQ(kept, 105 + r);    /* the peer's store stays */
    }
    kept = 5;
    T_EQ(descriptors(), open_before);
}

/* Every level is given; a later init may ask for more, and less changes
 * nothing. */
T(thread_levels)
{
    static const int levels[] = {
        SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED,
        SHMEM_THREAD_MULTIPLE
    };
    int provided;

    for (int i = 0; i < 4; i++) {
        provided = -1;
        T_EQ(shmem_init_thread(levels[i], &provided), 0);
        T_LE(levels[i], provided);
        T_EQ(level(), provided);
        shmem_finalize();
    }
    shmem_init();
    T_LE(SHMEM_THREAD_SINGLE, level());
    provided = -1;
    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    T_EQ(provided, SHMEM_THREAD_MULTIPLE);
    T_EQ(level(), provided);
    T_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
    T_EQ(level(), provided);
    T_EQ(shmem_init_thread(SHMEM_THREAD_FUNNELED, NULL), 0);
    for (int i = 0; i < 4; i++) {
        T_EQ(initialized(), 1);
        shmem_finalize();
    }
    T_EQ(initialized(), 0);
}

/* No finalize follows the last start_pes: it happens at exit, silently. */
T(start_pes_finalizes_at_exit)
{
    start_pes(0);
    T_EQ(initialized(), 1);
    T_EQ(shmem_my_pe(), me);
    start_pes(77);              /* neither the count nor the call counts */
    T_EQ(shmem_n_pes(), n_pes);
    shmem_finalize();
    T_EQ(initialized(), 0);

    start_pes(n_pes + 1);
    T_EQ(shmem_n_pes(), n_pes);
    shmem_init();
    start_pes(0);
    shmem_finalize();
    T_EQ(initialized(), 1);
    notify(DEPTH + 1);
}

/* Runs after the library's handler, which was registered later. */
static void look_at_the_end(void)
{
    if (initialized() || notified[DEPTH + 1] == 0)
        _exit(1);
}

int main(void)
{
    atexit(look_at_the_end);
    T_RUN(query_initialized_before_init);
    T_RUN(nested_inits);
    T_RUN(init_again);
    T_RUN(thread_levels);
    T_RUN(start_pes_finalizes_at_exit);
    return T_DONE();
}

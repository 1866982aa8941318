/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the default streams of CUDA and HIP: NULL and 0x1 are one, 0x2 is
 * another one in each thread, and so are its queues; default_stream_gpu.sh runs this
 * on GPUs.  The software device has the first alone.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "st.h"
#include <pthread.h>

#define LEGACY ((shmemx_stream_t)1)
#define PER_THREAD ((shmemx_stream_t)2)
enum { N = 300, THREADS = 2, TURNS = 6 };

static uint64_t signals[THREADS + 1];
static long in[THREADS + 1][N], count;

/* Puts, signal, wait, get, atomic and quiet; to and from the next PE. */
static void exchange(shmemx_stream_t s, int k, long value)
{
    static long out[THREADS + 1][N], back[THREADS + 1][N];

    for (int i = 0; i < N; i++)
        out[k][i] = value + i;
    T_EQ(shmemx_long_put_signal_on_stream(in[k], out[k], N, &signals[k],
                                          (uint64_t)value, SHMEM_SIGNAL_SET,
                                          next, s), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, &signals[k], SHMEM_CMP_GE,
                                            (uint64_t)value, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(back[k], in[k], N, next, s), 0);
    T_EQ(shmemx_long_atomic_inc_on_stream(&count, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_query(s), 0);
    T_MEM(out[k], back[k], sizeof out[k]);
}

T(null_and_the_legacy_handle_serve_every_call)
{
    for (long v = 1; v <= 20; v++)
        exchange(v % 2 ? NULL : LEGACY, 0, v);
    T_EQ(shmemx_stream_destroy(NULL), -EINVAL);
    T_EQ(shmemx_stream_destroy(LEGACY), -EINVAL);
    shmem_barrier_all();
    T_EQ(count, 20);
}

T(the_legacy_handle_is_in_order_behind_null)
{
    static long one, two, x = 1, y = 2;
    uint64_t *start_flag = st_start_flag(NULL);

    T_EQ(shmemx_long_put_on_stream(&one, &x, 1, next, NULL), 0);
    T_EQ(shmemx_long_put_on_stream(&two, &y, 1, next, LEGACY), 0);
    T_EQ(shmemx_quiet_on_stream(LEGACY), 0);
    T_EQ(shmemx_stream_query(LEGACY), -EAGAIN);
    T_EQ(shmemx_stream_query(NULL), -EAGAIN);
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(LEGACY), 0);
    shmem_barrier_all();
    T_EQ(one, 1);
    T_EQ(two, 2);
}

T(the_software_device_has_no_per_thread_stream)
{
    static long x;

    T_EQ(shmemx_long_put_on_stream(&x, &x, 1, next, PER_THREAD), -EINVAL);
    T_EQ(shmemx_stream_sync(PER_THREAD), -EINVAL);
}

/* ---- of a GPU ---- */

static pthread_barrier_t synchronize;
static uint64_t *release_flags;
static long got[THREADS][TURNS];

/* In turns, so that each call comes after one of the other thread's. */
static void *take_turns(void *arg)
{
    static long out[THREADS][TURNS];
    int k = *(int *)arg;

    T_EQ(shmemx_uint64_wait_until_on_stream(&release_flags[k], SHMEM_CMP_GE, 1,
                                            PER_THREAD), 0);
    for (int i = 0; i < TURNS * THREADS; i++) {
        pthread_barrier_wait(&synchronize);
        if (i % THREADS != k)
            continue;
        out[k][i / THREADS] = 100 * k + i / THREADS + 1;
        T_EQ(shmemx_long_put_on_stream(&got[k][i / THREADS],
                                       &out[k][i / THREADS], 1, next,
                                       PER_THREAD), 0);
    }
    T_EQ(shmemx_quiet_on_stream(PER_THREAD), 0);
    T_EQ(shmemx_stream_query(PER_THREAD), -EAGAIN);
    pthread_barrier_wait(&synchronize);
    if (k)                      /* the first one's stream waits on */
        st_open(&release_flags[1]);
    T_EQ(k ? shmemx_stream_sync(PER_THREAD) : 0, 0);
    T_EQ(shmemx_stream_query(PER_THREAD), k ? 0 : -EAGAIN);
    pthread_barrier_wait(&synchronize);
    if (!k)
        st_open(&release_flags[0]);
    T_EQ(shmemx_stream_sync(PER_THREAD), 0);
    return NULL;
}

static void on_threads(void *(*run)(void *))
{
    static const int numbers[THREADS] = { 0, 1 };
    pthread_t t[THREADS];

    pthread_barrier_init(&synchronize, NULL, THREADS);
    for (int k = 0; k < THREADS; k++)
        T_EQ(pthread_create(&t[k], NULL, run, (void *)(uintptr_t)&numbers[k]),
             0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(t[k], NULL);
    pthread_barrier_destroy(&synchronize);
}

T(each_thread_has_a_stream_and_a_queue_of_its_own)
{
    release_flags = shmem_calloc(THREADS, sizeof *release_flags);
    on_threads(take_turns);
    shmem_barrier_all();
    for (int k = 0; k < THREADS; k++)
        for (int i = 0; i < TURNS; i++)
            T_EQ(got[k][i], 100 * k + i + 1);
}

static void *exchange_much(void *arg)
{
    int k = *(int *)arg;

    for (long v = 1; v <= 20; v++)
        exchange(PER_THREAD, k + 1, v);
    T_EQ(shmemx_stream_destroy(PER_THREAD), -EINVAL);
    return NULL;
}

T(the_per_thread_handle_serves_every_call)
{
    on_threads(exchange_much);
    shmem_barrier_all();
}

static shmemx_queue_t given;

static void *start_one(void *arg)
{
    static long x = 7, y, wrong = 13, right = 14, came;
    int k = *(int *)arg;

    if (!k) {
        T_EQ(shmemx_queue_create(PER_THREAD, NULL, 0, &given), 0);
        T_EQ(shmemx_enqueue_putmem(given, &y, &x, sizeof x, next, NULL), 0);
    }
    pthread_barrier_wait(&synchronize);
    if (k) {
        T_EQ(shmemx_enqueue_start(given), -EINVAL);
        T_EQ(shmemx_enqueue_wait(given), -EINVAL);
        /* Refused, it is none among the messages to its partner. */
        T_EQ(shmemx_enqueue_send(given, &wrong, sizeof wrong, next, 33, NULL),
             -EINVAL);
    }
    pthread_barrier_wait(&synchronize);
    if (!k) {
        T_EQ(shmemx_enqueue_send(given, &right, sizeof right, next, 33, NULL),
             0);
        T_EQ(shmemx_enqueue_recv(given, &came, sizeof came, prev, 33, NULL), 0);
        T_EQ(shmemx_enqueue_start(given), 0);
        T_EQ(shmemx_enqueue_wait(given), 0);
        T_EQ(shmemx_stream_sync(PER_THREAD), 0);
        T_EQ(came, right);
    }
    pthread_barrier_wait(&synchronize);
    if (k) {                    /* the host's calls ask no stream */
        T_EQ(shmemx_queue_wait(given), 0);
        T_EQ(shmemx_queue_destroy(given), 0);
    }
    return NULL;
}

T(a_queue_of_a_per_thread_stream_is_its_threads)
{
    on_threads(start_one);
}

/* More than there is room for queues at a time. */
static void *put_once(void *arg)
{
    static long in_, out = 3;

    (void)arg;
    T_EQ(shmemx_long_put_on_stream(&in_, &out, 1, next, PER_THREAD), 0);
    T_EQ(shmemx_quiet_on_stream(PER_THREAD), 0);
    T_EQ(shmemx_stream_sync(PER_THREAD), 0);
    return NULL;
}

T(the_queues_of_threads_go_with_them)
{
    pthread_t t;

    for (int i = 0; i < 4200; i++) {
        T_EQ(pthread_create(&t, NULL, put_once, NULL), 0);
        pthread_join(t, NULL);
    }
    shmem_barrier_all();
}

/* What lasts is looked at by a thread of the library's. */
T(a_long_wait_on_a_per_thread_stream_is_asked_about_by_no_other_thread)
{
    uint64_t *start_flag = st_start_flag(PER_THREAD);

    sleep(3);
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(PER_THREAD), 0);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";

    st_begin();
    if (!strcmp(only, "many")) {
        T_RUN(the_queues_of_threads_go_with_them);
    } else if (!strcmp(only, "long")) {
        T_RUN(a_long_wait_on_a_per_thread_stream_is_asked_about_by_no_other_thread);
    } else if (!strcmp(only, "turns")) {
        T_RUN(each_thread_has_a_stream_and_a_queue_of_its_own);
    } else {
        T_RUN(null_and_the_legacy_handle_serve_every_call);
        T_RUN(the_legacy_handle_is_in_order_behind_null);
    }
    if (st_kernels()) {
        T_RUN(the_software_device_has_no_per_thread_stream);
    } else if (!*only) {
        T_RUN(the_per_thread_handle_serves_every_call);
        T_RUN(a_queue_of_a_per_thread_stream_is_its_threads);
    }
    return st_end();
}

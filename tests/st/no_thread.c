/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: where no thread can be made, an operation that needs the
 * progress thread is refused each time, and done once there can be; where the
 * network has started that thread, streams need no other.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 20 */
#include "st.h"
#include <dlfcn.h>
#include <pthread.h>

enum { N = 1 << 16 };
static long in[N], out[N];
static atomic_bool none;

/* The library's threads are made by this. */
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *),
                   void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                       void *);

    if (none)
        return EAGAIN;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(t, a, run, arg);
}

/* On a node the device reaches the peer, and only a queue needs the progress
 * thread. */
static int make_queue(shmemx_stream_t s)
{
    shmemx_queue_t q;
    int rc = shmemx_queue_create(s, NULL, 0, &q);

    return rc ? rc : shmemx_queue_destroy(q);
}

T(without_a_thread_nothing_is_enqueued)
{
    shmemx_stream_t s = st_make();
    bool mapped = shmem_ptr(in, next);

    if (!mapped)
        T_SKIP("between nodes the progress thread runs from the start");
    T_EQ(shmemx_stream_fill(s, in, 0, 1), 0);   /* it has its own thread */
    none = true;
    for (int i = 0; i < 3; i++)
        T_EQ(make_queue(s), -EAGAIN);
    none = false;
    T_EQ(make_queue(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(between_nodes_no_further_thread_is_needed)
{
    shmemx_stream_t s = st_make();

    out[N - 1] = 3;
    T_EQ(shmemx_stream_fill(s, in, 0, 1), 0);
    shmem_barrier_all();
    none = true;
    T_EQ(shmemx_long_put_on_stream(in, out, N, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    none = false;
    shmem_barrier_all();
    T_EQ(in[N - 1], 3);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(without_a_thread_nothing_is_enqueued);
    T_RUN(between_nodes_no_further_thread_is_needed);
    return st_end();
}

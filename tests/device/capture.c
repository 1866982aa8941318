/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that record graphs: what a launch would not do right is refused by
 * name, and the capture goes on; the rest is done by each launch.  See
 * capture.sh. */
#include "../memory.h"
#include "../pe/off_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <shmemx_st.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 5, N = 40 };

static int (*begin)(void *, int), (*end)(void *, void **);
static int (*make)(void **, void *, unsigned long long);
static int (*launch)(void *, void *), (*destroy_graph)(void *);
static int (*destroy_made)(void *), (*await)(void *);

static void bind(void)
{
    const struct { void *to; const char *cuda, *hip; } all[] = {
        { &begin, "cuStreamBeginCapture_v2", "hipStreamBeginCapture" },
        { &end, "cuStreamEndCapture", "hipStreamEndCapture" },
        { &make, "cuGraphInstantiateWithFlags",
          "hipGraphInstantiateWithFlags" },
        { &launch, "cuGraphLaunch", "hipGraphLaunch" },
        { &destroy_graph, "cuGraphDestroy", "hipGraphDestroy" },
        { &destroy_made, "cuGraphExecDestroy", "hipGraphExecDestroy" },
        { &await, "cuStreamSynchronize", "hipStreamSynchronize" }
    };
    bool is_hip = !strcmp(getenv("SHMEM_DEVICE"), "hip");
    void *driver = dlopen(is_hip ? "libamdhip64.so.6" : "libcuda.so.1",
                          RTLD_NOW);

    T_TRUE(driver != NULL);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        *(void **)all[i].to = dlsym(driver, is_hip ? all[i].hip : all[i].cuda);
}

static shmemx_stream_t s;

static void *recorded(void)
{
    void *graph = NULL, *made = NULL;

    T_EQ(end(s, &graph), 0);
    T_TRUE(graph != NULL);
    T_EQ(make(&made, graph, 0), 0);
    T_EQ(destroy_graph(graph), 0);
    return made;
}

static void run(void *made)
{
    for (int i = 0; i < LAUNCHES; i++)
        T_EQ(launch(made, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
}

/* ---- refused ---- */

static void refuse_any(void)
{
    uint64_t *flag = mem_alloc(HOST, sizeof *flag);
    static long word;

    T_EQ(begin(s, 0), 0);
    T_EQ(shmemx_long_wait_until_on_stream(&word, SHMEM_CMP_EQ, 0, s),
         -ENOTSUP);
    T_EQ(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 1, s),
         -ENOTSUP);
    T_EQ(shmemx_stream_sync(s), -ENOTSUP);
    T_EQ(shmemx_stream_query(s), -ENOTSUP);
    T_EQ(destroy_made(recorded()), 0);
    mem_free(HOST, flag);
}

/* Nodes of one machine count as PEs that share a device, where no kernel waits
 * for the progress thread: streams of HIP wait by themselves, graphs do not. */
static void refuse_off_node(long *there)
{
    static long word;
    long got;

    /* The queue is there before, as it would be in a program. */
    T_EQ(shmemx_long_p_on_stream(&word, 1, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(begin(s, 0), 0);
    T_EQ(shmemx_long_p_on_stream(&word, 2, next, s), -ENOTSUP);
    T_EQ(shmemx_long_put_on_stream(there, &word, 1, next, s), -ENOTSUP);
    T_EQ(shmemx_long_get_on_stream(&got, there, 1, next, s), -ENOTSUP);
    T_EQ(shmemx_long_atomic_inc_on_stream(there, next, s), -ENOTSUP);
    T_EQ(shmemx_signal_set_on_stream((uint64_t *)there, 3, next, s),
         -ENOTSUP);
    T_EQ(shmemx_quiet_on_stream(s), -ENOTSUP);
    T_EQ(destroy_made(recorded()), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(word, 1);
}

/* ---- done by each launch ---- */

struct room {
    long sum, back, put[N], got[N], apart[2 * N], bytes[2];
    uint64_t signal, host;
};

/* The library's own threads look at events and streams meanwhile, of one that
 * waits, in a capture that forbids it to threads that do not know of it. */
static void let_threads_poll(void)
{
    const struct timespec while_ = { 2, 500000000 };

    nanosleep(&while_, NULL);
}

static void record(struct room *there, struct room *own, uint64_t *host,
                   const long *from)
{
    uint64_t *flag = mem_alloc(HOST, sizeof *flag);
    shmemx_stream_t other;

    *flag = 0;
    T_EQ(shmemx_stream_create(&other), 0);
    T_EQ(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 1, other), 0);
    T_EQ(begin(s, 0), 0);
    let_threads_poll();
    T_EQ(shmemx_long_put_on_stream(there->put, from, N, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(own->got, there->put, N, next, s), 0);
    T_EQ(shmemx_long_iput_on_stream(there->apart, own->got, 2, 1, N, next, s),
         0);
    T_EQ(shmemx_long_p_on_stream(&there->bytes[0], 77, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_atomic_inc_on_stream(&there->sum, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_atomic_fetch_add_on_stream(&own->back, &there->sum, 2,
                                                next, s), 0);
    T_EQ(shmemx_uint64_atomic_add_on_stream(host, 1, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_uint64_atomic_fetch_add_on_stream(&own->host, host, 1, next, s),
         0);
    T_EQ(shmemx_long_put_signal_on_stream(there->put, from, N, &there->signal,
                                          5, SHMEM_SIGNAL_ADD, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_fill(s, &own->bytes[1], 7, sizeof own->bytes[1]), 0);
    /* Nor do calls of this thread that have nothing to do with it. */
    T_EQ(shmemx_stream_query(other), -EAGAIN);
    shmem_uint64_atomic_set(flag, 1, me);
    T_EQ(shmemx_stream_sync(other), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
    mem_free(HOST, flag);
}

static void replay(void)
{
    struct room *there = mem_alloc(DEVICE, sizeof *there), got;
    struct room *own = mem_alloc(DEVICE, sizeof *own);
    uint64_t *host = mem_alloc(HOST, sizeof *host);
    long *from = mem_alloc(HOST, N * sizeof *from);
    const struct room zero = { .sum = 0 };
    void *made;

    mem_store(there, &zero, sizeof zero);
    mem_store(own, &zero, sizeof zero);
    *host = 0;
    for (int i = 0; i < N; i++)
        from[i] = -1;
    shmem_barrier_all();
    record(there, own, host, from);
    made = recorded();
    shmem_barrier_all();
    mem_load(&got, there, sizeof got);
    T_EQ(got.sum, 0);           /* nothing is done but by launches */
    T_EQ(*host, 0);
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        from[i] = 1000 * me + i;
    run(made);
    shmem_barrier_all();
    mem_load(&got, there, sizeof got);
    T_EQ(got.sum, 3 * LAUNCHES);
    T_EQ(got.signal, 5 * LAUNCHES);
    T_EQ(got.bytes[0], 77);
    T_EQ(*host, 2 * LAUNCHES);
    for (int i = 0; i < N; i++) {
        T_EQ(got.put[i], 1000 * before + i);
        T_EQ(got.apart[2 * i], 1000 * before + i);
    }
    mem_load(&got, own, sizeof got);
    T_EQ(got.back, 3 * LAUNCHES - 2);
    T_EQ(got.host, 2 * LAUNCHES - 1);
    T_EQ(got.bytes[1], 0x0707070707070707);
    for (int i = 0; i < N; i++)
        T_EQ(got.got[i], 1000 * me + i);
    T_EQ(destroy_made(made), 0);
    shmem_barrier_all();
    mem_free(HOST, from);
    mem_free(HOST, host);
    mem_free(DEVICE, own);
    mem_free(DEVICE, there);
}

/* ---- after the library has ended ---- */

/* What the progress thread repeated is not done, and the stream goes on. */
static void *record_late(void)
{
    void *made;

    T_EQ(begin(s, 0), 0);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    made = recorded();
    run(made);
    return made;
}

static int end_and_launch(void *made)
{
    int rc = memory_end();

    if (!made)
        return rc;
    T_EQ(launch(made, s), 0);
    T_EQ(await(s), 0);
    T_EQ(destroy_made(made), 0);
    return rc ? rc : T_DONE();
}

/* ---- */

int main(void)
{
    long *there, count = 0;
    void *late = NULL;

    device_begin(SHMEM_THREAD_SINGLE);
    bind();
    there = mem_alloc(DEVICE, sizeof *there);
    mem_store_word(there, 0, sizeof *there);
    T_EQ(shmemx_stream_create(&s), 0);
    shmem_barrier_all();
    if (some_are_off_node() && !strcmp(getenv("SHMEM_DEVICE"), "hip"))
        refuse_off_node(there);
    else
        replay();
    refuse_any();
    /* The stream is as any other afterwards. */
    T_EQ(shmemx_long_atomic_inc_on_stream(there, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    mem_load(&count, there, sizeof count);
    T_EQ(count, 1);
    mem_free(DEVICE, there);
    if (strcmp(getenv("SHMEM_DEVICE"), "hip") || !some_are_off_node())
        late = record_late();
    return end_and_launch(late);
}

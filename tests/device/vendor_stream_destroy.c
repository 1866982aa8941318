/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that the program makes and destroys by the vendor's calls: the
 * library gives their handles to the driver no more; see
 * vendor_stream_destroy.sh. */
#include "../memory.h"
#include "../pe/off_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <shmemx_st.h>
#include <shmemx_trig.h>
#include <unistd.h>

enum { STREAMS = 4200 };        /* more than there are queues */

static int (*make)(void **, unsigned), (*destroy)(void *);
static long in[STREAMS];
static uint64_t hits;

/* The watchdog has seen the wait, whose word says that it is not over. */
static void wait_and_destroy(void)
{
    uint64_t *flag = mem_alloc(HOST, sizeof *flag);
    void *s;

    *flag = 1;
    T_EQ(make(&s, 1), 0);
    T_EQ(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 1, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    *flag = 0;
    T_EQ(destroy(s), 0);
    sleep(4);
    mem_free(HOST, flag);
}

static void one_by_one(void)
{
    void *s;

    for (int i = 0; i < STREAMS; i++) {
        T_EQ(make(&s, 1), 0);
        T_EQ(shmemx_long_p_on_stream(&in[i], i + 1, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(destroy(s), 0);
    }
    shmem_barrier_all();
    for (int i = 0; i < STREAMS; i++)
        T_EQ(in[i], i + 1);
}

/* Of the address space: nothing is stored in most of what a trigger keeps. */
static long size_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    T_TRUE(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A trigger keeps nothing of each. */
static void hit_one_by_one(void)
{
    enum { TAGS = 16384, HITS = 300 };
    shmemx_trig_t trig;
    long most = 0;
    void *s;

    T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, TAGS, NULL, 0, &trig), 0);
    T_EQ(shmemx_trig_signal_op(trig, 0, HITS, &hits, 1, SHMEM_SIGNAL_ADD, next),
         0);
    for (int i = 0; i < HITS; i++) {
        T_EQ(make(&s, 1), 0);
        T_EQ(shmemx_trig_hit_on_stream(trig, 0, 1, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(destroy(s), 0);
        if (i == 10)
            most = size_kib() + 12000;
    }
    T_LE(size_kib(), most);
    T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
    shmem_signal_wait_until(&hits, SHMEM_CMP_EQ, 1);
    T_EQ(shmemx_trig_free(&trig), 0);
}

/* So is that of a queue whose start the program never makes. */
static void keep_a_queue(void)
{
    shmemx_queue_t q;
    void *s;

    T_EQ(make(&s, 1), 0);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_atomic_add_int64(q, &in[0], 1, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(destroy(s), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
}

static shmemx_queue_t queue_of(void *s)
{
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    return q;
}

/* A queue refuses everything once its stream is gone, also where the handle is
 * another stream's. */
static void use_queues(void)
{
    shmemx_queue_t ours, vendors;
    shmemx_stream_t s;
    void *t, *again;

    T_EQ(shmemx_stream_create(&s), 0);
    ours = queue_of(s);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_enqueue_atomic_add_int64(ours, &in[0], 1, next, NULL), -EINVAL);
    T_EQ(shmemx_queue_destroy(ours), 0);
    T_EQ(make(&t, 1), 0);
    vendors = queue_of(t);
    T_EQ(shmemx_enqueue_atomic_add_int64(vendors, &in[0], 1, next, NULL), 0);
    T_EQ(destroy(t), 0);
    T_EQ(make(&again, 1), 0);
    if (again == t)
        T_EQ(shmemx_enqueue_start(vendors), -EINVAL);
    T_EQ(destroy(again), 0);
    shmem_barrier_all();
    T_EQ(in[0], 0);
}

int main(int argc, char **argv)
{
    void *driver;

    (void)argv;

    device_begin(SHMEM_THREAD_SINGLE);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    T_TRUE(driver != NULL);
    *(void **)&make = dlsym(driver, "cuStreamCreate");
    *(void **)&destroy = dlsym(driver, "cuStreamDestroy_v2");
    shmem_barrier_all();
    if (argc > 1) {
        use_queues();
        return memory_end();
    }
    wait_and_destroy();
    keep_a_queue();
    hit_one_by_one();
    shmem_barrier_all();
    if (some_are_off_node())
        one_by_one();
    return memory_end();
}

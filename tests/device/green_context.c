/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of green contexts are taken for any operation where they
 * are a part of the PE's context, and refused with a line elsewhere.
 * green_context.sh starts it, with what is to be tried; without a driver that
 * has such contexts it makes another stream. */
#include "../st/st.h"
#include <dlfcn.h>

enum { N = 300 };
static void *driver;
static int (*make_descriptor)(void **out, void *resources, unsigned n);
static int (*make)(void **out, void *desc, int dev, unsigned flags);
static int (*destroy)(void *green);
static int (*to_context)(void **out, void *green);
static int (*make_stream)(void **out, void *green, unsigned flags,
                          int priority);
static int (*push)(void *ctx);
static int (*make_context)(void **out, unsigned flags, int dev);
static int (*init)(unsigned flags);

/* False: there is no such driver. */
static bool bind_driver(void)
{
    const struct { const char *name; void *at; } calls[] = {
        { "cuDevResourceGenerateDesc", &make_descriptor },
        { "cuGreenCtxCreate", &make }, { "cuGreenCtxDestroy", &destroy },
        { "cuCtxFromGreenCtx", &to_context },
        { "cuGreenCtxStreamCreate", &make_stream },
        { "cuCtxPushCurrent_v2", &push }, { "cuCtxCreate_v2", &make_context },
        { "cuInit", &init }
    };

    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!driver || !(*(void **)calls[i].at = dlsym(driver, calls[i].name)))
            return false;
    T_EQ(init(0), 0);
    return true;
}

static void *green_of(int device)
{
    void *descriptor = NULL, *green = NULL;
    int some;

    T_EQ(make_descriptor(&descriptor, &some, 1), 0);
    T_EQ(make(&green, descriptor, device, 1), 0);
    return green;
}

static shmemx_stream_t stream_of(void *green)
{
    void *s = NULL;

    T_EQ(make_stream(&s, green, 1, 0), 0);
    return s;
}

static uint64_t sig;
static long in[N], count;

static void exchange(shmemx_stream_t s, long value)
{
    static long out[N], back[N];

    for (int i = 0; i < N; i++)
        out[i] = value + i;
    T_EQ(shmemx_long_put_signal_on_stream(in, out, N, &sig, (uint64_t)value,
                                          SHMEM_SIGNAL_SET, next, s), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, &sig, SHMEM_CMP_GE,
                                            (uint64_t)value, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(back, in, N, next, s), 0);
    T_EQ(shmemx_long_atomic_inc_on_stream(&count, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_MEM(out, back, sizeof out);
}

static void by_queue(shmemx_stream_t s)
{
    static long from = 5, to;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_putmem(q, &to, &from, sizeof to, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_barrier_all();
    T_EQ(to, 5);
}

T(a_stream_of_a_green_context_serves_every_call)
{
    void *green[2] = { green_of(0), green_of(0) };
    shmemx_stream_t s[3] = { stream_of(green[0]), stream_of(green[1]),
                             st_make() };

    for (int v = 1; v <= 12; v++)
        exchange(s[v % 3], v);
    by_queue(s[0]);
    T_EQ(shmemx_stream_destroy(s[1]), 0);
    T_EQ(shmemx_stream_destroy(s[2]), 0);
    T_EQ(shmemx_stream_destroy(s[0]), 0);
}

/* Streams that no operation is taken for; those of other devices have none. */
static void refused(shmemx_stream_t s)
{
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), -EINVAL);
    T_TRUE(shmemx_long_put_on_stream(in, in, 1, next, s) < 0);
}

T(a_green_context_of_another_one_is_refused)
{
    refused(stream_of(green_of(0)));
}

T(a_green_context_of_another_device_is_refused)
{
    refused(stream_of(green_of(1)));
}

T(a_stream_whose_green_context_is_gone_is_refused)
{
    void *green = green_of(0);
    shmemx_stream_t s = stream_of(green);

    exchange(s, 1);
    T_EQ(destroy(green), 0);
    refused(s);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *ctx = NULL;
    bool none = !bind_driver();

    if (!strcmp(what, "current")) {     /* what the library finds */
        T_EQ(to_context(&ctx, green_of(0)), 0);
        T_EQ(push(ctx), 0);
    } else if (!strcmp(what, "other")) {
        T_EQ(make_context(&ctx, 0, 0), 0);
    }
    st_begin();
    if (none)
        exchange(st_make(), 1);
    else if (!strcmp(what, "other") || !strcmp(what, "old"))
        T_RUN(a_green_context_of_another_one_is_refused);
    else if (!strcmp(what, "device"))
        T_RUN(a_green_context_of_another_device_is_refused);
    else if (!strcmp(what, "gone"))
        T_RUN(a_stream_whose_green_context_is_gone_is_refused);
    else
        T_RUN(a_stream_of_a_green_context_serves_every_call);
    return st_end();
}

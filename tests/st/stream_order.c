/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: streams copy, fill, call and run kernels in their order, and
 * refuse what they cannot do.
 * PEs: 1 2 */
#include "../t.h"
#include <errno.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N = 1000, GROUPS = 8, ITEMS = 125 };

static bool is_software(void)
{
    shmemx_device_info_t d;

    return !shmemx_device_info(&d) && !strcmp(d.driver, "host");
}

static shmemx_stream_t made(void)
{
    shmemx_stream_t s = NULL;

    T_EQ(shmemx_stream_create(&s), 0);
    T_TRUE(s != NULL);
    return s;
}

T(the_device_has_a_name_and_driver)
{
    shmemx_device_info_t d;

    T_EQ(shmemx_device_info(&d), 0);
    T_TRUE(!strcmp(d.driver, "cuda") || !strcmp(d.driver, "hip") ||
           is_software());
    T_TRUE(d.name[0] && d.id[0]);
    T_TRUE(d.count >= 1 && d.ordinal < d.count);
    T_TRUE(d.memory > 0);
    T_TRUE(d.direct || !is_software());
    T_EQ(shmemx_device_info(NULL), -EINVAL);
}

static bool is_engine(const shmemx_engines_t *e, const char *put,
                      const char *atomic)
{
    return !strcmp(e->put, put) && !strcmp(e->atomic, atomic);
}

/* Who does what goes to other nodes: the NIC, where it is Slingshot's. */
static const char *off_node_engine(void)
{
    const char *provider = getenv("SHMEM_OFI_PROVIDER");
    const char *trigger = getenv("SHMEM_TRIGGER");

    if (trigger && !strcmp(trigger, "soft"))
        return "soft";
    if (provider && !strcmp(provider, "sockets"))
        return trigger && !strcmp(trigger, "nic") ? "nic" : "soft";
    return provider ? !strcmp(provider, "cxi") ? "nic" : "soft"
                    : access("/sys/class/cxi", F_OK) ? "soft" : "nic";
}

T(the_device_names_the_engines_of_streams)
{
    const char *engine = off_node_engine();
    static int here;
    bool is_off_node = false;
    shmemx_device_info_t d;
    void *some = shmem_space_malloc(SHMEM_SPACE_DEVICE, 8);

    T_EQ(shmemx_device_info(&d), 0);
    shmem_free(some);
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        is_off_node = is_off_node || !shmem_ptr(&here, pe);
    T_TRUE(is_off_node ? is_engine(&d.far, engine, engine)
                       : is_engine(&d.far, "", ""));
    T_STR(d.near_device.put, "copy");
    T_STR(d.near_host.put, "copy");
    T_TRUE(!is_software() ||
           !strcmp(d.near_host.atomic, d.near_device.atomic));
}

struct sums {
    long *at;
    long per_group[GROUPS];
};

/* Every item adds in phase 0; the first of a group has the sum in phase 1. */
static void add(const shmemx_item_t *item, void *arg)
{
    struct sums *s = arg;
    long *sum = item->scratch;

    if (item->phase == 0)
        *sum += s->at[item->group * item->items + item->item];
    else if (item->item == 0)
        s->per_group[item->group] = *sum;
}

struct note {
    int may, taken;
};

static void take_note(void *arg)
{
    struct note *n = arg;

    while (!__atomic_load_n(&n->may, __ATOMIC_ACQUIRE))
        usleep(1000);
    __atomic_store_n(&n->taken, 1, __ATOMIC_RELEASE);
}

T(a_stream_runs_what_it_is_given_in_order)
{
    shmemx_stream_t streams[] = { NULL, made() };
    shmemx_grid_t grid = {
        .groups = GROUPS, .items = ITEMS, .phases = 2, .scratch = sizeof(long)
    };
    long *d = shmem_space_calloc(SHMEM_SPACE_DEVICE, N, sizeof *d);
    static long from[N], to[N];

    T_TRUE(d != NULL);
    for (int k = 0; k < 2; k++) {
        struct sums s = { .at = d };
        struct note note = { 0 };
        long sum = 0;

        for (int i = 0; i < N; i++)
            from[i] = i + k;
        T_EQ(shmemx_stream_call(streams[k], take_note, &note), 0);
        T_EQ(shmemx_stream_query(streams[k]), -EAGAIN);
        __atomic_store_n(&note.may, 1, __ATOMIC_RELEASE);
        T_EQ(shmemx_stream_copy(streams[k], d, from, sizeof from), 0);
        T_EQ(shmemx_stream_fill(streams[k], d, 0, 2 * sizeof *d), 0);
        T_EQ(shmemx_stream_launch(streams[k], &grid, add, &s),
             is_software() ? 0 : -ENODEV);
        grid.groups = 0;        /* it was taken at the call */
        T_EQ(shmemx_stream_copy(streams[k], to, d, sizeof to), 0);
        T_EQ(shmemx_stream_sync(streams[k]), 0);
        T_EQ(shmemx_stream_query(streams[k]), 0);
        T_EQ(note.taken, 1);
        from[0] = from[1] = 0;
        T_TRUE(!memcmp(from, to, sizeof to));
        for (int g = 0; g < GROUPS; g++)
            sum += s.per_group[g];
        for (int i = 0; i < N; i++)
            sum -= from[i];
        T_TRUE(sum == 0 || !is_software());
        grid.groups = GROUPS;
    }
    T_EQ(shmemx_stream_destroy(streams[1]), 0);
    shmem_free(d);
}

T(what_is_enqueued_runs_although_its_stream_is_destroyed)
{
    shmemx_stream_t s = made();
    struct note note = { 0 };

    T_EQ(shmemx_stream_call(s, take_note, &note), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    __atomic_store_n(&note.may, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 500; i++)
        if (__atomic_load_n(&note.taken, __ATOMIC_ACQUIRE))
            break;
        else
            usleep(10000);
    T_EQ(__atomic_load_n(&note.taken, __ATOMIC_ACQUIRE), 1);
}

static void last(void *arg)
{
    usleep(20000);
    *(bool *)arg = true;
}

/* Every look of its own would take the processor from whom it waits for.  It
 * wakes now and then after 100 ms, which the call may take here and there. */
T(who_waits_for_a_stream_sleeps)
{
    static bool done;
    struct rusage before, after;
    shmemx_stream_t s = made();

    done = false;
    T_EQ(shmemx_stream_call(s, last, &done), 0);
    getrusage(RUSAGE_THREAD, &before);
    T_EQ(shmemx_stream_sync(s), 0);
    getrusage(RUSAGE_THREAD, &after);
    T_TRUE(done);
    if (is_software())
        T_LE(after.ru_nvcsw - before.ru_nvcsw, 50);
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(wrong_arguments_are_refused)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_grid_t none = grid, much = grid;
    shmemx_stream_t s = made();
    char c = 5;

    none.groups = 0;
    much.scratch = 2 << 20;
    T_EQ(shmemx_stream_create(NULL), -EINVAL);
    T_EQ(shmemx_stream_destroy(NULL), -EINVAL);
    T_EQ(shmemx_stream_copy(s, NULL, &c, 1), -EINVAL);
    T_EQ(shmemx_stream_copy(s, &c, NULL, 1), -EINVAL);
    T_EQ(shmemx_stream_copy(s, NULL, NULL, 0), 0);
    T_EQ(shmemx_stream_fill(s, NULL, 0, 1), -EINVAL);
    T_EQ(shmemx_stream_fill(s, NULL, 0, 0), 0);
    T_EQ(shmemx_stream_call(s, NULL, NULL), -EINVAL);
    T_EQ(shmemx_stream_launch(s, NULL, add, NULL), -EINVAL);
    T_EQ(shmemx_stream_launch(s, &grid, NULL, NULL), -EINVAL);
    T_EQ(shmemx_stream_launch(s, &none, add, NULL),
         is_software() ? -EINVAL : -ENODEV);
    T_EQ(shmemx_stream_launch(s, &much, add, NULL),
         is_software() ? -EINVAL : -ENODEV);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(s), -EINVAL);
    T_EQ(shmemx_stream_sync(s), -EINVAL);
    T_EQ(shmemx_stream_query(s), -EINVAL);
    T_EQ(shmemx_stream_copy(s, &c, "x", 1), -EINVAL);
    T_EQ(c, 5);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(the_device_has_a_name_and_driver);
    T_RUN(the_device_names_the_engines_of_streams);
    T_RUN(a_stream_runs_what_it_is_given_in_order);
    T_RUN(what_is_enqueued_runs_although_its_stream_is_destroyed);
    T_RUN(who_waits_for_a_stream_sleeps);
    T_RUN(wrong_arguments_are_refused);
    shmem_finalize();
    return T_DONE();
}

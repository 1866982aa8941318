/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a stream records each launch does as if it were enqueued
 * again, graphs live as long as they run, and what is no graph is refused.
 * PEs: 1 2 */
#include "st.h"

enum { LAUNCHES = 1000, N = 20, STEP = 3 };

/* On the device of the next PE, and on this one's. */
struct room {
    long put[N], got[N], copied[N], sum, was, filled;
    uint64_t signal;
};

static struct room *room, *own;
static long *from;
static uint64_t calls, items;

static void call(void *arg)
{
    __atomic_fetch_add((uint64_t *)arg, 1, __ATOMIC_SEQ_CST);
}

static void work(const shmemx_item_t *item, void *arg)
{
    long *mine = item->scratch;

    if (item->phase == 0)
        *mine += 1;
    else if (item->item == 0)
        __atomic_fetch_add((uint64_t *)arg, (uint64_t)*mine, __ATOMIC_SEQ_CST);
}

/* One of each kind. */
static void enqueue(shmemx_stream_t s)
{
    const shmemx_grid_t grid = {
        .groups = 4, .items = 3, .phases = 2, .scratch = sizeof(long)
    };

    T_EQ(shmemx_long_put_on_stream(room->put, from, N, next, s), 0);
    T_EQ(shmemx_long_atomic_add_on_stream(&room->sum, STEP, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_atomic_fetch_add_on_stream(&own->was, &room->sum, STEP,
                                                next, s), 0);
    T_EQ(shmemx_long_put_signal_on_stream(room->put, from, N, &room->signal,
                                          1, SHMEM_SIGNAL_ADD, next, s), 0);
    T_EQ(shmemx_long_get_on_stream(own->got, room->put, N, next, s), 0);
    T_EQ(shmemx_stream_copy(s, own->copied, own->got, sizeof own->got), 0);
    T_EQ(shmemx_stream_fill(s, &own->filled, 5, sizeof own->filled), 0);
    T_EQ(shmemx_stream_call(s, call, &calls), 0);
    if (st_kernels())
        T_EQ(shmemx_stream_launch(s, &grid, work, &items), 0);
}

static void clear(void)
{
    const struct room zero = { .sum = 0 };
    shmemx_stream_t s = st_make();

    shmem_barrier_all();
    T_EQ(shmemx_stream_copy(s, room, &zero, sizeof zero), 0);
    T_EQ(shmemx_stream_copy(s, own, &zero, sizeof zero), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    calls = items = 0;
    shmem_barrier_all();
}

/* What the stream has put is at other PEs. */
static void finish(shmemx_stream_t s)
{
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
}

/* What has come to both places when all PEs are done. */
static void check(struct room *there, struct room *here)
{
    shmemx_stream_t s = st_make();

    shmem_barrier_all();
    T_EQ(shmemx_stream_copy(s, there, room, sizeof *there), 0);
    T_EQ(shmemx_stream_copy(s, here, own, sizeof *here), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
}

static void begin(shmemx_stream_t s)
{
    T_EQ(shmemx_stream_capture_begin(s), 0);
}

static shmemx_graph_t recorded(shmemx_stream_t s)
{
    shmemx_graph_t g = NULL;

    T_EQ(shmemx_stream_capture_end(s, &g), 0);
    T_TRUE(g != NULL);
    return g;
}

/* ---- launches ---- */

T(a_thousand_launches_do_what_as_many_steps_do)
{
    struct room one[2], other[2];
    shmemx_stream_t s = st_make();
    shmemx_graph_t g;
    uint64_t n[2];

    clear();
    for (int i = 0; i < LAUNCHES; i++)
        enqueue(s);
    finish(s);
    check(&one[0], &one[1]);
    n[0] = calls;
    n[1] = items;
    clear();
    begin(s);
    enqueue(s);
    g = recorded(s);
    check(&other[0], &other[1]);
    T_EQ(other[0].sum, 0);      /* nothing is done but by launches */
    T_EQ(other[0].signal, 0);
    T_EQ(calls, 0);
    for (int i = 0; i < LAUNCHES; i++)
        T_EQ(shmemx_graph_launch(g, s), 0);
    finish(s);
    check(&other[0], &other[1]);
    T_MEM(&one[0], &other[0], sizeof one[0]);
    T_MEM(&one[1], &other[1], sizeof one[1]);
    T_EQ(other[0].sum, 2 * STEP * LAUNCHES);
    T_EQ(other[0].signal, LAUNCHES);
    T_EQ(calls, n[0]);
    T_EQ(items, n[1]);
    T_EQ(shmemx_graph_destroy(g), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(launches_of_two_graphs_and_of_one_on_two_streams)
{
    shmemx_stream_t s = st_make(), t = st_make();
    shmemx_graph_t first, second, nothing;
    struct room there, here;

    clear();
    begin(s);
    begin(t);
    T_EQ(shmemx_long_atomic_add_on_stream(&room->sum, 1, next, s), 0);
    T_EQ(shmemx_signal_add_on_stream(&room->signal, 1, next, t), 0);
    second = recorded(t);
    nothing = (begin(t), recorded(t));
    first = recorded(s);
    for (int i = 0; i < 200; i++) {
        T_EQ(shmemx_graph_launch(first, i % 2 ? s : t), 0);
        T_EQ(shmemx_graph_launch(nothing, s), 0);
        T_EQ(shmemx_graph_launch(second, t), 0);
    }
    finish(s);
    finish(t);
    check(&there, &here);
    T_EQ(there.sum, 200);
    T_EQ(there.signal, 200);
    T_EQ(shmemx_graph_destroy(first), 0);
    T_EQ(shmemx_graph_destroy(second), 0);
    T_EQ(shmemx_graph_destroy(nothing), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(t), 0);
}

T(a_graph_that_is_destroyed_ends_what_it_does)
{
    uint64_t *start_flag;
    shmemx_stream_t s = st_make(), t = st_make();
    shmemx_graph_t g;
    struct room there, here;

    clear();
    begin(s);
    enqueue(s);
    g = recorded(s);
    start_flag = st_start_flag(t);
    T_EQ(shmemx_graph_launch(g, t), 0);
    T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_graph_destroy(g), 0);
    T_EQ(shmemx_graph_launch(g, t), -EINVAL);
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    st_open(start_flag);
    finish(t);
    finish(s);
    check(&there, &here);
    T_EQ(there.sum, 4 * STEP);
    T_EQ(calls, 2);
    shmem_free(start_flag);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(t), 0);
}

/* ---- misuse ---- */

T(what_is_no_graph_and_no_stream_is_refused)
{
    shmemx_stream_t s = st_make(), t = st_make();
    shmemx_graph_t g = (shmemx_graph_t)77, was;

    T_EQ(shmemx_stream_capture_begin(NULL), -EINVAL);
    T_EQ(shmemx_stream_capture_begin((shmemx_stream_t)1), -EINVAL);
    T_EQ(shmemx_stream_capture_begin((shmemx_stream_t)2), -EINVAL);
    T_EQ(shmemx_stream_capture_end(s, &g), -EINVAL);
    T_EQ(g, 77);
    T_EQ(shmemx_graph_launch(g, s), -EINVAL);
    T_EQ(shmemx_graph_destroy(g), -EINVAL);
    T_EQ(shmemx_graph_launch(NULL, s), -EINVAL);
    T_EQ(shmemx_graph_destroy(NULL), -EINVAL);
    begin(s);
    T_EQ(shmemx_stream_capture_begin(s), -EINVAL);
    T_EQ(shmemx_stream_capture_end(s, NULL), -EINVAL);
    T_EQ(shmemx_stream_capture_end(t, &g), -EINVAL);
    T_EQ(shmemx_stream_sync(s), -ENOTSUP);
    T_EQ(shmemx_stream_query(s), -ENOTSUP);
    g = recorded(s);
    begin(t);
    T_EQ(shmemx_graph_launch(g, t), -ENOTSUP);
    T_EQ(shmemx_graph_launch(g, s), 0);
    was = g;
    g = recorded(t);
    T_EQ(shmemx_graph_launch(g, t), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_sync(t), 0);
    T_EQ(shmemx_graph_destroy(g), 0);
    T_EQ(shmemx_graph_destroy(g), -EINVAL);
    T_EQ(shmemx_graph_destroy(was), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(t), 0);
}

T(a_stream_that_is_destroyed_records_no_more)
{
    shmemx_stream_t s = st_make();
    shmemx_graph_t g = NULL;
    struct room there, here;

    clear();
    begin(s);
    enqueue(s);
    T_EQ(shmemx_stream_destroy(s), 0);
    if (st_kernels())           /* a GPU's driver is asked about no dead one */
        T_EQ(shmemx_stream_capture_end(s, &g), -EINVAL);
    check(&there, &here);
    T_EQ(there.sum, 0);
    T_EQ(calls, 0);
}

int main(void)
{
    shmemx_stream_t s;
    shmemx_graph_t left;

    st_begin();
    room = st_room(true, sizeof *room);
    own = st_room(true, sizeof *own);
    from = st_room(false, N * sizeof *from);
    for (int i = 0; i < N; i++)
        from[i] = 1000 * me + i;
    T_RUN(a_thousand_launches_do_what_as_many_steps_do);
    T_RUN(launches_of_two_graphs_and_of_one_on_two_streams);
    T_RUN(a_graph_that_is_destroyed_ends_what_it_does);
    T_RUN(what_is_no_graph_and_no_stream_is_refused);
    T_RUN(a_stream_that_is_destroyed_records_no_more);
    /* A graph is the library's that made it. */
    s = st_make();
    begin(s);
    left = recorded(s);
    shmem_finalize();
    shmem_init();
    s = st_make();
    T_EQ(shmemx_graph_launch(left, s), -EINVAL);
    T_EQ(shmemx_graph_destroy(left), -EINVAL);
    return st_end();
}

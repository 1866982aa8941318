/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a stream records is done by each launch, as often as one
 * likes and on any stream, and by nothing else; what graphs own goes with
 * them. */
#include "gtl_test.h"

enum { LAUNCHES = 1000, AT = 16, SUM = 0, CALLS = 1, RELEASE = 2, BACK = 3 };

static uint64_t *device;

static void add_on(void *s, uint64_t *word, uint64_t *result)
{
    struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = word, .value = 1, .result = result
    };

    T_EQ(gtl->amo(&a, s), 0);
}

static void begin(void *s)
{
    if (!T_EQ(gtl->capture_begin(s), 0))
        fprintf(stderr, "%s\n", gtl_error());
}

static void *recorded(void *s)
{
    void *graph = NULL;

    if (!T_EQ(gtl->capture_end(s, &graph), 0))
        fprintf(stderr, "%s\n", gtl_error());
    T_TRUE(graph != NULL);
    return graph;
}

static void count_call(void *arg)
{
    __atomic_fetch_add(&words.here[(intptr_t)arg], 1, __ATOMIC_SEQ_CST);
}

/* HIP's first runtimes have callbacks only, which no graph records. */
static bool calls = true;

static void call_on(void *s)
{
    int rc = gtl->host_call(count_call, (void *)CALLS, s);

    calls = rc != -EBUSY || strcmp(gtl->name, "hip");
    T_TRUE(!rc || !calls);
}

/* ---- what is recorded ---- */

/* One of each kind; the sum counts them, and so does each copy of it. */
static void step(void *s)
{
    const struct gtl_blocks rows = { 8, 4, 16, 8 };

    add_on(s, device, device + BACK);
    T_EQ(gtl->copy(device + 8, device, 8, s), 0);
    T_EQ(gtl->copy_blocks(device + 16, device + 5, &rows, s), 0);
    T_EQ(gtl->fill(device + 4, 3, 8, s), 0);
    T_EQ(gtl->write64(words.there + AT, 7, s), 0);
    T_EQ(gtl->wait64(words.there + AT, 7, s), 0);
    call_on(s);
    T_EQ(gtl->release(s), 0);
    T_EQ(gtl->copy(words.there + SUM, device, 8, s), 0);
}

static void clear(void)
{
    T_EQ(gtl_fill_now(device, 0, PAGE), 0);
    for (int i = 0; i < 64; i++)
        set_word(i, 0);
}

T(a_launch_does_what_was_recorded_and_so_does_the_next)
{
    uint64_t one[32], other[32];
    void *graph;

    clear();
    for (int i = 0; i < LAUNCHES; i++)
        step(some_stream);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl_copy_now(one, device, sizeof one), 0);
    clear();
    begin(some_stream);
    step(some_stream);
    graph = recorded(some_stream);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(device_word(device), 0);
    T_EQ(get_word(CALLS), 0);
    for (int i = 0; i < LAUNCHES; i++)
        T_EQ(gtl->graph_launch(graph, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl_copy_now(other, device, sizeof other), 0);
    T_MEM(one, other, sizeof one);
    T_EQ(get_word(SUM), LAUNCHES);
    T_EQ(get_word(CALLS), calls ? LAUNCHES : 0);
    T_EQ(other[BACK], LAUNCHES - 1);
    gtl->graph_destroy(graph);
}

T(a_graph_may_be_long_and_may_be_empty)
{
    enum { LONG = 700 };
    void *graph, *nothing;

    clear();
    begin(some_stream);
    nothing = recorded(some_stream);
    begin(some_stream);
    for (int i = 0; i < LONG; i++)
        add_on(some_stream, device, NULL);
    graph = recorded(some_stream);
    for (int i = 0; i < 5; i++) {
        T_EQ(gtl->graph_launch(nothing, some_stream), 0);
        T_EQ(gtl->graph_launch(graph, some_stream), 0);
    }
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(device_word(device), 5 * LONG);
    gtl->graph_destroy(graph);
    gtl->graph_destroy(nothing);
}

T(a_stream_that_records_says_so)
{
    uint64_t id = 0, other = 0, stream = 0, n;
    void *graph;

    T_TRUE(!gtl->is_capturing(some_stream));
    T_EQ(gtl->stream_check(some_stream, &stream), 0);
    T_EQ(gtl->graph_id(some_stream, &id), -EINVAL);
    T_EQ(gtl->capture_end(some_stream, &graph), -EINVAL);
    T_EQ(gtl->graph_own(some_stream, count_call, NULL), -EINVAL);
    T_TRUE(gtl->capture_begin(NULL) != 0);
    begin(some_stream);
    T_TRUE(gtl->is_capturing(some_stream));
    T_EQ(gtl->stream_check(some_stream, &n), -EBUSY);
    T_EQ(n, stream);
    T_EQ(gtl->graph_id(some_stream, &id), 0);
    T_EQ(gtl->graph_id(some_stream, &n), 0);
    T_EQ(n, id);
    T_EQ(gtl->capture_begin(some_stream), -EINVAL);
    gtl->graph_destroy(recorded(some_stream));
    T_TRUE(!gtl->is_capturing(some_stream));
    for (int i = 0; i < 5; i++) {
        begin(some_stream);
        T_EQ(gtl->graph_id(some_stream, &other), 0);
        T_TRUE(other != id);
        id = other;
        gtl->graph_destroy(recorded(some_stream));
    }
}

/* The vendors' calls end the capture, so that nothing may ask them. */
T(a_stream_that_records_cannot_be_asked_how_far_it_is)
{
    void *e, *graph, *other = new_stream();

    if (!is_host())
        return;
    T_EQ(gtl->event_create(&e), 0);
    begin(some_stream);
    T_EQ(gtl->stream_query(some_stream), -EBUSY);
    T_EQ(gtl->stream_sync(some_stream), -EBUSY);
    T_EQ(gtl->event_record(e, some_stream), -EBUSY);
    T_EQ(gtl->event_record(e, other), 0);
    T_EQ(gtl->event_wait(e, some_stream), -EBUSY);
    graph = recorded(some_stream);
    T_EQ(gtl->stream_query(some_stream), 0);
    gtl->graph_destroy(graph);
    gtl->event_destroy(e);
    gtl->stream_destroy(other);
}

T(a_graph_is_launched_into_no_other_one)
{
    void *graph, *other = new_stream(), *second;

    clear();
    begin(some_stream);
    add_on(some_stream, device, NULL);
    graph = recorded(some_stream);
    begin(other);
    T_EQ(gtl->graph_launch(graph, other), -EBUSY);
    add_on(other, device, NULL);
    T_EQ(gtl->graph_launch(graph, some_stream), 0);
    second = recorded(other);
    T_EQ(gtl->graph_launch(second, other), 0);
    T_EQ(gtl->stream_sync(other), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(device_word(device), 2);
    gtl->graph_destroy(graph);
    gtl->graph_destroy(second);
    gtl->stream_destroy(other);
}

/* ---- several streams ---- */

T(launches_of_a_graph_follow_each_other_on_any_streams)
{
    void *a = new_stream(), *b = new_stream(), *graph;

    clear();
    begin(a);
    add_on(a, device, NULL);
    T_EQ(gtl->copy(words.there + SUM, device, 8, a), 0);
    graph = recorded(a);
    T_EQ(gtl->wait64(words.there + RELEASE, 1, a), 0);
    T_EQ(gtl->graph_launch(graph, a), 0);
    T_EQ(gtl->graph_launch(graph, b), 0);
    pause_ms(5000);
    T_EQ(gtl->stream_query(b), -EAGAIN);
    T_EQ(get_word(SUM), 0);
    set_word(RELEASE, 1);
    T_EQ(gtl->stream_sync(b), 0);
    T_EQ(get_word(SUM), 2);
    for (int i = 0; i < LAUNCHES; i++)
        T_EQ(gtl->graph_launch(graph, i % 3 ? a : b), 0);
    gtl->graph_destroy(graph);
    T_EQ(gtl->stream_sync(a), 0);
    T_EQ(gtl->stream_sync(b), 0);
    T_EQ(get_word(SUM), LAUNCHES + 2);
    gtl->stream_destroy(a);
    gtl->stream_destroy(b);
}

T(graphs_of_several_streams_hold_up_no_other)
{
    void *a = new_stream(), *b = new_stream(), *first, *second;

    clear();
    begin(a);
    begin(b);
    add_on(a, device, NULL);
    add_on(b, device + 8, NULL);
    call_on(b);
    second = recorded(b);
    first = recorded(a);
    T_EQ(gtl->wait64(words.there + RELEASE, 1, a), 0);
    for (int i = 0; i < 100; i++) {
        T_EQ(gtl->graph_launch(first, a), 0);
        T_EQ(gtl->graph_launch(second, b), 0);
    }
    T_EQ(gtl->stream_sync(b), 0);
    T_EQ(get_word(CALLS), calls ? 100 : 0);
    set_word(RELEASE, 1);
    T_EQ(gtl->stream_sync(a), 0);
    T_EQ(device_word(device), 100);
    T_EQ(device_word(device + 8), 100);
    gtl->graph_destroy(first);
    gtl->graph_destroy(second);
    gtl->stream_destroy(a);
    gtl->stream_destroy(b);
}

/* ---- what graphs own ---- */

static int ended;

static void end(void *arg)
{
    __atomic_fetch_add(&ended, (int)(intptr_t)arg, __ATOMIC_SEQ_CST);
}

static bool has_ended(int n)
{
    for (int i = 0; i < 2000; i++) {
        if (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) == n)
            return true;
        pause_ms(1000);
    }
    return false;
}

T(what_a_graph_owns_goes_with_its_last_launch)
{
    void *other = new_stream(), *graph;

    clear();
    ended = 0;
    begin(some_stream);
    T_EQ(gtl->graph_own(some_stream, end, (void *)1), 0);
    add_on(some_stream, device, NULL);
    T_EQ(gtl->graph_own(some_stream, end, (void *)10), 0);
    graph = recorded(some_stream);
    T_EQ(gtl->graph_launch(graph, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl->wait64(words.there + RELEASE, 1, other), 0);
    T_EQ(gtl->graph_launch(graph, other), 0);
    gtl->graph_destroy(graph);
    pause_ms(3000);
    T_EQ(__atomic_load_n(&ended, __ATOMIC_SEQ_CST), 0);
    set_word(RELEASE, 1);
    T_EQ(gtl->stream_sync(other), 0);
    /* Some drivers free it when another graph is begun. */
    begin(some_stream);
    graph = recorded(some_stream);
    T_TRUE(has_ended(11));
    T_EQ(device_word(device), 2);
    gtl->graph_destroy(graph);
    gtl->stream_destroy(other);
}

T(what_is_recorded_goes_with_the_stream)
{
    void *s = new_stream(), *graph;
    uint64_t id;

    if (!is_host())             /* the vendors leave it undefined */
        return;
    clear();
    ended = 0;
    T_EQ(gtl->copy(device + 1, device, 8, s), 0);
    begin(s);
    add_on(s, device, NULL);
    T_EQ(gtl->graph_own(s, end, (void *)1), 0);
    gtl->stream_destroy(s);
    T_EQ(ended, 1);
    T_EQ(gtl->capture_end(s, &graph), -EINVAL);
    T_EQ(gtl->graph_id(s, &id), -EINVAL);
    T_TRUE(!gtl->is_capturing(s));
    s = new_stream();           /* it may have that one's memory */
    T_TRUE(!gtl->is_capturing(s));
    add_on(s, device, NULL);
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(device_word(device), 1);
    gtl->stream_destroy(s);
}

/* ---- the software device ---- */

static void sum(const struct shmemx_item *item, void *arg)
{
    uint64_t *mine = item->scratch;

    if (item->phase == 0)
        *mine += item->item;
    else if (item->item == 0)
        __atomic_fetch_add((uint64_t *)arg, *mine, __ATOMIC_SEQ_CST);
}

/* A group waits for all others. */
static void synchronize(const struct shmemx_item *item, void *arg)
{
    uint64_t *come = arg, all;

    all = __atomic_add_fetch(come, 1, __ATOMIC_SEQ_CST);
    all = (all + item->groups - 1) / item->groups * item->groups;
    while (__atomic_load_n(come, __ATOMIC_SEQ_CST) < all)
        pause_ms(0);
}

T(kernels_of_a_graph_have_what_the_stream_of_the_launch_has)
{
    const struct shmemx_grid wide = {
        .groups = 6, .items = 5, .phases = 2, .scratch = 8
    };
    const struct shmemx_grid together = {
        .groups = 4, .items = 1, .phases = 1, .resident = 4
    };
    const struct shmemx_grid crowd = {
        .groups = 100000, .items = 1, .phases = 1, .resident = 100000
    };
    static uint64_t total, come;
    void *a = new_stream(), *b = new_stream(), *graph;

    if (!is_host())
        return;
    begin(a);
    T_EQ(gtl->launch(&wide, sum, &total, a), 0);
    T_EQ(gtl->launch(&together, synchronize, &come, a), 0);
    T_EQ(gtl->launch(&wide, sum, &total, a), 0);
    graph = recorded(a);
    gtl->stream_destroy(a);
    a = new_stream();
    for (int i = 0; i < 50; i++)
        T_EQ(gtl->graph_launch(graph, i % 2 ? a : b), 0);
    gtl->graph_destroy(graph);
    T_EQ(gtl->stream_sync(a), 0);
    T_EQ(gtl->stream_sync(b), 0);
    T_EQ(total, 50 * 2 * 6 * 10);
    T_EQ(come, 50 * 4);
    /* More than there are threads for are refused, and nothing is enqueued. */
    begin(a);
    T_EQ(gtl->launch(&crowd, synchronize, &come, a), 0);
    graph = recorded(a);
    T_EQ(gtl->graph_launch(graph, a), -ENOSPC);
    T_EQ(gtl->stream_sync(a), 0);
    T_EQ(come, 50 * 4);
    T_EQ(gtl->launch(&together, synchronize, &come, a), 0);
    T_EQ(gtl->stream_sync(a), 0);
    gtl->graph_destroy(graph);
    gtl->stream_destroy(a);
    gtl->stream_destroy(b);
}

/* Operations that are counted while a stream records are those of launches. */
T(operations_are_owed_by_launches)
{
    void *s = new_stream(), *graph;

    if (!is_host())
        return;
    clear();
    begin(s);
    add_on(s, device, NULL);
    gtl->count_ops(s, 1);
    T_TRUE(!gtl->owes_ops(s));
    graph = recorded(s);
    T_TRUE(!gtl->owes_ops(s));
    T_EQ(gtl->wait64(words.there + RELEASE, 1, s), 0);
    T_TRUE(!gtl->owes_ops(s));
    T_EQ(gtl->graph_launch(graph, s), 0);
    T_TRUE(gtl->owes_ops(s));
    set_word(RELEASE, 1);
    T_EQ(gtl->stream_sync(s), 0);
    T_TRUE(!gtl->owes_ops(s));
    gtl->graph_destroy(graph);
    gtl->stream_destroy(s);
}

int main(void)
{
    int status;

    if (!open_device(&status))
        return status;
    device = device_memory(2 * PAGE);
    T_RUN(a_launch_does_what_was_recorded_and_so_does_the_next);
    T_RUN(a_graph_may_be_long_and_may_be_empty);
    T_RUN(a_stream_that_records_says_so);
    T_RUN(a_stream_that_records_cannot_be_asked_how_far_it_is);
    T_RUN(a_graph_is_launched_into_no_other_one);
    T_RUN(launches_of_a_graph_follow_each_other_on_any_streams);
    T_RUN(graphs_of_several_streams_hold_up_no_other);
    T_RUN(what_a_graph_owns_goes_with_its_last_launch);
    T_RUN(what_is_recorded_goes_with_the_stream);
    T_RUN(kernels_of_a_graph_have_what_the_stream_of_the_launch_has);
    T_RUN(operations_are_owed_by_launches);
    gtl->free(device);
    close_device();
    return T_DONE();
}

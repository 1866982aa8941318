/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a graph cannot replay is refused by name, and the capture
 * goes on; what a launch finds gone (a request, a queue, an epoch, a team) is
 * reported, and the next sync says so, once; nothing waits for it.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "st.h"

static shmemx_stream_t s;

static void begin(void)
{
    T_EQ(shmemx_stream_capture_begin(s), 0);
}

static shmemx_graph_t recorded(void)
{
    shmemx_graph_t g = NULL;

    T_EQ(shmemx_stream_capture_end(s, &g), 0);
    return g;
}

/* A launch whose operation is gone, and one more sync. */
static void launch_late(shmemx_graph_t g)
{
    T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_stream_sync(s), -EIO);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_graph_destroy(g), 0);
}

T(waits_for_numbers_are_refused)
{
    uint64_t *word = st_room(false, 2 * sizeof *word);
    int status[2] = { 0, 0 };
    shmemx_graph_t g;
    size_t found;

    begin();
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, word, SHMEM_CMP_GE, 0, s),
         -ENOTSUP);
    T_EQ(shmemx_uint64_wait_until_on_stream(word, SHMEM_CMP_EQ, 0, s),
         -ENOTSUP);
    T_EQ(shmemx_uint64_wait_until_any_on_stream(&found, word, 2, status,
                                                SHMEM_CMP_EQ, 0, s), -ENOTSUP);
    T_EQ(shmemx_stream_fill(s, word, 1, sizeof *word), 0);
    g = recorded();
    T_EQ(*word, 0);
    T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(*word, 0x0101010101010101);
    T_EQ(shmemx_graph_destroy(g), 0);
    shmem_free(word);
}

T(messages_for_one_start_are_refused)
{
    static long out, in;
    shmemx_graph_t g;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    out = me;
    T_EQ(shmemx_enqueue_send(q, &out, sizeof out, next, 4, NULL), 0);
    T_EQ(shmemx_enqueue_recv(q, &in, sizeof in, prev, 4, NULL), 0);
    begin();
    T_EQ(shmemx_enqueue_start(q), -ENOTSUP);
    g = recorded();
    /* The queue still has them. */
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(in, prev);
    T_EQ(shmemx_graph_destroy(g), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_barrier_all();
}

T(a_request_that_was_freed)
{
    static long from, to;
    shmemx_graph_t g;
    shmemx_queue_t q;
    shmemx_req_t r;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_put_init(&to, &from, sizeof to, next, &r), 0);
    begin();
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    g = recorded();
    T_EQ(shmemx_req_free(&r), 0);
    launch_late(g);
    T_EQ(shmemx_queue_destroy(q), 0);
}

T(a_queue_that_was_destroyed)
{
    static uint64_t word;
    shmemx_graph_t g;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_atomic_add_uint64(q, &word, 1, me, NULL), 0);
    begin();
    T_EQ(shmemx_enqueue_start(q), 0);
    g = recorded();
    T_EQ(shmemx_queue_destroy(q), 0);
    launch_late(g);
    T_EQ(word, 0);
}

T(an_epoch_that_was_destroyed)
{
    uint64_t *word = st_room(false, sizeof *word);
    shmemx_epoch_t e;
    shmemx_graph_t g;

    T_EQ(shmemx_epoch_create(NULL, &e), -EINVAL);
    T_EQ(shmemx_epoch_create(word, NULL), -EINVAL);
    T_EQ(shmemx_epoch_create((uint64_t *)((char *)word + 4), &e), -EINVAL);
    T_EQ(shmemx_epoch_create(word, &e), 0);
    begin();
    T_EQ(shmemx_epoch_wait_on_stream(e, 1, s), 0);
    g = recorded();
    T_EQ(shmemx_epoch_destroy(e), 0);
    T_EQ(shmemx_epoch_destroy(e), -EINVAL);
    T_EQ(shmemx_epoch_wait_on_stream(e, 1, s), -EINVAL);
    T_EQ(shmemx_epoch_wait_on_stream(NULL, 1, s), -EINVAL);
    launch_late(g);
    shmem_free(word);
}

T(a_team_that_was_destroyed)
{
    shmem_team_t team;
    shmemx_graph_t g;

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0,
                                  &team), 0);
    begin();
    T_EQ(shmemx_barrier_on_stream(team, s), 0);
    g = recorded();
    T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    shmem_team_destroy(team);
    launch_late(g);
}

T(waits_that_set_back_check_their_word)
{
    uint64_t *word = st_room(false, 2 * sizeof *word), own;

    T_EQ(shmemx_signal_wait_reset_on_stream(&own, SHMEM_CMP_GE, 0, s),
         -EINVAL);
    T_EQ(shmemx_signal_wait_reset_on_stream(NULL, SHMEM_CMP_GE, 0, s),
         -EINVAL);
    T_EQ(shmemx_signal_wait_reset_on_stream(word, 77, 0, s), -EINVAL);
    T_EQ(shmemx_signal_wait_reset_on_stream(
             (uint64_t *)((char *)word + 4), SHMEM_CMP_GE, 0, s), -EINVAL);
    T_EQ(shmemx_signal_wait_reset_on_stream(word, SHMEM_CMP_GE, 1,
                                            (shmemx_stream_t)77), -EINVAL);
    *word = 5;
    T_EQ(shmemx_signal_wait_reset_on_stream(word, SHMEM_CMP_NE, 4, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(*word, 0);
    shmem_free(word);
}

int main(void)
{
    st_begin();
    s = st_make();
    T_RUN(waits_for_numbers_are_refused);
    T_RUN(messages_for_one_start_are_refused);
    T_RUN(a_request_that_was_freed);
    T_RUN(a_queue_that_was_destroyed);
    T_RUN(an_epoch_that_was_destroyed);
    T_RUN(a_team_that_was_destroyed);
    T_RUN(waits_that_set_back_check_their_word);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

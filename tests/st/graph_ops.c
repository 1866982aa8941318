/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a stream records of signals, waits that set back, epochs,
 * barriers, far operations, requests and queues is done by each launch of the
 * graph as it would be without one, launch after launch.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Timeout: 40
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"
#include "../pe/off_node.h"

enum { N = 300 };

static shmemx_stream_t s;
static int launches;

static shmemx_graph_t recorded(void)
{
    shmemx_graph_t g = NULL;

    T_EQ(shmemx_stream_capture_end(s, &g), 0);
    T_TRUE(g != NULL);
    return g;
}

static void begin(void)
{
    T_EQ(shmemx_stream_capture_begin(s), 0);
}

static void finish(void)
{
    T_EQ(shmemx_stream_sync(s), 0);
}

static void destroy(shmemx_graph_t g)
{
    finish();
    T_EQ(shmemx_graph_destroy(g), 0);
    shmem_barrier_all();
}

/* And what it has put is at other PEs: their memory may be freed. */
static void deliver_and_destroy(shmemx_graph_t g)
{
    T_EQ(shmemx_quiet_on_stream(s), 0);
    destroy(g);
}

/* On a thread of the stream. */
struct step {
    long *from, *to;
    long came, wrong;
};

static void fill_next(void *arg)
{
    struct step *p = arg;

    for (int i = 0; i < N; i++)
        p->from[i] = me * 1000003l + p->came * N + i;
}

static void read_sum(void *arg)
{
    struct step *p = arg;

    for (int i = 0; i < N; i++)
        p->wrong += p->to[i] != prev * 1000003l + p->came * N + i;
    p->came++;
}

static struct step step_make(void)
{
    return (struct step){ st_room(false, N * sizeof(long)),
                          st_room(false, N * sizeof(long)), 0, 0 };
}

static void step_end(struct step *p, long rounds)
{
    T_EQ(p->came, rounds);
    T_EQ(p->wrong, 0);
    shmem_free(p->to);
    shmem_free(p->from);
}

/* Once outside of the graph, launches, and once outside of it behind them. */
static shmemx_graph_t run(void (*make)(void *), void *arg)
{
    shmemx_graph_t g;

    make(arg);
    begin();
    make(arg);
    g = recorded();
    for (int i = 0; i < launches; i++)
        T_EQ(shmemx_graph_launch(g, s), 0);
    make(arg);
    finish();
    return g;
}

/* ---- waits that set back ---- */

struct ring {
    struct step step;
    uint64_t *signal, *free;
    shmemx_epoch_t came, gone;
};

static void reset_step(void *arg)
{
    struct ring *r = arg;

    T_EQ(shmemx_stream_call(s, fill_next, &r->step), 0);
    T_EQ(shmemx_signal_wait_reset_on_stream(r->free, SHMEM_CMP_GE, 1, s), 0);
    T_EQ(shmemx_long_put_signal_on_stream(r->step.to, r->step.from, N,
                                          r->signal, 1, SHMEM_SIGNAL_SET,
                                          next, s), 0);
    T_EQ(shmemx_signal_wait_reset_on_stream(r->signal, SHMEM_CMP_EQ, 1, s), 0);
    T_EQ(shmemx_stream_call(s, read_sum, &r->step), 0);
    T_EQ(shmemx_signal_set_on_stream(r->free, 1, prev, s), 0);
}

T(waits_that_set_back)
{
    struct ring r = { step_make(), st_room(false, 8), st_room(true, 8),
                      NULL, NULL };

    T_EQ(shmemx_signal_set_on_stream(r.free, 1, prev, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    finish();
    shmem_barrier_all();
    deliver_and_destroy(run(reset_step, &r));
    T_EQ(*r.signal, 0);
    step_end(&r.step, launches + 2);
    shmem_free(r.free);
    shmem_free(r.signal);
}

/* ---- epochs ---- */

static void epoch_step(void *arg)
{
    struct ring *r = arg;

    T_EQ(shmemx_stream_call(s, fill_next, &r->step), 0);
    T_EQ(shmemx_epoch_wait_on_stream(r->gone, 1, s), 0);
    T_EQ(shmemx_long_put_signal_on_stream(r->step.to, r->step.from, N,
                                          r->signal, 2, SHMEM_SIGNAL_ADD,
                                          next, s), 0);
    T_EQ(shmemx_epoch_wait_on_stream(r->came, 2, s), 0);
    T_EQ(shmemx_stream_call(s, read_sum, &r->step), 0);
    T_EQ(shmemx_signal_add_on_stream(r->free, 1, prev, s), 0);
}

T(epochs)
{
    struct ring r = { step_make(), st_room(true, 8), st_room(false, 8),
                      NULL, NULL };

    T_EQ(shmemx_epoch_create(r.signal, &r.came), 0);
    T_EQ(shmemx_epoch_create(r.free, &r.gone), 0);
    shmem_barrier_all();
    T_EQ(shmemx_signal_add_on_stream(r.free, 1, prev, s), 0);
    deliver_and_destroy(run(epoch_step, &r));
    T_EQ(shmemx_epoch_destroy(r.came), 0);
    T_EQ(shmemx_epoch_destroy(r.gone), 0);
    T_EQ(shmemx_epoch_destroy(r.gone), -EINVAL);
    step_end(&r.step, launches + 2);
    shmem_free(r.free);
    shmem_free(r.signal);
}

/* ---- operations of all kinds, in barriers ---- */

struct words {
    long *sum, *back, got, *blocks, seen;
    struct step step;
    long two[2];
};

static void count_seen(void *arg)
{
    struct words *w = arg;
    long sum = __atomic_load_n(w->sum, __ATOMIC_ACQUIRE);

    /* The barrier before has ended what was put to this PE. */
    w->seen += sum == w->step.came + 1 && w->got == sum &&
               w->blocks[0] == prev && w->blocks[3] == prev;
    read_sum(&w->step);
}

static void any_step(void *arg)
{
    static long one = 1;
    struct words *w = arg;

    T_EQ(shmemx_stream_call(s, fill_next, &w->step), 0);
    T_EQ(shmemx_long_put_nbi_on_stream(w->step.to, w->step.from, N, next, s),
         0);
    T_EQ(shmemx_long_atomic_fetch_add_on_stream(w->back, w->sum, one, next, s),
         0);
    T_EQ(shmemx_long_iput_on_stream(w->blocks, w->two, 3, 1, 2, next, s), 0);
    T_EQ(shmemx_fence_on_stream(s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(&w->got, w->sum, 1, me, s), 0);
    T_EQ(shmemx_stream_call(s, count_seen, w), 0);
    T_EQ(shmemx_sync_all_on_stream(s), 0);
}

T(operations_and_barriers)
{
    struct words w = { st_room(false, 8), st_room(false, 8), 0,
                       st_room(false, 4 * sizeof(long)), 0, step_make(),
                       { me, me } };

    destroy(run(any_step, &w));
    T_EQ(w.seen, launches + 2);
    T_EQ(*w.back, launches + 1);
    step_end(&w.step, launches + 2);
    shmem_free(w.blocks);
    shmem_free(w.back);
    shmem_free(w.sum);
}

/* What launches have put is ended by a quiet behind them. */
T(a_quiet_behind_launches)
{
    long *word = st_room(false, N * sizeof(long)), from[N];
    shmemx_graph_t g;

    for (int i = 0; i < N; i++)
        from[i] = me + i;
    begin();
    T_EQ(shmemx_long_put_nbi_on_stream(word, from, N, next, s), 0);
    g = recorded();
    T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    finish();
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        T_EQ(word[i], prev + i);
    destroy(g);
    shmem_free(word);
}

/* Also while the next launch of the same graph is under way on another stream,
 * and waits for what it gets. */
T(a_quiet_between_launches)
{
    long *to = st_room(false, N * sizeof(long)), from[N], got;
    uint64_t *flag = shmem_calloc(1, sizeof *flag);
    shmemx_stream_t other = st_make();
    shmemx_graph_t g;

    begin();
    T_EQ(shmemx_long_put_nbi_on_stream(to, from, N, next, s), 0);
    T_EQ(shmemx_long_get_on_stream(&got, to, 1, next, s), 0);
    g = recorded();
    for (int r = 1; r <= 20; r++) {
        for (int i = 0; i < N; i++)
            from[i] = me + 10 * i + r;
        T_EQ(shmemx_graph_launch(g, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_graph_launch(g, other), 0);
        finish();
        shmem_uint64_atomic_set(flag, (uint64_t)r, next);
        shmem_uint64_wait_until(flag, SHMEM_CMP_GE, (uint64_t)r);
        for (int i = 0; i < N; i++)
            T_EQ(to[i], prev + 10 * i + r);
        T_EQ(shmemx_quiet_on_stream(other), 0);
        T_EQ(shmemx_stream_sync(other), 0);
        shmem_barrier_all();
    }
    T_EQ(shmemx_stream_destroy(other), 0);
    destroy(g);
    shmem_free(flag);
    shmem_free(to);
}

/* So is it behind a graph that is destroyed: what is in the network stays. */
T(a_quiet_behind_a_destroyed_graph)
{
    long *to = st_room(false, N * sizeof(long)), from[N];
    shmemx_graph_t g;

    for (int r = 0; r < 10; r++) {
        for (int i = 0; i < N; i++)
            from[i] = me + 10 * i + r;
        begin();
        T_EQ(shmemx_long_put_nbi_on_stream(to, from, N, next, s), 0);
        g = recorded();
        T_EQ(shmemx_graph_launch(g, s), 0);
        finish();
        T_EQ(shmemx_graph_destroy(g), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        finish();
        shmem_barrier_all();
        for (int i = 0; i < N; i++)
            T_EQ(to[i], prev + 10 * i + r);
        shmem_barrier_all();
    }
    shmem_free(to);
}

/* Once a graph has a barrier, those outside still end what the stream was
 * given. */
T(barriers_outside)
{
    struct step p = step_make();
    shmemx_graph_t g;

    begin();
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    g = recorded();
    T_EQ(shmemx_graph_launch(g, s), 0);
    for (int i = 0; i < 20; i++) {
        T_EQ(shmemx_stream_call(s, fill_next, &p), 0);
        T_EQ(shmemx_long_put_nbi_on_stream(p.to, p.from, N, next, s), 0);
        T_EQ(shmemx_barrier_all_on_stream(s), 0);
        T_EQ(shmemx_stream_call(s, read_sum, &p), 0);
        T_EQ(shmemx_sync_all_on_stream(s), 0);
    }
    destroy(g);
    step_end(&p, 20);
}

static void wait_for_word(void *arg)
{
    while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* Here graphs have barriers, and the progress thread enqueues those outside. */
T(a_stream_that_a_barrier_holds_is_not_destroyed)
{
    shmemx_stream_t held = st_make();
    int released = 0;

    T_EQ(shmemx_stream_call(held, wait_for_word, &released), 0);
    T_EQ(shmemx_sync_all_on_stream(held), 0);
    T_EQ(shmemx_stream_destroy(held), -EBUSY);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    T_EQ(shmemx_stream_sync(held), 0);
    T_EQ(shmemx_stream_destroy(held), 0);
    shmem_barrier_all();
}

/* ---- requests ---- */

struct msgs {
    struct step step;
    shmemx_queue_t q;
    shmemx_req_t r[2], all[2];
    double *sum, *of;
    long wrong;
};

static void check_sum(void *arg)
{
    struct msgs *m = arg;

    m->wrong += *m->sum != (double)n_pes * (n_pes - 1) / 2 + n_pes;
    read_sum(&m->step);
}

static void msg_step(void *arg)
{
    struct msgs *m = arg;

    T_EQ(shmemx_stream_call(s, fill_next, &m->step), 0);
    T_EQ(shmemx_enqueue_startall(m->q, 2, m->r), 0);
    T_EQ(shmemx_enqueue_waitall(m->q, 2, m->r), 0);
    T_EQ(shmemx_enqueue_startall(m->q, 2, m->all), 0);
    T_EQ(shmemx_enqueue_wait(m->q), 0);
    T_EQ(shmemx_stream_call(s, check_sum, m), 0);
}

T(requests)
{
    struct msgs m = { .step = step_make(), .sum = st_room(false, 8),
                      .of = st_room(false, 8) };
    shmemx_graph_t g;

    *m.of = me + 1;
    T_EQ(shmemx_queue_create(s, NULL, 0, &m.q), 0);
    T_EQ(shmemx_send_init(m.step.from, N * sizeof(long), next, 3, &m.r[0]), 0);
    T_EQ(shmemx_recv_init(m.step.to, N * sizeof(long), prev, 3, &m.r[1]), 0);
    T_EQ(shmemx_matchall(2, m.r), 0);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, m.sum, m.of, 1, SHMEMX_DOUBLE,
                               SHMEMX_SUM, &m.all[0]), 0);
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &m.all[1]), 0);
    g = run(msg_step, &m);
    T_EQ(m.wrong, 0);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_wait(m.r[i]), 0);
        T_EQ(shmemx_req_wait(m.all[i]), 0);
    }
    destroy(g);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_free(&m.r[i]), 0);
        T_EQ(shmemx_req_free(&m.all[i]), 0);
    }
    T_EQ(shmemx_queue_destroy(m.q), 0);
    step_end(&m.step, launches + 2);
    shmem_free(m.of);
    shmem_free(m.sum);
}

/* The first wait is for a start outside of the graph, each launch waits for the
 * one before, and starts the next. */
static void wait_and_start(void *arg)
{
    struct msgs *m = arg;

    T_EQ(shmemx_enqueue_waitall(m->q, 2, m->r), 0);
    T_EQ(shmemx_stream_call(s, read_sum, &m->step), 0);
    T_EQ(shmemx_stream_call(s, fill_next, &m->step), 0);
    T_EQ(shmemx_enqueue_startall(m->q, 2, m->r), 0);
}

static void wait_of_queue_and_start(void *arg)
{
    struct msgs *m = arg;

    T_EQ(shmemx_enqueue_wait(m->q), 0);
    T_EQ(shmemx_stream_call(s, read_sum, &m->step), 0);
    T_EQ(shmemx_stream_call(s, fill_next, &m->step), 0);
    T_EQ(shmemx_enqueue_startall(m->q, 2, m->r), 0);
}

static void wait_first(void (*body)(void *))
{
    struct msgs m = { .step = step_make() };
    shmemx_graph_t g;

    T_EQ(shmemx_queue_create(s, NULL, 0, &m.q), 0);
    T_EQ(shmemx_send_init(m.step.from, N * sizeof(long), next, 4, &m.r[0]), 0);
    T_EQ(shmemx_recv_init(m.step.to, N * sizeof(long), prev, 4, &m.r[1]), 0);
    T_EQ(shmemx_matchall(2, m.r), 0);
    T_EQ(shmemx_stream_call(s, fill_next, &m.step), 0);
    T_EQ(shmemx_enqueue_startall(m.q, 2, m.r), 0);
    begin();
    body(&m);
    g = recorded();
    for (int i = 0; i < launches; i++)
        T_EQ(shmemx_graph_launch(g, s), 0);
    T_EQ(shmemx_enqueue_waitall(m.q, 2, m.r), 0);
    T_EQ(shmemx_stream_call(s, read_sum, &m.step), 0);
    finish();
    destroy(g);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_wait(m.r[i]), 0);
        T_EQ(shmemx_req_free(&m.r[i]), 0);
    }
    T_EQ(shmemx_queue_destroy(m.q), 0);
    step_end(&m.step, launches + 1);
}

T(waits_before_starts) { wait_first(wait_and_start); }
T(waits_of_a_queue_before_starts) { wait_first(wait_of_queue_and_start); }

/* ---- queues that were filled before ---- */

T(queues_that_were_filled)
{
    uint64_t *sum = st_room(false, 8);
    long *to = st_room(false, sizeof *to), from = me;
    shmemx_graph_t g;
    shmemx_queue_t q;
    shmemx_req_t r;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_atomic_add_uint64(q, sum, 3, next, NULL), 0);
    T_EQ(shmemx_enqueue_putmem(q, to, &from, sizeof from, next, &r), 0);
    begin();
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    g = recorded();
    T_EQ(*sum, 0);
    shmem_barrier_all();
    for (int i = 0; i < launches; i++)
        T_EQ(shmemx_graph_launch(g, s), 0);
    finish();
    /* And what is put in later once. */
    T_EQ(shmemx_enqueue_atomic_add_uint64(q, sum, 1, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    finish();
    T_EQ(shmemx_req_wait(r), 0);
    T_EQ(shmemx_req_free(&r), 0);
    shmem_barrier_all();
    T_EQ(*sum, 3u * (unsigned)launches + 1);
    T_EQ(*to, prev);
    destroy(g);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_free(to);
    shmem_free(sum);
}

/* A start and a wait behind a launch of the queue's graph; the stream comes to
 * them once `released` is 1. */
static void start_held(shmemx_queue_t q, int *released, shmemx_req_t message[])
{
    *released = 0;
    T_EQ(shmemx_stream_call(s, wait_for_word, released), 0);
    if (message)
        T_EQ(shmemx_enqueue_startall(q, 2, message), 0);
    else
        T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
}

/* is: do queue and requests have what was started? */
static void is_empty(shmemx_queue_t q, int n, shmemx_req_t r[], int is)
{
    int done = !is;

    T_EQ(shmemx_queue_test(q, &done), 0);
    T_EQ(done, is);
    for (int i = 0; i < n; i++) {
        done = !is;
        T_EQ(shmemx_req_test(r[i], &done), 0);
        T_EQ(done, is);
    }
}

static void no_request_ends(shmemx_queue_t q, int n, shmemx_req_t r[])
{
    shmemx_req_t none;

    is_empty(q, n, r, 0);
    T_EQ(shmemx_queue_destroy(q), -EBUSY);
    for (int i = 0; i < n; i++) {
        none = r[i];
        T_EQ(shmemx_req_free(&none), -EBUSY);
    }
}

T(the_host_waits_for_starts_outside)
{
    long *to = st_room(false, 2 * sizeof *to), from[2] = { me + 1, me + 2 };
    shmemx_req_t message[2], put;
    int released;
    shmemx_graph_t g;
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_send_init(from, sizeof *from, next, 5, &message[0]), 0);
    T_EQ(shmemx_recv_init(to, sizeof *to, prev, 5, &message[1]), 0);
    T_EQ(shmemx_matchall(2, message), 0);
    begin();
    T_EQ(shmemx_enqueue_startall(q, 2, message), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    g = recorded();
    T_EQ(shmemx_graph_launch(g, s), 0);
    finish();
    *to = 0;
    shmem_barrier_all();
    start_held(q, &released, message);
    no_request_ends(q, 2, message);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    T_EQ(shmemx_req_wait(message[1]), 0);
    T_EQ(to[0], prev + 1);
    T_EQ(shmemx_req_wait(message[0]), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    is_empty(q, 2, message, 1);

    T_EQ(shmemx_enqueue_putmem(q, &to[1], &from[1], sizeof *to, next, &put), 0);
    start_held(q, &released, NULL);
    no_request_ends(q, 1, &put);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    T_EQ(shmemx_queue_wait(q), 0);
    is_empty(q, 1, &put, 1);
    shmem_barrier_all();
    T_EQ(to[1], prev + 2);
    T_EQ(shmemx_req_free(&put), 0);
    destroy(g);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_req_free(&message[i]), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_free(to);
}

/* A pair of messages of one value, through a queue of which a graph has a
 * start. */
static void make_pair(struct step *p, int tag, shmemx_req_t r[2])
{
    T_EQ(shmemx_send_init(p->from, N * sizeof(long), next, tag, &r[0]), 0);
    T_EQ(shmemx_recv_init(p->to, N * sizeof(long), prev, tag, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
}

static void start_and_wait(shmemx_queue_t q, struct step *p, shmemx_req_t r[2])
{
    T_EQ(shmemx_stream_call(s, fill_next, p), 0);
    T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
    T_EQ(shmemx_stream_call(s, read_sum, p), 0);
}

static shmemx_graph_t recorded_start(shmemx_queue_t q, struct step *p,
                                     shmemx_req_t r[2])
{
    shmemx_graph_t g;

    begin();
    start_and_wait(q, p, r);
    g = recorded();
    T_EQ(shmemx_graph_launch(g, s), 0);
    finish();
    shmem_barrier_all();
    return g;
}

/* A start of another queue does not overtake a deferred one. */
T(a_request_of_two_queues)
{
    struct step p = step_make();
    shmemx_queue_t q[2];
    shmemx_req_t r[2];
    shmemx_graph_t g;
    int released = 0;

    make_pair(&p, 6, r);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_queue_create(s, NULL, 0, &q[i]), 0);
    g = recorded_start(q[0], &p, r);
    T_EQ(shmemx_stream_call(s, wait_for_word, &released), 0);
    for (int i = 0; i < 6; i++)
        start_and_wait(q[i % 2], &p, r);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    finish();
    destroy(g);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_wait(r[i]), 0);
        T_EQ(shmemx_req_free(&r[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_queue_destroy(q[i]), 0);
    step_end(&p, 7);
}

/* Later starts of the queue may be behind what the host is about to do. */
T(the_host_waits_for_one_request)
{
    struct step p = step_make(), late = step_make();
    shmemx_req_t r[2], behind[2];
    shmemx_queue_t q;
    shmemx_graph_t g;
    int released = 0;

    make_pair(&p, 7, r);
    make_pair(&late, 8, behind);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    g = recorded_start(q, &p, r);
    start_and_wait(q, &p, r);
    T_EQ(shmemx_stream_call(s, wait_for_word, &released), 0);
    start_and_wait(q, &late, behind);
    T_EQ(shmemx_req_wait(r[0]), 0);
    T_EQ(shmemx_req_wait(r[1]), 0);
    is_empty(q, 2, behind, 0);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    finish();
    destroy(g);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_req_free(&r[i]), 0);
        T_EQ(shmemx_req_free(&behind[i]), 0);
    }
    T_EQ(shmemx_queue_destroy(q), 0);
    step_end(&p, 2);
    step_end(&late, 1);
}

int main(void)
{
    st_begin();
    launches = rounds(200, 40);
    s = st_make();
    T_RUN(waits_that_set_back);
    T_RUN(epochs);
    T_RUN(operations_and_barriers);
    T_RUN(a_quiet_behind_launches);
    T_RUN(a_quiet_between_launches);
    T_RUN(a_quiet_behind_a_destroyed_graph);
    T_RUN(barriers_outside);
    T_RUN(a_stream_that_a_barrier_holds_is_not_destroyed);
    T_RUN(requests);
    T_RUN(waits_before_starts);
    T_RUN(waits_of_a_queue_before_starts);
    T_RUN(queues_that_were_filled);
    T_RUN(the_host_waits_for_starts_outside);
    T_RUN(a_request_of_two_queues);
    T_RUN(the_host_waits_for_one_request);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rounds of sends and receives are distinct whichever PE comes
 * first, in whatever order and on whatever queue they are started and waited
 * for, and however far the host is ahead of its stream.
 * PEs: 1 2 3
 * Ppn: 2/1 4/2
 * Timeout: 40
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "msg.h"

enum { ROUNDS = 120, SIZES = 4, QUEUES = 2, EACH = 4 };

static const size_t sizes[SIZES] = { 8, 1500, 10000, 150000 };
static shmemx_stream_t s[QUEUES];
static shmemx_queue_t q[QUEUES];

/* One send to the next, one receive from the previous one. */
struct pair {
    shmemx_req_t r[2];
    char *out, *in;
    size_t bytes;
    struct msg_work sent[ROUNDS], came[ROUNDS];
};
static struct pair pairs[SIZES];

static void pair_make(struct pair *p, int tag, size_t bytes)
{
    size_t rest = (size_t)tag * 3;

    p->bytes = bytes;
    p->out = calloc(1, bytes);
    p->in = malloc(bytes + rest);
    memset(p->in, MSG_REST, bytes + rest);
    for (int k = 0; k < ROUNDS; k++) {
        p->sent[k] = (struct msg_work){ p->out, bytes, 0,
                                        msg_key(me, next, tag, k) };
        p->came[k] = (struct msg_work){ p->in, bytes, rest,
                                        msg_key(prev, me, tag, k) };
    }
    T_EQ(shmemx_send_init(p->out, bytes, next, tag, &p->r[0]), 0);
    T_EQ(shmemx_recv_init(p->in, bytes + rest, prev, tag, &p->r[1]), 0);
    T_EQ(shmemx_matchall(2, p->r), 0);
}

static void pair_free(struct pair *p)
{
    T_EQ(shmemx_req_free(&p->r[0]), 0);
    T_EQ(shmemx_req_free(&p->r[1]), 0);
    free(p->out);
    free(p->in);
}

static void begin(struct pair *p, int round, shmemx_stream_t st)
{
    T_EQ(shmemx_stream_call(st, msg_do_fill, &p->sent[round]), 0);
    T_EQ(shmemx_stream_call(st, msg_do_before, &p->came[round]), 0);
}

static void end(struct pair *p, int round, shmemx_stream_t st)
{
    T_EQ(shmemx_stream_call(st, msg_do_smear, &p->sent[round]), 0);
    T_EQ(shmemx_stream_call(st, msg_do_check, &p->came[round]), 0);
}

/* By the host, in the stream's place; behind a test that says so there is
 * nothing to wait for. */
static void host_waits(struct pair *p, int first, bool tests)
{
    for (int i = 0; i < 2; i++) {
        int flag = 0;

        while (tests && !flag)
            T_EQ(shmemx_req_test(p->r[first ^ i], &flag), 0);
        if (!tests || i)
            T_EQ(shmemx_req_wait(p->r[first ^ i]), 0);
    }
}

/* order: of starts and of waits, and who waits. */
static void turn(struct pair *p, int round, int order, int slow)
{
    int first = order & 1, then = order >> 1 & 1;

    begin(p, round, s[0]);
    if (slow == 1)
        msg_delay(s[0], 800);
    if (slow == 2)
        usleep((useconds_t)msg_below(800));
    T_EQ(shmemx_enqueue_startall(q[0], 1, &p->r[first]), 0);
    if (slow == 3)
        msg_delay(s[0], 400);
    T_EQ(shmemx_enqueue_startall(q[0], 1, &p->r[!first]), 0);
    switch (order >> 2) {
    case 0:
        T_EQ(shmemx_enqueue_waitall(q[0], 1, &p->r[then]), 0);
        if (slow == 4)
            msg_delay(s[0], 400);
        T_EQ(shmemx_enqueue_waitall(q[0], 1, &p->r[!then]), 0);
        break;
    case 1:
        T_EQ(shmemx_enqueue_waitall(q[0], 2, p->r), 0);
        break;
    case 2:
        T_EQ(shmemx_enqueue_wait(q[0]), 0);
        break;
    default:
        host_waits(p, then, slow & 1);
    }
    end(p, round, s[0]);
}

T(the_first_waits_for_the_other)
{
    for (int i = 0; i < SIZES; i++) {
        pair_make(&pairs[0], i, sizes[i]);
        for (int k = 0; k < msg_times(ROUNDS, ROUNDS / 2); k++)
            turn(&pairs[0], k, msg_below(16), msg_below(8));
        T_EQ(shmemx_queue_wait(q[0]), 0);
        T_EQ(shmemx_stream_sync(s[0]), 0);
        pair_free(&pairs[0]);
    }
}

/* All is enqueued before a stream runs; then streams run in any order. */
T(the_host_is_rounds_ahead)
{
    int rounds = msg_times(ROUNDS, ROUNDS);
    uint64_t *start_flag;

    for (int i = 0; i < SIZES; i++)
        pair_make(&pairs[i], i, sizes[i]);
    start_flag = st_start_flag(s[0]);
    for (int k = 0; k < rounds; k++) {
        int from = msg_below(SIZES);

        for (int i = 0; i < SIZES; i++)
            begin(&pairs[(from + i) % SIZES], k, s[0]);
        for (int i = 0; i < SIZES; i++)
            T_EQ(shmemx_enqueue_startall(q[0], 2,
                                         pairs[(from + i) % SIZES].r), 0);
        if (k % 8 == me % 8)
            msg_delay(s[0], 500);
        if (k & 1)
            T_EQ(shmemx_enqueue_wait(q[0]), 0);
        for (int i = 0; !(k & 1) && i < SIZES; i++)
            T_EQ(shmemx_enqueue_waitall(q[0], 2, pairs[i].r), 0);
        for (int i = 0; i < SIZES; i++)
            end(&pairs[i], k, s[0]);
    }
    T_EQ(shmemx_stream_query(s[0]), -EAGAIN);
    shmem_barrier_all();
    usleep((useconds_t)msg_below(20000));
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s[0]), 0);
    for (int i = 0; i < SIZES; i++)
        pair_free(&pairs[i]);
    shmem_barrier_all();
    shmem_free(start_flag);
}

/* Each queue takes some of them and leaves the others, by the round. */
T(queues_of_two_streams_cross)
{
    for (int i = 0; i < SIZES; i++)
        pair_make(&pairs[i], 10 + i, sizes[i]);
    for (int k = 0; k < msg_times(ROUNDS, ROUNDS); k++) {
        shmemx_req_t list[QUEUES][2 * SIZES];
        int n[QUEUES] = { 0 }, first = msg_below(2);

        for (int i = 0; i < SIZES; i++) {
            msg_do_fill(&pairs[i].sent[k]);
            msg_do_before(&pairs[i].came[k]);
            for (int j = 0; j < 2; j++) {
                int to = msg_below(QUEUES);

                list[to][n[to]++] = pairs[i].r[j];
            }
        }
        for (int i = 0; i < QUEUES; i++) {
            int to = first ^ i;

            if (!msg_below(4))
                msg_delay(s[to], 500);
            msg_shuffle(list[to], n[to]);
            T_EQ(shmemx_enqueue_startall(q[to], n[to], list[to]), 0);
        }
        for (int i = 0; i < QUEUES; i++)
            if (msg_below(2))
                T_EQ(shmemx_enqueue_waitall(q[i], n[i], list[i]), 0);
            else
                T_EQ(shmemx_enqueue_wait(q[i]), 0);
        for (int i = 0; i < QUEUES; i++)
            T_EQ(shmemx_queue_wait(q[i]), 0);
        for (int i = 0; i < SIZES; i++) {
            msg_do_smear(&pairs[i].sent[k]);
            msg_do_check(&pairs[i].came[k]);
        }
    }
    for (int i = 0; i < SIZES; i++)
        pair_free(&pairs[i]);
}

static bool eager(void)
{
    const char *limit = getenv("SHMEM_ST_EAGER");

    return !limit || strtol(limit, NULL, 0) >= (long)sizes[0];
}

/* Nothing comes while its stream is held; a small send ends all the same, and
 * so does what stands behind it, but no further round. */
T(a_receiver_that_is_held_keeps_no_small_send)
{
    uint64_t *start_flag;
    int flag = 0;

    for (int i = 0; i < SIZES; i++)
        pair_make(&pairs[i], i, sizes[i]);
    start_flag = st_start_flag(s[1]);
    for (int i = 0; i < SIZES; i++) {
        msg_do_fill(&pairs[i].sent[0]);
        T_EQ(shmemx_enqueue_startall(q[1], 1, &pairs[i].r[1]), 0);
        T_EQ(shmemx_enqueue_waitall(q[1], 1, &pairs[i].r[1]), 0);
    }
    for (int i = 0; i < SIZES; i++)
        T_EQ(shmemx_enqueue_startall(q[0], 1, &pairs[i].r[0]), 0);
    for (int i = 0; eager() && i < 2000 && !flag; i++) {
        T_EQ(shmemx_req_test(pairs[0].r[0], &flag), 0);
        usleep(1000);
    }
    T_EQ(flag, eager());
    if (flag)
        msg_do_smear(&pairs[0].sent[0]);
    shmem_barrier_all();
    usleep(2000);
    for (int i = 0; i < SIZES; i++) {
        msg_do_before(&pairs[i].came[0]);
        T_EQ(shmemx_req_test(pairs[i].r[1], &flag), 0);
        T_EQ(flag, 0);
    }
    shmem_barrier_all();
    if (me & 1)
        usleep((useconds_t)msg_below(20000));
    st_open(start_flag);
    T_EQ(shmemx_queue_wait(q[0]), 0);
    T_EQ(shmemx_queue_wait(q[1]), 0);
    for (int i = 0; i < SIZES; i++) {
        msg_do_check(&pairs[i].came[0]);
        pair_free(&pairs[i]);
    }
    shmem_barrier_all();
    shmem_free(start_flag);
}

/* There is one slot more, and no third message may come to the first one. */
T(a_small_send_waits_for_the_one_before_it)
{
    struct pair *p = &pairs[0];
    uint64_t *start_flag;
    int flag = 0;

    if (!eager())
        return;
    pair_make(p, 0, sizes[0]);
    start_flag = st_start_flag(s[1]);
    T_EQ(shmemx_enqueue_startall(q[1], 1, &p->r[1]), 0);
    T_EQ(shmemx_enqueue_waitall(q[1], 1, &p->r[1]), 0);
    for (int k = 0; k < 2; k++) {
        msg_do_fill(&p->sent[k]);
        T_EQ(shmemx_enqueue_startall(q[0], 1, &p->r[0]), 0);
        if (!k)
            T_EQ(shmemx_req_wait(p->r[0]), 0);
    }
    for (int i = 0; i < 30; i++) {
        T_EQ(shmemx_req_test(p->r[0], &flag), 0);
        T_EQ(flag, 0);
        usleep(1000);
    }
    shmem_barrier_all();
    st_open(start_flag);
    T_EQ(shmemx_queue_wait(q[1]), 0);
    msg_do_check(&p->came[0]);
    T_EQ(shmemx_enqueue_startall(q[1], 1, &p->r[1]), 0);
    T_EQ(shmemx_req_wait(p->r[1]), 0);
    msg_do_check(&p->came[1]);
    T_EQ(shmemx_req_wait(p->r[0]), 0);
    pair_free(p);
    shmem_barrier_all();
    shmem_free(start_flag);
}

/* Two of each: what comes in round k + 1 shows that the neighbour is done with
 * round k, so that sends are ready ones and no other PE is queried. */
T(a_halo_of_two_phases_is_always_ready)
{
    static struct pair p[2][EACH];
    int rounds = msg_times(ROUNDS, ROUNDS);
    shmemx_req_t out[2][EACH], in[2][EACH], both[2 * EACH];

    for (int f = 0; f < 2; f++)
        for (int i = 0; i < EACH; i++) {
            struct pair *x = &p[f][i];

            pair_make(x, 2 * i + f, sizes[i]);
            T_EQ(shmemx_req_free(&x->r[0]), 0);
            T_EQ(shmemx_req_free(&x->r[1]), 0);
            T_EQ(shmemx_rsend_init(x->out, x->bytes, i & 1 ? prev : next,
                                   100 + i, &out[f][i]), 0);
            T_EQ(shmemx_recv_init(x->in, x->bytes, i & 1 ? next : prev,
                                  100 + i, &in[f][i]), 0);
            for (int k = 0; k < ROUNDS && i & 1; k++) {
                x->sent[k].key = msg_key(me, prev, 2 * i + f, k);
                x->came[k].key = msg_key(next, me, 2 * i + f, k);
            }
        }
    T_EQ(shmemx_matchall(2 * EACH, out[0]), 0);
    T_EQ(shmemx_matchall(2 * EACH, in[0]), 0);
    T_EQ(shmemx_enqueue_startall(q[0], EACH, in[0]), 0);
    T_EQ(shmemx_barrier_all_on_stream(s[0]), 0);
    for (int k = 0; k < rounds; k++) {
        int f = k & 1;

        for (int i = 0; i < EACH; i++) {
            T_EQ(shmemx_stream_call(s[0], msg_do_fill, &p[f][i].sent[k]), 0);
            T_EQ(shmemx_stream_call(s[0], msg_do_before, &p[!f][i].came[k]),
                 0);
            both[i] = in[!f][i];
            both[EACH + i] = out[f][i];
        }
        if (!msg_below(5))
            msg_delay(s[0], 500);
        if (k + 1 < rounds && k % 3)
            T_EQ(shmemx_enqueue_startall(q[0], EACH, both), 0);
        if (k + 1 < rounds && !(k % 3))
            T_EQ(shmemx_enqueue_startall(q[0], 2 * EACH, both), 0);
        else
            T_EQ(shmemx_enqueue_startall(q[0], EACH, both + EACH), 0);
        T_EQ(shmemx_enqueue_waitall(q[0], EACH, in[f]), 0);
        T_EQ(shmemx_enqueue_waitall(q[0], EACH, out[f]), 0);
        for (int i = 0; i < EACH; i++) {
            T_EQ(shmemx_stream_call(s[0], msg_do_smear, &p[f][i].sent[k]), 0);
            T_EQ(shmemx_stream_call(s[0], msg_do_check, &p[f][i].came[k]), 0);
        }
    }
    T_EQ(shmemx_stream_sync(s[0]), 0);
    for (int i = 0; i < 2 * EACH; i++) {
        T_EQ(shmemx_req_free(&out[i / EACH][i % EACH]), 0);
        T_EQ(shmemx_req_free(&in[i / EACH][i % EACH]), 0);
        free(p[i / EACH][i % EACH].out);
        free(p[i / EACH][i % EACH].in);
    }
}

int main(void)
{
    st_begin();
    for (int i = 0; i < QUEUES; i++) {
        s[i] = st_make();
        T_EQ(shmemx_queue_create(s[i], NULL, 0, &q[i]), 0);
    }
    T_RUN(the_first_waits_for_the_other);
    T_RUN(the_host_is_rounds_ahead);
    T_RUN(queues_of_two_streams_cross);
    T_RUN(a_receiver_that_is_held_keeps_no_small_send);
    T_RUN(a_small_send_waits_for_the_one_before_it);
    T_RUN(a_halo_of_two_phases_is_always_ready);
    for (int i = 0; i < QUEUES; i++) {
        T_EQ(shmemx_queue_destroy(q[i]), 0);
        T_EQ(shmemx_stream_destroy(s[i]), 0);
    }
    return st_end();
}

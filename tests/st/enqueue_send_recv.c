/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sends and receives that are used once match in the order
 * in which
 * they were enqueued for their PE and tag, whichever is first and however they
 * are started, and one that is too long fails by itself.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Timeout: 40
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "msg.h"

enum { MANY = 120, TAGS = 5, QUEUES = 2, ROOM = 30000, ROUNDS = 150 };

static shmemx_stream_t s[QUEUES];
static shmemx_queue_t q[QUEUES];
static char *out[MANY], *in[MANY];

static const size_t sizes[] = { 8, 0, 1, 100, 3000, 9000, ROOM };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* As if all PEs did the same. */
static int tag[MANY], nth[MANY];
static size_t bytes[MANY];

static void plan(void)
{
    int n[TAGS] = { 0 };

    for (int i = 0; i < MANY; i++) {
        tag[i] = (int)(T_RAND() % TAGS);
        nth[i] = n[tag[i]]++;
        bytes[i] = sizes[T_RAND() % SIZES];
        msg_fill(out[i], bytes[i], msg_key(me, next, tag[i], nth[i]));
        memset(in[i], MSG_REST, ROOM + 64);
    }
}

static void send_one(shmemx_queue_t to, int i, shmemx_req_t *r)
{
    T_EQ(shmemx_enqueue_send(to, out[i], bytes[i], next, tag[i] * 77, r), 0);
}

static void receive_one(shmemx_queue_t to, int i, shmemx_req_t *r)
{
    T_EQ(shmemx_enqueue_recv(to, in[i], bytes[i] + (size_t)(i % 3), prev,
                             tag[i] * 77, r), 0);
}

static void check_all(void)
{
    for (int i = 0; i < MANY; i++) {
        MSG_IS(in[i], bytes[i], msg_key(prev, me, tag[i], nth[i]));
        MSG_UNTOUCHED(in[i] + bytes[i], ROOM + 64 - bytes[i]);
    }
}

/* The order of tags is this PE's own, that within a tag everybody's. */
static void own_order(int *order)
{
    int from = msg_below(TAGS), n = 0;

    for (int t = 0; t < TAGS; t++)
        for (int i = 0; i < MANY; i++)
            if (tag[i] == (from + t) % TAGS)
                order[n++] = i;
}

T(one_start_and_one_wait_are_for_all)
{
    int order[MANY];

    for (int k = 0; k < 4; k++) {
        plan();
        own_order(order);
        for (int i = 0; i < MANY; i++) {
            if (k & 1)
                receive_one(q[0], order[i], NULL);
            send_one(q[0], i, NULL);
            if (!(k & 1))
                receive_one(q[0], order[i], NULL);
        }
        if (k & 2)
            usleep((useconds_t)msg_below(3000));
        T_EQ(shmemx_enqueue_start(q[0]), 0);
        T_EQ(shmemx_enqueue_wait(q[0]), 0);
        T_EQ(shmemx_stream_sync(s[0]), 0);
        check_all();
        T_EQ(shmemx_queue_wait(q[0]), 0);
    }
}

/* Receives of a tag are on both queues by turns. */
T(starts_come_piece_by_piece_and_in_any_queue)
{
    int order[MANY];

    for (int k = 0; k < 6; k++) {
        plan();
        own_order(order);
        for (int i = 0; i < MANY; i++) {
            receive_one(q[i & 1], order[i], NULL);
            send_one(q[msg_below(2)], i, NULL);
            if (!msg_below(10))
                T_EQ(shmemx_enqueue_start(q[msg_below(2)]), 0);
            if (!msg_below(30))
                msg_delay(s[msg_below(2)], 400);
        }
        for (int i = 0; i < QUEUES; i++)
            T_EQ(shmemx_enqueue_start(q[i]), 0);
        for (int i = 0; i < QUEUES; i++)
            T_EQ(shmemx_enqueue_wait(q[i]), 0);
        for (int i = 0; i < QUEUES; i++)
            T_EQ(shmemx_queue_wait(q[i]), 0);
        check_all();
    }
}

/* The barrier is between all of one kind and all of the other. */
T(those_that_are_early_wait_for_those_that_are_late)
{
    static shmemx_req_t r[2 * MANY];
    int flag;

    for (int k = 0; k < 4; k++) {
        plan();
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < MANY; i++)
                (j == (k & 1) ? send_one : receive_one)(q[j], i,
                                                        &r[j * MANY + i]);
            T_EQ(shmemx_req_free(&r[j * MANY]), -EBUSY);
            T_EQ(shmemx_queue_destroy(q[j]), -EBUSY);
            T_EQ(shmemx_enqueue_start(q[j]), 0);
            if (!j)
                shmem_barrier_all();
            for (int i = 0; !j && k & 1 && i < MANY; i++) {
                T_EQ(shmemx_req_test(r[i], &flag), 0);
                T_EQ(flag, 0);          /* none has been sent */
            }
            if (!j)
                shmem_barrier_all();
        }
        msg_shuffle(r, 2 * MANY);
        for (int i = 0; i < 2 * MANY; i++) {
            for (flag = 0; k & 2 && !flag; )
                T_EQ(shmemx_req_test(r[i], &flag), 0);
            T_EQ(shmemx_req_wait(r[i]), 0);
            T_EQ(shmemx_req_free(&r[i]), 0);
        }
        check_all();
        T_EQ(shmemx_queue_wait(q[0]), 0);
        T_EQ(shmemx_queue_wait(q[1]), 0);
    }
}

T(the_host_is_rounds_ahead)
{
    static struct msg_work sent[ROUNDS], came[ROUNDS];
    uint64_t *start_flag = st_start_flag(s[0]);
    size_t n[2] = { 48, 30000 };
    int rounds = msg_times(ROUNDS, ROUNDS);

    for (int i = 0; i < 2; i++) {
        memset(in[i], MSG_REST, ROOM + 64);
        for (int k = 0; k < ROUNDS; k++) {
            int j = 2 * k + i;

            if (j >= ROUNDS)
                break;
            sent[j] = (struct msg_work){ out[i], n[i], 0,
                                         msg_key(me, next, 9, j) };
            came[j] = (struct msg_work){ in[i], n[i], 64,
                                         msg_key(prev, me, 9, j) };
        }
    }
    for (int k = 0; k < rounds; k++) {
        T_EQ(shmemx_stream_call(s[0], msg_do_fill, &sent[k]), 0);
        T_EQ(shmemx_stream_call(s[0], msg_do_before, &came[k]), 0);
        T_EQ(shmemx_enqueue_send(q[0], out[k & 1], n[k & 1], next, 9, NULL),
             0);
        T_EQ(shmemx_enqueue_recv(q[0], in[k & 1], n[k & 1], prev, 9, NULL), 0);
        if (!msg_below(8))
            msg_delay(s[0], 300);
        T_EQ(shmemx_enqueue_start(q[0]), 0);
        T_EQ(shmemx_enqueue_wait(q[0]), 0);
        T_EQ(shmemx_stream_call(s[0], msg_do_smear, &sent[k]), 0);
        T_EQ(shmemx_stream_call(s[0], msg_do_check, &came[k]), 0);
    }
    T_EQ(shmemx_stream_query(s[0]), -EAGAIN);
    shmem_barrier_all();
    usleep((useconds_t)msg_below(5000));
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s[0]), 0);
    T_EQ(shmemx_queue_wait(q[0]), 0);
    shmem_barrier_all();
    shmem_free(start_flag);
}

/* The same tag, before and after, and a pair is of its two PEs alone. */
T(pairs_are_apart_from_them)
{
    uint64_t x[2] = { 0 }, y[2] = { 0 };
    struct msg_end e[4];

    for (int k = 0; k < 10; k++) {
        x[0] = msg_key(me, next, 5, 1000 + k);
        x[1] = ~x[0];
        y[0] = y[1] = 0;
        T_EQ(shmemx_enqueue_send(q[0], &x[0], 8, next, 5, NULL), 0);
        msg_sends(&e[0], next, 5, 2 * k);
        msg_receives(&e[1], prev, 5, 2 * k);
        T_EQ(shmemx_enqueue_recv(q[0], &y[0], 8, prev, 5, NULL), 0);
        if (k & 1)
            T_EQ(shmemx_enqueue_start(q[0]), 0);
        msg_receives(&e[3], prev, 5, 2 * k + 1);
        msg_sends(&e[2], next, 5, 2 * k + 1);
        T_EQ(shmemx_enqueue_recv(q[0], &y[1], 8, prev, 5, NULL), 0);
        T_EQ(shmemx_enqueue_send(q[0], &x[1], 8, next, 5, NULL), 0);
        T_EQ(shmemx_matchall(4, (shmemx_req_t[]){ e[3].r, e[2].r, e[1].r,
                                                  e[0].r }), 0);
        msg_exchange(q[1], e, 4);
        T_EQ(shmemx_enqueue_start(q[0]), 0);
        T_EQ(shmemx_queue_wait(q[0]), 0);
        T_EQ(y[0], msg_key(prev, me, 5, 1000 + k));
        T_EQ(y[1], ~y[0]);
        msg_free(e, 4);
    }
}

/* One that is refused is none among those to its partner. */
T(a_refused_message_has_no_number)
{
    uint64_t x = msg_key(me, next, 6, 1), y = 0, no = 0;
    shmemx_stream_t gone = st_make();
    shmemx_queue_t of;

    T_EQ(shmemx_queue_create(gone, 0, 0, &of), 0);
    T_EQ(shmemx_stream_destroy(gone), 0);
    T_NE(shmemx_enqueue_send(of, &no, 8, next, 6, NULL), 0);
    T_EQ(shmemx_enqueue_send(q[0], &x, 8, next, 6, NULL), 0);
    T_EQ(shmemx_enqueue_recv(q[0], &y, 8, prev, 6, NULL), 0);
    T_EQ(shmemx_enqueue_start(q[0]), 0);
    T_EQ(shmemx_queue_wait(q[0]), 0);
    T_EQ(y, msg_key(prev, me, 6, 1));
    shmemx_queue_destroy(of);
}

/* Between each pair of spaces. */
T(they_go_between_memories)
{
    enum { N = 50000 };
    char *host[2] = { st_room(false, N), st_room(false, N) };
    char *mem[4] = { st_room(false, N), st_room(false, N), st_room(true, N),
                     st_room(true, N) };

    for (int k = 0; k < 8; k++) {
        size_t n = k & 4 ? N : 100;
        char *from = mem[k & 2], *to = mem[1 + 2 * (k & 1)];

        msg_fill(host[0], n, msg_key(me, next, 1, k));
        T_EQ(shmemx_stream_copy(s[0], from, host[0], n), 0);
        T_EQ(shmemx_stream_fill(s[0], to, MSG_REST, N), 0);
        T_EQ(shmemx_enqueue_recv(q[0], to, n, prev, 1, NULL), 0);
        T_EQ(shmemx_enqueue_send(q[0], from, n, next, 1, NULL), 0);
        T_EQ(shmemx_enqueue_start(q[0]), 0);
        T_EQ(shmemx_enqueue_wait(q[0]), 0);
        T_EQ(shmemx_stream_copy(s[0], host[1], to, N), 0);
        T_EQ(shmemx_stream_sync(s[0]), 0);
        MSG_IS(host[1], n, msg_key(prev, me, 1, k));
        MSG_UNTOUCHED(host[1] + n, N - n);
    }
    shmem_barrier_all();
    for (int i = 0; i < 2; i++)
        shmem_free(host[i]);
    for (int i = 0; i < 4; i++)
        shmem_free(mem[i]);
}

T(nothing_is_kept_of_what_is_over)
{
    int n = msg_times(3000, 400);
    shmemx_req_t r[2];

    for (int k = 0; k < n; k++) {
        T_EQ(shmemx_enqueue_send(q[0], out[0], 8, next, k % 100, &r[0]), 0);
        T_EQ(shmemx_enqueue_recv(q[0], in[0], 8, prev, k % 100, &r[1]), 0);
        T_EQ(shmemx_enqueue_start(q[0]), 0);
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_req_wait(r[i]), 0);
            T_EQ(shmemx_req_free(&r[i]), 0);
        }
    }
    T_EQ(shmemx_queue_wait(q[0]), 0);
}

/* More in all than the heap has for slots; no PE holds a request.  What is
 * sent is so long that a network has it under way for a while. */
T(what_is_past_gives_its_room_back)
{
    enum { LONG = 2 << 20 };
    struct msg_work sent = { malloc(LONG), LONG, 0, 0 };
    struct msg_work came = { malloc(LONG), LONG, 0, 0 };
    int n = msg_times(60, 30);

    memset(came.p, MSG_REST, LONG);
    for (int k = 0; k < n; k++) {
        sent.key = msg_key(me, next, 2, k);
        came.key = msg_key(prev, me, 2, k);
        msg_do_fill(&sent);
        T_EQ(shmemx_enqueue_recv(q[0], came.p, LONG, prev, 2, NULL), 0);
        T_EQ(shmemx_enqueue_send(q[1], sent.p, LONG, next, 2, NULL), 0);
        for (int i = 0; i < QUEUES; i++) {
            T_EQ(shmemx_enqueue_start(q[i]), 0);
            T_EQ(shmemx_enqueue_wait(q[i]), 0);
        }
        T_EQ(shmemx_stream_call(s[0], msg_do_check, &came), 0);
        T_EQ(shmemx_stream_call(s[1], msg_do_smear, &sent), 0);
        for (int i = 0; i < QUEUES; i++) {
            T_EQ(shmemx_queue_wait(q[i]), 0);
            T_EQ(shmemx_stream_sync(s[i]), 0);
        }
    }
    free(sent.p);
    free(came.p);
}

T(wrong_arguments_are_refused)
{
    shmemx_req_t r = NULL, match = NULL;
    int flag = 7;

    T_EQ(shmemx_enqueue_send(NULL, out[0], 8, next, 0, &r), -EINVAL);
    T_EQ(shmemx_enqueue_send(q[0], out[0], 8, n_pes, 0, &r), -EINVAL);
    T_EQ(shmemx_enqueue_send(q[0], out[0], 8, next, -1, &r), -EINVAL);
    T_EQ(shmemx_enqueue_send(q[0], NULL, 8, next, 0, &r), -EINVAL);
    T_EQ(shmemx_enqueue_recv(NULL, in[0], 8, next, 0, &r), -EINVAL);
    T_EQ(shmemx_enqueue_recv(q[0], in[0], 8, -1, 0, &r), -EINVAL);
    T_EQ(shmemx_enqueue_recv(q[0], in[0], 8, next, -2, &r), -EINVAL);
    T_EQ(shmemx_enqueue_recv(q[0], NULL, 1, next, 0, &r), -EINVAL);
    T_TRUE(r == NULL);
    /* No call matches them, and by one start. */
    T_EQ(shmemx_enqueue_recv(q[0], NULL, 0, prev, 0, &r), 0);
    T_EQ(shmemx_enqueue_send(q[0], NULL, 0, next, 0, NULL), 0);
    T_EQ(shmemx_match(r), -EINVAL);
    T_EQ(shmemx_imatch(r, &match), -EINVAL);
    T_EQ(shmemx_is_matched(r, &flag), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q[0], 1, &r), -EINVAL);
    T_EQ(flag, 7);
    T_EQ(shmemx_enqueue_start(q[0]), 0);
    T_EQ(shmemx_req_wait(r), 0);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_wait(q[0]), 0);
}

int main(void)
{
    st_begin();
    for (int i = 0; i < MANY; i++) {
        out[i] = malloc(ROOM);
        in[i] = malloc(ROOM + 64);
    }
    for (int i = 0; i < QUEUES; i++) {
        s[i] = st_make();
        T_EQ(shmemx_queue_create(s[i], NULL, 0, &q[i]), 0);
    }
    T_RUN(one_start_and_one_wait_are_for_all);
    T_RUN(starts_come_piece_by_piece_and_in_any_queue);
    T_RUN(those_that_are_early_wait_for_those_that_are_late);
    T_RUN(the_host_is_rounds_ahead);
    T_RUN(pairs_are_apart_from_them);
    if (st_kernels())           /* others take streams that are gone */
        T_RUN(a_refused_message_has_no_number);
    T_RUN(they_go_between_memories);
    T_RUN(nothing_is_kept_of_what_is_over);
    T_RUN(what_is_past_gives_its_room_back);
    T_RUN(wrong_arguments_are_refused);
    for (int i = 0; i < QUEUES; i++) {
        T_EQ(shmemx_queue_destroy(q[i]), 0);
        T_EQ(shmemx_stream_destroy(s[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        free(out[i]);
        free(in[i]);
    }
    return st_end();
}

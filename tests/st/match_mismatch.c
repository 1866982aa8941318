/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what cannot be matched fails at both ends and nowhere else, what
 * is not matched does not start, and the state of a request allows what it
 * says.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 40 */
#include "msg.h"

static shmemx_stream_t s;
static shmemx_queue_t q;
static char out[64], in[64];

/* A pair that works; its match serves others, too. */
static void pair_make(struct msg_end *e, int n)
{
    msg_sends(&e[0], next, 9, n);
    msg_receives(&e[1], prev, 9, n);
    T_EQ(shmemx_match(e[n & 1].r), 0);
    T_EQ(shmemx_match(e[~n & 1].r), 0);
}

static void pair_works(int n)
{
    struct msg_end e[2];

    pair_make(e, n);
    msg_exchange(q, e, 2);
    msg_free(e, 2);
}

T(wrong_arguments_are_refused)
{
    shmemx_req_t none = NULL, put, match = NULL;
    long *d = shmem_calloc(1, sizeof *d), x = 1;
    struct msg_end e[2];
    int flag = 7;

    T_EQ(shmemx_send_init(out, 8, n_pes, 0, &none), -EINVAL);
    T_EQ(shmemx_send_init(out, 8, -1, 0, &none), -EINVAL);
    T_EQ(shmemx_send_init(out, 8, next, -1, &none), -EINVAL);
    T_EQ(shmemx_send_init(NULL, 8, next, 0, &none), -EINVAL);
    T_EQ(shmemx_send_init(out, 8, next, 0, NULL), -EINVAL);
    T_EQ(shmemx_rsend_init(out, 8, n_pes, 0, &none), -EINVAL);
    T_EQ(shmemx_rsend_init(out, 8, next, -5, &none), -EINVAL);
    T_EQ(shmemx_rsend_init(NULL, 1, next, 0, &none), -EINVAL);
    T_EQ(shmemx_rsend_init(out, 8, next, 0, NULL), -EINVAL);
    T_EQ(shmemx_recv_init(in, 8, n_pes, 0, &none), -EINVAL);
    T_EQ(shmemx_recv_init(in, 8, next, -1, &none), -EINVAL);
    T_EQ(shmemx_recv_init(NULL, 8, next, 0, &none), -EINVAL);
    T_EQ(shmemx_recv_init(in, 8, next, 0, NULL), -EINVAL);
    T_TRUE(none == NULL);
    T_EQ(shmemx_match(NULL), -EINVAL);
    T_EQ(shmemx_matchall(1, &none), -EINVAL);
    T_EQ(shmemx_matchall(1, NULL), -EINVAL);
    T_EQ(shmemx_matchall(-1, &none), -EINVAL);
    T_EQ(shmemx_imatch(NULL, &match), -EINVAL);
    T_EQ(shmemx_is_matched(NULL, &flag), -EINVAL);
    T_EQ(shmemx_put_init(d, &x, 8, me, &put), 0);
    T_EQ(shmemx_match(put), -EINVAL);
    T_EQ(shmemx_imatch(put, &match), -EINVAL);
    T_EQ(shmemx_is_matched(put, &flag), -EINVAL);
    T_EQ(flag, 7);
    T_TRUE(match == NULL);
    /* One that is of no kind, and nothing is done. */
    msg_sends(&e[0], next, 1 << 30, 0);
    msg_receives(&e[1], prev, 1 << 30, 0);
    T_EQ(shmemx_matchall(3, (shmemx_req_t[]){ e[0].r, e[1].r, put }), -EINVAL);
    T_EQ(shmemx_matchall(3, (shmemx_req_t[]){ e[0].r, NULL, e[1].r }), -EINVAL);
    T_EQ(shmemx_imatch(e[0].r, NULL), -EINVAL);
    T_EQ(shmemx_is_matched(e[0].r, NULL), -EINVAL);
    T_EQ(shmemx_is_matched(e[0].r, &flag), 0);
    T_EQ(flag, 0);
    T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[0].r, e[1].r }), 0);
    msg_exchange(q, e, 2);
    T_EQ(shmemx_req_free(&put), 0);
    put = e[0].r;
    msg_free(e, 2);
    T_EQ(shmemx_match(put), -EINVAL);
    T_EQ(shmemx_is_matched(put, &flag), -EINVAL);
    T_EQ(shmemx_req_free(&put), -EINVAL);
    shmem_barrier_all();
    shmem_free(d);
}

/* In the list, one that might start, twice. */
T(what_is_not_matched_does_not_start_nor_does_its_list)
{
    struct msg_end e[4];
    shmemx_req_t list[3];

    pair_make(e, 0);
    msg_sends(&e[2], next, 5, 0);
    msg_receives(&e[3], prev, 5, 0);
    for (int i = 0; i < 3; i++) {
        for (int k = 0, n = 0; k < 3; k++)
            list[k] = k == i ? e[2 + (i & 1)].r : e[n++].r;
        T_EQ(shmemx_enqueue_startall(q, 3, list), -EINVAL);
    }
    T_EQ(shmemx_enqueue_waitall(q, 1, &e[0].r), -EINVAL);
    T_EQ(shmemx_req_wait(e[0].r), -EINVAL);     /* never started */
    T_EQ(shmemx_enqueue_startall(q, 1, &e[2].r), -EINVAL);
    for (int i = 0; i < 2; i++) {
        list[0] = list[2] = e[i].r;
        list[1] = e[1 - i].r;
        T_EQ(shmemx_enqueue_startall(q, 3, list), -EBUSY);
        T_EQ(shmemx_enqueue_waitall(q, 1, list), -EINVAL);
    }
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(e[1].word, 0);
    shmem_barrier_all();
    T_EQ(e[1].word, 0);
    T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[2].r, e[3].r }), 0);
    msg_exchange(q, e, 4);
    msg_free(e, 4);
}

/* The sender starts when all that is refused has been. */
T(a_start_needs_the_wait_before_it_and_its_own_queue)
{
    shmemx_stream_t beside = st_make();
    shmemx_queue_t other;
    struct msg_end e[2];
    int flag = -1;

    T_EQ(shmemx_queue_create(beside, NULL, 0, &other), 0);
    pair_make(e, 0);
    for (int k = 0; k < 3; k++) {
        T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), 0);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), -EBUSY);
        T_EQ(shmemx_enqueue_startall(other, 1, &e[1].r), -EBUSY);
        T_EQ(shmemx_enqueue_waitall(other, 1, &e[1].r), -EINVAL);
        T_EQ(shmemx_req_free(&e[1].r), -EBUSY);
        T_EQ(shmemx_req_test(e[1].r, &flag), 0);
        T_EQ(flag, 0);
        T_EQ(shmemx_queue_destroy(q), -EBUSY);
        if (k == 1)
            T_EQ(shmemx_enqueue_waitall(q, 1, &e[1].r), 0);
        if (k == 2)
            T_EQ(shmemx_enqueue_wait(q), 0);
        T_EQ(shmemx_req_free(&e[1].r), -EBUSY);
        T_EQ(shmemx_queue_destroy(q), -EBUSY);
        shmem_barrier_all();
        T_EQ(shmemx_enqueue_startall(other, 1, &e[0].r), 0);
        T_EQ(shmemx_enqueue_startall(other, 1, &e[0].r), -EBUSY);
        T_EQ(shmemx_enqueue_waitall(q, 1, &e[0].r), -EINVAL);
        T_EQ(shmemx_req_wait(e[0].r), 0);
        T_EQ(shmemx_req_wait(e[1].r), 0);
        T_EQ(shmemx_req_test(e[1].r, &flag), 0);
        T_EQ(flag, 1);
        T_EQ(e[1].word, e[1].want);
        e[1].word = 0;
        T_EQ(shmemx_queue_wait(other), 0);
    }
    T_EQ(shmemx_queue_destroy(other), 0);
    T_EQ(shmemx_stream_destroy(beside), 0);
    msg_exchange(q, e, 2);
    msg_free(e, 2);
}

/* A small send is over when its stream is past it, unless it is far away. */
T(what_is_over_is_waited_for_once)
{
    struct msg_end e[2];

    pair_make(e, 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &e[0].r), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_req_free(&e[0].r), -EBUSY);
    T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), 0);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_enqueue_waitall(q, 1, &e[i].r), 0);
        T_EQ(shmemx_enqueue_waitall(q, 1, &e[i].r), -EINVAL);
    }
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(e[1].word, e[1].want);
    msg_free(e, 2);
}

/* At both ends, and those around it are matched. */
T(a_send_longer_than_its_receive_fails)
{
    shmemx_req_t bad[2], list[6], match;
    struct msg_end e[4];
    int flag;

    for (int k = 0; k < 4; k++) {
        msg_sends(&e[0], next, 4, k);
        msg_receives(&e[1], prev, 4, k);
        T_EQ(shmemx_send_init(out, 9, next, 4, &bad[0]), 0);
        T_EQ(shmemx_recv_init(in, 8, prev, 4, &bad[1]), 0);
        msg_sends(&e[2], next, 4, k + 50);
        msg_receives(&e[3], prev, 4, k + 50);
        for (int i = 0; i < 4; i++)
            list[i] = e[i].r;
        list[4] = bad[0];
        list[5] = bad[1];
        msg_shuffle(list, 6);
        if (k == 0) {
            T_EQ(shmemx_matchall(6, list), -EMSGSIZE);
        } else if (k == 1) {
            T_EQ(shmemx_imatchall(6, list, &match), 0);
            T_EQ(shmemx_req_wait(match), -EMSGSIZE);
            T_EQ(shmemx_req_free(&match), 0);
        } else {
            for (int i = 0; i < 6; i++)
                T_EQ(shmemx_match(list[i]),
                     list[i] == bad[0] || list[i] == bad[1] ? -EMSGSIZE : 0);
        }
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_is_matched(bad[i], &flag), 0);
            T_EQ(flag, 0);
            T_EQ(shmemx_enqueue_startall(q, 1, &bad[i]), -EINVAL);
        }
        if (k & 1)
            T_EQ(shmemx_req_free(&bad[0]), 0);
        T_EQ(shmemx_req_free(&bad[1]), 0);
        msg_exchange(q, e, 4);
        msg_free(e, 4);
        if (!(k & 1))
            T_EQ(shmemx_req_free(&bad[0]), 0);
    }
    pair_works(0);
    pair_works(1);
}

/* It is as long as many a heap; the library has a part of it for slots. */
T(what_there_is_no_room_for_fails_at_both_ends)
{
    enum { LONG = 100 << 20 };
    char *from = malloc(LONG), *to = malloc(LONG);
    struct msg_end e[2];
    shmemx_req_t r[4];
    int flag;

    for (int k = 0; k < 2; k++) {
        msg_sends(&e[0], next, 4, k);
        msg_receives(&e[1], prev, 4, k);
        T_EQ((k ? shmemx_rsend_init : shmemx_send_init)(from, LONG, next, 4,
                                                        &r[0]), 0);
        T_EQ(shmemx_recv_init(to, LONG, prev, 4, &r[1]), 0);
        r[2] = e[0].r;
        r[3] = e[1].r;
        T_EQ(shmemx_matchall(4, r), -ENOSPC);
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_match(r[i]), -ENOSPC);
            T_EQ(shmemx_is_matched(r[i], &flag), 0);
            T_EQ(flag, 0);
            T_EQ(shmemx_enqueue_startall(q, 1, &r[i]), -EINVAL);
            T_EQ(shmemx_req_free(&r[i]), 0);
        }
        msg_exchange(q, e, 2);
        msg_free(e, 2);
    }
    free(from);
    free(to);
}

static void make_one(struct msg_end *e, bool sends, int n)
{
    if (sends)
        msg_sends(e, next, 6, n);
    else
        msg_receives(e, prev, 6, n);
}

/* Before its partner looks, or while it waits.  A receive that a sender is
 * looking for is found when it is made, so that this end may be matched. */
T(a_partner_that_goes_before_it_is_matched_cancels)
{
    struct msg_end e[2], left, gone;
    shmemx_req_t match;
    int flag, rc;

    for (int k = 0; k < 8; k++) {
        make_one(&left, k & 1, k);
        if (k & 4) {
            T_EQ(shmemx_imatch(left.r, &match), 0);
            T_EQ(shmemx_req_test(match, &flag), 0);
            shmem_barrier_all();
            usleep((useconds_t)msg_below(2000));
        }
        make_one(&gone, ~k & 1, k);
        T_EQ(shmemx_req_free(&gone.r), 0);
        if (k & 2)
            shmem_barrier_all();
        if (k & 4) {
            rc = shmemx_req_wait(match);
            T_EQ(shmemx_req_free(&match), 0);
        } else {
            rc = shmemx_match(left.r);
        }
        if (!(k & 1) || (k & 6) == 2)
            T_EQ(rc, -ECANCELED);
        pair_make(e, 2 * k);            /* serves those that still wait */
        shmem_barrier_all();
        pair_works(2 * k + 1);
        T_EQ(shmemx_is_matched(left.r, &flag), 0);
        T_EQ(flag, !rc);
        T_EQ(shmemx_enqueue_startall(q, 1, &left.r), rc ? -EINVAL : -EPIPE);
        T_EQ(shmemx_req_free(&left.r), 0);
        msg_exchange(q, e, 2);
        msg_free(e, 2);
    }
}

/* Those of its tag that are made later are not its. */
T(a_partner_that_goes_after_it_is_matched_ends_the_pair)
{
    struct msg_end e[2], again[2];
    shmemx_req_t list[2];

    for (int k = 0; k < 8; k++) {
        int end = k >> 1 & 1;

        pair_make(e, k);
        if (k & 1)
            msg_exchange(q, e, 2);
        T_EQ(shmemx_req_free(&e[1 - end].r), 0);
        if (k & 4)
            pair_make(again, k + 70);
        shmem_barrier_all();
        pair_works(k + 30);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[end].r), -EPIPE);
        if (k & 4) {
            list[0] = again[1].r;
            list[1] = e[end].r;
            T_EQ(shmemx_enqueue_startall(q, 2, list), -EPIPE);
            T_EQ(shmemx_enqueue_waitall(q, 1, list), -EINVAL);
            msg_exchange(q, again, 2);
            msg_free(again, 2);
        }
        T_EQ(shmemx_req_free(&e[end].r), 0);
        pair_works(k);
    }
}

/* Those that another match finds, for others' sake. */
T(who_was_found_is_not_matched_before_it_is_to_be)
{
    struct msg_end e[2];
    int flag;

    msg_sends(&e[0], next, 8, 0);
    msg_receives(&e[1], prev, 8, 0);
    pair_works(0);
    pair_works(1);              /* what was sent before this has come */
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_is_matched(e[i].r, &flag), 0);
        T_EQ(flag, 0);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[i].r), -EINVAL);
    }
    T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[0].r, e[1].r }), 0);
    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_is_matched(e[i].r, &flag), 0);
        T_EQ(flag, 1);
    }
    msg_exchange(q, e, 2);
    msg_free(e, 2);
}

T(the_first_of_two_errors_is_reported)
{
    shmemx_req_t r[3], gone;

    for (int k = 0; k < 2; k++) {
        T_EQ(shmemx_send_init(out, 9, next, 4, &r[k]), 0);
        T_EQ(shmemx_recv_init(in, 8, prev, 4, &r[2]), 0);
        T_EQ(shmemx_recv_init(in, 8, prev, 7, &r[!k]), 0);
        T_EQ(shmemx_send_init(out, 8, next, 7, &gone), 0);
        T_EQ(shmemx_req_free(&gone), 0);
        T_EQ(shmemx_matchall(3, r), k ? -ECANCELED : -EMSGSIZE);
        for (int i = 0; i < 3; i++)
            T_EQ(shmemx_req_free(&r[i]), 0);
    }
}

/* No other call would report it. */
T(a_start_reports_that_its_partner_went)
{
    struct msg_end e[2];

    for (int end = 0; end < 2 && msg_all_on_node(); end++) {
        pair_make(e, end);
        T_EQ(shmemx_req_free(&e[!end].r), 0);
        shmem_barrier_all();
        T_EQ(shmemx_enqueue_startall(q, 1, &e[end].r), -EPIPE);
        T_EQ(shmemx_req_free(&e[end].r), 0);
    }
}

/* Only its sender's library has requested it, for other messages. */
T(a_send_that_goes_while_it_is_looked_for_ends_the_pair)
{
    struct msg_end e[2];

    for (int k = 0; k < 4; k++) {
        msg_sends(&e[0], next, 2, k);
        pair_works(k);
        T_EQ(shmemx_req_free(&e[0].r), 0);
        shmem_barrier_all();
        msg_receives(&e[1], prev, 2, k);
        T_EQ(shmemx_match(e[1].r), 0);
        shmem_barrier_all();
        pair_works(k);          /* the sender reports it first */
        T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), -EPIPE);
        T_EQ(shmemx_req_free(&e[1].r), 0);
    }
}

/* And no more.  Far away a second send ends when its receive has started. */
T(what_was_sent_before_its_sender_goes_is_received)
{
    struct msg_end e[2];

    for (int k = 0; k < 3; k++) {
        pair_make(e, k);
        if (k & 1 && msg_all_on_node())
            msg_exchange(q, e, 2);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[0].r), 0);
        T_EQ(shmemx_req_wait(e[0].r), 0);
        T_EQ(shmemx_req_free(&e[0].r), 0);
        e[0].word = 0;
        shmem_barrier_all();
        pair_works(k);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), 0);
        T_EQ(shmemx_req_wait(e[1].r), 0);
        T_EQ(e[1].word, e[1].want);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[1].r), -EPIPE);
        T_EQ(shmemx_req_free(&e[1].r), 0);
    }
}

int main(void)
{
    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(wrong_arguments_are_refused);
    T_RUN(what_is_not_matched_does_not_start_nor_does_its_list);
    T_RUN(a_start_needs_the_wait_before_it_and_its_own_queue);
    T_RUN(what_is_over_is_waited_for_once);
    T_RUN(a_send_longer_than_its_receive_fails);
    T_RUN(what_there_is_no_room_for_fails_at_both_ends);
    T_RUN(who_was_found_is_not_matched_before_it_is_to_be);
    T_RUN(the_first_of_two_errors_is_reported);
    T_RUN(a_partner_that_goes_before_it_is_matched_cancels);
    T_RUN(a_partner_that_goes_after_it_is_matched_ends_the_pair);
    T_RUN(a_start_reports_that_its_partner_went);
    T_RUN(a_send_that_goes_while_it_is_looked_for_ends_the_pair);
    T_RUN(what_was_sent_before_its_sender_goes_is_received);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

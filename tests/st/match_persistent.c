/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sends and receives that are made once find each other, the n-th
 * of a PE and tag the n-th, in whatever order they are matched, freed and made
 * again.  There is no room for thousands that were not given back.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_SYMMETRIC_SIZE=16M
 * Timeout: 40 */
#include "msg.h"

enum { TAGS = 3, OF_A_TAG = 5, PAIRS = TAGS * OF_A_TAG, MANY = 1500 };

static shmemx_stream_t s;
static shmemx_queue_t q;

static void match_all(struct msg_end *e, int n)
{
    shmemx_req_t *r = calloc((size_t)n + 1, sizeof *r);

    for (int i = 0; i < n; i++)
        r[i] = e[i].r;
    msg_shuffle(r, n);
    T_EQ(shmemx_matchall(n, r), 0);
    free(r);
}

/* To the next, from the previous one; tag by tag, or turn by turn. */
static void make_pairs(struct msg_end *e, int salt)
{
    for (int i = 0; i < PAIRS; i++) {
        int k = me & 1 ? i / OF_A_TAG + i % OF_A_TAG * TAGS : i;
        int tag = k % TAGS * 1000;

        msg_sends(&e[i], next, tag, salt + k / TAGS);
        msg_receives(&e[PAIRS + i], prev, tag, salt + k / TAGS);
    }
}

T(the_nth_send_is_for_the_nth_receive)
{
    static struct msg_end e[2 * PAIRS];

    for (int k = 0; k < 4; k++) {
        make_pairs(e, 100 * k);
        match_all(e, 2 * PAIRS);
        msg_exchange(q, e, 2 * PAIRS);
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
}

/* While one waits, what others look for here is found. */
T(single_matches_in_any_order_delay_no_pe)
{
    static struct msg_end e[2 * PAIRS];
    shmemx_req_t r[2 * PAIRS];

    for (int k = 0; k < 12; k++) {
        make_pairs(e, 100 * k);
        for (int i = 0; i < 2 * PAIRS; i++)
            r[i] = e[i].r;
        if (k > 3)
            msg_shuffle(r, 2 * PAIRS);
        if (k % 4 == 3)
            usleep((useconds_t)msg_below(3000));
        for (int i = 0; i < 2 * PAIRS; i++) {
            int at = k == 1 ? (i + PAIRS) % (2 * PAIRS) :
                     k == 2 ? 2 * PAIRS - 1 - i :
                     k == 3 ? (i + me % 2 * PAIRS) % (2 * PAIRS) : i;

            T_EQ(shmemx_match(r[at]), 0);
        }
        for (int i = 0; i < 2 * PAIRS; i++)
            T_EQ(shmemx_match(r[i]), 0);        /* nothing to do */
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
}

/* With each PE, oneself included. */
T(a_ring_of_single_matches_comes_round)
{
    struct msg_end *e = calloc((size_t)n_pes * 2, sizeof *e);
    shmemx_req_t *r = calloc((size_t)n_pes * 2, sizeof *r);

    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < n_pes; i++) {
            msg_sends(&e[2 * i], i, 7, k);
            msg_receives(&e[2 * i + 1], i, 7, k);
        }
        for (int i = 0; i < 2 * n_pes; i++)
            r[i] = e[i].r;
        if (k > 1)
            msg_shuffle(r, 2 * n_pes);
        for (int i = 0; i < 2 * n_pes; i++)
            T_EQ(shmemx_match(r[k == 1 ? 2 * n_pes - 1 - i : i]), 0);
        msg_exchange(q, e, 2 * n_pes);
        msg_free(e, 2 * n_pes);
    }
    free(e);
    free(r);
}

T(a_match_of_nothing_is_done)
{
    shmemx_req_t match = NULL;
    int flag = -1;

    T_EQ(shmemx_matchall(0, NULL), 0);
    T_EQ(shmemx_imatchall(0, NULL, &match), 0);
    T_EQ(shmemx_match(match), -EINVAL);         /* it is no message */
    T_EQ(shmemx_enqueue_startall(q, 1, &match), -EINVAL);
    T_EQ(shmemx_req_wait(match), 0);
    T_EQ(shmemx_req_test(match, &flag), 0);
    T_EQ(flag, 1);
    T_EQ(shmemx_req_free(&match), 0);
    T_TRUE(match == NULL);
}

/* The receiver is not made before the sender has looked. */
T(a_match_under_way_ends_by_its_request)
{
    struct msg_end e[2];
    shmemx_req_t match[2];
    int flag;

    for (int k = 0; k < 10; k++) {
        flag = -1;
        msg_sends(&e[0], next, 3, k);
        T_EQ(shmemx_is_matched(e[0].r, &flag), 0);
        T_EQ(flag, 0);
        T_EQ(shmemx_imatch(e[0].r, &match[0]), 0);
        for (int i = 0; i < 50; i++) {
            T_EQ(shmemx_req_test(match[0], &flag), 0);
            T_EQ(flag, 0);
        }
        T_EQ(shmemx_is_matched(e[0].r, &flag), 0);
        T_EQ(flag, 0);
        T_EQ(shmemx_req_free(&match[0]), -EBUSY);
        T_EQ(shmemx_req_free(&e[0].r), -EBUSY);
        T_EQ(shmemx_enqueue_startall(q, 1, &e[0].r), -EINVAL);
        shmem_barrier_all();
        msg_receives(&e[1], prev, 3, k);
        T_EQ(shmemx_imatch(e[1].r, &match[1]), 0);
        for (int i = 0; i < 2; i++)
            if (k & 2)
                T_EQ(shmemx_req_wait(match[(i + k) & 1]), 0);
            else
                do
                    T_EQ(shmemx_req_test(match[(i + k) & 1], &flag), 0);
                while (!flag);
        for (int i = 0; i < 2; i++) {
            T_EQ(shmemx_req_wait(match[i]), 0);
            T_EQ(shmemx_is_matched(e[i].r, &flag), 0);
            T_EQ(flag, 1);
            T_EQ(shmemx_req_free(&match[i]), 0);
        }
        T_EQ(shmemx_imatch(e[0].r, &match[0]), 0);      /* it is already */
        T_EQ(shmemx_req_wait(match[0]), 0);
        T_EQ(shmemx_req_free(&match[0]), 0);
        msg_exchange(q, e, 2);
        msg_free(e, 2);
    }
}

T(what_is_freed_while_its_match_lasts_is_none_of_it)
{
    struct msg_end e[4];
    shmemx_req_t r[3], match;
    int is[2] = { 0 }, flag;

    msg_sends(&e[0], next, 4, 0);
    msg_receives(&e[1], prev, 4, 0);
    msg_sends(&e[2], next, 5, 0);
    for (int i = 0; i < 3; i++)
        r[i] = e[i].r;
    T_EQ(shmemx_imatchall(3, r, &match), 0);
    while (!is[0] || !is[1])
        for (int i = 0; i < 2; i++)
            T_EQ(shmemx_is_matched(e[i].r, &is[i]), 0);
    msg_free(e, 2);
    T_EQ(shmemx_req_test(match, &flag), 0);
    T_EQ(flag, 0);
    shmem_barrier_all();
    msg_receives(&e[3], prev, 5, 0);
    T_EQ(shmemx_match(e[3].r), 0);
    T_EQ(shmemx_req_wait(match), 0);
    T_EQ(shmemx_req_free(&match), 0);
    msg_exchange(q, e + 2, 2);
    msg_free(e + 2, 2);
}

/* Some PEs wait, others wait for something else. */
T(what_was_begun_needs_no_further_call)
{
    static struct msg_end e[2 * PAIRS];
    shmemx_req_t r[2 * PAIRS], match;

    for (int k = 0; k < 10; k++) {
        make_pairs(e, k);
        for (int i = 0; i < 2 * PAIRS; i++)
            r[i] = e[i].r;
        if ((me + k) % 2)
            T_EQ(shmemx_imatchall(2 * PAIRS, r, &match), 0);
        else
            T_EQ(shmemx_matchall(2 * PAIRS, r), 0);
        shmem_barrier_all();
        if ((me + k) % 2) {
            T_EQ(shmemx_req_wait(match), 0);
            T_EQ(shmemx_req_free(&match), 0);
        }
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
}

/* Some PEs wait, others only look now and then. */
T(who_looks_serves_those_that_wait)
{
    static struct msg_end e[2 * PAIRS];
    shmemx_req_t r[2 * PAIRS], match[2] = { NULL, NULL };
    int flag = 0;

    for (int k = 0; k < 10; k++) {
        make_pairs(e, k);
        for (int i = 0; i < 2 * PAIRS; i++)
            r[i] = e[i].r;
        msg_shuffle(r, 2 * PAIRS);
        if ((me + k) % 2) {
            T_EQ(shmemx_imatchall(PAIRS, r, &match[0]), 0);
            T_EQ(shmemx_imatchall(PAIRS, r + PAIRS, &match[1]), 0);
            for (flag = 0; !flag; usleep(100))
                T_EQ(shmemx_req_test(match[k & 1], &flag), 0);
            T_EQ(shmemx_req_wait(match[~k & 1]), 0);
            T_EQ(shmemx_req_free(&match[0]), 0);
            T_EQ(shmemx_req_free(&match[1]), 0);
        } else {
            for (int i = 0; i < 2 * PAIRS; i += 3)
                T_EQ(shmemx_matchall(3, r + i), 0);
        }
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
}

enum { NAMES = 300 };           /* of tags: more than a table has places for */

/* All that is exchanged is the same on all PEs, and each makes it in an order
 * of its own. */
static struct {
    int many, shift[MANY], name[MANY], tag[NAMES];
    struct msg_end e[2 * MANY];
} plan;

/* Most of them have the first tag: any two of a place in a table differ in one
 * thing only, be it the tag or which one it is. */
static void plan_many(int many)
{
    plan.many = many;
    for (int i = 0; i < NAMES; i++)
        plan.tag[i] = (int)(T_RAND() >> 33);
    for (int i = 0; i < many; i++) {
        plan.shift[i] = (int)(T_RAND() % (uint64_t)n_pes);
        plan.name[i] = i % 4 ? 0 : (int)(T_RAND() % NAMES);
    }
}

static void plan_make(bool sends)
{
    int *nth = calloc((size_t)n_pes * NAMES, sizeof *nth);

    for (int i = 0; i < plan.many; i++) {
        int k = me & (sends ? 1 : 2) ? plan.many - 1 - i : i;
        int name = plan.name[k], by = plan.shift[k];
        int pe = (me + (sends ? by : n_pes - by)) % n_pes;
        int *n = &nth[pe * NAMES + name];

        (sends ? msg_sends : msg_receives)(&plan.e[i + !sends * plan.many], pe,
                                           plan.tag[name], (*n)++);
    }
    free(nth);
}

T(thousands_are_matched)
{
    int many = msg_times(MANY, MANY) > 300 ? MANY : 300, n;
    struct msg_end *e = plan.e;
    shmemx_req_t r[101];

    plan_many(many);
    plan_make(true);
    plan_make(false);
    /* Some of them by calls that wait for each other on the way. */
    for (int k = 0; k < 5; k++) {
        for (n = 0; n < 101; n++)
            r[n] = e[(me + 1) * 101 * (k + 1) % (many - 101) + n * (k + 1) %
                     101 + (n & 1) * many].r;
        T_EQ(shmemx_matchall(n, r), 0);
    }
    match_all(e, 2 * many);
    match_all(e, 2 * many);
    msg_exchange(q, e, 2 * many);
    msg_exchange(q, e, 2 * many);
    msg_free(e, 2 * many);
}

/* Senders look for them while nothing else is done, some of those that are used
 * once too. */
T(thousands_of_receives_are_made_late)
{
    int many = msg_times(MANY, 300), flag;
    struct msg_end *e = plan.e;
    shmemx_req_t *r = calloc((size_t)many, sizeof *r), match;
    static uint64_t x[NAMES], y[NAMES];

    plan_many(many);
    plan_make(true);
    for (int i = 0; i < many; i++)
        r[i] = e[i].r;
    for (int i = 0; i < NAMES; i++) {
        x[i] = ~msg_key(me, next, plan.tag[i], i);
        y[i] = 0;
        T_EQ(shmemx_enqueue_send(q, &x[i], 8, next, plan.tag[i], NULL), 0);
    }
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_imatchall(many, r, &match), 0);
    for (int i = 0; i < 100; i++) {
        T_EQ(shmemx_req_test(match, &flag), 0);
        usleep(500);
    }
    shmem_barrier_all();
    for (int i = 0; i < NAMES; i++)
        T_EQ(shmemx_enqueue_recv(q, &y[i], 8, prev, plan.tag[i], NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    plan_make(false);
    match_all(e, 2 * many);
    T_EQ(shmemx_req_wait(match), 0);
    T_EQ(shmemx_req_free(&match), 0);
    msg_exchange(q, e, 2 * many);
    for (int i = 0; i < NAMES; i++)
        T_EQ(y[i], ~msg_key(prev, me, plan.tag[i], i));
    msg_free(e, 2 * many);
    free(r);
}

/* The first PE makes the next ones while others still have these. */
T(what_is_freed_is_used_again)
{
    static struct msg_end e[2 * PAIRS];
    int times = msg_times(300, 60);
    long before = 0;

    for (int k = 0; k < times; k++) {
        if (k == 100)
            before = t_resident_kib();
        make_pairs(e, k);
        match_all(e, 2 * PAIRS);
        if (k % 3)
            msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (times == 300)
        T_LE(t_resident_kib(), before + 1024);
#else                           /* they keep what was freed */
    (void)before;
#endif
}

/* Some live on while others come and go, and are none of these. */
T(those_that_stay_are_left_alone)
{
    static struct msg_end stay[2 * PAIRS], e[2 * PAIRS];

    make_pairs(stay, 0);
    match_all(stay, 2 * PAIRS);
    for (int k = 0; k < 30; k++) {
        make_pairs(e, OF_A_TAG * (k + 1));
        match_all(e, 2 * PAIRS);
        if (k & 1)
            msg_exchange(q, stay, 2 * PAIRS);
        msg_exchange(q, e, 2 * PAIRS);
        msg_free(e, 2 * PAIRS);
    }
    msg_exchange(q, stay, 2 * PAIRS);
    msg_free(stay, 2 * PAIRS);
}

int main(void)
{
    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(the_nth_send_is_for_the_nth_receive);
    T_RUN(single_matches_in_any_order_delay_no_pe);
    T_RUN(a_ring_of_single_matches_comes_round);
    T_RUN(a_match_of_nothing_is_done);
    T_RUN(a_match_under_way_ends_by_its_request);
    T_RUN(what_is_freed_while_its_match_lasts_is_none_of_it);
    T_RUN(what_was_begun_needs_no_further_call);
    T_RUN(who_looks_serves_those_that_wait);
    T_RUN(thousands_are_matched);
    T_RUN(thousands_of_receives_are_made_late);
    T_RUN(what_is_freed_is_used_again);
    T_RUN(those_that_stay_are_left_alone);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

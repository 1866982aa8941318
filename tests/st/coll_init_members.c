/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a collective request is made by all members or by none, and the
 * next one is as if nothing had been; teams that two threads use at a time are
 * not mixed up.
 * PEs: 2 3
 * Ppn: 3/2
 * Env: SHMEM_SYMMETRIC_SIZE=16M
 * Expect: ^sluice: PE 0 .*: shmemx_allreduce_init: PE [12] makes SHMEMX_MAX of 16 bytes of SHMEMX_INT64, this PE SHMEMX_SUM of 16 bytes of SHMEMX_INT64: no request is made \[S-W-ARG\]
 * Expect: ^sluice: PE [12] .*: PE 0 makes SHMEMX_SUM of 16 bytes of SHMEMX_INT64, this PE SHMEMX_MAX of 16 bytes
 * Expect: PE 0 makes SHMEMX_AND of 0 bytes of SHMEMX_INT8, this PE a barrier
 * Timeout: 30 */
#include "msg.h"

#include <pthread.h>

enum { ROUNDS = 60, MOST = 20000 };

static void goes_once(shmemx_queue_t q, shmemx_req_t r)
{
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 1, &r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
}

/* One member's part of the heap is full. */
T(where_one_has_no_room_none_has_a_request)
{
    static shmemx_req_t full[MOST];
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;
    shmemx_req_t r = NULL;
    int n = 0;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    while (me == 1 && n < MOST &&
           !shmemx_recv_init(&s, sizeof s, me, n, &full[n]))
        n++;
    T_TRUE(n < MOST);
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r),
         me == 1 ? -ENOSPC : -ECANCELED);
    T_TRUE(!r);
    while (n)
        T_EQ(shmemx_req_free(&full[--n]), 0);
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &r), 0);
    goes_once(q, r);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

/* Its own buffers are not aligned. */
T(where_one_is_wrong_none_has_a_request)
{
    static long d[4];
    shmemx_req_t r = NULL;

    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, (char *)d + (me == 1), &d[2],
                               1, SHMEMX_INT64, SHMEMX_SUM, &r),
         me == 1 ? -EINVAL : -ECANCELED);
    T_TRUE(!r);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, &d[2], 1, SHMEMX_INT64,
                               SHMEMX_SUM, &r), 0);
    T_EQ(shmemx_req_free(&r), 0);
}

/* Of the last member, and of all others; bytes: they are as many. */
static void differs(shmemx_req_t *r, size_t n, shmemx_type_t type,
                    shmemx_op_t op, size_t last_n, shmemx_type_t last_type,
                    shmemx_op_t last_op, bool bytes)
{
    static long long in[10000], out[10000];
    bool last = me == n_pes - 1;

    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, out, in, last ? last_n : n,
                               last ? last_type : type, last ? last_op : op,
                               r), bytes ? -EINVAL : -EMSGSIZE);
    T_TRUE(!*r);
}

/* All fail, and the next one is as if nothing had been. */
T(members_that_pass_different_things_have_no_request)
{
    static long long x = 1, y;
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;
    shmemx_req_t r = NULL;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    differs(&r, 2, SHMEMX_INT64, SHMEMX_SUM, 2, SHMEMX_INT64, SHMEMX_MAX, true);
    differs(&r, 9000, SHMEMX_INT64, SHMEMX_MIN, 9000, SHMEMX_INT64, SHMEMX_AND,
            true);
    differs(&r, 4, SHMEMX_INT64, SHMEMX_SUM, 4, SHMEMX_UINT64, SHMEMX_SUM,
            true);
    differs(&r, 4, SHMEMX_INT64, SHMEMX_SUM, 8, SHMEMX_INT32, SHMEMX_SUM,
            true);
    differs(&r, 4, SHMEMX_COMPLEXD, SHMEMX_PROD, 4, SHMEMX_DOUBLE, SHMEMX_PROD,
            false);
    differs(&r, 1, SHMEMX_INT64, SHMEMX_SUM, 0, SHMEMX_INT64, SHMEMX_SUM,
            false);
    differs(&r, 10000, SHMEMX_INT64, SHMEMX_SUM, 10, SHMEMX_INT64, SHMEMX_SUM,
            false);             /* a ring there, pairs here */
    T_EQ(me ? shmemx_barrier_init(SHMEM_TEAM_WORLD, &r)
            : shmemx_allreduce_init(SHMEM_TEAM_WORLD, &y, &x, 0, SHMEMX_INT8,
                                    SHMEMX_AND, &r), -EINVAL);
    T_TRUE(!r);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &y, &x, 1, SHMEMX_INT64,
                               SHMEMX_SUM, &r), 0);
    goes_once(q, r);
    T_EQ(y, n_pes);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

struct user {
    shmem_team_t team;
    long in[9], out[9];
    int n;                      /* elements: messages are not alike */
};

static void *use(void *arg)
{
    struct user *u = arg;
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;
    shmemx_req_t r;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (int i = 0; i < ROUNDS; i++) {
        usleep((useconds_t)(37 * i + 101 * u->n + 59 * me) % 300);
        u->in[0] = 10 * u->n + i;
        T_EQ(shmemx_allreduce_init(u->team, u->out, u->in, (size_t)u->n,
                                   SHMEMX_INT64, SHMEMX_SUM, &r), 0);
        goes_once(q, r);
        T_EQ(u->out[0], n_pes * u->in[0]);
        T_EQ(shmemx_req_free(&r), 0);
    }
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return NULL;
}

T(teams_of_two_threads_are_two)
{
    static struct user u[2];
    pthread_t t;

    u[0] = (struct user){ .team = SHMEM_TEAM_WORLD, .n = 1 };
    u[1] = (struct user){ .n = 9 };
    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0,
                                  &u[1].team), 0);
    T_EQ(pthread_create(&t, NULL, use, &u[1]), 0);
    use(&u[0]);
    pthread_join(t, NULL);
    shmem_team_destroy(u[1].team);
}

static void *make_and_free(void *arg)
{
    struct user *u = arg;
    shmemx_req_t r;

    T_EQ(shmemx_allreduce_init(u->team, u->out, u->in, (size_t)u->n,
                               SHMEMX_INT64, SHMEMX_SUM, &r), 0);
    T_EQ(shmemx_req_free(&r), 0);
    return NULL;
}

/* The first team's messages are looked for when PE 0 has made them and no
 * other PE, because another thread's are. */
T(what_comes_early_is_for_its_own_team)
{
    static struct user u[2];
    struct msg_end e[2];
    pthread_t t;

    for (int i = 0; i < 2; i++) {
        u[i].n = 1 + 8 * i;
        T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0,
                                      &u[i].team), 0);
    }
    if (!me) {
        T_EQ(pthread_create(&t, NULL, make_and_free, &u[0]), 0);
        usleep(50000);
    }
    msg_sends(&e[0], next, 1, 0);
    msg_receives(&e[1], prev, 1, 0);
    T_EQ(shmemx_matchall(2, (shmemx_req_t[]){ e[0].r, e[1].r }), 0);
    make_and_free(&u[1]);
    if (me)
        make_and_free(&u[0]);
    else
        pthread_join(t, NULL);
    msg_free(e, 2);
    for (int i = 0; i < 2; i++)
        shmem_team_destroy(u[i].team);
}

int main(void)
{
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    T_PE(shmem_my_pe());
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    prev = (me + n_pes - 1) % n_pes;
    T_RUN(teams_of_two_threads_are_two);
    T_RUN(members_that_pass_different_things_have_no_request);
    T_RUN(what_comes_early_is_for_its_own_team);
    T_RUN(where_one_is_wrong_none_has_a_request);
    T_RUN(where_one_has_no_room_none_has_a_request);
    return st_end();
}

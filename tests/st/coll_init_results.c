/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: barriers and reductions that are made once and started on
 * queues: what they give, in place and not, of every type and operation; they
 * go on whatever the program's streams wait for.
 * PEs: 1 2 3 4
 * Ppn: 2/1 5/2
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"

static shmemx_stream_t s;
static shmemx_queue_t q;

static void run(shmemx_req_t r)
{
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 1, &r), 0);
}

T(a_barrier_ends_when_all_have_started_theirs)
{
    long *w = shmem_calloc((size_t)n_pes, sizeof *w);
    long *seen = calloc((size_t)n_pes * 30, sizeof *seen);
    shmemx_req_t bar;

    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &bar), 0);
    for (int k = 0; k < 30; k++) {
        for (int pe = 0; pe < n_pes; pe++)
            T_EQ(shmemx_long_p_on_stream(&w[me], k + 1, pe, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        run(bar);
        T_EQ(shmemx_stream_copy(s, &seen[k * n_pes], w,
                                (size_t)n_pes * sizeof *w), 0);
    }
    T_EQ(shmemx_stream_sync(s), 0);
    for (int k = 0; k < 30; k++)
        for (int pe = 0; pe < n_pes; pe++)
            T_TRUE(seen[k * n_pes + pe] >= k + 1);
    T_EQ(shmemx_req_free(&bar), 0);
    free(seen);
    shmem_barrier_all();
    shmem_free(w);
}

/* PE 0 comes last, and its own stream waits for another message first, which
 * the next PE sends behind the barrier. */
T(it_goes_on_while_a_stream_waits_for_something_else)
{
    shmemx_req_t bar, msg = NULL;
    long *d = shmem_calloc(1, sizeof *d), mine = 77;

    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &bar), 0);
    if (n_pes > 1 && me == 0)
        T_EQ(shmemx_recv_init(d, sizeof *d, 1, 5, &msg), 0);
    if (me == 1)
        T_EQ(shmemx_send_init(&mine, sizeof mine, 0, 5, &msg), 0);
    if (msg)
        T_EQ(shmemx_match(msg), 0);
    if (me == 0) {
        T_EQ(shmemx_enqueue_startall(q, 1, &bar), 0);
        if (msg)
            run(msg);
        T_EQ(shmemx_enqueue_waitall(q, 1, &bar), 0);
    } else {
        run(bar);
        if (msg)
            run(msg);
    }
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(*d, me == 0 && n_pes > 1 ? 77 : 0);
    if (msg)
        T_EQ(shmemx_req_free(&msg), 0);
    T_EQ(shmemx_req_free(&bar), 0);
    shmem_barrier_all();
    shmem_free(d);
}

/* Both orders of two that are under way at a time. */
T(two_at_a_time_in_any_order)
{
    shmemx_req_t r[2];
    int *d = shmem_calloc(4, sizeof *d), *mine = d + 2;

    mine[0] = me + 1;
    mine[1] = 2 * me;
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &d[i], &mine[i], 1,
                                   SHMEMX_INT32, SHMEMX_SUM, &r[i]), 0);
    for (int k = 0; k < 20; k++) {
        T_EQ(shmemx_enqueue_startall(q, 1, &r[me % 2]), 0);
        T_EQ(shmemx_enqueue_startall(q, 1, &r[1 - me % 2]), 0);
        T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(d[0], n_pes * (n_pes + 1) / 2);
        T_EQ(d[1], n_pes * (n_pes - 1));
    }
    T_EQ(shmemx_req_free(&r[0]), 0);
    T_EQ(shmemx_req_free(&r[1]), 0);
    shmem_barrier_all();
    shmem_free(d);
}

static void sum_up(size_t n, bool device, bool in_place)
{
    int *d = st_room(device, (n + 1) * sizeof *d);
    int *a = in_place ? d : st_room(device, (n + 1) * sizeof *a);
    int *here = malloc((n + 1) * sizeof *here);
    shmemx_req_t r;

    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, a, n, SHMEMX_INT32,
                               SHMEMX_SUM, &r), 0);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < n; i++)
            here[i] = (me + 1) * ((int)(i % 97) + 1) + k;
        T_EQ(shmemx_stream_copy(s, a, here, n * sizeof *a), 0);
        run(r);
        T_EQ(shmemx_stream_copy(s, here, d, n * sizeof *d), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (size_t i = 0; i < n; i++) {
            int want = n_pes * (n_pes + 1) / 2 * ((int)(i % 97) + 1) +
                       n_pes * k;

            if (here[i] != want) {
                T_EQ(here[i], want);
                break;
            }
        }
    }
    T_EQ(shmemx_req_free(&r), 0);
    free(here);
    shmem_barrier_all();
    if (!in_place)
        shmem_free(a);
    shmem_free(d);
}

T(sums_of_few_and_of_many)
{
    static const size_t ns[] = { 0, 1, 2, 3, 1000, 4096, 4097, 50021 };

    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        for (int how = 0; how < 4; how++)
            sum_up(ns[i], how & 1, how & 2);
}

/* As PE 0 does it for all, in the order of their numbers. */
T(each_operation)
{
    static const double want_of[] = { 0, 0, 0, 4, 1, 10, 24 };
    double *d = shmem_calloc(2, sizeof *d);
    uint16_t *u = shmem_calloc(2, sizeof *u), v;
    shmemx_req_t r;

    for (int op = SHMEMX_MAX; op <= SHMEMX_PROD; op++) {
        double sum = 0, prod = 1;

        for (int pe = 0; pe < n_pes; pe++) {
            sum += pe + 1;
            prod *= pe + 1;
        }
        d[0] = me + 1;
        T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &d[1], &d[0], 1,
                                   SHMEMX_DOUBLE, (shmemx_op_t)op, &r), 0);
        run(r);
        T_EQ(shmemx_stream_sync(s), 0);
        T_TRUE(d[1] == (op == SHMEMX_MAX ? n_pes : op == SHMEMX_MIN ? 1
                        : op == SHMEMX_SUM ? sum : prod));
        if (n_pes == 4)
            T_TRUE(d[1] == want_of[op]);
        T_EQ(shmemx_req_free(&r), 0);
    }
    for (int op = SHMEMX_AND; op <= SHMEMX_XOR; op++) {
        v = 0x8001;
        for (int pe = 0; pe < n_pes; pe++) {
            uint16_t one = (uint16_t)(0x8001 | 2 << pe);

            v = pe == 0 ? one : op == SHMEMX_AND ? v & one
                : op == SHMEMX_OR ? v | one : v ^ one;
        }
        u[0] = (uint16_t)(0x8001 | 2 << me);
        T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &u[1], &u[0], 1,
                                   SHMEMX_UINT16, (shmemx_op_t)op, &r), 0);
        run(r);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(u[1], v);
        T_EQ(shmemx_req_free(&r), 0);
    }
    shmem_barrier_all();
    shmem_free(d);
    shmem_free(u);
}

/* The greater of 0 and -0 is either, as it is of the least. */
T(all_members_have_the_same_bits)
{
    double *d = shmem_calloc(1, sizeof *d);
    uint64_t mine, other;
    shmemx_req_t r;

    for (int k = 0; k < 4; k++) {
        *d = (me + k) & 1 ? -0.0 : 0.0;
        T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, d, 1, SHMEMX_DOUBLE,
                                   k & 2 ? SHMEMX_MAX : SHMEMX_MIN, &r), 0);
        run(r);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        shmem_getmem(&mine, d, sizeof mine, me);
        shmem_getmem(&other, d, sizeof other, 0);
        T_EQ(mine, other);
        T_EQ(shmemx_req_free(&r), 0);
        shmem_barrier_all();
    }
    shmem_free(d);
}

T(teams_have_theirs)
{
    shmem_team_t team;
    int n = (n_pes + 1 - me % 2) / 2, *d = shmem_calloc(1, sizeof *d);
    shmemx_req_t r;

    for (int odd = 0; odd < 2; odd++) {
        int count = odd ? n_pes / 2 : (n_pes + 1) / 2;

        if (!count)
            continue;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, odd, 2, count, NULL, 0,
                                 &team);
        if (team == SHMEM_TEAM_INVALID)
            continue;
        *d = 1;
        T_EQ(shmemx_allreduce_init(team, d, d, 1, SHMEMX_INT32, SHMEMX_SUM,
                                   &r), 0);
        run(r);
        T_EQ(shmemx_req_wait(r), 0);
        T_EQ(*d, n);
        T_EQ(shmemx_req_free(&r), 0);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
    shmem_free(d);
}

T(what_is_wrong_is_refused)
{
    const char *device = getenv("FAKE_DEVICE");
    int *d = shmem_calloc(2, sizeof *d), mine = 0;
    shmemx_req_t r = NULL, bar;

    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, d, 1, SHMEMX_FLOAT,
                               SHMEMX_XOR, &r), -EINVAL);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, d, 1, SHMEMX_COMPLEXD,
                               SHMEMX_MAX, &r), -EINVAL);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, NULL, 1, SHMEMX_INT32,
                               SHMEMX_SUM, &r), -EINVAL);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, (char *)d + 1, d, 1,
                               SHMEMX_INT32, SHMEMX_SUM, &r), -EINVAL);
    T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, d, 1, (shmemx_type_t)12,
                               SHMEMX_SUM, &r), -EINVAL);
    if (device && !strcmp(device, "discrete"))  /* which reaches no stack */
        T_EQ(shmemx_allreduce_init(SHMEM_TEAM_WORLD, d, &mine, 1, SHMEMX_INT32,
                                   SHMEMX_SUM, &r), -EINVAL);
    T_TRUE(r == NULL);
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, NULL), -EINVAL);
    T_EQ(shmemx_barrier_init(SHMEM_TEAM_WORLD, &bar), 0);
    T_EQ(shmemx_match(bar), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, 1, &bar), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &bar), -EBUSY);
    T_EQ(shmemx_req_free(&bar), -EBUSY);
    T_EQ(shmemx_req_wait(bar), 0);
    T_EQ(shmemx_req_free(&bar), 0);
    shmem_barrier_all();
    shmem_free(d);
}

int main(void)
{
    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(a_barrier_ends_when_all_have_started_theirs);
    T_RUN(it_goes_on_while_a_stream_waits_for_something_else);
    T_RUN(two_at_a_time_in_any_order);
    T_RUN(sums_of_few_and_of_many);
    T_RUN(each_operation);
    T_RUN(all_members_have_the_same_bits);
    T_RUN(teams_have_theirs);
    T_RUN(what_is_wrong_is_refused);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is put into a queue runs when it is started and not
 * before, again and again where it is persistent, and misuse is refused, as are
 * handles of what is gone.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"

enum { ROUNDS = 40, N = 500, MANY = 200 };

static shmemx_stream_t s;
static shmemx_queue_t q;

T(nothing_runs_before_the_start)
{
    long *d = shmem_calloc(N, sizeof *d), here[N], back[N] = { 0 };
    uint64_t *sig = shmem_calloc(1, sizeof *sig);
    shmemx_req_t put, get = NULL;
    int32_t was = -1;
    int32_t *word = shmem_calloc(1, sizeof *word);
    int flag = -1, empty = -1;

    for (int i = 0; i < N; i++)
        here[i] = 1000 * me + i;
    T_EQ(shmemx_enqueue_putmem_signal(q, d, here, sizeof here, sig, 5,
                                      SHMEM_SIGNAL_SET, next, &put), 0);
    T_EQ(shmemx_enqueue_atomic_add_int32(q, word, 3, next, NULL), 0);
    T_EQ(shmemx_enqueue_atomic_fetch_add_int32(q, &was, word, 0, me, NULL), 0);
    T_EQ(shmemx_req_test(put, &flag), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, 1, &put), -EINVAL);
    T_EQ(shmemx_req_free(&put), -EBUSY);
    T_EQ(shmemx_queue_destroy(q), -EBUSY);
    T_EQ(shmemx_stream_sync(s), 0);
    usleep(5000);
    shmem_barrier_all();
    T_EQ(*sig, 0);
    T_EQ(*word, 0);
    T_EQ(was, -1);
    shmem_barrier_all();
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, sig, SHMEM_CMP_EQ, 5, s), 0);
    T_EQ(shmemx_enqueue_getmem(q, back, d, sizeof back, next, &get), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_req_wait(put), 0);
    T_EQ(shmemx_req_test(put, &flag), 0);
    T_EQ(flag, 1);
    T_EQ(shmemx_req_wait(get), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_test(q, &empty), 0);
    T_EQ(empty, 1);
    T_TRUE(was == 0 || was == 3);
    T_TRUE(!memcmp(back, here, sizeof back));
    T_EQ(shmemx_req_free(&put), 0);
    T_EQ(shmemx_req_free(&get), 0);
    T_TRUE(!put && !get);
    shmem_barrier_all();
    T_EQ(*word, 3);
    T_EQ(d[7], 1000 * prev + 7);
    shmem_barrier_all();
    shmem_free(d);
    shmem_free(sig);
    shmem_free(word);
}

T(persistent_requests_are_started_again_and_again)
{
    long *d = shmem_space_calloc(SHMEM_SPACE_DEVICE, N, sizeof *d);
    long *src = shmem_space_calloc(SHMEM_SPACE_DEVICE, N, sizeof *src);
    uint64_t *sig = shmem_calloc(2, sizeof *sig);
    static long here[ROUNDS][N], there[ROUNDS][N];
    shmemx_req_t r[2];

    T_EQ(shmemx_put_init(d, src, N / 2 * sizeof *d, next, &r[0]), 0);
    T_EQ(shmemx_put_signal_init(d + N / 2, src + N / 2,
                                (N - N / 2) * sizeof *d, &sig[0], 1,
                                SHMEM_SIGNAL_ADD, next, &r[1]), 0);
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < N; i++)
            here[k][i] = 100000 * k + 1000 * me + i;
        T_EQ(shmemx_stream_copy(s, src, here[k], sizeof here[k]), 0);
        T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
        if (k == 3)
            T_EQ(shmemx_enqueue_startall(q, 2, r), -EBUSY);
        T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
        /* Both halves are there: the first was complete at the wait. */
        T_EQ(shmemx_barrier_all_on_stream(s), 0);
        T_EQ(shmemx_signal_wait_until_on_stream(
                 NULL, &sig[0], SHMEM_CMP_GE, (uint64_t)k + 1, s), 0);
        T_EQ(shmemx_stream_copy(s, there[k], d, sizeof there[k]), 0);
        T_EQ(shmemx_sync_all_on_stream(s), 0);
    }
    T_EQ(shmemx_stream_sync(s), 0);
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < N; i++)
            if (there[k][i] != 100000 * k + 1000 * prev + i) {
                T_EQ(there[k][i], 100000 * k + 1000 * prev + i);
                k = ROUNDS - 1;
                break;
            }
    T_EQ(shmemx_req_free(&r[0]), 0);
    T_EQ(shmemx_req_free(&r[1]), 0);
    shmem_barrier_all();
    shmem_free(d);
    shmem_free(src);
    shmem_free(sig);
}

T(many_go_by_one_start)
{
    long *d = shmem_calloc(MANY, sizeof *d), here[MANY];
    shmemx_queue_config_t config = { .depth = MANY };
    shmemx_queue_t deep;

    T_EQ(shmemx_queue_create(s, &config, SHMEMX_QUEUE_DEPTH, &deep), 0);
    for (int k = 1; k <= 10; k++) {
        for (int i = 0; i < MANY; i++) {
            here[i] = 1000 * k + i + me;
            T_EQ(shmemx_enqueue_putmem(deep, &d[i], &here[i], sizeof *d, next,
                                       NULL), 0);
        }
        T_EQ(shmemx_enqueue_start(deep), 0);
        T_EQ(shmemx_queue_wait(deep), 0);
        shmem_barrier_all();
        for (int i = 0; i < MANY; i++)
            T_EQ(d[i], 1000 * k + i + prev);
        shmem_barrier_all();
    }
    T_EQ(shmemx_enqueue_start(deep), 0);        /* of nothing */
    T_EQ(shmemx_enqueue_wait(deep), 0);
    T_EQ(shmemx_queue_destroy(deep), 0);
    shmem_free(d);
}

/* The second start is behind what this thread does when the first has ended. */
T(a_request_ends_without_those_started_later)
{
    long *d = shmem_calloc(2, sizeof *d), x[2] = { 3, 4 };
    uint64_t *start_flag = shmem_calloc(1, sizeof *start_flag);
    shmemx_req_t first, second;
    int flag = 0;

    T_EQ(shmemx_put_init(&d[0], &x[0], sizeof *d, next, &first), 0);
    T_EQ(shmemx_put_init(&d[1], &x[1], sizeof *d, next, &second), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &first), 0);
    T_EQ(shmemx_uint64_wait_until_on_stream(start_flag, SHMEM_CMP_GE, 1, s), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &second), 0);
    for (int i = 0; i < 5000 && !flag; i++) {
        T_EQ(shmemx_req_test(first, &flag), 0);
        usleep(1000);
    }
    T_EQ(flag, 1);
    T_EQ(shmemx_req_test(second, &flag), 0);
    T_EQ(flag, 0);
    shmem_uint64_p(start_flag, 1, me);
    T_EQ(shmemx_req_wait(first), 0);
    T_EQ(shmemx_req_wait(second), 0);
    T_EQ(shmemx_req_free(&first), 0);
    T_EQ(shmemx_req_free(&second), 0);
    shmem_barrier_all();
    T_EQ(d[0], 3);
    T_EQ(d[1], 4);
    shmem_barrier_all();
    shmem_free(start_flag);
    shmem_free(d);
}

T(a_wait_for_the_queue_is_one_for_each_request)
{
    long *d = shmem_calloc(1, sizeof *d), x = 3;
    shmemx_req_t r;

    T_EQ(shmemx_put_init(d, &x, sizeof x, next, &r), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &r), -EBUSY);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_waitall(q, 1, &r), 0);
    T_EQ(shmemx_req_wait(r), 0);
    T_EQ(shmemx_req_free(&r), 0);
    shmem_barrier_all();
    shmem_free(d);
}

#define ATOMICS(NAME, T)                                                    \
    do {                                                                    \
        T *w = shmem_calloc(2, sizeof *w), was[2] = { 99, 99 };             \
                                                                            \
        T_EQ(shmemx_enqueue_atomic_set_##NAME(q, &w[0], 40, next, NULL), 0);\
        T_EQ(shmemx_enqueue_start(q), 0);                                   \
        T_EQ(shmemx_enqueue_wait(q), 0);                                    \
        T_EQ(shmemx_enqueue_atomic_add_##NAME(q, &w[0], 2, next, NULL), 0); \
        T_EQ(shmemx_enqueue_atomic_compare_swap_##NAME(                     \
                 q, &was[0], &w[1], 0, 7, next, NULL), 0);                  \
        T_EQ(shmemx_enqueue_start(q), 0);                                   \
        T_EQ(shmemx_enqueue_wait(q), 0);                                    \
        T_EQ(shmemx_enqueue_atomic_fetch_add_##NAME(q, &was[1], &w[0], 1,   \
                                                    next, NULL), 0);        \
        T_EQ(shmemx_enqueue_start(q), 0);                                   \
        T_EQ(shmemx_queue_wait(q), 0);                                      \
        shmem_barrier_all();                                                \
        T_EQ(was[0], 0);                                                    \
        T_EQ(was[1], 42);                                                   \
        T_EQ(w[0], 43);                                                     \
        T_EQ(w[1], 7);                                                      \
        shmem_free(w);                                                      \
    } while (0)

T(atomics_of_each_type_go_by_queues)
{
    ATOMICS(int32, int32_t);
    ATOMICS(int64, int64_t);
    ATOMICS(uint32, uint32_t);
    ATOMICS(uint64, uint64_t);
}

T(misuse_is_refused)
{
    long *d = shmem_calloc(1, sizeof *d), x = 1;
    shmemx_queue_config_t config = { 1 };
    shmemx_req_t r = NULL, none = NULL, list[3];
    shmemx_queue_t other;
    int flag = 7;

    T_EQ(shmemx_queue_create(s, NULL, 0, NULL), -EINVAL);
    T_EQ(shmemx_queue_create(s, NULL, SHMEMX_QUEUE_DEPTH, &other), -EINVAL);
    T_EQ(shmemx_queue_create(s, &config, 64, &other), -EINVAL);
    T_EQ(shmemx_queue_destroy(NULL), -EINVAL);
    T_EQ(shmemx_enqueue_putmem(NULL, d, &x, 8, me, NULL), -EINVAL);
    T_EQ(shmemx_enqueue_putmem(q, d, &x, 8, n_pes, NULL), -EINVAL);
    T_EQ(shmemx_enqueue_putmem(q, &x, &x, 8, me, NULL), -EINVAL);
    T_EQ(shmemx_put_init(d, &x, 8, me, NULL), -EINVAL);
    T_EQ(shmemx_put_init(d, &x, 8, -1, &r), -EINVAL);
    T_EQ(shmemx_put_signal_init(d, &x, 8, (uint64_t *)d, 1, 99, me, &r),
         -EINVAL);
    T_EQ(shmemx_put_init(d, &x, 8, me, &r), 0);
    T_EQ(shmemx_req_test(r, &flag), -EINVAL);
    T_EQ(shmemx_req_wait(r), -EINVAL);
    T_EQ(shmemx_enqueue_waitall(q, 1, &r), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, 1, &none), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, -1, &r), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, 0, NULL), 0);
    T_EQ(shmemx_put_init(d, &x, 8, me, &list[0]), 0);
    list[1] = list[2] = r;
    T_EQ(shmemx_enqueue_startall(q, 3, list), -EBUSY);
    T_EQ(shmemx_enqueue_waitall(q, 1, list), -EINVAL);  /* none is started */
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(*d, 0);
    T_EQ(shmemx_req_free(&list[0]), 0);
    T_EQ(shmemx_req_wait(NULL), -EINVAL);
    T_EQ(shmemx_req_test(NULL, &flag), -EINVAL);
    T_EQ(flag, 7);
    T_EQ(shmemx_queue_create(s, NULL, 0, &other), 0);
    T_EQ(shmemx_enqueue_startall(q, 1, &r), 0);
    T_EQ(shmemx_enqueue_waitall(other, 1, &r), -EINVAL);
    T_EQ(shmemx_req_wait(r), 0);
    T_EQ(*d, 1);
    T_EQ(shmemx_enqueue_startall(other, 1, &r), 0);
    T_EQ(shmemx_queue_wait(other), 0);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_destroy(other), 0);
    shmem_barrier_all();
    shmem_free(d);
}

/* All that a queue has started has ended when it is destroyed. */
T(requests_outlive_their_queue)
{
    long *d = shmem_calloc(2, sizeof *d), x[2] = { 5, 6 };
    shmemx_req_t again, once;
    shmemx_queue_t other;
    int flag = -1;

    T_EQ(shmemx_put_init(d, x, 8, next, &again), 0);
    for (int i = 0; i < 3; i++) {
        T_EQ(shmemx_queue_create(s, NULL, 0, &other), 0);
        T_EQ(shmemx_enqueue_putmem(other, d + 1, x + 1, 8, next, &once), 0);
        T_EQ(shmemx_enqueue_start(other), 0);
        T_EQ(shmemx_enqueue_startall(other, 1, &again), 0);
        if (i)
            T_EQ(shmemx_enqueue_waitall(other, 1, &again), 0);
        T_EQ(shmemx_queue_wait(other), 0);
        T_EQ(shmemx_queue_destroy(other), 0);
        if (i == 1) {
            T_EQ(shmemx_req_test(again, &flag), 0);
            T_EQ(flag, 1);
            T_EQ(shmemx_req_wait(again), 0);
        }
        T_EQ(shmemx_req_wait(once), 0);
        T_EQ(shmemx_req_free(&once), 0);
    }
    T_EQ(shmemx_enqueue_startall(q, 1, &again), 0);
    T_EQ(shmemx_req_wait(again), 0);
    T_EQ(shmemx_req_free(&again), 0);
    shmem_barrier_all();
    T_EQ(d[0], 5);
    T_EQ(d[1], 6);
    shmem_barrier_all();
    shmem_free(d);
}

T(depths_beyond_all_memory_are_refused)
{
    static const size_t depths[] = { SIZE_MAX, SIZE_MAX / 2 + 2,
                                     (size_t)1 << 61 };
    shmemx_queue_t deep = NULL;

    for (int i = 0; i < 3; i++) {
        shmemx_queue_config_t config = { .depth = depths[i] };

        T_EQ(shmemx_queue_create(s, &config, SHMEMX_QUEUE_DEPTH, &deep),
             -ENOMEM);
        T_TRUE(!deep);
    }
}

/* Also where another thing has come in its place. */
T(handles_of_what_is_gone_are_refused)
{
    long *d = shmem_calloc(1, sizeof *d), x = 1;
    shmemx_queue_t other, was;
    shmemx_req_t r, copy;
    int n = 7;

    for (int i = 0; i < 2; i++) {
        T_EQ(shmemx_queue_create(s, NULL, 0, &other), 0);
        T_EQ(shmemx_put_init(d, &x, 8, me, &r), 0);
        was = other;
        copy = r;
        T_EQ(shmemx_req_free(&r), 0);
        T_EQ(shmemx_queue_destroy(other), 0);
        if (i) {
            T_EQ(shmemx_queue_create(s, NULL, 0, &other), 0);
            T_EQ(shmemx_put_init(d, &x, 8, me, &r), 0);
        }
        T_EQ(shmemx_queue_destroy(was), -EINVAL);
        T_EQ(shmemx_queue_wait(was), -EINVAL);
        T_EQ(shmemx_queue_test(was, &n), -EINVAL);
        T_EQ(n, 7);
        T_EQ(shmemx_enqueue_putmem(was, d, &x, 8, me, NULL), -EINVAL);
        T_EQ(shmemx_enqueue_start(was), -EINVAL);
        T_EQ(shmemx_enqueue_wait(was), -EINVAL);
        T_EQ(shmemx_enqueue_startall(q, 1, &copy), -EINVAL);
        T_EQ(shmemx_enqueue_waitall(q, 1, &copy), -EINVAL);
        T_EQ(shmemx_req_wait(copy), -EINVAL);
        T_EQ(shmemx_req_free(&copy), -EINVAL);
        T_TRUE(copy != NULL);
    }
    T_EQ(shmemx_req_wait((shmemx_req_t)(void *)d), -EINVAL);
    T_EQ(shmemx_queue_wait((shmemx_queue_t)(void *)&x), -EINVAL);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_destroy(other), 0);
    shmem_free(d);
}

/* The table grows. */
T(many_requests_live_at_a_time)
{
    enum { REQS = 1000 };
    static shmemx_req_t r[REQS];
    long *d = shmem_calloc(REQS, sizeof *d);
    static long x[REQS];

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < REQS; i++) {
            x[i] = 3 * i + k;
            T_EQ(shmemx_put_init(&d[i], &x[i], 8, me, &r[i]), 0);
        }
        T_EQ(shmemx_enqueue_startall(q, REQS, r), 0);
        T_EQ(shmemx_enqueue_waitall(q, REQS, r), 0);
        T_EQ(shmemx_queue_wait(q), 0);
        T_TRUE(!memcmp(d, x, sizeof x));
        for (int i = 0; i < REQS; i++)
            T_EQ(shmemx_req_free(&r[i]), 0);
    }
    shmem_free(d);
}

int main(void)
{
    st_begin();
    T_EQ(shmemx_stream_create(&s), 0);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(nothing_runs_before_the_start);
    T_RUN(persistent_requests_are_started_again_and_again);
    T_RUN(many_go_by_one_start);
    T_RUN(a_request_ends_without_those_started_later);
    T_RUN(a_wait_for_the_queue_is_one_for_each_request);
    T_RUN(atomics_of_each_type_go_by_queues);
    T_RUN(misuse_is_refused);
    T_RUN(requests_outlive_their_queue);
    T_RUN(depths_beyond_all_memory_are_refused);
    T_RUN(handles_of_what_is_gone_are_refused);
    T_RUN(many_requests_live_at_a_time);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a fence orders a word before a put of each size behind it, and
 * the put before the next word, whether the network sends them as messages or
 * as puts of its own; a put with a signal of each size is there before its
 * signal, and at its target after a quiet.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"

#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>
#include <unistd.h>

enum { ROUNDS = 200, WORDS = 4096 };

static uint64_t before, after, sig, mine[WORDS], data[WORDS], kept[WORDS];
/* Words of a put: around what a message brings, and what is copied. */
static const int sizes[] = { 1, 3, 64, 447, 448, 449, 2048, 2049, WORDS };
enum { N = sizeof sizes / sizeof *sizes };
static uint64_t number;         /* of the round, on both */

static void fill(uint64_t value)
{
    for (int i = 0; i < WORDS; i++)
        mine[i] = value;
}

/* Words that are below that number. */
static int missing(const uint64_t *p, int n, uint64_t least)
{
    int bad = 0;

    for (int i = 0; i < n; i++)
        bad += __atomic_load_n(&p[i], __ATOMIC_ACQUIRE) < least;
    return bad;
}

/* A thread that makes no call reads while another one makes the library's
 * progress. */
static bool over;
static long too_early;

static void *observe(void *unused)
{
    uint64_t seen;

    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        seen = __atomic_load_n(&data[0], __ATOMIC_ACQUIRE);
        too_early += __atomic_load_n(&before, __ATOMIC_ACQUIRE) < seen;
    }
    return unused;
}

static void put_between_words(int n)
{
    fill(number);
    shmem_uint64_p(&before, number, 1);
    shmem_fence();
    shmem_uint64_put(data, mine, (size_t)n, 1);
    shmem_fence();
    shmem_uint64_p(&after, number, 1);
    shmem_fence();
}

static int see_order(int n)
{
    int bad = 0;

    shmem_uint64_wait_until(&data[0], SHMEM_CMP_GE, number);
    bad += __atomic_load_n(&before, __ATOMIC_ACQUIRE) < number;
    shmem_uint64_wait_until(&after, SHMEM_CMP_GE, number);
    return bad + missing(data, n, number);
}

T(a_fence_orders_words_and_puts_of_all_sizes)
{
    pthread_t observer;
    int bad = 0;

    if (shmem_my_pe())
        T_EQ(pthread_create(&observer, NULL, observe, NULL), 0);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < ROUNDS; k++, number++)
            if (shmem_my_pe() == 0)
                put_between_words(sizes[i]);
            else
                bad += see_order(sizes[i]);
        shmem_barrier_all();
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    if (shmem_my_pe())
        pthread_join(observer, NULL);
    shmem_barrier_all();        /* puts of the next test have no word before */
    T_EQ(bad, 0);
    T_EQ(too_early, 0);
}

static void put_with_signal(int n, bool nbi)
{
    fill(number);
    if (nbi) {
        shmem_uint64_put_signal_nbi(data, mine, (size_t)n,
                                    &sig, number, SHMEM_SIGNAL_SET, 1);
        shmem_quiet();
    } else {
        shmem_uint64_put_signal(data, mine, (size_t)n, &sig, number,
                                SHMEM_SIGNAL_SET, 1);
    }
}

T(a_signal_comes_behind_its_put_of_all_sizes)
{
    int bad = 0;

    for (int i = 0; i < N; i++) {
        for (int k = 0; k < ROUNDS; k++, number++) {
            if (shmem_my_pe() == 0) {
                put_with_signal(sizes[i], k % 2);
            } else {
                shmem_signal_wait_until(&sig, SHMEM_CMP_GE, number);
                bad += missing(data, sizes[i], number);
            }
        }
        shmem_barrier_all();
    }
    T_EQ(bad, 0);
}

T(after_a_quiet_a_put_with_a_signal_is_at_its_target)
{
    int bad = 0;

    for (int i = 0; i < N; i++) {
        number++;
        if (shmem_my_pe())
            continue;
        put_with_signal(sizes[i], false);
        shmem_quiet();
        shmem_uint64_get(kept, data, (size_t)sizes[i], 1);
        bad += missing(kept, sizes[i], number);
        bad += shmem_uint64_g(&sig, 1) != number;
    }
    shmem_barrier_all();
    T_EQ(bad, 0);
}

/* A sleeper is woken by a word of the put, too: it waits for nothing else. */
T(a_sleeper_sees_the_put_of_a_signal)
{
    number++;
    if (shmem_my_pe() == 0) {
        usleep(200000);
        put_with_signal(64, false);
    } else {
        shmem_uint64_wait_until(&data[5], SHMEM_CMP_GE, number);
        T_LE(number, data[5]);
    }
    shmem_barrier_all();
}

int main(void)
{
    number = 1;
    shmem_init();
    T_RUN(a_fence_orders_words_and_puts_of_all_sizes);
    T_RUN(a_signal_comes_behind_its_put_of_all_sizes);
    T_RUN(after_a_quiet_a_put_with_a_signal_is_at_its_target);
    T_RUN(a_sleeper_sees_the_put_of_a_signal);
    shmem_finalize();
    return T_DONE();
}

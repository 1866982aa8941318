/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC has put into device memory is there for the device once a call
 * has said so, whichever: waits and tests of host memory, locks, atomics that
 * fetch, meetings, gets and their quiet, waits of streams.  See
 * nic_flush.sh. */
#include "../memory.h"
#include <shmemx_st.h>

#include <string.h>

enum { LEN = 5000, WORDS = 4, LONG = 1 << 15 };

static unsigned char *data, *here, want[LEN];
static uint64_t *flag;          /* the host's */
static uint64_t static_flag, *word;     /* which one announces */
static uint64_t *ones, *sums;
static int to, from;            /* on another node */
static long *lock;
static uint64_t turn;
static shmemx_stream_t s;

/* A word in host memory announces it. */
static void send_and_notify(void)
{
    pattern(want, me, (unsigned)turn, LEN);
    memcpy(here, want, LEN);
    shmem_putmem(data, here, LEN, to);
    shmem_quiet();
    shmem_uint64_atomic_set(word, turn, to);
}

static void see(void)
{
    pattern(want, from, (unsigned)turn, LEN);
    mem_expect(data, want, LEN);
    shmem_barrier_all();
    turn++;
}

#define FORM(name, how)                                                     \
    T(name)                                                                 \
    {                                                                       \
        send_and_notify();                                                    \
        how;                                                                \
        see();                                                              \
    }

FORM(a_wait, shmem_uint64_wait_until(flag, SHMEM_CMP_GE, turn))
FORM(a_wait_for_all, shmem_uint64_wait_until_all(flag, 1, NULL, SHMEM_CMP_GE,
                                                turn))
FORM(a_wait_for_any, shmem_uint64_wait_until_any(flag, WORDS, NULL,
                                                SHMEM_CMP_EQ, turn))
FORM(a_test, while (!shmem_uint64_test(flag, SHMEM_CMP_GE, turn)))
FORM(a_test_of_all, while (!shmem_uint64_test_all(flag, 1, NULL, SHMEM_CMP_GE,
                                                 turn)))
FORM(a_test_of_any, while (shmem_uint64_test_any(flag, WORDS, NULL,
                                                SHMEM_CMP_EQ, turn)))
FORM(a_wait_for_a_signal, shmem_signal_wait_until(flag, SHMEM_CMP_GE, turn))
FORM(a_look_at_a_signal, while (shmem_signal_fetch(flag) < turn))
FORM(an_atomic, while (shmem_uint64_atomic_fetch(flag, me) < turn))
FORM(an_atomic_that_changes, while (shmem_uint64_atomic_fetch_add(flag, 0, me) <
                                   turn))
FORM(an_atomic_that_does_not_block, {
    uint64_t is = 0;

    while (is < turn) {
        shmem_uint64_atomic_fetch_nbi(&is, flag, me);
        shmem_quiet();
    }
})
FORM(an_atomic_that_changes_and_does_not_block, {
    uint64_t is = 0;

    while (is < turn) {
        shmem_uint64_atomic_fetch_add_nbi(&is, flag, 0, me);
        shmem_quiet();
    }
})

T(an_atomic_of_static_data)
{
    word = &static_flag;
    send_and_notify();
    while (shmem_uint64_atomic_fetch(word, me) < turn)
        ;
    see();
    word = flag;
}

FORM(a_reduction, shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sums, ones, 1))
FORM(a_long_reduction, shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sums, ones,
                                               LONG))
FORM(a_collection, shmem_uint64_fcollect(SHMEM_TEAM_WORLD, sums, ones, 1))
FORM(a_barrier, shmem_barrier_all())
FORM(a_meeting, shmem_sync_all())
FORM(a_meeting_of_a_team, shmem_team_sync(SHMEM_TEAM_WORLD))

T(some_of_a_vector)
{
    uint64_t values[WORDS] = { turn, turn, turn, turn };
    size_t found[WORDS];

    send_and_notify();
    shmem_uint64_wait_until_some_vector(flag, WORDS, found, NULL, SHMEM_CMP_EQ,
                                        values);
    see();
}

/* The flag shows only that the lock has been used. */
T(a_lock)
{
    bool came = false;

    shmem_set_lock(lock);
    send_and_notify();
    shmem_clear_lock(lock);
    while (!came) {
        shmem_set_lock(lock);
        came = __atomic_load_n(flag, __ATOMIC_ACQUIRE) >= turn;
        shmem_clear_lock(lock);
    }
    see();
}

static void fill_source(void)
{
    pattern(want, me, (unsigned)turn, LEN);
    memcpy(here, want, LEN);
    shmem_barrier_all();
}

T(a_get)
{
    fill_source();
    shmem_getmem(data, here, LEN, from);
    see();
}

T(a_get_and_quiet)
{
    fill_source();
    shmem_getmem_nbi(data, here, LEN, from);
    shmem_quiet();
    see();
}

T(a_wait_of_a_stream)
{
    send_and_notify();
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, flag, SHMEM_CMP_GE, turn, s),
         0);
    T_EQ(shmemx_getmem_on_stream(here, data, LEN, me, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    pattern(want, from, (unsigned)turn, LEN);
    T_MEM(here, want, LEN);
    shmem_barrier_all();
    turn++;
}

T(a_get_on_a_stream)
{
    fill_source();
    T_EQ(shmemx_getmem_on_stream(data, here, LEN, from, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    see();
}

static void waits(void)
{
    T_RUN(a_wait);
    T_RUN(a_wait_for_all);
    T_RUN(a_wait_for_any);
    T_RUN(some_of_a_vector);
    T_RUN(a_test);
    T_RUN(a_test_of_all);
    T_RUN(a_test_of_any);
    T_RUN(a_wait_for_a_signal);
    T_RUN(a_look_at_a_signal);
    T_RUN(an_atomic);
    T_RUN(an_atomic_that_changes);
    T_RUN(an_atomic_that_does_not_block);
    T_RUN(an_atomic_that_changes_and_does_not_block);
    T_RUN(an_atomic_of_static_data);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    data = mem_alloc(DEVICE, LEN);
    here = mem_alloc(HOST, LEN);
    flag = shmem_calloc(WORDS, sizeof *flag);
    lock = shmem_calloc(1, sizeof *lock);
    ones = shmem_calloc(LONG, sizeof *ones);
    sums = shmem_calloc(LONG, sizeof *sums);
    T_TRUE(flag && lock && ones && sums);
    word = flag;
    to = from = (me + n_pes / 2) % n_pes;
    T_EQ(shmemx_stream_create(&s), 0);
    turn = 1;
    mem_log("BEGIN");
    waits();
    T_RUN(a_reduction);
    T_RUN(a_long_reduction);
    T_RUN(a_collection);
    T_RUN(a_barrier);
    T_RUN(a_meeting);
    T_RUN(a_meeting_of_a_team);
    T_RUN(a_lock);
    T_RUN(a_get);
    T_RUN(a_get_and_quiet);
    T_RUN(a_wait_of_a_stream);
    T_RUN(a_get_on_a_stream);
    mem_log("END");
    shmemx_stream_destroy(s);
    return memory_end();
}

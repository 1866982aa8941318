/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: where puts and gets are the NIC's, the progress thread sleeps
 * longer and longer beside an owner that communicates, and what comes when that
 * one computes is answered all the same.  Alone there is nothing to answer:
 * fake/cxi_wakes runs it on two nodes. */
#include "t.h"

#include "gtl/gtl.h"
#include "progress/progress.h"
#include "ofi/net/ofi_int.h"
#include "shmem.h"
#include "shmemx.h"

enum { LOOP_MS = 1500, COMPUTE_MS = 2000,        /* at most */
       TURNS = 3 };
/* Of a get for the device; the thread looks by itself all LOOK_MS. */
enum { PART = 100000, SAMPLES = 5, SAMPLE_MS = 200 };

static uint64_t words[64], computing, answered, sig;
static int me;

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Its thread looks at the queues all the time. */
static void communicate(uint64_t ms)
{
    for (uint64_t end = now_ms() + ms; now_ms() < end; )
        shmem_uint64_g(&words[0], 1 - me);
}

static void compute(uint64_t ms)
{
    for (uint64_t end = now_ms() + ms; now_ms() < end; )
        ;
}

/* PE 1, without a call, until PE 0 has what it asked for. */
static void compute_until_answered(uint64_t turn)
{
    for (uint64_t end = now_ms() + COMPUTE_MS; now_ms() < end; )
        if (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) == turn)
            break;
    __atomic_store_n(&computing, 0, __ATOMIC_RELEASE);
}

/* PE 0 has it, and PE 1 computes. */
static void check_answer(uint64_t turn)
{
    T_EQ(shmem_uint64_g(&computing, 1), 1);
    shmem_uint64_p(&answered, turn, 1);
}

T(it_sleeps_while_the_owner_communicates)
{
    uint64_t was, slept, ms;

    shmem_barrier_all();
    communicate(200);
    was = progress_sleeps();
    ms = now_ms();
    communicate(LOOP_MS);
    ms = now_ms() - ms;
    slept = progress_sleeps() - was;
    fprintf(stderr, "PE %d: %lu sleeps in %lu ms\n", me, (unsigned long)slept,
            (unsigned long)ms);
    T_LT(4 * slept, ms);
    shmem_barrier_all();
}

/* PE 1 makes no call until PE 0 has what it asks for. */
T(a_message_to_one_that_computes_is_answered)
{
    uint64_t two[2] = { 5, 6 };

    for (uint64_t i = 1; i <= TURNS; i++) {
        communicate(300);
        __atomic_store_n(&computing, 1, __ATOMIC_RELEASE);
        shmem_barrier_all();
        if (me == 1) {
            compute_until_answered(i);
        } else {
            shmem_uint64_iput(&words[8], two, 3, 1, 2, 1);
            shmem_quiet();
            check_answer(i);
        }
        shmem_barrier_all();
    }
}

T(a_signal_of_one_that_computes_follows_its_put)
{
    uint64_t data[40] = { 0 };

    for (uint64_t i = 1; i <= TURNS; i++) {
        communicate(300);
        __atomic_store_n(&computing, 1, __ATOMIC_RELEASE);
        shmem_barrier_all();
        if (me == 1) {
            shmem_putmem_signal_nbi(words, data, sizeof data, &sig, i,
                                    SHMEM_SIGNAL_SET, 0);
            compute_until_answered(TURNS + i);
            shmem_quiet();
        } else {
            shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, i);
            check_answer(TURNS + i);
        }
        shmem_barrier_all();
    }
}

/* The device has it in a while after the thread has begun to wait for messages,
 * which wake it: that part comes without one. */
static bool comes_before_it_looks(char *dest, const char *from)
{
    uint64_t slept, begun, came = 0;

    T_EQ(gtl_copy_now(dest, &came, sizeof came), 0);
    compute(2 * SAMPLE_MS);       /* it backs off no more, but waits */
    for (slept = progress_sleeps(); slept == progress_sleeps(); )
        ;
    compute(5);                 /* and it sleeps again */
    shmem_getmem_nbi(dest, from, PART, 1 - me);
    begun = now_ms();
    while (!came && now_ms() - begun < COMPUTE_MS)
        T_EQ(gtl_copy_now(&came, dest, sizeof came), 0);
    came = came ? now_ms() - begun : COMPUTE_MS;
    shmem_quiet();
    fprintf(stderr, "PE %d: part of a device after %lu ms\n", me,
            (unsigned long)came);
    return came < SAMPLE_MS / 2;
}

/* Each turn once; the machine may be slow, but not at all of them. */
T(a_device_gets_its_part_while_its_pe_computes)
{
    char *from = shmem_malloc(PART);
    char *dest = shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, PART);
    int in_time = 0;

    memset(from, 7, PART);
    shmem_barrier_all();
    for (int i = 0; i < SAMPLES && me == 0; i++)
        in_time += comes_before_it_looks(dest, from);
    T_TRUE(me || in_time);
    shmem_barrier_all();
    shmem_free(dest);
    shmem_free(from);
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    me = shmem_my_pe();
    if (shmem_n_pes() != 2 || shmem_ptr(words, 1 - me)) {
        shmem_finalize();
        return 77;
    }
    T_PE(me);
    if (argc > 1) {
        T_RUN(a_device_gets_its_part_while_its_pe_computes);
        shmem_finalize();
        return T_DONE();
    }
    T_RUN(it_sleeps_while_the_owner_communicates);
    T_RUN(a_message_to_one_that_computes_is_answered);
    T_RUN(a_signal_of_one_that_computes_follows_its_put);
    shmem_finalize();
    return T_DONE();
}

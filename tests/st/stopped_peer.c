/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream whose far PE answers nothing holds no other stream up,
 * whatever was enqueued there: PE 1 is stopped meanwhile.  Streams of a GPU, see
 * stopped_peer_gpu.sh, and of the software
 * device.
 * PEs: 3
 * Launch: --ppn 1
 * Env: SHMEM_STALL=0
 * Timeout: 60 */
#include "st.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { N = 1 << 18, MANY = 600, BLOCK = 4, LONG = 400 };

static long words[MANY], small[4];
static uint64_t sig;
static long *in, *out, *back;   /* of the host, and then of the device */
static long was;
static pid_t pids[3];

/* ---- what stream s is given for PE 1 ---- */

static void strided_put(shmemx_stream_t s)
{
    T_EQ(shmemx_long_iput_on_stream(in, out, 2, 2, N / 2, 1, s), 0);
}

static void block_put(shmemx_stream_t s)
{
    T_EQ(shmemx_ibput64_on_stream(in, out, LONG + 1, LONG, LONG,
                                  N / (LONG + 1) - 1, 1, s), 0);
}

static void strided_get(shmemx_stream_t s)
{
    T_EQ(shmemx_long_iget_on_stream(back, in, 2, 2, N / 2, 1, s), 0);
}

static void block_get(shmemx_stream_t s)
{
    T_EQ(shmemx_ibget64_on_stream(back, in, BLOCK, 2 * BLOCK, BLOCK,
                                  N / (2 * BLOCK) - 1, 1, s), 0);
}

static void fence(shmemx_stream_t s)
{
    for (int i = 0; i < 20; i++)
        T_EQ(shmemx_long_atomic_inc_on_stream(&words[i], 1, s), 0);
    T_EQ(shmemx_fence_on_stream(s), 0);
    T_EQ(shmemx_long_p_on_stream(&small[0], 1, 1, s), 0);
}

static void quiet(shmemx_stream_t s)
{
    T_EQ(shmemx_long_put_nbi_on_stream(in, out, N, 1, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
}

static void many(shmemx_stream_t s)
{
    for (int i = 0; i < MANY; i++)
        T_EQ(shmemx_long_put_nbi_on_stream(&words[i], &out[i], 1, 1, s), 0);
    for (int i = 0; i < MANY; i++)
        T_EQ(shmemx_long_atomic_add_on_stream(&words[i], 1, 1, s), 0);
}

static void large(shmemx_stream_t s)
{
    T_EQ(shmemx_long_put_on_stream(in, out, N, 1, s), 0);
    T_EQ(shmemx_long_get_on_stream(back, in, N, 1, s), 0);
    T_EQ(shmemx_long_get_on_stream(back, in, 2, 1, s), 0);
}

static void fetch(shmemx_stream_t s)
{
    T_EQ(shmemx_long_atomic_fetch_add_on_stream(&was, &small[1], 1, 1, s), 0);
}

static void signal_behind(shmemx_stream_t s)
{
    T_EQ(shmemx_long_put_signal_on_stream(in, out, N, &sig, 1,
                                          SHMEM_SIGNAL_ADD, 1, s), 0);
    T_EQ(shmemx_long_put_signal_nbi_on_stream(in, out, 4, &sig, 1,
                                              SHMEM_SIGNAL_ADD, 1, s), 0);
}

/* ---- */

static void stop(pid_t pid)
{
    T_EQ(kill(pid, SIGSTOP), 0);
    usleep(20000);
}

/* What was given there has not ended.  Or its bytes lie in the network's
 * buffers, several MiB with TCP; or, where it needs an answer, a NIC gives that
 * for PE 1 although it is stopped: then this ends, too. */
static void stopped(shmemx_stream_t one, bool needs_answer)
{
    int rc = shmemx_stream_query(one);

    T_TRUE(rc == -EAGAIN || rc == 0);
    if (!rc && needs_answer)
        shmem_long_g(&words[0], 1);
}

/* Nothing of PE 1's is needed for any of this. */
static void use(shmemx_stream_t s)
{
    static long got, one = 42;

    T_EQ(shmemx_long_put_on_stream(&small[2], &one, 1, 2, s), 0);
    T_EQ(shmemx_fence_on_stream(s), 0);
    T_EQ(shmemx_long_atomic_fetch_inc_on_stream(&was, &small[3], 2, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(&got, &small[2], 1, 2, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
}

static void both(void (*give)(shmemx_stream_t s), bool warm,
                 bool needs_answer)
{
    shmemx_stream_t one, two;

    shmem_barrier_all();
    if (me == 0) {
        one = st_make();
        two = st_make();
        use(two);
        T_TRUE(st_ends(two));
        if (warm) {             /* PEs that have met */
            give(one);
            T_TRUE(st_ends(one));
        }
        stop(pids[1]);
        give(one);
        use(two);
        T_TRUE(st_ends(two));
        stopped(one, needs_answer);
        T_EQ(kill(pids[1], SIGCONT), 0);
        T_EQ(shmemx_quiet_on_stream(one), 0);
        T_EQ(shmemx_stream_sync(one), 0);
        T_EQ(shmemx_stream_destroy(one), 0);
        T_EQ(shmemx_stream_destroy(two), 0);
    }
    shmem_barrier_all();
}

#define APART(name, give, needs_answer)                                     \
    T(name)                                                                 \
    {                                                                       \
        both(give, true, needs_answer);                                     \
    }
APART(quiet_waits_for_no_strided_put_of_another_stream, strided_put, false)
APART(quiet_waits_for_no_long_blocks_of_another_stream, block_put, false)
APART(quiet_waits_for_no_strided_get_of_another_stream, strided_get, true)
APART(quiet_waits_for_no_short_blocks_of_another_stream, block_get, true)
APART(quiet_waits_for_no_fence_of_another_stream, fence, false)
APART(quiet_waits_for_no_quiet_of_another_stream, quiet, true)
APART(quiet_waits_for_no_large_put_of_another_stream, large, true)
APART(quiet_waits_for_no_fetch_of_another_stream, fetch, true)
APART(quiet_waits_for_no_signal_of_another_stream, signal_behind, false)

/* Those do not wait: what is under way takes room. */
static void many_puts(shmemx_stream_t s)
{
    many(s);
    T_EQ(shmemx_quiet_on_stream(s), 0);
}

T(quiet_waits_for_no_many_puts_of_another_stream)
{
    both(many_puts, false, true);
}

static void all(bool device)
{
    in = st_room(device, N * sizeof *in);
    out = st_room(device, N * sizeof *out);
    back = st_room(device, N * sizeof *back);
    T_RUN(quiet_waits_for_no_strided_put_of_another_stream);
    T_RUN(quiet_waits_for_no_long_blocks_of_another_stream);
    T_RUN(quiet_waits_for_no_strided_get_of_another_stream);
    T_RUN(quiet_waits_for_no_short_blocks_of_another_stream);
    T_RUN(quiet_waits_for_no_fence_of_another_stream);
    T_RUN(quiet_waits_for_no_quiet_of_another_stream);
    T_RUN(quiet_waits_for_no_large_put_of_another_stream);
    T_RUN(quiet_waits_for_no_fetch_of_another_stream);
    T_RUN(quiet_waits_for_no_signal_of_another_stream);
    T_RUN(quiet_waits_for_no_many_puts_of_another_stream);
    shmem_free(in);
    shmem_free(out);
    shmem_free(back);
}

int main(void)
{
    static long pid;

    alarm(170);                 /* for waits for the stopped PE */
    st_begin();
    pid = getpid();
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes && pe < 3; pe++)
        pids[pe] = (pid_t)shmem_long_g(&pid, pe);
    shmem_barrier_all();
    all(false);
    all(true);
    return st_end();
}

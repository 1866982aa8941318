/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts of waits on a GPU's streams, of which the flags do not show that they
 * are over: in device memory, or lowered again.  With the word `hangs` the last
 * one of a second burst waits for seconds; see watchdog_burst.sh. */
#include "../memory.h"

#include <shmemx_st.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 24, WAITS = 40, LONG_S = 5 };

static uint64_t *there, *here, *done, *late;
static uint64_t rounds;
static shmemx_stream_t s[STREAMS];

static void wait_for(uint64_t *flag, shmemx_stream_t stream)
{
    T_EQ(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 1, stream), 0);
}

static void burst(int k)
{
    for (int i = 0; i < WAITS; i++)
        wait_for(there, s[k]);
    T_EQ(shmemx_signal_add_on_stream(&here[k], 1, me, s[k]), 0);
    wait_for(&here[k], s[k]);
    T_EQ(shmemx_uint64_p_on_stream(&here[k], 0, me, s[k]), 0);
}

/* Without a call that would say to the library how far streams are. */
static void await_all(int n)
{
    for (int k = 0; k < n; k++)
        T_EQ(shmemx_signal_add_on_stream(done, 1, me, s[k]), 0);
    rounds += (uint64_t)n;
    while (shmem_signal_fetch(done) < rounds)
        usleep(1000);
}

int main(int argc, char **argv)
{
    bool hangs = argc > 1 && !strcmp(argv[1], "hangs");

    device_begin(SHMEM_THREAD_SINGLE);
    there = mem_alloc(DEVICE, 64);
    late = mem_alloc(DEVICE, 64);
    here = mem_alloc(HOST, (STREAMS + 1) * sizeof *here);
    memset(here, 0, (STREAMS + 1) * sizeof *here);
    done = here + STREAMS;
    mem_store_word(there, 1, sizeof *there);
    mem_store_word(late, 0, sizeof *late);
    for (int k = 0; k < STREAMS; k++)
        T_EQ(shmemx_stream_create(&s[k]), 0);
    shmem_barrier_all();
    for (int k = 0; k < STREAMS; k++)
        burst(k);
    await_all(STREAMS);
    t_run_for(LONG_S);
    if (hangs) {
        burst(0);
        wait_for(late, s[0]);
        t_run_for(LONG_S);
        shmem_uint64_p(late, 1, me);
        await_all(1);
    }
    for (int k = 0; k < STREAMS; k++)
        T_EQ(shmemx_stream_destroy(s[k]), 0);
    shmem_barrier_all();
    mem_free(HOST, here);
    mem_free(DEVICE, late);
    mem_free(DEVICE, there);
    return memory_end();
}

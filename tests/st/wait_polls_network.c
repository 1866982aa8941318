/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream that waits for a PE of another node receives its
 * signal: half of the round trips take less than a fifth of the time after
 * which the progress thread polls the network, which it does seldom here.  Of Slingshot
 * that is not asked: its NIC stores signals without a poll.
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_FAULT=ofi.turn:1:1 */
#include "st.h"
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 101, SELDOM_NS = 100000000 };
static int here;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void await(uint64_t *word, uint64_t least, shmemx_stream_t s)
{
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, word, SHMEM_CMP_GE, least,
                                            s), 0);
}

T(signals_come_to_streams_that_wait)
{
    const char *provider = getenv("SHMEM_OFI_PROVIDER");
    uint64_t *word, laps[ROUNDS], start;
    shmemx_stream_t s;

    if (provider && !strcmp(provider, "cxi") && !shmem_ptr(&here, next))
        T_SKIP("no poll is needed on cxi");
    word = shmem_calloc(1, sizeof *word);
    s = st_make();
    shmem_barrier_all();
    for (uint64_t i = 0; i < ROUNDS; i++) {
        start = now_ns();
        if (me == 1)
            await(word, i + 1, s);
        T_EQ(shmemx_signal_set_on_stream(word, i + 1, next, s), 0);
        if (me == 0)
            await(word, i + 1, s);
        T_EQ(shmemx_stream_sync(s), 0);
        laps[i] = now_ns() - start;
    }
    qsort(laps, ROUNDS, sizeof *laps, ascending);
    if (me == 0 && laps[ROUNDS / 2] >= SELDOM_NS / 5)
        T_EQ(laps[ROUNDS / 2] / 1000, 0);
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_free(word);
}

int main(void)
{
    st_begin();
    T_RUN(signals_come_to_streams_that_wait);
    return st_end();
}

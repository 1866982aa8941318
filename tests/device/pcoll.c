/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: partitioned collectives give, with buffers in device memory or one
 * of them there, what a model gives; the device combines where the processor
 * does not reach. */
#include "../memory.h"
#include <shmemx_pcoll.h>

enum { PARTS = 3, EACH = 700, LEN = PARTS * EACH, ROUNDS = 4, MOST = 8 };

static char *dest[SYMMETRIC], *source[SYMMETRIC];
static long mine[MOST * LEN], want[MOST * LEN];
static int n, at;

static long value(int m, size_t i, int round)
{
    return (m + 1) * 1009L + (long)i * 3 + round * 17L;
}

static long sum(int to, size_t i, int round)
{
    long all = 0;

    for (int m = 0; m < to; m++)
        all += value(m, i, round);
    return all;
}

enum what { ALLREDUCE, REDUCE_SCATTER, INSCAN, EXSCAN, REDUCE, ALLTOALL, KINDS };

static size_t blocks(enum what w)
{
    return w == REDUCE_SCATTER || w == ALLTOALL ? (size_t)n : 1;
}

/* The model's dest: how many elements. */
static size_t model(enum what w, int round)
{
    size_t len = w == ALLTOALL ? (size_t)n * LEN : LEN;

    for (size_t i = 0; i < len; i++) {
        size_t own = (size_t)at * LEN + i % LEN;

        want[i] = w == ALLREDUCE || w == REDUCE ? sum(n, i, round)
                  : w == REDUCE_SCATTER         ? sum(n, own, round)
                  : w == INSCAN                 ? sum(at + 1, i, round)
                  : w == EXSCAN ? sum(at, i, round)
                                : value((int)(i / LEN), own, round);
    }
    return w == REDUCE && at ? 0 : len;
}

static int make(enum what w, char *to, char *from, shmemx_req_t *req)
{
#define ARGS SHMEM_TEAM_WORLD, to, from, PARTS, EACH, SHMEMX_INT64
    switch (w) {
    case ALLREDUCE:
        return shmemx_pallreduce_init(ARGS, SHMEMX_SUM, req);
    case REDUCE_SCATTER:
        return shmemx_preduce_scatter_init(ARGS, SHMEMX_SUM, req);
    case INSCAN:
        return shmemx_pinscan_init(ARGS, SHMEMX_SUM, req);
    case EXSCAN:
        return shmemx_pexscan_init(ARGS, SHMEMX_SUM, req);
    case REDUCE:
        return shmemx_preduce_init(ARGS, SHMEMX_SUM, 0, req);
    default:
        return shmemx_palltoall_init(ARGS, req);
    }
#undef ARGS
}

static void run(enum what w, char *to, char *from)
{
    size_t len = blocks(w) * LEN;
    shmemx_req_t req;

    T_EQ(make(w, to, from, &req), 0);
    for (int r = 1; r <= ROUNDS; r++) {
        for (size_t i = 0; i < len; i++)
            mine[i] = value(at, i, r);
        mem_store(from, mine, len * sizeof *mine);
        shmem_barrier_all();
        T_EQ(shmemx_req_start(req), 0);
        for (int p = PARTS; p-- > 0; )
            T_EQ(shmemx_pready(req, p), 0);
        T_EQ(shmemx_req_wait(req), 0);
        mem_expect(to, want, model(w, r) * sizeof *want);
        shmem_barrier_all();
    }
    T_EQ(shmemx_req_free(&req), 0);
}

T(each_in_each_memory)
{
    for (int w = 0; w < KINDS; w++)
        for (int k = 0; k < 4; k++)
            run((enum what)w, dest[k / 2], source[k % 2]);
}

T(in_place)
{
    run(ALLREDUCE, dest[0], dest[0]);
    run(EXSCAN, dest[0], dest[0]);
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    at = me;
    n = n_pes;
    for (int w = 0; w < SYMMETRIC; w++) {
        dest[w] = mem_alloc((enum memory)w, sizeof mine);
        source[w] = mem_alloc((enum memory)w, sizeof mine);
    }
    T_RUN(each_in_each_memory);
    T_RUN(in_place);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, dest[w]);
        mem_free((enum memory)w, source[w]);
    }
    return memory_end();
}

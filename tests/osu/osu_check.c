/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_check.c - -c: known bytes through the measured operation.
 * The side that receives is PE 1 (or the second half) for puts, PE 0 (the
 * first half) for gets.  Bytes past the message must stay as they were. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

/* The first n bytes of message number iter of `of` bytes, by way of stage.
 * Where a stream follows, it is the stream that stores them, when it comes to
 * it: so the operation must keep its place there. */
static void fill(struct osu *o, char *to, char *stage, size_t n, size_t of,
                 uint32_t iter, int flip)
{
    for (size_t i = 0; i < n; i++)
        stage[i] = (char)(osu_pattern(of, i, iter) ^ flip);
    if (o->stream && o->pe == 0)
        osu_stream_copy(o, to, stage, n);
    else
        osu_store(to, stage, n);
}

static int wrong_bytes(const char *at, size_t n, size_t of, uint32_t iter)
{
    int wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += (char)osu_pattern(of, i, iter) != at[i];
    return wrong;
}

static void complain(struct osu *o, size_t n, int iter, int wrong)
{
    if (wrong)
        fprintf(stderr, "%s: PE %d: %s, %zu bytes, iteration %d: %d bytes are "
                "wrong\n", o->prog->name, o->pe,
                osu_place_name(o, o->place), n, iter, wrong);
}

/* One number of 1..iters-2 that all PEs agree on. */
static int some_iteration(size_t n, int iters)
{
    if (iters < 3)
        return 0;
    return 1 + (int)((n * 0x9e3779b97f4a7c15u >> 33) % (size_t)(iters - 2));
}

int osu_check_copy(struct osu *o, size_t n, osu_op *op)
{
    int which[] = { 0, some_iteration(n, o->iters), o->iters - 1 };
    bool receives = (o->prog->is_get ? o->pe == 0 : o->pe == 1) ||
                    o->prog->echo;
    char *stage = osu_host_buffer(o, 2 * n + OSU_GUARD);
    int wrong = 0, now;

    for (int k = 0; k < 3; k++) {
        fill(o, o->src, stage + n + OSU_GUARD, n, n, (uint32_t)which[k], 0);
        fill(o, o->dst, stage, n + OSU_GUARD, n, (uint32_t)which[k], 0xff);
        shmem_barrier_all();
        if (o->pe == 0 || o->prog->echo)
            op(o, n);
        shmem_barrier_all();
        if (!receives)
            continue;
        osu_load(stage, o->dst, n + OSU_GUARD);
        now = wrong_bytes(stage, n, n, (uint32_t)which[k]);
        for (size_t i = n; i < n + OSU_GUARD; i++)
            now += (char)(osu_pattern(n, i, (uint32_t)which[k]) ^ 0xff) !=
                   stage[i];
        complain(o, n, which[k], now);
        wrong += now;
    }
    free(stage);
    return (int)osu_sum(o, wrong);
}

/* The operation sends o->iters messages (a window of them, for bandwidth)
 * from successive offsets; three of those are known bytes.  A rate program
 * has one buffer, so sender and receiver fill it differently. */
int osu_check_window(struct osu *o, size_t n, osu_op *op)
{
    bool rate = o->prog->kind == OSU_RATE;
    int count = rate ? o->iters : OSU_BW_WINDOW;
    size_t span = rate ? osu_rate_span(o) : OSU_BW_BYTES - OSU_GUARD;
    int slots = (int)(span / n) < count ? (int)(span / n) : count;
    int which[] = { 0, some_iteration(n, slots), slots - 1 };
    bool first = o->pe < o->pairs;
    bool sends = o->prog->is_get ? !first && o->pe < 2 * o->pairs : first;
    bool receives = o->prog->is_get ? first : !first && o->pe < 2 * o->pairs;
    char *stage = osu_host_buffer(o, 3 * n);
    int wrong = 0, now;

    for (int k = 0; k < 3; k++) {
        if (sends)
            fill(o, o->src + (size_t)which[k] * n, stage + (size_t)k * n, n, n,
                 (uint32_t)which[k], 0);
        if (receives)
            fill(o, o->dst + (size_t)which[k] * n, stage, n, n,
                 (uint32_t)which[k], 0xff);
    }
    shmem_barrier_all();
    if (first)
        op(o, n);
    shmem_barrier_all();
    for (int k = 0; receives && k < 3; k++) {
        osu_load(stage, o->dst + (size_t)which[k] * n, n);
        now = wrong_bytes(stage, n, n, (uint32_t)which[k]);
        complain(o, n, which[k], now);
        wrong += now;
    }
    free(stage);
    return (int)osu_sum(o, wrong);
}

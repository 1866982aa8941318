/* SPDX-License-Identifier: BSD-3-Clause */
/* osu.c - start and end of the OSU-style programs, the loop over sizes and
 * placements. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct osu_loops osu_loops[] = {
    [OSU_LATENCY] = { OSU_LAT_MAX, 10000, 1000, 100, 0, OSU_LARGE + 1 },
    [OSU_OVERLAP] = { OSU_LAT_MAX, 10000, 1000, 100, 0, OSU_LARGE + 1 },
    [OSU_BANDWIDTH] = { OSU_RATE_MAX, 100, 10, 20, 2, OSU_LARGE + 1 },
    [OSU_RATE] = { OSU_RATE_MAX, 500, 50, 50, 50, OSU_LARGE },
    [OSU_ATOMIC] = { 8, 500, 500, 500, 500, OSU_LARGE },
    [OSU_BARRIER] = { 0, 100, 10, 100, 10, OSU_LARGE },
    [OSU_COLLECTIVE] = { OSU_LAT_MAX, 1000, 200, 100, 10, OSU_LARGE + 1 },
};

double osu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int wrong_pes(const struct osu *o)
{
    bool two = o->prog->kind <= OSU_BANDWIDTH;

    if (two ? o->npes == 2 : o->npes >= 2)
        return 0;
    if (o->pe == 0)
        fprintf(stderr, "%s: started with %d PE%s: %s 2 are needed, as in "
                "oshrun -n 2 %s\n", o->prog->name, o->npes,
                o->npes == 1 ? "" : "s", two ? "exactly" : "at least",
                o->prog->name);
    return 1;
}

int osu_open(struct osu *o, const struct osu_prog *prog, int argc, char **argv)
{
    int rc;

    shmem_init();
    memset(o, 0, sizeof *o);
    o->prog = prog;
    o->pe = shmem_my_pe();
    o->npes = shmem_n_pes();
    o->pairs = o->npes / 2;
    o->peer = o->pe < o->pairs ? o->pe + o->pairs : o->pe - o->pairs;
    o->precision = 2;
    o->min = 1;
    o->max = osu_loops[prog->kind].max;
    o->iters_opt = o->skip_opt = -1;
    rc = osu_arguments(o, argc, argv);
    if (!rc)
        rc = wrong_pes(o);
    if (!rc)
        rc = osu_buffers(o);
    if (!rc && prog->on_stream)
        rc = osu_stream_open(o);
    if (!rc && prog->callers)
        rc = osu_kernel_open(o);
    o->status = rc == 1 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (rc)
        return rc;
    osu_place(o, 0);
    osu_begin(o, 1);
    osu_print_header(o);
    progress_begin(&o->progress, prog->name, o->pe == 0, false);
    return 0;
}

/* PE 0 knows of failed checks; its status is that of the job. */
int osu_close(struct osu *o)
{
    if (o->rows)
        osu_print_end(o);
    osu_gather_end();
    fflush(stdout);
    shmem_barrier_all();
    osu_stream_close(o);
    osu_kernel_close(o);
    osu_buffers_free(o);
    shmem_finalize();
    return o->status;
}

/* What a window of messages of n bytes moves, before it begins anew. */
static size_t window_bytes(const struct osu *o, size_t n)
{
    size_t all = osu_bytes(o);

    return n < all / OSU_BW_WINDOW ? n * OSU_BW_WINDOW : all;
}

void osu_begin(struct osu *o, size_t n)
{
    const struct osu_loops *k = &osu_loops[o->prog->kind];
    bool large = n >= k->large;

    o->iters = large ? k->iters_large : k->iters;
    o->skip = large ? k->skip_large : k->skip;
    if (o->iters_opt > 0)
        o->iters = o->iters_opt;
    if (o->skip_opt >= 0)
        o->skip = o->skip_opt;
    switch (o->prog->kind) {
    case OSU_LATENCY:
    case OSU_OVERLAP:
        osu_set(o->src, 'a', n);
        osu_set(o->dst, 'b', n);
        break;
    case OSU_BANDWIDTH:
        osu_set(o->src, 'a', window_bytes(o, n));
        osu_set(o->dst, 'b', window_bytes(o, n));
        break;
    case OSU_COLLECTIVE:
        osu_set(o->src, 0, n);
        osu_set(o->dst, 0, n * (size_t)o->npes);
        break;
    case OSU_RATE:
        osu_set(o->dst, (int)(n & 0xff), osu_bytes(o));
        if (o->src != o->dst)
            osu_set(o->src, (int)(n & 0xff), osu_bytes(o));
        break;
    default:
        break;
    }
    shmem_barrier_all();
}

/* What messages of n bytes take, beside other sizes. */
static double work_of(const struct osu *o, size_t n)
{
    const struct osu_loops *k = &osu_loops[o->prog->kind];
    int iters = n >= k->large ? k->iters_large : k->iters;

    return (o->iters_opt > 0 ? o->iters_opt : iters) * (1 + (double)n / 4096);
}

void osu_show_progress(struct osu *o, size_t n, int place)
{
    double done = 0, all = 0;

    for (size_t i = o->min; i <= o->max; i *= 2) {
        all += work_of(o, i);
        done += i < n ? work_of(o, i) : 0;
    }
    done += work_of(o, n) * place / o->n_places;
    progress_show(&o->progress, done / all, "%zu bytes,", n);
}

/* OSU's message rates begin with puts of the largest size. */
static void warm_up(struct osu *o)
{
    for (int i = 0; o->pe < o->pairs && i < o->skip; i++) {
        size_t at = (size_t)(i % OSU_RATE_SLOTS) * o->max;

        shmem_putmem(o->dst + at, o->src + at, o->max, o->peer);
    }
}

static bool takes_part(const struct osu *o)
{
    return o->pe < o->pairs || o->prog->echo;
}

/* First touches, and what else the first operations of a size cost, shall not
 * be the first placement's. */
static void even_out(struct osu *o, size_t n, osu_op *op)
{
    for (int k = 0; o->n_places > 1 && k < o->n_places; k++) {
        osu_place(o, k);
        osu_begin(o, n);
        if (takes_part(o))
            op(o, n);
    }
}

int osu_copies(const struct osu_prog *prog, osu_measure *measure, osu_op *op,
               int argc, char **argv)
{
    struct osu o;

    if (osu_open(&o, prog, argc, argv))
        return osu_close(&o);
    for (int k = 0; prog->kind == OSU_RATE && k < o.n_places; k++) {
        osu_place(&o, k);
        warm_up(&o);
    }
    for (size_t n = o.min; n <= o.max; n *= 2) {
        even_out(&o, n, op);
        for (int k = 0; k < o.n_places; k++) {
            osu_place(&o, k);
            osu_begin(&o, n);
            osu_show_progress(&o, n, k);
            osu_measured(&o, n, takes_part(&o) ? measure(&o, n) : 0, op);
        }
        osu_row_size(&o, n);
    }
    return osu_close(&o);
}

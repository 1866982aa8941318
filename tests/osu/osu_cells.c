/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_cells.c - from what each PE measured to what a row shows. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *slots;               /* one per PE, used at PE 0 */

/* The slots may lie in device memory, where that is the default. */
struct osu_spread osu_gather(struct osu *o, double value, int count)
{
    struct osu_spread s = { 0, 0, 0, count };
    double v;

    if (!slots)
        slots = shmem_malloc(sizeof *slots * (size_t)o->npes);
    if (!slots) {
        fprintf(stderr, "%s: no room for %d doubles in the symmetric heap\n",
                o->prog->name, o->npes);
        shmem_global_exit(EXIT_FAILURE);
    }
    shmem_double_p(&slots[o->pe], value, 0);
    shmem_barrier_all();
    for (int i = 0; o->pe == 0 && i < count; i++) {
        osu_load(&v, &slots[i], sizeof v);
        s.sum += v;
        if (i == 0 || v < s.min)
            s.min = v;
        if (i == 0 || v > s.max)
            s.max = v;
    }
    shmem_barrier_all();
    return s;
}

void osu_gather_end(void)
{
    if (slots)
        shmem_free(slots);
    slots = NULL;
}

double osu_sum(struct osu *o, double value)
{
    return osu_gather(o, value, o->npes).sum;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void osu_percentiles(double *laps, int count, struct osu_cell *cell)
{
    qsort(laps, (size_t)count, sizeof *laps, ascending);
    cell->min = laps[0];
    cell->max = laps[count - 1];
    cell->p50 = laps[(count - 1) / 2];
    cell->p99 = laps[(int)((count - 1) * 0.99)];
}

/* What reading the clock twice costs, to be taken from each lap. */
static double clock_cost(void)
{
    double laps[101], last = osu_now(), now;

    for (int i = 0; i < 101; i++) {
        now = osu_now();
        laps[i] = now - last;
        last = now;
    }
    qsort(laps, 101, sizeof *laps, ascending);
    return laps[50];
}

/* Repeats the operation, each one timed alone; a kernel times its own. */
static void single_times(struct osu *o, size_t n, osu_op *op,
                         struct osu_cell *cell)
{
    double *laps = osu_host_buffer(o, sizeof *laps * (size_t)o->iters);
    double cost = clock_cost(), start;

    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        op(o, n);
        if (i >= 0)
            laps[i] = (o->kernel ? o->kernel_us : osu_now() - start) - cost;
    }
    for (int i = 0; i < o->iters; i++)
        laps[i] = laps[i] > 0 ? laps[i] / (o->prog->echo ? 2 : 1) : 0;
    osu_percentiles(laps, o->iters, cell);
    free(laps);
}

static void from_rates(struct osu_cell *cell, struct osu_spread s)
{
    cell->value = s.sum;
    cell->min = s.min;
    cell->max = s.max;
}

static void from_times(struct osu_cell *cell, struct osu_spread s)
{
    cell->value = s.sum / s.count;
    cell->min = s.min;
    cell->max = s.max;
}

void osu_measured(struct osu *o, size_t n, double value, osu_op *op)
{
    struct osu_cell *cell = &o->cells[o->place];
    double windows = (double)n * OSU_BW_WINDOW * o->iters;

    switch (o->prog->kind) {
    case OSU_BANDWIDTH:
        cell->value = value > 0 ? windows / value : 0;
        cell->min = cell->max = cell->value;
        break;
    case OSU_RATE:
        from_rates(cell, osu_gather(o, value, o->pairs));
        break;
    default:
        cell->value = value;
    }
    shmem_barrier_all();
    if ((o->pe == 0 || o->prog->echo) && (o->full || o->tail) &&
        o->prog->kind == OSU_LATENCY)
        single_times(o, n, op, cell);
    if (!o->check)
        return;
    if (o->prog->kind == OSU_LATENCY || o->prog->kind == OSU_OVERLAP)
        cell->wrong = osu_check_copy(o, n, op);
    else
        cell->wrong = osu_check_window(o, n, op);
}

void osu_measured_atomic(struct osu *o, double us, int wrong)
{
    struct osu_cell *cell = &o->cells[o->place];

    cell->rate = osu_gather(o, us > 0 ? 1 / us : 0, o->pairs).sum;
    from_times(cell, osu_gather(o, us, o->pairs));
    if (o->check)
        cell->wrong = osu_sum(o, wrong) != 0;
}

void osu_measured_collective(struct osu *o, double us, int wrong)
{
    struct osu_cell *cell = &o->cells[o->place];

    from_times(cell, osu_gather(o, us, o->npes));
    if (o->check)
        cell->wrong = osu_sum(o, wrong) != 0;
}

void osu_row_barrier(struct osu *o, const double *laps, int wrong)
{
    size_t bytes = sizeof *laps * (size_t)o->iters;
    double *own = osu_host_buffer(o, bytes), mean = 0;
    struct osu_cell *cell = &o->cells[o->place];

    for (int i = 0; i < o->iters; i++)
        mean += laps[i] / o->iters;
    memcpy(own, laps, bytes);
    osu_percentiles(own, o->iters, cell);
    free(own);
    from_times(cell, osu_gather(o, mean, o->npes));
    if (o->check)
        cell->wrong = osu_sum(o, wrong) != 0;
    osu_print_barrier(o);
}

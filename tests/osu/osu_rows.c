/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_rows.c - the table, in OSU's bytes, or one JSON object. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 20
#define WIDTH_ITERS 12
#define WIDTH_BARRIER 17

/* What a row shows beside its first value. */
struct extra {
    double min, max;                /* -f */
    double p50, p99;                /* -T */
    int wrong;                      /* -c */
};

static double *slots;               /* one per PE, used at PE 0 */

struct osu_spread osu_gather(struct osu *o, double value, int count)
{
    struct osu_spread s = { 0, 0, 0, count };

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
        s.sum += slots[i];
        if (i == 0 || slots[i] < s.min)
            s.min = slots[i];
        if (i == 0 || slots[i] > s.max)
            s.max = slots[i];
    }
    shmem_barrier_all();
    return s;
}

double osu_sum(struct osu *o, double value)
{
    return osu_gather(o, value, o->npes).sum;
}

/* The library's own name, with what JSON forbids left out. */
static void library_name(char out[SHMEM_MAX_NAME_LEN])
{
    char name[SHMEM_MAX_NAME_LEN] = "";
    size_t used = 0;

    shmem_info_get_name(name);
    for (size_t i = 0; i < sizeof name && name[i]; i++) {
        if (name[i] >= ' ' && name[i] != '"' && name[i] != '\\')
            out[used++] = name[i];
    }
    out[used] = '\0';
}

static void json_header(const struct osu *o)
{
    char library[SHMEM_MAX_NAME_LEN];

    library_name(library);
    printf("{\"benchmark\":\"%s\",\"title\":\"%s\",\"loops\":\"OMB "
           OSU_VERSION "\",\"library\":\"%s\",\"pes\":%d", o->prog->name,
           o->prog->title, library, o->npes);
    if (o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_COLLECTIVE)
        printf(",\"memory\":\"%s\"", o->heap ? "heap" : "global");
    printf(",\"rows\":[");
}

static void table_header(const struct osu *o)
{
    static const char *const units[] = {
        [OSU_LATENCY] = "Latency (us)", [OSU_BANDWIDTH] = "Bandwidth (MB/s)",
        [OSU_RATE] = "Messages/s", [OSU_BARRIER] = "Latency(us)",
        [OSU_COLLECTIVE] = "Avg Latency(us)",
    };
    static const char *const extremes[] = {
        [OSU_LATENCY] = "Latency(us)", [OSU_BANDWIDTH] = "MB/s",
        [OSU_RATE] = "Messages/s", [OSU_ATOMIC] = "Latency(us)",
        [OSU_BARRIER] = "Latency(us)", [OSU_COLLECTIVE] = "Latency(us)",
    };
    enum osu_kind kind = o->prog->kind;
    char cell[WIDTH + 1];

    printf("# %s v" OSU_VERSION "\n", o->prog->title);
    if (kind == OSU_BARRIER)
        printf("# Avg Latency(us)");
    else if (kind == OSU_ATOMIC)
        printf("%-*s%*s%*s", WIDTH, "# Operation", WIDTH, "Million ops/s",
               WIDTH, "Latency (us)");
    else
        printf("%-10s%*s", "# Size", WIDTH, units[kind]);
    if (o->full) {
        snprintf(cell, sizeof cell, "Min %s", extremes[kind]);
        printf("%*s", WIDTH, cell);
        snprintf(cell, sizeof cell, "Max %s", extremes[kind]);
        printf("%*s%*s", WIDTH, cell, WIDTH_ITERS, "Iterations");
    }
    if (o->tail)
        printf("%*s%*s", WIDTH, "P50 Tail Lat(us)", WIDTH,
               "P99 Tail Lat(us)");
    if (o->check)
        printf("%*s", WIDTH, "Validation");
    putchar('\n');
}

void osu_print_header(struct osu *o)
{
    o->rows = 0;
    if (o->pe != 0)
        return;
    if (o->json)
        json_header(o);
    else
        table_header(o);
    fflush(stdout);
}

void osu_print_end(struct osu *o)
{
    if (o->pe == 0 && o->json)
        printf("\n]}\n");
    if (slots)
        shmem_free(slots);
    slots = NULL;
}

static void json_extra(const struct osu *o, const struct extra *x)
{
    const char *unit = o->prog->kind == OSU_RATE ? "per_s"
                     : o->prog->kind == OSU_BANDWIDTH ? "mb_s" : "us";

    if (o->full)
        printf(",\"min_%s\":%.9g,\"max_%s\":%.9g,\"iterations\":%d", unit,
               x->min, unit, x->max, o->iters);
    if (o->tail)
        printf(",\"p50_us\":%.9g,\"p99_us\":%.9g", x->p50, x->p99);
    if (o->check)
        printf(",\"valid\":%s", x->wrong ? "false" : "true");
    putchar('}');
}

static void table_extra(const struct osu *o, const struct extra *x)
{
    if (o->full)
        printf("%*.*f%*.*f%*d", WIDTH, o->precision, x->min, WIDTH,
               o->precision, x->max, WIDTH_ITERS, o->iters);
    if (o->tail)
        printf("%*.*f%*.*f", WIDTH, o->precision, x->p50, WIDTH,
               o->precision, x->p99);
    if (o->check)
        printf("%*s", WIDTH, x->wrong ? "Fail" : "Pass");
    putchar('\n');
}

static void end_row(struct osu *o, const struct extra *x)
{
    if (o->pe == 0 && o->json)
        json_extra(o, x);
    else if (o->pe == 0)
        table_extra(o, x);
    fflush(stdout);
    if (x->wrong)
        o->status = EXIT_FAILURE;
    o->rows++;
}

static void row_of_size(struct osu *o, size_t n, const char *key, double value,
                        const struct extra *x)
{
    if (o->pe == 0 && o->json)
        printf("%s{\"size\":%zu,\"%s\":%.9g", o->rows ? ",\n" : "\n", n, key,
               value);
    else if (o->pe == 0)
        printf("%-10zu%*.*f", n, WIDTH, o->precision, value);
    end_row(o, x);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the laps. */
static void percentiles(double *laps, int count, struct extra *x)
{
    qsort(laps, (size_t)count, sizeof *laps, ascending);
    x->min = laps[0];
    x->max = laps[count - 1];
    x->p50 = laps[(count - 1) / 2];
    x->p99 = laps[(int)((count - 1) * 0.99)];
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

/* Repeats the operation, each one timed alone. */
static void single_times(struct osu *o, size_t n, osu_op *op, struct extra *x)
{
    double *laps = malloc(sizeof *laps * (size_t)o->iters);
    double cost = clock_cost(), start;

    if (!laps) {
        fprintf(stderr, "%s: no memory for %d times\n", o->prog->name,
                o->iters);
        shmem_global_exit(EXIT_FAILURE);
    }
    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        op(o, n);
        if (i >= 0)
            laps[i] = osu_now() - start - cost;
    }
    for (int i = 0; i < o->iters; i++)
        laps[i] = laps[i] > 0 ? laps[i] : 0;
    percentiles(laps, o->iters, x);
    free(laps);
}

void osu_row_latency(struct osu *o, size_t n, double us, osu_op *op)
{
    struct extra x = { 0 };

    shmem_barrier_all();
    if (o->pe == 0 && (o->full || o->tail))
        single_times(o, n, op, &x);
    if (o->check)
        x.wrong = osu_check_copy(o, n, op);
    row_of_size(o, n, "latency_us", us, &x);
}

void osu_row_bandwidth(struct osu *o, size_t n, double us, osu_op *op)
{
    double mb_s = us > 0 ? (double)n * OSU_BW_WINDOW * o->iters / us : 0;
    struct extra x = { 0 };

    x.min = x.max = mb_s;
    shmem_barrier_all();
    if (o->check)
        x.wrong = osu_check_window(o, n, op);
    row_of_size(o, n, "bandwidth_mb_s", mb_s, &x);
}

void osu_row_rate(struct osu *o, size_t n, double per_s, osu_op *op)
{
    struct osu_spread s = osu_gather(o, per_s, o->pairs);
    struct extra x = { s.min, s.max, 0, 0, 0 };

    if (o->check)
        x.wrong = osu_check_window(o, n, op);
    row_of_size(o, n, "messages_per_s", s.sum, &x);
}

void osu_row_atomic(struct osu *o, const char *what, double us, int wrong)
{
    struct osu_spread rate = osu_gather(o, us > 0 ? 1 / us : 0, o->pairs);
    struct osu_spread lat = osu_gather(o, us, o->pairs);
    struct extra x = { lat.min, lat.max, 0, 0, 0 };

    if (o->check)
        x.wrong = osu_sum(o, wrong) != 0;
    if (o->pe == 0 && o->json)
        printf("%s{\"operation\":\"%s\",\"mops\":%.9g,\"latency_us\":%.9g",
               o->rows ? ",\n" : "\n", what, rate.sum, lat.sum / o->pairs);
    else if (o->pe == 0)
        printf("%-*s%*.*f%*.*f", WIDTH, what, WIDTH, o->precision, rate.sum,
               WIDTH, o->precision, lat.sum / o->pairs);
    end_row(o, &x);
}

void osu_row_barrier(struct osu *o, const double *laps, int wrong)
{
    struct osu_spread s;
    struct extra x = { 0 };
    double *own = malloc(sizeof *own * (size_t)o->iters);
    double mean = 0;

    if (!own) {
        fprintf(stderr, "%s: no memory for %d times\n", o->prog->name,
                o->iters);
        shmem_global_exit(EXIT_FAILURE);
    }
    for (int i = 0; i < o->iters; i++)
        mean += laps[i] / o->iters;
    memcpy(own, laps, sizeof *own * (size_t)o->iters);
    percentiles(own, o->iters, &x);
    free(own);
    s = osu_gather(o, mean, o->npes);
    x.min = s.min;
    x.max = s.max;
    if (o->check)
        x.wrong = osu_sum(o, wrong) != 0;
    if (o->pe == 0 && o->json)
        printf("\n{\"latency_us\":%.9g", s.sum / o->npes);
    else if (o->pe == 0)
        printf("%*.*f", WIDTH_BARRIER, o->precision, s.sum / o->npes);
    end_row(o, &x);
}

void osu_row_collective(struct osu *o, size_t n, double us, int wrong)
{
    struct osu_spread s = osu_gather(o, us, o->npes);
    struct extra x = { s.min, s.max, 0, 0, 0 };

    if (o->check)
        x.wrong = osu_sum(o, wrong) != 0;
    row_of_size(o, n, "latency_us", s.sum / o->npes, &x);
}

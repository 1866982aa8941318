/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_rows.c - the table, in OSU's bytes, or one JSON object.  Several
 * placements stand side by side: the first where OSU's value is, so that what
 * reads OSU's tables reads these, then the others, then their ratios to it. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 20
#define WIDTH_ITERS 12
#define WIDTH_BARRIER 17
#define WIDTH_OVERLAP 17            /* of values; of titles as elsewhere */

/* How the kinds name what they measure. */
static const struct naming {
    const char *title, *extreme;    /* of the column; after Min and Max */
    const char *unit;               /* of further placements */
    const char *key, *unit_key;     /* in JSON */
} namings[] = {
    [OSU_LATENCY] = { "Latency (us)", "Latency(us)", "us", "latency_us",
                      "us" },
    [OSU_OVERLAP] = { "Overlap(%)", "", "%", "overlap_percent", "percent" },
    [OSU_BANDWIDTH] = { "Bandwidth (MB/s)", "MB/s", "MB/s", "bandwidth_mb_s",
                        "mb_s" },
    [OSU_RATE] = { "Messages/s", "Messages/s", "Messages/s",
                   "messages_per_s", "per_s" },
    [OSU_ATOMIC] = { "Latency (us)", "Latency(us)", "us", "latency_us",
                     "us" },
    [OSU_BARRIER] = { "Latency(us)", "Latency(us)", "us", "latency_us",
                      "us" },
    [OSU_COLLECTIVE] = { "Avg Latency(us)", "Latency(us)", "us", "latency_us",
                         "us" },
};

static const struct naming *naming(const struct osu *o)
{
    return &namings[o->prog->kind];
}

/* Shares of time do not divide well. */
static bool has_ratios(const struct osu *o)
{
    return o->prog->kind != OSU_OVERLAP;
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

static void json_execution(const struct osu *o)
{
    printf(",\"execution\":[");
    for (int k = 0; k < o->n_places; k++)
        printf("%s\"%s\"", k ? "," : "", osu_exec_names[o->places[k].exec]);
    putchar(']');
}

static void json_stream(const struct osu *o)
{
    const char *engine;

    printf(",\"device\":\"%s\",\"step_us\":%.9g", osu_stream_driver(o),
           osu_stream_work_us(o));
    json_execution(o);
    printf(",\"engines\":[");
    for (int k = 0; k < o->n_places; k++) {
        engine = osu_stream_engine(o, k);
        printf("%s\"%s\"", k ? "," : "", engine ? engine : "");
    }
    putchar(']');
}

static void json_header(const struct osu *o)
{
    char library[SHMEM_MAX_NAME_LEN];

    library_name(library);
    printf("{\"program\":\"%s\",\"version\":\"%s\",\"title\":\"%s\","
           "\"loops\":\"OMB " OSU_VERSION "\",\"pes\":%d", o->prog->name, library,
           o->prog->title, o->npes);
    if (o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_COLLECTIVE)
        printf(",\"memory\":\"%s\"", o->heap ? "heap" : "global");
    if (o->src_opt || o->dst_opt) {
        printf(",\"placements\":[");
        for (int k = 0; k < o->n_places; k++)
            printf("%s\"%s\"", k ? "," : "", osu_place_name(o, k));
        putchar(']');
    }
    if (o->prog->on_stream)
        json_stream(o);
    if (o->prog->callers) {
        printf(",\"device\":\"%s\"", osu_kernel_driver(o));
        json_execution(o);
    }
    printf(",\"rows\":[");
}

/* What -s and -d have chosen, in a line that readers of OSU's tables skip. */
static void table_places(const struct osu *o)
{
    static const char *const spaces[] = { [OSU_HOST] = "host memory (H)",
                                          [OSU_DEVICE] = "device memory (D)" };
    const struct osu_place *last = &o->places[o->n_places - 1];
    bool one = o->places->src == last->src && o->places->dst == last->dst;

    if (!o->src_opt && !o->dst_opt)
        return;
    if (one && o->prog->kind == OSU_COLLECTIVE) {
        printf("# Buffers in %s\n", spaces[o->places[0].dst]);
    } else if (one) {
        printf("# Source in %s, destination in %s\n",
               spaces[o->places[0].src], spaces[o->places[0].dst]);
    } else {
        printf("# Source-destination in host (H) or device memory (D): first "
               "%s, then", osu_place_name(o, 0));
        for (int k = 1; k < o->n_places; k++)
            printf("%s %s", k > 1 ? "," : "", osu_place_name(o, k));
        putchar('\n');
    }
}

/* The engines of the stream's places: one, or that of each. */
static void table_engines(const struct osu *o)
{
    const char *first = NULL, *engine, *comma = "";
    bool same = true;

    for (int k = 0; k < o->n_places; k++) {
        engine = osu_stream_engine(o, k);
        if (engine && !first)
            first = engine;
        same = same && (!engine || !strcmp(first, engine));
    }
    if (first)
        fputs(same ? " (engine" : " (engines", stdout);
    if (first && same)
        printf(" %s", first);
    for (int k = 0; first && !same && k < o->n_places; k++) {
        engine = osu_stream_engine(o, k);
        if (!engine)
            continue;
        printf("%s %s %s", comma, osu_place_name(o, k), engine);
        comma = ",";
    }
    if (first)
        putchar(')');
}

/* Who makes the operations, and what the device does alone. */
static void table_stream(const struct osu *o)
{
    const char *const *by = osu_exec_names;
    enum osu_exec first = o->places->exec;
    enum osu_exec last = o->places[o->n_places - 1].exec;

    printf("# Device %s, a step of it alone %.2f us; the operations are made "
           "by the %s", osu_stream_driver(o), osu_stream_work_us(o),
           by[first]);
    if (last != first)
        printf(", then by the %s", by[last]);
    table_engines(o);
    putchar('\n');
}

/* Who makes the calls: the executions of a place follow each other. */
static void table_kernel(const struct osu *o)
{
    static const char *const by[] = {
        [OSU_BY_HOST] = "the host", [OSU_BY_THREAD] = "a thread of a kernel",
        [OSU_BY_WARP] = "a warp", [OSU_BY_BLOCK] = "a block",
    };
    const struct osu_place *p = o->places;

    printf("# Device %s; the calls are made by ", osu_kernel_driver(o));
    fputs(by[p->exec], stdout);
    for (int k = 1; k < o->n_places && p[k].exec != p->exec; k++)
        printf(", then by %s", by[p[k].exec]);
    if (o->n_places == 1 && p->exec > OSU_BY_THREAD)
        fputs(" of a kernel", stdout);
    putchar('\n');
}

static void further_titles(const struct osu *o)
{
    const char *first = osu_place_name(o, 0);
    char cell[2 * WIDTH];

    for (int k = 1; k < o->n_places; k++) {
        if (snprintf(cell, sizeof cell, "%s (%s)", osu_place_name(o, k),
                     naming(o)->unit) >= WIDTH)
            snprintf(cell, sizeof cell, "%s", osu_place_name(o, k));
        printf("%*s", WIDTH, cell);
    }
    for (int k = 1; has_ratios(o) && k < o->n_places; k++) {
        snprintf(cell, sizeof cell, "%s/%s", osu_place_name(o, k),
                 first);
        printf("%*s", WIDTH, cell);
    }
}

static void table_header(const struct osu *o)
{
    enum osu_kind kind = o->prog->kind;
    char cell[WIDTH + 1];

    printf("# %s v" OSU_VERSION "\n", o->prog->title);
    table_places(o);
    if (o->prog->on_stream)
        table_stream(o);
    if (o->prog->callers)
        table_kernel(o);
    if (kind == OSU_BARRIER)
        printf("# Avg %s", naming(o)->title);
    else if (kind == OSU_ATOMIC)
        printf("%-*s%*s%*s", WIDTH, "# Operation", WIDTH, "Million ops/s",
               WIDTH, naming(o)->title);
    else if (kind == OSU_OVERLAP)
        printf("# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
               "%-10s%*s%*s%*s%*s%*s", "# Size", WIDTH, "Compute(us)", WIDTH,
               "Coll. Init(us)", WIDTH, "MPI_Wait(us)", WIDTH,
               "Pure Comm.(us)", WIDTH, naming(o)->title);
    else
        printf("%-10s%*s", "# Size", WIDTH, naming(o)->title);
    further_titles(o);
    if (o->full) {
        snprintf(cell, sizeof cell, "Min %s", naming(o)->extreme);
        printf("%*s", WIDTH, cell);
        snprintf(cell, sizeof cell, "Max %s", naming(o)->extreme);
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
}

static void json_extra(const struct osu *o, bool wrong)
{
    const struct osu_cell *c = o->cells;
    const char *unit = naming(o)->unit_key;

    for (int k = 0; o->n_places > 1 && k < o->n_places; k++)
        printf("%s\"%s\":%.9g", k ? "," : ",\"by_placement\":{",
               osu_place_name(o, k), c[k].value);
    if (o->n_places > 1)
        putchar('}');
    if (o->full)
        printf(",\"min_%s\":%.9g,\"max_%s\":%.9g,\"iterations\":%d", unit,
               c->min, unit, c->max, o->iters);
    if (o->tail)
        printf(",\"p50_us\":%.9g,\"p99_us\":%.9g", c->p50, c->p99);
    if (o->check)
        printf(",\"valid\":%s", wrong ? "false" : "true");
    putchar('}');
}

static void table_extra(const struct osu *o, bool wrong)
{
    const struct osu_cell *c = o->cells;

    for (int k = 1; k < o->n_places; k++)
        printf("%*.*f", WIDTH, o->precision, c[k].value);
    for (int k = 1; has_ratios(o) && k < o->n_places; k++)
        printf("%*.*f", WIDTH, o->precision,
               c->value > 0 ? c[k].value / c->value : 0);
    if (o->full)
        printf("%*.*f%*.*f%*d", WIDTH, o->precision, c->min, WIDTH,
               o->precision, c->max, WIDTH_ITERS, o->iters);
    if (o->tail)
        printf("%*.*f%*.*f", WIDTH, o->precision, c->p50, WIDTH,
               o->precision, c->p99);
    if (o->check)
        printf("%*s", WIDTH, wrong ? "Fail" : "Pass");
    putchar('\n');
}

static void end_row(struct osu *o)
{
    bool wrong = false;

    for (int k = 0; k < o->n_places; k++)
        wrong = wrong || o->cells[k].wrong;
    if (o->pe == 0 && o->json)
        json_extra(o, wrong);
    else if (o->pe == 0)
        table_extra(o, wrong);
    fflush(stdout);
    if (wrong)
        o->status = EXIT_FAILURE;
    o->rows++;
}

static void json_row_start(const struct osu *o)
{
    printf("%s{", o->rows ? ",\n" : "\n");
}

static void overlap_values(const struct osu *o)
{
    const struct osu_cell *c = o->cells;
    const double values[] = { c->compute, c->init, c->wait, c->pure,
                              c->value };

    if (o->json) {
        printf(",\"compute_us\":%.9g,\"init_us\":%.9g,\"wait_us\":%.9g,"
               "\"pure_us\":%.9g", c->compute, c->init, c->wait, c->pure);
        return;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        printf("%*.*f", WIDTH_OVERLAP, o->precision, values[i]);
}

void osu_row_size(struct osu *o, size_t n)
{
    progress_clear(&o->progress);
    if (o->pe == 0 && o->json) {
        json_row_start(o);
        printf("\"size\":%zu,\"%s\":%.9g", n, naming(o)->key,
               o->cells->value);
    } else if (o->pe == 0) {
        printf("%-10zu", n);
    }
    if (o->pe == 0 && o->prog->kind == OSU_OVERLAP)
        overlap_values(o);
    else if (o->pe == 0 && !o->json)
        printf("%*.*f", WIDTH, o->precision, o->cells->value);
    end_row(o);
}

void osu_row_atomic(struct osu *o, const char *what)
{
    const struct osu_cell *c = o->cells;

    if (o->pe == 0 && o->json) {
        json_row_start(o);
        printf("\"operation\":\"%s\",\"mops\":%.9g,\"%s\":%.9g", what,
               c->rate, naming(o)->key, c->value);
    } else if (o->pe == 0) {
        printf("%-*s%*.*f%*.*f", WIDTH, what, WIDTH, o->precision, c->rate,
               WIDTH, o->precision, c->value);
    }
    end_row(o);
}

void osu_print_barrier(struct osu *o)
{
    if (o->pe == 0 && o->json) {
        json_row_start(o);
        printf("\"%s\":%.9g", naming(o)->key, o->cells->value);
    } else if (o->pe == 0) {
        printf("%*.*f", WIDTH_BARRIER, o->precision, o->cells->value);
    }
    end_row(o);
}

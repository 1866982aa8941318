/* SPDX-License-Identifier: BSD-3-Clause */
/* pp_report.c - the table of pp_pack, or its JSON object. */
#include "pp_pack.h"

#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool continued;              /* a row of the object has been printed */

double pp_interval(const double *values, int n)
{
    /* Student's t for 95 %, of 1 to 30 degrees of freedom; then the limit. */
    static const double t[] = {
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20,
        2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07,
        2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04
    };
    const int known = (int)(sizeof t / sizeof *t);
    double mean = 0, squares = 0;

    if (n < 2)
        return 0;
    for (int i = 0; i < n; i++)
        mean += values[i] / n;
    for (int i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return (n - 2 < known ? t[n - 2] : 1.96) * sqrt(squares / (n - 1) / n);
}

static double median(const double *values, int n)
{
    double sorted[PP_TRIALS];

    memcpy(sorted, values, (size_t)n * sizeof *values);
    bench_median(sorted, n);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* Of times in the same trial; 0: that mode was not run. */
static double ratio(const struct pp_opts *o, const struct pp_cell *cells,
                    enum pp_mode of, enum pp_mode by)
{
    double q[PP_TRIALS];

    if (!o->mode[by])
        return 0;
    for (int i = 0; i < o->trials; i++)
        q[i] = cells[of].rtt[i] / cells[by].rtt[i];
    return median(q, o->trials);
}

static double charged_ratio(const struct pp_opts *o,
                            const struct pp_cell *cells, enum pp_mode of)
{
    return o->mode[PP_HOST] && cells[PP_HOST].charged_us > 0
           ? cells[of].charged_us / cells[PP_HOST].charged_us : 0;
}

/* ---- the table ---- */

static void cell(int width, int digits, double value)
{
    if (value > 0)
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void table_begin(const struct pp_opts *o, const struct pp_head *h)
{
    printf("# pp_pack: packed messages there and back, 2 PEs, %s; %s\n",
           h->between, h->version);
    printf("# device: %s, driver %s; costs added: %s\n", h->device, h->driver,
           *h->costs ? h->costs : "none");
    printf("# pieces (us): empty kernel and sync %.2f, sync alone %.2f, store "
           "and wait on the stream ", h->launch_us, h->sync_us);
    printf(h->flag_us > 0 ? "%.2f\n" : "not known\n", h->flag_us);
    printf("# medians of %d trial%s of ", o->trials,
           o->trials == 1 ? "" : "s");
    if (o->iters)
        printf("%d round trips", o->iters);
    else
        printf("2000 round trips (200 from 4 MiB, 20 above 64 MiB)");
    printf(", %d before each; times are the wall's, on whatever else the "
           "machine does\n", o->warmup);
    printf("# %-8s %-10s %10s %8s %10s %10s %6s %8s %5s %9s %6s %6s", "Size",
           "Mode", "RTT(us)", "+-95%", "Half(us)", "BW(MB/s)", "/host",
           "launches", "armed", "by_host", "/raw", "/send");
    if (o->charged)
        printf(" %11s %12s", "Charged(us)", "charged/host");
    putchar('\n');
}

static void table_row(const struct pp_opts *o, size_t bytes,
                      const struct pp_cell *cells, enum pp_mode m)
{
    const struct pp_cell *c = &cells[m];
    double rtt = median(c->rtt, o->trials);

    printf("%-10zu %-10s %10.2f", bytes, pp_mode_names[m], rtt);
    cell(8, 2, pp_interval(c->rtt, o->trials));
    printf(" %10.2f %10.2f", rtt / 2, (double)bytes / (rtt / 2));
    cell(6, 3, ratio(o, cells, m, PP_HOST));
    printf(" %8.2f %5.2f %9.2f", c->launches, c->armed, c->host_acts);
    cell(6, 2, ratio(o, cells, m, PP_RAW));
    cell(6, 3, ratio(o, cells, m, PP_SEND));
    if (o->charged) {
        printf(" %11.3f", c->charged_us);
        cell(12, 3, charged_ratio(o, cells, m));
    }
    putchar('\n');
}

/* ---- the object ---- */

/* Names of devices and the like: quotes and controls have no place there. */
static void json_text(const char *name, const char *text)
{
    printf("\"%s\":\"", name);
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || strchr("\"\\", *text) ? '?'
                : *text);
    putchar('"');
}

static void json_known(const char *name, double value)
{
    if (value > 0)
        printf(",\"%s\":%.6g", name, value);
    else
        printf(",\"%s\":null", name);
}

static void json_begin(const struct pp_opts *o, const struct pp_head *h)
{
    printf("{\"program\":\"pp_pack\",\"pes\":2,");
    json_text("between", h->between);
    putchar(',');
    json_text("version", h->version);
    putchar(',');
    json_text("device", h->device);
    putchar(',');
    json_text("driver", h->driver);
    putchar(',');
    json_text("costs", h->costs);
    printf(",\"launch_us\":%.6g,\"sync_us\":%.6g", h->launch_us, h->sync_us);
    json_known("flag_us", h->flag_us);
    printf(",\"trials\":%d,\"warmup\":%d,\"rows\":[", o->trials, o->warmup);
}

static void json_row(const struct pp_opts *o, size_t bytes,
                     const struct pp_cell *cells, enum pp_mode m)
{
    const struct pp_cell *c = &cells[m];

    printf("%s{\"size\":%zu,\"mode\":\"%s\",\"iterations\":%d,"
           "\"rtt_us\":%.6g,\"ci95_us\":%.6g", continued ? "," : "", bytes,
           pp_mode_names[m], pp_iters(o, bytes), median(c->rtt, o->trials),
           pp_interval(c->rtt, o->trials));
    json_known("ratio_to_host", ratio(o, cells, m, PP_HOST));
    json_known("ratio_to_raw", ratio(o, cells, m, PP_RAW));
    json_known("ratio_to_send", ratio(o, cells, m, PP_SEND));
    printf(",\"launches\":%.6g,\"armed\":%.6g,\"host_acts\":%.6g,"
           "\"charged_us\":%.6g", c->launches, c->armed, c->host_acts,
           c->charged_us);
    json_known("charged_ratio_to_host", charged_ratio(o, cells, m));
    putchar('}');
    continued = true;
}

/* ---- */

void pp_begin(const struct pp_opts *o, const struct pp_head *h)
{
    (o->json ? json_begin : table_begin)(o, h);
    fflush(stdout);
}

void pp_rows(const struct pp_opts *o, size_t bytes,
             const struct pp_cell *cells)
{
    for (int m = 0; m < PP_MODES; m++)
        if (o->mode[m])
            (o->json ? json_row : table_row)(o, bytes, cells,
                                             (enum pp_mode)m);
    fflush(stdout);
}

void pp_end(const struct pp_opts *o, unsigned long verified)
{
    if (o->json)
        printf("],\"verified\":%lu}\n", verified);
    else
        printf("# verified %lu times: each element of the answer of a round "
               "trip\n", verified);
}

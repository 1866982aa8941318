/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

/* ---- times ---- */

void times_add(struct times *t, double value)
{
    t->of[t->n++] = value;
}

double times_mean(const struct times *t)
{
    double sum = 0;

    for (int i = 0; i < t->n; i++)
        sum += t->of[i];
    return sum / t->n;
}

double times_interval(const struct times *t)
{
    /* Student's t for 95 %, of 1 to 20 degrees of freedom; then nearly the
     * limit. */
    static const double student[] = {
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20,
        2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09
    };
    const int known = (int)(sizeof student / sizeof *student);
    double mean = times_mean(t), squares = 0;

    if (t->n < 2)
        return 0;
    for (int i = 0; i < t->n; i++)
        squares += (t->of[i] - mean) * (t->of[i] - mean);
    return (t->n - 2 < known ? student[t->n - 2] : 2.0) *
           sqrt(squares / (t->n - 1) / t->n);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static struct times sorted(const struct times *t)
{
    struct times s = *t;

    qsort(s.of, (size_t)s.n, sizeof *s.of, by_size);
    return s;
}

double times_median(const struct times *t)
{
    struct times s = sorted(t);

    return (s.of[(s.n - 1) / 2] + s.of[s.n / 2]) / 2;
}

double times_least(const struct times *t)
{
    return sorted(t).of[0];
}

double times_most(const struct times *t)
{
    return sorted(t).of[t->n - 1];
}

double times_ratio(const struct times *a, const struct times *b)
{
    struct times q = { .n = a->n };

    if (a->n != b->n)
        return NAN;
    for (int i = 0; i < a->n; i++)
        q.of[i] = a->of[i] / b->of[i];
    return times_median(&q);
}

/* ---- rows ---- */

static bool continued;          /* a row has been printed */
static unsigned verified;       /* runs */

void report_verified(void)
{
    verified++;
}

static void field(const struct column *c)
{
    printf("\"%s\":", c->key);
    if (c->digits < 0) {
        putchar('"');
        for (const char *t = c->text; *t; t++)
            putchar((unsigned char)*t < 0x20 || strchr("\"\\", *t) ? '?' : *t);
        putchar('"');
    } else if (isnan(c->value)) {
        printf("null");
    } else {
        printf("%.9g", c->value);
    }
}

static void cell(const struct column *c)
{
    if (c->digits < 0)
        printf("%*s", c->width, c->text);
    else if (isnan(c->value))
        printf("%*s", c->width, "-");
    else
        printf("%*.*f", c->width, c->digits, c->value);
}

void report_begin(bool json, struct device *d,
                  const struct column *head)
{
    char version[SHMEM_MAX_NAME_LEN];
    const shmemx_device_info_t *i = &d->info;

    shmem_info_get_name(version);
    app_need(shmemx_device_info(&d->info), "shmemx_device_info");
    if (json) {
        printf("{\"program\":\"%s\",\"version\":\"%s\",\"pes\":%d,"
               "\"ppn\":%d,\"driver\":\"%s\",", app.name, version, app.pes,
               app.node_pes, i->driver);
        field(&(struct column){ .key = "device", .digits = -1,
                                .text = i->name });
        for (; head->key; head++) {
            putchar(',');
            field(head);
        }
        printf(",\"verified\":%u,\"rows\":[\n", verified);
        return;
    }
    printf("# %s: %d PE%s, %d on a node; %s\n", app.name, app.pes,
           app.pes == 1 ? "" : "s", app.node_pes, version);
    printf("# device: %s, driver %s; messages on the stream by: %s on the "
           "node, %s beyond\n#", i->name, i->driver,
           *i->near_device.put ? i->near_device.put : "none",
           *i->far.put ? i->far.put : "none");
    for (; head->key; head++) {
        printf(" %s ", head->head);
        cell(head);
    }
    printf("\n# times are the wall's, on whatever else the machine does\n");
}

void report_row(bool json, const struct column *row)
{
    if (json)
        printf(continued ? ",{" : "{");
    if (!json && !continued) {
        for (const struct column *c = row; c->key; c++)
            printf("%s%*s", c == row ? "# " : " ",
                   c == row ? c->width + (c->width < 0 ? 2 : -2) : c->width,
                   c->head);
        putchar('\n');
    }
    for (const struct column *c = row; c->key; c++) {
        if (c != row)
            putchar(json ? ',' : ' ');
        (json ? field : cell)(c);
    }
    puts(json ? "}" : "");
    fflush(stdout);
    continued = true;
}

void report_end(bool json, const char *what)
{
    if (json)
        puts("]}");
    else
        printf("# verified %u time%s: %s\n", verified,
               verified == 1 ? "" : "s", verified ? what
               : "nothing was compared");
    if (fflush(stdout) || ferror(stdout))
        app_die("REPORT", "standard output: %m");
}

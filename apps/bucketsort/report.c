/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "io.h"

struct spread { double least, mean, most; };

struct row {
    const struct variant *variant;
    int threads, streams;
    const char *bucket, *table, *counter, *local;
    struct spread time[TIMERS];         /* seconds, over PEs */
    struct spread rate;                 /* GB/s to other PEs, over PEs */
    size_t slot_keys;                   /* 0: messages are as long as needed */
    uint64_t sent, slots, over;         /* bytes, bytes, keys of all PEs */
};

_Static_assert(TIMERS + 3 <= GATHER_WORDS, "a PE's times fit in one gather");

bool report_open(struct job *job, int rounds, struct report *out)
{
    struct report r = { .job = job, .rounds = rounds };

    r.rows = calloc((size_t)variants_count, sizeof(*r.rows));
    r.times = calloc((size_t)rounds * TIMERS, sizeof(*r.times));
    *out = r;
    if (r.rows && r.times)
        return true;
    job_error(job, E_MEMORY, "times of %d rounds: no memory", rounds);
    return false;
}

void report_close(struct report *r)
{
    free(r->rows);
    free(r->times);
}

void report_round(struct report *r)
{
    for (int t = 0; t < TIMERS; t++)
        r->times[t * r->rounds + r->made] = r->job->timer[t];
    r->made++;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), by_size);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static void spread_add(struct spread *s, int seen, double value)
{
    if (seen == 0 || value < s->least)
        s->least = value;
    if (seen == 0 || value > s->most)
        s->most = value;
    s->mean += (value - s->mean) / (seen + 1);
}

void report_row(struct report *r, const struct variant *variant)
{
    struct row *row = &r->rows[r->count++];
    const struct job *job = r->job;
    uint64_t words[GATHER_WORDS] = { 0 };
    const uint64_t (*all)[GATHER_WORDS];
    double mine[TIMERS];

    row->variant = variant;
    row->threads = job->threads;
    row->streams = job->streams;
    row->bucket = job_place_name(job->bucket_device ? PLACE_DEVICE
                                                    : PLACE_HOST);
    row->table = job_place_name((int)job->table_place);
    row->counter = job_place_name(job->cursor == job->cursor_host
                                  ? PLACE_HOST : PLACE_DEVICE);
    row->local = job_place_name(job->on_device ? PLACE_DEVICE : PLACE_HOST);
    for (int t = 0; t < TIMERS; t++)
        mine[t] = median(r->times + t * r->rounds, r->made);
    r->made = 0;
    mine[T_WRITE_OUTPUT] = job->timer[T_WRITE_OUTPUT];  /* of the last round */
    memcpy(words, mine, sizeof(mine));
    words[TIMERS] = job->sent_bytes;
    words[TIMERS + 1] = job->slot_bytes;
    words[TIMERS + 2] = job->over_keys;
    row->slot_keys = job->slot_keys;
    all = share_gather(r->job, words);
    for (int pe = 0; pe < r->job->pes; pe++) {
        double time[TIMERS], rate;

        memcpy(time, all[pe], sizeof(time));
        for (int t = 0; t < TIMERS; t++)
            spread_add(&row->time[t], pe, time[t]);
        rate = time[T_EXCHANGE] > 0 ? (double)all[pe][TIMERS] /
                                      time[T_EXCHANGE] / 1e9 : 0;
        spread_add(&row->rate, pe, rate);
        row->sent += all[pe][TIMERS];
        row->slots += all[pe][TIMERS + 1];
        row->over += all[pe][TIMERS + 2];
    }
}

/* ----------------------------------------------------------------- table ---- */

static const char *scaling(const struct job *job)
{
    return job->opts->input ? "file" : job_mode_name((int)job->opts->mode);
}

static uint64_t keys_per_pe(const struct job *job)
{
    return (job->total + (unsigned)job->pes - 1) / (unsigned)job->pes;
}

/* A number, or a dash where there is none. */
static void cell(int width, int digits, bool known, double value)
{
    if (known)
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

/* Bytes put for each byte of keys that they carried, or 0. */
static double padding(const struct report *r, const struct row *row)
{
    uint64_t carried = row->sent - row->over * (unsigned)r->job->width;

    return carried ? (double)row->slots / (double)carried : 0;
}

static void table_slots(const struct report *r, const struct row *row)
{
    printf("# %s: slots of %zu keys: %.1f MiB put, ", row->variant->name,
           row->slot_keys, (double)row->slots / (1 << 20));
    if (padding(r, row) > 0)
        printf("%.3f times what they carried; ", padding(r, row));
    printf("%" PRIu64 " key%s beyond them by the host\n", row->over,
           row->over == 1 ? "" : "s");
}

/* Which device, and where things are that options place. */
static void table_device(const struct job *job)
{
    const struct opts *o = job->opts;

    if (job->left_out)
        puts("# GA_ variants are left out: no device; see SHMEM_DEVICE");
    if (!job->left_out && job->no_waits)
        puts("# GA_ST is left out: streams of this device cannot wait while "
             "PEs share it");
    if (!job->left_out && job->no_sends)
        puts("# GA_KI and GA_KT are left out: there is no compiler for their "
             "kernel; --variant GA_KI says more");
    if (!job->device)
        return;
    printf("# device: %s", job->device->dev.info.name);
    if (job->device->dev.info.pci[0])
        printf(", %s", job->device->dev.info.pci);
    printf("; HA_: keys on the %s; GA_: tables on the %s, counters on the "
           "%s\n", device_stages(job) ? "device" : "host",
           o->table == PLACE_HOST ? "host" : "device",
           o->counters == PLACE_DEVICE ? "device" : "host");
}

static void head(const struct job *job)
{
    const struct opts *o = job->opts;

    if (o->input)
        printf("# bucketsort: %s, %" PRIu64 " keys of %s", o->input,
               job->total, job_type_name((int)o->type));
    else
        printf("# bucketsort: ISx keys, %s, seed %" PRIu64,
               job_mode_name((int)o->mode), o->seed);
    printf(", %d PE%s, chunks of %" PRIu64 " keys, %d round%s\n", job->pes,
           job->pes == 1 ? "" : "s", o->chunk, o->iterations, o->iterations == 1 ? "" : "s");
    printf("# %-12s %4s %11s %8s %8s %8s %8s %7s %9s %9s %9s %8s\n",
           "variant", "PEs", "keys/PE", "scaling", "min_GB/s", "max_GB/s",
           "mean", "min/max", "total(s)", "moved(s)", "sort(s)", "vs_HA_HI");
}

static bool is_reference(const struct row *row)
{
    return row->variant == &variants[0];
}

static void table_row(const struct report *r, const struct row *row)
{
    const struct row *reference = &r->rows[0];
    bool moved = row->rate.most > 0;

    printf("  %-12s %4d %11" PRIu64 " %8s", row->variant->name, r->job->pes,
           keys_per_pe(r->job), scaling(r->job));
    cell(8, 3, moved, row->rate.least);
    cell(8, 3, moved, row->rate.most);
    cell(8, 3, moved, row->rate.mean);
    cell(7, 2, moved, row->rate.least / row->rate.most);
    cell(9, 4, true, row->time[T_TOTAL].most);
    cell(9, 4, true, row->time[T_EXCHANGE].mean);
    cell(9, 4, true, row->time[T_LOCAL_SORT].mean);
    cell(8, 2, moved && is_reference(reference),
         row->rate.mean / reference->rate.mean);
    putchar('\n');
}

static void table_timers(const struct row *row)
{
    printf("# timers of %s (s): least, mean, most over PEs\n",
           row->variant->name);
    for (int t = 0; t < TIMERS; t++)
        if (row->time[t].most > 0)
            printf("#   %-19s %9.6f %9.6f %9.6f\n", job_timer_name(t),
                   row->time[t].least, row->time[t].mean, row->time[t].most);
}

static void table(const struct report *r)
{
    const struct job *job = r->job;
    const struct row *last = &r->rows[r->count - 1];
    double writing = last->time[T_WRITE_OUTPUT].most;
    double total = last->time[T_TOTAL].most + writing;

    head(job);
    for (int i = 0; i < r->count; i++)
        table_row(r, &r->rows[i]);
    table_device(job);
    for (int i = 0; i < r->count; i++)
        if (r->rows[i].slot_keys)
            table_slots(r, &r->rows[i]);
    for (int i = 0; job->opts->verbose && i < r->count; i++)
        table_timers(&r->rows[i]);
    if (job->opts->input)
        printf("# %" PRIu64 " keys, %.1f MiB, in %.3f s: %.1f Mkeys/s\n",
               job->total, (double)(job->total * (unsigned)job->width) /
               (1 << 20), total, total > 0 ? (double)job->total / total / 1e6
                                           : 0);
    printf("# verified %" PRIu64 " time%s: number, sum, squares and xor of all "
           "keys, order in and across PEs\n", r->checked,
           r->checked == 1 ? "" : "s");
    if (r->output)
        printf("# written to %s and read back in %.3f s\n", r->output, writing);
}

/* ------------------------------------------------------------------ JSON ---- */

/* Bytes of the UTF-8 character at text, 0 if it is none. */
static int utf8_length(const unsigned char *text)
{
    unsigned c = text[0], second = text[1];
    int n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3
          : c < 0xf5 ? 4 : 0;

    /* Too long a form, halves of a pair, or beyond the last character. */
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
        (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
        return 0;
    for (int i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Names of files may have any bytes: those of no character are replaced. */
static void json_text(FILE *f, const char *name, const char *text)
{
    int n;

    fprintf(f, "\"%s\":", name);
    if (!text) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (; *text; text += n ? n : 1) {
        unsigned char c = (unsigned char)*text;

        n = utf8_length((const unsigned char *)text);
        if (n == 0)
            fputs("\\ufffd", f);
        else if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fwrite(text, 1, (size_t)n, f);
    }
    putc('"', f);
}

static void json_spread(FILE *f, const char *name, const struct spread *s)
{
    fprintf(f, "\"%s\":{\"min\":%.9g,\"mean\":%.9g,\"max\":%.9g}", name,
            s->least, s->mean, s->most);
}

static void json_ratio(FILE *f, const char *name, double value, double by)
{
    if (by > 0)
        fprintf(f, ",\"%s\":%.6g", name, value / by);
    else
        fprintf(f, ",\"%s\":null", name);
}

static void json_row(FILE *f, const struct report *r, const struct row *row)
{
    const struct row none = { 0 };
    const struct row *ref = is_reference(&r->rows[0]) ? &r->rows[0] : &none;

    fprintf(f, "{");
    json_text(f, "variant", row->variant->name);
    fprintf(f, ",\"threads\":%d,\"pes\":%d,\"keys_per_pe\":%" PRIu64 ",",
            row->threads, r->job->pes, keys_per_pe(r->job));
    json_text(f, "scaling", scaling(r->job));
    fprintf(f, ",\"streams\":%d,\"bucket\":\"%s\",\"table\":\"%s\","
            "\"counters\":\"%s\",\"keys_on\":\"%s\"", row->streams,
            row->bucket, row->table, row->counter, row->local);
    fprintf(f, ",\"min_gb_s\":%.9g,\"max_gb_s\":%.9g,\"mean_gb_s\":%.9g",
            row->rate.least, row->rate.most, row->rate.mean);
    json_ratio(f, "min_over_max", row->rate.least, row->rate.most);
    fprintf(f, ",\"total_s\":%.9g,\"exchange_s\":%.9g,\"sort_s\":%.9g",
            row->time[T_TOTAL].most, row->time[T_EXCHANGE].mean,
            row->time[T_LOCAL_SORT].mean);
    json_ratio(f, "min_vs_ha_hi", row->rate.least, ref->rate.least);
    json_ratio(f, "max_vs_ha_hi", row->rate.most, ref->rate.most);
    json_ratio(f, "mean_vs_ha_hi", row->rate.mean, ref->rate.mean);
    json_ratio(f, "total_vs_ha_hi", row->time[T_TOTAL].most,
               ref->time[T_TOTAL].most);
    if (row->slot_keys)
        fprintf(f, ",\"slot_keys\":%zu,\"slot_bytes\":%" PRIu64
                ",\"padding\":%.6g,\"keys_by_host\":%" PRIu64,
                row->slot_keys, row->slots, padding(r, row), row->over);
    fprintf(f, ",\"timers_s\":{");
    for (int t = 0; t < TIMERS; t++) {
        if (t)
            putc(',', f);
        json_spread(f, job_timer_name(t), &row->time[t]);
    }
    fprintf(f, "}}");
}

static void json(FILE *f, const struct report *r)
{
    const struct job *job = r->job;
    const struct opts *o = job->opts;

    char version[SHMEM_MAX_NAME_LEN];

    shmem_info_get_name(version);
    fprintf(f, "{\"program\":\"bucketsort\",");
    json_text(f, "version", version);
    fprintf(f, ",\"pes\":%d,\"keys\":%" PRIu64 ",", job->pes, job->total);
    json_text(f, "scaling", scaling(job));
    putc(',', f);
    json_text(f, "type", o->input ? job_type_name((int)o->type) : "i32");
    putc(',', f);
    json_text(f, "input", o->input);
    putc(',', f);
    json_text(f, "output", r->output);
    putc(',', f);
    json_text(f, "device", job->device ? job->device->dev.info.name : NULL);
    fprintf(f, ",\"chunk\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"iterations\":%d,"
            "\"verified\":%" PRIu64 ",\"rows\":[", o->chunk, o->seed,
            o->iterations, r->checked);
    for (int i = 0; i < r->count; i++) {
        if (i)
            putc(',', f);
        json_row(f, r, &r->rows[i]);
    }
    fprintf(f, "]}\n");
}

/* Made in memory first: a file gets all of it or does not appear. */
static void json_file(struct report *r, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    bool bad = !f;

    if (f) {
        json(f, r);
        bad = ferror(f) != 0;
        bad = fclose(f) != 0 || bad;
    }
    if (bad)
        job_error(r->job, E_MEMORY, "--json %s: no memory", path);
    else
        io_report_write(r->job, path, text, n);
    free(text);
}

void report_print(struct report *r)
{
    const char *path = r->job->opts->json;

    if (path && strcmp(path, "-") == 0)
        json(stdout, r);
    else
        table(r);
    if (fflush(stdout) != 0 || ferror(stdout))
        job_error(r->job, E_REPORT, "standard output: %m");
    if (path && strcmp(path, "-") != 0)
        json_file(r, path);
}

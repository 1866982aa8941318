/* SPDX-License-Identifier: BSD-3-Clause */
/* sort.c - the sort itself: keys in, exchange, local sort, checks, keys out. */
#include "bucketsort.h"

#include <inttypes.h>
#include <math.h>
#include <shmem.h>
#include <shmem_space.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device.h"
#include "io.h"
#include "radix.h"
#include "report.h"
#include "split.h"

enum {
    ISX_WIDTH = 8192,           /* of a bucket of weak_iso */
    ISX_MAX = 1 << 28,          /* made keys are below it otherwise */
    READ_KEYS = 1 << 20,        /* of a file, between two progress lines */
    HEAP_SPARE = 4 << 20        /* for the library's own words and rounding */
};

struct sort {
    struct job *job;
    const struct opts *opts;
    uint32_t max;               /* made keys are below it */
    int input;                  /* descriptor, -1: keys are made */
    struct io_out out;
    size_t keys_bytes;
    struct sums before;         /* of this PE's input */
    struct report report;
};

/* ---------------------------------------------------------------- set-up ---- */

static uint64_t made_keys(const struct opts *o, int pes)
{
    return o->mode != MODE_STRONG ? o->keys
         : (o->keys + (uint64_t)pes - 1) / (uint64_t)pes;
}

static size_t made_capacity(const struct opts *o, uint64_t keys)
{
    double mean = (double)keys;

    return (size_t)ceil(o->slack * mean + 6 * sqrt(mean));
}

/* The slack with which that many keys would have found room, and 1 % more. */
static double slack_for(const struct opts *o, size_t capacity, size_t keys)
{
    double root = (sqrt(36 + 4 * o->slack * (double)capacity) - 6) /
                  (2 * o->slack);       /* of the mean */

    return ceil((1.01 * (double)keys - 6 * root) / (root * root) * 100) / 100;
}

static size_t heap_mib(const struct job *job, size_t table)
{
    size_t need = table + table / 32 + share_bytes(job->pes) + HEAP_SPARE;

    if (device_stages(job))
        need += 2 * job->opts->chunk * sizeof(uint64_t);

    return (need >> 20) + 1;
}

size_t sort_heap_mib(const struct job *job)
{
    const struct opts *o = job->opts;
    size_t table = 0, pes = (size_t)job->pes;
    struct stat st;

    if (o->task == TASK_MADE)
        table = made_capacity(o, made_keys(o, job->pes)) * sizeof(uint32_t);
    else if (o->task == TASK_FILE && stat(o->input, &st) == 0)
        table = (size_t)st.st_size / pes + sizeof(uint64_t);
    return heap_mib(job, table);
}

static void plan_made(struct sort *s)
{
    struct job *job = s->job;
    uint64_t pes = (uint64_t)job->pes, keys = made_keys(s->opts, job->pes);

    job_set_type(job, TYPE_U32);
    s->max = ISX_MAX;
    if (s->opts->mode == MODE_WEAK_ISO) {
        if (pes > INT32_MAX / ISX_WIDTH)
            job_error(job, E_USAGE, "--mode weak_iso: %d PEs are more than "
                      "31-bit keys allow: %d", job->pes,
                      INT32_MAX / ISX_WIDTH);
        else
            s->max = (uint32_t)pes * ISX_WIDTH;
    }
    job->n = keys;
    job->total = keys * pes;
    job->capacity = made_capacity(s->opts, keys);
}

/* Even parts of the file come in, exactly even parts go out. */
static void plan_file(struct sort *s, uint64_t count)
{
    struct job *job = s->job;
    uint64_t first = job_share(job, job->pe);

    job->total = count;
    first = job_share(job, job->pe);
    job->n = (size_t)(job_share(job, job->pe + 1) - first);
    job->capacity = (size_t)((count + (unsigned)job->pes - 1) /
                             (unsigned)job->pes);
    if (s->opts->count != UINT64_MAX && s->opts->count != count)
        job_error(job, E_SIZE, "%s: has %" PRIu64 " keys, not the %" PRIu64
                  " of --count", s->opts->input, count, s->opts->count);
}

static bool make_room(struct sort *s)
{
    struct job *job = s->job;
    size_t width = (size_t)job->width, table, keys;

    if (job->capacity == 0)
        job->capacity = 1;
    table = job->capacity * width;
    keys = (job->n > job->capacity ? job->n : job->capacity) * width;
    job->table = shmem_space_align(SHMEM_SPACE_CPU, 64, table);
    if (!job->table)
        job_error(job, E_HEAP, "the table needs %zu bytes of symmetric heap "
                  "per PE: set SHMEM_SYMMETRIC_SIZE=%zuM, or use more PEs",
                  table, heap_mib(job, table));
    if (share_failed(job))
        return false;
    job->keys = job_map(job, keys, "keys");
    s->keys_bytes = keys;
    if (share_failed(job))
        return false;
    job->split = split_new(job);
    return !share_failed(job);
}

static int default_threads(const struct job *job)
{
    int cores = job->cores;

    return cores < 2 ? 2 : cores > THREADS_MAX ? THREADS_MAX : cores;
}

static bool set_up(struct sort *s)
{
    struct job *job = s->job;
    uint64_t count;

    if (s->opts->input) {
        job_set_type(job, s->opts->type);
        if (!io_open(job, s->opts->input, &s->input, &count))
            return false;
        plan_file(s, count);
    } else {
        plan_made(s);
    }
    if (share_failed(job) || !make_room(s))
        return false;
    if (!s->opts->input)
        split_set_width(job->split, (uint32_t)((s->max + (uint64_t)job->pes -
                        1) / (unsigned)job->pes));
    return !s->opts->output ||
           io_out_open(job, s->opts->output, s->input, job->total, &s->out);
}

/* ------------------------------------------------------------- one round ---- */

static void read_keys(struct sort *s)
{
    struct job *job = s->job;
    uint64_t first = job_share(job, job->pe);
    size_t width = (size_t)job->width;

    for (size_t at = 0; at < job->n; at += READ_KEYS) {
        size_t n = job->n - at < READ_KEYS ? job->n - at : READ_KEYS;
        char *to = (char *)job->keys + at * width;

        if (!io_read(job, s->input, s->opts->input, first + at, n, to))
            return;
        keys_add(job->width, to, n, &s->before);
        job_progress(job, "read", at + n, job->n);
    }
}

/* That is part of making them. */
static void load_keys(struct job *job)
{
    double begin = job_now();

    if (!job->on_device)
        return;
    device_load(job);
    job->timer[T_MAKE_INPUT] += job_now() - begin;
}

/* Keys into job->keys, and their sums, which for made keys are not timed:
 * the time returned is to be left out. */
static double bring_keys(struct sort *s)
{
    struct job *job = s->job;
    double begin = job_now(), made, untimed;

    s->before = (struct sums){ 0 };
    if (s->input >= 0) {
        read_keys(s);
        job->timer[T_MAKE_INPUT] = job_now() - begin;
        load_keys(job);
        return 0;
    }
    job_progress(job, "make keys", 0, 1);
    keys_isx(job->keys, job->n, s->max, job->pe, s->opts->seed);
    made = job_now();
    job->timer[T_MAKE_INPUT] = made - begin;
    keys_add(job->width, job->keys, job->n, &s->before);
    untimed = job_now() - made;
    load_keys(job);
    return untimed;
}

static bool split_keys(struct sort *s)
{
    double begin = job_now();
    bool ok;

    if (s->input < 0)
        return true;
    job_progress(s->job, "splitters", 0, 1);
    ok = split_find(s->job);
    s->job->timer[T_SPLIT] = job_now() - begin;
    return ok;
}

static void sort_table(struct job *job)
{
    double begin = job_now();
    int rc;

    job_progress(job, "local sort", 0, 1);
    if (job->on_device) {
        device_sort(job);
        return;
    }
    rc = radix_sort(job->width, job->table, job->keys, job->received,
                    job->threads);
    if (rc)
        job_error(job, E_MEMORY, "local sort with %d threads: %s",
                  job->threads, strerror(-rc));
    job->timer[T_LOCAL_SORT] = job_now() - begin;
}

static void exchange(struct sort *s, const struct variant *variant)
{
    struct job *job = s->job;

    shmem_longlong_p(job->cursor, 0, job->pe);
    shmem_barrier_all();        /* all cursors are reset, all keys are here */
    variant->run(job);
    shmem_barrier_all();
    job->received = (size_t)shmem_longlong_g(job->cursor, job->pe);
    if (job->received > job->capacity)
        job_error(job, E_TABLE, "%zu keys came for its table of %zu: raise "
                  "--table-factor from %g to %.2f", job->received,
                  job->capacity, s->opts->slack,
                  slack_for(s->opts, job->capacity, job->received));
}

/* ---------------------------------------------------------------- checks ---- */

/* The values that every PE publishes about its table. */
enum { W_BEFORE = 0, W_AFTER = 4, W_N = 8, W_MIN, W_MAX, W_FALL };

static void put_sums(uint64_t *words, const struct sums *sums)
{
    words[0] = sums->count;
    words[1] = sums->sum;
    words[2] = sums->squares;
    words[3] = sums->xored;
}

/* The range of a PE's keys: its bucket; for files, its number of keys. */
static void check_pe(struct job *job, int pe, const uint64_t *words)
{
    uint64_t low, high, want = job_share(job, pe + 1) - job_share(job, pe);
    char text[24];

    split_range(job, pe, &low, &high);
    if (words[W_FALL])
        job_error(job, E_VERIFY, "key %" PRIu64 " of PE %d is below the one "
                  "before it", words[W_FALL], pe);
    else if (words[W_N] && (words[W_MIN] < low || words[W_MAX] > high))
        job_error(job, E_VERIFY, "key %s is on PE %d, outside its bucket",
                  keys_text(job, words[W_MIN] < low ? words[W_MIN]
                                                    : words[W_MAX], text), pe);
    else if (job->opts->input && words[W_N] != want)
        job_error(job, E_VERIFY, "PE %d has %" PRIu64 " keys, not %" PRIu64,
                  pe, words[W_N], want);
}

static void check_all(struct job *job, const uint64_t (*all)[GATHER_WORDS])
{
    static const char *const name[] = { "number", "sum", "sum of squares",
                                        "xor" };
    uint64_t before[4] = { 0 }, after[4] = { 0 };
    const uint64_t *last = NULL;

    for (int pe = 0; pe < job->pes; pe++) {
        const uint64_t *words = all[pe];

        check_pe(job, pe, words);
        for (int i = 0; i < 4; i++) {
            before[i] = i == 3 ? before[i] ^ words[W_BEFORE + i]
                               : before[i] + words[W_BEFORE + i];
            after[i] = i == 3 ? after[i] ^ words[W_AFTER + i]
                              : after[i] + words[W_AFTER + i];
        }
        if (words[W_N] == 0)
            continue;
        if (last && last[W_MAX] > words[W_MIN])
            job_error(job, E_VERIFY, "PE %d begins with a key below the last "
                      "of an earlier PE", pe);
        last = words;
    }
    for (int i = 0; i < 4; i++)
        if (before[i] != after[i])
            job_error(job, E_VERIFY, "%s of all keys was %" PRIu64 " and is %"
                      PRIu64, name[i], before[i], after[i]);
    if (before[0] != job->total)
        job_error(job, E_VERIFY, "%" PRIu64 " keys were brought, not %" PRIu64,
                  before[0], job->total);
}

/* Collective: are all keys there, and in order?  False: printed. */
static bool verify(struct sort *s)
{
    struct job *job = s->job;
    uint64_t words[GATHER_WORDS] = { 0 };
    struct sums after = { 0 };
    size_t n = job->received, fall;

    keys_add(job->width, job->table, n, &after);
    fall = keys_fall(job->width, job->table, n);
    put_sums(words + W_BEFORE, &s->before);
    put_sums(words + W_AFTER, &after);
    words[W_N] = n;
    words[W_FALL] = fall < n ? fall : 0;
    if (n) {
        words[W_MIN] = keys_at(job->width, job->table, 0);
        words[W_MAX] = keys_at(job->width, job->table, n - 1);
    }
    check_all(job, share_gather(job, words));
    s->report.checked++;
    return !share_failed(job);
}

/* ---------------------------------------------------------------- output ---- */

/* Reads back what was written and compares it with the table. */
static void compare_output(struct sort *s)
{
    struct job *job = s->job;
    uint64_t first = job_share(job, job->pe);
    size_t width = (size_t)job->width;

    for (size_t at = 0; at < job->received; at += READ_KEYS) {
        size_t left = job->received - at, n = left < READ_KEYS ? left
                                                               : READ_KEYS;

        if (!io_read(job, s->out.fd, s->out.path, first + at, n, job->keys))
            return;
        if (memcmp(job->keys, (char *)job->table + at * width, n * width)) {
            job_error(job, E_OUTPUT, "%s: what was written at byte %zu reads "
                      "back different", s->out.path,
                      (size_t)(first + at) * width);
            return;
        }
        job_progress(job, "compare", at + n, job->received);
    }
}

static bool write_output(struct sort *s)
{
    struct job *job = s->job;
    double begin = job_now();
    uint64_t first = job_share(job, job->pe);
    size_t width = (size_t)job->width;
    bool ok = true;

    for (size_t at = 0; ok && at < job->received; at += READ_KEYS) {
        size_t left = job->received - at, n = left < READ_KEYS ? left
                                                               : READ_KEYS;

        ok = io_out_write(job, &s->out, first + at, n,
                          (char *)job->table + at * width);
        job_progress(job, "write", at + n, job->received);
    }
    if (ok)
        compare_output(s);
    if (!io_out_commit(job, &s->out))
        return false;
    s->report.output = s->opts->output;
    job->timer[T_WRITE_OUTPUT] = job_now() - begin;
    return true;
}

/* One round; false: an error, printed. */
static bool run_round(struct sort *s, const struct variant *variant, bool last)
{
    struct job *job = s->job;
    double begin, untimed;

    memset(job->timer, 0, sizeof(job->timer));
    shmem_barrier_all();
    begin = job_now();
    untimed = bring_keys(s);
    if (s->input >= 0 && share_failed(job))
        return false;
    if (!split_keys(s))
        return false;
    exchange(s, variant);
    if (share_failed(job))
        return false;
    sort_table(job);
    shmem_barrier_all();
    job->timer[T_TOTAL] = job_now() - begin - untimed;
    if (job->on_device)
        device_fetch(job);      /* for the checks */
    if (share_failed(job) || !verify(s))
        return false;
    return !last || !s->opts->output || write_output(s);
}

/* What the variant makes of the options. */
static void choose(struct job *job, const struct variant *variant)
{
    const struct opts *o = job->opts;
    struct device *d = job->device;

    job->threads = !variant->threaded ? 1
                 : o->threads ? o->threads : default_threads(job);
    job->streams = variant->streams ? o->streams : 1;
    job->on_device = variant->device || device_stages(job);
    job->bucket_device = variant->device;
    job->table_place = variant->device && o->table != PLACE_HOST
                     ? PLACE_DEVICE : PLACE_HOST;
    job->slot_keys = 0;
    job->slot_bytes = job->over_keys = 0;
    job->cursor = variant->device && d->cursor ? d->cursor : job->cursor_host;
}

static bool run_variant(struct sort *s, const struct variant *variant,
                        bool last)
{
    struct job *job = s->job;
    int burn_in = s->input < 0, rounds = burn_in + s->opts->iterations;
    bool ok;

    choose(job, variant);
    job->progress.variant = variant->name;
    job->progress.iterations = rounds;
    variant->open(job);
    ok = !share_failed(job);
    for (int i = 0; ok && i < rounds; i++) {
        job->progress.iteration = i + 1;
        ok = run_round(s, variant, last && i == rounds - 1);
        if (ok && i >= burn_in)
            report_round(&s->report);
    }
    variant->close(job);
    if (ok)
        report_row(&s->report, variant);
    return ok;
}

int sort_main(struct job *job)
{
    struct sort s = { .job = job, .opts = job->opts, .input = -1,
                      .out = { .fd = -1 } };
    const char *json = job->opts->json;
    unsigned todo = job->opts->variants;
    bool ok = set_up(&s);

    if (ok)
        report_open(job, job->opts->iterations, &s.report);
    if (ok && device_wanted(job->opts)) {
        device_open(job);
        ok = job->code == E_NONE;
    }
    if (ok && job->pe == 0 && json && strcmp(json, "-") != 0)
        io_report_check(job, json);
    ok = ok && !share_failed(job);
    for (int i = 0; ok && i < variants_count; i++) {
        if (!(todo >> i & 1))
            continue;
        todo &= ~(1u << i);
        ok = run_variant(&s, &variants[i], todo == 0);
    }
    job_progress_end(job);
    if (ok && job->pe == 0)
        report_print(&s.report);
    if (ok)
        ok = !share_failed(job);
    io_out_discard(&s.out);
    report_close(&s.report);
    device_close(job);
    split_free(job->split);
    job_unmap(job->keys, s.keys_bytes);
    shmem_free(job->table);
    return ok ? 0 : 1;
}

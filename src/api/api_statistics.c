/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of SHMEM_STATS about the program's calls: PE 0 collects the
 * profiles of all PEs and prints a table, or writes a file.  Called once, by
 * all PEs, in shmem_finalize; counts nothing itself (base/profile.c). */
#include "api/api.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/json.h"
#include "base/profile.h"
#include "base/trace.h"
#include "core/core_rma.h"
#include "heap/heap.h"
#include "xport/xport_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char call[] = "shmem_finalize";

/* Of a PE, in symmetric memory while PE 0 reads it. */
enum { CALLS = 128, SITES = 16 };
struct table {
    uint64_t n_calls, n_sites, lost;
    struct profile_row calls[CALLS], sites[SITES];
};

/* A row of the job's: the numbers of each PE, 0 where it has no such row. */
enum number { COUNT, BYTES, TIME, WAITED, NUMBERS };
struct total {
    struct profile_row row;     /* its names, and the sums */
    uint64_t *of_pe[NUMBERS];
};
struct totals {
    struct total *at;
    unsigned n, room;
};
struct job {
    struct totals calls, sites;
    uint64_t lost;
    int n_pes;
};

/* ---- all PEs' rows together ---- */

static struct total *total_of(struct totals *t, const struct profile_row *r,
                              int n_pes)
{
    struct total *new;

    for (unsigned i = 0; i < t->n; i++)
        if (t->at[i].row.peers == r->peers && !strcmp(t->at[i].row.call, r->call)
            && !strcmp(t->at[i].row.site, r->site))
            return &t->at[i];
    if (t->n == t->room) {
        new = realloc(t->at, (t->room + 64) * sizeof *new);
        if (!new)
            return NULL;
        t->at = new;
        t->room += 64;
    }
    new = &t->at[t->n];
    memset(new, 0, sizeof *new);
    new->of_pe[0] = calloc((size_t)n_pes, NUMBERS * sizeof(uint64_t));
    if (!new->of_pe[0])
        return NULL;
    for (int i = 1; i < NUMBERS; i++)
        new->of_pe[i] = new->of_pe[0] + i * n_pes;
    memcpy(new->row.call, r->call, sizeof r->call);
    memcpy(new->row.site, r->site, sizeof r->site);
    new->row.peers = r->peers;
    t->n++;
    return new;
}

/* A name may stand in several rows of a PE. */
static bool add_rows(struct totals *t, const struct profile_row *r, uint64_t n,
                     int pe, int n_pes)
{
    for (uint64_t i = 0; i < n; i++, r++) {
        const uint64_t v[NUMBERS] = { r->count, r->bytes, r->ns, r->waited_ns };
        struct total *to = total_of(t, r, n_pes);

        if (!to)
            return false;
        for (int k = 0; k < NUMBERS; k++)
            to->of_pe[k][pe] += v[k];
        to->row.count += r->count;
        to->row.bytes += r->bytes;
        to->row.ns += r->ns;
        to->row.waited_ns += r->waited_ns;
        if (r->most_ns > to->row.most_ns)
            to->row.most_ns = r->most_ns;
    }
    return true;
}

static int longest_first(const void *a, const void *b)
{
    const struct total *x = a, *y = b;

    return x->row.ns < y->row.ns ? 1 : x->row.ns > y->row.ns ? -1
           : strcmp(x->row.call, y->row.call);
}

static void sort(struct totals *t)
{
    if (t->n)                   /* else there may be no array */
        qsort(t->at, t->n, sizeof *t->at, longest_first);
}

static bool collect(const struct table *own, struct job *j)
{
    struct table *t = malloc(sizeof *t);
    bool ok = t != NULL;

    for (int pe = 0; ok && pe < j->n_pes; pe++) {
        core_get_any(t, own, sizeof *t, pe, call, &core_ctx_inner);
        ok = add_rows(&j->calls, t->calls, t->n_calls, pe, j->n_pes) &&
             add_rows(&j->sites, t->sites, t->n_sites, pe, j->n_pes);
        j->lost += t->lost;
    }
    free(t);
    sort(&j->calls);
    sort(&j->sites);
    return ok;
}

static void release(struct totals *t)
{
    for (unsigned i = 0; i < t->n; i++)
        free(t->at[i].of_pe[0]);
    free(t->at);
}

/* Of the PEs' numbers, which it sorts. */
struct spread {
    uint64_t least, median, most;
};

static int smallest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static struct spread spread_of(uint64_t *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, smallest_first);
    return (struct spread){ v[0], v[(n - 1) / 2], v[n - 1] };
}

/* ---- the table ---- */

enum { ROWS = 24, TOP = 10, COLUMN = 64 };
static const char *const peers_names[PROFILE_PEERS] = {
    "-", "itself", "node", "network"
};

/* "3", or "1/2/4". */
static const char *print_whole(uint64_t *v, int n, char *out)
{
    struct spread s = spread_of(v, n);

    if (s.least == s.most)
        snprintf(out, COLUMN, "%lu", (unsigned long)s.most);
    else
        snprintf(out, COLUMN, "%lu/%lu/%lu", (unsigned long)s.least,
                 (unsigned long)s.median, (unsigned long)s.most);
    return out;
}

/* Milliseconds, with more digits for small values. */
static int print_ms(char *out, uint64_t ns)
{
    double ms = (double)ns / 1e6;

    return snprintf(out, 24, "%.*f", ms < 10 ? 3 : ms < 1000 ? 1 : 0, ms);
}

static const char *print_times(uint64_t *v, int n, char *out)
{
    struct spread s = spread_of(v, n);
    int len;

    if (!s.most)
        return "0";
    len = print_ms(out, s.least);
    if (s.least == s.most)
        return out;
    out[len++] = '/';
    len += print_ms(out + len, s.median);
    out[len++] = '/';
    print_ms(out + len, s.most);
    return out;
}

static void print_call(struct total *t, int n_pes)
{
    char count[COLUMN], bytes[COLUMN], time[COLUMN], waited[COLUMN];

    log_print("%-32s %-7s %-20s %-24s %-20s %-20s %.1f", t->row.call,
              peers_names[t->row.peers % PROFILE_PEERS],
              print_whole(t->of_pe[COUNT], n_pes, count),
              print_whole(t->of_pe[BYTES], n_pes, bytes),
              print_times(t->of_pe[TIME], n_pes, time),
              print_times(t->of_pe[WAITED], n_pes, waited),
              (double)t->row.most_ns / 1e3);
}

static void print_site(const struct total *t)
{
    char time[24];

    print_ms(time, t->row.ns);
    log_print("%s: %s, about %lu calls, %s ms", t->row.site, t->row.call,
              (unsigned long)t->row.count, time);
}

static void print_job(struct job *j)
{
    uint64_t ns = 0;
    char time[24];

    if (!j->calls.n)
        return;
    log_print("calls of %d PE%s; a/b/c: least, median and most of a PE",
              j->n_pes, j->n_pes == 1 ? "" : "s");
    log_print("%-32s %-7s %-20s %-24s %-20s %-20s %s", "call", "of PE", "count",
              "bytes", "time, ms", "waiting, ms", "longest, us");
    for (unsigned i = 0; i < j->calls.n; i++)
        if (i < ROWS)
            print_call(&j->calls.at[i], j->n_pes);
        else
            ns += j->calls.at[i].row.ns;
    print_ms(time, ns);
    if (j->calls.n > ROWS)
        log_print("and %u more rows with %s ms: SHMEM_STATS=FILE.json has all",
                  j->calls.n - ROWS, time);
    if (j->lost)
        log_print("%lu calls were not counted: too many kinds",
                  (unsigned long)j->lost);
    if (j->sites.n)
        log_print("places of the program with the longest calls, sampled:");
    for (unsigned i = 0; i < j->sites.n && i < TOP; i++)
        print_site(&j->sites.at[i]);
}

/* ---- the file ---- */

static void write_spread(struct json *to, const char *key, uint64_t *v, int n)
{
    struct spread s = spread_of(v, n);

    json_object(to, key);
    json_number(to, "min", s.least);
    json_number(to, "median", s.median);
    json_number(to, "max", s.most);
    json_close_object(to);
}

static void write_row(struct json *to, struct total *t, int n_pes)
{
    json_object(to, NULL);
    json_text(to, "call", t->row.call);
    if (t->row.site[0])
        json_text(to, "site", t->row.site);
    else
        json_text(to, "peers", peers_names[t->row.peers % PROFILE_PEERS]);
    json_number(to, "count", t->row.count);
    json_number(to, "bytes", t->row.bytes);
    json_number(to, "time_ns", t->row.ns);
    json_number(to, "waiting_ns", t->row.waited_ns);
    json_number(to, "longest_ns", t->row.most_ns);
    if (!t->row.site[0]) {
        json_object(to, "per_pe");
        write_spread(to, "count", t->of_pe[COUNT], n_pes);
        write_spread(to, "bytes", t->of_pe[BYTES], n_pes);
        write_spread(to, "time_ns", t->of_pe[TIME], n_pes);
        write_spread(to, "waiting_ns", t->of_pe[WAITED], n_pes);
        json_close_object(to);
    }
    json_close_object(to);
}

static void write_rows(struct json *to, const char *key, struct totals *t,
                       int n_pes)
{
    json_list(to, key);
    for (unsigned i = 0; i < t->n; i++)
        write_row(to, &t->at[i], n_pes);
    json_close_list(to);
}

/* A process may start the library again, and each time has a file. */
static void write_job(struct job *j)
{
    char path[TRACE_PATH];
    struct json to = { .to = NULL };
    bool ok;

    trace_name(path, env.STATS.file, trace_run());
    to.to = fopen(path, "we");
    ok = to.to != NULL;

    if (ok) {
        json_object(&to, NULL);
        json_number(&to, "pes", (uint64_t)j->n_pes);
        json_number(&to, "calls_not_counted", j->lost);
        write_rows(&to, "calls", &j->calls, j->n_pes);
        write_rows(&to, "sites", &j->sites, j->n_pes);
        json_close_object(&to);
        ok = !ferror(to.to);
        ok &= !fclose(to.to);
    }
    if (!ok)
        log_warn(ERR_STATS, "SHMEM_STATS: the statistics of calls are not "
                 "written: %s: %m", path);
}

/* ---- finalize ---- */

static void report(const struct table *own)
{
    struct job j = { .n_pes = core_world.n_pes };

    if (!collect(own, &j))
        log_warn(ERR_STATS, "SHMEM_STATS: no memory for the calls of %d PEs",
                 j.n_pes);
    else if (env.STATS.file)
        write_job(&j);
    else
        print_job(&j);
    release(&j.calls);
    release(&j.sites);
}

static void exchange(void)
{
    const struct api_request r = { .space = &heap_default,
                                   .size = sizeof(struct table) };
    struct table *t = api_allocate(call, &r, NULL);

    if (!t) {                   /* on no PE */
        if (core_world.my_pe == 0)
            log_warn(ERR_STATS, "SHMEM_STATS: the statistics of calls need %zu "
                     "bytes of the symmetric heap of each PE at finalize, "
                     "which are not free", r.size);
        return;
    }
    t->n_calls = profile_calls(t->calls, CALLS, &t->lost);
    t->n_sites = profile_sites(t->sites, SITES);
    coll_sync(&core_world);
    if (core_world.my_pe == 0)
        report(t);
    coll_sync(&core_world);
    heap_free(t);
}

/* The row of shmem_finalize ends with the wait for all PEs. */
void api_statistics_of_calls(void)
{
    if (!env.STATS.on)
        return;
    xport_stats_pause(true);
    coll_sync(&core_world);
    profile_leave(clock_ns());
    exchange();
    xport_stats_pause(false);
}

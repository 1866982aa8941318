/* SPDX-License-Identifier: BSD-3-Clause */
/* osu.c - start, options, buffers and end of the OSU-style programs. */
#include "osu.h"
#include "osu_int.h"

#include <errno.h>
#include <getopt.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The largest -m, in units of the default. */
enum { OSU_MOST_TIMES = 4 };

/* The defaults of OSU's loops, by kind. */
static const struct kind {
    size_t max;
    int iters, skip, iters_large, skip_large;
    size_t large;                   /* the first size with the large counts */
} kinds[] = {
    [OSU_LATENCY] = { OSU_LAT_MAX, 10000, 1000, 100, 0, OSU_LARGE + 1 },
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

static bool has_memory(const struct osu *o)
{
    return o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_COLLECTIVE;
}

static bool has_sizes(const struct osu *o)
{
    return o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_ATOMIC;
}

static void help(const struct osu *o)
{
    const struct kind *k = &kinds[o->prog->kind];

    printf("Usage: %s%s [options]\n", o->prog->name,
           has_memory(o) ? " heap|global" : "");
    if (has_sizes(o))
        printf("  -m, --message-size [MIN:]MAX  message sizes in bytes "
               "(1:%zu), at most\n                       %zu; k and m are "
               "1024 and 1024^2\n", k->max, k->max * OSU_MOST_TIMES);
    printf("  -i, --iterations N   timed iterations (%d; %d for large "
           "messages)\n", k->iters, k->iters_large);
    if (o->prog->kind == OSU_RATE)
        printf("  -x, --warmup N       puts of the largest size before the "
               "first row (%d)\n", k->skip);
    else
        printf("  -x, --warmup N       warm-up iterations (%d; %d for large "
               "messages)\n", k->skip, k->skip_large);
    puts("  -f, --full           smallest, largest value and iterations too\n"
         "  -c, --validation     check the data in a second, untimed pass\n"
         "  -T, --tail           50th and 99th percentile of single "
         "operations\n"
         "      --precision N    digits after the point (2)\n"
         "      --json           one JSON object instead of the table\n"
         "  -h, --help           this text\n"
         "  -v, --version        the version whose loops and format these are");
}

/* Reads a whole number of least..most.  Returns false on anything else. */
static bool number(const char *text, long long least, long long most,
                   long long *out)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end || errno || v < least || v > most)
        return false;
    *out = v;
    return true;
}

/* The same with k or m for 1024 or 1024^2, of at most len characters. */
static bool size(const char *text, size_t len, long long most, long long *out)
{
    char digits[32];
    int shift;

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    shift = strchr("kK", digits[len - 1]) ? 10
          : strchr("mM", digits[len - 1]) ? 20 : 0;
    if (shift)
        digits[len - 1] = '\0';
    if (!number(digits, 1, most >> shift, out))
        return false;
    *out <<= shift;
    return true;
}

static int bad(const struct osu *o, const char *what, const char *text,
               const char *wanted);

/* "MAX", "MIN:" or "MIN:MAX"; 0, or 1 after printing what is wrong. */
static int sizes(struct osu *o, const char *text, long long most)
{
    const char *colon = strchr(text, ':');
    long long min = 1, max = most;
    char wanted[96];
    bool good;

    if (!colon)
        good = size(text, strlen(text), most, &max);
    else
        good = size(text, (size_t)(colon - text), most, &min) &&
               (!colon[1] || size(colon + 1, strlen(colon + 1), most, &max));
    if (!good) {
        snprintf(wanted, sizeof wanted, "want [MIN:]MAX in bytes, each from 1 "
                 "to %lld, k and m allowed", most);
        return bad(o, "-m", text, wanted);
    }
    if (min > max)
        return bad(o, "-m", text, "MIN is above MAX");
    o->min = (size_t)min;
    o->max = (size_t)max;
    return 0;
}

static int bad(const struct osu *o, const char *what, const char *text,
               const char *wanted)
{
    if (o->pe == 0)
        fprintf(stderr, "%s: %s %s: %s; try -h\n", o->prog->name, what, text,
                wanted);
    return 1;
}

enum { LONG_PRECISION = 256, LONG_JSON };

/* One option.  Returns 0, or 1 after printing what is wrong, or 2 for an
 * option that only prints. */
static int option(struct osu *o, int c, char *const *argv)
{
    long long v = 0;

    switch (c) {
    case 'm':
        if (!has_sizes(o))
            return bad(o, "option", "-m", "this program has no sizes");
        return sizes(o, optarg, (long long)kinds[o->prog->kind].max *
                                OSU_MOST_TIMES);
    case 'i':
        if (!number(optarg, 1, o->prog->kind == OSU_ATOMIC ? OSU_ATOMIC_MAX
                                                           : 100000000, &v))
            return bad(o, "-i", optarg, "want a number of iterations from 1");
        o->iters_opt = (int)v;
        return 0;
    case 'x':
        if (!number(optarg, 0, o->prog->kind == OSU_ATOMIC ? OSU_ATOMIC_MAX
                                                           : 100000000, &v))
            return bad(o, "-x", optarg, "want a number of warm-up iterations");
        o->skip_opt = (int)v;
        return 0;
    case LONG_PRECISION:
        if (!number(optarg, 0, 9, &v))
            return bad(o, "--precision", optarg, "want 0 to 9 digits");
        o->precision = (int)v;
        return 0;
    case 'f':
        o->full = true;
        return 0;
    case 'c':
        o->check = true;
        return 0;
    case 'T':
        if (o->prog->kind != OSU_LATENCY && o->prog->kind != OSU_BARRIER)
            return bad(o, "option", "-T", "this program times no single "
                       "operations");
        o->tail = true;
        return 0;
    case LONG_JSON:
        o->json = true;
        return 0;
    case 'h':
        if (o->pe == 0)
            help(o);
        return 2;
    case 'v':
        if (o->pe == 0)
            printf("# %s v" OSU_VERSION "\n", o->prog->title);
        return 2;
    default:
        return bad(o, "option", argv[optind - 1],
                   c == ':' ? "its value is missing" : "unknown");
    }
}

static int arguments(struct osu *o, int argc, char **argv)
{
    static const struct option longs[] = {
        { "message-size", required_argument, NULL, 'm' },
        { "iterations", required_argument, NULL, 'i' },
        { "warmup", required_argument, NULL, 'x' },
        { "full", no_argument, NULL, 'f' },
        { "validation", no_argument, NULL, 'c' },
        { "tail", no_argument, NULL, 'T' },
        { "precision", required_argument, NULL, LONG_PRECISION },
        { "json", no_argument, NULL, LONG_JSON },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' },
        { NULL, 0, NULL, 0 },
    };
    int c, rc;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":m:i:x:fcThv", longs, NULL)) != -1) {
        rc = option(o, c, argv);
        if (rc)
            return rc;
    }
    if (has_memory(o)) {
        if (optind == argc)
            return bad(o, "argument", "missing", "say heap or global");
        if (strcmp(argv[optind], "heap") && strcmp(argv[optind], "global"))
            return bad(o, "argument", argv[optind], "say heap or global");
        o->heap = !strcmp(argv[optind++], "heap");
    }
    if (optind < argc)
        return bad(o, "argument", argv[optind], "not expected");
    return 0;
}

static int wrong_pes(const struct osu *o)
{
    bool two = o->prog->kind == OSU_LATENCY || o->prog->kind == OSU_BANDWIDTH;

    if (two ? o->npes == 2 : o->npes >= 2)
        return 0;
    if (o->pe == 0)
        fprintf(stderr, "%s: started with %d PE%s: %s 2 are needed, as in "
                "oshrun -n 2 %s\n", o->prog->name, o->npes,
                o->npes == 1 ? "" : "s", two ? "exactly" : "at least",
                o->prog->name);
    return 1;
}

static size_t bytes_needed(const struct osu *o)
{
    switch (o->prog->kind) {
    case OSU_RATE:
        return osu_rate_span(o) + OSU_GUARD;
    case OSU_LATENCY:
        return o->max + OSU_GUARD;
    default:
        return o->prog->bytes;
    }
}

/* Heap buffers begin on a page, as OSU's do. */
static int buffers(struct osu *o)
{
    const struct osu_prog *p = o->prog;
    size_t bytes = bytes_needed(o);

    if (p->kind == OSU_COLLECTIVE)
        bytes = o->max * (size_t)o->npes;
    else if (!p->dst)
        return 0;
    else if (!o->heap) {
        if (bytes > p->bytes)
            return bad(o, "-m", "MAX", "larger than the global buffers");
        o->src = p->src;
        o->dst = p->dst;
        return 0;
    }
    o->dst = o->dst_heap = shmem_align(4096, bytes);
    o->src = o->dst;
    if (p->src != p->dst || p->kind == OSU_COLLECTIVE)
        o->src = o->src_heap = shmem_align(4096, bytes);
    if (o->src && o->dst)
        return 0;
    if (o->pe == 0)
        fprintf(stderr, "%s: no room for buffers of %zu bytes in the "
                "symmetric heap: set SHMEM_SYMMETRIC_SIZE or a smaller -m\n",
                p->name, bytes);
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
    o->max = kinds[prog->kind].max;
    o->iters_opt = o->skip_opt = -1;
    rc = arguments(o, argc, argv);
    if (!rc)
        rc = wrong_pes(o);
    if (!rc)
        rc = buffers(o);
    o->status = rc == 1 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (rc)
        return rc;
    osu_begin(o, 1);
    osu_print_header(o);
    return 0;
}

/* PE 0 knows of failed checks; its status is that of the job. */
int osu_close(struct osu *o)
{
    if (o->rows)
        osu_print_end(o);
    fflush(stdout);
    shmem_barrier_all();
    if (o->src_heap)
        shmem_free(o->src_heap);
    if (o->dst_heap)
        shmem_free(o->dst_heap);
    shmem_finalize();
    return o->status;
}

void osu_begin(struct osu *o, size_t n)
{
    const struct kind *k = &kinds[o->prog->kind];
    bool large = n >= k->large;

    o->iters = large ? k->iters_large : k->iters;
    o->skip = large ? k->skip_large : k->skip;
    if (o->iters_opt > 0)
        o->iters = o->iters_opt;
    if (o->skip_opt >= 0)
        o->skip = o->skip_opt;
    switch (o->prog->kind) {
    case OSU_LATENCY:
        memset(o->src, 'a', n);
        memset(o->dst, 'b', n);
        break;
    case OSU_BANDWIDTH:
        memset(o->src, 'a', bytes_needed(o));
        memset(o->dst, 'b', bytes_needed(o));
        break;
    case OSU_COLLECTIVE:
        memset(o->src, 0, n);
        memset(o->dst, 0, n * (size_t)o->npes);
        break;
    case OSU_RATE:
        memset(o->dst, (int)(n & 0xff), bytes_needed(o));
        break;
    default:
        break;
    }
    shmem_barrier_all();
}

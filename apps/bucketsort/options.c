/* SPDX-License-Identifier: BSD-3-Clause */
#include "bucketsort.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_FROM = 10000 };        /* small numbers are typed out */
enum { CHUNK_KEYS = 1 << 20, CHUNK_MIN = 64, CHUNK_MAX = 1 << 30 };

enum opt {
    O_MODE, O_KEYS, O_INPUT, O_TYPE, O_OUTPUT, O_GENERATE, O_VERIFY_FILE,
    O_AGAINST, O_COUNT, O_DIST, O_SEED, O_VARIANT, O_THREADS, O_STREAMS,
    O_LOCAL, O_TABLE, O_COUNTERS, O_CHUNK,
    O_ITERATIONS, O_TABLE_FACTOR, O_JSON, O_PROGRESS, O_VERBOSE, O_HELP, OPTS
};

#define BIT(opt) (1u << (opt))

/* What each task takes besides the options of all tasks. */
enum {
    SORTS = BIT(O_VARIANT) | BIT(O_THREADS) | BIT(O_STREAMS) | BIT(O_LOCAL) |
            BIT(O_TABLE) | BIT(O_COUNTERS) | BIT(O_CHUNK) | BIT(O_JSON) |
            BIT(O_ITERATIONS) | BIT(O_VERBOSE),
    ALWAYS = BIT(O_PROGRESS) | BIT(O_HELP)
};

static const struct task_opts {
    const char *name;
    unsigned takes, needs;
} task_opts[] = {
    [TASK_MADE] = { "made keys", SORTS | BIT(O_MODE) | BIT(O_KEYS) |
                    BIT(O_SEED) | BIT(O_TABLE_FACTOR), 0 },
    [TASK_FILE] = { "--input", SORTS | BIT(O_INPUT) | BIT(O_TYPE) |
                    BIT(O_OUTPUT) | BIT(O_COUNT), BIT(O_TYPE) },
    [TASK_GENERATE] = { "--generate", BIT(O_GENERATE) | BIT(O_TYPE) |
                        BIT(O_COUNT) | BIT(O_DIST) | BIT(O_SEED),
                        BIT(O_TYPE) | BIT(O_COUNT) },
    [TASK_VERIFY] = { "--verify-file", BIT(O_VERIFY_FILE) | BIT(O_TYPE) |
                      BIT(O_AGAINST) | BIT(O_COUNT), BIT(O_TYPE) },
};

static const struct option {
    const char *name;
    char letter;
    bool value;
} options[OPTS] = {
    [O_MODE] = { "mode", 0, true },
    [O_KEYS] = { "keys", 0, true },
    [O_INPUT] = { "input", 0, true },
    [O_TYPE] = { "type", 0, true },
    [O_OUTPUT] = { "output", 'o', true },
    [O_GENERATE] = { "generate", 0, true },
    [O_VERIFY_FILE] = { "verify-file", 0, true },
    [O_AGAINST] = { "against", 0, true },
    [O_COUNT] = { "count", 0, true },
    [O_DIST] = { "dist", 0, true },
    [O_SEED] = { "seed", 0, true },
    [O_VARIANT] = { "variant", 0, true },
    [O_THREADS] = { "threads", 0, true },
    [O_STREAMS] = { "streams", 0, true },
    [O_LOCAL] = { "local", 0, true },
    [O_TABLE] = { "table", 0, true },
    [O_COUNTERS] = { "counters", 0, true },
    [O_CHUNK] = { "chunk", 0, true },
    [O_ITERATIONS] = { "iterations", 'i', true },
    [O_TABLE_FACTOR] = { "table-factor", 0, true },
    [O_JSON] = { "json", 0, true },
    [O_PROGRESS] = { "progress", 0, false },
    [O_VERBOSE] = { "verbose", 'v', false },
    [O_HELP] = { "help", 'h', false },
};

void options_help(void)
{
    fputs(
"bucketsort: distributed bucket sort; start it with oshrun -n PES.\n"
"\n"
"Sort keys made by the rules of the ISx benchmark, and say how fast:\n"
"  --mode strong|weak|weak_iso  keys are of all PEs | of each | and the\n"
"                             range grows with the PEs (weak)\n"
"  --keys N                   so many (strong 32m, else 8m)\n"
"  --seed S                   other keys than ISx's (0)\n"
"  --table-factor F           room of a table over its mean need (1.3)\n"
"Sort a file of binary keys, native byte order:\n"
"  --input FILE --type i32|u32|i64|u64\n"
"  -o, --output FILE          write them sorted\n"
"  --count N                  refuse a file with another number of keys\n"
"Both:\n"
"  --variant A,B|all          how keys are exchanged:\n", stdout);
    for (int i = 0; i < variants_count; i++)
        printf("      %-22s %s\n", variants[i].name, variants[i].about);
    fputs(
"  --threads T                threads of the threaded variants (cores per\n"
"                             PE, at least 2)\n"
"  --streams K                streams of GA_HI_Stream (2)\n"
"  --local host|device        where keys of HA_ variants are, are bucketed and\n"
"                             sorted (device beside GA_ variants, else host)\n"
"  --table device|host        where GA_ variants have the table (device)\n"
"  --counters host|device     and the counter of its keys (host)\n"
"  --chunk N                  keys bucketed and sent at a time (1m)\n"
"  -i, --iterations N         timed rounds after an untimed one (3; file: 1\n"
"                             and none untimed)\n"
"  -v, --verbose              all timers\n"
"  --json [FILE]              results; without FILE, in place of the table\n"
"Other tasks:\n"
"  --generate FILE --type T --count N [--seed S] [--dist uniform|gauss|zipf|\n"
"              sorted|reverse|equal|few|extremes]\n"
"  --verify-file FILE --type T [--against FILE] [--count N]\n"
"                             is it sorted, with the same keys as the other?\n"
"Always:\n"
"  --progress                 progress lines, also without a terminal\n"
"  -h, --help                 this text\n"
"Numbers may end in k, m or g (1024, 1024^2, 1024^3).\n", stdout);
}

static bool refuse(char error[ERROR_TEXT], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(char error[ERROR_TEXT], const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(error, ERROR_TEXT, fmt, args);
    va_end(args);
    job_one_line(error);
    return false;
}

/* A whole number, with k, m or g, in [least, most]. */
static bool number(const char *name, const char *text, uint64_t least,
                   uint64_t most, uint64_t *out, char error[ERROR_TEXT])
{
    unsigned long long value;
    int shift = 0;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (end > text && *end) {
        const char *unit = strchr("kKmMgG", *end);

        if (unit) {
            shift = 10 * (int)((strchr("kkmmgg", *unit | 32) - "kkmmgg") / 2 +
                               1);
            end++;
        }
    }
    if (text[0] < '0' || text[0] > '9' || *end || errno ||
        value > UINT64_MAX >> shift || value << shift < least ||
        value << shift > most)
        return refuse(error, "--%s %s: say a number from %llu to %llu%s", name,
                      text, (unsigned long long)least,
                      (unsigned long long)most,
                      most > UNITS_FROM ? ", k, m, g allowed" : "");
    *out = (uint64_t)value << shift;
    return true;
}

/* The index of word among names that name_of() gives from `from` on, or -1. */
static int find(const char *word, const char *(*name_of)(int), int from)
{
    for (int i = from; name_of(i); i++)
        if (strcmp(word, name_of(i)) == 0)
            return i;
    return -1;
}

static bool variant_list(const char *list, unsigned *out, bool *all,
                         char error[ERROR_TEXT])
{
    unsigned set = 0;

    *all = strcmp(list, "all") == 0;
    if (*all) {
        *out = (1u << variants_count) - 1;
        return true;
    }
    for (const char *at = list; at;) {
        const char *comma = strchr(at, ',');
        size_t n = comma ? (size_t)(comma - at) : strlen(at);
        int i = 0;

        while (i < variants_count && (strlen(variants[i].name) != n ||
                                      strncmp(variants[i].name, at, n)))
            i++;
        if (i == variants_count)
            return refuse(error, "--variant %s: no variant '%.*s'; --help "
                          "lists them", list, (int)n, at);
        set |= 1u << i;
        at = comma ? comma + 1 : NULL;
    }
    *out = set;
    return true;
}

static bool factor(const char *text, double *out, char error[ERROR_TEXT])
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value > 0 && value <= 1000))
        return refuse(error, "--table-factor %s: say a number above 0, at "
                      "most 1000", text);
    *out = value;
    return true;
}

static bool path(const char *name, const char *text, const char **out,
                 char error[ERROR_TEXT])
{
    if (!text[0])
        return refuse(error, "--%s: the name of the file is empty", name);
    *out = text;
    return true;
}

static bool place(const char *name, const char *text, enum place *out,
                  char error[ERROR_TEXT])
{
    int i = find(text, job_place_name, PLACE_HOST);

    if (i < 0)
        return refuse(error, "--%s %s: say host or device", name, text);
    *out = (enum place)i;
    return true;
}

static bool word_option(enum opt opt, const char *text, struct opts *o,
                        char error[ERROR_TEXT])
{
    int i;

    switch (opt) {
    case O_MODE:
        i = find(text, job_mode_name, 0);
        if (i < 0)
            return refuse(error, "--mode %s: say strong, weak or weak_iso",
                          text);
        o->mode = (enum mode)i;
        return true;
    case O_TYPE:
        i = find(text, job_type_name, TYPE_NONE + 1);
        if (i < 0)
            return refuse(error, "--type %s: say i32, u32, i64 or u64", text);
        o->type = (enum type)i;
        return true;
    default:
        i = find(text, job_dist_name, 0);
        if (i < 0)
            return refuse(error, "--dist %s: say uniform, gauss, zipf, sorted, "
                          "reverse, equal, few or extremes", text);
        o->dist = (enum dist)i;
        return true;
    }
}

static bool number_option(enum opt opt, const char *text, struct opts *o,
                          char error[ERROR_TEXT])
{
    const char *name = options[opt].name;
    uint64_t value;

    switch (opt) {
    case O_KEYS:
        return number(name, text, 1, UINT64_C(1) << 40, &o->keys, error);
    case O_COUNT:
        return number(name, text, 0, UINT64_C(1) << 50, &o->count, error);
    case O_SEED:
        return number(name, text, 0, UINT64_MAX, &o->seed, error);
    case O_CHUNK:
        return number(name, text, CHUNK_MIN, CHUNK_MAX, &o->chunk, error);
    case O_THREADS:
        if (!number(name, text, 1, THREADS_MAX, &value, error))
            return false;
        o->threads = (int)value;
        return true;
    case O_STREAMS:
        if (!number(name, text, 1, STREAMS_MAX, &value, error))
            return false;
        o->streams = (int)value;
        return true;
    default:
        if (!number(name, text, 1, 10000, &value, error))
            return false;
        o->iterations = (int)value;
        return true;
    }
}

static bool set_option(enum opt opt, const char *text, struct opts *o,
                       char error[ERROR_TEXT])
{
    const char *name = options[opt].name;

    switch (opt) {
    case O_INPUT:        return path(name, text, &o->input, error);
    case O_OUTPUT:       return path(name, text, &o->output, error);
    case O_GENERATE:     return path(name, text, &o->generate, error);
    case O_VERIFY_FILE:  return path(name, text, &o->verify, error);
    case O_AGAINST:      return path(name, text, &o->against, error);
    case O_JSON:         return path(name, text, &o->json, error);
    case O_VARIANT:      return variant_list(text, &o->variants, &o->all, error);
    case O_LOCAL:        return place(name, text, &o->local, error);
    case O_TABLE:        return place(name, text, &o->table, error);
    case O_COUNTERS:     return place(name, text, &o->counters, error);
    case O_TABLE_FACTOR: return factor(text, &o->slack, error);
    case O_MODE: case O_TYPE: case O_DIST:
        return word_option(opt, text, o, error);
    case O_PROGRESS:     o->progress = true; return true;
    case O_VERBOSE:      o->verbose = true; return true;
    case O_HELP:         o->help = true; return true;
    default:
        return number_option(opt, text, o, error);
    }
}

/* The option that an argument names; its value if after a = sign. */
static int find_option(const char *arg, const char **value)
{
    *value = NULL;
    for (int i = 0; i < OPTS; i++) {
        size_t n = strlen(options[i].name);

        if (options[i].letter && arg[1] == options[i].letter && !arg[2])
            return i;
        if (arg[1] != '-' || strncmp(arg + 2, options[i].name, n))
            continue;
        if (arg[2 + n] == '=' && options[i].value)
            *value = arg + 3 + n;
        else if (arg[2 + n])
            continue;
        return i;
    }
    return -1;
}

/* The task follows from the options given; do they go together? */
static bool complete_options(unsigned given, struct opts *o,
                             char error[ERROR_TEXT])
{
    const struct task_opts *t;
    unsigned other, set = 0;

    o->task = o->input ? TASK_FILE : o->generate ? TASK_GENERATE
            : o->verify ? TASK_VERIFY : TASK_MADE;
    t = &task_opts[o->task];
    other = given & ~(t->takes | ALWAYS);
    if (other)
        return refuse(error, "--%s does not go with %s",
                      options[__builtin_ctz(other)].name, t->name);
    if (t->needs & ~given)
        return refuse(error, "%s needs --%s", t->name,
                      options[__builtin_ctz(t->needs & ~given)].name);
    if (!o->keys)
        o->keys = o->mode == MODE_STRONG ? 32 << 20 : 8 << 20;
    if (!o->iterations)
        o->iterations = o->task == TASK_FILE ? 1 : 3;
    for (int i = 0; !o->variants && i < variants_count; i++)
        if (!variants[i].device && (i == 0 || o->task != TASK_FILE))
            set |= 1u << i;
    o->variants |= set;
    return true;
}

bool options_parse(int argc, char **argv, struct opts *out,
                   char error[ERROR_TEXT])
{
    struct opts o = { .mode = MODE_WEAK, .count = UINT64_MAX,
                      .chunk = CHUNK_KEYS, .slack = 1.3, .streams = 2 };
    unsigned given = 0;

    for (int i = 1; i < argc; i++) {
        const char *value;
        int opt;

        if (argv[i][0] != '-')
            return refuse(error, "argument %s: not expected; --help lists the "
                          "options", argv[i]);
        opt = find_option(argv[i], &value);
        if (opt < 0)
            return refuse(error, "option %s: unknown; --help lists them",
                          argv[i]);
        /* As in other programs: the standard output. */
        if (opt == O_JSON && !value &&
            (i + 1 == argc || (argv[i + 1][0] == '-' && argv[i + 1][1])))
            value = "-";
        if (options[opt].value && !value) {
            if (i + 1 == argc)
                return refuse(error, "option %s: its value is missing",
                              argv[i]);
            value = argv[++i];
        }
        if (!set_option((enum opt)opt, value, &o, error))
            return false;
        given |= BIT(opt);
    }
    if (!o.help && !complete_options(given, &o, error))
        return false;
    *out = o;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_opt.c - the options of the OSU-style programs. */
#include "osu.h"
#include "osu_int.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int osu_bad(const struct osu *o, const char *what, const char *text,
            const char *wanted)
{
    if (o->pe == 0)
        fprintf(stderr, "%s: %s %s: %s; try -h\n", o->prog->name, what, text,
                wanted);
    return 1;
}

static bool has_memory(const struct osu *o)
{
    return o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_COLLECTIVE;
}

static bool has_sizes(const struct osu *o)
{
    return o->prog->kind != OSU_BARRIER && o->prog->kind != OSU_ATOMIC;
}

static void help_places(const struct osu *o)
{
    static const char *const lines[] = {
        [OSU_ATOMIC] =
            "  -s, --source H|D|A   adds the rows in _nbi, which fetch into "
            "host memory (H),\n"
            "                       device memory (D), or each in turn (A)\n"
            "  -d, --destination H|D|A  the words, and rows in _nbi\n",
        [OSU_BARRIER] = "",
        [OSU_COLLECTIVE] =
            "  -d, --destination H|D|A  both buffers in host memory (H), "
            "device memory (D),\n"
            "                       or each in turn (A), with ratios\n",
    };
    enum osu_kind kind = o->prog->kind;

    if (kind == OSU_ATOMIC && o->prog->callers)
        puts("  -d, --destination H|D|A  the words");
    else if (kind >= OSU_ATOMIC)
        fputs(lines[kind], stdout);
    else
        puts("  -s, --source H|D|A   where the data comes from: host memory "
             "(H), device\n"
             "                       memory (D), or each in turn (A)\n"
             "  -d, --destination H|D|A  where it goes to; several placements "
             "stand side by\n"
             "                       side, with ratios to the first");
}

static void help_stream(void)
{
    puts("  -x, --execution host|stream|A  who makes the operation after a "
         "step of the\n"
         "                       device: the program, which waits for the "
         "step and then\n"
         "                       gives the device the next one, the stream "
         "(default), or\n"
         "                       each in turn, with ratios (A)\n"
         "  -w, --wait each|end  the host waits for the stream after each "
         "operation, or\n"
         "                       after the last (default)");
}

/* May the operations be made by these? */
static bool has_exec(const struct osu *o, enum osu_exec by)
{
    unsigned all = o->prog->callers;

    if (o->prog->on_stream)
        all = 1u << OSU_BY_HOST | 1u << OSU_BY_STREAM;
    else if (!all)
        all = 1u << OSU_BY_HOST;
    return all >> by & 1;
}

static bool chooses_exec(const struct osu *o)
{
    return o->prog->on_stream || o->prog->callers;
}

/* "host, stream", with such a comma. */
static const char *execs_of(const struct osu *o, const char *comma,
                            char out[64])
{
    size_t used = 0;

    for (int by = 0; by < OSU_EXECS; by++)
        if (has_exec(o, (enum osu_exec)by))
            used += (size_t)snprintf(out + used, 64 - used, "%s%s",
                                     used ? comma : "", osu_exec_names[by]);
    return out;
}

static void help_kernel(const struct osu *o)
{
    char list[64];

    printf("  -x, --execution %s|A  who makes the calls:\n"
           "                       the program, or a thread (default)%s of "
           "a kernel of\n"
           "                       the software device, or each in turn, with "
           "ratios (A)\n", execs_of(o, "|", list),
           has_exec(o, OSU_BY_BLOCK) ? ", a warp, a block" : "");
}

static void help(const struct osu *o)
{
    const struct osu_loops *k = &osu_loops[o->prog->kind];

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
        printf("  %s --warmup N       warm-up iterations (%d; %d for large "
               "messages)\n", chooses_exec(o) ? "   " : "-x,", k->skip,
               k->skip_large);
    if (o->prog->on_stream)
        help_stream();
    if (o->prog->callers)
        help_kernel(o);
    help_places(o);
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
        return osu_bad(o, "-m", text, wanted);
    }
    if (min > max)
        return osu_bad(o, "-m", text, "MIN is above MAX");
    o->min = (size_t)min;
    o->max = (size_t)max;
    return 0;
}

/* -s or -d: one or both spaces. */
static int space_option(struct osu *o, const char *name, const char **out)
{
    if (o->prog->kind == OSU_BARRIER)
        return osu_bad(o, "option", name, "this program has no buffers");
    if (o->prog->kind == OSU_COLLECTIVE && name[1] == 's')
        return osu_bad(o, "option", name, "both buffers of a collective go "
                       "where -d says");
    if (o->prog->kind == OSU_ATOMIC && o->prog->callers && name[1] == 's')
        return osu_bad(o, "option", name, "calls of kernels return what they "
                       "fetch");
    if (strlen(optarg) != 1 || !strchr("HDA", *optarg))
        return osu_bad(o, name, optarg, "want H (host), D (device) or A "
                       "(each in turn)");
    *out = optarg;
    return 0;
}

static bool names_exec(const struct osu *o, const char *name)
{
    for (int by = 0; by < OSU_EXECS; by++)
        if (has_exec(o, (enum osu_exec)by) && !strcmp(name, osu_exec_names[by]))
            return true;
    return !strcmp(name, "A");
}

/* -x and -w of programs on streams, -x of programs in kernels. */
static int stream_option(struct osu *o, int c)
{
    char list[64], wanted[96];

    if (c == 'x' ? !chooses_exec(o) : !o->prog->on_stream)
        return osu_bad(o, "option", c == 'x' ? "--execution" : "-w",
                       "this program has no stream");
    if (c == 'x') {
        snprintf(wanted, sizeof wanted, "want %s or A (each in turn)",
                 execs_of(o, ", ", list));
        if (!names_exec(o, optarg))
            return osu_bad(o, "-x", optarg, wanted);
        o->exec_opt = optarg;
        return 0;
    }
    if (strcmp(optarg, "each") && strcmp(optarg, "end"))
        return osu_bad(o, "-w", optarg, "want each or end");
    o->wait_each = !strcmp(optarg, "each");
    return 0;
}

/* One place, by who is asked for. */
static void add_place(struct osu *o, struct osu_place p)
{
    bool all = o->exec_opt && *o->exec_opt == 'A';
    const char *one = o->exec_opt ? o->exec_opt
                                  : osu_exec_names[o->prog->on_stream
                                                       ? OSU_BY_STREAM
                                                   : o->prog->callers
                                                       ? OSU_BY_THREAD
                                                       : OSU_BY_HOST];

    for (int by = 0; by < OSU_EXECS; by++) {
        if (!has_exec(o, (enum osu_exec)by) ||
            (!all && strcmp(one, osu_exec_names[by])))
            continue;
        p.exec = (enum osu_exec)by;
        o->places[o->n_places++] = p;
    }
}

/* H-H, D-D, H-D, D-H, as far as asked for; H-H if nothing is said. */
static void choose_places(struct osu *o)
{
    static const struct osu_place all[] = {
        { OSU_HOST, OSU_HOST, 0 }, { OSU_DEVICE, OSU_DEVICE, 0 },
        { OSU_HOST, OSU_DEVICE, 0 }, { OSU_DEVICE, OSU_HOST, 0 },
    };
    char src = o->src_opt ? *o->src_opt : 'H';
    char dst = o->dst_opt ? *o->dst_opt : 'H';

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (o->prog->kind == OSU_COLLECTIVE && all[i].src != all[i].dst)
            continue;
        if (o->prog->kind != OSU_COLLECTIVE && src != 'A' &&
            all[i].src != (src == 'D' ? OSU_DEVICE : OSU_HOST))
            continue;
        if (dst != 'A' && all[i].dst != (dst == 'D' ? OSU_DEVICE : OSU_HOST))
            continue;
        add_place(o, all[i]);
    }
}

enum { LONG_PRECISION = 256, LONG_JSON, LONG_WARMUP,
       LONG_EXECUTION };

/* One option.  Returns 0, or 1 after printing what is wrong, or 2 for an
 * option that only prints. */
static int option(struct osu *o, int c, char *const *argv)
{
    long long v = 0;

    switch (c) {
    case 'm':
        if (!has_sizes(o))
            return osu_bad(o, "option", "-m", "this program has no sizes");
        return sizes(o, optarg, (long long)osu_loops[o->prog->kind].max *
                           OSU_MOST_TIMES);
    case 'i':
        if (!number(optarg, 1, o->prog->kind == OSU_ATOMIC ? OSU_ATOMIC_MAX
                                                           : 100000000, &v))
            return osu_bad(o, "-i", optarg, "want a number of "
                           "iterations from 1");
        o->iters_opt = (int)v;
        return 0;
    case 'w':
        return stream_option(o, 'w');
    case LONG_EXECUTION:
        return stream_option(o, 'x');
    case 'x':
        if (chooses_exec(o))
            return stream_option(o, 'x');
        /* fall through */
    case LONG_WARMUP:
        if (!number(optarg, 0, o->prog->kind == OSU_ATOMIC ? OSU_ATOMIC_MAX
                                                           : 100000000, &v))
            return osu_bad(o, c == 'x' ? "-x" : "--warmup", optarg, "want a "
                           "number of warm-up iterations");
        o->skip_opt = (int)v;
        return 0;
    case 's':
        return space_option(o, "-s", &o->src_opt);
    case 'd':
        return space_option(o, "-d", &o->dst_opt);
    case LONG_PRECISION:
        if (!number(optarg, 0, 9, &v))
            return osu_bad(o, "--precision", optarg, "want 0 to 9 digits");
        o->precision = (int)v;
        return 0;
    case 'f':
        if (o->prog->kind == OSU_OVERLAP)
            return osu_bad(o, "option", "-f", "this program's rows are full");
        o->full = true;
        return 0;
    case 'c':
        o->check = true;
        return 0;
    case 'T':
        if (o->prog->kind != OSU_LATENCY && o->prog->kind != OSU_BARRIER)
            return osu_bad(o, "option", "-T", "this program times no single "
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
        return osu_bad(o, "option", argv[optind - 1],
                       c == ':' ? "its value is missing" : "unknown");
    }
}

int osu_arguments(struct osu *o, int argc, char **argv)
{
    static const struct option longs[] = {
        { "message-size", required_argument, NULL, 'm' },
        { "iterations", required_argument, NULL, 'i' },
        { "warmup", required_argument, NULL, LONG_WARMUP },
        { "execution", required_argument, NULL, LONG_EXECUTION },
        { "wait", required_argument, NULL, 'w' },
        { "source", required_argument, NULL, 's' },
        { "destination", required_argument, NULL, 'd' },
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
    while ((c = getopt_long(argc, argv, ":m:i:x:w:s:d:fcThv", longs,
                            NULL)) != -1) {
        rc = option(o, c, argv);
        if (rc)
            return rc;
    }
    if (has_memory(o)) {
        if (optind == argc)
            return osu_bad(o, "argument", "missing", "say heap or global");
        if (strcmp(argv[optind], "heap") && strcmp(argv[optind], "global"))
            return osu_bad(o, "argument", argv[optind], "say heap or global");
        o->heap = !strcmp(argv[optind++], "heap");
    }
    if (optind < argc)
        return osu_bad(o, "argument", argv[optind], "not expected");
    choose_places(o);
    if (o->n_places > 1 && (o->full || o->tail))
        return osu_bad(o, "option", o->full ? "-f" : "-T", "with one "
                       "placement only, not with A");
    return 0;
}


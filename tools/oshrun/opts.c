/* SPDX-License-Identifier: BSD-3-Clause */
/* opts.c - reads the command line of oshrun into struct opts.  main() calls it
 * first; a wrong option ends the process with one line and EXIT_USAGE. */
#include "oshrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "unknown"
#endif
#ifndef SLUICE_PMIX_VERSION
#define SLUICE_PMIX_VERSION "unknown"
#endif

enum what {
    OPT_N, OPT_PPN, OPT_EXPORT, OPT_TAG, OPT_TIMEOUT, OPT_BIND, OPT_HOSTS,
    OPT_HOSTFILE, OPT_OVERSUBSCRIBE, OPT_PMIX, OPT_VERBOSE, OPT_HELP,
    OPT_VERSION, OPT_REPORT, OPT_WDIR, OPT_OUTPUT, OPT_DEBUG
};

static const struct option_name {
    const char *name;
    enum what what;
    bool value;
} names[] = {
    { "-n", OPT_N, true },                { "-np", OPT_N, true },
    { "--np", OPT_N, true },              { "-c", OPT_N, true },
    { "--ppn", OPT_PPN, true },           { "-ppn", OPT_PPN, true },
    { "-x", OPT_EXPORT, true },           { "--tag-output", OPT_TAG, false },
    { "-tag-output", OPT_TAG, false },    { "--timeout", OPT_TIMEOUT, true },
    { "-timeout", OPT_TIMEOUT, true },    { "--bind-to", OPT_BIND, true },
    { "-bind-to", OPT_BIND, true },       { "-H", OPT_HOSTS, true },
    { "--host", OPT_HOSTS, true },        { "-host", OPT_HOSTS, true },
    { "--hosts", OPT_HOSTS, true },       { "-hosts", OPT_HOSTS, true },
    { "--hostfile", OPT_HOSTFILE, true }, { "-hostfile", OPT_HOSTFILE, true },
    { "-f", OPT_HOSTFILE, true },         { "-machinefile", OPT_HOSTFILE, true },
    { "--machinefile", OPT_HOSTFILE, true },
    { "--oversubscribe", OPT_OVERSUBSCRIBE, false },
    { "-oversubscribe", OPT_OVERSUBSCRIBE, false },
    { "--pmix", OPT_PMIX, false },        { "-pmix", OPT_PMIX, false },
    { "--report-bindings", OPT_REPORT, false },
    { "-report-bindings", OPT_REPORT, false },
    { "--wdir", OPT_WDIR, true },         { "-wdir", OPT_WDIR, true },
    { "-wd", OPT_WDIR, true },            { "--debug", OPT_DEBUG, true },
    { "--output-filename", OPT_OUTPUT, true },
    { "-output-filename", OPT_OUTPUT, true },
    { "-v", OPT_VERBOSE, false },         { "--verbose", OPT_VERBOSE, false },
    { "-h", OPT_HELP, false },            { "--help", OPT_HELP, false },
    { "-V", OPT_VERSION, false },         { "--version", OPT_VERSION, false },
};

static const char help[] =
"Usage: oshrun [OPTION]... PROGRAM [ARGUMENT]...\n"
"Start PROGRAM as the processing elements (PEs) of one OpenSHMEM job.\n"
"\n"
"  -n, -np, --np, -c N      start N PEs [1, or the slots of the hosts given]\n"
"  --ppn K                  treat every K PEs as a node of its own\n"
"  -x NAME[=VALUE]          set NAME for the PEs\n"
"  --tag-output             begin each line of output with its PE: [3] ...\n"
"  --timeout S              end the job after S seconds, with status 124\n"
"  --bind-to core|socket|numa|none\n"
"                           one core, processor package or NUMA node for each\n"
"                           PE, in turn; or any core [cores of its own for each\n"
"                           PE, where enough are free]\n"
"  --report-bindings        print the processors of each PE\n"
"  --wdir DIR               start the PEs in this directory\n"
"  --output-filename NAME   write the output of each PE to NAME.PE\n"
"  --debug gdb|valgrind[:PE]\n"
"                           start all PEs, or that one, under gdb or valgrind\n"
"  -H, --host, --hosts A,B  run on these hosts (A:4 means 4 PEs on A)\n"
"  --hostfile, -f, -machinefile FILE\n"
"                           the same from a file: A, A:4 or A slots=4 a line\n"
"  --oversubscribe          accepted: more PEs than cores are always allowed\n"
"  --pmix                   be a PMIx server too, for programs of other libraries\n"
"  -v, --verbose            say what is started, where, and how it ended\n"
"  --help, --version\n"
"\n"
"Standard input goes to PE 0.  The exit status is that of the first PE that\n"
"failed (128 + number for a signal) or that of shmem_global_exit.\n"
"Hosts other than this one are reached by srun inside Slurm, else by prterun\n"
"or mpirun.  SHMEM_LAUNCHER or OSHRUN_LAUNCHER names a launcher to run in\n"
"place of oshrun.\n";

static _Noreturn void usage(const char *fmt, const char *a, const char *b)
{
    char text[1024];

    snprintf(text, sizeof(text), fmt, a, b);
    say("S-E-ARGS", "%s; see oshrun --help", text);
    exit(EXIT_USAGE);
}

static int count_of(const char *opt, const char *text)
{
    char *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < 1 || v > 1000000)
        usage("%s %s: a number from 1 to 1000000 is needed", opt, text);
    return (int)v;
}

static int64_t seconds_of(const char *opt, const char *text)
{
    char *end;
    double v;

    errno = 0;
    v = strtod(text, &end);
    if (errno || end == text || *end || !(v > 0 && v <= 1e9))
        usage("%s %s: a number of seconds above 0 is needed", opt, text);
    return v < 0.001 ? 1 : (int64_t)(v * 1000);
}

static void add_export(struct opts *o, char *text)
{
    if (*text == '=' || !*text)
        usage("-x %s: a variable's name is missing%s", text, "");
    o->exports = must(realloc(o->exports, ((size_t)o->n_exports + 1) *
                                          sizeof(*o->exports)));
    o->exports[o->n_exports++] = text;
}

static enum bind bind_of(const char *opt, const char *text)
{
    static const struct {
        const char *name;
        enum bind bind;
    } kinds[] = {
        { "core", BIND_CORE }, { "socket", BIND_SOCKET },
        { "package", BIND_SOCKET }, { "numa", BIND_NUMA }, { "none", BIND_NONE }
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(text, kinds[i].name) == 0)
            return kinds[i].bind;
    usage("%s %s: core, socket, numa or none is needed", opt, text);
}

/* TOOL or TOOL:PE */
static void debug_of(struct opts *o, const char *opt, char *text)
{
    char *pe = strchr(text, ':'), *end = NULL;
    long v = -1;

    if (pe) {
        *pe++ = '\0';
        v = strtol(pe, &end, 10);
        if (end == pe || *end || v < 0 || v > 1000000)
            usage("%s: the PE after ':' is '%s', not a number", opt, pe);
    }
    if (strcmp(text, "gdb") != 0 && strcmp(text, "valgrind") != 0)
        usage("%s %s: gdb or valgrind is needed, or one of them with :PE", opt,
              text);
    o->debug = text;
    o->debug_pe = (int)v;
}

static void take(struct opts *o, enum what what, const char *opt, char *value)
{
    switch (what) {
    case OPT_N:
        o->n = count_of(opt, value);
        break;
    case OPT_PPN:
        o->ppn = count_of(opt, value);
        break;
    case OPT_EXPORT:
        add_export(o, value);
        break;
    case OPT_TAG:
        o->tag = true;
        break;
    case OPT_TIMEOUT:
        o->timeout_ms = seconds_of(opt, value);
        break;
    case OPT_BIND:
        o->bind = bind_of(opt, value);
        break;
    case OPT_REPORT:
        o->report_bindings = true;
        break;
    case OPT_WDIR:
        o->wdir = value;
        break;
    case OPT_OUTPUT:
        o->output = value;
        break;
    case OPT_DEBUG:
        debug_of(o, opt, value);
        break;
    case OPT_HOSTS:
        o->hosts = value;
        break;
    case OPT_HOSTFILE:
        o->hostfile = value;
        break;
    case OPT_OVERSUBSCRIBE:
        o->oversubscribe = true;
        break;
    case OPT_PMIX:
        o->pmix = true;
        break;
    case OPT_VERBOSE:
        o->verbose = true;
        break;
    case OPT_HELP:
        fputs(help, stdout);
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    case OPT_VERSION:
        puts("oshrun (Sluice) " SLUICE_VERSION ", PMIx " SLUICE_PMIX_VERSION);
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    }
}

/* The row that arg names: all of it, up to "=" for the long ones, or "-n4". */
static const struct option_name *lookup(char *arg, char **value)
{
    size_t i, len = strcspn(arg, "=");

    *value = NULL;
    if (arg[0] == '-' && arg[1] == 'n' && arg[2] >= '0' && arg[2] <= '9') {
        *value = arg + 2;
        return &names[0];
    }
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i].name, arg) == 0)
            return &names[i];
        if (names[i].value && arg[1] == '-' && arg[len] &&
            strlen(names[i].name) == len &&
            strncmp(names[i].name, arg, len) == 0) {
            *value = arg + len + 1;
            return &names[i];
        }
    }
    return NULL;
}

static _Noreturn void unknown(const char *arg)
{
    const char *hint = other_launcher_hint(arg);

    if (hint)
        usage("unknown option %s: %s", arg, hint);
    usage("unknown option %s%s", arg, "");
}

/* "a : -n 2 b" starts two programs with mpirun. */
static void refuse_programs(char **argv)
{
    for (int i = 1; argv[i]; i++)
        if (strcmp(argv[i], ":") == 0 && argv[i + 1])
            usage("':' before %s: a job has one program, which may start others "
                  "by its PE number; if ':' is an argument of %s, write -- "
                  "before the program", argv[i + 1], argv[0]);
}

void opts_parse(struct opts *o, int argc, char **argv)
{
    const struct option_name *row;
    bool ended = false;
    char *value;
    int i;

    memset(o, 0, sizeof(*o));
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            ended = true;
            i++;
            break;
        }
        row = lookup(argv[i], &value);
        if (!row)
            unknown(argv[i]);
        if (row->value && !value && !(value = argv[++i]))
            usage("option %s needs a value%s", row->name, "");
        take(o, row->what, row->name, value);
    }
    if (i >= argc)
        usage("no program to start%s%s", "", "");
    o->argv = argv + i;
    if (!ended)
        refuse_programs(o->argv);
    if (o->debug && o->debug_pe < 0)
        o->tag = true;              /* whose backtrace is it? */
}

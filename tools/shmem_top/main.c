/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - shmem_top: the activity of this host's PEs, once an interval.  Reads
 * the options and the keys, and owns the terminal; find.c, query.c and table.c
 * do the rest. */
#include "top.h"
#include "base/clock.h"
#include "base/env.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const char usage[] =
    "usage: shmem_top [-d SECONDS] [-n COUNT] [--json] [PID...]\n"
    "  -d SECONDS  between two tables (1)\n"
    "  -n COUNT    ends after so many tables\n"
    "  --json      a line of JSON in place of each table\n"
    "  PID...      these processes alone, else all PEs of this user's here\n"
    "  --version, --help\n"
    "  On a terminal, q ends it.\n";

static struct {
    double seconds;
    long count;                 /* 0: until the jobs end */
    bool json;
    int *pids;                  /* NULL: all */
    bool screen;                /* a terminal, which each table replaces */
} options = { .seconds = 1 };

/* ---- the terminal ---- */

static struct termios saved;
static bool keys;               /* read one by one, and not shown */

static void restore_terminal(void)
{
    if (keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    keys = false;
}

static void restore_and_end(int sig)
{
    restore_terminal();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void prepare_terminal(void)
{
    struct termios t;

    options.screen = isatty(STDOUT_FILENO) && !options.json;
    if (!options.screen || tcgetattr(STDIN_FILENO, &saved) ||
        tcgetpgrp(STDIN_FILENO) != getpgrp())
        return;
    t = saved;
    t.c_lflag &= (tcflag_t)~(ICANON | ECHO);
    keys = !tcsetattr(STDIN_FILENO, TCSANOW, &t);
    atexit(restore_terminal);
    signal(SIGINT, restore_and_end);
    signal(SIGTERM, restore_and_end);
}

/* True: the user pressed q, or closed the input. */
static bool wait_for_key(uint64_t until_ns)
{
    struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
    uint64_t now;
    char key;

    while ((now = clock_ns()) < until_ns) {
        if (poll(keys ? &in : NULL, keys, (int)((until_ns - now) / 1000000 + 1))
            <= 0)
            continue;
        if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
            return true;
    }
    return false;
}

/* ---- the tables ---- */

static const struct pe *end_of_job(const struct pe *p, const struct pe *end)
{
    const struct pe *q = p + 1;

    while (q < end && p->page->n_pes > 1 &&
           !memcmp(q->page->job, p->page->job, STATUS_JOB))
        q++;
    return q;
}

static void print_all(const struct pes *all)
{
    const struct pe *p = all->at, *end = p + all->n, *next;
    struct winsize size = { 0 };
    int jobs = 0;

    if (options.json) {
        print_list(all);
        return;
    }
    if (options.screen) {
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        printf("\033[H\033[2J");
    }
    for (; p < end; p = end_of_job(p, end))
        jobs++;
    for (p = all->at; p < end; p = next) {
        next = end_of_job(p, end);
        print_table(p, next, size.ws_row ? size.ws_row / jobs : 0, size.ws_col);
        if (!options.screen || next < end)
            puts("");
    }
}

static bool is_written(void)
{
    if (!fflush(stdout) && !ferror(stdout))
        return true;
    fprintf(stderr, "shmem_top: writing: %m\n");
    return false;
}

/* True: the user wants no more.  PEs count for ten seconds after a request, so
 * a longer interval takes requests that are not shown. */
static bool wait_interval(struct pes *all, uint64_t until_ns)
{
    const uint64_t most = 4000000000u;
    uint64_t now;

    while ((now = clock_ns()) + most < until_ns) {
        if (wait_for_key(now + most))
            return true;
        keep_counting(all);
    }
    return wait_for_key(until_ns);
}

/* The first answer has no rates: the table comes with the second one. */
static int run(struct pes *all)
{
    uint64_t interval = (uint64_t)(options.seconds * 1e9), next = clock_ns();

    query_pes(all);
    for (long i = 0; !options.count || i < options.count; i++) {
        next += interval;
        if (wait_interval(all, next))
            return 0;
        find_pes(all, options.pids);
        query_pes(all);
        print_all(all);
        if (!is_written())
            return 1;
        forget_ended(all);
        if (!all->n) {
            fprintf(stderr, "shmem_top: no PE runs here any more\n");
            return 0;
        }
    }
    return 0;
}

/* ---- options ---- */

_Noreturn static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "shmem_top: %s '%s'; see shmem_top --help\n", what, value);
    exit(2);
}

static double positive(const char *option, const char *value, double most)
{
    char *end;
    double v = value ? env_parse_number(value, &end) : 0;

    if (!value || end == value || *end || !(v > 0) || v > most)
        refuse(option, value ? value : "");
    return v;
}

static long whole(const char *option, const char *value, double most)
{
    double v = positive(option, value, most);

    if (v < 1)
        refuse(option, value);
    return (long)v;
}

static void add_pid(const char *text, int at, int argc)
{
    if (!options.pids)
        options.pids = calloc((size_t)argc, sizeof *options.pids);
    if (!options.pids)
        exit(1);
    options.pids[at] = (int)whole("no process:", text, 4194304);
}

static void parse(int argc, char **argv)
{
    int n = 0;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json")) {
            options.json = true;
        } else if (!strcmp(argv[i], "-d")) {
            options.seconds = positive("-d wants seconds:", argv[++i], 86400);
        } else if (!strcmp(argv[i], "-n")) {
            options.count = whole("-n wants a number:", argv[++i], 1e9);
        } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage, stdout);
            exit(0);
        } else if (!strcmp(argv[i], "--version")) {
            puts("shmem_top (Sluice) " SLUICE_VERSION);
            exit(0);
        } else if (argv[i][0] == '-') {
            refuse("unknown option", argv[i]);
        } else {
            add_pid(argv[i], n++, argc);
        }
    }
}

int main(int argc, char **argv)
{
    static struct pes all;      /* kept to the end */

    parse(argc, argv);
    find_pes(&all, options.pids);
    if (!all.n) {
        fprintf(stderr, "shmem_top: no PE of yours runs on this host%s\n",
                options.pids ? " under these numbers, or it is not between "
                "shmem_init and shmem_finalize" : "");
        return 1;
    }
    prepare_terminal();
    return run(&all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* debug.c - the command line of a PE that runs under gdb or valgrind, for
 * --debug.  The supervisor's front finds the tool before any PE starts; spawn.c
 * takes the command line.  The tool's output is output of the PE. */
#include "oshrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gdb runs the program, and prints where each thread is if it stops; signals
 * that the library or a launcher uses do not stop it. */
static const char *const gdb_all[] = {
    "-q", "-batch", "-return-child-result", "-ex", "set confirm off",
    "-ex", "set print thread-events off", "-ex", "set startup-with-shell off",
    "-ex", "handle SIGUSR1 SIGUSR2 SIGTERM SIGCONT nostop noprint pass",
    "-ex", "run", "-ex", "thread apply all -ascending backtrace", "--args", NULL
};
/* The user types its commands. */
static const char *const gdb_one[] = {
    "-q", "-ex", "set startup-with-shell off",
    "-ex", "handle SIGUSR1 SIGUSR2 SIGTERM SIGCONT nostop noprint pass",
    "--args", NULL
};

/* "PREFIX/share/sluice/valgrind.supp", or in a build tree the source's. */
static char *suppressions(void)
{
    static const char *const places[] = {
        "../share/sluice/valgrind.supp", "../tools/valgrind.supp"
    };
    char self[4096], *path;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        path = alloc_printf("%s/%s", self, places[i]);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static char **join(char *tool, const char *const *options, char *option,
                   char *program, char **args)
{
    size_t n = 3, k = 0;
    char **argv;

    for (size_t i = 0; options && options[i]; i++)
        n++;
    for (size_t i = 0; args[i]; i++)
        n++;
    argv = must(malloc((n + 1) * sizeof(*argv)));
    argv[k++] = tool;
    for (size_t i = 0; options && options[i]; i++)
        argv[k++] = must(strdup(options[i]));
    if (option)
        argv[k++] = option;
    argv[k++] = program;
    for (size_t i = 1; args[0] && args[i]; i++)
        argv[k++] = args[i];
    argv[k] = NULL;
    return argv;
}

/* Ends the process with one line if the tool is not there. */
void debug_prepare(const struct opts *o, char *program, struct start *s)
{
    char *supp;
    int err;

    if (!o->debug)
        return;
    if (o->debug_pe >= o->n) {
        say("S-E-ARGS", "--debug %s:%d: the job has PEs 0 to %d", o->debug,
            o->debug_pe, o->n - 1);
        exit(EXIT_USAGE);
    }
    s->debug_path = find_program(o->debug, &err);
    if (!s->debug_path) {
        say("S-E-PROG", "--debug %s: %s: %s", o->debug, o->debug,
            strerror(err));
        exit(err == ENOENT ? EXIT_NOPROG : EXIT_NOEXEC);
    }
    if (o->debug[0] == 'g') {
        s->debug_argv = join(s->debug_path,
                             o->debug_pe < 0 ? gdb_all : gdb_one, NULL, program,
                             o->argv);
        return;
    }
    supp = suppressions();
    s->debug_argv = join(s->debug_path, NULL, supp
                         ? alloc_printf("--suppressions=%s", supp)
                         : NULL, program, o->argv);
    free(supp);
}

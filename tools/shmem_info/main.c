/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - shmem_info: reads the options and calls the page that the user asked
 * for.  It starts no job; --check tries things in this process alone. */
#include "info.h"
#include "page.h"
#include "base/report_request.h"
#include "base/log.h"
#include "base/trace_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: shmem_info [option]\n"
    "       shmem_info --state PID...\n"
    "       shmem_info --trace FILE\n"
    "  (none)      version, build, drivers, machine and environment\n"
    "  --check     try what start-up needs: PASS, WARN or FAIL with the fix\n"
    "  --check cxi what a Slingshot NIC does, and what a job on it lacks\n"
    "  --json      with --check or alone: the same as JSON\n"
    "  --state     PEs with these process numbers print what they do\n"
    "  --trace FILE\n"
    "              one trace of FILE.0, FILE.1, ... that a job has left\n"
    "  --version   the version alone\n"
    "  --help      this text\n";

static int print_version(void)
{
    puts("shmem_info (Sluice) " SLUICE_VERSION);
    return 0;
}

static int print_help(void)
{
    fputs(usage, stdout);
    return 0;
}

static const struct {
    const char *option;
    int (*page)(void);
} pages[] = {
    { "--check", info_check },
    { "--version", print_version },
    { "--help", print_help },
    { "-h", print_help },
    { "--env-mdoc", info_env_mdoc },        /* for make, not for users */
    { "--errors-mdoc", info_errors_mdoc },
    { "--faults-mdoc", info_faults_mdoc },
};

static int request_state_all(char **pids)
{
    int rc = 0;

    for (; *pids; pids++)
        if (atoi(*pids) <= 0 || !report_request_process(atoi(*pids))) {
            fprintf(stderr, "shmem_info: %s is no process of yours with a PE "
                    "that answers: it is not between shmem_init and "
                    "shmem_finalize, or SIGUSR2 is the program's own\n",
                    *pids);
            rc = 1;
        }
    return rc;
}

static int merge_trace(const char *file)
{
    if (!trace_merge_has_parts(file)) {
        fprintf(stderr, "shmem_info: %s: there is no %s.0 or the like\n", file,
                file);
        return 1;
    }
    return trace_merge_report(file, 1) ? 0 : 1;
}

/* Takes the option out of the arguments; only some pages have that form. */
static bool takes_json(int *argc, char **argv)
{
    bool checks;
    int i = 1, n;

    while (i < *argc && strcmp(argv[i], "--json"))
        i++;
    if (i == *argc)
        return true;
    page_use_json();
    for (n = --*argc; i < n; i++)
        argv[i] = argv[i + 1];
    argv[n] = NULL;
    checks = n > 1 && !strcmp(argv[1], "--check");
    return n == 1 || checks;
}

static bool is_option(const char *word)
{
    bool found = !strcmp(word, "--state") || !strcmp(word, "--trace");

    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        found |= !strcmp(word, pages[i].option);
    return found;
}

/* argc, argv: as main() got them, --json perhaps taken out. */
static int refuse(bool json_is_odd, int argc, char **argv)
{
    const char *odd = argv[1], *what;

    if (json_is_odd)
        odd = "--json", what = "goes with --check or alone";
    else if (!is_option(odd))
        what = "no such option";
    else if (!strcmp(odd, "--state"))
        what = "takes the process numbers of PEs";
    else if (!strcmp(odd, "--trace"))
        what = "takes one file";
    else if (!strcmp(odd, "--check"))
        odd = argv[argc > 3 && !strcmp(argv[2], "cxi") ? 3 : 2],
        what = "--check takes cxi or nothing";
    else
        odd = argv[2], what = "the option before it takes nothing";
    fprintf(stderr, "shmem_info: %s: %s; see shmem_info --help\n", odd, what);
    return 2;
}

int main(int argc, char **argv)
{
    bool json_is_odd = !takes_json(&argc, argv);
    int rc = -1;

    log_tool("shmem_info");
    if (json_is_odd)
        return refuse(true, argc, argv);
    if (argc == 1)
        rc = info_report();
    if (argc == 5 && !strcmp(argv[1], "--import"))
        return info_import(argv[2], argv[3], argv[4]);
    if (argc == 3 && !strcmp(argv[1], "--check") && !strcmp(argv[2], "cxi"))
        rc = info_check_cxi();
    if (argc == 3 && !strcmp(argv[1], "--trace"))
        return merge_trace(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "--state"))
        return request_state_all(argv + 2);
    for (size_t i = 0; argc == 2 && i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(argv[1], pages[i].option))
            rc = pages[i].page();
    if (rc < 0)
        return refuse(false, argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "shmem_info: writing: %m\n");
        return 1;
    }
    return rc;
}

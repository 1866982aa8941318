/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.c - replaces oshrun by another launcher (srun, prterun, mpirun),
 * when the user names one or when the job is wider than this host.  main()
 * calls it before the supervisor exists; on success it does not return. */
#include "oshrun.h"

#include "rt/rt_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

struct arg_list {
    char **arg;
    size_t n;
};

static void append(struct arg_list *w, char *arg)
{
    w->arg = must(realloc(w->arg, (w->n + 1) * sizeof(*w->arg)));
    w->arg[w->n++] = arg;
}

static void append_option(struct arg_list *w, const char *a, char *b)
{
    append(w, must(strdup(a)));
    append(w, b);
}

/* Split a command as a shell would: spaces, quotes and backslashes. */
static void split(struct arg_list *w, const char *text)
{
    char *out, *arg, quote = 0;

    for (;;) {
        text += strspn(text, " \t\n");
        if (!*text)
            return;
        out = arg = must(malloc(strlen(text) + 1));
        for (; *text && (quote || !strchr(" \t\n", *text)); text++) {
            if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? 0 : *text;
            else if (*text == '\\' && quote != '\'' && text[1])
                *out++ = *++text;
            else
                *out++ = *text;
        }
        *out = '\0';
        append(w, arg);
    }
}

static bool is_oshrun(const char *path)
{
    struct stat me, it;

    return stat("/proc/self/exe", &me) == 0 && stat(path, &it) == 0 &&
           me.st_dev == it.st_dev && me.st_ino == it.st_ino;
}

static _Noreturn void exec_launcher(const char *path, struct arg_list *w)
{
    int err;

    /* Of an oshrun that has started this one: not of the job to come. */
    unsetenv(RT_JOB_NAME);
    /* The launcher may be a command that runs oshrun. */
    unsetenv("OSHRUN_LAUNCHER");
    unsetenv("SHMEM_LAUNCHER");
    append(w, NULL);
    execv(path, w->arg);
    err = errno;
    say("S-E-PROG", "%s: %s", path, strerror(err));
    exit(err == ENOENT ? EXIT_NOPROG : EXIT_NOEXEC);
}

void handover_replaced(const struct opts *o, int argc, char **argv)
{
    const char *var = "OSHRUN_LAUNCHER", *text = getenv(var);
    struct arg_list w = { NULL, 0 };
    char *path;
    int err;

    if (!text || !*text) {
        var = "SHMEM_LAUNCHER";
        text = getenv(var);
    }
    if (text)
        split(&w, text);
    if (w.n == 0)
        return;
    path = find_program(w.arg[0], &err);
    if (!path) {
        say("S-E-PROG", "%s is '%s': %s: %s", var, text, w.arg[0],
            strerror(err));
        exit(err == ENOENT ? EXIT_NOPROG : EXIT_NOEXEC);
    }
    if (is_oshrun(path))            /* itself: there is nothing to replace */
        return;
    if (o->verbose)
        say(NULL, "%s is set: running %s", var, path);
    for (int i = 1; i < argc; i++)
        append(&w, argv[i]);
    exec_launcher(path, &w);
}

/* ---------------------------------------------------------------------- */

static char *join_hosts(const struct host *host, int n, bool slots)
{
    char *text = must(strdup("")), *longer;

    for (int i = 0; i < n; i++) {
        longer = slots ? alloc_printf("%s%s%s:%d", text, i ? "," : "",
                                     host[i].name, host[i].slots)
                       : alloc_printf("%s%s%s", text, i ? "," : "",
                                     host[i].name);
        free(text);
        text = longer;
    }
    return text;
}

/* Variables that the PEs need, set in oshrun's own environment; other launchers
 * get the names. */
static void export_all(const struct opts *o, struct arg_list *w)
{
    char *eq, *name;
    int i;

    for (i = 0; i < o->n_exports; i++) {
        eq = strchr(o->exports[i], '=');
        name = eq ? must(strndup(o->exports[i], (size_t)(eq - o->exports[i])))
                  : must(strdup(o->exports[i]));
        if (eq)
            setenv(name, eq + 1, 1);
        if (w)
            append_option(w, "-x", name);
    }
    for (i = 0; w && environ[i]; i++)
        if (strncmp(environ[i], "SHMEM_", 6) == 0 ||
            strncmp(environ[i], "SMA_", 4) == 0)
            append_option(w, "-x", must(strndup(environ[i],
                                            strcspn(environ[i], "="))));
}

/* NULL: Slurm's own way, which follows the job's options and the site. */
static const struct {
    const char *slurm, *prte, *mpirun;
} bind_names[] = {
    [BIND_SHARE] = { NULL, "none", "none" },
    [BIND_CORE] = { "cores", "core", "core" },
    [BIND_SOCKET] = { "sockets", "package", "socket" },
    [BIND_NUMA] = { "ldoms", "numa", "numa" },
    [BIND_NONE] = { "none", "none", "none" }
};

/* PEs for each host: --ppn, or an even share, which takes that all hosts have as
 * many slots; 0: srun's own. */
static int srun_ppn(const struct opts *o, const struct host *host, int n_hosts)
{
    if (o->ppn || !n_hosts)
        return o->ppn;
    for (int i = 1; i < n_hosts; i++)
        if (host[i].slots != host[0].slots) {
            say("S-E-HOSTS", "%s has %d slots and %s %d, but srun gives each "
                "host the same number of PEs: use srun itself, with "
                "SLURM_HOSTFILE and --distribution=arbitrary",
                host[0].name, host[0].slots, host[i].name, host[i].slots);
            exit(EXIT_USAGE);
        }
    return (o->n + n_hosts - 1) / n_hosts;
}

/* The processors of each task of the job, which srun does not take from it from
 * Slurm 22.05 on; NULL: srun decides.  More PEs than tasks would not find them. */
static const char *cpus_per_task(const struct opts *o, int ppn)
{
    const char *tasks = getenv("SLURM_NTASKS");
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");

    if (!tasks)
        tasks = nodes;
    if (tasks && nodes && (long)ppn * atoi(nodes) > atoi(tasks))
        return NULL;            /* more on a node than the job has there */
    if (getenv("SRUN_CPUS_PER_TASK") || o->oversubscribe ||
        (o->n && (!tasks || o->n > atoi(tasks))))
        return NULL;
    return getenv("SLURM_CPUS_PER_TASK");
}

static void srun_args(struct arg_list *w, const struct opts *o,
                       const struct host *host, int n_hosts)
{
    int ppn = srun_ppn(o, host, n_hosts);
    const char *cpus = cpus_per_task(o, ppn);
    const char *bind = bind_names[o->bind].slurm;

    append(w, must(strdup("--mpi=pmix")));
    /* Whatever sbatch --export=NONE has left for srun; and to PE 0 alone. */
    append(w, must(strdup("--export=ALL")));
    append(w, must(strdup("--input=0")));
    if (o->n)
        append_option(w, "-n", alloc_printf("%d", o->n));
    if (n_hosts) {
        append_option(w, "-N", alloc_printf("%d", n_hosts));
        append_option(w, "-w", join_hosts(host, n_hosts, false));
    }
    if (ppn)
        append(w, alloc_printf("--ntasks-per-node=%d", ppn));
    if (cpus)
        append(w, alloc_printf("--cpus-per-task=%s", cpus));
    /* As with us; srun itself would wait for the other PEs. */
    append(w, must(strdup("--kill-on-bad-exit=1")));
    if (o->oversubscribe)
        append(w, must(strdup("--overcommit")));
    if (o->tag)
        append(w, must(strdup("--label")));
    if (bind || o->report_bindings)
        append(w, alloc_printf("--cpu-bind=%s%s%s",
                               o->report_bindings ? "verbose" : "",
                               o->report_bindings && bind ? "," : "",
                               bind ? bind : ""));
    if (o->wdir)
        append(w, alloc_printf("--chdir=%s", o->wdir));
    if (o->output)
        append(w, alloc_printf("--output=%s.%%t", o->output));
    if (o->timeout_ms)
        append(w, alloc_printf("--time=0:%lld",
                           (long long)(o->timeout_ms + 999) / 1000));
    export_all(o, NULL);
}

/* prterun and Open MPI's mpirun differ in how PEs per node are written. */
static void mpirun_args(struct arg_list *w, const struct opts *o,
                         const struct host *host, int n_hosts, bool prte)
{
    const char *over = o->oversubscribe ? ":OVERSUBSCRIBE" : "";

    append_option(w, "-n", alloc_printf("%d", o->n));
    append_option(w, "--host", join_hosts(host, n_hosts, true));
    if (prte && o->ppn)
        append_option(w, "--map-by",
                      alloc_printf("ppr:%d:node%s", o->ppn, over));
    else if (prte && o->oversubscribe)
        append_option(w, "--map-by", must(strdup(over)));
    else if (o->ppn)
        append_option(w, "--npernode", alloc_printf("%d", o->ppn));
    if (!prte && o->oversubscribe)
        append(w, must(strdup("--oversubscribe")));
    if (o->tag)
        append(w, must(strdup("--tag-output")));
    /* Passed also where it is oshrun's default: other launchers have another
     * one, and the helper
     * thread of a PE would have to share its core. */
    append_option(w, "--bind-to",
                  must(strdup(prte ? bind_names[o->bind].prte
                                   : bind_names[o->bind].mpirun)));
    if (o->report_bindings)
        append(w, must(strdup("--report-bindings")));
    if (o->wdir)
        append_option(w, "--wdir", must(strdup(o->wdir)));
    if (o->output && prte)
        append_option(w, "--output", alloc_printf("file=%s", o->output));
    else if (o->output)
        append_option(w, "--output-filename", must(strdup(o->output)));
    if (o->timeout_ms)
        append_option(w, "--timeout", alloc_printf("%lld",
                                         (long long)(o->timeout_ms + 999) / 1000));
    export_all(o, w);
}

static _Noreturn void hand_over(const struct opts *o, const char *why,
                                const struct host *host, int n_hosts)
{
    static const char *const launchers[] = { "srun", "prterun", "mpirun" };
    bool slurm = getenv("SLURM_JOB_ID") != NULL;
    struct arg_list w = { NULL, 0 };
    char *path = NULL;
    int i, err;

    if (o->debug) {
        say("S-E-ARGS", "--debug works on this host only, and %s", why);
        exit(EXIT_USAGE);
    }
    for (i = slurm ? 0 : 1; i < (slurm && !n_hosts ? 1 : 3); i++)
        if ((path = find_program(launchers[i], &err)))
            break;
    if (!path) {
        say("S-E-HOSTS", "%s, and no launcher that reaches others is in PATH: "
            "looked for %s", why, !slurm ? "prterun and mpirun"
            : n_hosts ? "srun, prterun and mpirun" : "srun");
        exit(EXIT_NOPROG);
    }
    append(&w, must(strdup(launchers[i])));
    if (i == 0)
        srun_args(&w, o, host, n_hosts);
    else
        mpirun_args(&w, o, host, n_hosts, i == 1);
    for (char **a = o->argv; *a; a++)
        append(&w, *a);
    say(NULL, "%s: handing over to %s", why, path);
    exec_launcher(path, &w);
}

/* Why PEs of this batch job must be started by Slurm: it has several nodes, or
 * it has been given by salloc to a shell that runs on none of them.  NULL
 * outside of jobs, and in a task of Slurm's own. */
static char *slurm_reason(void)
{
    const char *count = getenv("SLURM_JOB_NUM_NODES");
    const char *node = getenv("SLURM_JOB_NODELIST");

    if (!getenv("SLURM_JOB_ID") || getenv("PMIX_NAMESPACE") ||
        getenv(RT_JOB_NAME))
        return NULL;
    if (!count)
        count = getenv("SLURM_NNODES");
    if (count && atoi(count) > 1)
        return must(strdup("this Slurm job has several nodes"));
    if (!node || !*node || getenv("SLURMD_NODENAME") || host_is_local(node))
        return NULL;
    return alloc_printf("node %s of this Slurm job is not this one", node);
}

/* Hosts without a number have room for --ppn PEs, or for an even share of
 * what the others leave of -n; returns the sum. */
static int64_t fill_slots(const struct opts *o, struct host *host, int n)
{
    int64_t slots = 0;
    int i, open = 0, each = o->ppn;

    for (i = 0; i < n; i++) {
        open += !host[i].counted;
        slots += host[i].counted ? host[i].slots : 0;
    }
    if (!each && open && o->n > slots)
        each = (int)((o->n - slots + open - 1) / open);
    for (i = 0; i < n; i++) {
        if (host[i].counted)
            continue;
        host[i].slots = each ? each : 1;
        slots += host[i].slots;
    }
    return slots;
}

/* Entries of one host become one with the slots of all; returns how many are
 * left. */
static int merge_hosts(struct host *host, int n)
{
    int left = 0, k;

    for (int i = 0; i < n; i++) {
        for (k = 0; k < left && strcmp(host[k].name, host[i].name); k++)
            ;
        if (k == left) {
            host[left++] = host[i];
            continue;
        }
        host[k].slots += host[i].slots;
        free(host[i].name);
    }
    return left;
}

/* Of other hosts none gets more than --ppn PEs, whatever it has room for. */
static int64_t limit_slots(const struct opts *o, struct host *host, int n)
{
    int64_t slots = 0;

    for (int i = 0; i < n; i++) {
        if (o->ppn && host[i].slots > o->ppn)
            host[i].slots = o->ppn;
        slots += host[i].slots;
    }
    return slots;
}

static void check_slots(const struct opts *o, int64_t slots)
{
    if (o->n > slots && !o->oversubscribe) {
        say("S-E-HOSTS", "-n %d: the hosts given have room for %lld PEs; raise "
            "their numbers, or say --oversubscribe", o->n, (long long)slots);
        exit(EXIT_USAGE);
    }
    if (!o->n && slots > 1000000) {
        say("S-E-HOSTS", "the hosts given have room for %lld PEs, of which "
            "1000000 at most can be started; say -n", (long long)slots);
        exit(EXIT_USAGE);
    }
}

/* This host has as many slots as its entries say: one without a number has as
 * many as are needed. */
static void check_local_slots(const struct opts *o, const struct host *host,
                              int n, int64_t slots)
{
    int i = 0;

    while (i < n && host[i].counted)
        i++;
    if (n && i == n)
        check_slots(o, slots);
}

void handover_hosts(struct opts *o)
{
    struct host *host;
    int64_t slots;
    char *why;
    int i, n;

    n = hosts_read(o, &host);
    slots = fill_slots(o, host, n);
    for (i = 0; i < n && host_is_local(host[i].name); i++)
        ;
    if (i < n) {
        why = alloc_printf("host %s is not this one", host[i].name);
        n = merge_hosts(host, n);
        slots = limit_slots(o, host, n);
        check_slots(o, slots);
        o->n = o->n ? o->n : (int)slots;
        hand_over(o, why, host, n);
    }
    if (n == 0 && (why = slurm_reason()))
        hand_over(o, why, NULL, 0);
    check_local_slots(o, host, n, slots);
    if (!o->n)
        o->n = slots > 1000000 ? 1000000 : slots ? (int)slots : 1;
    while (n > 0)
        free(host[--n].name);
    free(host);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c - makes the process of one PE: its environment, its descriptors, its
 * cores and the exec.  The supervisor calls it; the contract is in spawn.h. */
#include "spawn.h"

#include "channel.h"
#include "server.h"
#include "rt/rt_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

/* ---- environment ---- */

/* Words of a launcher about its own job.  A PE that found them would take
 * itself for a process of that job; PMIX_MCA_ and the like are settings. */
static bool describes_job(const char *var)
{
    static const char *const heads[] = {
        "PMIX_", "PMI_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE=",
        "OMPI_APP_CTX_NUM_PROCS=", "OMPI_FIRST_RANKS=", "OMPI_NUM_APP_CTX=",
        "OMPI_FILE_LOCATION=", "OMPI_COMMAND=", "OMPI_ARGV=",
        "OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_pmix=", "OMPI_MCA_initial_wdir=",
        "PRTE_", "HYDI_", "SLUICE_JOB", "MPI_LOCALRANKID=", "MPI_LOCALNRANKS=",
    };

    if (strncmp(var, "PMIX_MCA_", 9) == 0 || strncmp(var, "PRTE_MCA_", 9) == 0)
        return false;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        if (strncmp(var, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

void spawn_environment(const struct opts *o)
{
    bool inside = getenv("PMIX_NAMESPACE") || getenv(RT_JOB_NAME);
    char text[16], *name, *eq;
    int i = 0;

    while (environ[i]) {
        if (!describes_job(environ[i])) {
            i++;
            continue;
        }
        name = must(strndup(environ[i], strcspn(environ[i], "=")));
        unsetenv(name);
        free(name);
    }
    if (inside)                     /* the outer job's --ppn ends here */
        unsetenv("SHMEM_PPN");
    for (i = 0; i < o->n_exports; i++) {
        eq = strchr(o->exports[i], '=');
        if (!eq)
            continue;               /* inherited as it is */
        name = must(strndup(o->exports[i], (size_t)(eq - o->exports[i])));
        setenv(name, eq + 1, 1);
        free(name);
    }
    /* A PE that a debugger stops is not lost. */
    if (o->debug) {
        setenv("SHMEM_TIMEOUT", "0", 0);
        setenv("SHMEM_STALL", "0", 0);
    }
    if (o->ppn) {
        snprintf(text, sizeof(text), "%d", o->ppn);
        setenv("SHMEM_PPN", text, 1);
    }
}

static char **copy_env(char **env)
{
    size_t i, n = 0;
    char **copy;

    while (env[n])
        n++;
    copy = must(malloc((n + 1) * sizeof(*copy)));
    for (i = 0; i < n; i++)
        copy[i] = must(strdup(env[i]));
    copy[n] = NULL;
    return copy;
}

static void free_env(char **env)
{
    for (size_t i = 0; env[i]; i++)
        free(env[i]);
    free(env);
}

/* ---- limits ---- */

int spawn_files(int n)
{
    return RT_FILES_BASE + n * (RT_FILES_PER_PE + 2);
}

static int raise_files(struct rlimit *was, int n, const struct opts *o)
{
    rlim_t each = RT_FILES_PER_PE + (o->pmix ? 1 : 0) + (o->output ? 1 : 0);
    rlim_t need = RT_FILES_BASE + (rlim_t)n * each;
    struct rlimit now;
    char most[64] = "";

    getrlimit(RLIMIT_NOFILE, was);
    if (was->rlim_cur >= need)
        return 0;
    now.rlim_cur = need;
    now.rlim_max = was->rlim_max > need ? was->rlim_max : need;
    if (setrlimit(RLIMIT_NOFILE, &now) == 0)
        return 0;
    if (was->rlim_max >= RT_FILES_BASE + each)
        snprintf(most, sizeof(most), " or start fewer PEs, at most %llu",
                 (unsigned long long)((was->rlim_max - RT_FILES_BASE) / each));
    say("S-E-LIMIT", "%d PE%s need %llu open files here, but the hard limit is "
        "%llu (ulimit -Hn): raise it%s", n, n > 1 ? "s" : "",
        (unsigned long long)need, (unsigned long long)was->rlim_max, most);
    return -1;
}

/* The terminal that a PE is to see in place of that descriptor, or -1. */
static int terminal_of(const struct spawn *s, int fd)
{
    return !s->start->opts->output && isatty(fd) ? fd : -1;
}

int spawn_open(struct spawn *s, int n, int *report_end)
{
    int ends[2];

    s->null = s->report = -1;
    if (raise_files(&s->files, n, s->start->opts) < 0)
        return -1;
    s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (s->null < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        say("S-E-SPAWN", "cannot open /dev/null and a pipe: %m");
        return -1;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *report_end = ends[0];
    s->report = ends[1];
    s->tty_out = terminal_of(s, STDOUT_FILENO);
    s->tty_err = terminal_of(s, STDERR_FILENO);
    return 0;
}

/* ---- pipes ---- */

/* Where our output is a terminal a PE gets one too, so that its lines come
 * out as they are written; it changes nothing on the way. */
static int terminal_pair(int like, int ends[2])
{
    struct winsize size;
    struct termios t;
    char name[64];

    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0)
        return -1;
    if (grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 &&
        ptsname_r(ends[0], name, sizeof(name)) == 0 &&
        (ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0) {
        if (tcgetattr(ends[1], &t) == 0) {
            t.c_oflag &= ~(tcflag_t)OPOST;
            t.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
            tcsetattr(ends[1], TCSANOW, &t);
        }
        if (ioctl(like, TIOCGWINSZ, &size) == 0)
            ioctl(ends[1], TIOCSWINSZ, &size);
        return 0;
    }
    close(ends[0]);
    return -1;
}

static int channel(int tty, int ends[2])
{
    if ((tty < 0 || terminal_pair(tty, ends) < 0) && pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    return 0;
}

/* ---- the process ---- */

/* Only 0 to 2 are for the program, and its channel: not the sockets of other
 * PEs. */
static void close_others(int channel)
{
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
        for (int fd = 3; fd < 65536; fd++)  /* a kernel before 5.11 */
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(channel, F_SETFD, 0);
}

static bool is_debugged(const struct spawn *s, int pe)
{
    const struct opts *o = s->start->opts;

    return o->debug && (o->debug_pe < 0 || o->debug_pe == pe);
}

static int input_pe(const struct opts *o)
{
    return o->debug && o->debug_pe > 0 ? o->debug_pe : 0;
}

/* From fork to exec: libpmix has threads, so only calls that are safe after
 * fork in such a process.  fds: 0 to 2, and the channel, which stays where it
 * is. */
static _Noreturn void child(const struct spawn *s, int pe, char **env,
                            const int fds[4], pid_t supervisor)
{
    struct spawn_failure f = { .pe = pe };
    struct sigaction act;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)        /* it died before the line above */
        _exit(EXIT_FAILURE);
    for (int i = 0; i < 3; i++)
        if (fds[i] != i)
            dup2(fds[i], i);
    close_others(fds[3]);
    if (s->place)
        sched_setaffinity(0, s->place->size, place_of(s->place, pe));
    setrlimit(RLIMIT_NOFILE, &s->files);
    memset(&act, 0, sizeof(act));
    act.sa_handler = s->start->sigpipe_ignored ? SIG_IGN : SIG_DFL;
    sigaction(SIGPIPE, &act, NULL);
    sigprocmask(SIG_SETMASK, s->start->mask, NULL);
    if (is_debugged(s, pe))
        execve(s->start->debug_path, s->start->debug_argv, env);
    else
        execve(s->start->path, s->start->opts->argv, env);
    f.err = errno;
    if (write(s->report, &f, sizeof(f)) < 0)
        _exit(EXIT_NOPROG);
    _exit(f.err == ENOENT ? EXIT_NOPROG : EXIT_NOEXEC);
}

int spawn_pe(const struct spawn *s, const struct job *j, int pe,
             struct spawned *out)
{
    pid_t supervisor = getpid(), pid = -1;
    int o[2], e[2], fds[4], err;
    char **env;

    if (channel(s->tty_out, o) < 0) {
        say("S-E-SPAWN", "cannot start PE %d: pipe: %m", pe);
        return -1;
    }
    if (channel(s->tty_err, e) < 0) {
        say("S-E-SPAWN", "cannot start PE %d: pipe: %m", pe);
        close(o[0]);
        close(o[1]);
        return -1;
    }
    env = copy_env(s->env);
    fds[0] = pe == input_pe(j->o) ? s->start->stdin_fd : s->null;
    fds[1] = o[1];
    fds[2] = e[1];
    fds[3] = channel_make(j, pe, &env);
    if (fds[3] >= 0 && (!j->o->pmix || server_env(pe, &env) == 0)) {
        pid = fork();
        err = errno;
        if (pid == 0)
            child(s, pe, env, fds, supervisor);
        if (pid < 0)
            print_process_limit(err, "PE %d: fork", pe);
    }
    free_env(env);
    channel_made();
    close(o[1]);
    close(e[1]);
    if (pid < 0) {
        close(o[0]);
        close(e[0]);
        return -1;
    }
    setpgid(pid, pid);              /* so that it leads one from now on */
    out->pid = pid;
    out->out = o[0];
    out->err = e[0];
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - shmem_info --check: the needs of start-up.  Each check does the
 * thing itself and prints PASS, WARN or FAIL, with the remedy where it
 * fails. */
#include "info.h"
#include "page.h"
#include "api/api_env.h"
#include "base/env.h"
#include "base/log.h"
#include "base/membarrier.h"
#include "heap/heap.h"
#include "heap/heap_pages.h"
#include "ofi/ofi.h"
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "rt/rt_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int failures;
/* Of a job PE 0 speaks; the others do where something has failed. */
static int pe;
/* PEs of this node as the launcher says, 0 without one. */
static uint32_t local_pes;

static void write_check(const char *verdict, const char *what, const char *fmt,
                        va_list ap)
{
    struct json *to = page_json();
    static bool begun;
    char text[2048];

    if (!begun) {
        page_open();
        json_text(to, "host", log_host());
        json_integer(to, "pe", pe);
        json_list(to, "checks");
    }
    begun = true;
    vsnprintf(text, sizeof text, fmt, ap);
    json_object(to, NULL);
    json_text(to, "verdict", verdict);
    json_text(to, "subject", what);
    json_text(to, "text", text);
    json_close_object(to);
}

void say_args(enum verdict v, const char *what, const char *fmt, va_list ap)
{
    static const char *const verdicts[] = { "PASS", "WARN", "FAIL", "NONE" };

    if (pe && v != FAIL)
        return;
    failures += v == FAIL;
    if (page_json()) {
        write_check(verdicts[v], what, fmt, ap);
        return;
    }
    printf("%s  %-14s ", verdicts[v], what);
    if (pe)
        printf("PE %d (%s): ", pe, log_host());
    vprintf(fmt, ap);
    putchar('\n');
    fflush(stdout);             /* before what others say on standard error */
}

void say(enum verdict v, const char *what, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_args(v, what, fmt, ap);
    va_end(ap);
}

void info_check_begin(void)
{
    pe = info_pe();
}

int info_check_end(void)
{
    if (page_json() && page_is_open()) {
        json_close_list(page_json());
        json_integer(page_json(), "failures", failures);
        page_close();
    }
    return failures > 0;
}

static void warn_unknown(const char *text)
{
    say(WARN, "environment", "%s", text);
}

static bool check_environment(void)
{
    if (env_load() || api_env_check()) {
        say(FAIL, "environment", "a variable has a bad value, see the line "
            "above; correct or unset it");
        return false;
    }
    if (env_report_unknown(warn_unknown) == 0)
        say(PASS, "environment", "every SHMEM_ variable has a legal value");
    return true;
}

static void query_local_size(const pmix_proc_t *me)
{
    pmix_proc_t all = *me;
    pmix_value_t *v = NULL;
    pmix_status_t st;

    all.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&all, PMIX_LOCAL_SIZE, NULL, 0, &v) != PMIX_SUCCESS)
        return;
    PMIX_VALUE_GET_NUMBER(st, v, local_pes, uint32_t);
    if (st != PMIX_SUCCESS)
        local_pes = 0;
    PMIX_VALUE_RELEASE(v);
}

/* Says what is wrong itself, as the library would. */
static void check_oshrun(void)
{
    if (rt_open() || !rt_job.launched) {
        say(FAIL, "launcher", "oshrun's channel cannot be used, see the line "
            "above");
        return;
    }
    say(PASS, "launcher", "oshrun answers: PE %d of %d", rt_job.pe,
        rt_job.n_pes);
    local_pes = (uint32_t)(rt_job.one_machine ? rt_job.n_pes : rt_job.n_local);
    rt_close();
}

static void check_launcher(void)
{
    static const char *const copies[] = {
        "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PALS_SIZE",
        "PALS_NRANKS", "FLUX_JOB_SIZE", "PMI_SIZE"
    };
    const char *v, *why = NULL;
    pmix_proc_t me;
    pmix_status_t st;

    if (env_foreign(RT_JOB_NAME)) {
        check_oshrun();
        return;
    }
    if (env_foreign("PMIX_NAMESPACE")) {
        st = PMIx_Init(&me, NULL, 0);
        if (st != PMIX_SUCCESS) {
            say(FAIL, "PMIx", "PMIX_NAMESPACE is set but PMIx_Init says %s: "
                "the launcher's server is gone or of another version",
                PMIx_Error_string(st));
            return;
        }
        say(PASS, "PMIx", "a server answers: rank %u of %s", me.rank,
            me.nspace);
        query_local_size(&me);
        PMIx_Finalize(NULL, 0);
        return;
    }
    if (rt_pmi2_invites() && !rt_pmi2_begin(&why)) {
        say(PASS, "PMI-2", "libpmi2.so.0 answers: PE %d of %d", rt_job.pe,
            rt_job.n_pes);
        return;
    }
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        v = env_foreign(copies[i]);
        if (v && atoi(v) > 1) {
            say(FAIL, "PMIx", "%s is %s but no PMIx server was announced%s%s: "
                "start with oshrun, or srun --mpi=pmix", copies[i], v,
                why ? ", and PMI-2 does not serve: " : "", why ? why : "");
            return;
        }
    }
    say(PASS, "PMIx", "no launcher: a program started here is one PE; use "
        "oshrun -n N for more");
}

/* As start-up does with a node's memory, on one page. */
static int try_memfd(void)
{
    long page = sysconf(_SC_PAGESIZE);
    int fd = memfd_create("sluice-check", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *p;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, page) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
        close(fd);
        return -errno;
    }
    p = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return -errno;
    *(volatile char *)p = 1;
    munmap(p, (size_t)page);
    return 0;
}

static int try_socket(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc = 0;

    if (fd < 0)
        return -errno;
    snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "sluice-check-%d",
             (int)getpid());
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1))
        rc = -errno;
    close(fd);
    return rc;
}

static void check_shared_memory(void)
{
    int rc = try_memfd();

    if (rc)
        say(FAIL, "shared memory", "sealed memfd: %s; a kernel of 3.17 or "
            "later is needed, and a seccomp profile that allows memfd_create",
            strerror(-rc));
    else
        say(PASS, "shared memory", "a sealed memfd can be made and mapped");
    rc = try_socket();
    if (rc)
        say(FAIL, "local socket", "abstract socket: %s; PEs of a node cannot "
            "pass memory to each other", strerror(-rc));
    else
        say(PASS, "local socket", "PEs can pass memory to each other");
}

static void check_memlock(void)
{
    struct rlimit l;
    char size[24];

    if (getrlimit(RLIMIT_MEMLOCK, &l))
        say(WARN, "memlock", "getrlimit: %m");
    else if (l.rlim_cur == RLIM_INFINITY)
        say(PASS, "memlock", "unlimited");
    else
        say(PASS, "memlock", "%s: enough for tcp; Slingshot, InfiniBand and EFA "
            "lock what is used of the heap, for them raise it with ulimit -l",
            log_size(size, (double)l.rlim_cur));
}

static void check_files(void)
{
    struct rlimit l;
    unsigned long long most = 0;

    if (getrlimit(RLIMIT_NOFILE, &l)) {
        say(WARN, "open files", "getrlimit: %m");
        return;
    }
    if (l.rlim_max > RT_FILES_BASE)
        most = (l.rlim_max - RT_FILES_BASE) / RT_FILES_PER_PE;
    if (l.rlim_max < 1024)
        say(most ? WARN : FAIL, "open files", "hard limit %llu: %s%llu PE%s "
            "per node under oshrun; root raises it (ulimit -Hn, limits.conf)",
            (unsigned long long)l.rlim_max, most ? "at most " : "", most,
            most == 1 ? "" : "s");
    else
        say(PASS, "open files", "hard limit %llu: %llu PEs per node under oshrun",
            (unsigned long long)l.rlim_max, most);
}

/* The plan itself looks at the machine's and the container's memory. */
static void check_memory(int n_pes)
{
    const char *s = n_pes == 1 ? "" : "s";
    struct heap_plan plan;
    char one[24], all[24];

    if (env_is_set("SYMMETRIC_SIZE") && !env.SYMMETRIC_SIZE) {
        say(FAIL, "memory", "not tried: SHMEM_SYMMETRIC_SIZE has a bad value");
        return;
    }
    if (heap_plan_make(n_pes, 0, &plan)) {
        say(FAIL, "memory", "the heap%s of %d PE%s do%s not fit, see the line "
            "above; set a smaller SHMEM_SYMMETRIC_SIZE", s, n_pes, s,
            *s ? "" : "es");
        return;
    }
    log_size(one, (double)plan.user_size);
    log_size(all, (double)n_pes * (double)(plan.host_size + plan.data_size));
    if (plan.user_size < (size_t)64 << 20 && !env_is_set("SYMMETRIC_SIZE"))
        say(WARN, "memory", "only %s of heap per PE for %d PE%s: memory or the "
            "cgroup's limit is short", one, n_pes, s);
    else if (plan.user_size < (size_t)64 << 10)
        say(WARN, "memory", "only %s of heap per PE for %d PE%s: without k, m, "
            "g or t a size is in bytes", one, n_pes, s);
    else
        say(PASS, "memory", "%s of heap per PE, %s for %d PE%s", one, all,
            n_pes, s);
}

static void check_pages(void)
{
    char text[HEAP_PAGES_TEXT];

    say(PASS, "huge pages", "%s", heap_pages_possible(text));
}

/* PEs that oshrun binds have their own ones: their union counts. */
static int usable_cores(void)
{
    const char *of_job = env_foreign(RT_JOB_NAME) ? env_foreign(RT_JOB_CPUS)
                                                  : NULL;
    int n;

    if (of_job && atoi(of_job) > 0)
        return atoi(of_job);
    n = rt_count_cpus();
    return n ? n : 1;
}

static void check_cores(int cores)
{
    if ((int)local_pes > cores)
        say(WARN, "cores", "%d PEs share %d core%s: waits give the core away "
            "early, so latencies are those of the scheduler", (int)local_pes,
            cores, cores == 1 ? "" : "s");
    else
        say(PASS, "cores", "%d usable; more PEs than that work, more slowly",
            cores);
}

static void check_wakes(void)
{
    if (membarrier_open())
        say(PASS, "wake-ups", "each store wakes the PE that sleeps for it "
            "(membarrier)");
    else
        say(WARN, "wake-ups", "the kernel refuses membarrier: some stores are "
            "noticed 50 us to 5 ms late where PEs sleep; Linux 4.16 or later "
            "has it, and a seccomp profile may forbid it");
}

/* The variables that choose the network, as they are set. */
static void list_choices(char *out, size_t size)
{
    const struct { const char *name, *value; } all[] = {
        { "SHMEM_OFI_PROVIDER", env.OFI_PROVIDER },
        { "SHMEM_OFI_DOMAIN", env.OFI_DOMAIN },
        { "SHMEM_OFI_FABRIC", env.OFI_FABRIC },
        { "SHMEM_NIC_MAP", env.NIC_MAP },
    };
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all && at < size; i++)
        if (all[i].value[0])
            at += (size_t)snprintf(out + at, size - at, "%s%s=%s",
                                   at ? ", " : "", all[i].name, all[i].value);
}

/* Only jobs on several nodes need it. */
static void check_network(void)
{
    char text[640], choices[1024];

    list_choices(choices, sizeof choices);
    if (!ofi_probe(text, sizeof text))
        say(PASS, "network", "%s", text);
    else if (choices[0])
        say(FAIL, "network", "%s; correct or unset %s", text, choices);
    else
        say(WARN, "network", "%s; jobs on one node need none", text);
}

int info_check(void)
{
    int cores = usable_cores(), pes;
    bool legal;

    info_check_begin();
    legal = check_environment();
    check_launcher();
    /* Under a launcher its number of PEs counts, else one PE per core. */
    pes = local_pes ? (int)local_pes : cores;
    check_shared_memory();
    check_memory(pes);
    check_pages();
    check_memlock();
    check_files();
    check_cores(cores);
    check_wakes();
    check_network();
    if (legal)                  /* its child process reads the environment */
        info_check_device((int)local_pes);
    return info_check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx driver: jobs of srun, prterun and mpirun, and a process without a
 * launcher.  Called through rt's driver table by one thread; only abort may
 * come from another one. */
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t self;
/* Keys of an earlier init may still be cached: each init has its own. */
static unsigned generation;

#define PALS_ADVICE "start with PALS_PMI=pmix, or have libpmi2.so.0 of " \
    "cray-pmi in LD_LIBRARY_PATH (module load cray-pmi)"
/* Variables that launchers set in each copy they start, and advice.  Not those
 * of a batch script, such as SLURM_NTASKS: the script runs once. */
static const struct launcher {
    const char *var, *advice;
} launchers[] = {
    { "SLURM_STEP_NUM_TASKS", "start with \"srun --mpi=pmix\", or \"srun "
      "--mpi=pmi2\"" },
    { "OMPI_COMM_WORLD_SIZE", "start with an mpirun that has PMIx" },
    { "PALS_SIZE", PALS_ADVICE }, { "PALS_NRANKS", PALS_ADVICE },
    { "FLUX_JOB_SIZE", "start with \"flux run -o pmi=pmix\"" },
    { "PMI_SIZE", "start with oshrun or a launcher that has PMIx (a program "
      "with MPI: mpirun of Open MPI, or srun --mpi=pmix)" },
};

/* The row that says that several copies were started, or NULL. */
static const struct launcher *several_copies(void)
{
    const char *v;

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        v = env_foreign(launchers[i].var);
        if (v && atoi(v) > 1)
            return &launchers[i];
    }
    return NULL;
}

/* A launcher that ran several copies must not silently become several jobs. */
static int refuse_copies(const char *why)
{
    const struct launcher *l = several_copies();
    const char *n;

    if (env.SINGLETON)
        return 0;
    if (l) {
        n = env_foreign(l->var);
        log_error(ERR_PMI, "a launcher ran %s copies (%s is %s) but each would "
                  "be a job of one PE: no PMIx server answered (PMIX_NAMESPACE "
                  "%s, PMIx_Init: %s) and no PMI-2 (%s); %s, or set "
                  "SHMEM_SINGLETON=1 if one PE is meant", n, l->var, n,
                  env_foreign("PMIX_NAMESPACE") ? "is set" : "is not set", why,
                  rt_pmi2_why ? rt_pmi2_why : "not tried", l->advice);
        return -ENOTCONN;
    }
    if (!env_foreign("PMIX_NAMESPACE"))
        return 0;
    /* How many were started is not known: one that runs on its own would let
     * the others wait for it. */
    log_error(ERR_PMI, "a launcher started this process (PMIX_NAMESPACE is "
              "set) but its PMIx server does not answer (PMIx_Init: %s); start "
              "with oshrun, or set SHMEM_SINGLETON=1 if one PE is meant", why);
    return -ENOTCONN;
}

/* MPI_Init of a process that finds no server of its launcher makes one that
 * knows this process alone, and sets the variables that lead to it. */
static int refuse_own_server(void)
{
    const char *name = env_foreign("PMIX_NAMESPACE"), *n;
    const struct launcher *l = several_copies();

    if (rt_job.n_pes > 1 || env.SINGLETON || !l || !name ||
        rt_inherited("PMIX_NAMESPACE", name))
        return 0;
    n = env_foreign(l->var);
    log_error(ERR_PMI, "a launcher ran %s copies (%s is %s) but each would be "
              "a job of one PE: MPI_Init, which came first, found no PMIx "
              "server and made a job of one process; %s, or set "
              "SHMEM_SINGLETON=1 if one PE is meant", n, l->var, n, l->advice);
    return -ENOTCONN;
}

static int open_alone(const char *why)
{
    int rc = refuse_copies(why);

    if (!rc)
        rt_open_singleton();
    return rc;
}

static void full_key(char *out, size_t size, const char *key)
{
    snprintf(out, size, "sluice.%u.%s", generation, key);
}

/* A number that the server keeps for the whole job or for this process. */
static int job_number(const char *key, bool of_job, uint32_t *out)
{
    pmix_value_t *v = NULL;
    pmix_proc_t who = self;
    pmix_status_t st;

    if (of_job)
        who.rank = PMIX_RANK_WILDCARD;
    st = PMIx_Get(&who, key, NULL, 0, &v);
    if (st != PMIX_SUCCESS) {
        log_error(ERR_PMI, "PMIx_Get of %s: %s", key, PMIx_Error_string(st));
        return -EPROTO;
    }
    PMIX_VALUE_GET_NUMBER(st, v, *out, uint32_t);
    PMIX_VALUE_RELEASE(v);
    if (st != PMIX_SUCCESS) {
        log_error(ERR_PMI, "PMIx_Get of %s gave no number", key);
        return -EPROTO;
    }
    return 0;
}

/* The list of PMIx at the first init: ranks do not move, and Open MPI's mpirun
 * gives another node's list once a client has finalized and come back. */
static char *local_list;

static int find_list(void)
{
    pmix_proc_t all = self;
    pmix_value_t *v = NULL;
    pmix_status_t st;
    char alone[16];

    all.rank = PMIX_RANK_WILDCARD;
    st = PMIx_Get(&all, PMIX_LOCAL_PEERS, NULL, 0, &v);
    if (st == PMIX_SUCCESS && v->type == PMIX_STRING && v->data.string) {
        local_list = strdup(v->data.string);
    } else {
        log_info(LOG_RT, "PMIx_Get of %s: %s; this PE is its own node",
                 PMIX_LOCAL_PEERS, PMIx_Error_string(st));
        snprintf(alone, sizeof alone, "%d", rt_job.pe);
        local_list = strdup(alone);
    }
    if (v)
        PMIX_VALUE_RELEASE(v);
    return local_list ? 0 : -ENOMEM;
}

static int find_local(void)
{
    int rc = local_list ? 0 : find_list();
    int n, *pes;

    if (!rc)
        rc = rt_peers_parse(local_list, rt_job.n_pes, &n, &pes);
    if (!rc)
        rc = rt_keep_group(pes, n);
    if (rc && rc != -ENOMEM)
        log_error(ERR_PMI, "PMIx_Get of %s gave \"%.64s\": PEs of this node, "
                  "of %d in all, with this one were expected", PMIX_LOCAL_PEERS,
                  local_list, rt_job.n_pes);
    return rc && rc != -ENOMEM ? -EPROTO : rc;
}

static int open_client(void)
{
    uint32_t size;
    int rc;

    rt_job.pe = (int)self.rank;
    rt_job.launched = true;
    log_identify(rt_job.pe, log_host());
    rc = job_number(PMIX_JOB_SIZE, true, &size);
    if (rc)
        return rc;
    rt_job.n_pes = (int)size;
    rc = refuse_own_server();
    return rc ? rc : find_local();
}

static void *nothing(void *arg)
{
    return arg;
}

/* libpmix has one, and is long-winded where it cannot. */
static int try_thread(void)
{
    pthread_t thread;

    errno = -thread_start(&thread, nothing, NULL);
    if (errno) {
        log_error(ERR_LIMIT, "PMIx_Init needs a thread: pthread_create: %m; "
                  "raise the limit of processes of this user (ulimit -u) or "
                  "of the container (pids.max)");
        return -EAGAIN;
    }
    pthread_join(thread, NULL);
    return 0;
}

static int put(const char *key, const void *value, size_t size, bool on_node)
{
    pmix_value_t v;
    pmix_status_t st;
    char name[64];

    full_key(name, sizeof name, key);
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo.bytes = (char *)value;
    v.data.bo.size = size;
    st = PMIx_Put(on_node ? PMIX_LOCAL : PMIX_GLOBAL, name, &v);
    if (st != PMIX_SUCCESS) {
        log_error(ERR_PMI, "PMIx_Put of %s: %s", name, PMIx_Error_string(st));
        return -EPROTO;
    }
    return 0;
}

/* The key of this session that a PE of this node has set: it is back. */
static bool is_back(int pe, const char *key)
{
    pmix_proc_t who = self;
    pmix_value_t *v = NULL;
    pmix_status_t st;

    who.rank = (pmix_rank_t)pe;
    st = PMIx_Get(&who, key, NULL, 0, &v);
    if (v)
        PMIX_VALUE_RELEASE(v);
    return st == PMIX_SUCCESS;
}

/* A server learns of the end of a client's last session by its closed socket,
 * maybe only when others of its job are in a fence of the next one, and then
 * ends that fence with PARTIAL SUCCESS or LOST_CONNECTION.  So before the
 * first fence all of this node's PEs must be back. */
static int await_neighbours(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    char key[64];
    int n, *pes, rc, tries = 0;

    if (generation == 1)
        return 0;
    rc = rt_peers_parse(local_list, rt_job.n_pes, &n, &pes);
    if (rc)
        return rc;
    full_key(key, sizeof key, "back");
    rc = put("back", "", 1, true);
    if (!rc && PMIx_Commit() != PMIX_SUCCESS)
        rc = -EPROTO;
    /* The fence reports a PE that never comes back. */
    for (int i = 0; !rc && i < n && tries < 10000; )
        if (is_back(pes[i], key))
            i++;
        else
            tries += nanosleep(&pause, NULL) == 0;
    free(pes);
    return rc;
}

static int open_pmix(void)
{
    pmix_status_t st;
    int rc;

    generation++;
    /* Without these no server called us: do not let libpmix look for one. */
    if (!env_foreign("PMIX_NAMESPACE"))
        return open_alone("not tried");
    rc = try_thread();
    if (rc)
        return rc;
    st = fault_hit(FAULT_RT_INIT) ? PMIX_ERR_UNREACH
                                  : PMIx_Init(&self, NULL, 0);
    if (st != PMIX_SUCCESS)
        return open_alone(PMIx_Error_string(st));
    rc = open_client();
    if (!rc)
        rc = await_neighbours();
    if (rc) {
        PMIx_Finalize(NULL, 0);
        rt_job.launched = false;
    }
    return rc;
}

static void close_pmix(void)
{
    pmix_status_t st;

    st = PMIx_Finalize(NULL, 0);
    if (st != PMIX_SUCCESS)
        log_info(LOG_RT, "PMIx_Finalize: %s", PMIx_Error_string(st));
}

static pmix_status_t pmix_fence(void)
{
    bool collect = true;
    pmix_status_t st;
    pmix_info_t info;

    if (fault_hit(FAULT_RT_FENCE))
        return PMIX_ERR_TIMEOUT;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    st = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    if (st != PMIX_SUCCESS)
        rt_await_end();
    return st;
}

static int fence(void)
{
    pmix_status_t st;

    st = PMIx_Commit();
    if (st == PMIX_SUCCESS)
        st = pmix_fence();
    if (st != PMIX_SUCCESS) {
        log_error(ERR_PMI, "PMIx_Fence of %d PEs: %s", rt_job.n_pes,
                  PMIx_Error_string(st));
        return -EPROTO;
    }
    return 0;
}

static int get(int pe, const char *key, void *out, size_t size, size_t *got)
{
    pmix_proc_t who = self;
    pmix_value_t *v = NULL;
    pmix_status_t st;
    char name[64];
    int rc = -EPROTO;

    full_key(name, sizeof name, key);
    who.rank = (pmix_rank_t)pe;
    st = PMIx_Get(&who, name, NULL, 0, &v);
    if (st != PMIX_SUCCESS || v->type != PMIX_BYTE_OBJECT) {
        log_error(ERR_PMI, "PMIx_Get of %s from PE %d: %s", name, pe,
                  st == PMIX_SUCCESS ? "wrong type" : PMIx_Error_string(st));
    } else if (got ? v->data.bo.size > size : v->data.bo.size != size) {
        log_error(ERR_PMI, "PMIx_Get of %s from PE %d: %zu bytes, %zu "
                  "expected: it runs another version of Sluice", name, pe,
                  v->data.bo.size, size);
        rc = -EMSGSIZE;
    } else {
        memcpy(out, v->data.bo.bytes, v->data.bo.size);
        if (got)
            *got = v->data.bo.size;
        rc = 0;
    }
    if (v)
        PMIX_VALUE_RELEASE(v);
    return rc;
}

static bool host_of(int pe, char *out, size_t size)
{
    pmix_proc_t who = self;
    pmix_value_t *v = NULL;
    bool only_known = true, found;
    pmix_info_t info;

    /* PMIx would wait for a value that is not here already. */
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &only_known, PMIX_BOOL);
    who.rank = (pmix_rank_t)pe;
    found = PMIx_Get(&who, PMIX_HOSTNAME, &info, 1, &v) == PMIX_SUCCESS &&
            v->type == PMIX_STRING && v->data.string;
    if (found)
        snprintf(out, size, "%s", v->data.string);
    if (v)
        PMIX_VALUE_RELEASE(v);
    PMIX_INFO_DESTRUCT(&info);
    return found;
}

static void abort_job(int status)
{
    PMIx_Abort(status, "", NULL, 0);
}

const struct rt_driver rt_pmix = {
    .open = open_pmix,
    .close = close_pmix,
    .put = put,
    .fence = fence,
    .get = get,
    .host = host_of,
    .abort = abort_job,
};

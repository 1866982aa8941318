/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - starts the PMIx server of oshrun --pmix and registers the job and
 * its PEs with libpmix.  The supervisor calls it before any PE starts; the
 * contract is in server.h. */
#include "oshrun.h"
#include "server_int.h"

#include <hwloc.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Registering: answers libpmix still owes, and the first bad one. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int left;
    pmix_status_t status;
} reg = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
    .status = PMIX_SUCCESS,
};

static int refuse(const char *call, pmix_status_t st)
{
    say("S-E-SERVER", "%s: %s; the PEs cannot be started%s", call,
        PMIx_Error_string(st), st == PMIX_ERR_NOT_AVAILABLE || st == PMIX_ERR_INIT
        ? " (a PMIx server needs the loopback interface: ip link set lo up)"
        : "");
    return -1;
}

static void registered(pmix_status_t st, void *arg)
{
    (void)arg;
    pthread_mutex_lock(&reg.lock);
    if (st != PMIX_SUCCESS && st != PMIX_OPERATION_SUCCEEDED)
        reg.status = st;
    if (--reg.left == 0)
        pthread_cond_signal(&reg.done);
    pthread_mutex_unlock(&reg.lock);
}

/* Start-up time is the sum of what libpmix looks at.  The server needs no
 * topology, so it is handed one of a single core without any discovery;
 * plugins of hwloc are kept out, being slow to load. */
static pmix_status_t init_server(void)
{
    hwloc_topology_t core = NULL;
    pmix_info_t info[1];
    pmix_status_t st;
    size_t n = 0;
#if PMIX_VERSION_MAJOR >= 4
    static pmix_topology_t topo;
#endif
    char *plugins = getenv("HWLOC_PLUGINS_PATH");

    if (!plugins)
        setenv("HWLOC_PLUGINS_PATH", "/dev/null", 1);
    PMIX_INFO_CONSTRUCT(&info[0]);
    if (hwloc_topology_init(&core) == 0 &&
        hwloc_topology_set_synthetic(core, "pu:1") == 0 &&
        hwloc_topology_load(core) == 0) {
#if PMIX_VERSION_MAJOR >= 4
        topo.source = must(strdup("hwloc"));
        topo.topology = core;
        PMIX_LOAD_KEY(info[0].key, PMIX_TOPOLOGY2);
        info[0].value.type = PMIX_TOPO;
        info[0].value.data.topo = &topo;
#else
        PMIX_LOAD_KEY(info[0].key, PMIX_TOPOLOGY);
        info[0].value.type = PMIX_POINTER;
        info[0].value.data.ptr = core;
#endif
        n = 1;
    }
    st = PMIx_server_init(&server_calls, n ? info : NULL, n);
    if (!plugins)
        unsetenv("HWLOC_PLUGINS_PATH");
    return st;
}

static void load_u32(pmix_info_t *info, const char *key, uint32_t v)
{
    PMIX_INFO_LOAD(info, key, &v, PMIX_UINT32);
}

static void load_text(pmix_info_t *info, const char *key, const char *text)
{
    PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
}

static pmix_status_t load_maps(pmix_info_t *nodes, pmix_info_t *procs,
                               const char *host, const char *peers)
{
    char *map;
    pmix_status_t st = PMIx_generate_regex(host, &map);

    if (st != PMIX_SUCCESS)
        return st;
    PMIX_INFO_LOAD(nodes, PMIX_NODE_MAP, map, PMIX_REGEX);
    free(map);
    st = PMIx_generate_ppn(peers, &map);
    if (st != PMIX_SUCCESS)
        return st;
    PMIX_INFO_LOAD(procs, PMIX_PROC_MAP, map, PMIX_REGEX);
    free(map);
    return st;
}

/* Ranks, local ranks, node numbers and host names of the PEs follow from the
 * two maps, which libpmix expands. */
static pmix_status_t register_job(const char *host)
{
    const char *tmp = getenv("TMPDIR");
    pmix_rank_t leader = 0;
    static pmix_info_t info[24];    /* libpmix reads it until it answers */
    uint32_t n = (uint32_t)srv.n;
    size_t i, k = 0, len = 0;
    pmix_status_t st;
    char *peers = must(malloc((size_t)n * 11 + 1));

    for (i = 0; i < n; i++)
        len += (size_t)sprintf(peers + len, i ? ",%zu" : "%zu", i);
    for (i = 0; i < sizeof(info) / sizeof(*info); i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    load_text(&info[k++], PMIX_JOBID, srv.nspace);
    load_u32(&info[k++], PMIX_JOB_SIZE, n);
    load_u32(&info[k++], PMIX_UNIV_SIZE, n);
    load_u32(&info[k++], PMIX_MAX_PROCS, n);
    load_u32(&info[k++], PMIX_LOCAL_SIZE, n);
    load_u32(&info[k++], PMIX_NODE_SIZE, n);
    load_u32(&info[k++], PMIX_NUM_NODES, 1);
    load_u32(&info[k++], PMIX_JOB_NUM_APPS, 1);
    load_u32(&info[k++], PMIX_APP_SIZE, n);
    load_u32(&info[k++], PMIX_APPNUM, 0);
    load_u32(&info[k++], PMIX_NODEID, 0);
    load_text(&info[k++], PMIX_LOCAL_PEERS, peers);
    load_text(&info[k++], PMIX_HOSTNAME, host);
    load_text(&info[k++], PMIX_TMPDIR, tmp && *tmp ? tmp : "/tmp");
    PMIX_INFO_LOAD(&info[k], PMIX_LOCALLDR, &leader, PMIX_PROC_RANK), k++;
    PMIX_INFO_LOAD(&info[k], PMIX_APPLDR, &leader, PMIX_PROC_RANK), k++;
    k += 2;
    st = load_maps(&info[k - 2], &info[k - 1], host, peers);
    if (st == PMIX_SUCCESS)
        st = PMIx_server_register_nspace(srv.nspace, srv.n, info, k,
                                         registered, NULL);
    free(peers);
    return st;
}

static pmix_status_t register_all(const char *host)
{
    pmix_status_t st;
    pmix_proc_t proc;

    reg.left = srv.n + 1;
    st = register_job(host);
    for (int pe = 0; pe < srv.n && st == PMIX_SUCCESS; pe++) {
        PMIX_LOAD_PROCID(&proc, srv.nspace, (pmix_rank_t)pe);
        st = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL,
                                         registered, NULL);
    }
    if (st != PMIX_SUCCESS)
        return st;
    pthread_mutex_lock(&reg.lock);
    while (reg.left > 0)
        pthread_cond_wait(&reg.done, &reg.lock);
    st = reg.status;
    pthread_mutex_unlock(&reg.lock);
    return st;
}

static void *nothing(void *arg)
{
    return arg;
}

/* libpmix has one, and is long-winded where it cannot. */
static int try_thread(void)
{
    pthread_t thread;
    int err = pthread_create(&thread, NULL, nothing, NULL);

    if (err) {
        print_process_limit(err, "the PMIx server: pthread_create");
        return -1;
    }
    pthread_join(thread, NULL);
    return 0;
}

int server_open(int n, const char *host, const char *name)
{
    pmix_status_t st;

    srv.n = n;
    srv.client = must(calloc((size_t)n, sizeof(*srv.client)));
    srv.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (srv.fd < 0) {
        say("S-E-SERVER", "eventfd: %m");
        return -1;
    }
    snprintf(srv.nspace, sizeof(srv.nspace), "%s", name);

    /* Data in the server's memory instead of files the PEs map, which outlive
     * a killed server; no security service that asks a daemon. */
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("PMIX_MCA_psec", "native", 0);
    if (try_thread() < 0)
        return -1;
    st = init_server();
    if (st != PMIX_SUCCESS)
        return refuse("PMIx_server_init", st);
    st = register_all(host);
    if (st != PMIX_SUCCESS)
        return refuse("PMIx_server_register_nspace", st);
    return 0;
}

int server_env(int pe, char ***env)
{
    pmix_status_t st;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, srv.nspace, (pmix_rank_t)pe);
    st = PMIx_server_setup_fork(&proc, env);
    if (st != PMIX_SUCCESS)
        return refuse("PMIx_server_setup_fork", st);
    return 0;
}

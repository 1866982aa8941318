/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - see server.h. */
#include "server.h"

#include "oshrun.h"

#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

static struct {
    char nspace[PMIX_MAX_NSLEN + 1];
    int n;
    int fd;
    pthread_mutex_t lock;           /* the queue and the count below */
    pthread_cond_t registered;
    int to_register;                /* answers libpmix still owes */
    int register_error;
    struct server_event *queue;
    size_t head, tail, cap;
} srv = {
    .fd = -1,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .registered = PTHREAD_COND_INITIALIZER,
};

/* ---- from libpmix's thread to the loop ---- */

static void post(const struct server_event *ev)
{
    uint64_t one = 1;

    pthread_mutex_lock(&srv.lock);
    if (srv.tail == srv.cap) {
        srv.cap = srv.cap ? 2 * srv.cap : 64;
        srv.queue = must(realloc(srv.queue, srv.cap * sizeof(*srv.queue)));
    }
    srv.queue[srv.tail++] = *ev;
    pthread_mutex_unlock(&srv.lock);
    if (write(srv.fd, &one, sizeof(one)) < 0)
        return;                     /* the counter is full: it wakes anyway */
}

bool server_next(struct server_event *out)
{
    bool some;

    pthread_mutex_lock(&srv.lock);
    some = srv.head < srv.tail;
    if (some)
        *out = srv.queue[srv.head++];
    if (srv.head == srv.tail)
        srv.head = srv.tail = 0;
    pthread_mutex_unlock(&srv.lock);
    return some;
}

int server_fd(void)
{
    return srv.fd;
}

void server_answer(struct server_event *ev)
{
    if (ev->done)
        ev->done(PMIX_SUCCESS, ev->arg);
    if (ev->done_fence)
        ev->done_fence(PMIX_ERR_LOST_CONNECTION, NULL, 0, ev->arg, NULL, NULL);
    ev->done = NULL;
    ev->done_fence = NULL;
}

static bool ours(const pmix_proc_t *proc)
{
    return strcmp(proc->nspace, srv.nspace) == 0 &&
           proc->rank < (pmix_rank_t)srv.n;
}

#if PMIX_VERSION_MAJOR >= 4
static pmix_status_t connected(const pmix_proc_t *proc, void *object,
                               pmix_info_t info[], size_t n_info,
                               pmix_op_cbfunc_t done, void *arg)
#else
static pmix_status_t connected(const pmix_proc_t *proc, void *object,
                               pmix_op_cbfunc_t done, void *arg)
#endif
{
#if PMIX_VERSION_MAJOR >= 4
    (void)info, (void)n_info;
#endif
    (void)object, (void)done, (void)arg;
    if (ours(proc))
        post(&(struct server_event){ .what = SERVER_CONNECTED,
                                     .pe = (int)proc->rank });
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object,
                               pmix_op_cbfunc_t done, void *arg)
{
    (void)object;
    if (!ours(proc))
        return PMIX_OPERATION_SUCCEEDED;
    post(&(struct server_event){ .what = SERVER_FINALIZED,
                                 .pe = (int)proc->rank,
                                 .done = done, .arg = arg });
    return PMIX_SUCCESS;
}

static pmix_status_t aborted(const pmix_proc_t *proc, void *object, int status,
                             const char msg[], pmix_proc_t procs[],
                             size_t n_procs, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)msg, (void)procs, (void)n_procs, (void)done, (void)arg;
    post(&(struct server_event){ .what = SERVER_ABORT, .status = status,
                                 .pe = ours(proc) ? (int)proc->rank : 0 });
    return PMIX_OPERATION_SUCCEEDED;
}

/* All PEs are local, so libpmix completes fences by itself.  One that gets
 * here misses a PE that left without finalizing: it is held, because the
 * keeper is about to end the job and say why. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t n_procs,
                           const pmix_info_t info[], size_t n_info, char *data,
                           size_t size, pmix_modex_cbfunc_t done, void *arg)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info, (void)data;
    (void)size;
    post(&(struct server_event){ .what = SERVER_FENCE, .pe = -1,
                                 .done_fence = done, .arg = arg });
    return PMIX_SUCCESS;
}

/* Asked only about processes that are not of this job. */
static pmix_status_t modex(const pmix_proc_t *proc, const pmix_info_t info[],
                           size_t n_info, pmix_modex_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)n_info, (void)done, (void)arg;
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t events_wanted(pmix_status_t *codes, size_t n_codes,
                                   const pmix_info_t info[], size_t n_info,
                                   pmix_op_cbfunc_t done, void *arg)
{
    (void)codes, (void)n_codes, (void)info, (void)n_info, (void)done;
    (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t events_unwanted(pmix_status_t *codes, size_t n_codes,
                                     pmix_op_cbfunc_t done, void *arg)
{
    (void)codes, (void)n_codes, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t notified(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t info[],
                              size_t n_info, pmix_op_cbfunc_t done, void *arg)
{
    (void)code, (void)source, (void)range, (void)info, (void)n_info;
    (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* Anybody on the host can reach the socket; only the PEs have business here. */
static void tool(pmix_info_t *info, size_t n_info,
                 pmix_tool_connection_cbfunc_t done, void *arg)
{
    pmix_proc_t nobody;

    (void)info, (void)n_info;
    PMIX_LOAD_PROCID(&nobody, "", PMIX_RANK_UNDEF);
    done(PMIX_ERR_NOT_SUPPORTED, &nobody, arg);
}

static pmix_server_module_t module = {
#if PMIX_VERSION_MAJOR >= 4
    .client_connected2 = connected,
#else
    .client_connected = connected,
#endif
    .client_finalized = finalized,
    .abort = aborted,
    .fence_nb = fence,
    .direct_modex = modex,
    .register_events = events_wanted,
    .deregister_events = events_unwanted,
    .notify_event = notified,
    .tool_connected = tool,
};

/* ---- start ---- */

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
    pthread_mutex_lock(&srv.lock);
    if (st != PMIX_SUCCESS && st != PMIX_OPERATION_SUCCEEDED)
        srv.register_error = st;
    if (--srv.to_register == 0)
        pthread_cond_signal(&srv.registered);
    pthread_mutex_unlock(&srv.lock);
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
    st = PMIx_server_init(&module, n ? info : NULL, n);
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

    srv.to_register = srv.n + 1;
    st = register_job(host);
    for (int pe = 0; pe < srv.n && st == PMIX_SUCCESS; pe++) {
        PMIX_LOAD_PROCID(&proc, srv.nspace, (pmix_rank_t)pe);
        st = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL,
                                         registered, NULL);
    }
    if (st != PMIX_SUCCESS)
        return st;
    pthread_mutex_lock(&srv.lock);
    while (srv.to_register > 0)
        pthread_cond_wait(&srv.registered, &srv.lock);
    st = srv.register_error;
    pthread_mutex_unlock(&srv.lock);
    return st;
}

int server_open(int n, const char *host)
{
    uint64_t secret;
    pmix_status_t st;

    srv.n = n;
    srv.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (srv.fd < 0) {
        say("S-E-SERVER", "eventfd: %m");
        return -1;
    }
    /* Connecting takes the name of the job: make it hard to guess. */
    if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
        secret = (uint64_t)now_ms() * (uint64_t)getpid();
    snprintf(srv.nspace, sizeof(srv.nspace), "oshrun-%d-%016llx", (int)getpid(),
             (unsigned long long)secret);

    /* Data in the server's memory instead of files the PEs map, which outlive
     * a killed server; no security service that asks a daemon. */
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("PMIX_MCA_psec", "native", 0);
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
    return st == PMIX_SUCCESS ? 0 : refuse("PMIx_server_setup_fork", st);
}

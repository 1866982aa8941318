/* SPDX-License-Identifier: BSD-3-Clause */
/* server_calls.c - the callbacks of libpmix for the PMIx server.  They run on a
 * thread of libpmix, so they only queue an event for the supervisor's loop,
 * which server_next() takes out. */
#include "oshrun.h"
#include "server_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct server srv = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- from libpmix's thread to the loop ---- */

/* Takes the lock; so do the calls below. */
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
    if (ev->fence)
        ev->fence(PMIX_ERR_LOST_CONNECTION, NULL, 0, ev->arg, NULL, NULL);
    ev->fence = NULL;
}

/* ---- PMIx_Finalize of all PEs together ----
 *
 * A PE may start PMIx anew right after it has finalized, and join a fence
 * while others have not closed their old connections yet.  libpmix would
 * count them as lost participants of the new fence and break it.  So the
 * answers to PMIx_Finalize wait until all PEs that are connected have asked;
 * the last one to ask is handled on libpmix's thread, where nothing else can
 * happen meanwhile: there all are answered. */

/* With the lock held. */
static bool all_finalized(void)
{
    for (int i = 0; i < srv.n; i++)
        if (srv.client[i].connected && !srv.client[i].finalized &&
            !srv.client[i].gone)
            return false;
    return true;
}

static void complete_finalize(void)
{
    pmix_op_cbfunc_t done;
    void *arg;

    for (int i = 0; i < srv.n; i++) {
        pthread_mutex_lock(&srv.lock);
        done = srv.client[i].finalize_done;
        arg = srv.client[i].finalize_arg;
        srv.client[i].finalize_done = NULL;
        pthread_mutex_unlock(&srv.lock);
        if (done)
            done(PMIX_SUCCESS, arg);
    }
}

bool server_finalize_pending(void)
{
    bool some = false;

    pthread_mutex_lock(&srv.lock);
    for (int i = 0; i < srv.n && !some; i++)
        some = srv.client[i].finalize_done != NULL;
    pthread_mutex_unlock(&srv.lock);
    return some;
}

void server_complete_finalize(void)
{
    complete_finalize();
}

void server_gone(int pe)
{
    bool all;

    if (!srv.client)
        return;
    pthread_mutex_lock(&srv.lock);
    srv.client[pe].gone = true;
    all = all_finalized();
    pthread_mutex_unlock(&srv.lock);
    if (all)
        complete_finalize();
}

/* ---- the calls ---- */

static bool proc_in_job(const pmix_proc_t *proc)
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
    struct client *c;

#if PMIX_VERSION_MAJOR >= 4
    (void)info, (void)n_info;
#endif
    (void)object, (void)done, (void)arg;
    if (!proc_in_job(proc))
        return PMIX_OPERATION_SUCCEEDED;
    c = &srv.client[proc->rank];
    pthread_mutex_lock(&srv.lock);
    c->connected = true;
    c->finalized = false;
    pthread_mutex_unlock(&srv.lock);
    post(&(struct server_event){ .what = SERVER_CONNECTED, .by = VIA_PMIX,
                                 .pe = (int)proc->rank });
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object,
                               pmix_op_cbfunc_t done, void *arg)
{
    bool all;
    struct client *c;

    (void)object;
    if (!proc_in_job(proc))
        return PMIX_OPERATION_SUCCEEDED;
    c = &srv.client[proc->rank];
    pthread_mutex_lock(&srv.lock);
    c->finalized = true;
    all = all_finalized();
    if (!all) {
        c->finalize_done = done;
        c->finalize_arg = arg;
    }
    pthread_mutex_unlock(&srv.lock);
    if (all)
        complete_finalize();
    post(&(struct server_event){ .what = SERVER_FINALIZED, .by = VIA_PMIX,
                                 .pe = (int)proc->rank });
    if (!all)
        return PMIX_SUCCESS;
    return PMIX_OPERATION_SUCCEEDED;    /* answered after we return */
}

static pmix_status_t aborted(const pmix_proc_t *proc, void *object, int status,
                             const char msg[], pmix_proc_t procs[],
                             size_t n_procs, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)msg, (void)procs, (void)n_procs, (void)done, (void)arg;
    post(&(struct server_event){ .what = SERVER_ABORT, .status = status,
                                 .pe = proc_in_job(proc) ? (int)proc->rank
                                                         : 0 });
    return PMIX_OPERATION_SUCCEEDED;
}

/* All PEs are local, so libpmix completes fences by itself.  One that gets
 * here misses a PE that left without finalizing: it is held, because the
 * supervisor is about to end the job and say why. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t n_procs,
                           const pmix_info_t info[], size_t n_info, char *data,
                           size_t size, pmix_modex_cbfunc_t done, void *arg)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info, (void)data;
    (void)size;
    post(&(struct server_event){ .what = SERVER_FENCE, .pe = -1,
                                 .fence = done, .arg = arg });
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

/* Every process of the host can connect to the socket; only PEs are
 * accepted. */
static void tool(pmix_info_t *info, size_t n_info,
                 pmix_tool_connection_cbfunc_t done, void *arg)
{
    pmix_proc_t no_process;

    (void)info, (void)n_info;
    PMIX_LOAD_PROCID(&no_process, "", PMIX_RANK_UNDEF);
    done(PMIX_ERR_NOT_SUPPORTED, &no_process, arg);
}

pmix_server_module_t server_calls = {
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* core.h - teams, contexts, errors, ordering, waits and locks.
 * The operations themselves are inline in core_rma.h and core_amo.h.
 * Threads: everything but opening and closing may be called from any thread
 * as far as the thread level allows.  Errors: misuse ends the job through
 * core_fatal(), since the calls of OpenSHMEM return nothing. */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "base/atomics.h"
#include "base/list.h"
#include "base/log.h"
#include "core/core_ctl.h"
#include "core/core_ctx.h"
#include "core/core_team.h"
#include "core/core_wait.h"
#include "gtl/gtl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_ctx {
    struct core_team *team;     /* one without PEs where kernels use it */
    const int *direct;          /* its PEs, for inline code; see below */
    struct core_team *device_team;      /* the team, then; else NULL */
    long options;
    uint64_t owner;             /* the thread that made it, */
    uint64_t (*id)(void);       /* as this function numbers threads */
    struct xport_ctx *net;      /* its operations on off-node peers */
    unsigned copy_stream;       /* of its non-blocking device copies */
    struct list_link link;      /* in the list of created contexts */
};
/* The second is the library's own: collectives, locks, queries of peers. */
extern hidden struct core_ctx core_ctx_default, core_ctx_inner;

enum core_state { CORE_DOWN, CORE_UP, CORE_ENDED, CORE_FORKED };

struct core_status {
    enum core_state state;
    int thread_level;
    bool oversubscribed;        /* more PEs here than cores */
    bool one_core;              /* for all threads of this PE */
    bool one_machine;           /* which the nodes share */
    bool checks; /* SHMEM_CHECK: compare and look up what is passed */
};
extern hidden struct core_status core_status;
/* relaxed: a thread that finds the library ready called init itself, or waited
 * for the thread that did. */
static inline enum core_state core_state(void)
{
    return __atomic_load_n(&core_status.state, __ATOMIC_RELAXED);
}

static inline void core_set_state(enum core_state state)
{
    __atomic_store_n(&core_status.state, state, __ATOMIC_RELAXED);
}

/* After the transports: the world team, the default context, the ctl block. */
int core_open(int thread_level);
/* Called after the first synchronisation of all PEs: the PEs of a node agree.
 */
void core_agree_node(void);
/* The set of this PE's cores, and its length, where all nodes are of one
 * machine; and the decisions that follow from the set of all PEs' cores, of
 * CORE_CPU_SET_LEN words. */
int core_machine_cpus(uint64_t *out);
void core_agree_machine(const uint64_t *cpus);
void core_close(void);
/* Opens the endpoint contexts for off-node peers, if there are any. */
int core_remote_open(void);
void core_remote_close(void);
/* A line on what the network did, for SHMEM_STATS. */
void core_remote_print_counts(void);
/* An off-node peer has stored data here: see xport_data_arrived. */
void core_arrived(const void *at, size_t len);

/* One line "call: text [S-E-CODE]", then the job ends.  call is __func__ of
 * the API function; its leading p is dropped. */
_Noreturn void core_fatal(enum err_code code, const char *call,
                          const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
/* For an error that another PE reports, too: that PE gets a second to end the
 * job before this one prints its line. */
void core_await_end(void);
/* The reason why an operation on [sym, sym + len) of that PE is wrong, and a
 * text for it; ERR_CODES: it is right.  arg: the name of the argument that sym
 * is. */
enum { CORE_REASON_SIZE = 512 };
enum err_code core_misuse_reason(const struct core_ctx *ctx, const char *arg,
                                 const void *sym, size_t len, int pe,
                                 char text[CORE_REASON_SIZE])
    __attribute__((cold, noinline));
/* Ends the job if an operation cannot be done: by its PE, state or address, or
 * because no transport reaches the PE. */
void core_refuse(const char *call, const struct core_ctx *ctx, const char *arg,
                 const void *sym, size_t len, int pe)
    __attribute__((cold, noinline));
_Noreturn void core_refuse_state(const char *call) __attribute__((cold));
/* Ends the job unless ctx is one that exists and this thread may use. */
void core_ctx_check(shmem_ctx_t ctx, const char *call)
    __attribute__((cold, noinline));
/* Ends the job: the context is for kernels, or was destroyed. */
_Noreturn void core_ctx_refuse(const struct core_ctx *c, const char *call)
    __attribute__((cold));
_Noreturn void core_ctx_refuse_device(const char *call) __attribute__((cold));
bool core_ctx_is_destroyed(const struct core_ctx *c);
/* Is it a context that exists?  c may be anything. */
bool core_ctx_is_known(const struct core_ctx *c);

/* Off with ./configure --disable-checks: misuse is then undefined.  Results
 * that cond computes on the way, like a product, are needed all the same. */
#ifdef SLUICE_CHECKS
#define CORE_CHECK(cond) unlikely(cond)
#else
#define CORE_CHECK(cond) ((void)(cond), 0)
#endif

static inline void core_need_up(const char *call)
{
    if (CORE_CHECK(core_world.n_pes == 0))
        core_refuse_state(call);
}

static inline const struct core_ctx *core_ctx_of(shmem_ctx_t ctx,
                                                 const char *call)
{
    if (likely(ctx == SHMEM_CTX_DEFAULT))
        return &core_ctx_default;
    if (CORE_CHECK((uintptr_t)ctx <= (uintptr_t)SHMEM_DEVICE_CTX_DEFAULT ||
                   core_status.checks))
        core_ctx_check(ctx, call);
    return (const struct core_ctx *)ctx;
}

/* Both fold to constants for the default context. */
static inline const struct core_team *core_team_of(const struct core_ctx *ctx)
{
    return ctx == &core_ctx_default ? &core_world : ctx->team;
}

/* The number of PEs to which inline code may store by itself: none in a trace,
 * where each access is an event, and in a forked child.  Atomic; relaxed, since
 * an access about the time of the change may be of either kind. */
extern hidden int core_direct_pes;
static inline int core_n_direct(const struct core_ctx *ctx)
{
    return ctx == &core_ctx_default
           ? __atomic_load_n(&core_direct_pes, __ATOMIC_RELAXED)
           : *__atomic_load_n(&ctx->direct, __ATOMIC_RELAXED);
}

/* One of the library's own, for operations on the PEs of t. */
static inline struct core_ctx core_ctx_own(struct core_team *t)
{
    return (struct core_ctx){ .team = t, .direct = &t->n_pes };
}

static inline int core_world_pe(const struct core_ctx *ctx, int pe)
{
    const struct core_team *t = core_team_of(ctx);

    return t == &core_world ? pe : core_team_world_pe(t, pe);
}

/* For jobs with off-node peers, or with device-only memory. */
void core_remote_fence(const char *call, const struct core_ctx *ctx)
    __attribute__((cold));
void core_remote_quiet(const char *call, const struct core_ctx *ctx)
    __attribute__((cold));
/* Called by a quiet of the program, to report what it found; or NULL.  Atomic.
 */
extern hidden void (*core_quiet_hook)(const char *call);

/* Stores of this thread become visible to every PE before it goes on.  call:
 * NULL where the activity record has the collective call already. */
static inline void core_quiet(const char *call, const struct core_ctx *ctx)
{
    /* A fence holds later loads back. */
    bool remote = xport_net != NULL || gtl_device_only;

    /* NOSTORE only frees us from ordering the program's own stores, and puts
     * to mapped peers are such stores here. */
    atomics_full_fence();
    if (unlikely(remote))
        core_remote_quiet(call, ctx);
}

static inline void core_fence(const char *call, const struct core_ctx *ctx)
{
    atomics_store_fence();
    if (unlikely(xport_net != NULL || gtl_device_only))
        core_remote_fence(call, ctx);
}

/* For calls that only test: a program that tests in a loop must see progress.
 */
static inline void core_progress(const char *call)
{
    if (unlikely(xport_net != NULL)) {
        xport_call = call;
        xport_progress->poll();
    }
}

/* ---- Locks: call is the API function's name for messages ---- */
void core_lock_set(const char *call, long *lock);
void core_lock_clear(const char *call, long *lock);
int core_lock_test(const char *call, long *lock);

#endif

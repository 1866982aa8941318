/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: creation, destruction, and the check of a handle.  Called by api,
 * and by coll when a team is destroyed.  Checks are off the path of operations
 * unless SHMEM_CHECK asks for them. */
#include "core/core.h"
#include "gtl/gtl_copy_stream.h"
#include "base/lock.h"
#include "base/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Contexts of kernels and destroyed ones are of this team: the check of a PE,
 * which every call makes, then finds them. */
static struct core_team no_team;

static struct base_lock ctx_lock = LOCK_INIT;
static struct list_link contexts GUARDED_BY(ctx_lock) = LIST_INIT(contexts);
/* The default context has the first copy stream. */
static unsigned made GUARDED_BY(ctx_lock) = 1;

/* The records of destroyed contexts, in the order of their end.  None is
 * freed, and a record serves a new context only after GONE_LEAST others, so
 * that a call with the handle of a destroyed context finds it marked. */
enum { GONE_LEAST = 256 };
static struct list_link gone GUARDED_BY(ctx_lock) = LIST_INIT(gone);
static unsigned n_gone GUARDED_BY(ctx_lock);

static struct core_ctx *record(void)
{
    struct core_ctx *c = NULL;

    lock_acquire(&ctx_lock);
    if (n_gone > GONE_LEAST) {
        c = list_entry(gone.next, struct core_ctx, link);
        list_remove(&c->link);
        n_gone--;
    }
    lock_release(&ctx_lock);
    if (!c)
        return calloc(1, sizeof *c);
    *c = (struct core_ctx){ .team = &no_team, .direct = &no_team.n_pes };
    return c;
}

/* Marks the record by the option that fence and quiet check for. */
static void retire(struct core_ctx *c) REQUIRES(ctx_lock)
{
    c->team = &no_team;
    c->direct = &no_team.n_pes;
    c->device_team = NULL;
    c->options = SHMEM_DEVICE_CTX;
    list_append(&gone, &c->link);
    n_gone++;
}

static void close_net(struct core_ctx *c)
{
    if (c->net)
        xport_net->ctx_close(c->net);
    c->net = NULL;
}

static void retire_record(struct core_ctx *c)
{
    lock_acquire(&ctx_lock);
    retire(c);
    lock_release(&ctx_lock);
}

static uint64_t posix_thread(void)
{
    return (uint64_t)pthread_self();
}

/* atomic; relaxed: it points to code. */
static uint64_t (*thread_id)(void) = posix_thread;

void core_ctx_identify(uint64_t (*id)(void))
{
    __atomic_store_n(&thread_id, id ? id : posix_thread, __ATOMIC_RELAXED);
}

int core_ctx_create(struct core_team *team, long options, shmem_ctx_t *out)
{
    struct core_ctx *c = record();
    int rc = c ? 0 : -ENOMEM;

    if (c && xport_net)
        rc = xport_net->ctx_open(&c->net, true);
    if (rc) {
        log_warn(ERR_CTX, "shmem_ctx_create: no memory for a context");
        if (c)
            retire_record(c);
        return rc;
    }
    c->device_team = options & SHMEM_DEVICE_CTX ? team : NULL;
    c->team = c->device_team ? &no_team : team;
    c->options = options;
    if (options & SHMEM_CTX_PRIVATE) {
        c->id = __atomic_load_n(&thread_id, __ATOMIC_RELAXED);
        c->owner = c->id();
    }
    lock_acquire(&ctx_lock);
    c->direct = trace_is_on() ? &no_team.n_pes : &c->team->n_pes;
    c->copy_stream = made++ % GTL_COPY_STREAMS;
    list_append(&contexts, &c->link);
    lock_release(&ctx_lock);
    *out = (shmem_ctx_t)c;
    return 0;
}

void core_ctx_switch_direct(bool direct)
{
    struct core_ctx *c;

    lock_acquire(&ctx_lock);
    __atomic_store_n(&core_direct_pes, direct ? core_world.n_pes : 0,
                     __ATOMIC_RELAXED);
    for (struct list_link *pos = contexts.next; pos != &contexts;
         pos = pos->next) {
        c = list_entry(pos, struct core_ctx, link);
        __atomic_store_n(&c->direct,
                         direct ? &c->team->n_pes : &no_team.n_pes,
                         __ATOMIC_RELAXED);
    }
    lock_release(&ctx_lock);
}

bool core_ctx_is_known(const struct core_ctx *c)
{
    const struct list_link *pos;
    bool found = false;

    lock_acquire(&ctx_lock);
    for (pos = contexts.next; pos != &contexts && !found; pos = pos->next)
        found = list_entry(pos, const struct core_ctx, link) == c;
    lock_release(&ctx_lock);
    return found;
}

static void need_known(const struct core_ctx *c, const char *call)
{
    if (!core_ctx_is_known(c))
        core_fatal(ERR_CTX, call, "the handle is no context, or one that was "
                   "destroyed");
}

static void check_owner(const struct core_ctx *c, const char *call)
{
    uint64_t user = c->id();
    char numbers[96] = "";

    if (user == c->owner)
        return;
    if (c->id != posix_thread)
        snprintf(numbers, sizeof numbers, ": by the program's numbers, thread "
                 "%" PRIu64 " uses that of thread %" PRIu64, user, c->owner);
    core_fatal(ERR_CTX, call, "a SHMEM_CTX_PRIVATE context is used by another "
               "thread than the one that made it%s", numbers);
}

void core_ctx_check(shmem_ctx_t ctx, const char *call)
{
    const struct core_ctx *c = (const struct core_ctx *)ctx;

    core_need_up(call);
    if (ctx == SHMEM_CTX_INVALID)
        core_fatal(ERR_CTX, call, "the context is SHMEM_CTX_INVALID");
    if (ctx == SHMEM_DEVICE_CTX_DEFAULT)
        core_ctx_refuse_device(call);
    need_known(c, call);
    if (c->options & SHMEM_CTX_PRIVATE)
        check_owner(c, call);
}

void core_ctx_destroy(shmem_ctx_t ctx, const char *call)
{
    struct core_ctx *c = (struct core_ctx *)ctx;

    if (CORE_CHECK(core_status.checks))
        need_known(c, call);
    if (CORE_CHECK(core_ctx_is_destroyed(c)))
        core_ctx_refuse(c, call);
    core_quiet(call, c);
    lock_acquire(&ctx_lock);
    list_remove(&c->link);
    lock_release(&ctx_lock);
    close_net(c);
    retire_record(c);
}

/* Destroys the contexts of the team, or all. */
static void destroy_contexts(const struct core_team *team)
{
    struct list_link *pos, *next;
    struct core_ctx *c;

    lock_acquire(&ctx_lock);
    list_each(pos, next, &contexts) {
        c = list_entry(pos, struct core_ctx, link);
        if (team && ((c->team != team && c->device_team != team) ||
                     c->options & SHMEM_CTX_PRIVATE))
            continue;
        list_remove(pos);
        core_quiet(NULL, c);
        close_net(c);
        retire(c);
    }
    lock_release(&ctx_lock);
}

void core_ctx_destroy_team(const struct core_team *team)
{
    destroy_contexts(team);
}

void core_ctx_destroy_all(void)
{
    destroy_contexts(NULL);
}

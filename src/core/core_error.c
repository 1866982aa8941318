/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses misuse and ends the job.  Called by every layer above the transports
 * where a check has failed, never on the path of a correct call.  Calls no
 * other file of core, so that each of them may call it. */
#include "base/crash.h"
#include "core/core.h"
#include "base/env.h"
#include "base/mapping.h"
#include "base/symbol.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void core_fatal(enum err_code code, const char *call, const char *fmt, ...)
{
    char text[768];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_error(code, "%s: %s", symbol_public(call), text);
    if (core_state() == CORE_FORKED) {
        crash_on_error();
        rt_leave(EXIT_FAILURE);
    }
    rt_fail();
}

void core_await_end(void)
{
    rt_await_end();
}

void core_refuse_state(const char *call)
{
    switch (core_state()) {
    case CORE_FORKED:
        core_fatal(ERR_FORK, call, "called in a forked child, which is no PE; "
                   "communicate from the parent, or use posix_spawn");
    case CORE_ENDED:
        core_fatal(ERR_STATE, call, "called after the last shmem_finalize");
    default:
        core_fatal(ERR_STATE, call, "called before shmem_init");
    }
}

__attribute__((format(printf, 3, 4)))
static enum err_code reason(enum err_code code, char text[CORE_REASON_SIZE],
                            const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, CORE_REASON_SIZE, fmt, ap);
    va_end(ap);
    return code;
}

/* How far behind the end of a heap an address is still called that. */
enum { BEHIND_MOST = 1 << 30 };

static enum err_code private_address(const char *sym_text, const void *sym,
                                     char text[CORE_REASON_SIZE])
{
    const struct heap_seg *heap = &heap_segs[HEAP_HOST];
    size_t behind = (uintptr_t)sym - (heap->base + heap->size);
    char what[300];
    bool private = mapping_describe(sym, what, sizeof what);

    if (!private && behind < BEHIND_MOST)
        snprintf(what, sizeof what, "%zu bytes behind the end of the symmetric "
                 "heap", behind);
    else if (!private)
        snprintf(what, sizeof what, "not mapped in this PE, and every PE "
                 "passes its own address of an object");
    return reason(ERR_ADDR, text, "%s is not a symmetric address: it is %s; "
                  "memory of shmem_malloc and shmem_space_malloc and static data "
                  "of the main program are symmetric", sym_text, what);
}

static enum err_code address_misuse(const char *arg, const void *sym,
                                    size_t len, char text[CORE_REASON_SIZE])
{
    char name[80];

    if (!arg)                   /* a call of the library's own */
        arg = "address";
    if (!sym)
        return reason(ERR_NULL, text, "%s is a null pointer, with %zu bytes",
                      arg, len);
    snprintf(name, sizeof name, "%s %p", arg, sym);
    if (heap_find(sym, 1) < 0 && heap_static_is_private(sym))
        return reason(ERR_ADDR, text, "%s is static data of the main program, "
                      "which is private %s", name, env.STATIC_DATA
                      ? "as the PEs run different programs"
                      : "with SHMEM_STATIC_DATA=0");
    if (heap_find(sym, 1) < 0)
        return private_address(name, sym, text);
    if (heap_find(sym, len) < 0)
        return reason(ERR_ADDR, text, "%zu bytes at %s run past the end of the "
                      "symmetric segment", len, name);
    return ERR_CODES;
}

enum err_code core_misuse_reason(const struct core_ctx *ctx, const char *arg,
                                 const void *sym, size_t len, int pe,
                                 char text[CORE_REASON_SIZE])
{
    const struct core_team *t = core_team_of(ctx);
    enum err_code code;

    if (pe < 0 || pe >= t->n_pes)
        return reason(ERR_PE, text, "PE %d is outside 0..%d", pe, t->n_pes - 1);
    if (len == 0)
        return ERR_CODES;
    code = address_misuse(arg, sym, len, text);
    if (code != ERR_CODES)
        return code;
    if (!xport_net && !xport_routes[core_world_pe(ctx, pe)].map[HEAP_HOST])
        return reason(ERR_NET, text, "PE %d is on another node and no "
                      "transport reaches it", core_world_pe(ctx, pe));
    return ERR_CODES;
}

bool core_ctx_is_destroyed(const struct core_ctx *c)
{
    return c->options & SHMEM_DEVICE_CTX && !c->device_team;
}

void core_ctx_refuse_device(const char *call)
{
    core_fatal(ERR_CTX, call, "a context made with SHMEM_DEVICE_CTX is for "
               "kernels; use another one on the host");
}

void core_ctx_refuse(const struct core_ctx *c, const char *call)
{
    if (core_ctx_is_destroyed(c))
        core_fatal(ERR_CTX, call, "the context was destroyed by an earlier "
                   "call");
    core_ctx_refuse_device(call);
}

void core_refuse(const char *call, const struct core_ctx *ctx, const char *arg,
                 const void *sym, size_t len, int pe)
{
    char text[CORE_REASON_SIZE];
    enum err_code code;

    if (core_world.n_pes == 0)
        core_refuse_state(call);
    if (ctx->options & SHMEM_DEVICE_CTX)
        core_ctx_refuse(ctx, call);
    code = core_misuse_reason(ctx, arg, sym, len, pe, text);
    if (code != ERR_CODES)
        core_fatal(code, call, "%s", text);
}

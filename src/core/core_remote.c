/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that found no mapped memory: the peer is off-node, or the call is
 * wrong, or there is nothing to do.  core, coll, stream and msg call it; the
 * transport is xport_net. */
#include "base/clock.h"
#include "core/core_amo.h"
#include "gtl/gtl_copy_stream.h"
#include "core/core_deferred.h"
#include "core/core_spin.h"
#include "core/core_activity.h"
#include "rt/rt.h"
#include "xport/xport_stats.h"

#include <stdlib.h>
#include <string.h>

/* Its copies by the device, if any, wait for none of the default context. */
struct core_ctx core_ctx_inner = { .team = &core_world,
    .copy_stream = GTL_COPY_STREAMS - 1 };

int core_remote_open(void)
{
    int rc;

    if (!xport_net)
        return 0;
    core_spin_impatient();
    rc = xport_net->ctx_open(&core_ctx_default.net, false);
    if (!rc)
        rc = xport_net->ctx_open(&core_ctx_inner.net, false);
    if (rc)
        log_error(ERR_NET, "no room for the operations of a context: %s",
                  strerror(-rc));
    return rc;
}

void core_remote_print_counts(void)
{
    struct xport_stats n = xport_stats_get();

    if (!xport_net)
        return;
    log_print("network: %lu operations with %lu bytes to %lu PEs, %lu of them "
              "fetch %lu bytes; start: %lu bytes published, %lu looked up",
              (unsigned long)n.ops, (unsigned long)n.bytes,
              (unsigned long)n.peers, (unsigned long)n.gets,
              (unsigned long)n.got, (unsigned long)rt_counts.put_bytes,
              (unsigned long)__atomic_load_n(&rt_counts.got_bytes,
                                             __ATOMIC_RELAXED));
}

void core_remote_close(void)
{
    struct core_ctx *own[] = { &core_ctx_inner, &core_ctx_default };

    for (int i = 0; i < 2; i++) {
        if (!own[i]->net)
            continue;
        xport_net->quiet(own[i]->net);
        xport_net->ctx_close(own[i]->net);
        own[i]->net = NULL;
    }
}

void core_remote_fence(const char *call, const struct core_ctx *ctx)
{
    xport_call = call;
    if (gtl_device_only)
        core_deferred_complete(ctx);
    if (xport_net)
        xport_net->fence(ctx->net, false);
}

void core_remote_notify(const char *call, const struct core_ctx *ctx,
                        enum amo_op op, uint64_t *sym, uint64_t value,
                        int pe)
{
    struct xport_amo a = { .op = op, .size = sizeof value, .value = value };
    struct xport_addr at;

    core_remote_resolve(call, ctx, NULL, sym, sizeof *sym, pe, &at);
    xport_net->fence(ctx->net, true);
    atomics_tsan_release();
    xport_net->notify(ctx->net, &at, &a);
}

void core_remote_put_notify(const char *call, const struct core_ctx *ctx,
                            void *dest, const void *source, size_t len,
                            enum amo_op op, uint64_t *sym, uint64_t value,
                            int pe)
{
    struct xport_amo a = { .op = op, .size = sizeof value, .value = value };
    struct xport_addr to, at;

    core_remote_resolve(call, ctx, NULL, sym, sizeof *sym, pe, &at);
    core_remote_resolve(call, ctx, "dest", dest, len, pe, &to);
    core_need_local(call, "source", source, len);
    core_need_aware(call, "source", source, len);
    if (gtl_device_only && core_device_put(&to, source, len)) {
        core_remote_notify(call, ctx, op, sym, value, pe);
        return;
    }
    atomics_tsan_release();
    xport_net->put_notify(ctx->net, &to, source, len, &at, &a);
}

void (*core_quiet_hook)(const char *call);

void core_remote_quiet(const char *call, const struct core_ctx *ctx)
{
    void (*hook)(const char *);

    if (call)
        xport_call = call;
    if (gtl_device_only)
        core_deferred_complete(ctx);
    if (xport_net)
        xport_net->quiet(ctx->net);
    hook = __atomic_load_n(&core_quiet_hook, __ATOMIC_ACQUIRE);
    if (unlikely(hook != NULL) && call)
        hook(call);
}

/* ---- atomics ---- */

/* Where the word, the result or both may be the device's alone. */
static void device_only_amo(const struct core_ctx *ctx,
                            const struct xport_addr *at,
                            const struct xport_amo *a, void *result, bool nbi)
{
    bool away = nbi && result && core_is_device_only(result);
    uint64_t was = 0;
    void *to = away ? &was : result;

    if (!core_device_amo(at, a, to))
        xport_net->amo(ctx->net, at, a, to, nbi && !away);
    if (away)
        core_device_copy(result, &was, (size_t)a->size);
}

void core_remote_amo(const char *call, const struct core_ctx *ctx,
                     enum amo_op op, size_t size, const void *sym, int pe,
                     const void *value, const void *cond, void *result,
                     bool nbi)
{
    struct xport_amo a = { .op = op, .size = (int)size };
    struct xport_addr at;

    core_remote_resolve(call, ctx, op == AMO_FETCH ? "source" : "dest", sym,
                        size, pe, &at);
    if (value)
        memcpy(&a.value, value, size);
    if (cond)
        memcpy(&a.cond, cond, size);
    if (unlikely(gtl_device_only)) {
        if (nbi && result)
            core_need_aware(call, "fetch", result, size);
        device_only_amo(ctx, &at, &a, result, nbi);
        if (result && !nbi)
            xport_flush();
        return;
    }
    atomics_tsan_release();
    xport_net->amo(ctx->net, &at, &a, result, nbi);
    atomics_tsan_acquire();
}

static struct xport_amo signal_of(uint64_t value, int sig_op)
{
    return (struct xport_amo){
        .op = sig_op == SHMEM_SIGNAL_ADD ? AMO_ADD : AMO_SET,
        .size = 8, .value = value
    };
}

void core_remote_signal(const char *call, const struct core_ctx *ctx,
                        uint64_t *sig_addr, uint64_t value, int sig_op, int pe)
{
    struct xport_amo a = signal_of(value, sig_op);
    struct xport_addr at;

    core_remote_resolve(call, ctx, "sig_addr", sig_addr, sizeof *sig_addr, pe,
                        &at);
    atomics_tsan_release();
    if (!gtl_device_only || !core_device_amo(&at, &a, NULL))
        xport_net->amo(ctx->net, &at, &a, NULL, false);
}

void core_put_signal(const char *call, const struct core_ctx *ctx, void *dest,
                     const void *source, size_t len, uint64_t *sig_addr,
                     uint64_t signal, int sig_op, int pe, bool nbi)
{
    CORE_TRACE_ACCESS(call, ctx, sig_addr, sizeof *sig_addr, pe, TRACE_STORES,
                      len);
    struct xport_addr to, sig_at;
    struct xport_amo a;

    if (unlikely(gtl_device_only) && nbi) {
        core_need_aligned(call, sig_addr, sizeof *sig_addr);
        core_need_signal(call, sig_op);
        if (core_deferred_put_signal(call, ctx, dest, source, len, sig_addr,
                                     signal, sig_op, pe))
            return;
    }
    if (likely(!xport_net || core_mapped_amo(ctx, sig_addr, sizeof *sig_addr,
                                             pe).addr)) {
        core_put_any(dest, source, len, pe, call, ctx);
        core_signal_in_put(call, ctx, sig_addr, signal, sig_op, pe);
        return;
    }
    core_need_aligned(call, sig_addr, sizeof *sig_addr);
    core_need_signal(call, sig_op);
    core_remote_resolve(call, ctx, "sig_addr", sig_addr, sizeof *sig_addr, pe,
                        &sig_at);
    /* Nothing to send, or a mapped peer whose atomics are the network's. */
    if (len == 0 || core_mapped(ctx, dest, len, pe).addr) {
        core_put_any(dest, source, len, pe, call, ctx);
        atomics_full_fence();
        core_remote_signal(call, ctx, sig_addr, signal, sig_op, pe);
        return;
    }
    core_remote_resolve(call, ctx, "dest", dest, len, pe, &to);
    core_need_local(call, "source", source, len);
    core_need_aware(call, "source", source, len);
    if (gtl_device_only && core_device_put(&to, source, len)) {
        xport_net->fence(ctx->net, true);
        core_remote_signal(call, ctx, sig_addr, signal, sig_op, pe);
        return;
    }
    a = signal_of(signal, sig_op);
    atomics_tsan_release();
    xport_net->put_signal(ctx->net, &to, source, len, &sig_at, &a, nbi);
}

/* Of those that may be refused a trace has the ones that were not. */
static void trace_sent(const char *call, const struct core_ctx *ctx,
                       const uint64_t *sig_addr, size_t len, int pe,
                       uint64_t start)
{
    const struct trace_what w = {
        .name = call, .kind = TRACE_TRANSFER, .role = TRACE_STORES,
        .pe = core_trace_pe(ctx, pe), .at = core_position(sig_addr),
        .bytes = sizeof *sig_addr, .arg = { (int64_t)len }
    };

    trace_span_since(&w, start);
}

int core_remote_try_put_signal(const char *call, const struct core_ctx *ctx,
                               void *dest, const void *source, size_t len,
                               uint64_t *sig_addr, uint64_t signal, int sig_op,
                               int pe, bool nbi)
{
    struct xport_amo a = signal_of(signal, sig_op);
    uint64_t start = trace_is_on() ? clock_ns() : 0;
    struct xport_addr to, sig_at;
    int rc;

    core_remote_resolve(call, ctx, "sig_addr", sig_addr, sizeof *sig_addr, pe,
                        &sig_at);
    core_remote_resolve(call, ctx, "dest", dest, len, pe, &to);
    atomics_tsan_release();
    rc = xport_net->try_put_signal(ctx->net, &to, source, len, &sig_at, &a,
                                   nbi);
    if (unlikely(start) && !rc)
        trace_sent(call, ctx, sig_addr, len, pe, start);
    return rc;
}

int core_remote_message(const char *call, const struct core_ctx *ctx,
                        void *dest, const void *source, size_t len,
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    struct xport_amo a = signal_of(signal, sig_op);
    uint64_t start = trace_is_on() ? clock_ns() : 0;
    struct xport_addr to, sig_at;
    int rc;

    core_remote_resolve(call, ctx, "sig_addr", sig_addr, sizeof *sig_addr, pe,
                        &sig_at);
    if (len)
        core_remote_resolve(call, ctx, "dest", dest, len, pe, &to);
    atomics_tsan_release();
    rc = xport_net->post_message(ctx->net, len ? &to : NULL, source, len,
                                 &sig_at, &a);
    if (unlikely(start) && !rc)
        trace_sent(call, ctx, sig_addr, len, pe, start);
    return rc;
}

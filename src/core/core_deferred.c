/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred copies: non-blocking operations on this node that the device does.
 * Called by core_rma.c and core_remote.c where memory is device-only, and by
 * fence and quiet, which complete them.  A copy stream is held only while an
 * operation is added to it. */
#include "core/core_deferred.h"
#include "gtl/gtl_copy_stream.h"
#include "core/core_rma.h"
#include "rt/rt.h"

/* Signals that the processor stores when the copy stream reaches them. */
enum { SIGNALS = 64 };
struct signal_store {
    uint64_t *word, value;
    struct core_ctl *ctl;
    bool add;
};

static struct deferred {
    /* PEs that may sleep, by the last bits of their number: stores of the
     * device wake no PE. */
    uint64_t targets;
    unsigned n_signals;         /* of the copy stream's holder */
    struct signal_store signal_store[SIGNALS];
} copy_streams[GTL_COPY_STREAMS];

static void add_target(unsigned copy_stream, int pe)
{
    __atomic_fetch_or(&copy_streams[copy_stream].targets,
                      (uint64_t)1 << pe % 64, __ATOMIC_RELEASE);
}

static bool either_device_only(const struct xport_addr *at, const void *local)
{
    return (at->seg == HEAP_DEVICE && !heap_device_host_access) ||
           core_is_device_only(local);
}

bool core_deferred_put(const struct core_ctx *ctx, const struct xport_addr *to,
                       const void *source, size_t len)
{
    uintptr_t addr = core_device_address_of(to);
    void *stream;
    int rc;

    if (!addr || !either_device_only(to, source))
        return false;
    stream = gtl_copy_stream_acquire(ctx->copy_stream);
    rc = gtl->copy((void *)addr, source, len, stream);
    gtl_copy_stream_release(ctx->copy_stream);
    add_target(ctx->copy_stream, to->pe);
    core_device_need(rc, "copy", (void *)addr, len);
    return true;
}

bool core_deferred_get(const struct core_ctx *ctx, void *dest,
                       const struct xport_addr *from, size_t len)
{
    uintptr_t addr = core_device_address_of(from);
    void *stream;
    int rc;

    if (!addr || !either_device_only(from, dest))
        return false;
    stream = gtl_copy_stream_acquire(ctx->copy_stream);
    rc = gtl->copy(dest, (const void *)addr, len, stream);
    gtl_copy_stream_release(ctx->copy_stream);
    core_device_need(rc, "copy", dest, len);
    return true;
}

/* Runs on a thread of the driver. */
static void store_signal(void *arg)
{
    const struct signal_store *t = arg;

    if (t->add)
        __atomic_fetch_add(t->word, t->value, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(t->word, t->value, __ATOMIC_SEQ_CST);
    core_wake((struct core_target){ (uintptr_t)t->word, t->ctl },
              sizeof *t->word);
}

/* Makes the processor store the signal.  Each signal has a slot that is reused
 * only after the stream has passed it. */
static int enqueue_call(unsigned copy_stream, const struct signal_store *what,
                        void *stream)
{
    struct deferred *l = &copy_streams[copy_stream];
    struct signal_store *t = &l->signal_store[l->n_signals % SIGNALS];
    int rc = 0;

    if (l->n_signals++ % SIGNALS == 0)
        rc = gtl->stream_sync(stream);
    if (rc)
        return rc;
    *t = *what;
    return gtl->host_call(store_signal, t, stream);
}

static int enqueue_word(const struct signal_store *what, void *stream)
{
    const struct gtl_amo a = {
        .op = AMO_ADD, .size = sizeof *what->word, .word = what->word,
        .value = what->value
    };

    return what->add ? gtl->amo(&a, stream)
                     : gtl->write64(what->word, what->value, stream);
}

/* Which side can store the signal in the stream's order?  Neither may hold a
 * lock until then. */
enum signaller { BY_NONE, BY_DEVICE, BY_PROCESSOR };
static enum signaller signaller_of(const struct xport_addr *at, bool add)
{
    if (at->seg == HEAP_DEVICE && !heap_device_host_access)
        return !xport_device_lock && (gtl_device.kernels || !add)
               ? BY_DEVICE : BY_NONE;
    return xport_routes[at->pe].amo[at->seg] ? BY_PROCESSOR : BY_NONE;
}

bool core_deferred_put_signal(const char *call, const struct core_ctx *ctx,
                              void *dest, const void *source, size_t len,
                              uint64_t *sig_addr, uint64_t signal, int sig_op,
                              int pe)
{
    struct signal_store t = { .value = signal,
                              .add = sig_op == SHMEM_SIGNAL_ADD };
    struct xport_addr to, word;
    enum signaller by;
    uintptr_t addr;
    void *stream;
    int rc;

    if (!core_remote_resolve(call, ctx, "sig_addr", sig_addr, sizeof *sig_addr,
                             pe, &word) ||
        !core_remote_resolve(call, ctx, "dest", dest, len, pe, &to))
        return false;
    core_need_local(call, "source", source, len);
    core_need_aware(call, "source", source, len);
    addr = core_device_address_of(&to);
    t.word = (uint64_t *)core_device_address_of(&word);
    by = signaller_of(&word, t.add);
    if (!addr || !t.word || !by || !either_device_only(&to, source))
        return false;
    t.ctl = core_peer_ctl(to.pe);
    stream = gtl_copy_stream_acquire(ctx->copy_stream);
    rc = gtl->copy((void *)addr, source, len, stream);
    if (!rc)
        rc = by == BY_DEVICE ? enqueue_word(&t, stream)
                             : enqueue_call(ctx->copy_stream, &t, stream);
    gtl_copy_stream_release(ctx->copy_stream);
    add_target(ctx->copy_stream, to.pe);
    core_device_need(rc, "copy with a signal", (void *)addr, len);
    return true;
}

static void wake_all(uint64_t targets)
{
    struct core_ctl *ctl;

    for (int i = 0; i < rt_job.n_local; i++) {
        if (!(targets >> rt_job.local_pes[i] % 64 & 1))
            continue;
        ctl = core_peer_ctl(rt_job.local_pes[i]);
        if (__atomic_load_n(&ctl->wait_to, __ATOMIC_RELAXED) !=
            __atomic_load_n(&ctl->wait_from, __ATOMIC_RELAXED))
            core_wake_sleepers(ctl);
    }
}

void core_deferred_complete(const struct core_ctx *ctx)
{
    /* Before the wait: a target that another thread adds later is completed by
     * that thread. */
    uint64_t targets = __atomic_exchange_n(
        &copy_streams[ctx->copy_stream].targets, 0, __ATOMIC_ACQUIRE);

    core_device_need(gtl_copy_stream_wait(ctx->copy_stream), "copy", NULL, 0);
    if (targets)
        wake_all(targets);
}

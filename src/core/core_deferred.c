/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred copies: non-blocking operations on this node that the device does.
 * Called by core_rma.c and core_remote.c where memory is device-only, and by
 * fence and quiet, which complete them.  A copy stream is held only while an
 * operation is added to it. */
#include "core/core_deferred.h"
#include "gtl/gtl_copy_stream.h"
#include "core/core_rma.h"
#include "rt/rt.h"

/* Signals for the processor's memory, until the stream has come to them. */
enum { TOLD = 64 };
struct told {
    uint64_t *word, value;
    struct core_ctl *ctl;
    bool add;
};

static struct later {
    uint64_t targets;           /* PEs that may sleep, by their number's last
                                 * bits: what the device stores wakes nobody */
    unsigned n_told;            /* of the lane's holder */
    struct told told[TOLD];
} lanes[GTL_COPY_STREAMS];

static void note_target(unsigned lane, int pe)
{
    __atomic_fetch_or(&lanes[lane].targets, (uint64_t)1 << pe % 64,
                      __ATOMIC_RELEASE);
}

static bool foreign_to_either(const struct xport_addr *at, const void *local)
{
    return (at->seg == HEAP_DEVICE && !heap_device_host_access) ||
           core_is_device_only(local);
}

bool core_deferred_put(const struct core_ctx *ctx, const struct xport_addr *to,
                       const void *source, size_t len)
{
    uintptr_t near = core_device_address_of(to);
    void *stream;
    int rc;

    if (!near || !foreign_to_either(to, source))
        return false;
    stream = gtl_copy_stream_acquire(ctx->lane);
    rc = gtl->copy((void *)near, source, len, stream);
    gtl_copy_stream_release(ctx->lane);
    note_target(ctx->lane, to->pe);
    core_device_need(rc, "copy", (void *)near, len);
    return true;
}

bool core_deferred_get(const struct core_ctx *ctx, void *dest,
                       const struct xport_addr *from, size_t len)
{
    uintptr_t near = core_device_address_of(from);
    void *stream;
    int rc;

    if (!near || !foreign_to_either(from, dest))
        return false;
    stream = gtl_copy_stream_acquire(ctx->lane);
    rc = gtl->copy(dest, (const void *)near, len, stream);
    gtl_copy_stream_release(ctx->lane);
    core_device_need(rc, "copy", dest, len);
    return true;
}

/* On a thread of the driver. */
static void tell(void *arg)
{
    const struct told *t = arg;

    if (t->add)
        __atomic_fetch_add(t->word, t->value, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(t->word, t->value, __ATOMIC_SEQ_CST);
    core_wake((struct core_target){ (uintptr_t)t->word, t->ctl },
              sizeof *t->word);
}

/* By the processor; each has a place that nobody uses before the stream has
 * come past it. */
static int enqueue_call(unsigned lane, const struct told *what, void *stream)
{
    struct later *l = &lanes[lane];
    struct told *t = &l->told[l->n_told % TOLD];
    int rc = 0;

    if (l->n_told++ % TOLD == 0)
        rc = gtl->stream_sync(stream);
    if (rc)
        return rc;
    *t = *what;
    return gtl->host_call(tell, t, stream);
}

static int enqueue_word(const struct told *what, void *stream)
{
    const struct gtl_amo a = {
        .op = GTL_ADD, .size = sizeof *what->word, .word = what->word,
        .value = what->value
    };

    return what->add ? gtl->amo(&a, stream)
                     : gtl->write64(what->word, what->value, stream);
}

/* Who can bring the word its value in the stream's turn?  Nobody holds a lock
 * until then. */
enum teller { NOBODY, BY_DEVICE, BY_PROCESSOR };
static enum teller teller_of(const struct xport_addr *at, bool add)
{
    if (at->seg == HEAP_DEVICE && !heap_device_host_access)
        return !xport_device_lock && (gtl_device.kernels || !add)
               ? BY_DEVICE : NOBODY;
    return xport_routes[at->pe].amo[at->seg] ? BY_PROCESSOR : NOBODY;
}

bool core_deferred_put_signal(const char *call, const struct core_ctx *ctx,
                              void *dest, const void *source, size_t len,
                              uint64_t *sig_addr, uint64_t signal, int sig_op,
                              int pe)
{
    struct told t = { .value = signal, .add = sig_op == SHMEM_SIGNAL_ADD };
    struct xport_addr to, word;
    enum teller by;
    uintptr_t near;
    void *stream;
    int rc;

    if (!core_remote_resolve(call, ctx, sig_addr, sizeof *sig_addr, pe,
                             &word) ||
        !core_remote_resolve(call, ctx, dest, len, pe, &to))
        return false;
    core_need_local(call, source, len);
    core_need_aware(call, source, len);
    near = core_device_address_of(&to);
    t.word = (uint64_t *)core_device_address_of(&word);
    by = teller_of(&word, t.add);
    if (!near || !t.word || !by || !foreign_to_either(&to, source))
        return false;
    t.ctl = core_peer_ctl(to.pe);
    stream = gtl_copy_stream_acquire(ctx->lane);
    rc = gtl->copy((void *)near, source, len, stream);
    if (!rc)
        rc = by == BY_DEVICE ? enqueue_word(&t, stream)
                             : enqueue_call(ctx->lane, &t, stream);
    gtl_copy_stream_release(ctx->lane);
    note_target(ctx->lane, to.pe);
    core_device_need(rc, "copy with a signal", (void *)near, len);
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
    /* Before the wait: what others note after it is theirs to finish. */
    uint64_t targets = __atomic_exchange_n(&lanes[ctx->lane].targets, 0,
                                           __ATOMIC_ACQUIRE);

    core_device_need(gtl_copy_stream_wait(ctx->lane), "copy", NULL, 0);
    if (targets)
        wake_all(targets);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of requests: its memory, and the steps of its holder, which is the
 * progress thread, or a kernel of the software device that waits for the
 * ring.  A step waits for nothing.  See struct kernel_ring for the protocol. */
#include "base/env.h"
#include "base/symbol.h"
#include "kernel/kernel_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 32, BATCH = 256 };

static uint64_t ring_size(void)
{
    uint64_t n = 64;

    while (n < (uint64_t)env.DEVICE_RING_SIZE)
        n *= 2;
    return n;
}

static size_t shared_size(uint64_t n)
{
    return sizeof(shmemi_dev_progress) + n * (sizeof(shmemi_dev_request) +
                                              sizeof(shmemi_dev_result));
}

/* One piece of pinned memory: requests, results, progress. */
static bool alloc_shared(struct kernel_ring *r, uint64_t n)
{
    char *p = kernel_pinned_alloc(shared_size(n));

    if (!p)
        return false;
    r->requests = (void *)p;
    r->results = (void *)(p + n * sizeof(shmemi_dev_request));
    r->progress = (void *)(r->results + n);
    return true;
}

int kernel_ring_open(const char *call, struct kernel_ring **out,
                     shmemi_dev_ring *on_device)
{
    uint64_t n = ring_size();
    struct kernel_ring *r = calloc(1, sizeof *r);
    const char *why = strerror(ENOMEM);
    int rc = -ENOMEM;

    if (!r || !(r->results_of = calloc(n, sizeof *r->results_of)))
        goto fail;
    if (!alloc_shared(r, n)) {
        why = gtl_error();
        goto fail;
    }
    r->mask = n - 1;
    r->exec.ctx = core_ctx_own(&core_world);
    if (xport_net && !stream_exec_bounce(&r->exec))
        goto fail;
    rc = xport_net ? xport_net->ctx_open(&r->exec.ctx.net, false) : 0;
    if (rc) {
        why = strerror(-rc);
        goto fail;
    }
    if (r->exec.ctx.net)
        xport_net->ctx_set_polled(r->exec.ctx.net);
    *on_device = (shmemi_dev_ring){
        .mask = r->mask, .requests = r->requests,
        .progress = r->progress, .host = r
    };
    *out = r;
    return 0;
fail:
    log_warn(ERR_CTX, "%s: a ring of %lu requests (SHMEM_DEVICE_RING_SIZE) "
             "for kernels could not be opened: %s", symbol_public(call),
             (unsigned long)n, why);
    if (r) {
        kernel_pinned_free(r->requests, shared_size(n));
        free(r->exec.bounce);
        free(r->results_of);
    }
    free(r);
    return rc;
}

void kernel_ring_close(struct kernel_ring *r)
{
    if (r->exec.ctx.net) {
        xport_net->quiet(r->exec.ctx.net);
        xport_net->ctx_close(r->exec.ctx.net);
    }
    kernel_pinned_free(r->requests, shared_size(r->mask + 1));
    free(r->exec.bounce);
    free(r->results_of);
    free(r);
}

/* ---- steps ---- */

/* Is the place of the result free: has the thread that waited for the last one
 * read it? */
static bool result_is_free(struct kernel_ring *r, const shmemi_dev_request *q)
{
    uint64_t i = r->at & r->mask;

    if (!(q->flags & SHMEMI_DEV_RESULT))
        return true;
    if (r->results_of[i] &&
        __atomic_load_n(&r->results[i].read, __ATOMIC_ACQUIRE) !=
            r->results_of[i])
        return false;
    r->results_of[i] = r->at + 1;
    r->results[i].value[0] = r->results[i].value[1] = 0;
    return true;
}

/* The next request, if there is one and its turn has come. */
static bool begin(struct kernel_ring *r, bool *busy)
{
    shmemi_dev_request *q = &r->requests[r->at & r->mask];

    /* acquire: pairs with the kernel's release of the whole request. */
    if (__atomic_load_n(&q->turn, __ATOMIC_ACQUIRE) != r->at + 1)
        return false;
    if (r->at - r->done >= BATCH || !result_is_free(r, q) ||
        (q->op == SHMEMI_DEV_HIT && !kernel_request_hits(q))) {
        *busy = true;
        return false;
    }
    kernel_request_read(q, &r->results[r->at & r->mask], &r->op);
    return true;
}

/* The source of a short put with a signal may be reused once it is taken, and
 * was not copied if the signal follows the put. */
static bool holds(const struct stream_op *op)
{
    return op->kind == STREAM_PUT_SIGNAL && op->waits &&
           op->len <= SHMEMI_DEV_SHORT;
}

static bool issue(struct kernel_ring *r, bool *busy)
{
    bool any = false;

    if (!stream_exec_step(&r->exec, &r->op, holds(&r->op), &any)) {
        *busy = true;
        return any;
    }
    r->at++;
    /* release: the request has been read, and its place is free. */
    __atomic_store_n(&r->progress->taken, r->at, __ATOMIC_RELEASE);
    return true;
}

static bool complete(struct kernel_ring *r, bool *busy)
{
    if (r->done == r->at)
        return false;
    if (!stream_exec_net_idle(&r->exec)) {
        *busy = true;
        return false;
    }
    r->exec.reads = false;
    atomics_full_fence();
    xport_flush();
    __atomic_store_n(&r->done, r->at, __ATOMIC_RELAXED);
    /* release: results and what gets have brought come first. */
    __atomic_store_n(&r->progress->done, r->at, __ATOMIC_RELEASE);
    return true;
}

bool kernel_ring_step(struct kernel_ring *r, bool completes, bool *busy)
{
    bool any = false, moved;

    for (int i = 0; i < STEPS && (r->exec.begun || begin(r, busy)); i++) {
        moved = issue(r, busy);
        any |= moved;
        if (!moved || r->exec.part.copied)
            break;
    }
    if (completes || r->at - r->done >= BATCH)
        any |= complete(r, busy);
    return any;
}

bool kernel_ring_has_more(const struct kernel_ring *r)
{
    return __atomic_load_n(&r->requests[r->at & r->mask].turn,
                           __ATOMIC_ACQUIRE) == r->at + 1;
}

void kernel_ring_drain(struct kernel_ring *r, const char *call)
{
    struct core_waiter w = {
        .addr = (const void *)heap_segs[HEAP_HOST].base, .bytes = 1,
        .info.what = CORE_FOR_STREAM, .info.call = call
    };
    bool busy;

    do {
        busy = false;
        if (kernel_ring_trylock(r)) {
            kernel_ring_step(r, true, &busy);
            busy |= kernel_ring_has_more(r) || r->done != r->at;
            kernel_ring_unlock(r);
        } else {
            busy = true;
        }
        if (busy)
            core_wait_step(&w);
    } while (busy);
    core_wait_end(&w);
}

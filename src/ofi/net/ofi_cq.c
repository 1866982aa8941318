/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads completion queues and calls what the end of each operation calls
 * (struct ofi_op_type).  Every wait in the library and the progress thread come
 * by here; nothing here waits. */
#include "ofi/net/ofi_rail.h"
#include "base/fault.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES = 16,            /* read from a queue at a time */
       SELDOM = 16 };

/* ---- completions ---- */

static void waited_done(struct ofi_op *op)
{
    /* release: its data are there; pairs with ofi_wait_op. */
    __atomic_store_n(&op->state, OFI_OP_DONE, __ATOMIC_RELEASE);
}

static void waited_failed(struct ofi_op *op)
{
    __atomic_store_n(&op->state, OFI_OP_FAILED, __ATOMIC_RELEASE);
}

const struct ofi_op_type ofi_op_waited = {
    .done = waited_done, .failed = waited_failed
};

static bool is_tag(const void *context)
{
    return (uint64_t)(uintptr_t)context & 1;
}

static struct xport_ctx *ctx_of_tag(const void *context)
{
    return ofi_ctx_at((uint32_t)((uint64_t)(uintptr_t)context >> 32));
}

/* Was it an operation of this PE's, rather than a message that arrived? */
static bool complete(void *context, size_t len)
{
    struct ofi_op *op = context;

    if (is_tag(context)) {
        ofi_ctx_completed(ctx_of_tag(context));
        return true;
    }
    if (op->type->received) {
        op->type->received(op, len);
        return false;
    }
    op->type->done(op);
    return true;
}

/* The same of one that failed, of a context that goes on. */
static void complete_failed(void *context)
{
    struct ofi_op *op = context;

    if (is_tag(context))
        ofi_ctx_completed(ctx_of_tag(context));
    else if (op->type->received)
        op->type->received(op, 0);
    else
        op->type->failed(op);
}

void ofi_post_failed(struct xport_ctx *f, void *context)
{
    __atomic_fetch_sub(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
    complete_failed(context);
}

static bool error_is_reported(void *context, int err, char *text, size_t size)
{
    struct ofi_op *op = context;

    return op && !is_tag(context) && op->type->error_reported &&
           op->type->error_reported(op, err, text, size);
}

static void take_error(struct fid_cq *cq, uint64_t *ended)
{
    OFI_GROWS(fi_cq_err_entry) room = { 0 };
    struct fi_cq_err_entry *err = &room.a;
    struct xport_ctx *f = NULL;
    uint64_t tag;
    char text[128] = "";
    const char *said = NULL;
    int pe = -1;
    ssize_t rc = fi_cq_readerr(cq, err, 0);

    if (rc == -FI_EAGAIN)       /* another thread has taken it */
        return;
    if (rc < 0)
        ofi_fatal("completion queue", -1, -FI_EIO, "no error entry");
    tag = (uint64_t)(uintptr_t)err->op_context;
    if (tag & 1) {
        pe = (int)(uint32_t)(tag >> 1 & 0x7fffffff);
        f = ctx_of_tag(err->op_context);
    } else if (tag) {
        pe = ((struct ofi_op *)err->op_context)->pe;
        f = ((struct ofi_op *)err->op_context)->ctx;
    }
    if (err->prov_errno)
        said = fi_cq_strerror(cq, err->prov_errno, err->err_data, text,
                              sizeof text);
    if (said && !text[0])       /* some providers leave the buffer as it is */
        snprintf(text, sizeof text, "%s", said);
    if (!strcmp(text, ofi_strerror(err->err)))
        text[0] = '\0';         /* it says no more */
    if (!error_is_reported(err->op_context, err->err, text, sizeof text))
        ofi_op_error(f, err->flags & FI_ATOMIC ? "atomic"
                   : err->flags & FI_READ ? "get"
                   : err->flags & FI_WRITE ? "put" : "communication", pe,
                   -err->err, text[0] ? text : NULL);
    complete_failed(err->op_context);
    ++*ended;
}

/* The number of entries; in *ended how many were operations of this PE's. */
static int read_queue(struct fid_cq *cq, uint64_t *ended)
{
    struct fi_cq_msg_entry entries[ENTRIES];
    ssize_t n = fi_cq_read(cq, entries, ENTRIES);

    if (n == -FI_EAGAIN || n == 0)
        return 0;
    if (n == -FI_EAVAIL) {
        take_error(cq, ended);
        return 1;
    }
    if (n < 0 || fault_hit(FAULT_OFI_CQ))
        ofi_fatal("completion queue", -1, n < 0 ? n : -FI_EIO, NULL);
    for (ssize_t i = 0; i < n; i++)
        *ended += complete(entries[i].op_context, entries[i].len);
    return (int)n;
}

int ofi_ep_poll(struct ofi_ep *e)
{
    uint64_t ended = 0;
    int n = read_queue(e->cq, &ended);

    if (ended)
        __atomic_fetch_sub(&e->in_flight, ended, __ATOMIC_RELAXED);
    return n;
}

/* Reading an empty queue also asks the system for news of its endpoint.  One
 * thread at a time acts on messages, so that those of a peer are acted on in
 * their order: a signal after the word that it is for. */
int ofi_poll_incoming(void)
{
    static struct base_lock lock = LOCK_INIT;
    uint64_t none = 0;
    int n;

    if (!lock_try(&lock))
        return 0;
    n = read_queue(ofi.eps[0]->rx, &none);
    lock_release(&lock);
    return n;
}

uint64_t ofi_in_flight(void)
{
    int n_eps = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);
    uint64_t n = 0;

    for (int i = 0; i < n_eps; i++)
        n += __atomic_load_n(&ofi.eps[i]->in_flight, __ATOMIC_RELAXED);
    return n + ofi_rails_in_flight();
}

/* An endpoint with nothing in flight may still hold a message back: it is
 * polled now and then. */
bool ofi_progress(void)
{
    static unsigned turns;      /* not exact when threads race */
    unsigned turn = __atomic_load_n(&turns, __ATOMIC_RELAXED) + 1;
    int n_eps = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);
    int n = ofi_poll_incoming();

    __atomic_store_n(&turns, turn, __ATOMIC_RELAXED);
    ofi_progress_note_poll();
    for (int i = 0; i < n_eps; i++)
        if (ofi_ep_is_busy(ofi.eps[i]) || (i && turn % SELDOM == 0))
            n += ofi_ep_poll(ofi.eps[i]);
    n += ofi_run_work();
    return n > 0;
}

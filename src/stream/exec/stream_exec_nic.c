/* SPDX-License-Identifier: BSD-3-Clause */
/* The second executor of stream operations: the NIC, which does off-node
 * operations by itself when the stream gets there.
 *
 * Each operation is posted as the next one of the ring's trigger, and the
 * stream releases it: by a store to the NIC's doorbell, or, where the NIC has
 * none, to a counter whose increments the progress thread forwards.  Where the
 * stream is to wait, the NIC raises a flag behind all that was posted so far;
 * the flag is exact, since the stream cannot have released anything later.  The
 * NIC declines operations that it cannot do or has no room for, and the host
 * does them.  Called by stream_op.c, by starts of queues and by the progress
 * thread; no call waits for longer than ROOM_NS. */
#include "stream/exec/stream_exec.h"
#include "stream/ring/stream_ring.h"
#include "base/clock.h"
#include "core/core_trace.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <string.h>

/* A host thread waits that long for room, once. */
#define ROOM_NS ((uint64_t)50000)

/* ---- an operation as the NIC's ---- */

static struct xport_addr place(int pe, const void *sym, size_t len)
{
    int seg = heap_find(sym, len);

    return (struct xport_addr){
        pe, seg, (uintptr_t)sym - heap_segs[seg].base
    };
}

static void set_signal(const struct stream_op *op, struct xport_addr *at,
                       struct xport_amo *amo)
{
    const struct stream_signal *s = &op->signal;

    *at = place(op->pe, s->addr, sizeof *s->addr);
    *amo = (struct xport_amo){
        .op = s->op == SHMEM_SIGNAL_SET ? AMO_SET : AMO_ADD, .size = 8,
        .value = s->value
    };
}

static void set_amo(const struct stream_op *op, struct xport_trig_op *out)
{
    const struct stream_amo *a = &op->amo;

    out->kind = XPORT_TRIG_AMO;
    out->at = place(op->pe, a->sym, a->size);
    out->amo = (struct xport_amo){ a->op, (int)a->size, a->value, a->cond };
    out->local = a->fetch;
    out->len = a->size;
}

bool stream_nic_translate(const struct stream_op *op, struct xport_trig_op *out)
{
    memset(out, 0, sizeof *out);
    out->call = op->call;
    out->len = op->len;
    switch (op->kind) {
    case STREAM_PUT:
        out->kind = XPORT_TRIG_PUT;
        out->at = place(op->pe, op->dest, op->len);
        out->local = op->value ? (void *)op->bytes : (void *)op->source;
        out->value = op->value;
        return true;
    case STREAM_GET:
        out->kind = XPORT_TRIG_GET;
        out->at = place(op->pe, op->source, op->len);
        out->local = op->dest;
        return true;
    case STREAM_AMO:
        set_amo(op, out);
        return true;
    case STREAM_PUT_SIGNAL:
        out->kind = XPORT_TRIG_PUT;
        out->signals = op->len != 0;
        if (op->len) {
            out->at = place(op->pe, op->dest, op->len);
            out->local = (void *)op->source;
            set_signal(op, &out->sig_at, &out->sig);
            return true;
        }
        break;
    case STREAM_INCREMENT:
        out->kind = XPORT_TRIG_AMO;
        out->at =
            (struct xport_addr){ op->pe, XPORT_TRIG_COUNTER, op->two_input };
        out->amo = (struct xport_amo){ AMO_ADD, 8, 1, 0 };
        return true;
    case STREAM_SIGNAL:
        break;
    default:
        return false;
    }
    out->kind = XPORT_TRIG_AMO;
    set_signal(op, &out->at, &out->amo);
    return true;
}

/* ---- posting ---- */

static void failed(void *arg, const char *call, const char *what, int pe,
                   const char *cause)
{
    stream_errors_record(arg, call, what, pe, cause, NULL);
}

static bool open_trig(struct stream_ring *q)
{
    struct stream_nic *n = &q->nic;
    int rc;

    if (!n->tried) {
        n->tried = true;
        n->forwarded = n->total = q->counters->increments;
        rc = xport_trig->open(&n->trig, false, failed, &q->exec.failed);
        if (rc)
            n->trig = NULL;
        n->none = rc == -ENOSPC;
    }
    n->declined += n->none;
    return n->trig != NULL;
}

static int await_room(const struct stream_nic *n,
                      const struct xport_trig_op *x)
{
    uint64_t until = clock_ns() + ROOM_NS;
    int rc;

    do {
        atomics_pause();
        xport_trig->progress();
        rc = xport_trig->arm(n->trig, x, 1);
    } while (rc == -EAGAIN && clock_ns() < until);
    return rc;
}

/* The stream's store to the doorbell, and no event, shows when it begins. */
static void trace_post(const struct stream_op *op)
{
    bool signals = op->kind == STREAM_PUT_SIGNAL || op->kind == STREAM_SIGNAL;
    const void *at = signals ? op->signal.addr
                     : op->kind == STREAM_AMO ? op->amo.sym
                     : op->kind == STREAM_PUT ? op->dest : NULL;
    const struct trace_what w = {
        .name = "posted with the NIC", .kind = TRACE_TRANSFER,
        .role = at ? TRACE_STORES : TRACE_ALONE, .pe = op->pe + 1,
        .at = at ? core_position(at) : TRACE_NOWHERE,
        .bytes = op->kind == STREAM_PUT ? op->len : sizeof(uint64_t),
        .arg = { (int64_t)op->len }
    };

    trace_mark(&w);
}

int stream_nic_post(struct stream_ring *q, const struct stream_op *op,
                    void *stream)
{
    struct stream_nic *n = &q->nic;
    struct xport_trig_op x;
    int rc;

    if (xport_trig == &xport_trig_none ||
        (xport_is_mapped(op->pe) && op->kind != STREAM_INCREMENT) ||
        !stream_nic_translate(op, &x) || !xport_trig->can(&x) || !open_trig(q))
        return STREAM_DECLINED;
    rc = xport_trig->arm(n->trig, &x, 1);
    /* Once: other streams may have all the room for long. */
    if (unlikely(rc == -EAGAIN) && !n->full) {
        /* No other thread would release what it waits for. */
        rc = stream_nic_release(q, stream);
        if (rc)
            return rc;
        rc = await_room(n, &x);
    }
    n->full = rc == -EAGAIN;
    if (unlikely(rc)) {
        n->declined++;
        return STREAM_DECLINED;
    }
    if (trace_is_on())
        trace_post(op);
    stream_errors_note_op(&q->exec.failed, op);
    n->call = op->call;
    n->pe = op->pe;
    /* release: from now on the progress thread polls this trigger. */
    __atomic_store_n(&n->posted, n->posted + 1, __ATOMIC_RELEASE);
    return 0;
}

/* Stores to the register are added to the counter, each of them once. */
int stream_nic_release(struct stream_ring *q, void *stream)
{
    struct stream_nic *n = &q->nic;
    uint64_t more = n->posted - n->released, *doorbell;
    int rc;

    if (!more)
        return 0;
    doorbell = xport_trig->doorbell(n->trig);
    rc = gtl->release(stream);
    if (!rc && doorbell) {
        rc = gtl->write64(doorbell, more, stream);
        stream_progress_wake();    /* it reads the NIC's queue from now on */
    } else if (!rc) {
        rc = gtl->write64(&q->counters->increments, n->total + more, stream);
    }
    if (!rc && !doorbell)
        rc = stream_enqueue_wakeup(stream);
    if (!rc) {
        n->total += more;
        n->released = n->posted;
    }
    return rc;
}

int stream_nic_post_flag(struct stream_ring *q, uint64_t *least)
{
    struct stream_nic *n = &q->nic;
    int rc = xport_trig->flag(n->trig, least);

    if (rc)
        return STREAM_DECLINED;
    n->quieted = n->posted;
    /* release: with the number comes the flag that it stands for. */
    __atomic_store_n(&n->flag, *least, __ATOMIC_RELAXED);
    __atomic_store_n(&n->flag_posted, n->posted, __ATOMIC_RELEASE);
    stream_progress_wake();        /* the flag may fail, too */
    return 0;
}

/* ---- in the order of a stream ---- */

static bool orders(const struct stream_op *op)
{
    return op->kind == STREAM_QUIET || op->kind == STREAM_FENCE;
}

/* The stream waits for all that was posted.  STREAM_DECLINED: the progress
 * thread must wait. */
static int wait_for_all(const struct stream_where *w, struct stream_ring *q)
{
    struct stream_nic *n = &q->nic;
    uint64_t least, *word;
    int rc = n->soft ? STREAM_DECLINED : stream_nic_post_flag(q, &least);

    if (rc)
        return rc;
    word = xport_trig->word(n->trig);
    rc = gtl->wait64(word, least, w->stream);
    if (!rc) {
        stream_watch_add(w, NULL, word, least,
                         stream_errors_recent_pe(&q->exec.failed));
        stream_watch_enqueued(w->stream, true);
    } else {                    /* the next quiet makes the stream wait */
        n->soft = true;
    }
    return rc;
}

int stream_exec_nic(const struct stream_where *w, struct stream_ring *q,
                    struct stream_op *op)
{
    struct stream_nic *n = &q->nic;
    int rc = 0;

    if (orders(op)) {
        if (n->posted == n->quieted && !n->soft)
            return 0;           /* nothing is left */
        /* The NIC may overtake what the progress thread has only put in order.
         */
        if (xport_trig == &xport_trig_none)
            return STREAM_DECLINED;
        /* Whose release the driver refused: the stream would wait for them. */
        rc = stream_nic_release(q, w->stream);
        if (rc)
            return stream_device_rc(w, rc);
    } else {
        rc = stream_nic_post(q, op, w->stream);
        if (!rc)
            rc = stream_nic_release(q, w->stream);
        if (rc || !op->waits)
            return rc == STREAM_DECLINED ? rc : stream_device_rc(w, rc);
    }
    rc = wait_for_all(w, q);
    if (rc != STREAM_DECLINED)
        return stream_device_rc(w, rc);
    /* The progress thread sees to it when the stream gets there. */
    op->for_nic = !orders(op);
    op->kind = STREAM_QUIET;
    op->waits = true;
    op->value = false;
    return STREAM_DECLINED;
}

/* ---- the progress thread's side ---- */

static bool last_raised(const struct stream_nic *n)
{
    return __atomic_load_n(xport_trig->word(n->trig), __ATOMIC_ACQUIRE) >=
           __atomic_load_n(&n->flag, __ATOMIC_RELAXED);
}

/* The flag is seen before the NIC's queue has reported each operation. */
static bool flag_raised(const struct stream_nic *n, uint64_t posted)
{
    return __atomic_load_n(&n->flag_posted, __ATOMIC_ACQUIRE) == posted &&
           last_raised(n);
}

bool stream_nic_idle(const struct stream_nic *n)
{
    uint64_t posted = __atomic_load_n(&n->posted, __ATOMIC_ACQUIRE);

    return !posted || xport_trig->completed(n->trig) >= posted ||
           flag_raised(n, posted);
}

uint64_t stream_nic_outstanding(const struct stream_nic *n)
{
    return stream_nic_idle(n) ? 0 : n->posted - xport_trig->completed(n->trig);
}

bool stream_nic_completed(struct stream_ring *q, uint64_t posted)
{
    struct stream_nic *n = &q->nic;

    return !posted || xport_trig->completed(n->trig) >= posted ||
    stream_nic_idle(n);
}

bool stream_nic_completed_first(struct stream_ring *q, uint64_t posted)
{
    return !posted ||
           xport_trig->completed_in_order(q->nic.trig) >= posted;
}

bool stream_nic_forward(struct stream_ring *q, bool *again)
{
    struct stream_nic *n = &q->nic;
    uint64_t posted = __atomic_load_n(&n->posted, __ATOMIC_ACQUIRE), total;

    if (!posted || (xport_trig->completed(n->trig) >= posted && last_raised(n)))
        return false;
    *again = true;              /* also for room that the NIC gives back */
    total = __atomic_load_n(&q->counters->increments, __ATOMIC_ACQUIRE);
    if (total == n->forwarded)
        return false;
    xport_trig->increment(n->trig, total - n->forwarded);
    n->forwarded = total;
    return true;
}

static bool two_input_triggers;              /* atomic: there may be some */

void stream_nic_watch_triggers(void)
{
    __atomic_store_n(&two_input_triggers, true, __ATOMIC_RELAXED);
    stream_progress_wake();
}

bool stream_nic_triggers_busy(void)
{
    struct xport_trig_counts n;

    if (likely(!__atomic_load_n(&two_input_triggers, __ATOMIC_RELAXED)))
        return false;
    xport_trig->progress();
    xport_trig->counts(&n);
    return n.used_entries != 0;
}

void stream_nic_close(struct stream_nic *n)
{
    if (n->trig)
        xport_trig->close(n->trig);
    memset(n, 0, sizeof *n);
}

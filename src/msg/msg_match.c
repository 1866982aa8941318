/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives find each other, by control messages.
 *
 * A send posts an RTS to the receiver, which knows its receives: by PE, tag,
 * and which one it is of those that were made for them, each RTS is for one.
 * The receiver selects the protocol, takes memory for it, and posts an RTR.
 * Any call that reads control messages answers for all receives that were made
 * (partitioned ones: and announced, as each call that matches does for all), so
 * no order of match calls makes two PEs wait for each other.  Memory that a
 * partner writes is given back when both ends have posted their FIN.
 * Called by the requests' calls (msg_req.c, msg_match_req.c) and, through
 * msg_poll(), by the progress thread. */
#include "msg/msg_int.h"
#include "base/fault.h"
#include "msg/msg_check.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"
#include "msg/msg_table.h"
#include "msg/part/part.h"

#include <errno.h>

static bool unsent;             /* atomic: messages may not have arrived */
static bool moving;             /* atomic: but soon will have */
static unsigned sought;         /* atomic: partners that the program matches */

/* No end and no control message names it any more. */
static void release_chan(struct msg_chan *c) REQUIRES(msg_lock)
{
    msg_trig_close(c);
    msg_chan_release(c);
}

static void post(struct msg_chan *c, const struct msg_ctrl *m)
    REQUIRES(msg_lock)
{
    if (msg_ctrl_post(c->pe, m))
        core_fatal(ERR_LIMIT, "shmemx_match", "out of memory for a control "
                   "message to PE %d", c->pe);
    __atomic_store_n(&unsent, true, __ATOMIC_RELEASE);
}

static struct msg_ctrl ctrl_of(const struct msg_chan *c,
                               enum msg_ctrl_kind kind)
{
    return (struct msg_ctrl){
        .kind = kind, .tag = c->tag, .number = c->number, .team = c->team,
        .mine = c->handle, .yours = c->peer_handle,
        .counters = c->counters
                        ? (uintptr_t)c->counters - heap_segs[HEAP_HOST].base
                        : 0,
        .seg = -1
    };
}

static void set_state(struct msg_chan *c, enum msg_chan_state state)
{
    __atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

/* MSG_CHAN_MATCHED or MSG_CHAN_FAILED. */
static void finish_match(struct msg_chan *c, enum msg_chan_state state)
    REQUIRES(msg_lock)
{
    set_state(c, state);
    MSG_TRACE(c, state == MSG_CHAN_FAILED ? "match failed"
                                          : msg_protos[c->proto]->matched,
              TRACE_ALONE, 0);
    if (c->requested && !c->one_shot)
        __atomic_fetch_sub(&sought, 1, __ATOMIC_RELAXED);
}

static void fail_match(struct msg_chan *c, int error) REQUIRES(msg_lock)
{
    c->error = error;
    finish_match(c, MSG_CHAN_FAILED);
}

static void set_peer(struct msg_chan *c, const struct msg_ctrl *m)
{
    c->peer_handle = m->mine;
    c->peer_counters =
        (struct msg_counters *)(heap_segs[HEAP_HOST].base + m->counters);
}

/* ---- the receiver ---- */

static void send_rtr(struct msg_chan *r) REQUIRES(msg_lock)
{
    struct msg_ctrl m = ctrl_of(r, MSG_RTR);

    m.error = r->error;
    m.bytes = r->len;
    m.flags = (uint32_t)r->proto << MSG_RTR_PROTO_SHIFT;
    if (!r->error) {
        m.slots = (int32_t)r->slots;
        m.step = r->slot_size;
        msg_ctrl_set_addr(&m, r->bytes ? (void *)r->landing : r->counters,
                          r->slots ? r->slots * r->slot_size : r->bytes);
    }
    part_answer(r, &m);
    MSG_TRACE(r, "RTR sent", TRACE_ALONE, 0);
    post(r, &m);
}

/* 0, or why this receive does not take the messages of that send. */
static int accept_rts(struct msg_chan *r, const struct msg_ctrl *rts)
{
    int rc;

    if (r->freed)
        return -ECANCELED;
    r->bytes = rts->bytes;
    rc = r->part || (rts->flags & MSG_RTS_PARTS) ? part_accept(r, rts) : 0;
    if (rc)
        return rc;
    return rts->bytes > r->len ? -EMSGSIZE : msg_select_proto(r, rts);
}

/* The receive has left the table.  A one-shot receive answers when its stream
 * has come to it. */
static void match_recv(struct msg_chan *r, const struct msg_ctrl *rts)
    REQUIRES(msg_lock)
{
    bool cancelled = rts->flags & MSG_RTS_CANCELLED;

    set_peer(r, rts);
    r->error = cancelled ? -ECANCELED : accept_rts(r, rts);
    if (!cancelled && (r->error || !r->one_shot || r->reached))
        send_rtr(r);
    if (r->freed) {
        if (r->one_shot)
            __atomic_fetch_sub(&sought, 1, __ATOMIC_RELAXED);
        release_chan(r);
    } else if (r->error) {
        fail_match(r, r->error);
    } else {
        msg_protos[r->proto]->open(r, rts);
        finish_match(r, MSG_CHAN_MATCHED);
    }
}

static void handle_rts(const struct msg_ctrl *rts) REQUIRES(msg_lock)
{
    struct msg_chan *r = msg_table_take_recv(rts);

    if (r)
        match_recv(r, rts);
    else if (!msg_table_add_rts(rts))
        core_fatal(ERR_LIMIT, "shmemx_match", "out of memory for a control "
                   "message of PE %d", rts->from);
}

/* ---- the sender ---- */

static void send_rts(struct msg_chan *s, uint32_t flags) REQUIRES(msg_lock)
{
    struct msg_ctrl m = ctrl_of(s, MSG_RTS);

    if (!(flags & MSG_RTS_CANCELLED) && !s->part && msg_trig_open(s)) {
        flags |= MSG_RTS_TRIGGER;
        m.trig = s->trig_at;
    }
    m.bytes = s->len;
    m.flags = flags | (s->ready ? MSG_RTS_READY : 0) |
              (s->one_shot ? MSG_RTS_ONE_SHOT : 0) | msg_peer_copy_segments(s);
    msg_ctrl_set_addr(&m, s->buf, s->len);
    part_offer(s, &m);
    post(s, &m);
}

static void send_first_rts(struct msg_chan *s) REQUIRES(msg_lock)
{
    set_state(s, MSG_CHAN_RTS_SENT);
    msg_chan_set_announced(s);
    MSG_TRACE(s, "RTS sent", TRACE_ALONE, 0);
    send_rts(s, 0);
}

static void send_fin(struct msg_chan *c) REQUIRES(msg_lock)
{
    struct msg_ctrl m = ctrl_of(c, MSG_FIN);

    m.bytes = c->seq;
    post(c, &m);
    c->freed = true;
    if (c->peer_freed)
        release_chan(c);
}

static void match_send(struct msg_chan *s, const struct msg_ctrl *rtr)
    REQUIRES(msg_lock)
{
    set_peer(s, rtr);
    msg_set_proto(s, (enum msg_proto_id)(rtr->flags >> MSG_RTR_PROTO_SHIFT));
    s->bytes = s->len;
    s->landing = msg_ctrl_addr(rtr);
    s->slots = (unsigned)rtr->slots;
    s->slot_size = rtr->step;
    if (s->proto != MSG_PROTO_TRIG)
        msg_trig_close(s);
    msg_protos[s->proto]->open(s, rtr);
    finish_match(s, MSG_CHAN_MATCHED);
}

static void handle_rtr(const struct msg_ctrl *rtr) REQUIRES(msg_lock)
{
    struct msg_chan *s = msg_chan_of_ctrl(rtr);

    msg_check_rtr(s, rtr);
    s->peer_handle = rtr->mine;
    if (s->freed && rtr->error) {
        release_chan(s);
    } else if (s->freed) {
        send_fin(s);
    } else if (rtr->error) {
        msg_trig_close(s);
        if (rtr->error == -EMSGSIZE)
            s->bytes = rtr->bytes;      /* for the line */
        if (s->part)
            s->part->theirs = (int)(uint32_t)rtr->trig;
        fail_match(s, rtr->error);
    } else {
        match_send(s, rtr);
    }
}

static void handle_fin(const struct msg_ctrl *fin) REQUIRES(msg_lock)
{
    struct msg_chan *c = msg_chan_of_ctrl(fin);

    msg_check_fin(c, fin);
    c->peer_last = fin->bytes;
    __atomic_store_n(&c->peer_freed, true, __ATOMIC_RELEASE);
    if (c->freed)
        release_chan(c);
}

/* ---- progress ---- */

static void read_ctrl(void) REQUIRES(msg_lock)
{
    struct msg_ctrl m;

    while (msg_ctrl_take(&m)) {
        msg_check_ctrl(&m);
        if (m.kind == MSG_RTS)
            handle_rts(&m);
        else if (m.kind == MSG_RTR)
            handle_rtr(&m);
        else
            handle_fin(&m);
    }
}

static void progress_locked(const char *call, bool mapped_only)
    REQUIRES(msg_lock)
{
    read_ctrl();
    if (!__atomic_load_n(&unsent, __ATOMIC_RELAXED))
        return;
    if (msg_ctrl_flush(call, mapped_only))
        __atomic_store_n(&unsent, false, __ATOMIC_RELAXED);
    __atomic_store_n(&moving, msg_ctrl_is_moving(), __ATOMIC_RELAXED);
}

static bool has_work(void)
{
    return msg_ctrl_has_incoming() ||
           __atomic_load_n(&unsent, __ATOMIC_ACQUIRE);
}

/* The caller may not come again, and its partners wait.  False: there is no
 * progress thread, or a fault stops it. */
static bool leave_to_thread(void)
{
    if (!__atomic_load_n(&unsent, __ATOMIC_ACQUIRE))
        return true;
    if (fault_hit(FAULT_STREAM_PROGRESS) || stream_progress_start())
        return false;
    stream_progress_wake();
    return true;
}

void msg_progress(const char *call)
{
    if (!has_work())
        return;
    lock_acquire(&msg_lock);
    progress_locked(call, false);
    lock_release(&msg_lock);
}

void msg_progress_or_defer(const char *call)
{
    msg_progress(call);
    leave_to_thread();
}

void msg_flush_ctrl(const char *call)
{
    struct core_waiter w = msg_ctrl_waiter(call);

    w.info.silent = true;
    for (;;) {
        msg_progress(call);
        if (!__atomic_load_n(&moving, __ATOMIC_RELAXED) && leave_to_thread())
            break;
        core_wait_step(&w);
    }
    core_wait_end(&w);
}

bool msg_poll(void)
{
    if (has_work() && lock_try(&msg_lock)) {
        progress_locked("shmemx_enqueue_start", false);
        lock_release(&msg_lock);
    }
    return __atomic_load_n(&unsent, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&sought, __ATOMIC_RELAXED);
}

/* ---- the calls on a channel ---- */

/* The sender of a receive may have asked already; else it finds this one. */
static void offer_recv(struct msg_chan *r) REQUIRES(msg_lock)
{
    struct msg_ctrl rts;

    r->offered = true;
    if (msg_table_take_rts(r, &rts))
        match_recv(r, &rts);
    else
        msg_table_add_recv(r);
}

static void announce(struct msg_chan *c) REQUIRES(msg_lock)
{
    if (c->sends) {
        send_first_rts(c);
    } else {
        msg_chan_set_announced(c);
        offer_recv(c);
    }
}

int msg_match_enter(struct msg_chan *c)
{
    int64_t number;

    lock_acquire(&msg_lock);
    number = c->team ? c->number : msg_table_next_number(c);
    if (number >= 0) {
        c->number = (uint32_t)number;
        msg_chan_list(c);
        if (!c->sends && !msg_chan_is_silent(c))
            offer_recv(c);
    }
    lock_release(&msg_lock);
    return number < 0 ? -ENOMEM : 0;
}

void msg_chan_request_match(const char *call, struct msg_chan *c)
{
    lock_acquire(&msg_lock);
    if (!c->requested && !c->one_shot && c->state < MSG_CHAN_MATCHED)
        __atomic_fetch_add(&sought, 1, __ATOMIC_RELAXED);
    c->requested = true;
    if (c->state == MSG_CHAN_NEW && (c->sends || !c->offered)) {
        announce(c);
        if (c->one_shot)
            progress_locked(call, true);
    }
    lock_release(&msg_lock);
    if (c->one_shot)
        leave_to_thread();
}

void msg_announce_all(void)
{
    struct msg_chan *c;

    lock_acquire(&msg_lock);
    while ((c = msg_chan_first_silent()))
        announce(c);
    lock_release(&msg_lock);
}

/* The progress thread sends what cannot go at once. */
void msg_chan_recv_reached(struct msg_chan *c)
{
    lock_acquire(&msg_lock);
    c->reached = true;
    if (c->state == MSG_CHAN_MATCHED)
        send_rtr(c);
    progress_locked("shmemx_enqueue_start", true);
    lock_release(&msg_lock);
}

/* It has no partner, and no partner knows of it. */
static void free_unmatched(struct msg_chan *c) REQUIRES(msg_lock)
{
    if (c->sends) {
        send_rts(c, MSG_RTS_CANCELLED);
        release_chan(c);
        return;
    }
    c->freed = true;            /* it stays until its sender's RTS comes */
    heap_pool_free(c->counters);
    c->counters = NULL;
    if (c->slots)
        heap_pool_free(c->landing);
    c->slots = 0;
    if (!c->offered) {
        announce(c);
        return;
    }
    if (c->one_shot) {          /* no match of this PE waits for that */
        __atomic_fetch_add(&sought, 1, __ATOMIC_RELAXED);
        stream_progress_wake();
    }
}

/* A one-shot receive that no stream came to: its sender waits for an RTR. */
static void refuse_sender(struct msg_chan *c) REQUIRES(msg_lock)
{
    if (!c->one_shot || c->sends || c->reached || c->state != MSG_CHAN_MATCHED)
        return;
    c->error = -ECANCELED;
    send_rtr(c);
}

void msg_chan_free(struct msg_chan *c)
{
    lock_acquire(&msg_lock);
    refuse_sender(c);
    if (c->state == MSG_CHAN_NEW)
        free_unmatched(c);
    else if (c->one_shot || c->state == MSG_CHAN_FAILED)
        release_chan(c);
    else if (c->state == MSG_CHAN_MATCHED)
        send_fin(c);
    else
        c->freed = true;        /* until the RTR comes */
    progress_locked("shmemx_req_free", true);   /* no round trip for each */
    lock_release(&msg_lock);
    leave_to_thread();
}

void msg_match_close(void)
{
    lock_acquire(&msg_lock);
    msg_chans_close();
    msg_table_clear();
    __atomic_store_n(&unsent, false, __ATOMIC_RELAXED);
    __atomic_store_n(&moving, false, __ATOMIC_RELAXED);
    __atomic_store_n(&sought, 0, __ATOMIC_RELAXED);
    lock_release(&msg_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that wait for both ends, and those that are used once.
 *
 * When a stream comes to one it leaves it here, in a list of its queue's, and
 * what is behind it goes on.  Who holds the queue puts it when the receiver's
 * stream has come to its own start; that store of `go` also comes with the
 * answer to a sender that is used once.  A word of the sender's tells when the
 * buffer is free. */
#include "msg/msg_chan.h"
#include "stream/exec/stream_exec.h"
#include "core/core_device.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool reached(const uint64_t *word, uint64_t least)
{
    bool is = __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;

    atomics_tsan_acquire();
    return is;
}

static void raise(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    atomics_full_fence();
    core_wake((struct core_target){ (uintptr_t)word, core_ctl }, sizeof *word);
    gtl->flags_stored();
}

/* Only what is used once is started before it has a partner. */
static void failed(struct stream_ring *q, struct msg_chan *c)
{
    char cause[128];

    if (c->error == -EMSGSIZE)
        snprintf(cause, sizeof cause, "a send of %zu bytes, tag %d, whose "
                 "receive has %zu", c->sends ? c->len : c->bytes, c->tag,
                 c->sends ? c->bytes : c->len);
    else
        snprintf(cause, sizeof cause, "tag %d: %s", c->tag,
                 strerror(-c->error));
    stream_errors_record(
        &q->failed, c->sends ? "shmemx_enqueue_send" : "shmemx_enqueue_recv",
        c->sends ? "send" : "recv", c->pe, cause, &c->counted);
}

/* Which tells the receiver. */
static enum stream_exec_state put(struct stream_ring *q, struct msg_chan *c)
{
    uint64_t round = c->send.round;
    const struct stream_op op = {
        .kind = STREAM_PUT_SIGNAL, .call = c->send.call, .pe = c->pe,
        .waits = true, .message = true, .queue = q,
        .dest = msg_slot_addr(c, c->land, round), .source = c->buf,
        .len = c->bytes,
        .signal = { msg_arrived_word(c->there, round), round, SHMEM_SIGNAL_SET }
    };

    return stream_exec_host_put_signal(q, &op, &c->send.part);
}

/* Has it ended?  *any: something came of it. */
static bool send_ended(struct stream_ring *q, struct msg_chan *c, bool *any)
{
    size_t moved = c->send.part.moved;
    enum stream_exec_state done;

    if (c->send.watch)
        return xport_trig->completed(c->gate) >= c->send.round;
    if (!c->send.put) {
        if (c->how == MSG_PROTO_TRIG
            ? !xport_trig->is_released(c->gate, c->send.round)
            : !reached(&c->words->go, c->send.round))
            return false;
        done = put(q, c);
        c->send.put = done != STREAM_AGAIN;
        *any |= c->send.put || c->send.part.moved != moved;
        if (done == STREAM_AGAIN)
            return false;
        if (done == STREAM_COMPLETED && c->how != MSG_PROTO_TRIG)
            return true;
    }
    if (!stream_ring_net_idle(q))
        return false;
    if (c->how == MSG_PROTO_TRIG)
        xport_trig->skip_done(c->gate);
    return true;
}

/* The stream waits for the word that the sender raises, or for one that is
 * raised behind the copy. */
static bool recv_ended(struct msg_chan *c)
{
    if (!c->slots)
        return true;
    if (!reached(msg_arrived_word(c->words, 1), 1))
        return false;
    core_copy(c->buf, c->land, c->bytes);
    return true;
}

static bool step(struct stream_ring *q, struct msg_chan *c, bool *any)
{
    bool sends = c->sends;

    switch (msg_chan_state(c)) {
    case MSG_CHAN_FAILED:
        failed(q, c);
        if (!sends)
            raise(msg_arrived_word(c->words, 1), 1);
        return true;
    case MSG_CHAN_MATCHED:
        return sends ? send_ended(q, c, any) : recv_ended(c);
    default:
        return false;           /* a match may write to it */
    }
}

void msg_rndv_post(const struct stream_op *op)
{
    struct stream_ring *q = op->queue;
    struct msg_chan *c = op->send.chan;

    c->send.call = op->call;
    c->send.round = op->send.round;
    c->send.put = false;
    c->send.part = (struct stream_op_state){ 0 };
    c->send.watch = op->send.watch;
    c->send.next = NULL;
    if (c->once && !c->sends)
        msg_chan_recv_reached(c);
    *q->last_send = c;
    q->last_send = &c->send.next;
    __atomic_fetch_add(&q->n_sends, 1, __ATOMIC_RELAXED);
}

bool msg_rndv_progress(struct stream_ring *q)
{
    struct msg_chan **at = &q->sends, *c;
    bool any = false;

    while ((c = *at)) {
        if (!step(q, c, &any)) {
            at = &c->send.next;
            continue;
        }
        *at = c->send.next;
        any = true;
        /* The stream may use it again, or the program free it, from now on. */
        if (q->last_send == &c->send.next)
            q->last_send = at;
        raise(&c->words->sent, c->send.round);
        __atomic_fetch_sub(&q->n_sends, 1, __ATOMIC_RELEASE);
    }
    return any;
}

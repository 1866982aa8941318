/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of channels: what a start and a wait put into a stream. */
#include "stream/queue/stream_queue.h"
#include "msg/msg_chan.h"
#include "msg/msg_ctrl.h"
#include "stream/stream_stats.h"
#include "stream/stream_watch.h"

#include <errno.h>

/* ---- starts ---- */

/* On both streams, once each in a round: whoever comes second has both
 * buffers. */
static int meet_half_way(const struct stream_where *w, struct msg_chan *c,
                         uint64_t round)
{
    int rc =
        stream_device_rc(w, gtl->peer_copy(&c->pairs[round % 2], w->stream));

    if (!rc) {
        stream_count(STREAM_BY_DEVICE, 1);
        gtl->count_ops(w->stream, 1);
    }
    return rc;
}

static struct stream_op put_of(const struct msg_chan *c, const char *call,
                               uint64_t round)
{
    return (struct stream_op){ .kind = STREAM_PUT_SIGNAL,
                               .call = call,
                               .pe = c->pe,
                               .message = true,
                               .dest = msg_slot_addr(c, c->land, round),
                               .source = c->buf,
                               .len = c->bytes,
                               .signal = { msg_arrived_word(c->there, round),
                                           round, SHMEM_SIGNAL_SET } };
}

/* These make an operation, of which the others are spared even the zeros. */
static int put_far(const struct stream_where *w, struct queue *q,
                   const struct msg_chan *c, uint64_t round,
                   struct start_parts *parts)
{
    const struct stream_op op = put_of(c, w->call, round);

    return stream_start_one(w, q, &op, parts);
}

static int put(const struct stream_where *w, struct queue *q,
               const struct msg_chan *c, uint64_t round,
               struct start_parts *parts)
{
    if (!c->theirs)
        return put_far(w, q, c, round, parts);
    stream_step_batch_put(&q->steps, msg_slot_addr(c, c->lands, round), c->buf,
                          c->bytes, msg_arrived_word(c->theirs, round), round);
    q->steps.ops++;
    return 0;
}

/* By the NIC, as the gate's next one, with its flag; or, as far as it has no
 * room for these, by the agent. */
static void put_behind_gate(const struct stream_where *w, struct queue *q,
                            struct msg_chan *c, uint64_t round,
                            struct start_parts *parts)
{
    const struct stream_op put = put_of(c, w->call, round);
    struct stream_op op = { .kind = STREAM_MESSAGE,
                            .call = w->call,
                            .pe = c->pe,
                            .send = { c, round, true } };
    struct xport_trig_op x;
    uint64_t least;

    c->failed = stream_ring_errors(q->queue);
    if (!stream_nic_translate(&put, &x) || !xport_trig->can(&x) ||
        xport_trig->arm(c->gate, &x)) {
        xport_trig->skip_post(c->gate);
        op.send.watch = false;
    } else if (!xport_trig->flag(c->gate, &least)) {
        stream_errors_note_op(c->failed, &put);
        stream_progress_wake();    /* it may fail */
        return;
    }
    stream_ring_nic(q->queue)->spilled++;
    stream_start_on_host(w, q, &op, parts);
}

/* One of the two that open the sender's gate. */
static int open_gate(const struct stream_where *w, struct queue *q,
                     struct msg_chan *c, struct start_parts *parts)
{
    const struct stream_op op = { .kind = STREAM_INCREMENT,
                                  .call = w->call,
                                  .gate = c->gate_at,
                                  .pe = c->sends ? core_world.my_pe : c->pe };

    return stream_start_one(w, q, &op, parts);
}

/* The sender may put. */
static int let_come(const struct stream_where *w, struct queue *q,
                    struct msg_chan *c, uint64_t round,
                    struct start_parts *parts)
{
    const struct stream_op op = {
        .kind = STREAM_SIGNAL, .call = w->call, .pe = c->pe, .message = true,
        .signal = { &c->there->go, round, SHMEM_SIGNAL_SET }
    };

    return stream_start_one(w, q, &op, parts);
}

static bool is_near(const struct msg_chan *c)
{
    return stream_device_address_amo(c->pe, &c->there->taken, 8) != 0;
}

/* Those far away are added to: two values might come in the wrong order. */
static struct stream_signal taken(const struct msg_chan *c)
{
    bool near = is_near(c);

    return (struct stream_signal){
        .addr = &c->there->taken, .value = near ? c->round : 1,
        .op = near ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD
    };
}

static bool has_turns(const struct msg_chan *c)
{
    return !c->sends && !c->once && c->how == MSG_PROTO_EAGER;
}

/* With the wait; else with the next start. */
static bool tells_at_once(const struct msg_chan *c)
{
    return has_turns(c) && is_near(c);
}

static int tell_taken(const struct stream_where *w, struct queue *q,
                      const struct msg_chan *c, struct start_parts *parts)
{
    const struct stream_op op = {
        .kind = STREAM_SIGNAL, .call = w->call, .pe = c->pe, .message = true,
        .signal = taken(c)
    };

    return stream_start_one(w, q, &op, parts);
}

_Static_assert(MSG_PROTO_READY == 0 && MSG_PROTO_RNDV + 1 == STREAM_ONCE,
               "counted so");

static void count(const struct msg_chan *c)
{
    unsigned way = c->team ? STREAM_OF_COLL : c->once ? STREAM_ONCE : c->how;

    if (c->sends)
        stream_count(STREAM_PROTOCOLS + way, 1);
}

/* By the agent. */
static int start_armed(const struct stream_where *w, struct queue *q,
                       struct msg_chan *c, uint64_t round,
                       struct start_parts *parts)
{
    const struct stream_op op = { .kind = STREAM_MESSAGE,
                                  .call = w->call,
                                  .pe = c->pe,
                                  .send = { c, round, false } };

    stream_start_on_host(w, q, &op, parts);
    return 0;
}

void msg_check_ready_send(const char *call, struct msg_chan *c)
{
    uint64_t round = c->round + 1;

    if (c->sends || c->how != MSG_PROTO_READY || c->tag < 0 || c->hasty ||
        __atomic_load_n(msg_arrived_word(c->words, round), __ATOMIC_ACQUIRE) <
            round)
        return;
    c->hasty = true;
    log_warn(ERR_STREAM, "%s: the message from PE %d, tag %d, of "
             "shmemx_rsend_init came before its receive was started; its "
             "sender has to know of that start", core_public_name(call),
             c->pe, c->tag);
}

int msg_start(const struct stream_where *w, struct queue *q, struct msg_chan *c,
              struct start_parts *parts)
{
    uint64_t round = c->round + 1;

    count(c);
    if (c->once || (c->how == MSG_PROTO_RNDV && c->sends))
        return start_armed(w, q, c, round, parts);
    if (c->how == MSG_PROTO_TRIG && c->sends)
        put_behind_gate(w, q, c, round, parts);
    if (c->how == MSG_PROTO_TRIG)
        return open_gate(w, q, c, parts);
    if (c->how == MSG_PROTO_PEER_COPY)
        return meet_half_way(w, c, round);
    if (c->how == MSG_PROTO_RNDV)
        return let_come(w, q, c, round, parts);
    if (c->sends)
        return put(w, q, c, round, parts);
    /* Of the round before: an operation of the agent's behind each wait would
     * hold up the next start's. */
    return has_turns(c) && round > 1 && !is_near(c)
           ? tell_taken(w, q, c, parts) : 0;
}

/* ---- waits ---- */

/* Used once, into private memory: the agent copies it. */
static bool by_agent(const struct msg_chan *c)
{
    return c->sends || (c->once && c->slots);
}

/* The word that tells of the last round, and the number it has then.  NULL:
 * its start tells enough. */
static uint64_t *word_of(const struct msg_chan *c, uint64_t *least)
{
    *least = c->round;
    if (c->once || c->how >= MSG_PROTO_PEER_COPY) {
        if (by_agent(c))
            return &c->words->sent;
    } else if (c->sends) {
        *least = c->round - 1;
        return c->how == MSG_PROTO_EAGER && *least ? &c->words->taken : NULL;
    }
    return msg_arrived_word(c->words, c->round);
}

bool msg_completed(const struct msg_chan *c)
{
    uint64_t least, *word = word_of(c, &least);
    bool over = !word || __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;

    atomics_tsan_acquire();
    return over;
}

struct core_waiter msg_waiter(const char *call, const struct msg_chan *c,
                               void *stream)
{
    uint64_t least, *word = word_of(c, &least);

    return (struct core_waiter){
        .addr = word ? word : &c->words->sent, .bytes = sizeof *word,
        .what = CORE_FOR_QUEUE, .value = (uintptr_t)stream, .call = call,
        .name = msg_describe_word, .named = c->words
    };
}

void msg_wait_released(const char *call, const struct msg_chan *c)
{
    const uint64_t *word = &c->words->sent;
    struct core_waiter w = CORE_WAIT_VALUE(call, word, uint64_t, SHMEM_CMP_GE,
                                           1);

    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        core_wait_step(&w);
    core_wait_end(&w);
}

/* For a word that the device does not reach, or may not wait for. */
static int wait_far(const struct stream_where *w, const struct msg_chan *c,
                    const uint64_t *word, uint64_t least)
{
    const struct stream_wait wait = {
        .how = STREAM_ALL, .n = 1, .size = sizeof *word, .ivars = word,
        .cmp = SHMEM_CMP_GE, .value = least, .whose = 1 + c->pe
    };

    return stream_wait(w, &wait);
}

int msg_enqueue_wait(const struct stream_where *w, struct queue *q,
                     const struct msg_chan *c)
{
    uint64_t least, *word = word_of(c, &least), *seen;

    if (!word)
        return 0;
    if (unlikely(!c->mine || !stream_device_waits() || !stream_waits_allowed()))
        return wait_far(w, c, word, least);
    seen = (void *)((char *)c->mine + ((char *)word - (char *)c->words));
    stream_step_batch_wait(&q->steps, seen, least);
    stream_watch_add(w, word, seen, least, c->pe);
    return 0;
}

static bool in_slot(const struct msg_chan *c)
{
    return !c->sends && !c->once && c->slots;
}

static int copy_far(const struct stream_where *w, struct queue *q,
                    const struct msg_chan *c, struct start_parts *parts)
{
    const struct stream_op op = {
        .kind = STREAM_GET, .call = w->call, .pe = core_world.my_pe,
        .dest = c->buf, .source = msg_slot_addr(c, c->land, c->round),
        .len = c->bytes
    };
    int rc = stream_step_batch_flush(w, &q->steps);       /* the waits before */

    return rc ? rc : stream_start_one(w, q, &op, parts);
}

int msg_enqueue_copy_out(const struct stream_where *w, struct queue *q,
                         struct msg_chan *c, struct start_parts *parts)
{
    if (c->theirs && (in_slot(c) || has_turns(c))) {    /* and gives it back */
        stream_step_batch_put(
            &q->steps, c->buf, msg_slot_addr(c, c->lands, c->round),
            in_slot(c) ? c->bytes : 0, has_turns(c) ? &c->theirs->taken : NULL,
            c->round);
        q->steps.ops++;
        return 0;
    }
    /* A match may write to what is used once. */
    return in_slot(c) ? copy_far(w, q, c, parts) : 0;
}

int msg_enqueue_slot_release(const struct stream_where *w, struct queue *q,
                             struct msg_chan *c, struct start_parts *parts)
{
    int rc;

    if (c->theirs || !tells_at_once(c))
        return 0;
    rc = stream_step_batch_flush(w, &q->steps);
    return rc ? rc : tell_taken(w, q, c, parts);
}

void msg_finish(const char *call, struct msg_chan *c)
{
    struct stream_signal s;

    if (in_slot(c) && c->bytes)
        core_copy(c->buf, msg_slot_addr(c, c->land, c->round), c->bytes);
    if (!tells_at_once(c))
        return;
    s = taken(c);
    msg_ctrl_signal(call, s.addr, s.value, s.op, c->pe);
}

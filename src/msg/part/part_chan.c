/* SPDX-License-Identifier: BSD-3-Clause */
/* The partitions of a channel: attached when it is made, compared when its ends
 * match, and, at the sender, turned into the operations of a trigger.  Called
 * by msg_chan.c, msg_match.c, msg_select.c and the requests of this folder;
 * starts nothing. */
#include "msg/part/part.h"
#include "core/core_describe.h"
#include "core/core_misuse.h"
#include "kernel/kernel_memory.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- made and released ---- */

void part_prequest_release(struct part *p)
{
    kernel_device_free(p->device, p->device_size);
    p->device = NULL;
    p->prequest = p->together = false;
}

int part_attach(struct msg_chan *c, const struct msg_args *a)
{
    struct part *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    p->n = a->partitions;
    p->each = a->len / (size_t)a->partitions;
    if (c->sends && !a->team) {         /* the library's own makes none ready */
        p->ready = calloc((size_t)p->n, sizeof *p->ready);
        if (!p->ready) {
            free(p);
            return -ENOMEM;
        }
    }
    c->part = p;
    return 0;
}

void part_detach(struct msg_chan *c)
{
    struct part *p = c->part;

    if (!p)
        return;
    part_prequest_release(p);
    free(p->ready);
    free(p);
    c->part = NULL;
}

size_t part_counters_size(const struct msg_chan *c)
{
    size_t counters = c->sends ? 0 : (size_t)c->part->n;

    return sizeof(struct part_counters) + counters * sizeof(uint64_t);
}

/* ---- matching ---- */

/* The largest number of transport partitions that divides n and is wanted. */
static int divide(int n, int most)
{
    int t = most && most < n ? most : n;

    while (n % t)
        t--;
    return t;
}

void part_offer(const struct msg_chan *s, struct msg_ctrl *rts)
{
    if (!s->part)
        return;
    rts->flags |= MSG_RTS_PARTS;
    rts->slots = s->part->n;
    rts->step = (uint64_t)s->part->most;
}

void part_answer(const struct msg_chan *r, struct msg_ctrl *rtr)
{
    if (r->part)
        rtr->trig = (uint64_t)r->part->transport << 32 | (uint32_t)r->part->n;
}

/* One division refines the other: the coarser one's partitions travel. */
int part_accept(struct msg_chan *r, const struct msg_ctrl *rts)
{
    struct part *p = r->part;
    int most, few;

    if (!p || !(rts->flags & MSG_RTS_PARTS))
        return -EPROTOTYPE;
    p->theirs = rts->slots;
    if (rts->bytes != r->len)
        return -EMSGSIZE;
    few = p->theirs < p->n ? p->theirs : p->n;
    if (few < 1 || p->theirs % few || p->n % few)
        return -EDOM;
    most = p->most;
    if (rts->step && rts->step < (uint64_t)(most ? most : few))
        most = (int)rts->step;
    p->transport = divide(few, most);
    return 0;
}

void part_report_failed(const char *call, const char *which,
                        const struct msg_chan *c)
{
    const struct part *p = c->part;

    if (c->error == -EPROTOTYPE)
        core_misuse(ERR_ARG, call, "%s%s PE %d, tag %d: %s end is partitioned, "
                    "the other is not", which, c->sends ? "to" : "from", c->pe,
                    c->tag, p ? "this" : "that");
    else
        core_misuse(ERR_ARG, call, "%s%s PE %d, tag %d: this end has %d "
                    "partitions, that one %d: one number has to divide the "
                    "other", which, c->sends ? "to" : "from", c->pe, c->tag,
                    p->n, p->theirs);
}

CORE_RACY void part_describe(const struct msg_chan *c, char *text, size_t size)
{
    const struct part_counters *w = part_counters(c);
    const struct part *p = c->part;
    const char *freed = c->peer_freed ? ", which has freed its end" : "";
    uint64_t n = 0, epoch = w->epoch;
    int first = -1;

    for (int i = 0; !c->sends && i < p->transport; i++)
        if (__atomic_load_n(&w->arrived[i], __ATOMIC_RELAXED) < epoch) {
            first = first < 0 ? i : first;
            n++;
        }
    if (c->sends)
        snprintf(text, size, "a partitioned send to PE %d%s, tag %d: %llu of "
                 "%d transport partitions have gone, and %s", c->pe, freed,
                 c->tag, (unsigned long long)(p->completed %
                                              (uint64_t)p->transport),
                 p->transport, w->counters.started < epoch
                 ? "the receive is not started" : "the receive is started");
    else
        snprintf(text, size, "%llu of %d transport partitions from PE %d%s, "
                 "tag %d, the first of them number %d", (unsigned long long)n,
                 p->transport, c->pe, freed, c->tag, first);
}

/* ---- the protocol's row: starts and waits are those of part_req_ops ---- */

static void open_chan(struct msg_chan *c, const struct msg_ctrl *m)
{
    if (c->sends) {
        c->part->transport = (int)(m->trig >> 32);
        c->part->theirs = (int)(uint32_t)m->trig;
    }
}

/* The receiver's number is used as an index: part_counters of so many. */
static bool offered(const struct msg_chan *s, const struct msg_ctrl *rtr)
{
    uint64_t t = rtr->trig >> 32, theirs = (uint32_t)rtr->trig;
    uint64_t size = sizeof(struct part_counters) + theirs * sizeof(uint64_t);

    return t && t <= theirs && theirs <= INT32_MAX &&
           !((uint64_t)s->part->n % t) && !rtr->slots &&
           size <= heap_segs[HEAP_HOST].size &&
           rtr->counters <= heap_segs[HEAP_HOST].size - size;
}

const struct msg_proto msg_proto_part = {
    .matched = "matched: partitioned",
    .send = { .start = msg_start_nothing, .counter = msg_sent_counter },
    .recv = { .start = msg_start_nothing, .counter = msg_recv_counter },
    .copy_out = msg_copy_nothing, .release = msg_copy_nothing,
    .finish = msg_finish_nothing,
    .open = open_chan,
    .offered = offered
};

/* ---- the sender's trigger ---- */

/* Iterations that kernels have copied had no hits. */
static bool may_begin(void *arg, uint64_t iteration)
{
    const struct msg_chan *c = arg;
    const struct part_counters *w = part_counters(c);
    uint64_t seq;

    seq = iteration + __atomic_load_n(&w->copied, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&w->epoch, __ATOMIC_ACQUIRE) >= seq &&
           __atomic_load_n(&w->counters.started, __ATOMIC_ACQUIRE) >= seq;
}

/* The iteration is over when the last one of its transport partitions is. */
static void completed(void *arg, int tag)
{
    struct msg_chan *c = arg;
    struct part *p = c->part;
    struct part_counters *w = part_counters(c);
    uint64_t per = (uint64_t)p->transport;

    MSG_TRACE_PARTITION(c, "transport partition sent", tag,
                        c->bytes / (size_t)p->transport);
    if (++p->completed % per)
        return;
    /* release: sources may be written.  The trigger wakes sleepers. */
    __atomic_store_n(&w->counters.sent,
                     p->completed / per +
                         __atomic_load_n(&w->copied, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
}

static int post_all(const char *call, struct msg_chan *c)
{
    const struct part *p = c->part;
    struct part_counters *theirs = (struct part_counters *)c->peer_counters;
    size_t len = c->bytes / (size_t)p->transport;
    int rc = 0;

    for (int i = 0; i < p->transport && !rc; i++) {
        const struct stream_op op = {
            .kind = STREAM_PUT_SIGNAL, .call = "shmemx_pready", .pe = c->pe,
            .message = true,
            .dest = c->landing + (size_t)i * len,
            .source = c->buf + (size_t)i * len, .len = len,
            .signal = { &theirs->arrived[i], 1, SHMEM_SIGNAL_ADD }
        };

        rc = trig_op(&(struct trig_where){
            call, p->trig, i, (uint64_t)(p->n / p->transport) }, &op);
    }
    return rc ? rc : trig_rearm(call, p->trig, SHMEMX_TRIG_ALL, true);
}

/* Shorter ones are sent as soon as another thread would be awake. */
enum { OVERLAPS = 262144 };

int part_open(const char *call, struct msg_chan *c)
{
    struct part *p = c->part;
    const struct trig_owner owner = {
        .may_begin = may_begin, .completed = completed, .arg = c,
        .overlaps = !core_status.oversubscribed && !core_status.one_core &&
                    c->bytes / (size_t)p->transport >= OVERLAPS
    };
    int rc;

    if (p->trig || !c->sends)
        return 0;
    rc = trig_create_owned(call, p->transport, &owner, &p->trig);
    if (rc)
        return rc;
    rc = post_all(call, c);
    if (rc) {
        trig_reset(call, p->trig, SHMEMX_TRIG_ALL);
        trig_free(call, p->trig);
        p->trig = NULL;
    }
    return rc;
}

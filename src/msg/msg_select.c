/* SPDX-License-Identifier: BSD-3-Clause */
/* How the messages of a channel go: the receiver's choice, when the two ends
 * have found each other.  docs/ARCHITECTURE.md has a table. */
#include "msg/msg_chan.h"
#include "base/env.h"
#include "msg/msg_ctrl.h"

#include <errno.h>
#include <string.h>

struct msg_eager_limit msg_eager_limit;

int msg_env_check(void)
{
    const char *text = env.ST_EAGER, *comma = strchr(text, ',');
    char first[32];
    size_t n = comma ? (size_t)(comma - text) : strlen(text);

    msg_eager_limit.near = MSG_EAGER_ON_NODE;
    msg_eager_limit.far = MSG_EAGER_OFF_NODE;
    if (!*text)
        return 0;
    if (n < sizeof first) {
        memcpy(first, text, n);
        first[n] = 0;
        if ((!comma || !strchr(comma + 1, ',')) &&
            !env_parse_size(first, false, &msg_eager_limit.near) &&
            !env_parse_size(comma ? comma + 1 : first, false,
                            &msg_eager_limit.far))
            return 0;
    }
    log_error(ERR_ENV, "SHMEM_ST_EAGER is \"%s\": want bytes, like 8k, or "
              "those for this node and for others, like 4k,16k", text);
    return -EINVAL;
}

bool msg_chan_alloc_slots(struct msg_chan *r, unsigned n)
{
    r->step = (r->bytes + 63) / 64 * 64;
    r->land = n ? heap_pool_alloc(n * r->step) : r->buf;
    r->slots = r->land && n ? n : 0;
    return r->slots == n;
}

/* This end's part in PAIR: its device reaches its own buffer, and the words of
 * both, which no network's atomics are for.  Its kernels do not wait, so PEs
 * may share it. */
static bool device_pairs(const struct msg_chan *c)
{
    return gtl_device.kernels && c->mine &&
           xport_is_mapped(c->pe) &&
           stream_device_address(core_world.my_pe, c->buf, c->bytes) &&
           stream_device_address(c->pe, c->words, sizeof *c->words);
}

uint32_t msg_peer_copy_flags(const struct msg_chan *s)
{
    uint32_t flags = 0;

    if (s->ready || s->once || !s->bytes || !device_pairs(s))
        return 0;
    for (int seg = 0; seg < HEAP_SEGS; seg++)
        if (heap_segs[seg].size &&
            stream_device_address(s->pe, (const void *)heap_segs[seg].base, 1))
            flags |= (uint32_t)MSG_RTS_PEER_COPY << seg;
    return flags;
}

/* Both devices reach the other end's buffer. */
static bool may_pair(const struct msg_chan *r, const struct msg_ctrl *n)
{
    int seg = heap_find(r->buf, r->bytes);

    return seg >= 0 && n->flags & (uint32_t)MSG_RTS_PEER_COPY << seg &&
           n->seg >= 0 && device_pairs(r) &&
           stream_device_address(r->pe, msg_ctrl_addr(n), r->bytes);
}

int msg_select_proto(struct msg_chan *r, const struct msg_ctrl *n)
{
    bool near = xport_is_mapped(r->pe);
    bool symmetric = heap_find(r->buf, r->bytes) >= 0;
    unsigned least = symmetric || !r->bytes ? 0 : 1;

    if (r->once) {
        r->how = MSG_PROTO_RNDV;     /* and has its slot */
        return 0;
    }
    if (n->flags & MSG_RTS_READY) {
        r->how = MSG_PROTO_READY;
        return msg_chan_alloc_slots(r, least) ? 0 : -ENOSPC;
    }
    if (near && may_pair(r, n) && r->bytes > msg_eager_limit.near) {
        r->how = MSG_PROTO_PEER_COPY;
        r->pairs[0].from =
            (void *)stream_device_address(r->pe, msg_ctrl_addr(n), r->bytes);
        return msg_chan_alloc_slots(r, 0) ? 0 : -ENOSPC;
    }
    r->how = MSG_PROTO_EAGER;
    /* On the software device who comes second cannot move private memory. */
    if ((r->bytes <= (near ? msg_eager_limit.near : msg_eager_limit.far) ||
         (near && gtl_device.host_streams)) &&
        (!r->bytes || msg_chan_alloc_slots(r, 2)))
        return 0;
    r->how = n->flags & MSG_RTS_TRIGGER ? MSG_PROTO_TRIG : MSG_PROTO_RNDV;
    r->gate_at = n->gate;
    return msg_chan_alloc_slots(r, least) ? 0 : -ENOSPC;
}

/* Of both ends, who may sleep until a round is over. */
static void wake_ends(void *arg)
{
    const struct msg_chan *c = arg;

    core_wake((struct core_target){ (uintptr_t)c->mine, core_ctl },
              sizeof *c->mine);
    core_wake((struct core_target){ (uintptr_t)c->theirs,
                                    core_peer_ctl(c->pe) },
              sizeof *c->theirs);
}

/* The partner's buffer is there already. */
static void make_pairs(struct msg_chan *c)
{
    struct msg_words *sender = c->sends ? c->mine : c->theirs;
    struct msg_words *receiver = c->sends ? c->theirs : c->mine;
    void *own =
        (void *)stream_device_address(core_world.my_pe, c->buf, c->bytes);
    const void *from = c->sends ? own : c->pairs[0].from;
    void *to = c->sends ? c->pairs[0].to : own;

    for (unsigned odd = 0; odd < 2; odd++)
        c->pairs[odd] = (struct gtl_peer_copy){
            .arrivals = &receiver->turns, .arrival = &c->mine->was, .to = to,
            .from = from, .n = c->bytes,
            .flags = { msg_arrived_word(receiver, odd), &sender->sent },
            .wake = wake_ends, .arg = c
        };
}

/* The next words or slots of one that was looked up are where that says, too:
 * all of a segment is mapped in one piece. */
void msg_chan_map_peer(struct msg_chan *c)
{
    int me = core_world.my_pe;
    size_t bytes = c->slots ? c->slots * c->step : c->bytes;
    struct msg_words *theirs;

    if (c->once)                /* the stream's wait may be enqueued just now */
        return;
    c->theirs = NULL;
    if (c->how > MSG_PROTO_PEER_COPY || !c->mine)
        return;
    if (c->how == MSG_PROTO_PEER_COPY) {
        c->theirs =
            (void *)stream_device_address(c->pe, c->there, sizeof *c->there);
        make_pairs(c);
        return;
    }
    theirs =
        (void *)stream_device_address_amo(c->pe, c->there, sizeof *c->there);
    c->lands =
        (void *)stream_device_address(c->sends ? c->pe : me, c->land, bytes);
    if (!c->bytes || (c->lands && stream_device_reaches(c->buf, c->bytes)))
        c->theirs = theirs;
}

/* ---- gates ---- */

static void gate_failed(void *arg, const char *call, const char *what, int pe,
                        const char *cause)
{
    const struct msg_chan *c = arg;

    stream_errors_record(c->failed, call, what, pe, cause, NULL);
}

bool msg_chan_open_trigger(struct msg_chan *c)
{
    if (c->ready || c->once || xport_is_mapped(c->pe) ||
        c->len <= msg_eager_limit.far ||
        xport_trig->open_two_input(&c->gate, &c->gate_at, &c->words->sent,
                                   gate_failed,
                         c))
        return false;
    stream_nic_watch_triggers();
    return true;
}

void msg_chan_close_trigger(struct msg_chan *c)
{
    if (c->gate)
        xport_trig->close(c->gate);
    c->gate = NULL;
}

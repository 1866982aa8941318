/* SPDX-License-Identifier: BSD-3-Clause */
/* How the messages of a channel go: the receiver's choice, when the two ends
 * have found each other.  docs/ARCHITECTURE.md has a table. */
#include "stream/stream_chan.h"
#include "base/env.h"
#include "stream/stream_mail.h"

#include <errno.h>
#include <string.h>

struct chan_eager chan_eager;

int stream_env_check(void)
{
    const char *text = env.ST_EAGER, *comma = strchr(text, ',');
    char first[32];
    size_t n = comma ? (size_t)(comma - text) : strlen(text);

    chan_eager.near = CHAN_EAGER_NEAR;
    chan_eager.far = CHAN_EAGER_FAR;
    if (!*text)
        return 0;
    if (n < sizeof first) {
        memcpy(first, text, n);
        first[n] = 0;
        if ((!comma || !strchr(comma + 1, ',')) &&
            !env_parse_size(first, false, &chan_eager.near) &&
            !env_parse_size(comma ? comma + 1 : first, false, &chan_eager.far))
            return 0;
    }
    log_error(ERR_ENV, "SHMEM_ST_EAGER is \"%s\": want bytes, like 8k, or "
              "those for this node and for others, like 4k,16k", text);
    return -EINVAL;
}

bool chan_take_slots(struct chan *r, unsigned n)
{
    r->step = (r->bytes + 63) / 64 * 64;
    r->land = n ? heap_pool_take(n * r->step) : r->buf;
    r->slots = r->land && n ? n : 0;
    return r->slots == n;
}

/* This end's part in PAIR: its device reaches its own buffer, and the words of
 * both, which no network's atomics are for.  Its kernels do not wait, so PEs
 * may share it. */
static bool device_pairs(const struct chan *c)
{
    return (gtl_is_software() || gtl_device.kernels) && c->mine &&
           xport_is_near(c->pe) &&
           stream_reach(core_world.my_pe, c->buf, c->bytes) &&
           stream_reach(c->pe, c->words, sizeof *c->words);
}

uint32_t chan_can_pair(const struct chan *s)
{
    uint32_t flags = 0;

    if (s->ready || s->once || !s->bytes || !device_pairs(s))
        return 0;
    for (int seg = 0; seg < HEAP_SEGS; seg++)
        if (heap_segs[seg].size &&
            stream_reach(s->pe, (const void *)heap_segs[seg].base, 1))
            flags |= (uint32_t)MAIL_PAIRS << seg;
    return flags;
}

/* Both devices reach the other end's buffer. */
static bool may_pair(const struct chan *r, const struct mail_note *n)
{
    int seg = heap_find(r->buf, r->bytes);

    return seg >= 0 && n->flags & (uint32_t)MAIL_PAIRS << seg && n->seg >= 0 &&
           device_pairs(r) && stream_reach(r->pe, mail_place(n), r->bytes);
}

int chan_decide(struct chan *r, const struct mail_note *n)
{
    bool near = xport_is_near(r->pe);
    bool symmetric = heap_find(r->buf, r->bytes) >= 0;
    unsigned least = symmetric || !r->bytes ? 0 : 1;

    if (r->once) {
        r->how = CHAN_MEET;     /* and has its slot */
        return 0;
    }
    if (n->flags & MAIL_READY) {
        r->how = CHAN_READY;
        return chan_take_slots(r, least) ? 0 : -ENOSPC;
    }
    if (near && may_pair(r, n) && r->bytes > chan_eager.near) {
        r->how = CHAN_PAIR;
        r->pairs[0].from = (void *)stream_reach(r->pe, mail_place(n), r->bytes);
        return chan_take_slots(r, 0) ? 0 : -ENOSPC;
    }
    r->how = CHAN_EAGER;
    /* On the software device who comes second cannot move private memory. */
    if ((r->bytes <= (near ? chan_eager.near : chan_eager.far) ||
         (near && gtl_is_software())) &&
        (!r->bytes || chan_take_slots(r, 2)))
        return 0;
    r->how = n->flags & MAIL_GATED ? CHAN_GATE : CHAN_MEET;
    r->gate_at = n->gate;
    return chan_take_slots(r, least) ? 0 : -ENOSPC;
}

/* Of both ends, who may sleep until a round is over. */
static void wake_ends(void *arg)
{
    const struct chan *c = arg;

    core_wake((struct core_spot){ (uintptr_t)c->mine, core_ctl },
              sizeof *c->mine);
    core_wake((struct core_spot){ (uintptr_t)c->theirs, core_peer_ctl(c->pe) },
              sizeof *c->theirs);
}

/* The partner's buffer is there already. */
static void make_pairs(struct chan *c)
{
    struct chan_words *sender = c->sends ? c->mine : c->theirs;
    struct chan_words *receiver = c->sends ? c->theirs : c->mine;
    void *own = (void *)stream_reach(core_world.my_pe, c->buf, c->bytes);
    const void *from = c->sends ? own : c->pairs[0].from;
    void *to = c->sends ? c->pairs[0].to : own;

    for (unsigned odd = 0; odd < 2; odd++)
        c->pairs[odd] = (struct gtl_pair){
            .turns = &receiver->turns, .was = &c->mine->was, .to = to,
            .from = from, .n = c->bytes,
            .told = { chan_arrived(receiver, odd), &sender->sent },
            .wake = wake_ends, .arg = c
        };
}

/* The next words or slots of one that was looked up are where that says, too:
 * all of a segment is mapped in one piece. */
void chan_find_near(struct chan *c)
{
    int me = core_world.my_pe;
    size_t bytes = c->slots ? c->slots * c->step : c->bytes;
    struct chan_words *theirs;

    if (c->once)                /* the stream's wait may be enqueued just now */
        return;
    c->theirs = NULL;
    if (c->how > CHAN_PAIR || !c->mine)
        return;
    if (c->how == CHAN_PAIR) {
        c->theirs = (void *)stream_reach(c->pe, c->there, sizeof *c->there);
        make_pairs(c);
        return;
    }
    theirs = (void *)stream_reach_amo(c->pe, c->there, sizeof *c->there);
    c->lands = (void *)stream_reach(c->sends ? c->pe : me, c->land, bytes);
    if (!c->bytes || (c->lands && stream_reaches_local(c->buf, c->bytes)))
        c->theirs = theirs;
}

/* ---- gates ---- */

static void gate_failed(void *arg, const char *call, const char *what, int pe,
                        const char *cause)
{
    const struct chan *c = arg;

    stream_fail(c->failed, call, what, pe, cause, NULL);
}

bool chan_open_gate(struct chan *c)
{
    if (c->ready || c->once || xport_is_near(c->pe) ||
        c->len <= chan_eager.far ||
        xport_trig->gate(&c->gate, &c->gate_at, &c->words->sent, gate_failed,
                         c))
        return false;
    stream_nic_gates();
    return true;
}

void chan_close_gate(struct chan *c)
{
    if (c->gate)
        xport_trig->close(c->gate);
    c->gate = NULL;
}

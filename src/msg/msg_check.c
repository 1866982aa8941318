/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of channels by handle, and the check of notes that name them: see
 * msg_check.h.  Called by the code that matches sends and receives. */
#include "msg/msg_check.h"
#include "stream/stream_handle.h"

struct end {
    struct stream_handle handle;
    struct msg_chan *chan;
};
static struct stream_handles ends = STREAM_HANDLES(struct end);

uint64_t msg_handle_new(struct msg_chan *c)
{
    struct end *e = stream_handle_new(&ends);

    if (!e)
        return 0;
    e->chan = c;
    return (uintptr_t)stream_handle_of(e);
}

void msg_handle_release(uint64_t handle)
{
    stream_handle_release(&ends, (void *)(uintptr_t)handle);
}

struct msg_chan *msg_handle_find(uint64_t handle)
{
    const struct end *e = stream_handle_find(&ends,
                                             (void *)(uintptr_t)handle);

    return e ? e->chan : NULL;
}

_Noreturn static void bad_note(const struct msg_ctrl *n, const char *what)
{
    core_fatal(ERR_CORRUPT, "shmemx_match", "a note of a message between "
               "streams, said to be of PE %d, tag %d, %s: the library's words "
               "in the symmetric heap of this PE, or of that one, were "
               "overwritten, as by a put past the end of its block; "
               "SHMEM_CHECK=1 finds some such puts", n->from, n->tag, what);
}

/* len bytes of a segment; -1: of memory that is not symmetric. */
static bool is_place(int seg, uint64_t at, uint64_t len)
{
    return seg == -1 || (seg >= 0 && seg < HEAP_SEGS &&
                         at <= heap_segs[seg].size &&
                         len <= heap_segs[seg].size - at);
}

void msg_check_ctrl(const struct msg_ctrl *n)
{
    if (n->kind < MSG_RTS || n->kind > MSG_FIN || n->from < 0 ||
        n->from >= core_world.n_pes)
        bad_note(n, "is of no kind, or of no PE");
    if (!is_place(HEAP_HOST, n->words, sizeof(struct msg_words)) ||
        n->words % _Alignof(struct msg_words) || n->slots < 0 ||
        !is_place(n->seg, n->at, 0) ||
        n->flags >> MSG_RTR_PROTO_SHIFT > MSG_PROTO_RNDV)
        bad_note(n, "names memory that is not symmetric");
}

struct msg_chan *msg_chan_of_ctrl(const struct msg_ctrl *n)
{
    struct msg_chan *c = msg_handle_find(n->yours);

    if (!c || c->pe != n->from || c->tag != n->tag)
        bad_note(n, "is for an end that this PE does not have");
    return c;
}

/* May messages of that sender go so?  It has what each way takes. */
static bool is_way(const struct msg_chan *s, const struct msg_ctrl *n)
{
    switch (n->flags >> MSG_RTR_PROTO_SHIFT) {
    case MSG_PROTO_READY:
        return s->ready;
    case MSG_PROTO_PEER_COPY:
        return !n->slots && n->seg >= 0 &&
               msg_peer_copy_flags(s) & (uint32_t)MSG_RTS_PEER_COPY << n->seg;
    case MSG_PROTO_TRIG:
        return s->gate != NULL;
    case MSG_PROTO_RNDV:
        return !s->ready;
    default:
        return !s->ready && !s->once;
    }
}

void msg_check_rtr(const struct msg_chan *s, const struct msg_ctrl *n)
{
    uint64_t len = s->len;

    if (!s->sends || s->state != MSG_CHAN_RTS_SENT)
        bad_note(n, "answers what was not asked");
    if (n->error)
        return;
    if (n->slots &&
        (n->step < len ||
         __builtin_mul_overflow(n->step, (uint64_t)n->slots, &len)))
        bad_note(n, "has slots that are too short");
    if (n->seg < 0 || !is_place(n->seg, n->at, len))
        bad_note(n, "names memory that is not symmetric");
    if (!is_way(s, n))
        bad_note(n, "says to go a way that this end has not offered");
}

void msg_check_fin(const struct msg_chan *c, const struct msg_ctrl *n)
{
    if (c->state != MSG_CHAN_MATCHED && !c->left)
        bad_note(n, "frees an end that was not matched");
}

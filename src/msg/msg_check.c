/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of channels by handle, and the checks of control messages that name
 * them: see msg_check.h.  Called by msg_chan.c and msg_match.c. */
#include "msg/msg_check.h"
#include "msg/msg_int.h"
#include "msg/msg_proto.h"
#include "base/handle.h"

struct end {
    struct handle handle;
    struct msg_chan *chan;
};
static struct handle_table ends = HANDLE_TABLE(struct end);

uint64_t msg_handle_new(struct msg_chan *c)
{
    struct end *e = handle_new(&ends);

    if (!e)
        return 0;
    e->chan = c;
    return (uintptr_t)handle_of_object(e);
}

void msg_handle_release(uint64_t handle)
{
    handle_release(&ends, (void *)(uintptr_t)handle);
}

struct msg_chan *msg_handle_find(uint64_t handle)
{
    const struct end *e = handle_find(&ends,
                                             (void *)(uintptr_t)handle);

    return e ? e->chan : NULL;
}

_Noreturn static void refuse(const struct msg_ctrl *m, const char *what)
{
    core_fatal(ERR_CORRUPT, "shmemx_match", "a control message, said to be of "
               "PE %d, tag %d, %s: the library's words in the symmetric heap "
               "of this PE, or of that one, were overwritten, as by a put past "
               "the end of its block; SHMEM_CHECK=1 finds some such puts",
               m->from, m->tag, what);
}

/* len bytes of a segment; -1: of memory that is not symmetric. */
static bool is_in_segment(int seg, uint64_t at, uint64_t len)
{
    return seg == -1 || (seg >= 0 && seg < HEAP_SEGS &&
                         at <= heap_segs[seg].size &&
                         len <= heap_segs[seg].size - at);
}

void msg_check_ctrl(const struct msg_ctrl *m)
{
    if (m->kind < MSG_RTS || m->kind > MSG_FIN || m->from < 0 ||
        m->from >= core_world.n_pes)
        refuse(m, "is of no kind, or of no PE");
    if (!is_in_segment(HEAP_HOST, m->counters, sizeof(struct msg_counters)) ||
        m->counters % _Alignof(struct msg_counters) || m->slots < 0 ||
        !is_in_segment(m->seg, m->at, 0) ||
        m->flags >> MSG_RTR_PROTO_SHIFT >= MSG_PROTOS)
        refuse(m, "names memory that is not symmetric");
}

struct msg_chan *msg_chan_of_ctrl(const struct msg_ctrl *m)
{
    struct msg_chan *c = msg_handle_find(m->yours);

    if (!c || c->pe != m->from || c->tag != m->tag)
        refuse(m, "is for an end that this PE does not have");
    return c;
}

void msg_check_rtr(const struct msg_chan *s, const struct msg_ctrl *m)
{
    const struct msg_proto *p = msg_protos[m->flags >> MSG_RTR_PROTO_SHIFT];
    uint64_t len = s->len;

    if (!s->sends || s->state != MSG_CHAN_RTS_SENT)
        refuse(m, "answers what was not asked");
    if (m->error)
        return;
    if (m->slots &&
        (m->step < len ||
         __builtin_mul_overflow(m->step, (uint64_t)m->slots, &len)))
        refuse(m, "has slots that are too short");
    if (m->seg < 0 || !is_in_segment(m->seg, m->at, len))
        refuse(m, "names memory that is not symmetric");
    if (p->ready != s->ready || p->one_shot != s->one_shot ||
        (p == &msg_proto_part) != (s->part != NULL) || !p->offered(s, m))
        refuse(m, "names a protocol that this end has not offered");
}

void msg_check_fin(const struct msg_chan *c, const struct msg_ctrl *m)
{
    if (c->state != MSG_CHAN_MATCHED && !c->freed)
        refuse(m, "frees an end that was not matched");
}

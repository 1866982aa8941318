/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of channels by handle, and the check of notes that name them: see
 * stream_end.h.  Called by the code that matches sends and receives. */
#include "stream/stream_end.h"
#include "stream/stream_handle.h"

struct end {
    struct stream_handle handle;
    struct chan *chan;
};
static struct stream_handles ends = STREAM_HANDLES(struct end);

uint64_t stream_end_new(struct chan *c)
{
    struct end *e = stream_handle_new(&ends);

    if (!e)
        return 0;
    e->chan = c;
    return (uintptr_t)stream_handle_of(e);
}

void stream_end_drop(uint64_t handle)
{
    stream_handle_drop(&ends, (void *)(uintptr_t)handle);
}

struct chan *stream_end_find(uint64_t handle)
{
    const struct end *e = stream_handle_find(&ends,
                                             (void *)(uintptr_t)handle);

    return e ? e->chan : NULL;
}

_Noreturn static void bad_note(const struct mail_note *n, const char *what)
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

void stream_end_check(const struct mail_note *n)
{
    if (n->kind < MAIL_SEND || n->kind > MAIL_GONE || n->from < 0 ||
        n->from >= core_world.n_pes)
        bad_note(n, "is of no kind, or of no PE");
    if (!is_place(HEAP_HOST, n->words, sizeof(struct chan_words)) ||
        n->words % _Alignof(struct chan_words) || n->slots < 0 ||
        !is_place(n->seg, n->at, 0) || n->flags >> MAIL_HOW_SHIFT > CHAN_MEET)
        bad_note(n, "names memory that is not symmetric");
}

struct chan *stream_end_of(const struct mail_note *n)
{
    struct chan *c = stream_end_find(n->yours);

    if (!c || c->pe != n->from || c->tag != n->tag)
        bad_note(n, "is for an end that this PE does not have");
    return c;
}

/* May messages of that sender go so?  It has what each way takes. */
static bool is_way(const struct chan *s, const struct mail_note *n)
{
    switch (n->flags >> MAIL_HOW_SHIFT) {
    case CHAN_READY:
        return s->ready;
    case CHAN_PAIR:
        return !n->slots && n->seg >= 0 &&
               chan_can_pair(s) & (uint32_t)MAIL_PAIRS << n->seg;
    case CHAN_GATE:
        return s->gate != NULL;
    case CHAN_MEET:
        return !s->ready;
    default:
        return !s->ready && !s->once;
    }
}

void stream_end_check_answer(const struct chan *s, const struct mail_note *n)
{
    uint64_t len = s->len;

    if (!s->sends || s->state != CHAN_ASKED)
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

void stream_end_check_gone(const struct chan *c, const struct mail_note *n)
{
    if (c->state != CHAN_MATCHED && !c->left)
        bad_note(n, "frees an end that was not matched");
}

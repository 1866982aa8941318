/* SPDX-License-Identifier: BSD-3-Clause */
/* Which message it is: by a word that somebody waits for, and by memory that
 * the program gives back. */
#include "base/lock.h"
#include "core/core_misuse.h"
#include "stream/queue/stream_queue.h"
#include "msg/msg_chan.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

struct sought {
    const void *word;
    char *text;
    size_t size;
    bool found;
    int pe;
};

static void name(struct msg_chan *c, void *arg)
{
    struct sought *s = arg;
    const char *gone = c->gone ? ", which has freed its end" : "";

    if (!c->words || (uintptr_t)s->word - (uintptr_t)c->words >=
                         sizeof *c->words)
        return;
    s->found = true;
    s->pe = c->pe;
    if (c->tag < 0)
        snprintf(s->text, s->size, "a step of a collective request, with PE %d",
                 c->pe);
    else if (c->sends)
        snprintf(s->text, s->size, "PE %d to take a message, tag %d%s", c->pe,
                 c->tag, gone);
    else
        snprintf(s->text, s->size, "a message from PE %d, tag %d%s", c->pe,
                 c->tag, gone);
}

void msg_describe_unexpected(int pe, char *text, size_t size)
{
    size_t n = strlen(text);
    bool once;
    int tag;

    if (msg_find_unexpected(pe, &tag, &once))
        snprintf(text + n, size - n, " (PE %d sends tag %d, for which there "
                 "is no shmemx_%s here)", pe, tag, once ? "enqueue_recv"
                                                        : "recv_init");
}

bool msg_describe_word(const void *word, char *text, size_t size)
{
    struct sought s = { word, text, size, false, -1 };

    if (!msg_chan_visit(false, name, &s) || !s.found)
        return false;
    msg_describe_unexpected(s.pe, text, size);
    return true;
}

/* ---- requests ---- */

/* As for all that is said of messages. */
static void say_message(const struct msg_chan *c, const char *before,
                        char *text, size_t size)
{
    snprintf(text, size, "%s%s PE %d, tag %d", before,
             !c->sends ? "receive from" : c->ready ? "ready send to"
                                                   : "send to", c->pe, c->tag);
}

struct req_name stream_req_name(const struct req *r)
{
    struct req_name n;

    if (r->chan)
        say_message(r->chan, "", n.text, sizeof n.text);
    else if (r->matches)
        snprintf(n.text, sizeof n.text, "a match");
    else if (r->coll)
        snprintf(n.text, sizeof n.text, "%s",
                 core_public_name(msg_coll_call(r->coll)));
    else
        snprintf(n.text, sizeof n.text, "%s, PE %d",
                 core_public_name(r->op.call), r->op.pe);
    return n;
}

/* ---- what is never done ---- */

void stream_unfinished_add_message(struct stream_unfinished *l,
                                   const char *call, const struct msg_chan *c)
{
    if (l->first[0])
        return;
    if (c->tag < 0)
        snprintf(l->first, sizeof l->first, "%s, a step of a collective "
                 "request, with PE %d", core_public_name(call), c->pe);
    else
        snprintf(l->first, sizeof l->first, "%s, PE %d, tag %d",
                 core_public_name(call), c->pe, c->tag);
}

void stream_unfinished_add_call(struct stream_unfinished *l, const char *call,
                                int pe)
{
    if (!l->first[0])
        snprintf(l->first, sizeof l->first, "%s, PE %d",
                 core_public_name(call), pe);
}

void stream_unfinished_add(struct stream_unfinished *l,
                           const struct stream_op *op)
{
    if (op->kind == STREAM_MESSAGE)
        stream_unfinished_add_message(l, op->call, op->send.chan);
    else if (!l->first[0] && op->kind >= STREAM_FENCE &&
             !(op->kind == STREAM_QUIET && op->behind))
        snprintf(l->first, sizeof l->first, "%s", core_public_name(op->call));
    else
        stream_unfinished_add_call(l, op->call, op->pe);
}

void stream_unfinished_report(const struct stream_unfinished *l,
                              const char *one, const char *more,
                              const char *end)
{
    bool is_one = l->n == 1;

    if (l->n)
        log_warn(ERR_STREAM, "shmem_finalize: %lu %s%s%s: %s never done%s",
                 l->n, is_one ? one : more, !l->first[0] ? ""
                 : is_one ? ", " : ", one of them ", l->first,
                 is_one ? "it is" : "they are", end);
}

/* ---- memory that goes ---- */

struct going {
    uintptr_t from;
    size_t size;
    unsigned users;
    char first[64];
};

static bool is_of(const struct going *g, const void *p, size_t len)
{
    return len && (uintptr_t)p < g->from + g->size &&
           g->from < (uintptr_t)p + len;
}

/* Nobody has to free what is used once: it is over with its round. */
static bool is_over(const struct msg_chan *c)
{
    return c->once && (__atomic_load_n(&c->words->sent, __ATOMIC_RELAXED) ||
                       __atomic_load_n(&c->words->arrived[1],
                                       __ATOMIC_RELAXED));
}

static void look(struct msg_chan *c, void *arg)
{
    struct going *g = arg;

    /* Those of collective requests are told of as these. */
    if (c->left || c->tag < 0 || msg_chan_state(c) == MSG_CHAN_FAILED ||
        !is_of(g, c->buf, c->len) || is_over(c))
        return;
    c->freed = true;
    if (!g->users++)
        say_message(c, "a ", g->first, sizeof g->first);
}

static void look_at_coll(const struct gtl_reduce *r, size_t size, void *arg)
{
    struct going *g = arg;

    if ((is_of(g, r->a, r->n * size) || is_of(g, r->out, r->n * size)) &&
        !g->users++)
        snprintf(g->first, sizeof g->first, "a reduction's request");
}

static void look_at_put(const struct stream_op *op, void *arg)
{
    struct going *g = arg;
    bool word = op->kind == STREAM_PUT_SIGNAL &&
                is_of(g, op->signal.addr, sizeof *op->signal.addr);

    if ((word || is_of(g, op->source, op->len) ||
         is_of(g, op->dest, op->len)) && !g->users++)
        snprintf(g->first, sizeof g->first, "a request of a put to PE %d",
                 op->pe);
}

void msg_memory_freed(const char *call, const void *p, size_t size)
{
    struct going g = { .from = (uintptr_t)p, .size = size };
    char more[32] = "";

    msg_chan_visit(true, look, &g);
    msg_coll_visit(look_at_coll, &g);
    stream_req_visit(look_at_put, &g);
    if (!g.users)
        return;
    if (g.users > 1)
        snprintf(more, sizeof more, " and %u more", g.users - 1);
    core_misuse(ERR_FREE, call, "%zu bytes at %p are in use: %s%s; they are "
                "freed all the same: free requests before their buffers", size,
                p, g.first, more);
}

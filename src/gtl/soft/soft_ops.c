/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_ops.c - enqueues operations on streams of the software device: the
 * caller's side of the driver's slots.  soft_run.c does them, on the stream's
 * thread. */
#include "gtl/soft/soft_stream.h"

#include <errno.h>

static int invalid(const char *call, const char *text)
{
    return gtl_fail(-EINVAL, call, text, EINVAL);
}

int gtl_soft_copy(void *to, const void *from, size_t n, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    rc = gtl_soft_begin(stream, &s, &c);
    if (rc || !n)
        return rc;
    c->kind = SOFT_COPY;
    c->to = to;
    c->from = from;
    c->n = n;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_copy_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    rc = gtl_soft_begin(stream, &s, &c);
    if (rc || !b->len || !b->count)
        return rc;
    c->kind = SOFT_BLOCKS;
    c->to = to;
    c->from = from;
    c->blocks = *b;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_fill(void *to, int byte, size_t n, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    rc = gtl_soft_begin(stream, &s, &c);
    if (rc || !n)
        return rc;
    c->kind = SOFT_FILL;
    c->to = to;
    c->byte = byte;
    c->n = n;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_amo(const struct gtl_amo *a, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    if ((a->size != 4 && a->size != 8) || (unsigned)a->op > AMO_XOR)
        return invalid("amo", "no such size or operation");
    if (!a->word || (uintptr_t)a->word % (uintptr_t)a->size)
        return invalid("amo", "the word is not aligned");
    rc = gtl_soft_begin(stream, &s, &c);
    if (rc)
        return rc;
    c->kind = SOFT_AMO;
    c->amo = *a;
    gtl_soft_commit(s);
    return 0;
}

/* more: the next one belongs to it; joined: it costs nothing of its own, nor
 * does a put's store. */
static int word_op(enum gtl_soft_command_kind kind, struct gtl_flag w,
                   bool joined, bool more, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    if (unlikely(!w.word || (uintptr_t)w.word % sizeof *w.word))
        return invalid(kind == SOFT_WRITE ? "write64" : "wait64",
                   "the word is not aligned");
    rc = gtl_soft_begin(stream, &s, &c);
    if (rc)
        return rc;
    c->kind = kind;
    c->joined = joined;
    c->more = more;
    c->word = w.word;
    c->value = w.value;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_write64(uint64_t *word, uint64_t value, void *stream)
{
    return word_op(SOFT_WRITE, (struct gtl_flag){ word, value }, false, false,
                   stream);
}

int gtl_soft_wait64(uint64_t *word, uint64_t least, void *stream)
{
    return word_op(SOFT_WAIT, (struct gtl_flag){ word, least }, false, false,
                   stream);
}

static int put_op(const struct gtl_put *p, bool joined, bool more,
                  void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc = gtl_soft_begin(stream, &s, &c);

    if (rc)
        return rc;
    c->kind = SOFT_PUT;
    c->joined = joined;
    c->more = more;
    c->to = p->to;
    c->from = p->from;
    c->n = p->n;
    c->flag = p->flag;
    gtl_soft_commit(s);
    return 0;
}

/* A GPU has waits and stores in one step unless it copies between them, and
 * copies apart. */
int gtl_soft_batch(const struct gtl_batch *t, void *stream)
{
    size_t left = t->n_waits + t->n_puts;
    bool copies = false, joined;
    int rc = 0;

    for (size_t i = 0; i < t->n_puts && !copies; i++)
        copies = t->puts[i].n;
    joined = t->n_waits && !copies;
    for (size_t i = 0; i < t->n_waits && !rc; i++)
        rc = word_op(SOFT_WAIT, t->waits[i], i, --left, stream);
    for (size_t i = 0; i < t->n_puts && !rc; i++) {
        rc = put_op(&t->puts[i], joined, --left, stream);
        joined |= t->puts[i].flag.word != NULL;
    }
    return rc;
}

/* Its thread keeps in a register what a GPU has in p->arrival. */
int gtl_soft_peer_copy(const struct gtl_peer_copy *p, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc = gtl_soft_begin(stream, &s, &c);

    if (rc)
        return rc;
    c->kind = SOFT_PEER_COPY;
    c->peer_copy = p;
    gtl_soft_commit(s);
    return 0;
}

static int call_op(enum gtl_soft_command_kind kind, void (*fn)(void *arg),
                   void *arg, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    int rc;

    rc = gtl_soft_begin(stream, &s, &c);
    if (rc)
        return rc;
    c->kind = kind;
    c->fn = fn;
    c->arg = arg;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_host_call(void (*fn)(void *arg), void *arg, void *stream)
{
    return call_op(SOFT_CALL, fn, arg, stream);
}

int gtl_soft_doorbell(void (*fn)(void *arg), void *arg, void *stream)
{
    return call_op(SOFT_DOORBELL, fn, arg, stream);
}

int gtl_soft_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                    void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    void *scratch = NULL;
    int rc;

    if (!grid->groups || !grid->items || !grid->phases)
        return invalid("launch", "a grid without groups, items or phases");
    if (grid->scratch > GTL_SOFT_SCRATCH)
        return invalid("launch", "a group has at most 1 MiB of scratch");
    rc = gtl_soft_begin(stream, &s, &c);
    if (rc)
        return rc;
    if (!s->graph)
        rc = gtl_soft_launch_ready(s, grid, gtl_soft_residents(grid) > 1,
                                   &scratch);
    if (rc)
        return rc;
    c->kind = SOFT_LAUNCH;
    c->body = body;
    c->arg = arg;
    c->scratch = scratch;
    c->grid = *grid;
    c->grid.resident = gtl_soft_residents(grid);
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_reduce(const struct gtl_reduce *r, void *stream)
{
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    struct gtl_reduce_loop l;
    int rc = gtl_reduce_find(r, &l);

    if (!rc)
        rc = gtl_soft_begin(stream, &s, &c);
    if (rc || !r->n)
        return rc;
    c->kind = SOFT_REDUCE;
    c->loop = l.loop;
    c->out = r->out;
    c->a = r->a;
    c->b = r->b;
    c->count = l.n;
    gtl_soft_commit(s);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Branches, calls, ends and faults, and the functions that the device has built
 * in.  For the table of ptx_ops.c. */
#include "ptx_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)
#define GET(k) ptx_get(t, &i->o[k])

enum { LOCAL_MOST = 512 << 10 };

enum next ptx_fault(struct thread *t, const struct insn *i, int code,
                    const char *what, uint64_t at)
{
    struct block *b = t->b;

    if (b->g->fault)
        return FAILED;
    b->g->fault = code;
    fprintf(stderr, "fake cuda: kernel %s, line %d of its PTX, block (%u,%u,%u)"
            ", thread (%u,%u,%u): %s, 0x%llx\n", b->g->entry->name, i->line,
            b->id[0], b->id[1], b->id[2], t->tid[0], t->tid[1], t->tid[2],
            what, (unsigned long long)at);
    return FAILED;
}

/* ---- frames ---- */

static bool grow(struct thread *t, size_t size)
{
    unsigned char *more;

    if (size <= t->local_room)
        return true;
    if (size > LOCAL_MOST)
        return false;
    more = realloc(t->local, size);
    if (!more)
        abort();
    memset(more + t->local_room, 0xa5, size - t->local_room);
    t->local = more;
    t->local_room = size;
    return true;
}

/* Nothing is in a register that was not stored there. */
struct frame *ptx_push(struct thread *t, const struct func *fn)
{
    size_t regs = (size_t)fn->slots * sizeof(uint64_t), start = 0;
    struct frame *f;

    if (t->f)
        start = (t->f->local + t->f->fn->local_size + 15) / 16 * 16;
    if (!grow(t, start + fn->local_size))
        return NULL;
    f = malloc(sizeof *f + regs + fn->param_size);
    if (!f)
        abort();
    *f = (struct frame){ .up = t->f, .fn = fn, .local = start };
    f->r = (uint64_t *)(void *)(f + 1);
    f->param = (unsigned char *)f->r + regs;
    memset(f->r, 0xa5, regs + fn->param_size);
    t->f = f;
    t->r = f->r;
    return f;
}

void ptx_pop(struct thread *t)
{
    struct frame *f = t->f;

    t->f = f->up;
    t->r = t->f ? t->f->r : NULL;
    free(f);
}

enum next ptx_exit(struct thread *t)
{
    while (t->f)
        ptx_pop(t);
    free(t->local);
    t->local = NULL;
    t->local_room = 0;
    t->state = DONE;
    t->moved = true;
    t->b->live--;
    ptx_recount(t);
    return ENDED;
}

/* ---- branches and calls ---- */

X(bra)
{
    t->f->pc = i->target;
    return CONTINUE;
}

X(brx)
{
    uint64_t k = GET(0);

    if (k >= (uint64_t)i->n_targets)
        return ptx_fault(t, i, PTX_TRAP, "a branch past its targets", k);
    t->f->pc = i->targets[k];
    return CONTINUE;
}

static const struct func *called(const struct thread *t, const struct call *c)
{
    uint64_t at;

    if (c->target.kind == O_FUNC)
        return c->target.func;
    at = ptx_get(t, &c->target);
    for (struct func *f = t->f->fn->module->funcs; f; f = f->next)
        if ((uint64_t)(uintptr_t)f == at && f->n_params == c->n_args &&
            f->n_rets == c->n_rets && (f->defined || f->built_in))
            return f;
    return NULL;
}

/* An argument or a result of the caller's, as bytes in its frame. */
static void copy_argument(const struct thread *t, const struct frame *from,
                          const struct operand *o, unsigned char *to,
                          size_t size)
{
    uint64_t v;

    if (o->kind == O_VAR && o->var->space == PARAM) {
        memcpy(to, from->param + o->var->at,
               size < o->var->size ? size : o->var->size);
        return;
    }
    v = ptx_get(t, o);
    memcpy(to, &v, size < sizeof v ? size : sizeof v);
}

X(call)
{
    const struct func *fn = called(t, i->call);
    struct frame *from = t->f, *f;

    if (!fn)
        return ptx_fault(t, i, PTX_TRAP, "a call of no function",
                         ptx_get(t, &i->call->target));
    if (!fn->defined)
        return fn->built_in(t, i);
    for (int k = 0; k < i->call->n_args; k++)
        if (i->call->args[k].kind != O_VAR && fn->params[k]->size > 8)
            return ptx_fault(t, i, PTX_TRAP, "an argument of another size", 0);
    f = ptx_push(t, fn);
    if (!f)
        return ptx_fault(t, i, PTX_TRAP, "the stack of a thread is full", 0);
    t->r = from->r;
    for (int k = 0; k < i->call->n_args; k++)
        copy_argument(t, from, &i->call->args[k],
                      f->param + fn->params[k]->at, fn->params[k]->size);
    t->r = f->r;
    f->call = i;
    return CONTINUE;
}

X(ret)
{
    struct frame *f = t->f, *up = f->up;
    const struct call *c;

    (void)i;
    if (!up)
        return ptx_exit(t);
    c = f->call->call;
    for (int k = 0; k < c->n_rets; k++) {
        const struct operand *o = &c->rets[k];
        const struct var *v = f->fn->rets[k];
        uint64_t word = 0;

        if (o->kind == O_VAR) {
            memcpy(up->param + o->var->at, f->param + v->at,
                   v->size < o->var->size ? v->size : o->var->size);
        } else if (o->kind == O_REG) {
            memcpy(&word, f->param + v->at, v->size < 8 ? v->size : 8);
            up->r[o->slot] = word & o->mask;
        }
    }
    ptx_pop(t);
    return CONTINUE;
}

X(exit)
{
    (void)i;
    return ptx_exit(t);
}

X(trap)
{
    return ptx_fault(t, i, PTX_TRAP, "a trap", 0);
}

X(brkpt)
{
    return ptx_fault(t, i, PTX_TRAP, "a breakpoint", 0);
}

/* It may take twice as long, and no longer than a millisecond. */
X(nanosleep)
{
    uint64_t ns = (uint32_t)GET(0);

    t->until = ptx_now() + (ns > 1000000 ? 1000000 : ns);
    t->state = SLEEPS;
    t->polls += 2;
    return BLOCKED;
}

X(nothing)
{
    (void)t;
    (void)i;
    return CONTINUE;
}

/* ---- built-in functions ---- */

static uint64_t argument(const struct thread *t, const struct insn *i, int k)
{
    uint64_t v = 0;
    const struct operand *o = &i->call->args[k];

    copy_argument(t, t->f, o, (unsigned char *)&v,
                  o->kind == O_VAR ? o->var->size : sizeof v);
    return v;
}

static void answer(struct thread *t, const struct insn *i, uint32_t v)
{
    const struct operand *o = i->call->n_rets ? i->call->rets : NULL;

    if (o && o->kind == O_VAR)
        memcpy(t->f->param + o->var->at, &v, sizeof v);
    else if (o)
        ptx_set(t, o, v);
}

/* A text of the device's; false: a fault. */
static bool text(struct thread *t, const struct insn *i, uint64_t at,
                 char *out, size_t room)
{
    const char *p;

    for (size_t n = 0; n < room; n++) {
        p = ptx_at(t, i, GENERIC, at + n, 1, NULL);
        if (!p)
            return false;
        out[n] = *p;
        if (!*p)
            return true;
    }
    out[room - 1] = '\0';
    return true;
}

/* One conversion of a format, whose argument has 4 or 8 bytes.  The number of
 * its bytes, or 0: a fault. */
static size_t convert(struct thread *t, const struct insn *i, const char *spec,
                      uint64_t at, FILE *to)
{
    char kind = spec[strlen(spec) - 1], part[256];
    bool large = strchr("eEfFgGaAps", kind) || strchr(spec, 'l') ||
                 strchr(spec, 'z') || strchr(spec, 'j');
    size_t size = large ? 8 : 4;
    uint64_t v = 0;
    double d;
    void *p;

    at = (at + size - 1) / size * size;
    p = ptx_at(t, i, GENERIC, at, size, NULL);
    if (!p)
        return 0;
    memcpy(&v, p, size);
    memcpy(&d, &v, sizeof d);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (kind == 's') {
        if (!text(t, i, v, part, sizeof part))
            return 0;
        fprintf(to, spec, part);
    } else if (strchr("eEfFgGaA", kind)) {
        fprintf(to, spec, d);
    } else if (kind == 'p') {
        fprintf(to, spec, (void *)(uintptr_t)v);
    } else if (large) {
        fprintf(to, spec, v);
    } else {
        fprintf(to, spec, (uint32_t)v);
    }
#pragma GCC diagnostic pop
    return size;
}

static enum next print(struct thread *t, const struct insn *i)
{
    char format[1024], spec[32];
    uint64_t at = argument(t, i, 1);
    size_t n, size;

    if (!text(t, i, argument(t, i, 0), format, sizeof format))
        return FAILED;
    for (const char *s = format; *s; s += n) {
        n = strcspn(s, "%");
        if (n || s[1] == '%') {
            fprintf(stdout, "%.*s", n ? (int)n : 1, s);
            n += n ? 0 : 2;
            continue;
        }
        n = 1 + strcspn(s + 1, "diouxXcsfFeEgGaAp") + 1;
        if (n >= sizeof spec || n > strlen(s))
            break;
        memcpy(spec, s, n);
        spec[n] = '\0';
        size = convert(t, i, spec, at, stdout);
        if (!size)
            return FAILED;
        at = (at + size - 1) / size * size + size;
    }
    answer(t, i, 0);
    return CONTINUE;
}

/* message, file, line, function, size of a character. */
static enum next assertion(struct thread *t, const struct insn *i)
{
    char what[256], file[256], all[600];

    if (!text(t, i, argument(t, i, 0), what, sizeof what) ||
        !text(t, i, argument(t, i, 1), file, sizeof file))
        return FAILED;
    snprintf(all, sizeof all, "%s:%u: assertion %s failed", file,
             (unsigned)argument(t, i, 2), what);
    return ptx_fault(t, i, PTX_ASSERT, all, 0);
}

enum next (*ptx_built_in(const char *name))(struct thread *,
                                            const struct insn *)
{
    if (!strcmp(name, "vprintf"))
        return print;
    return strcmp(name, "__assertfail") ? NULL : assertion;
}

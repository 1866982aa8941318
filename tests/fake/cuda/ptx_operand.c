/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands: registers, numbers, names of variables and functions, addresses,
 * vectors, and those of calls.  For ptx_body.c. */
#include "ptx_int.h"
#include "ptx_place.h"

#include <stdlib.h>
#include <string.h>

/* %r17 is the 17th of .reg .b32 %r<250>. */
static bool matches(const struct symbol *s, const char *name, int *slot)
{
    size_t n = strlen(s->name);
    char *end;
    long k;

    *slot = s->slot;
    if (!s->count)
        return !strcmp(s->name, name);
    if (strncmp(s->name, name, n) || name[n] < '0' || name[n] > '9')
        return false;
    k = strtol(name + n, &end, 10);
    *slot += (int)k;
    return !*end && k < s->count;
}

static struct symbol *find(const struct parse *p, const char *name, int *slot)
{
    struct symbol *s = p->body->symbols;

    while (s && !matches(s, name, slot))
        s = s->next;
    return s;
}

static bool reg(struct parse *p, const char *name, struct operand *o)
{
    struct symbol *s = find(p, name, &o->slot);
    unsigned bits;

    if (!s || s->var)
        return false;
    bits = ptx_bits(s->type);
    o->kind = O_REG;
    o->mask = bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
    return true;
}

int ptx_register(struct parse *p, const char *name)
{
    struct operand o;

    if (!reg(p, name, &o))
        ptx_fail(p, "no such register", name);
    return o.slot;
}

static bool variable(struct parse *p, const char *name, struct operand *o)
{
    int slot;
    struct symbol *s = find(p, name, &slot);

    o->var = s ? s->var : NULL;
    for (int i = 0; !o->var && i < p->body->f->n_params; i++)
        if (!strcmp(p->body->f->params[i]->name, name))
            o->var = p->body->f->params[i];
    for (int i = 0; !o->var && i < p->body->f->n_rets; i++)
        if (!strcmp(p->body->f->rets[i]->name, name))
            o->var = p->body->f->rets[i];
    if (!o->var)
        o->var = ptx_find_var(p->m, name);
    o->kind = O_VAR;
    return o->var;
}

static bool special(const char *name, struct operand *o)
{
    if (!strcmp(name, "WARP_SZ")) {
        o->kind = O_NUMBER;
        o->value = WARP;
        return true;
    }
    o->kind = O_SPECIAL;
    o->slot = ptx_special(name);
    return o->slot >= 0;
}

static void named(struct parse *p, struct operand *o)
{
    const char *name = ptx_word(p);

    if (!strcmp(name, "_")) {
        o->kind = O_SINK;
        return;
    }
    if (reg(p, name, o) || variable(p, name, o) || special(name, o))
        return;
    o->func = ptx_find_func(p->m, name);
    o->kind = o->func ? O_FUNC : O_LABEL;
    o->label = name;
    if (o->func)
        ((struct func *)(uintptr_t)o->func)->called = true;
}

static struct operand *parts(struct parse *p, struct operand *list, int n)
{
    struct operand *all = ptx_new(p->m, (size_t)n * sizeof *all);

    memcpy(all, list, (size_t)n * sizeof *all);
    return all;
}

static struct operand vector(struct parse *p)
{
    struct operand o = { .kind = O_VECTOR }, list[8];

    do {
        if (o.n == 8)
            ptx_fail(p, "a vector of more than 8", "");
        list[o.n++] = ptx_operand(p);
    } while (ptx_take(p, ","));
    ptx_need(p, "}");
    o.parts = parts(p, list, o.n);
    return o;
}

static struct operand simple(struct parse *p)
{
    struct operand o = { .kind = O_NUMBER };
    int real;

    if (ptx_take(p, "{"))
        return vector(p);
    if (p->at->kind == T_NUMBER || ptx_is(p, "-")) {
        o.value = ptx_number(p, &real);
        o.real = real == 64;
        return o;
    }
    o.unless = ptx_take(p, "!");
    named(p, &o);
    if (ptx_take(p, "+") || (o.kind != O_LABEL && ptx_is(p, "-")))
        o.value = (uint64_t)ptx_long(p);
    return o;
}

/* d|p are two destinations. */
struct operand ptx_operand(struct parse *p)
{
    struct operand o, two[2];

    if (ptx_take(p, "[")) {
        o = simple(p);
        o.mem = true;
        ptx_need(p, "]");
        return o;
    }
    o = simple(p);
    if (!ptx_take(p, "|"))
        return o;
    two[0] = o;
    two[1] = simple(p);
    return (struct operand){ .kind = O_VECTOR, .n = 2,
                             .parts = parts(p, two, 2) };
}

void ptx_operands(struct parse *p, struct insn *i)
{
    struct operand list[8];

    while (!ptx_take(p, ";")) {
        if (i->n == 8)
            ptx_fail(p, "more than 8 operands", "");
        list[i->n++] = ptx_operand(p);
        if (!ptx_is(p, ";"))
            ptx_need(p, ",");
    }
    i->o = parts(p, list, i->n);
}

static struct operand *list_of(struct parse *p, int *n)
{
    struct operand list[1024];

    *n = 0;
    while (!ptx_take(p, ")")) {
        if (*n == 1024)
            ptx_fail(p, "too many arguments", "");
        list[(*n)++] = ptx_operand(p);
        if (!ptx_is(p, ")"))
            ptx_need(p, ",");
    }
    return parts(p, list, *n);
}

/* call (rets), function, (args), prototype; all but the function optional. */
void ptx_call(struct parse *p, struct insn *i)
{
    struct call *c = i->call = ptx_new(p->m, sizeof *c);

    if (ptx_take(p, "(")) {
        c->rets = list_of(p, &c->n_rets);
        ptx_need(p, ",");
    }
    c->target = simple(p);
    if (c->target.kind != O_FUNC && c->target.kind != O_REG)
        ptx_fail(p, "no such function", c->target.label ? c->target.label
                                                        : "");
    if (ptx_take(p, ",") && ptx_take(p, "(")) {
        c->args = list_of(p, &c->n_args);
        if (ptx_take(p, ","))
            ptx_word(p);
    } else if (!ptx_is(p, ";")) {
        ptx_word(p);
    }
    ptx_need(p, ";");
    if (c->target.kind == O_FUNC &&
        (c->n_args != c->target.func->n_params ||
         c->n_rets != c->target.func->n_rets))
        ptx_fail(p, "a call with other arguments", c->target.func->name);
}

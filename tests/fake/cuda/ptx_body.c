/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the body of a function: declarations, labels and instructions, in
 * scopes that lie in each other.  For ptx_read.c. */
#include "ptx_int.h"

#include <string.h>

struct label {
    struct label *next;
    const char *name;
    int scope, at;
};
/* NAME: .branchtargets L1, L2; */
struct target_list {
    struct target_list *next;
    const char *name;
    const char **labels;
    int n;
};

static void open_scope(struct parse *p)
{
    struct body *b = p->body;
    int *more;

    if (b->scopes == b->room_up) {
        b->room_up = b->room_up ? 2 * b->room_up : 64;
        more = ptx_new(p->m, (size_t)b->room_up * sizeof *more);
        if (b->scopes)
            memcpy(more, b->up, (size_t)b->scopes * sizeof *more);
        b->up = more;
    }
    b->up[b->scopes] = b->scope;
    b->scope = b->scopes++;
}

/* Names of the scope are forgotten; labels stay. */
static void close_scope(struct parse *p)
{
    struct body *b = p->body;

    while (b->symbols && b->symbols->scope == b->scope)
        b->symbols = b->symbols->next;
    b->scope = b->up[b->scope];
}

static struct symbol *symbol(struct parse *p, const char *name)
{
    struct symbol *s = ptx_new(p->m, sizeof *s);

    s->name = name;
    s->scope = p->body->scope;
    s->next = p->body->symbols;
    p->body->symbols = s;
    return s;
}

static void registers(struct parse *p)
{
    const char *word = ptx_word(p);
    enum type type = ptx_type(word + 1);
    struct func *f = p->body->f;
    struct symbol *s;

    if (type == NO_TYPE || type == B128)
        ptx_fail(p, "no type of a register", word);
    do {
        s = symbol(p, ptx_word(p));
        s->type = type;
        s->slot = f->slots;
        if (ptx_take(p, "<")) {
            s->count = (int)ptx_long(p);
            ptx_need(p, ">");
        }
        f->slots += s->count ? s->count : 1;
    } while (ptx_take(p, ","));
    ptx_need(p, ";");
}

static void variables(struct parse *p, enum space space)
{
    struct func *f = p->body->f;
    struct var *v;

    do {
        v = ptx_var(p, space);
        ptx_initialiser(p, v);
        switch (space) {
        case LOCAL:
            v->at = ptx_place(&f->local_size, v);
            break;
        case PARAM:
            v->at = ptx_place(&f->param_size, v);
            break;
        case SHARED:
            if (v->external)
                ptx_add_var(p->m, v);
            else
                v->at = ptx_place(&p->m->shared, v);
            break;
        default:
            ptx_add_var(p->m, v);
        }
        symbol(p, v->name)->var = v;
    } while (ptx_take(p, ","));
    ptx_need(p, ";");
}

static void label(struct parse *p, const char *name)
{
    struct label *l = ptx_new(p->m, sizeof *l);
    struct target_list *t;

    if (ptx_take(p, ".branchtargets")) {
        const char *all[4096];

        t = ptx_new(p->m, sizeof *t);
        t->name = name;
        do {
            if (t->n == 4096)
                ptx_fail(p, "too many targets", name);
            all[t->n++] = ptx_word(p);
        } while (ptx_take(p, ","));
        ptx_need(p, ";");
        t->labels = ptx_new(p->m, (size_t)t->n * sizeof *all);
        memcpy(t->labels, all, (size_t)t->n * sizeof *all);
        t->next = p->body->lists;
        p->body->lists = t;
        return;
    }
    if (ptx_take(p, ".callprototype")) {
        while (!ptx_take(p, ";"))
            p->at++;
        return;
    }
    l->name = name;
    l->scope = p->body->scope;
    l->at = p->body->f->n;
    l->next = p->body->labels;
    p->body->labels = l;
}

static struct insn *append(struct parse *p)
{
    struct func *f = p->body->f;
    struct insn *more;

    if (f->n == p->body->room) {
        p->body->room = f->n ? 2 * f->n : 64;
        more = ptx_new(p->m, (size_t)p->body->room * sizeof *more);
        if (f->n)
            memcpy(more, f->code, (size_t)f->n * sizeof *more);
        f->code = more;
    }
    more = &f->code[f->n++];
    memset(more, 0, sizeof *more);
    more->guard = -1;
    more->line = p->at->line;
    return more;
}

/* Numbers in the form of a double, where the type is another one. */
static void convert(struct insn *i)
{
    enum type type = i->type[i->n_types > 1];

    for (int k = 0; k < i->n; k++)
        if (i->o[k].kind == O_NUMBER && i->o[k].real && ptx_float(type) &&
            type != F64)
            i->o[k].value = ptx_unreal(type, ptx_real(F64, i->o[k].value));
}

static void instruction(struct parse *p)
{
    struct insn *i = append(p);
    const char *word;

    if (ptx_take(p, "@")) {
        i->unless = ptx_take(p, "!");
        i->guard = ptx_register(p, ptx_word(p));
    }
    word = ptx_word(p);
    if (!ptx_decode(word, i))
        ptx_fail(p, "what is", word);
    if (i->run == ptx_x_call) {
        ptx_call(p, i);
        return;
    }
    ptx_operands(p, i);
    convert(i);
    /* Which of the scopes a branch is in says which label it means. */
    if (i->run == ptx_x_bra || i->run == ptx_x_brx)
        i->target = p->body->scope;
}

static int resolve(struct parse *p, const char *name, int scope)
{
    struct body *b = p->body;

    for (;; scope = b->up[scope]) {
        for (struct label *l = b->labels; l; l = l->next)
            if (l->scope == scope && !strcmp(l->name, name))
                return l->at;
        if (!scope)
            ptx_fail(p, "no such label", name);
    }
}

static void resolve_list(struct parse *p, struct insn *i, const char *name)
{
    struct target_list *t = p->body->lists;

    while (t && strcmp(t->name, name))
        t = t->next;
    if (!t)
        ptx_fail(p, "no such list of targets", name);
    i->n_targets = t->n;
    i->targets = ptx_new(p->m, (size_t)t->n * sizeof *i->targets);
    for (int k = 0; k < t->n; k++)
        i->targets[k] = resolve(p, t->labels[k], i->target);
}

static void resolve_all(struct parse *p)
{
    struct func *f = p->body->f;
    const struct operand *o;

    for (int k = 0; k < f->n; k++) {
        struct insn *i = &f->code[k];

        if (i->run == ptx_x_bra || i->run == ptx_x_brx) {
            o = i->n ? &i->o[i->n - 1] : NULL;
            if (!o || o->kind != O_LABEL)
                ptx_fail(p, "a branch to no label", f->name);
            if (i->run == ptx_x_bra)
                i->target = resolve(p, o->label, i->target);
            else
                resolve_list(p, i, o->label);
            continue;
        }
        for (int j = 0; j < i->n; j++)
            if (i->o[j].kind == O_LABEL)
                ptx_fail(p, "not declared", i->o[j].label);
    }
}

static void statement(struct parse *p)
{
    if (ptx_take(p, ".reg")) {
        registers(p);
    } else if (ptx_take(p, ".param")) {
        variables(p, PARAM);
    } else if (ptx_take(p, ".local")) {
        variables(p, LOCAL);
    } else if (ptx_take(p, ".shared")) {
        variables(p, SHARED);
    } else if (ptx_take(p, ".global")) {
        variables(p, GLOBAL);
    } else if (ptx_take(p, ".const")) {
        variables(p, CONST);
    } else if (ptx_take(p, ".pragma")) {
        while (!ptx_take(p, ";"))
            p->at++;
    } else if (ptx_take(p, "{")) {
        open_scope(p);
    } else if (p->at->kind == T_WORD && !strcmp(p->at[1].text ? p->at[1].text
                                                              : "", ":")) {
        const char *name = ptx_word(p);

        ptx_need(p, ":");
        label(p, name);
    } else {
        instruction(p);
    }
}

void ptx_body(struct parse *p, struct func *f)
{
    struct body b = { .f = f };

    p->body = &b;
    open_scope(p);
    for (;;) {
        if (ptx_take(p, ".extern"))
            continue;
        if (!ptx_take(p, "}")) {
            statement(p);
            continue;
        }
        if (!b.scope)
            break;
        close_scope(p);
    }
    append(p)->run = ptx_x_ret;
    resolve_all(p);
    p->body = NULL;
}

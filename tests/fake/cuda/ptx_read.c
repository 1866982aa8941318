/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a module: its variables, and the heads of its functions.  For module.c,
 * by ptx.h. */
#include "ptx_int.h"
#include "dev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct func *ptx_find_func(const struct ptx_module *m, const char *name)
{
    struct func *f = m->funcs;

    while (f && strcmp(f->name, name))
        f = f->next;
    return f;
}

static struct func *named(struct parse *p, const char *name)
{
    struct func *f = ptx_find_func(p->m, name);

    if (f)
        return f;
    f = ptx_new(p->m, sizeof(struct ptx_kernel));
    f->name = name;
    f->module = p->m;
    f->next = p->m->funcs;
    f->built_in = ptx_built_in(name);
    p->m->funcs = f;
    return f;
}

/* (.param ..., .param ...) of the function, behind those that it has. */
static int params(struct parse *p, struct func *f, struct var ***out)
{
    struct var *list[1024], *v;
    int n = 0;

    if (!ptx_take(p, "("))
        return 0;
    while (!ptx_take(p, ")")) {
        ptx_need(p, ".param");
        if (n == 1024)
            ptx_fail(p, "too many parameters", "");
        v = ptx_var(p, PARAM);
        v->at = ptx_place(&f->param_size, v);
        list[n++] = v;
        if (!ptx_is(p, ")"))
            ptx_need(p, ",");
    }
    *out = ptx_new(p->m, (size_t)n * sizeof **out);
    memcpy(*out, list, (size_t)n * sizeof **out);
    return n;
}

/* What a kernel says of its blocks. */
static void demands(struct parse *p, struct func *f)
{
    bool need, most;

    while (!ptx_is(p, "{") && !ptx_is(p, ";")) {
        need = ptx_take(p, ".reqntid");
        most = !need && ptx_take(p, ".maxntid");
        if (need || most) {
            unsigned d[3] = { 1, 1, 1 };

            for (int i = 0; i < 3 && (!i || ptx_take(p, ",")); i++)
                d[i] = (unsigned)ptx_long(p);
            if (need)
                memcpy(f->need, d, sizeof d);
            f->most = d[0] * d[1] * d[2];
            continue;
        }
        if (ptx_take(p, ".noreturn") || ptx_take(p, ".unified"))
            continue;
        if (!ptx_take(p, ".minnctapersm") && !ptx_take(p, ".maxnreg") &&
            !ptx_take(p, ".maxnctapersm") && !ptx_take(p, ".abi_preserve"))
            ptx_fail(p, "what is this of a function", p->at->text);
        ptx_long(p);
    }
}

static void function(struct parse *p, bool entry)
{
    struct func head = { .entry = entry }, *f;

    if (!entry)
        head.n_rets = params(p, &head, &head.rets);
    f = named(p, ptx_word(p));
    if (f->defined)
        ptx_fail(p, "defined before", f->name);
    f->entry = entry;
    f->param_size = head.param_size;
    f->rets = head.rets;
    f->n_rets = head.n_rets;
    f->n_params = params(p, f, &f->params);
    demands(p, f);
    if (ptx_take(p, ";"))
        return;
    ptx_need(p, "{");
    f->defined = true;
    ptx_body(p, f);
}

static void variable(struct parse *p, enum space space, bool external)
{
    struct var *v, *was;

    do {
        v = ptx_var(p, space);
        ptx_initialiser(p, v);
        v->external |= external;
        was = ptx_find_var(p->m, v->name);
        if (was && !was->external)
            ptx_fail(p, "defined before", v->name);
        if (was) {
            *was = *v;
            v = was;
        } else {
            ptx_add_var(p->m, v);
        }
        if (space == SHARED && !v->external)
            v->at = ptx_place(&p->m->shared, v);
        if (space != SHARED && v->external && !v->init)
            ptx_fail(p, "a variable of another module", v->name);
    } while (ptx_take(p, ","));
    ptx_need(p, ";");
}

static void skip_braces(struct parse *p)
{
    int depth = 0;

    do {
        if (p->at->kind == T_END)
            ptx_fail(p, "no end of a section", "");
        depth += ptx_is(p, "{");
        depth -= ptx_is(p, "}");
        p->at++;
    } while (depth);
}

static void directive(struct parse *p)
{
    bool external = false;

    for (;;) {
        if (ptx_take(p, ".extern"))
            external = true;
        else if (!ptx_take(p, ".visible") && !ptx_take(p, ".weak") &&
                 !ptx_take(p, ".common"))
            break;
    }
    if (ptx_take(p, ".entry")) {
        function(p, true);
    } else if (ptx_take(p, ".func")) {
        function(p, false);
    } else if (ptx_take(p, ".global")) {
        variable(p, GLOBAL, external);
    } else if (ptx_take(p, ".const")) {
        variable(p, CONST, external);
    } else if (ptx_take(p, ".shared")) {
        variable(p, SHARED, external);
    } else if (ptx_take(p, ".section")) {
        ptx_word(p);
        skip_braces(p);
    } else if (ptx_take(p, ".pragma")) {
        while (!ptx_take(p, ";"))
            p->at++;
    } else {
        ptx_fail(p, "what is this", p->at->kind == T_END ? "the end"
                                                         : p->at->text);
    }
}

/* Dynamic shared memory starts behind all that is declared. */
static void finish(struct parse *p)
{
    struct ptx_module *m = p->m;

    m->shared = (m->shared + 15) / 16 * 16;
    for (int i = 0; i < m->n_vars; i++)
        if (m->vars[i]->space == SHARED && m->vars[i]->external)
            m->vars[i]->at = m->shared;
    for (struct func *f = m->funcs; f; f = f->next)
        if (f->called && !f->defined && !f->built_in)
            ptx_fail(p, "unresolved extern function", f->name);
}

int ptx_load(const char *text, int device, char *why, size_t room,
             struct ptx_module **out)
{
    struct parse p = { .why = why, .room = room };
    struct ptx_module *m = calloc(1, sizeof *m);
    int rc;

    if (!m)
        return -ENOMEM;
    m->device = device;
    p.m = m;
    if (setjmp(p.failed)) {
        ptx_unload(p.m);
        return -EINVAL;
    }
    p.at = ptx_lex(&p, text);
    while (p.at->kind != T_END)
        directive(&p);
    finish(&p);
    rc = ptx_allocate(m);
    if (rc == -EINVAL)
        ptx_fail(&p, "an initialiser names what is not there", "");
    if (rc) {
        ptx_unload(m);
        return rc;
    }
    *out = m;
    return 0;
}

const struct ptx_kernel *ptx_kernel(const struct ptx_module *m,
                                    const char *name)
{
    struct func *f = ptx_find_func(m, name);

    return f && f->entry && f->defined ? (const struct ptx_kernel *)f : NULL;
}

size_t ptx_params_size(const struct ptx_kernel *k)
{
    return k->func.param_size;
}

unsigned ptx_most_threads(const struct ptx_kernel *k, unsigned want[3])
{
    memcpy(want, k->func.need, sizeof k->func.need);
    return k->func.most ? k->func.most : PTX_THREADS;
}

size_t ptx_shared_size(const struct ptx_kernel *k)
{
    return k->func.module->shared;
}

size_t ptx_local_size(const struct ptx_kernel *k)
{
    return k->func.local_size;
}

void ptx_params(const struct ptx_kernel *k, void **args, unsigned char *out)
{
    const struct func *f = &k->func;

    for (int i = 0; i < f->n_params; i++)
        memcpy(out + f->params[i]->at, args[i], f->params[i]->size);
}

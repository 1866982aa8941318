/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and variables: declarations with their initialisers, and the device's
 * memory for those of a module.  For the files that read a module. */
#include "ptx_int.h"
#include "dev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPES(X)                                                            \
    X(PRED, pred, 1) X(B8, b8, 8) X(B16, b16, 16) X(B32, b32, 32)           \
    X(B64, b64, 64) X(B128, b128, 128) X(U8, u8, 8) X(U16, u16, 16)         \
    X(U32, u32, 32) X(U64, u64, 64) X(S8, s8, 8) X(S16, s16, 16)            \
    X(S32, s32, 32) X(S64, s64, 64) X(F16, f16, 16) X(F16X2, f16x2, 32)     \
    X(BF16, bf16, 16) X(BF16X2, bf16x2, 32) X(F32, f32, 32) X(F64, f64, 64)
#define X(type, name, bits) [type] = #name,
static const char *const names[] = { [NO_TYPE] = "", TYPES(X) };
#undef X
#define X(type, name, bits) [type] = bits,
const uint8_t ptx_type_bits[] = { [NO_TYPE] = 64, TYPES(X) };
#undef X

enum type ptx_type(const char *word)
{
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], word))
            return (enum type)i;
    return NO_TYPE;
}

struct var *ptx_find_var(const struct ptx_module *m, const char *name)
{
    for (int i = 0; i < m->n_vars; i++)
        if (!strcmp(m->vars[i]->name, name))
            return m->vars[i];
    return NULL;
}

void ptx_add_var(struct ptx_module *m, struct var *v)
{
    struct var **more;

    if (m->n_vars == m->room_vars) {
        m->room_vars = m->room_vars ? 2 * m->room_vars : 16;
        more = ptx_new(m, (size_t)m->room_vars * sizeof *more);
        if (m->n_vars)
            memcpy(more, m->vars, (size_t)m->n_vars * sizeof *more);
        m->vars = more;
    }
    m->vars[m->n_vars++] = v;
}

size_t ptx_place(size_t *end, const struct var *v)
{
    size_t at = (*end + v->align - 1) / v->align * v->align;

    *end = at + v->size;
    return at;
}

/* .ptr .global .align 8: what a parameter points to. */
static void skip_pointer(struct parse *p)
{
    static const char *const spaces[] = {
        ".global", ".shared", ".local", ".const"
    };

    if (!ptx_take(p, ".ptr"))
        return;
    for (unsigned i = 0; i < 4; i++)
        ptx_take(p, spaces[i]);
    if (ptx_take(p, ".align"))
        ptx_long(p);
}

struct var *ptx_var(struct parse *p, enum space space)
{
    struct var *v = ptx_new(p->m, sizeof *v);
    size_t align = 0, each = 1;
    const char *word;
    enum type type;

    v->space = space;
    for (;;) {
        if (ptx_take(p, ".align")) {
            align = (size_t)ptx_long(p);
        } else if (ptx_take(p, ".attribute")) {
            while (!ptx_take(p, ")"))
                p->at++;
        } else if (ptx_take(p, ".v2")) {
            each = 2;
        } else if (ptx_take(p, ".v4")) {
            each = 4;
        } else {
            break;
        }
    }
    word = ptx_word(p);
    type = *word == '.' ? ptx_type(word + 1) : NO_TYPE;
    if (type == NO_TYPE)
        ptx_fail(p, "no type", word);
    v->size = each * ptx_bits(type) / 8;
    v->align = v->size;
    skip_pointer(p);
    if (ptx_take(p, ".align"))
        align = (size_t)ptx_long(p);
    if (align)
        v->align = align;
    if (!v->align || (v->align & (v->align - 1)))
        ptx_fail(p, "no alignment", word);
    v->name = ptx_word(p);
    while (ptx_take(p, "[")) {
        v->external |= ptx_is(p, "]");
        v->size *= ptx_is(p, "]") ? 0 : (size_t)ptx_long(p);
        ptx_need(p, "]");
    }
    v->init = NULL;
    v->at = ptx_bits(type) / 8;         /* of an element; until it is placed */
    return v;
}

/* symbol, symbol+8, generic(symbol)+8, 0xFF00(symbol). */
static void address(struct parse *p, struct init *n)
{
    uint64_t mask = 0;
    bool closed = false;
    int real;

    if (p->at->kind == T_NUMBER) {
        mask = ptx_number(p, &real);
        ptx_need(p, "(");
        closed = true;
        while (mask && !(mask >> n->shift & 0xff))
            n->shift += 8;
    }
    if (ptx_take(p, "generic")) {
        ptx_need(p, "(");
        n->symbol = ptx_word(p);
        ptx_need(p, ")");
    } else {
        n->symbol = ptx_word(p);
    }
    if (ptx_take(p, "+") || ptx_is(p, "-"))
        n->value = (uint64_t)ptx_long(p);
    if (closed)
        ptx_need(p, ")");
}

static void values(struct parse *p, struct var *v, size_t each, size_t *at)
{
    struct init *n;
    int real;

    if (ptx_take(p, "{")) {
        while (!ptx_take(p, "}")) {
            values(p, v, each, at);
            if (!ptx_is(p, "}"))
                ptx_need(p, ",");
        }
        return;
    }
    n = ptx_new(p->m, sizeof *n);
    n->at = *at;
    n->size = each;
    *at += each;
    if ((p->at->kind == T_NUMBER && !strcmp(p->at[1].text, "(")) ||
        p->at->kind == T_WORD)
        address(p, n);
    else
        n->value = ptx_number(p, &real);
    n->next = v->init;
    v->init = n;
}

void ptx_initialiser(struct parse *p, struct var *v)
{
    size_t each = v->at, at = 0;

    if (!ptx_take(p, "="))
        return;
    values(p, v, each, &at);
    if (!v->size)
        v->size = at;
    if (at > v->size)
        ptx_fail(p, "more values than room", v->name);
    v->external = false;
}

static bool fill(const struct ptx_module *m, const struct var *v, char *to)
{
    for (const struct init *n = v->init; n; n = n->next) {
        uint64_t value = n->value;

        if (n->symbol) {
            const struct var *of = ptx_find_var(m, n->symbol);
            const struct func *f = of ? NULL : ptx_find_func(m, n->symbol);

            if (!of && !f)
                return false;
            value += of ? m->base + of->at : (uint64_t)(uintptr_t)f;
            value >>= n->shift;
        }
        memcpy(to + v->at + n->at, &value, n->size);
    }
    return true;
}

int ptx_allocate(struct ptx_module *m)
{
    void *p;
    char *to;
    int rc;

    for (int i = 0; i < m->n_vars; i++)
        if (m->vars[i]->space == GLOBAL || m->vars[i]->space == CONST)
            m->vars[i]->at = ptx_place(&m->size, m->vars[i]);
    if (!m->size)
        return 0;
    rc = dev_alloc(m->device, m->size, 4096, 0, &p);
    if (rc)
        return rc;
    m->base = (uintptr_t)p;
    to = dev_reach(p, m->size);
    memset(to, 0, m->size);
    for (int i = 0; i < m->n_vars; i++) {
        if (!fill(m, m->vars[i], to)) {
            dev_free(p);
            m->base = 0;
            return -EINVAL;
        }
    }
    return 0;
}

bool ptx_variable(const struct ptx_module *m, const char *name, uint64_t *at,
                  size_t *size)
{
    const struct var *v = ptx_find_var(m, name);

    if (!v || (v->space != GLOBAL && v->space != CONST))
        return false;
    *at = m->base + v->at;
    *size = v->size;
    return true;
}

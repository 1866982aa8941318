/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a module's text.  For the files that read it; it knows no
 * meaning of theirs but that some directives end with their line. */
#include "ptx_int.h"
#include "dev.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };
struct chunk {
    struct chunk *next;
    size_t used, room;
    _Alignas(16) unsigned char bytes[];
};

void *ptx_new(struct ptx_module *m, size_t n)
{
    struct chunk *c = m->chunks;
    void *p;

    n = (n + 15) / 16 * 16;
    if (!c || c->room - c->used < n) {
        size_t room = n > CHUNK ? n : CHUNK;

        c = calloc(1, sizeof *c + room);
        if (!c)
            abort();
        c->room = room;
        c->next = m->chunks;
        m->chunks = c;
    }
    p = c->bytes + c->used;
    c->used += n;
    return p;
}

void ptx_unload(struct ptx_module *m)
{
    struct chunk *c, *next;

    for (c = m->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    if (m->base)
        dev_free((void *)(uintptr_t)m->base);
    free(m);
}

_Noreturn void ptx_fail(struct parse *p, const char *what, const char *word)
{
    char line[160];

    snprintf(line, sizeof line, "line %d: %s: \"%.80s\"", p->at->line, what,
             word);
    fprintf(stderr, "fake cuda: PTX, %s\n", line);
    if (p->why && p->room)
        snprintf(p->why, p->room, "%s", line);
    longjmp(p->failed, 1);
}

/* ---- what the readers ask ---- */

bool ptx_is(const struct parse *p, const char *text)
{
    return p->at->kind != T_STRING && p->at->kind != T_END &&
           !strcmp(p->at->text, text);
}

bool ptx_take(struct parse *p, const char *text)
{
    bool is = ptx_is(p, text);

    p->at += is;
    return is;
}

void ptx_need(struct parse *p, const char *text)
{
    if (!ptx_take(p, text))
        ptx_fail(p, text, p->at->kind == T_END ? "the end" : p->at->text);
}

const char *ptx_word(struct parse *p)
{
    if (p->at->kind != T_WORD)
        ptx_fail(p, "no name", p->at->kind == T_END ? "the end" : p->at->text);
    return p->at++->text;
}

/* 0f and 0d: bits of a float and a double. */
uint64_t ptx_number(struct parse *p, int *real)
{
    bool minus = ptx_take(p, "-");
    const char *s = p->at->text;
    char *end;
    uint64_t v;
    double d;

    *real = 0;
    if (p->at->kind != T_NUMBER)
        ptx_fail(p, "no number", p->at->kind == T_END ? "the end" : s);
    p->at++;
    if (s[0] == '0' && strchr("fFdD", s[1]) && s[1]) {
        *real = tolower((unsigned char)s[1]) == 'f' ? 32 : 64;
        v = strtoull(s + 2, &end, 16);
    } else if (s[0] == '0' && (s[1] == 'b' || s[1] == 'B')) {
        v = strtoull(s + 2, &end, 2);
    } else if (strchr(s, '.') && s[1] != 'x') {
        *real = 64;
        d = strtod(s, &end);
        memcpy(&v, &d, sizeof v);
    } else {
        v = strtoull(s, &end, 0);
    }
    if (*end && strcmp(end, "U"))
        ptx_fail(p, "no number", s);
    if (minus && *real)
        v ^= *real == 32 ? 1ULL << 31 : 1ULL << 63;
    return minus && !*real ? 0 - v : v;
}

long ptx_long(struct parse *p)
{
    int real;

    return (long)ptx_number(p, &real);
}

/* ---- the words ---- */

struct lexer {
    const char *at;
    int line;
    struct token *tokens;
    int n, room;
};

static bool ends_with_line(const char *word)
{
    static const char *const all[] = {
        ".loc", ".file", ".version", ".target", ".address_size"
    };

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i], word))
            return true;
    return false;
}

static void skip_blank(struct parse *p, struct lexer *l)
{
    for (;; l->at++) {
        if (l->at[0] == '/' && l->at[1] == '/') {
            l->at += strcspn(l->at, "\n");
        } else if (l->at[0] == '/' && l->at[1] == '*') {
            const char *end = strstr(l->at + 2, "*/");

            if (!end)
                ptx_fail(p, "a comment without an end", "/*");
            for (; l->at < end + 1; l->at++)
                l->line += *l->at == '\n';
            continue;
        }
        l->line += *l->at == '\n';
        if (!*l->at || !isspace((unsigned char)*l->at))
            return;
    }
}

static bool in_word(const char *s)
{
    return isalnum((unsigned char)*s) || (*s && strchr("_$%.", *s)) ||
           (s[0] == ':' && s[1] == ':' && isalnum((unsigned char)s[2]));
}

/* .reg.b32 are two words, add.s32 is one. */
static size_t word_length(const char *s)
{
    size_t n = *s == '.';

    while (in_word(s + n) && (*s != '.' || s[n] != '.'))
        n += s[n] == ':' ? 2 : 1;
    return n;
}

static struct token next(struct parse *p, struct lexer *l)
{
    struct token t = { .kind = T_END, .line = l->line };
    size_t n;
    char *s;

    if (!*l->at)
        return t;
    n = word_length(l->at);
    if (n) {
        t.kind = isdigit((unsigned char)*l->at) ? T_NUMBER : T_WORD;
    } else if (*l->at == '"') {
        t.kind = T_STRING;
        n = strcspn(l->at + 1, "\"\n") + 2;
        if (l->at[n - 1] != '"')
            ptx_fail(p, "a string without an end", "\"");
    } else {
        t.kind = T_MARK;
        n = 1;
    }
    s = ptx_new(p->m, n + 1);
    memcpy(s, l->at, n);
    l->at += n;
    t.text = s;
    return t;
}

struct token *ptx_lex(struct parse *p, const char *text)
{
    struct lexer l = { .at = text, .line = 1, .room = (int)strlen(text) / 2 };
    struct token t, first = { .line = 1 };

    l.tokens = ptx_new(p->m, ((size_t)l.room + 2) * sizeof *l.tokens);
    p->at = &first;
    do {
        skip_blank(p, &l);
        first.line = l.line;
        t = next(p, &l);
        if (t.kind == T_WORD && ends_with_line(t.text)) {
            l.at += strcspn(l.at, "\n");
            continue;
        }
        if (l.n == l.room + 1) {
            struct token *more;

            l.room *= 2;
            more = ptx_new(p->m, ((size_t)l.room + 2) * sizeof *more);
            memcpy(more, l.tokens, (size_t)l.n * sizeof *more);
            l.tokens = more;
        }
        l.tokens[l.n++] = t;
    } while (t.kind != T_END);
    return l.tokens;
}

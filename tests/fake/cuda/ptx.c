/* SPDX-License-Identifier: BSD-3-Clause */
/* An interpreter of kernels.  Each instruction is read once; registers,
 * numbers in the text and the thread's place in the grid are all slots. */
#include "ptx.h"
#include "dev.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 160, NAME = 24, WORDS = 4, PARAMS = 8, LABELS = 256,
       MOST = 4096 };
enum op {
    LD_PARAM, LD, ST, LD_TWO, ST_TWO, FENCE, MOV, CVT, MUL, MUL_WIDE, MAD, ADD, SUB, AND, OR, XOR, SHR,
    SETP_EQ, SETP_NE, SETP_GE, SETP_GT, SETP_LT, SELP, TESTP_INFINITE,
    TESTP_NAN, COPYSIGN, BRA, RET
};

struct insn {
    enum op op;
    char type;                  /* u, s, f, b, p */
    int bits;
    int guard;                  /* slot of a predicate, or -1 */
    bool unless;
    int at[WORDS];              /* slots; of BRA: the label */
    int64_t offset;
};

struct ptx {
    int n, slots, params, labels;
    char names[SLOTS][NAME], param[PARAMS][NAME], label[LABELS][NAME];
    uint64_t start[SLOTS];
    int target[LABELS];
    struct insn code[MOST];
};

static int look(char list[][NAME], int *n, int most, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (!strcmp(list[i], name))
            return i;
    if (*n == most || strlen(name) >= NAME)
        abort();
    strcpy(list[*n], name);
    return (*n)++;
}

/* A register or a number. */
static int slot(struct ptx *p, const char *word)
{
    int at = look(p->names, &p->slots, SLOTS, word);
    uint32_t half;

    if (*word == '%')
        return at;
    if (!strncmp(word, "0f", 2)) {
        half = (uint32_t)strtoul(word + 2, NULL, 16);
        p->start[at] = half;
    } else if (!strncmp(word, "0d", 2)) {
        p->start[at] = strtoull(word + 2, NULL, 16);
    } else {
        p->start[at] = strtoull(word, NULL, 0);
    }
    return at;
}

static const struct { const char *name; enum op op; } table[] = {
    { "ld.param", LD_PARAM }, { "ld", LD }, { "st", ST },
    { "ld.volatile", LD }, { "st.volatile", ST }, { "ld.v2", LD_TWO },
    { "st.v2", ST_TWO }, { "membar", FENCE }, { "mov", MOV },
    { "cvt.u64", CVT }, { "mul.lo", MUL }, { "mul.rn", MUL },
    { "mul.wide", MUL_WIDE }, { "mad.lo", MAD }, { "add", ADD },
    { "add.rn", ADD }, { "sub.rn", SUB }, { "and", AND }, { "or", OR },
    { "xor", XOR }, { "shr", SHR }, { "setp.eq", SETP_EQ }, { "setp.ne", SETP_NE },
    { "setp.ge", SETP_GE }, { "setp.gt", SETP_GT }, { "setp.lt", SETP_LT },
    { "selp", SELP }, { "testp.infinite", TESTP_INFINITE },
    { "testp.notanumber", TESTP_NAN }, { "copysign", COPYSIGN }
};

static bool read_op(char *word, struct insn *i)
{
    char *type = strrchr(word, '.');

    if (!strcmp(word, "ret") || !strcmp(word, "bra")) {
        i->op = *word == 'r' ? RET : BRA;
        return true;
    }
    if (!type)
        return false;
    *type++ = '\0';
    i->type = *type;
    i->bits = i->type == 'p' ? 1 : atoi(type + 1);
    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        if (!strcmp(table[k].name, word)) {
            i->op = table[k].op;
            return true;
        }
    }
    return false;
}

/* One statement: a guard, the operation, operands. */
static bool read_insn(struct ptx *p, char *line)
{
    struct insn i = { .guard = -1 };
    char *save, *word = strtok_r(line, " ,\n", &save), *plus;

    if (word && *word == '@') {
        i.unless = word[1] == '!';
        i.guard = slot(p, word + 1 + i.unless);
        word = strtok_r(NULL, " ,\n", &save);
    }
    if (!word || !read_op(word, &i))
        return false;
    for (int k = 0; (word = strtok_r(NULL, " ,\n[]{}", &save)); k++) {
        if (k == WORDS)
            return false;
        plus = strchr(word, '+');
        if (plus) {
            *plus++ = '\0';
            i.offset = atoll(plus);
        }
        i.at[k] = i.op == BRA ? look(p->label, &p->labels, LABELS, word)
                : i.op == LD_PARAM && k ? look(p->param, &p->params, PARAMS,
                                               word)
                : slot(p, word);
    }
    if (p->n == MOST)
        return false;
    p->code[p->n++] = i;
    return true;
}

static void read_params(struct ptx *p, char *text)
{
    char *save, *word, *last;

    for (word = strtok_r(text, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        last = strrchr(word, ' ');
        if (last)
            look(p->param, &p->params, PARAMS, last + 1);
    }
}

static bool read_body(struct ptx *p, char *text)
{
    char *save, *line, *colon, word[256];

    for (line = strtok_r(text, ";", &save); line;
         line = strtok_r(NULL, ";", &save)) {
        line += strspn(line, " \n");
        while ((colon = strchr(line, ':'))) {
            *colon = '\0';
            p->target[look(p->label, &p->labels, LABELS, line)] = p->n;
            line = colon + 1 + strspn(colon + 1, " \n");
        }
        snprintf(word, sizeof word, "%s", line);
        if (*line && strncmp(line, ".reg", 4) && !read_insn(p, line)) {
            fprintf(stderr, "fake cuda: what is \"%s\"?\n", word);
            return false;
        }
    }
    return true;
}

struct ptx *ptx_read(const char *text, const char *name)
{
    struct ptx *p = calloc(1, sizeof *p);
    char entry[96], *copy, *params, *body, *end;
    const char *at;

    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    at = strstr(text, entry);
    if (!p || !at)
        abort();
    copy = strdup(at + strlen(entry));
    params = copy;
    end = strchr(params, ')');
    *end = '\0';
    body = strchr(end + 1, '{') + 1;
    end = strstr(body, "\n}");
    *end = '\0';
    read_params(p, params);
    if (!read_body(p, body)) {
        free(p);
        p = NULL;
    }
    free(copy);
    return p;
}

/* ---- running ---- */

/* Pages that a thread has met, so that not each access asks. */
enum { PAGES = 16, PAGE = 4096 };
struct seen {
    uint64_t from[PAGES];
    char *to[PAGES];
};

static char *reach(struct seen *s, uint64_t at)
{
    uint64_t page = at / PAGE * PAGE;
    unsigned k = (unsigned)(page / PAGE % PAGES);

    if (!s->to[k] || s->from[k] != page) {
        s->from[k] = page;
        s->to[k] = dev_reach((void *)(uintptr_t)page, PAGE);
    }
    return s->to[k] ? s->to[k] + at % PAGE : NULL;
}

/* Others may look at a word meanwhile. */
static int move(struct seen *s, const struct insn *i, bool load, uint64_t at,
                uint64_t *v)
{
    char *p = reach(s, at + (uint64_t)i->offset);
    size_t size = (size_t)i->bits / 8;

    if (!p)
        return -EFAULT;
    if (!load && size == 8 && at % 8 == 0) {
        __atomic_store_n((uint64_t *)(void *)p, *v, __ATOMIC_RELEASE);
        return 0;
    }
    if (!load) {
        memcpy(p, v, size);
        return 0;
    }
    *v = 0;
    memcpy(v, p, size);
    if (i->type == 's' && size < 8 && *v >> (i->bits - 1))
        *v |= ~0ULL << i->bits;
    return 0;
}

static double number(const struct insn *i, uint64_t v)
{
    uint32_t half = (uint32_t)v;
    double d;
    float f;

    memcpy(&d, &v, sizeof d);
    memcpy(&f, &half, sizeof f);
    return i->bits == 64 ? d : (double)f;
}

static uint64_t word(const struct insn *i, double v)
{
    float f = (float)v;
    uint64_t w = 0;

    if (i->bits == 64)
        memcpy(&w, &v, sizeof w);
    else
        memcpy(&w, &f, sizeof f);
    return w;
}

/* A double holds what one operation on two floats gives exactly, or rounds it
 * so that it rounds to the right float. */
static uint64_t of_floats(const struct insn *i, uint64_t x, uint64_t y)
{
    double a = number(i, x), b = number(i, y);

    switch (i->op) {
    case ADD: return word(i, a + b);
    case SUB: return word(i, a - b);
    case MUL: return word(i, a * b);
    case COPYSIGN: return word(i, copysign(b, a));
    case SETP_GT: return a > b;
    case SETP_LT: return a < b;
    case TESTP_INFINITE: return isinf(a);
    case TESTP_NAN: return isnan(a);
    default: abort();
    }
}

static uint64_t of_words(const struct insn *i, uint64_t a, uint64_t b)
{
    int64_t sa = (int64_t)a, sb = (int64_t)b;

    if (i->bits == 32) {
        sa = (int32_t)a;
        sb = (int32_t)b;
        a = (uint32_t)a;
        b = (uint32_t)b;
    }
    switch (i->op) {
    case ADD: return a + b;
    case MUL:
    case MUL_WIDE: return a * b;
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    case SHR: return a >> b;
    case SETP_EQ: return a == b;
    case SETP_NE: return a != b;
    case SETP_GE: return a >= b;
    case SETP_GT: return i->type == 's' ? sa > sb : a > b;
    case SETP_LT: return i->type == 's' ? sa < sb : a < b;
    default: abort();
    }
}

/* The count of the next instruction, or -EFAULT. */
static int step(const struct ptx *p, int pc, const uint64_t *params,
                uint64_t *r, struct seen *s)
{
    const struct insn *i = &p->code[pc];
    uint64_t *to = &r[i->at[0]];

    if (i->guard >= 0 && !r[i->guard] == !i->unless)
        return pc + 1;
    switch (i->op) {
    case LD_PARAM:
        *to = params[i->at[1]];
        break;
    case LD:
        if (move(s, i, true, r[i->at[1]], to))
            return -EFAULT;
        break;
    case ST:
        if (move(s, i, false, *to, &r[i->at[1]]))
            return -EFAULT;
        break;
    case LD_TWO:
        if (r[i->at[2]] % 16 || move(s, i, true, r[i->at[2]], to) ||
            move(s, i, true, r[i->at[2]] + 8, &r[i->at[1]]))
            return -EFAULT;
        break;
    case ST_TWO:
        if (*to % 16 || move(s, i, false, *to, &r[i->at[1]]) ||
            move(s, i, false, *to + 8, &r[i->at[2]]))
            return -EFAULT;
        break;
    case FENCE:
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        break;
    case MOV:
    case CVT:
        *to = r[i->at[1]];
        break;
    case MAD:
        *to = r[i->at[1]] * r[i->at[2]] + r[i->at[3]];
        break;
    case SELP:
        *to = r[i->at[3]] ? r[i->at[1]] : r[i->at[2]];
        break;
    case BRA:
        return p->target[i->at[0]];
    case RET:
        return p->n;
    default:
        *to = i->type == 'f' ? of_floats(i, r[i->at[1]], r[i->at[2]])
                             : of_words(i, r[i->at[1]], r[i->at[2]]);
    }
    return pc + 1;
}

static void place(const struct ptx *p, uint64_t *r, const char *name,
                  uint64_t value)
{
    for (int i = 0; i < p->slots; i++)
        if (!strcmp(p->names[i], name))
            r[i] = value;
}

int ptx_run(const struct ptx *p, const uint64_t *params, unsigned groups,
            unsigned threads)
{
    struct seen s = { .from = { 0 } };
    uint64_t r[SLOTS];
    int pc;

    for (unsigned k = 0; k < groups * threads; k++) {
        memcpy(r, p->start, sizeof r);
        place(p, r, "%tid.x", k % threads);
        place(p, r, "%ntid.x", threads);
        place(p, r, "%ctaid.x", k / threads);
        place(p, r, "%nctaid.x", groups);
        for (pc = 0; pc < p->n; )
            if ((pc = step(p, pc, params, r, &s)) < 0)
                return pc;
    }
    return 0;
}

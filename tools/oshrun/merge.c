/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - prints a message that many PEs print once.
 *
 * A line of the library waits for MERGE_MS after its first appearance; lines
 * that differ from it only in the PE and in addresses are merged with it.  The
 * line of the lowest PE is printed, with a list of the other PEs.  Frames of
 * backtraces are merged alike, each for itself.  A PE that
 * does not know its number yet leaves it out; the caller knows from whose
 * pipe the line came. */
#include "oshrun.h"
#include "stream.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this many different lines the oldest goes out at once. */
#define MAX_PENDING 64

struct pending_line {
    int64_t since;
    int n;                          /* PEs that printed it */
    char *text;                     /* all after "sluice: PE <n> " */
    size_t len;                     /* without the newline */
    bool *pes;
};

struct merge {
    struct sink *sink;
    int n_pes;
    int n_pending;
    struct pending_line pending[MAX_PENDING];     /* oldest first */
};

struct merge *merge_open(struct sink *sink, int n)
{
    struct merge *m = calloc(1, sizeof(*m));

    if (m) {
        m->sink = sink;
        m->n_pes = n;
    }
    return m;
}

static void print_oldest(struct merge *m)
{
    struct pending_line *h = &m->pending[0];
    char head[64], others[512] = "", list[384];
    int pe = 0;

    while (!h->pes[pe])             /* the lowest one's line is printed */
        pe++;
    h->pes[pe] = false;
    if (h->n > 1) {
        pe_list(list, sizeof(list), h->pes, m->n_pes);
        snprintf(others, sizeof(others), " (and %d other PE%s: %s)", h->n - 1,
                 h->n > 2 ? "s" : "", list);
    }
    snprintf(head, sizeof(head), "sluice: PE %d ", pe);
    sink_end_line(m->sink);
    sink_put(m->sink, head, strlen(head));
    sink_put(m->sink, h->text, h->len);
    sink_put(m->sink, others, strlen(others));
    sink_put(m->sink, "\n", 1);
    free(h->text);
    free(h->pes);
    m->n_pending--;
    memmove(&m->pending[0], &m->pending[1],
            (size_t)m->n_pending * sizeof(m->pending[0]));
}

/* Does it end with [S-E-CODE] or [S-W-CODE]? */
static bool has_code(const char *p, const char *end)
{
    const char *code = end;

    if (end[-1] != ']')
        return false;
    while (code > p && code[-1] != '[')
        code--;
    return end - code >= 5 && (memcmp(code, "S-E-", 4) == 0 ||
                               memcmp(code, "S-W-", 4) == 0);
}

/* "(<host>): #<n> ...": of a backtrace. */
static bool is_frame(const char *p, const char *end)
{
    p = memchr(p, ')', (size_t)(end - p));
    return p && end - p > 5 && memcmp(p, "): #", 4) == 0 &&
           isdigit((unsigned char)p[4]);
}

/* "sluice: [PE <n> ](<host>): ..." with a code, or of a backtrace: where "("
 * stands, or NULL.  *pe is set where the line says it. */
static const char *parse(const struct merge *m, const char *line, size_t len,
                         int *pe)
{
    static const char head[] = "sluice: ";
    const char *p = line + sizeof(head) - 1, *end = line + len;
    long n = 0;

    if (len < sizeof(head) + 16 || memcmp(line, head, sizeof(head) - 1) != 0)
        return NULL;
    if (memcmp(p, "PE ", 3) == 0) {
        for (p += 3; isdigit((unsigned char)*p) && n < m->n_pes; p++)
            n = n * 10 + (*p - '0');
        if (n >= m->n_pes || *p++ != ' ')
            return NULL;
        *pe = (int)n;
    }
    return *p == '(' && (has_code(p, end) || is_frame(p, end)) ? p : NULL;
}

static bool starts_address(const char *p, const char *end)
{
    return end - p > 2 && p[0] == '0' && p[1] == 'x' &&
           isxdigit((unsigned char)p[2]);
}

static const char *skip_address(const char *p, const char *end)
{
    for (p += 2; p < end && isxdigit((unsigned char)*p); p++)
        ;
    return p;
}

/* The same text except for addresses, which differ between PEs; a frame's is
 * the place in the program. */
static bool same_line(const struct pending_line *h, const char *b, size_t len)
{
    const char *a = h->text, *a_end = a + h->len, *b_end = b + len;

    if (is_frame(b, b_end))
        return h->len == len && memcmp(a, b, len) == 0;
    while (a < a_end && b < b_end) {
        if (starts_address(a, a_end) && starts_address(b, b_end)) {
            a = skip_address(a, a_end);
            b = skip_address(b, b_end);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return a == a_end && b == b_end;
}

static void set_text(struct pending_line *h, const char *text, size_t len)
{
    free(h->text);
    h->text = must(malloc(len));
    memcpy(h->text, text, len);
    h->len = len;
}

/* The line of the lowest PE is the one that is printed. */
static void add_pe(struct pending_line *h, int pe, const char *text, size_t len)
{
    int lowest = 0;

    while (!h->pes[lowest])
        lowest++;
    if (pe < lowest)
        set_text(h, text, len);
    h->pes[pe] = true;
    h->n++;
}

static bool holds_line_of(const struct merge *m, int pe)
{
    int i = 0;

    while (i < m->n_pending && !m->pending[i].pes[pe])
        i++;
    return i < m->n_pending;
}

/* A line of the library without a code belongs to the line before it. */
static void keep_order(struct merge *m, int pe, const char *line, size_t len)
{
    static const char head[] = "sluice: PE ";

    if (len < sizeof(head) || memcmp(line, head, sizeof(head) - 1) != 0)
        return;
    while (holds_line_of(m, pe))
        print_oldest(m);
}

bool merge_take(struct merge *m, int pe, const char *line, size_t len)
{
    struct pending_line *h;
    const char *text;
    int i;

    if (len && line[len - 1] == '\n')
        len--;
    text = parse(m, line, len, &pe);
    if (!text) {
        keep_order(m, pe, line, len);
        return false;
    }
    len -= (size_t)(text - line);
    i = 0;
    if (is_frame(text, text + len))     /* behind the last line of its PE */
        for (i = m->n_pending; i && !m->pending[i - 1].pes[pe]; i--)
            ;
    for (; i < m->n_pending; i++) {
        h = &m->pending[i];
        if (!h->pes[pe] && same_line(h, text, len)) {
            add_pe(h, pe, text, len);
            return true;
        }
    }
    if (m->n_pending == MAX_PENDING)
        print_oldest(m);
    h = &m->pending[m->n_pending++];
    h->since = now_ms();
    h->n = 1;
    h->text = NULL;
    set_text(h, text, len);
    h->pes = must(calloc((size_t)m->n_pes, sizeof(*h->pes)));
    h->pes[pe] = true;
    if (m->n_pes == 1)              /* no other one may print it, too */
        print_oldest(m);
    return true;
}

void merge_flush(struct merge *m, bool all)
{
    int64_t now = now_ms();

    while (m->n_pending && (all || m->pending[0].since + MERGE_MS <= now))
        print_oldest(m);
}

int64_t merge_due(const struct merge *m)
{
    return m->n_pending ? m->pending[0].since + MERGE_MS : INT64_MAX;
}

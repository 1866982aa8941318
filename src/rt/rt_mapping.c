/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's map of PEs to nodes as PMI has it:
 *     (vector,(0,2,3),(2,1,2))
 * Each block is a node's number, how many nodes from there on, and how many
 * PEs of each; ranks count through the blocks, again and again where there are
 * more PEs.  rt_pmi2.c calls it.  The text comes from outside and may be
 * wrong. */
#include "rt/rt_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct block {
    long first, nodes, each;
};

/* A number below 2^30 and what follows it, or NULL. */
static const char *number(const char *p, char next, long *out)
{
    long v = 0;

    if (!isdigit((unsigned char)*p))
        return NULL;
    for (; isdigit((unsigned char)*p); p++) {
        v = v * 10 + (*p - '0');
        if (v >= 1 << 30)
            return NULL;
    }
    *out = v;
    return *p == next ? p + 1 : NULL;
}

static const char *read_block(const char *p, struct block *b)
{
    if (*p != '(')
        return NULL;
    p = number(p + 1, ',', &b->first);
    if (p)
        p = number(p, ',', &b->nodes);
    if (p)
        p = number(p, ')', &b->each);
    return p && b->nodes && b->each ? p : NULL;
}

/* The blocks, malloc'ed, ended by one of no nodes; NULL: it is no map. */
static struct block *read_map(const char *text)
{
    static const char head[] = "(vector";
    const char *p = text + sizeof head - 1;
    struct block *all;
    size_t n = 0, most = 1;

    if (strncmp(text, head, sizeof head - 1))
        return NULL;
    for (const char *c = p; *c; c++)
        most += *c == '(';
    all = calloc(most, sizeof *all);
    while (all && p && *p == ',')
        p = read_block(p + 1, &all[n++]);
    if (all && p && n && !strcmp(p, ")"))
        return all;
    free(all);
    return NULL;
}

/* Ranks that come with a turn of one node. */
struct walk {
    const struct block *all, *b;
    long node, left;            /* of the block; PEs of the node */
};

static long next_node(struct walk *w)
{
    while (!w->left) {
        if (w->b->nodes && ++w->node < w->b->nodes) {
            w->left = w->b->each;
            break;
        }
        w->b++;
        if (!w->b->nodes)
            w->b = w->all;
        w->node = 0;
        w->left = w->b->each;
    }
    w->left--;
    return w->b->first + w->node;
}

static long node_of(const struct block *all, int pe)
{
    struct walk w = { all, all, 0, all->each };
    long node = 0;

    for (int i = 0; i <= pe; i++)
        node = next_node(&w);
    return node;
}

int rt_mapping_parse(const char *text, int n_pes, int pe, int *out_n,
                     int **out)
{
    struct block *all = read_map(text);
    int *pes = malloc((size_t)n_pes * sizeof *pes), n = 0, rc = 0;

    if (!all || !pes) {
        rc = all ? -ENOMEM : -EINVAL;
        free(pes);
    } else {
        struct walk w = { all, all, 0, all->each };
        long mine = node_of(all, pe);

        for (int i = 0; i < n_pes; i++)
            if (next_node(&w) == mine)
                pes[n++] = i;
        *out_n = n;
        *out = pes;
    }
    free(all);
    return rc;
}

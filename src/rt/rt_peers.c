/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a launcher's list of PEs.  Called by the drivers of rt.  The text
 * comes from outside the process, so every number is checked. */
#include "rt/rt_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static int rising(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* A number below bound, up to a comma or the end; what follows, or NULL. */
static const char *read_one(const char *p, int bound, int *out)
{
    long v = 0;

    if (!isdigit((unsigned char)*p))
        return NULL;
    for (; isdigit((unsigned char)*p); p++) {
        v = v * 10 + (*p - '0');
        if (v >= bound)
            return NULL;
    }
    if (*p && *p != ',')
        return NULL;
    *out = (int)v;
    return p;
}

int rt_peers_parse(const char *list, int n_pes, int *out_n, int **out)
{
    int n = 0, *pes;
    size_t most = 1;

    for (const char *p = list; *p; p++)
        most += *p == ',';
    pes = malloc(most * sizeof *pes);
    if (!pes)
        return -ENOMEM;
    for (const char *p = list; ; p++) {
        p = read_one(p, n_pes, &pes[n]);
        if (!p)
            goto refuse;
        n++;
        if (!*p)
            break;
    }
    qsort(pes, (size_t)n, sizeof *pes, rising);
    for (int i = 1; i < n; i++)
        if (pes[i] == pes[i - 1])
            goto refuse;
    *out_n = n;
    *out = pes;
    return 0;
refuse:
    free(pes);
    return -EINVAL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that look like one of this library and are none: a slip of the pen,
 * or the name that another OpenSHMEM library has for it.  Called at start and by
 * shmem_info --check. */
#include "base/env.h"
#include "base/log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

/* What other libraries read, with its prefix, and what has its place here; a
 * null pointer: nothing needs to be set. */
static const struct other {
    const char *name, *here;
} others[] = {
    { "SHMEM_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE" },
    { "SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE" },
    { "XT_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE" },
    { "SHMEM_SYMMETRIC_HEAP_USE_HUGE_PAGES", "SHMEM_HUGEPAGES" },
    { "SHMEM_SYMMETRIC_HEAP_PAGE_SIZE", "SHMEM_HUGEPAGES" },
    { "SHMEM_SYMMETRIC_HEAP_USE_MALLOC", NULL },
    { "SHMEM_OFI_NIC_MAPPING", "SHMEM_NIC_MAP" },
    { "SHMEM_OFI_NIC_POLICY", "SHMEM_NIC_MAP" },
    { "SHMEM_OFI_STX_MAX", "SHMEM_OFI_ENDPOINTS" },
    { "SHMEM_TRAP_ON_ABORT", "SHMEM_TRAP" },
    { "SHMEM_BARRIER_ALGORITHM", "SHMEM_COLL_SYNC" },
    { "SHMEM_BARRIER_ALGO", "SHMEM_COLL_SYNC" },
    { "SHMEM_SYNC_ALGO", "SHMEM_COLL_SYNC" },
    { "SHMEM_BCAST_ALGORITHM", "SHMEM_COLL_BROADCAST" },
    { "SHMEM_BROADCAST_ALGO", "SHMEM_COLL_BROADCAST" },
    { "SHMEM_REDUCE_ALGORITHM", "SHMEM_COLL_REDUCE" },
    { "SHMEM_REDUCE_ALGO", "SHMEM_COLL_REDUCE" },
    { "SHMEM_SCAN_ALGORITHM", "SHMEM_COLL_SCAN" },
    { "SHMEM_COLLECT_ALGORITHM", "SHMEM_COLL_COLLECT" },
    { "SHMEM_COLLECT_ALGO", "SHMEM_COLL_COLLECT" },
    { "SHMEM_FCOLLECT_ALGORITHM", "SHMEM_COLL_FCOLLECT" },
    { "SHMEM_FCOLLECT_ALGO", "SHMEM_COLL_FCOLLECT" },
    { "SHMEM_ALLTOALL_ALGO", "SHMEM_COLL_ALLTOALL" },
    { "SHMEM_COLL_CROSSOVER", NULL },
    { "SHMEM_COLL_RADIX", NULL },
    { "SHMEM_COLL_SIZE_CROSSOVER", NULL },
    { "SHMEM_BOUNCE_SIZE", NULL },
    { "SHMEM_MAX_BOUNCE_BUFFERS", NULL },
    { "SHMEM_CMA_PUT_MAX", NULL },
    { "SHMEM_CMA_GET_MAX", NULL },
    { "SHMEM_TEAMS_MAX", NULL },
    { "SHMEM_MAX_CTX", NULL },
    { "SHMEM_PREALLOC_CTXS", NULL },
    { "SHMEM_ENV_DISPLAY", "SHMEM_INFO" },
    { "SHMEM_VERSION_DISPLAY", "SHMEM_VERSION" },
};
enum { OTHERS = sizeof others / sizeof *others };

static const struct other *other_of(const char *name, size_t len)
{
    for (int i = 0; i < OTHERS; i++)
        if (strlen(others[i].name) == len && !memcmp(others[i].name, name, len))
            return &others[i];
    return NULL;
}

enum { NAME_MOST = 40 };
#define ENV(layer, NAME, kind, def, least, most, help) \
    _Static_assert(sizeof #NAME <= NAME_MOST, \
                   "distance() has room for " #NAME);
#include "base/env_defs.h"
#undef ENV

/* Edit distance of two names, lower and upper case alike. */
static int distance(const char *a, size_t la, const char *b)
{
    size_t lb = strlen(b);
    int d[2][NAME_MOST];

    for (size_t j = 0; j <= lb; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int *now = d[i & 1], *was = d[~i & 1];

        now[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int best = was[j - 1] + (toupper((unsigned char)a[i - 1]) !=
                                     b[j - 1]);

            if (was[j] + 1 < best)
                best = was[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            now[j] = best;
        }
    }
    return d[la & 1][lb];
}

/* The variable that was meant, or NULL: one character of three may be wrong. */
static const char *nearest(const char *name, size_t len)
{
    const char *found = NULL, *one;
    int best = (int)(len / 3) + 1, d;

    for (int i = 0; len < NAME_MOST && (one = env_name(i)); i++) {
        d = distance(name, len, one);
        if (d < best) {
            best = d;
            found = one;
        }
    }
    return found;
}

static bool known(const char *name, size_t len)
{
    const char *one;

    for (int i = 0; (one = env_name(i)); i++)
        if (strlen(one) == len && !memcmp(one, name, len))
            return true;
    return false;
}

/* Fills in the line about this variable of len characters; false: none is due. */
static bool describe(const char *name, size_t len, char *text, size_t size)
{
    bool sma = !strncmp(name, "SMA_", 4);
    size_t prefix = sma ? 4 : 6;
    const char *meant;
    const struct other *o = other_of(name, len);
    char alike[64];

    if (sma && !o) {            /* the same name, with the other prefix */
        snprintf(alike, sizeof alike, "SHMEM_%.*s", (int)(len - 4), name + 4);
        o = other_of(alike, strlen(alike));
    }
    if (o) {
        snprintf(text, size, "%.*s is set, a variable of other libraries; %s%s",
                 (int)len, name, o->here ? "here: " : "there is nothing to set "
                 "in its place", o->here ? o->here : "");
        return true;
    }
    if (!sma && strncmp(name, "SHMEM_", 6))
        return false;
    name += prefix;
    len -= prefix;
    if (sma && env_has_sma(name, len))
        return false;
    if (known(name, len)) {
        snprintf(text, size, "SMA_%.*s is set but not read; here: SHMEM_%.*s",
                 (int)len, name, (int)len, name);
        return sma;
    }
    meant = nearest(name, len);
    if (sma && !meant)
        return false;           /* of something else */
    snprintf(text, size, "%s%.*s is set but no such variable is known; %s%s%s",
             sma ? "SMA_" : "SHMEM_", (int)len, name, meant ? "is SHMEM_" : "",
             meant ? meant : "shmem_info lists them", meant ? " meant?" : "");
    return true;
}

int env_report_unknown(void (*report)(const char *text))
{
    char text[512];
    int n = 0;

    for (char **e = environ; *e; e++) {
        size_t len = strcspn(*e, "=");

        if (!(*e)[len] || !(*e)[len + 1] ||
            !describe(*e, len, text, sizeof text))
            continue;
        n++;
        report(text);
    }
    return n;
}

static void warn(const char *text)
{
    log_warn(ERR_ENV, "%s", text);
}

void env_warn_unknown(void)
{
    env_report_unknown(warn);
}

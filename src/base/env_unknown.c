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

/* Variables of other libraries that begin with SHMEM_, SMA_ or XT_, and ours in
 * place of each; a null pointer: nothing needs to be set. */
static const struct other {
    const char *name, *here;
} others[] = {
    { "HEAP_SIZE", "SYMMETRIC_SIZE" },
    { "SYMMETRIC_HEAP_SIZE", "SYMMETRIC_SIZE" },
    { "SYMMETRIC_HEAP_USE_HUGE_PAGES", "HUGEPAGES" },
    { "SYMMETRIC_HEAP_PAGE_SIZE", "HUGEPAGES" },
    { "SYMMETRIC_HEAP_USE_MALLOC", NULL },
    { "OFI_NIC_MAPPING", "NIC_MAP" },
    { "OFI_NIC_POLICY", "NIC_MAP" },
    { "OFI_STX_MAX", "OFI_ENDPOINTS" },
    { "OFI_STX_AUTO", NULL },
    { "OFI_STX_THRESHOLD", NULL },
    { "OFI_STX_ALLOCATOR", NULL },
    { "OFI_STX_DISABLE_PRIVATE", NULL },
    { "OFI_DISABLE_MULTIRAIL", "OFI_RAILS" },
    { "OFI_DISABLE_SINGLE_EP", NULL },
    { "OFI_ATOMIC_CHECKS_WARN", NULL },
    { "OFI_TX_POLL_LIMIT", NULL },
    { "OFI_RX_POLL_LIMIT", NULL },
    { "OFI_PUT_PIPELINE_DEPTH", NULL },
    { "PROGRESS_INTERVAL", NULL },
    { "DISABLE_ASLR_CHECK", NULL },
    { "SYMMETRIC_HEAP_USE_DSMML", NULL },
    { "TEAM_SHARED_ONLY_SELF", NULL },
    { "BARRIERS_FLUSH", NULL },
    { "HIER_BARRIER_THRESHOLD", NULL },
    { "MPI_THREAD_LEVEL", NULL },
    { "TRAP_ON_ABORT", "TRAP" },
    { "BARRIER_ALGORITHM", "COLL_SYNC" },
    { "BARRIER_ALGO", "COLL_SYNC" },
    { "SYNC_ALGO", "COLL_SYNC" },
    { "BCAST_ALGORITHM", "COLL_BROADCAST" },
    { "BROADCAST_ALGO", "COLL_BROADCAST" },
    { "REDUCE_ALGORITHM", "COLL_REDUCE" },
    { "REDUCE_ALGO", "COLL_REDUCE" },
    { "SCAN_ALGORITHM", "COLL_SCAN" },
    { "COLLECT_ALGORITHM", "COLL_COLLECT" },
    { "COLLECT_ALGO", "COLL_COLLECT" },
    { "FCOLLECT_ALGORITHM", "COLL_FCOLLECT" },
    { "FCOLLECT_ALGO", "COLL_FCOLLECT" },
    { "ALLTOALL_ALGO", "COLL_ALLTOALL" },
    { "COLL_CROSSOVER", NULL },
    { "COLL_RADIX", NULL },
    { "COLL_SIZE_CROSSOVER", NULL },
    { "BOUNCE_SIZE", NULL },
    { "MAX_BOUNCE_BUFFERS", NULL },
    { "CMA_PUT_MAX", NULL },
    { "CMA_GET_MAX", NULL },
    { "TEAMS_MAX", NULL },
    { "MAX_CTX", NULL },
    { "PREALLOC_CTXS", NULL },
    { "ENV_DISPLAY", "INFO" },
    { "VERSION_DISPLAY", "VERSION" },
};
enum { OTHERS = sizeof others / sizeof *others };

static bool is(const char *text, const char *name, size_t len)
{
    return strlen(text) == len && !memcmp(text, name, len);
}

static const struct other *other_of(const char *name, size_t len)
{
    for (int i = 0; i < OTHERS; i++)
        if (is(others[i].name, name, len))
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
        if (is(one, name, len))
            return true;
    return false;
}

enum { SHMEM, SMA, XT, PREFIXES };
static const char *const prefixes[PREFIXES] = { "SHMEM_", "SMA_", "XT_" };

/* The value of an SMA_ variable, beside another one of the SHMEM_ form. */
static bool differs(const char *name, size_t len, const char *value, char *text,
                    size_t size)
{
    char both[NAME_MOST + sizeof "SHMEM_"];
    const char *counts;

    snprintf(both, sizeof both, "SHMEM_%.*s", (int)len, name);
    counts = env_foreign(both);
    if (!counts || !*counts || !strcmp(counts, value))
        return false;
    snprintf(text, size, "%s and SMA_%.*s differ: the former counts", both,
             (int)len, name);
    return true;
}

/* Fills in the line about this variable of len characters; false: none is due. */
static bool describe(const char *full, size_t len, char *text, size_t size)
{
    const char *name, *meant;
    const struct other *o;
    int which = SHMEM;

    while (which < PREFIXES && strncmp(full, prefixes[which],
                                       strlen(prefixes[which])))
        which++;
    if (which == PREFIXES)
        return false;
    name = full + strlen(prefixes[which]);
    o = other_of(name, len - strlen(prefixes[which]));
    if (o) {
        snprintf(text, size, "%.*s is set, a variable of other libraries; %s%s",
                 (int)len, full, o->here ? "here: SHMEM_" : "there is nothing "
                 "to set in its place", o->here ? o->here : "");
        return true;
    }
    len -= strlen(prefixes[which]);
    if (which == SMA && env_has_sma(name, len))
        return differs(name, len, full + strlen(prefixes[SMA]) + len + 1, text,
                       size);
    if (which == XT)
        return false;
    if (which == SMA && (is("CC", name, len) || is("CXX", name, len)))
        return false;           /* oshcc reads them */
    if (known(name, len)) {
        snprintf(text, size, "SMA_%.*s is set but not read; here: SHMEM_%.*s",
                 (int)len, name, (int)len, name);
        return which == SMA;
    }
    meant = nearest(name, len);
    if (which == SMA && !meant)
        return false;           /* of something else */
    snprintf(text, size, "%s%.*s is set but no such variable is known; %s%s%s",
             prefixes[which], (int)len, name, meant ? "is SHMEM_" : "",
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

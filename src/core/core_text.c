/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/core_text.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000u

void core_text_add(struct core_text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->at + t->n, sizeof t->at - t->n, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->n += (size_t)n < sizeof t->at - t->n ? (size_t)n
                                                : sizeof t->at - t->n - 1;
}

unsigned long long core_text_seconds(uint64_t ns)
{
    return (ns + SECOND_NS / 2) / SECOND_NS;
}

void core_text_pe(struct core_text *t, int pe)
{
    char host[64];

    core_text_add(t, "PE %d (", pe);
    if (xport_routes[pe].map[HEAP_HOST])
        core_text_add(t, "this node");
    else if (rt_host(pe, host, sizeof host))
        core_text_add(t, "host %s", host);
    else
        core_text_add(t, "another node");
}

void core_name_pe(int pe, char *out, size_t size)
{
    char host[64];

    if (rt_host(pe, host, sizeof host))
        snprintf(out, size, "PE %d (host %s)", pe, host);
    else
        snprintf(out, size, "PE %d", pe);
}

bool core_text_stopped(uint64_t pid)
{
    char path[32], stat[256], *p;
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    f = fopen(path, "re");
    if (!f)
        return false;
    n = fread(stat, 1, sizeof stat - 1, f);
    fclose(f);
    stat[n] = '\0';
    p = strrchr(stat, ')');
    return p && p[1] == ' ' && (p[2] == 'T' || p[2] == 't');
}

void core_text_activity(struct core_text *t, int pe,
                        const struct core_activity *d)
{
    struct timespec now;
    uint64_t ns;

    if (xport_routes[pe].map[HEAP_HOST] && core_text_stopped(d->pid))
        core_text_add(t, ", stopped, pid %llu", (unsigned long long)d->pid);
    clock_gettime(CLOCK_REALTIME, &now);
    ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
    ns = ns > d->at_ns ? ns - d->at_ns : 0;
    if (d->waits)
        core_text_add(t, ", in %.39s for %llu s", d->call,
                      core_text_seconds(ns));
    else
        core_text_add(t, ", last call %.39s %s%llu s ago", d->call,
                      d->at_calls == d->calls ? "" : "at most ",
                      core_text_seconds(ns));
}

static void add_number(struct core_text *t, const struct core_waiter *w,
                       uint64_t v)
{
    core_text_add(t, w->is_signed ? "%lld" : "%llu", (long long)v);
}

/* The first of them, as they are now. */
static void add_set(struct core_text *t, const struct core_waiter *w)
{
    struct core_waiter one = *w;
    uint64_t n = w->value < 4 ? w->value : 3;

    one.bytes = w->bytes / w->value;
    core_text_add(t, "%llu value%s ", (unsigned long long)w->value,
                  w->value == 1 ? "" : "s");
    for (uint64_t i = 0; i < n && !w->foreign; i++) {
        core_text_add(t, i ? ", " : "(");
        add_number(t, w, core_wait_value(&one));
        one.addr = (const char *)one.addr + one.bytes;
    }
    if (!w->foreign)
        core_text_add(t, n < w->value ? ", ...) " : ") ");
    core_text_add(t, "to be %s ", core_cmp_sign(w->cmp));
    if (w->alike)
        add_number(t, w, w->each);
    else
        core_text_add(t, "what is wanted");
    core_text_add(t, " at ");
}

void core_text_wanted(struct core_text *t, const struct core_waiter *w)
{
    uint64_t off = 0;
    const char *place = core_segment_name(w->addr, &off);

    if (w->what == CORE_FOR_VALUE && w->foreign) {
        core_text_add(t, w->is_signed ? "a value to be %s %lld at "
                                      : "a value to be %s %llu at ",
                      core_cmp_sign(w->cmp), (long long)w->value);
    } else if (w->what == CORE_FOR_VALUE) {
        add_number(t, w, core_wait_value(w));
        core_text_add(t, " to be %s ", core_cmp_sign(w->cmp));
        add_number(t, w, w->value);
        core_text_add(t, " at ");
    } else if (w->what == CORE_FOR_SET) {
        add_set(t, w);
    } else if (w->what == CORE_FOR_LOCK) {
        core_text_add(t, "the lock at ");
    }
    if (place)
        core_text_add(t, "%s+0x%llx", place, (unsigned long long)off);
    else
        core_text_add(t, "%p", w->addr);
}

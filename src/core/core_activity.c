/* SPDX-License-Identifier: BSD-3-Clause */
/* What this PE does, kept where its peers read it.
 *
 * A collective call within a node takes some hundred nanoseconds, and reading
 * a clock a tenth of that.  So all calls are counted, but once very many have
 * come in quick succession the time is taken of few: whoever reads it can tell
 * by the count whether it is that of the last one. */
#include "base/lock.h"
#include "core/core_stall.h"
#include "rt/rt.h"

#include <string.h>
#include <time.h>

/* After so many looks at the clock, each within that time of the one before,
 * it is looked at so seldom, until one comes later. */
enum { QUICK_LOOKS = 1000, SELDOM = 32 };
#define QUICK_NS 20000000u

__thread struct core_team *core_activity_team;
/* The last call of a thread with a team: others find it by that number. */
static __thread struct {
    const char *call;
    uint32_t id;
} entered __attribute__((tls_model("initial-exec")));

/* relaxed: what threads tell of themselves here orders nothing else. */
#define GET(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SET(word, v) __atomic_store_n(&(word), v, __ATOMIC_RELAXED)

/* Not exact when threads race. */
static struct {
    const char *call;           /* the name that is there */
    uint32_t quick;             /* looks in a row */
    uint32_t next;              /* the time is taken of that call, or of one
                                 * after it, if others count meanwhile */
} noted;

static void take_time(struct core_activity *d) __attribute__((noinline));
static void take_time(struct core_activity *d)
{
    struct timespec t;
    uint64_t now, before = GET(d->at_ns);
    uint32_t quick, calls = GET(d->calls);

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    quick = now - before > QUICK_NS ? 0 : GET(noted.quick) + 1;
    SET(noted.quick, quick);
    SET(noted.next, calls + (quick < QUICK_LOOKS ? 1 : SELDOM));
    SET(d->at_ns, now);
    SET(d->at_calls, calls);
}

uint32_t core_activity_call_id(const char *name)
{
    uint64_t part, h = 0;

    for (size_t n = strlen(name); n; n -= n < sizeof part ? n : sizeof part) {
        part = 0;
        memcpy(&part, name + (n > sizeof part ? n - sizeof part : 0),
               n < sizeof part ? n : sizeof part);
        h = (h ^ part) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void put_name(struct core_activity *d, const char *call)
    __attribute__((noinline));
static void put_name(struct core_activity *d, const char *call)
{
    uint64_t name[sizeof d->call / sizeof(uint64_t)] = { 0 };

    strncpy((char *)name, core_public_name(call), sizeof name - 1);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        SET(((uint64_t *)(void *)d->call)[i], name[i]);
    SET(noted.call, call);
}

static inline void note(struct core_activity *d, const char *call)
{
    uint32_t calls = GET(d->calls) + 1;

    if (unlikely(GET(noted.call) != call))
        put_name(d, call);
    SET(d->calls, calls);
    if (unlikely((int32_t)(calls - GET(noted.next)) >= 0))
        take_time(d);
}

void core_activity_call(const char *call)
{
    if (core_ctl)
        note(&core_ctl->doing, call);
}

void core_activity_enter(const char *call, struct core_team *t)
{
    xport_call = call;
    core_activity_team = t;
    if (!t || t->my_pe < 0)
        return;
    note(&core_ctl->doing, call);
    if (unlikely(entered.call != call)) {
        entered.call = call;
        entered.id = core_activity_call_id(core_public_name(call));
    }
    SET(core_team_area_of(t, t->my_pe)->entry,
        core_activity_entry(++t->entries, entered.id));
}

void core_activity_open(void)
{
    noted.call = NULL;
    noted.quick = 0;
    noted.next = 1;
}

/* ---- waits ---- */

/* A shorter wait is not worth the look for the other's host. */
#define HOST_AFTER_NS 100000000u

struct core_transport_wait core_transport_wait;

void core_activity_waits(unsigned which, bool on)
{
    struct core_activity *d = &core_ctl->doing;

    if (!on) {
        __atomic_fetch_and(&d->waits, ~(uint64_t)which, __ATOMIC_RELAXED);
        return;
    }
    if (GET(d->at_calls) != GET(d->calls))
        take_time(d);
    SET(noted.quick, 0);
    SET(noted.next, GET(d->calls) + 1);
    __atomic_fetch_or(&d->waits, which, __ATOMIC_RELAXED);
}

/* Of the threads that wait in the transport, the last that began to. */
static struct base_lock show_lock = LOCK_INIT;

void core_activity_transport(struct xport_wait *w, uint64_t now)
{
    struct core_transport_wait *s = &core_transport_wait;
    char host[sizeof s->host] = "";
    int pe = w->pe >= 0 ? w->pe : w->maybe;
    const void *of = GET(s->of);
    bool young = now - w->since_ns < HOST_AFTER_NS, stays;

    if (!core_ctl)
        return;
    if (!w->shown && xport_call && xport_call != GET(noted.call))
        core_activity_call(xport_call);
    /* Another one that is shown stays, unless this wait is new. */
    lock_acquire(&show_lock);
    stays = w->shown && of && (of != w || pe < 0 || s->host[0] || young);
    lock_release(&show_lock);
    if (stays)
        return;
    w->shown = true;
    if (pe >= 0 && !young && !rt_host(pe, host, sizeof host))
        strcpy(host, "?");
    lock_acquire(&show_lock);
    SET(s->of, NULL);
    s->call = xport_call;
    s->pe = pe;
    s->since_ns = w->since_ns;
    memcpy(s->host, host, sizeof host);
    /* release: who is interrupted, or looks on, finds all of it. */
    __atomic_store_n(&s->of, w, __ATOMIC_RELEASE);
    core_activity_waits(CORE_WAITS_FAR, true);
    lock_release(&show_lock);
}

void core_activity_transport_end(struct xport_wait *w)
{
    w->shown = false;
    lock_acquire(&show_lock);
    if (core_transport_wait.of == w) {
        SET(core_transport_wait.of, NULL);
        if (core_ctl)
            core_activity_waits(CORE_WAITS_FAR, false);
    }
    lock_release(&show_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the activity record of this PE up to date.  Called at the entry of
 * collective and off-node operations and by waits that last; other PEs read the
 * record to report why they wait.  Must stay cheap: a collective call within a
 * node takes some hundred nanoseconds, and reading a clock a tenth of that.
 *
 * So all calls are counted, but once very many have come in quick succession,
 * the time is taken of few of them.  at_calls shows a reader whether the time
 * is that of the last call. */
#include "core/core_activity.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "rt/rt.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* After QUICK_READS reads of the clock, each within QUICK_NS of the one before,
 * the clock is read at every SELDOM-th call, until a call comes later. */
enum { QUICK_READS = 1000, SELDOM = 32 };
#define QUICK_NS 20000000u

__thread struct core_team *core_activity_team;
/* The last collective call of this thread, and its hash. */
static __thread struct {
    const char *call;
    uint32_t id;
} entered;

/* relaxed: the record orders nothing else. */
#define GET(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SET(word, v) __atomic_store_n(&(word), v, __ATOMIC_RELAXED)

/* Not exact when threads race. */
static struct {
    const char *call;           /* the name that the record holds */
    uint32_t quick;             /* quick reads of the clock in a row */
    uint32_t next;              /* the time is taken at that call, or at a later
                                 * one if other threads count meanwhile */
} recorded;

static void take_time(struct core_activity *a) __attribute__((noinline));
static void take_time(struct core_activity *a)
{
    struct timespec t;
    uint64_t now, before = GET(a->at_ns);
    uint32_t quick, calls = GET(a->calls);

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    quick = now - before > QUICK_NS ? 0 : GET(recorded.quick) + 1;
    SET(recorded.quick, quick);
    SET(recorded.next, calls + (quick < QUICK_READS ? 1 : SELDOM));
    SET(a->at_ns, now);
    SET(a->at_calls, calls);
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

static void put_name(struct core_activity *a, const char *call)
    __attribute__((noinline));
static void put_name(struct core_activity *a, const char *call)
{
    uint64_t name[sizeof a->call / sizeof(uint64_t)] = { 0 };

    strncpy((char *)name, symbol_public(call), sizeof name - 1);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        SET(((uint64_t *)(void *)a->call)[i], name[i]);
    SET(recorded.call, call);
}

static inline void record_call(struct core_activity *a, const char *call)
{
    uint32_t calls = GET(a->calls) + 1;

    if (unlikely(GET(recorded.call) != call))
        put_name(a, call);
    SET(a->calls, calls);
    if (unlikely((int32_t)(calls - GET(recorded.next)) >= 0))
        take_time(a);
}

void core_activity_call(const char *call)
{
    if (core_ctl)
        record_call(&core_ctl->activity, call);
}

void core_activity_enter(const char *call, struct core_team *t)
{
    xport_call = call;
    core_activity_team = t;
    if (!t || t->my_pe < 0)
        return;
    record_call(&core_ctl->activity, call);
    if (unlikely(entered.call != call)) {
        entered.call = call;
        entered.id = core_activity_call_id(symbol_public(call));
    }
    SET(core_team_area_of(t, t->my_pe)->entry,
        core_activity_entry(++t->entries, entered.id));
}

void core_activity_open(void)
{
    core_activity_team = NULL;  /* a shmem_finalize has freed its teams */
    core_ctl->activity.pid = (uint64_t)getpid();
    recorded.call = NULL;
    recorded.quick = 0;
    recorded.next = 1;
}

/* ---- waits ---- */

/* A shorter wait is not worth a query for the other PE's host. */
#define HOST_AFTER_NS 100000000u

struct core_transport_wait core_transport_wait;

void core_activity_waits(unsigned which, bool on)
{
    struct core_activity *a = &core_ctl->activity;

    if (!on) {
        __atomic_fetch_and(&a->waits, ~(uint64_t)which, __ATOMIC_RELAXED);
        return;
    }
    if (GET(a->at_calls) != GET(a->calls))
        take_time(a);
    SET(recorded.quick, 0);
    SET(recorded.next, GET(a->calls) + 1);
    __atomic_fetch_or(&a->waits, which, __ATOMIC_RELAXED);
}

/* Guards core_transport_wait against other threads that wait in the transport;
 * a reader takes no lock. */
static struct base_lock show_lock = LOCK_INIT;

void core_activity_transport(struct xport_wait *w, uint64_t now)
{
    struct core_transport_wait *s = &core_transport_wait;
    char host[sizeof s->host] = "";
    int pe = w->pe >= 0 ? w->pe : w->likely_pe;
    const void *of = GET(s->of);
    bool young = now - w->since_ns < HOST_AFTER_NS, stays;

    if (!core_ctl)
        return;
    if (!w->reported && xport_call && xport_call != GET(recorded.call))
        core_activity_call(xport_call);
    /* The published wait of another thread stays, unless this one is new. */
    lock_acquire(&show_lock);
    stays = w->reported && of && (of != w || pe < 0 || s->host[0] || young);
    lock_release(&show_lock);
    if (stays)
        return;
    w->reported = true;
    if (pe >= 0 && !young && !rt_host(pe, host, sizeof host))
        strcpy(host, "?");
    lock_acquire(&show_lock);
    SET(s->of, NULL);
    s->call = xport_call;
    s->pe = pe;
    s->since_ns = w->since_ns;
    memcpy(s->host, host, sizeof host);
    /* release: a reader that finds `of` finds all of the record. */
    __atomic_store_n(&s->of, w, __ATOMIC_RELEASE);
    core_activity_waits(CORE_WAITS_TRANSPORT, true);
    lock_release(&show_lock);
}

void core_activity_transport_end(struct xport_wait *w)
{
    w->reported = false;
    lock_acquire(&show_lock);
    if (core_transport_wait.of == w) {
        SET(core_transport_wait.of, NULL);
        if (core_ctl)
            core_activity_waits(CORE_WAITS_TRANSPORT, false);
    }
    lock_release(&show_lock);
}

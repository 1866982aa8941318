/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the program's calls for SHMEM_STATS, in two tables of this PE: by call
 * and kind of PE, and by the place of the program that called.  trace.c calls it;
 * it prints nothing (api_statistics.c). */
#include "base/profile.h"
#include "base/list.h"
#include "base/symbol.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place is found by unwinding the stack, which takes microseconds: of calls
 * that last so long each time, else of one in so many, which counts as all. */
enum { LONG_NS = 20000, SAMPLED = 64 };

bool profile_on;
static bool finds_places;        /* changes while no thread counts */

static enum profile_peers no_peers(int pe)
{
    (void)pe;
    return PROFILE_NO_PE;
}

enum profile_peers (*profile_peers_of)(int pe) = no_peers;

/* All atomic, and each for itself. */
struct sum {
    uint64_t count, bytes, ns, most_ns, waited_ns;
};

/* Of a hash table; an entry that has a key keeps it. */
struct call {
    uint64_t key;               /* atomic: name and peers; 0: none */
    struct sum sum;
};
struct site {
    uint64_t key;               /* atomic: call and address; 0: none */
    uint64_t at;                /* atomic: the address; 0: not yet */
    const struct call *call;    /* atomic: with the address */
    struct sum sum;
};
enum { CALLS = 1024, SITES = 2048 };
static struct call calls[CALLS];
static struct site sites[SITES];
static uint64_t lost;           /* atomic: calls */
static struct symbol_range own_code;

/* Of this thread: its outermost event. */
static __thread struct {
    const char *name;
    uint64_t begin_ns, bytes, waited_ns;
    int pe;
    unsigned depth : 31;
    unsigned gathers : 1;       /* bytes are those of transfers inside */
    unsigned turn;              /* of calls, for the sample */
} thread;

void profile_start(void)
{
    memset(calls, 0, sizeof calls);
    memset(sites, 0, sizeof sites);
    lost = 0;
    finds_places = true;
    symbol_own_range(&own_code);
    symbol_prepare();
    profile_resume();
}

void profile_resume(void)
{
    __atomic_store_n(&profile_on, true, __ATOMIC_RELAXED);
}

void profile_stop(void)
{
    __atomic_store_n(&profile_on, false, __ATOMIC_RELAXED);
}

/* ---- the tables ---- */

static void add(uint64_t *to, uint64_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void add_call(struct sum *s, uint64_t ns, uint64_t times)
{
    uint64_t most = __atomic_load_n(&s->most_ns, __ATOMIC_RELAXED);

    add(&s->count, times);
    add(&s->bytes, thread.bytes * times);
    add(&s->ns, ns * times);
    if (thread.waited_ns)
        add(&s->waited_ns, thread.waited_ns * times);
    while (ns > most && !__atomic_compare_exchange_n(&s->most_ns, &most, ns,
                                                     true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED))
        ;
}

static unsigned hash(uint64_t key)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15u >> 32);
}

/* Is the place the key's, now or before? */
static bool take(uint64_t *place, uint64_t key)
{
    uint64_t is = __atomic_load_n(place, __ATOMIC_RELAXED);

    return is == key ||
           (!is && (__atomic_compare_exchange_n(place, &is, key, false,
                                                __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED) ||
                    is == key));
}

static struct call *call_of(const char *name, enum profile_peers peers)
{
    uint64_t key = (uint64_t)(uintptr_t)name * PROFILE_PEERS + peers;
    unsigned at = hash(key);

    for (unsigned i = 0; i < CALLS; i++, at++)
        if (likely(take(&calls[at % CALLS].key, key)))
            return &calls[at % CALLS];
    return NULL;
}

static void add_site(const struct call *c, uint64_t ns, uint64_t times)
{
    uint64_t at = (uintptr_t)symbol_caller(&own_code);
    uint64_t key = at ^ (uint64_t)(c - calls) << 52;
    unsigned place = hash(key);

    for (unsigned i = 0; at && i < SITES; i++, place++) {
        struct site *s = &sites[place % SITES];

        if (!take(&s->key, key))
            continue;
        __atomic_store_n(&s->call, c, __ATOMIC_RELAXED);
        __atomic_store_n(&s->at, at, __ATOMIC_RELEASE);
        add_call(&s->sum, ns, times);
        return;
    }
}

static void count(uint64_t ns)
{
    struct call *c;

    if (!strstr(thread.name, "shmem"))  /* of the library's own collectives */
        return;
    c = call_of(thread.name, thread.pe < 0 ? PROFILE_NO_PE
                                           : profile_peers_of(thread.pe));
    if (!c) {
        add(&lost, 1);
        return;
    }
    add_call(&c->sum, ns, 1);
    if (!finds_places)
        return;
    if (ns >= LONG_NS)
        add_site(c, ns, 1);
    else if (++thread.turn % SAMPLED == 0)
        add_site(c, ns, SAMPLED);
}

/* ---- events ---- */

/* Without the signal of a put. */
static uint64_t bytes_of(const struct trace_what *w)
{
    return w->role == TRACE_SEES ? 0
           : w->kind == TRACE_TRANSFER && w->arg[0] ? (uint64_t)w->arg[0]
                                                    : w->bytes;
}

static void begin(const struct trace_what *w, uint64_t begin_ns)
{
    thread.name = w->name;
    thread.begin_ns = begin_ns;
    thread.bytes = bytes_of(w);
    thread.waited_ns = 0;
    thread.pe = w->pe - 1;
    thread.gathers = w->kind == TRACE_CALL;
}

void profile_enter(const struct trace_what *w, uint64_t now_ns)
{
    if (thread_is_librarys)
        return;
    if (!thread.depth)
        begin(w, now_ns);
    else if (thread.depth == 1 && thread.gathers && w->kind == TRACE_TRANSFER)
        thread.bytes += bytes_of(w);
    thread.depth++;
}

void profile_leave(uint64_t now_ns)
{
    if (thread.depth && !--thread.depth)
        count(now_ns - thread.begin_ns);
}

void profile_span(const struct trace_what *w, uint64_t begin_ns,
                  uint64_t now_ns)
{
    if (thread_is_librarys)
        return;
    if (thread.depth) {
        if (w->kind == TRACE_WAIT)
            thread.waited_ns += now_ns - begin_ns;
    } else if (w->kind == TRACE_CALL) {
        begin(w, begin_ns);
        count(now_ns - begin_ns);
    }
}

/* ---- the result ---- */

static int longest_first(const void *a, const void *b)
{
    const struct sum *x = *(const struct sum *const *)a;
    const struct sum *y = *(const struct sum *const *)b;

    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static uint64_t get(const uint64_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static void describe(const struct call *c, const struct sum *s,
                     struct profile_row *out)
{
    uint64_t key = get(&c->key);
    const char *name = (const char *)(uintptr_t)(key / PROFILE_PEERS);

    *out = (struct profile_row){
        .peers = key % PROFILE_PEERS, .count = get(&s->count),
        .bytes = get(&s->bytes), .ns = get(&s->ns),
        .most_ns = get(&s->most_ns), .waited_ns = get(&s->waited_ns)
    };
    snprintf(out->call, sizeof out->call, "%s", symbol_public(name));
}

unsigned profile_calls(struct profile_row *out, unsigned most, uint64_t *lost_)
{
    const struct sum *sums[CALLS];
    unsigned n = 0;

    for (struct call *c = calls; c < calls + CALLS; c++)
        if (c->sum.count)
            sums[n++] = &c->sum;
    qsort(sums, n, sizeof *sums, longest_first);
    *lost_ = lost;
    for (unsigned i = most; i < n; i++)
        *lost_ += sums[i]->count;
    n = n < most ? n : most;
    for (unsigned i = 0; i < n; i++)
        describe(list_entry(sums[i], struct call, sum), sums[i], &out[i]);
    return n;
}

unsigned profile_snapshot(struct profile_row *out, unsigned most, uint64_t *lost_)
{
    unsigned n = 0;

    *lost_ = get(&lost);
    for (struct call *c = calls; c < calls + CALLS; c++)
        if (get(&c->sum.count) && n < most)
            describe(c, &c->sum, &out[n++]);
        else
            *lost_ += get(&c->sum.count);
    return n;
}

unsigned profile_sites(struct profile_row *out, unsigned most)
{
    const struct sum *sums[SITES];
    const struct site *s;
    unsigned n = 0;

    for (struct site *at = sites; at < sites + SITES; at++)
        if (at->sum.count)
            sums[n++] = &at->sum;
    qsort(sums, n, sizeof *sums, longest_first);
    n = n < most ? n : most;
    for (unsigned i = 0; i < n; i++) {
        s = list_entry(sums[i], struct site, sum);
        describe(__atomic_load_n(&s->call, __ATOMIC_RELAXED), &s->sum, &out[i]);
        out[i].peers = PROFILE_NO_PE;       /* one row for all PEs */
        symbol_describe((const void *)(uintptr_t)s->at, out[i].site,
                        sizeof out[i].site, true);
    }
    return n;
}

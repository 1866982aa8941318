/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that kernels of the software device call through the table in their
 * state: they are C functions of this process, so they may sleep, step a
 * ring themselves, and end the job with a line.  Called by the inline functions
 * of shmemx_dev*.h alone. */
#include "base/clock.h"
#include "core/core_spin.h"
#include "gtl/gtl_item.h"
#include "kernel/kernel_int.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 64 };

static void item_of(unsigned *item, unsigned *group, unsigned *items)
{
    const struct shmemx_item *i = gtl_item;

    *item = i ? i->item : 0;
    *group = i ? i->group : 0;
    *items = i ? i->items : 1;
}

/* The values that the calls of a phase have returned to the first item of a
 * scope, in their order, for the items that run after it: each value once with
 * how often it came in a row, as a loop over a test calls without bound.  An
 * item begins when another one has called before. */
enum { SHARED_VALUES = 64 };
struct shared {
    unsigned run, phase, item;  /* run: gtl_item_groups */
    struct shared_calls {
        unsigned at;            /* of the item: in values[] */
        uint64_t seen;          /* of the item: of times[at] */
        uint64_t value[SHARED_VALUES], times[SHARED_VALUES];
    } of[3];
};

/* With SHMEM_CHECK=1: operations that the first items of warps and blocks have
 * made ready in this phase, for the last items, after which the others have
 * run.  Further ones are not checked. */
enum { READY_MOST = 64 };
struct ready {
    unsigned run, phase, n;
    struct {
        const void *source, *trig;
        int tag;
        unsigned scope;
        uint64_t sum;
    } is[READY_MOST];
};

/* State of a thread that runs kernels, between their calls.  It is allocated: a
 * library that dlopen() loads has little thread-local memory. */
struct own {
    struct shared shared;
    struct ready ready;
    struct core_waiter waiter;  /* of the calls that wait for a vector */
};

static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    int rc = pthread_key_create(&own_key, free);

    if (rc)
        core_fatal(ERR_LIMIT, "shmemx_dev", "no key of thread-local memory: %s",
                   strerror(rc));
}

static struct own *own(void)
{
    struct own *o;

    pthread_once(&own_once, make_key);
    o = pthread_getspecific(own_key);
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o || pthread_setspecific(own_key, o))
        core_fatal(ERR_LIMIT, "shmemx_dev", "no memory for a thread that runs "
                   "kernels");
    return o;
}

/* The next run of equal values. */
static void share_next(struct shared_calls *c)
{
    if (++c->at == SHARED_VALUES)
        core_fatal(ERR_ARG, "shmemx_dev", "in a phase of a kernel the calls of "
                   "a warp or block returned another value %d times: divide "
                   "the phase", SHARED_VALUES);
    c->seen = 0;
}

static shmemi_u64 share(int first, unsigned scope, shmemi_u64 value)
{
    const struct shmemx_item *i = gtl_item;
    struct shared_calls *c;
    struct shared *s;

    if (!i || i->items == 1)
        return value;
    s = &own()->shared;
    if (s->run != gtl_item_groups || s->phase != i->phase || s->item != i->item) {
        s->run = gtl_item_groups;
        s->phase = i->phase;
        s->item = i->item;
        for (c = s->of; c < s->of + 3; c++)
            c->at = c->seen = 0;
    }
    c = &s->of[scope];
    if (first ? c->seen && c->value[c->at] != value
              : c->seen == c->times[c->at])
        share_next(c);
    c->seen++;
    if (first) {
        c->value[c->at] = value;
        c->times[c->at] = c->seen;
    }
    return c->value[c->at];
}

uint64_t (*kernel_sources_sum)(void *trig, int tag, uint64_t n);

uint64_t kernel_sum(uint64_t sum, const void *p, size_t len)
{
    const unsigned char *at = p;

    for (size_t i = 0; i < len; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static int is_late(const void *source, shmemi_u64 bytes, void *trig, int tag,
                   unsigned scope)
{
    const struct shmemx_item *i = gtl_item;
    unsigned size = scope == SHMEMI_DEV_WARP ? SHMEMI_DEV_WARP_SIZE : UINT_MAX;
    bool first, last;
    struct ready *r;
    uint64_t sum;

    if (!i || i->items == 1)
        return 0;
    first = i->item % size == 0;
    last = i->item + 1 == i->items || (i->item + 1) % size == 0;
    if (first == last || (!source && !kernel_sources_sum))
        return 0;
    sum = source ? kernel_sum(0, source, bytes)
                 : kernel_sources_sum(trig, tag, bytes);
    r = &own()->ready;
    if (r->run != gtl_item_groups || r->phase != i->phase)
        *r = (struct ready){ .run = gtl_item_groups, .phase = i->phase };
    for (unsigned k = r->n; last && k--; )
        if (r->is[k].source == source && r->is[k].trig == trig &&
            r->is[k].tag == tag && r->is[k].scope == scope)
            return r->is[k].sum != sum;
    if (first && r->n < READY_MOST) {
        r->is[r->n].source = source;
        r->is[r->n].trig = trig;
        r->is[r->n].tag = tag;
        r->is[r->n].scope = scope;
        r->is[r->n++].sum = sum;
    }
    return 0;
}

static void wake(shmemi_u64 ctl)
{
    core_wake_sleepers((struct core_ctl *)ctl);
}

/* The progress thread keeps away for a while. */
static void tend(struct kernel_ring *r)
{
    __atomic_store_n(&r->tended_ns, clock_ns(), __ATOMIC_RELAXED);
}

/* A request is in the ring: its thread issues it, as a call of the host would.
 * The rest, and requests made while another thread holds the ring, are the
 * progress thread's, and so is the completion, unless a kernel waits for it. */
static void kick(void *ring)
{
    struct kernel_ring *r = ring;
    bool busy = false, more = true, done = false;

    if (kernel_ring_trylock(r)) {
        kernel_ring_step(r, !xport_net, &busy);
        more = kernel_ring_has_more(r);
        done = r->done == r->at;
        kernel_ring_unlock(r);
    }
    if (done && !more)
        return;
    tend(r);
    if (more)
        kernel_progress_wake();
    else
        kernel_progress_wake_soon();
}

/* The thread that waits for the ring steps it itself, as a blocking call of the
 * host would. */
static void step(void *ring, unsigned turn)
{
    struct kernel_ring *r = ring;
    bool busy = true, any = false;

    if (kernel_ring_trylock(r)) {
        busy = false;
        any = kernel_ring_step(r, true, &busy);
        kernel_ring_unlock(r);
    }
    tend(r);
    if (any || (busy && xport_net && xport_progress->poll()))
        return;
    if (turn < SPINS && !core_status.oversubscribed)
        atomics_pause();
    else
        core_spin_yield();
}

struct kernel_names kernel_names;

static bool name_trigger(const void *word, char *text, size_t size)
{
    return kernel_names.trigger && kernel_names.trigger(word, text, size);
}

static bool name_partition(const void *word, char *text, size_t size)
{
    return kernel_names.partition && kernel_names.partition(word, text, size);
}

/* The object of the wait, in place of the groups of the grid. */
static void name_wait(struct core_waiter *w, unsigned call)
{
    if (call != SHMEMI_DEV_CALL_TRIG_WAIT && call != SHMEMI_DEV_CALL_PARRIVED)
        return;
    w->info.named = w->addr;
    w->info.name = call == SHMEMI_DEV_CALL_TRIG_WAIT ? name_trigger
                                                     : name_partition;
}

static shmemi_u64 wait_word(const void *word, const shmemi_dev_for *f)
{
    struct core_waiter w = {
        .addr = word, .bytes = f->size,
        .info = { .call = kernel_call_name(f->call), .what = CORE_FOR_VALUE,
                  .cmp = f->cmp, .is_signed = f->is_signed, .value = f->value,
                  .raiser = f->raiser, .named = gtl_item ? gtl_item_grid : NULL,
                  .name = gtl_item_describe_grid }
    };
    bool sleeps = false;
    shmemi_u64 is;

    name_wait(&w, f->call);
    while (!shmemi_dev_test_seen(word, f->size, f->is_signed, f->cmp, f->value,
                                 &is)) {
        if (!kernel_progress_step())
            core_wait_step(&w);
        if (unlikely(w.announced && !sleeps)) {
            sleeps = true;
            kernel_watch_sleeps(&w);
        }
    }
    if (sleeps)
        kernel_watch_awake(&w);
    core_wait_over(&w);
    return is;
}

/* The values of a vector are not read here: other threads may change them. */
static void wait_set(const shmemi_dev_set *s, unsigned turn)
{
    struct core_waiter *w = &own()->waiter;

    if (!s) {
        core_wait_over(w);
        return;
    }
    if (!turn)
        *w = (struct core_waiter){
            .addr = s->ivars, .bytes = s->n * s->size,
            .info = { .call = kernel_call_name(SHMEMI_DEV_CALL_WAIT),
                      .what = CORE_FOR_SET, .cmp = s->cmp,
                      .is_signed = s->is_signed, .value = s->n,
                      .alike = !s->values, .each = s->value,
                      .named = gtl_item ? gtl_item_grid : NULL,
                      .name = gtl_item_describe_grid }
        };
    core_wait_step(w);
}

/* A kernel's hit of a trigger, without a request. */
static void hit(void *trig, int tag, shmemi_u64 n)
{
    const struct kernel_hit h = {
        .call = kernel_call_name(SHMEMI_DEV_CALL_TRIGGER), .trig = trig,
        .tag = tag, .n = n, .copied = !n
    };

    bool (*take)(const struct kernel_hit *h) = kernel_hit;

    if (take)
        take(&h);
    else if (!h.copied)         /* a copied one needs nothing more */
        kernel_hit_refuse_freed(&h);
}

static void refuse(const char *call, const char *why)
{
    core_fatal(ERR_STATE, call, "%s", why);
}

const struct shmemi_dev_host kernel_host = {
    .item = item_of, .share = share, .wake = wake, .kick = kick, .step = step,
    .wait = wait_word, .wait_set = wait_set, .hit = hit,
    .refuse = refuse, .is_late = is_late
};

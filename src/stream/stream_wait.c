/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that wait for words of this PE.
 *
 * That a 64-bit word reaches a value is a wait of the device's own.  Every
 * other condition is looked at by a thread: by the stream's own on the
 * software device, which is woken like any waiter, and by the agent where the
 * device is a GPU.  The software device's thread looks first in any case where
 * PEs are far: the network is seen to by those who wait. */
#include "base/clock.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/lock.h"
#include "core/core_cmp.h"
#include "core/core_device.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_stats.h"
#include "stream/stream_watch.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Atomic.  Who watches counts itself before it looks whether it may. */
static bool closing;
static unsigned watching;
static uint64_t turns;          /* of such waits */

static struct core_wait_set set_of(const struct stream_wait *c)
{
    return (struct core_wait_set){
        .ivars = c->ivars, .n = c->n, .status = c->status, .cmp = c->cmp,
        .values = c->values ? c->values : &c->value,
        .each_value = c->values != NULL, .elem_size = (int)c->size,
        .is_signed = c->is_signed
    };
}

/* Results may be the device's memory. */
static void give(void *to, const void *from, size_t n)
{
    if (to)
        core_copy(to, from, n);
}

static bool some_over(const struct stream_wait *c,
                      const struct core_wait_set *s)
{
    size_t *found = malloc(c->n * sizeof *found), n;
    bool empty;

    if (!found)
        return false;           /* until there is memory */
    n = core_wait_set_some(s, found, &empty);
    if (n)
        give(c->indices, found, n * sizeof *found);
    if (n || empty)
        give(c->count, &n, sizeof n);
    free(found);
    return n || empty;
}

static bool set_over(const struct stream_wait *c, const struct core_wait_set *s)
{
    bool empty;
    size_t i;

    if (c->how == STREAM_ALL)
        return core_wait_set_all(s);
    if (c->how == STREAM_SOME)
        return some_over(c, s);
    i = core_wait_set_any(s, &empty);
    if (i != SIZE_MAX || empty)
        give(c->index, &i, sizeof i);
    return i != SIZE_MAX || empty;
}

bool stream_wait_satisfied(const struct stream_wait *c)
{
    struct core_wait_set s = set_of(c);
    bool over;

    core_wait_set_begin("shmemx_wait_until_on_stream", &s);
    over = set_over(c, &s);
    core_wait_set_end(&s);
    if (over)
        give(c->seen, c->ivars, sizeof *c->seen);
    return over;
}

/* ---- on the software device ---- */

/* So long a stream waits as the program's threads do, which let what comes from
 * far come in, before its device waits. */
#define BRIEF_NS ((uint64_t)1000000)
/* And so long it does what the progress thread would, SPIN_NS without giving
 * its processor away. */
#define LEFT_NS ((uint64_t)200000)
#define SPIN_NS ((uint64_t)2000)

struct software {
    struct list_link link;      /* of those that no stream has come past */
    const char *call;
    void *stream;
    struct stream_wait wait;
    size_t n;                   /* of words that are waited for briefly */
    struct gtl_flag words[];
};

static struct base_lock lock = LOCK_INIT;
static struct list_link ahead GUARDED_BY(lock) = LIST_INIT(ahead);

static void drop(struct software *s)
{
    lock_acquire(&lock);
    list_remove(&s->link);
    lock_release(&lock);
    free(s);
}

struct core_waiter stream_wait_describe(const char *call,
                                        const struct stream_wait *c)
{
    struct core_wait_set set = set_of(c);
    struct core_waiter w = core_wait_set_waiter(call, &set);

    if (c->n == 1 && !c->values) {
        w.what = CORE_FOR_VALUE;
        w.bytes = c->size;
        w.is_signed = c->is_signed;
        w.value = c->value;
        w.foreign = core_device_only(c->ivars);
    }
    return w;
}

/* False: we close before it is over. */
static bool watch_until_over(const struct software *s)
{
    struct stream_thread_wait own = {
        .turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED),
        .stream = s->stream,
        .pe = s->wait.whose - 1,
        .what = stream_wait_describe(s->call, &s->wait)
    };
    struct core_waiter w = own.what;
    bool over = stream_wait_satisfied(&s->wait);

    if (over)
        return true;
    w.silent = true;
    stream_watch_begin(&own);
    while (!(over = stream_wait_satisfied(&s->wait)) &&
           !__atomic_load_n(&closing, __ATOMIC_RELAXED))
        core_wait_step(&w);
    core_wait_end(&w);
    stream_watch_end(&own);
    return over;
}

static bool is_there(const struct gtl_flag *w)
{
    return __atomic_load_n(w->word, __ATOMIC_ACQUIRE) >= w->value;
}

static bool all_there(const struct software *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!is_there(&s->words[i]))
            return false;
    return true;
}

static bool may_go_on(uint64_t ns)
{
    return (ns < LEFT_NS || fault_hit(FAULT_STREAM_AGENT) ||
            fault_hit(FAULT_STREAM_LEFT)) &&
           !__atomic_load_n(&closing, __ATOMIC_RELAXED);
}

/* What the start before has left under way is this thread's for a while: to
 * wake the progress thread costs more than what there is to do. */
static void advance_left(const struct software *s)
{
    uint64_t start = clock_ns(), ns = 0;

    while (stream_ring_has_deferred() && !all_there(s) && may_go_on(ns)) {
        if (stream_ring_progress_deferred() || xport_net->progress())
            continue;
        ns = clock_ns() - start;
        if (ns > SPIN_NS || core_status.oversubscribed)
            sched_yield();
        else
            atomics_pause();
    }
}

/* False: we close.  The device's waits follow. */
static bool watch_briefly(const struct software *s)
{
    uint64_t until = clock_ns() + BRIEF_NS;
    bool closes = false;

    for (size_t i = 0; i < s->n && !closes; i++) {
        struct core_waiter w = CORE_WAIT_VALUE(s->call, s->words[i].word,
                                               uint64_t, SHMEM_CMP_GE,
                                               s->words[i].value);

        w.silent = true;
        while (!is_there(&s->words[i]) && clock_ns() <= until && !closes) {
            core_wait_step(&w);
            closes = __atomic_load_n(&closing, __ATOMIC_RELAXED);
        }
        core_wait_end(&w);
    }
    return !closes;
}

static void watch(void *arg)
{
    struct software *s = arg;

    if (s->n && stream_ring_has_deferred())
        advance_left(s);
    if (stream_ring_has_deferred()) {
        stream_ring_defer(NULL);
        stream_progress_wake();
    }
    /* seq_cst, as in stream_wait_close: one of the two sees the other. */
    __atomic_fetch_add(&watching, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&closing, __ATOMIC_SEQ_CST) ||
        !(s->n ? watch_briefly(s) : watch_until_over(s)))
        gtl->cancel_rest();
    drop(s);
    /* release: stream_wait_close comes after all of this. */
    __atomic_fetch_sub(&watching, 1, __ATOMIC_RELEASE);
}

bool stream_wait_is_next(void)
{
    return gtl->calls_next(watch);
}

/* NULL, told: no memory. */
static struct software *software_new(const struct stream_where *w, size_t n)
{
    struct software *s = malloc(sizeof *s + n * sizeof *s->words);

    if (!s) {
        stream_no_memory(w->call);
        return NULL;
    }
    s->call = w->call;
    s->stream = w->stream;
    s->n = n;
    return s;
}

static int watch_in_stream(const struct stream_where *w, struct software *s)
{
    int rc;

    lock_acquire(&lock);
    list_append(&ahead, &s->link);
    lock_release(&lock);
    rc = stream_device_rc(w, gtl->host_call(watch, s, w->stream));
    if (rc)
        drop(s);
    return rc;
}

static int watch_set(const struct stream_where *w, const struct stream_wait *c)
{
    struct software *s = software_new(w, 0);

    if (!s)
        return -ENOMEM;
    s->wait = *c;
    return watch_in_stream(w, s);
}

int stream_wait_poll_first(const struct stream_where *w,
                           const struct gtl_flag *words, size_t n)
{
    struct software *s;

    if (!gtl_device.host_streams || !xport_net)
        return 0;
    s = software_new(w, n);
    if (!s)
        return -ENOMEM;
    memcpy(s->words, words, n * sizeof *words);
    return watch_in_stream(w, s);
}

static int watch_by_agent(const struct stream_where *w,
                          const struct stream_wait *c)
{
    struct stream_wait *mine = malloc(sizeof *mine);
    struct stream_op *op;
    int rc;

    if (!mine)
        return stream_no_memory(w->call);
    rc = stream_ring_begin_post(w, &op);
    if (rc) {
        free(mine);
        return rc;
    }
    *mine = *c;
    *op = (struct stream_op){
        .kind = STREAM_WAIT, .call = w->call, .queue = op->queue,
        .waits = true, .wait = mine
    };
    return stream_ring_post(w, op);
}

void stream_wait_open(void)
{
    __atomic_store_n(&closing, false, __ATOMIC_RELAXED);
}

/* They look again after 5 ms at most. */
void stream_wait_close(void)
{
    static const struct timespec while_ = { 0, 200000 };

    __atomic_store_n(&closing, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&watching, __ATOMIC_SEQ_CST))
        nanosleep(&while_, NULL);
}

void stream_wait_free_pending(void)
{
    lock_acquire(&lock);
    while (!list_empty(&ahead)) {
        struct software *s = list_entry(ahead.next, struct software, link);

        list_remove(&s->link);
        free(s);
    }
    lock_release(&lock);
}

/* ---- */

/* Is it the wait that devices have?  The number to wait for. */
static bool is_plain(const struct stream_wait *c, uint64_t *least)
{
    if (c->how != STREAM_ALL || c->size != 8 || c->is_signed || c->n != 1 ||
        c->status || c->values)
        return false;
    *least = c->cmp == SHMEM_CMP_GT ? c->value + 1 : c->value;
    return c->cmp == SHMEM_CMP_GE ||
           (c->cmp == SHMEM_CMP_GT && c->value != UINT64_MAX);
}

/* In memory in which a kernel may miss what others store, the thread looks.
 * The device heap can lie in host memory, too. */
static bool is_stale(const void *ivar)
{
    return gtl_device.stale_waits &&
    heap_device_host_access == gtl_device.host_access &&
           heap_find(ivar, 1) == HEAP_DEVICE;
}

static int wait_plain(const struct stream_where *w,
                      const struct stream_wait *c, uintptr_t word,
                      uint64_t least)
{
    const struct gtl_flag what = { (uint64_t *)word, least };
    int rc = stream_wait_poll_first(w, &what, 1);

    if (rc)
        return rc;
    rc = gtl->wait64((uint64_t *)word, least, w->stream);
    if (!rc) {
        stream_watch_add(w, c->ivars, (uint64_t *)word, least, c->whose - 1);
        stream_watch_enqueued(w->stream);
    }
    if (!rc && c->seen)
        rc = gtl->copy(c->seen, (void *)word, sizeof *c->seen, w->stream);
    return stream_device_rc(w, rc);
}

uintptr_t stream_wait_device_address(const struct stream_wait *c,
                                     uint64_t *least)
{
    uintptr_t word =
        c->n ? stream_device_address(core_world.my_pe, c->ivars, c->size) : 0;

    return word && is_plain(c, least) && stream_device_waits() &&
                   !is_stale(c->ivars) &&
                   (!c->seen || stream_device_reaches(c->seen, sizeof *c->seen))
               ? word
               : 0;
}

int stream_wait_check(const struct stream_where *w,
                      const struct stream_wait *c)
{
    size_t len;
    int at, rc;

    if (c->cmp < SHMEM_CMP_EQ || c->cmp > SHMEM_CMP_LE)
        return stream_refuse(ERR_ARG, w->call, "comparison %d is none of "
                             "SHMEM_CMP_EQ, NE, GT, GE, LT, LE", c->cmp);
    if (__builtin_mul_overflow(c->n, c->size, &len))
        return stream_refuse(ERR_SIZE, w->call, "%zu elements of %zu bytes "
                             "exceed the address space", c->n, c->size);
    rc = stream_need_aligned(w, c->ivars, c->size);
    if (!rc)
        rc = stream_need_symmetric(w, c->ivars, len, core_world.my_pe, &at);
    if (!rc && c->how == STREAM_SOME)
        rc = stream_need_local(w, c->indices, c->n * sizeof *c->indices);
    return rc;
}

static int refuse_in_graph(const struct stream_where *w)
{
    stream_refuse(ERR_STREAM, w->call, "the stream records a graph, in whose "
                  "second launch this wait would be over at once: "
                  "shmemx_signal_wait_reset_on_stream and "
                  "shmemx_epoch_wait_on_stream wait anew in each");
    return -ENOTSUP;
}

int stream_wait(const struct stream_where *w, const struct stream_wait *c)
{
    uintptr_t word;
    uint64_t least;
    int rc;

    rc = stream_wait_check(w, c);
    if (rc)
        return rc;
    if (unlikely(!stream_waits_allowed()))
        return stream_refuse_wait(w);
    if (unlikely(gtl->is_capturing(w->stream)))
        return refuse_in_graph(w);
    stream_count(STREAM_WAITS, 1);
    word = stream_wait_device_address(c, &least);
    if (word)
        return wait_plain(w, c, word, least);
    return gtl_device.host_streams ? watch_set(w, c) : watch_by_agent(w, c);
}

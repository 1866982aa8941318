/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hostfn.c - operations that the processor does in the order of a stream,
 * on a thread of the driver (cuLaunchHostFunc): atomics on words in host
 * memory, where the device's own would not be atomic for the processor, and
 * fills of memory that the device does not know. cuda_ops.c chooses them.
 * Such a function must not call the driver. Each launch of a graph calls it
 * again, so its argument belongs to the graph, or to the function itself where
 * no graph is captured. */
#include "gtl/cuda/cuda_int.h"
#include "base/lock.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Pinned words for old values on their way to device memory: one is taken
 * when the atomic is enqueued and free again after the copy. */
enum { SLOTS = 4096, SLOTS_SIZE = SLOTS * sizeof(uint64_t) };
static struct base_lock lock = LOCK_INIT;
static uint64_t *slots;
static uint16_t unused[SLOTS] GUARDED_BY(lock);
static int n_unused GUARDED_BY(lock);
static uint64_t opened;         /* atomic; odd: it is open */

int gtl_cu_host_open(void)
{
    void *p, *seen;
    int rc;

    p = mem_pages(SLOTS_SIZE);
    if (!p)
        return gtl_fail(-ENOMEM, "mmap", strerror(errno), errno);
    rc = gtl_cu_pin(p, SLOTS_SIZE, GTL_PIN_MEMORY, &seen);
    if (rc) {
        munmap(p, SLOTS_SIZE);
        return rc;
    }
    slots = p;
    lock_acquire(&lock);
    for (n_unused = 0; n_unused < SLOTS; n_unused++)
        unused[n_unused] = (uint16_t)n_unused;
    lock_release(&lock);
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELEASE);
    return 0;
}

void gtl_cu_host_close(void)
{
    uint64_t *was = slots;

    lock_acquire(&lock);
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELEASE);
    slots = NULL;
    lock_release(&lock);
    gtl_cu_unpin(was);
    munmap(was, SLOTS_SIZE);
}

static uint64_t *acquire_slot(void)
{
    uint64_t *slot = NULL;

    lock_acquire(&lock);
    if (n_unused)
        slot = &slots[unused[--n_unused]];
    lock_release(&lock);
    return slot;
}

static void push_slot(const uint64_t *slot) REQUIRES(lock)
{
    unused[n_unused++] = (uint16_t)(slot - slots);
}

static void release_slot(const uint64_t *slot)
{
    lock_acquire(&lock);
    push_slot(slot);
    lock_release(&lock);
}

/* What a stream releases may come when the library has closed and opened again:
 * the opening is a part of it. */
static void *slot_token(const uint64_t *slot)
{
    return (void *)(__atomic_load_n(&opened, __ATOMIC_RELAXED) << 16 |
                    (uint64_t)(slot - slots));
}

static void release_by_token(void *token)
{
    uint64_t t = (uint64_t)token;

    lock_acquire(&lock);
    if (t >> 16 == __atomic_load_n(&opened, __ATOMIC_RELAXED))
        unused[n_unused++] = (uint16_t)t;
    lock_release(&lock);
}

struct work {
    bool again;                 /* of a graph, which frees it */
    uint64_t opened;            /* by which opening */
    void *slot;                 /* of slots; NULL: none */
    union {
        struct gtl_amo amo;
        struct fill {
            void *to;
            int byte;
            size_t n;
        } fill;
    };
};

/* A graph may outlive the library, whose memory is then gone. */
static bool is_open(const struct work *w)
{
    return w->opened == __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
}

static void release_work(void *arg)
{
    struct work *w = arg;

    lock_acquire(&lock);
    if (w->slot && is_open(w))
        push_slot(w->slot);
    lock_release(&lock);
    free(w);
}

static void done(struct work *w)
{
    if (!w->again)
        free(w);
}

/* A copy of that, which the graph owns where one is recorded. */
static int new_work(const struct work *what, bool records, void *s,
                struct work **out)
{
    struct work *w = malloc(sizeof *w);
    int rc;

    if (!w)
        return gtl_fail(-ENOMEM, "malloc", strerror(ENOMEM), ENOMEM);
    *w = *what;
    w->again = records;
    w->opened = __atomic_load_n(&opened, __ATOMIC_RELAXED);
    if (!records)
        w->slot = NULL;
    rc = records ? gtl_cu_graph_own(s, release_work, w) : 0;
    if (rc)
        free(w);
    else
        *out = w;
    return rc;
}

/* The slot stays the caller's but in a graph. */
static int enqueue_work(void (*fn)(void *arg), const struct work *what,
                        bool records, void *s)
{
    struct work *w = NULL;
    int rc = new_work(what, records, s, &w);

    if (rc) {
        if (records && what->slot)
            release_slot(what->slot);
        return rc;
    }
    rc = gtl_cu_host_call(fn, w, s);
    if (rc && !records)
        free(w);
    return rc;
}

static void fill_now(void *arg)
{
    struct work *w = arg;

    if (is_open(w))
        memset(w->fill.to, w->fill.byte, w->fill.n);
    done(w);
}

int gtl_cu_host_fill(void *to, int byte, size_t n, void *s)
{
    const struct work w = { .fill = { to, byte, n } };

    return enqueue_work(fill_now, &w, gtl_cu_is_capturing(s), s);
}

static void amo_now(void *arg)
{
    struct work *w = arg;
    const struct gtl_amo *a = &w->amo;
    uint64_t was;
    uint32_t half;

    if (!is_open(w)) {
        done(w);
        return;
    }
    was = gtl_amo_apply(a);
    half = (uint32_t)was;
    lock_acquire(&lock);
    if (a->result && (!w->slot || is_open(w)))
        memcpy(a->result, a->size == 8 ? (void *)&was : (void *)&half,
               (size_t)a->size);
    lock_release(&lock);
    done(w);
}

/* The old value goes to device memory by way of a pinned word, which a graph
 * keeps. */
static int enqueue_by_slot(const struct gtl_amo *a, bool records, void *s)
{
    struct work w = { .amo = *a, .slot = acquire_slot() };
    int rc, copied;

    if (!w.slot)
        return gtl_fail(-EAGAIN, "amo", "too many results are on their way",
                        SLOTS);
    w.amo.result = w.slot;
    rc = enqueue_work(amo_now, &w, records, s);
    if (rc && !records)
        release_slot(w.slot);
    if (rc)
        return rc;
    copied = gtl_cu_copy(a->result, w.slot, (size_t)a->size, s);
    rc = records ? 0
                 : gtl_cu_host_call(release_by_token, slot_token(w.slot), s);
    return copied ? copied : rc;
}

int gtl_cu_host_amo(const struct gtl_amo *a, void *s)
{
    const struct work w = { .amo = *a };
    struct gtl_range r = { .kind = GTL_PINNED };
    bool records = gtl_cu_is_capturing(s);
    int rc = a->result ? gtl_cu_classify(a->result, &r) : 0;

    if (rc)
        return rc;
    return r.kind == GTL_DEVICE ? enqueue_by_slot(a, records, s)
                                : enqueue_work(amo_now, &w, records, s);
}

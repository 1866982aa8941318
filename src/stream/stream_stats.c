/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on streams, counted for SHMEM_STATS.
 *
 * Threads count what no ring knows in slots of their own, as far as there are
 * slots; rings have their own numbers, which are added here when they go. */
#include "stream/ring/stream_ring.h"
#include "base/env.h"
#include "base/lock.h"

#include <string.h>

/* Of this PE, from one initialisation to the finalisation. */
struct stats {
    uint64_t n[STREAM_COUNTS];
    /* Operations with rings, orders among them: enqueued, reached by their
     * streams, completed. */
    uint64_t posted, triggered, completed;
    uint64_t nic;               /* and with the NIC */
    uint64_t declined;          /* posted with a ring, for want of room there */
    uint64_t most_posted;       /* at a time, in one ring */
    uint64_t most_rings;
};

static struct stream_slot slots[STREAM_SLOTS];
static unsigned n_slots;        /* atomic: threads that have asked for one */
__thread struct stream_slot *stream_slot;
static struct base_lock lock = LOCK_INIT;
static struct stats gone GUARDED_BY(lock);
static uint64_t rings GUARDED_BY(lock);

struct stream_slot *stream_slot_take(void)
{
    unsigned i = __atomic_fetch_add(&n_slots, 1, __ATOMIC_RELAXED);

    stream_slot = &slots[i % STREAM_SLOTS];
    return stream_slot;
}

void stream_stats_count_depth(struct stream_ring *q, uint64_t seq)
{
    struct stream_ring_stats *s = &q->stats;

    if (likely(seq - s->completed <= s->max_depth))
        return;
    /* relaxed: a number for people. */
    s->completed = __atomic_load_n(&q->completed, __ATOMIC_RELAXED);
    if (seq - s->completed > s->max_depth)
        s->max_depth = seq - s->completed;
}

void stream_stats_ring_created(struct stream_ring *q)
{
    q->stats.first = q->posted;
    lock_acquire(&lock);
    if (++rings > gone.most_rings)
        gone.most_rings = rings;
    lock_release(&lock);
}

void stream_stats_ring_destroyed(const struct stream_ring *q)
{
    uint64_t trigger = __atomic_load_n(&q->counters->trigger, __ATOMIC_RELAXED);

    lock_acquire(&lock);
    rings--;
    gone.posted += q->posted - q->stats.first;
    /* The word lay there before the ring. */
    gone.triggered += trigger > q->stats.first ? trigger - q->stats.first : 0;
    gone.completed += q->completed - q->stats.first;
    gone.nic += q->nic.posted;
    gone.declined += q->nic.declined;
    if (q->stats.max_depth > gone.most_posted)
        gone.most_posted = q->stats.max_depth;
    lock_release(&lock);
}

static struct stats take(void)
{
    struct stats s;

    lock_acquire(&lock);
    s = gone;
    memset(&gone, 0, sizeof gone);
    rings = 0;
    lock_release(&lock);
    for (int i = 0; i < STREAM_SLOTS; i++)
        for (int k = 0; k < STREAM_COUNTS; k++)
            s.n[k] += slots[i].n[k];
    memset(slots, 0, sizeof slots);
    return s;
}

static bool any(const struct stats *s)
{
    bool is = s->posted || s->nic;

    for (int k = 0; k <= STREAM_RECORDED; k++)
        is |= s->n[k] != 0;
    return is || s->n[STREAM_PROTOCOLS + STREAM_PARTITIONED];
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_messages(const uint64_t sent[STREAM_SENT])
{
    uint64_t all = 0;

    for (int k = 0; k < STREAM_SENT; k++)
        all += sent[k];
    all -= sent[STREAM_PARTITIONED];
    if (sent[STREAM_PARTITIONED])
        log_print("messages: %lu partitioned",
                  (unsigned long)sent[STREAM_PARTITIONED]);
    if (!all)
        return;
    log_print("messages: %lu sent, %lu ready, %lu eager, %lu by peer "
              "copy, %lu triggered, %lu by rendezvous, %lu one-shot, %lu of "
              "collective requests",
              (unsigned long)all, (unsigned long)sent[0],
              (unsigned long)sent[1], (unsigned long)sent[2],
              (unsigned long)sent[3], (unsigned long)sent[4],
              (unsigned long)sent[STREAM_ONCE],
              (unsigned long)sent[STREAM_OF_COLL]);
}

void stream_stats_report(void)
{
    struct stats s = take();
    const uint64_t *n = s.n;
    struct xport_trig_counts nic = { 0 };

    if (!env.STATS.on || !any(&s))
        return;
    xport_trig->counts(&nic);
    log_print(
        "streams: %lu operation%s by the device, %lu posted, "
        "%lu triggered, %lu completed, %lu by the NIC, %lu declined, "
        "%lu failed; %lu start%s, %lu wait%s; at most %lu posted in a "
        "ring, %lu ring%s, %lu entr%s of the NIC",
        (unsigned long)n[STREAM_BY_DEVICE], plural(n[STREAM_BY_DEVICE]),
        (unsigned long)s.posted, (unsigned long)s.triggered,
        (unsigned long)s.completed, (unsigned long)s.nic,
        (unsigned long)s.declined,
        (unsigned long)n[STREAM_FAILED], (unsigned long)n[STREAM_STARTS],
        plural(n[STREAM_STARTS]), (unsigned long)n[STREAM_WAITS],
        plural(n[STREAM_WAITS]), (unsigned long)s.most_posted,
        (unsigned long)s.most_rings, plural(s.most_rings),
        (unsigned long)nic.most_entries, nic.most_entries == 1 ? "y" : "ies");
    print_messages(n + STREAM_PROTOCOLS);
    if (n[STREAM_RECORDED])
        log_print("graphs: %lu operation%s recorded for the progress thread, "
                  "which repeated %lu in launches",
                  (unsigned long)n[STREAM_RECORDED],
                  plural(n[STREAM_RECORDED]), (unsigned long)n[STREAM_REPEATS]);
}

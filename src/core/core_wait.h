/* SPDX-License-Identifier: BSD-3-Clause */
/* core_wait.h - waits for variables in this PE's memory, and their wake-ups.
 * Threads: any. */
#ifndef CORE_CORE_WAIT_H
#define CORE_CORE_WAIT_H

#include "base/membarrier.h"
#include "base/trace.h"
#include "core/core_ctl.h"
#include "xport/xport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*     struct core_waiter w = core_wait_begin(addr, bytes);
 *     while (!satisfied)
 *         core_wait_step(&w);
 *     core_wait_end(&w);
 * The step spins, then yields, then sleeps; the condition is read again after
 * each, and a writer that touches the bytes wakes the sleeper at once. */
enum core_wait_for { CORE_FOR_ALL, CORE_FOR_VALUE, CORE_FOR_SET, CORE_FOR_LOCK,
                     CORE_FOR_REMOTE, CORE_FOR_STREAM, CORE_FOR_QUEUE,
                     CORE_FOR_OUTSTANDING };

/* The object of a wait: read by the stall line and the hang report, never by
 * the wait itself.  Zeros: a wait for all members of a collective call. */
struct core_wait_info {
    const char *call;           /* NULL: xport_call of the thread */
    enum core_wait_for what;
    int cmp;                    /* of VALUE and SET */
    bool is_signed, alike;      /* alike: SET compares all with `each` */
    bool device_only;           /* the variable is in device-only memory */
    bool by_host;               /* QUEUE: the host has started it */
    bool silent;                /* another object reports this wait */
    uint64_t value, each;       /* to compare with; LOCK: the PE before; SET:
                                 * how many; STREAM, QUEUE: which stream */
    unsigned raiser;            /* the PE that is to raise it, or the partner
                                 * of the message, + 1; or 0 */
    const void *named;          /* of a QUEUE, for its name; of a VALUE or SET,
                                 * for what else there is to say; or NULL */
    bool (*name)(const void *named, char *text, size_t size);
    const char *said;           /* in the hang report: that name; or NULL */
};

struct core_waiter {
    const void *addr;
    size_t bytes;
    uint64_t awake_since_ns, wait_began_ns;
    uint64_t asleep_ns;         /* since when it has slept, now and then */
    unsigned steps;
    uint32_t seen;              /* wake_seq before the last check */
    unsigned checks;            /* after the quick spins, while it is awake */
    bool announced;             /* to writers: the range in the ctl block */
    bool noted;                 /* counted as a wait that lasts, and published
                                 * to the hang report */
    bool on_node;               /* only PEs of this node store there */
    bool fenced;                /* every writer has seen the announcement */
    bool timed_out;             /* its last sleep had no wake-up */
    uint64_t examined_ns;       /* core_stall.c's: the last search for the PE */
    uint64_t printed_ns;        /* and the last line about it */
    uint64_t named_ns;          /* since when the hang report has its name */
    struct core_wait_info info;
};

static inline struct core_waiter core_wait_begin(const void *addr,
                                                 size_t bytes)
{
    return (struct core_waiter){ .addr = addr, .bytes = bytes };
}
/* A wait until *p compares with v as cmp_ says. */
#define CORE_WAIT_VALUE(call_, p, T, cmp_, v)                               \
    (struct core_waiter){                                                   \
        .addr = p, .bytes = sizeof(T),                                      \
        .info = {                                                           \
            .call = call_, .what = CORE_FOR_VALUE, .cmp = cmp_,             \
            .is_signed = (T)-1 < (T)1, .value = (uint64_t)(v)               \
        }                                                                   \
    }
void core_wait_long(struct core_waiter *w);
/* Called by a thread again and again while its wait lasts longer than
 * diag_stall_ns; NULL: by none.  Set by core_stall.c. */
extern hidden void (*core_wait_stalled)(struct core_waiter *w, uint64_t now);
void core_wait_stop(struct core_waiter *w);
/* The time since the wait stopped to spin. */
uint64_t core_wait_ns(const struct core_waiter *w);

/* The number of steps at the start of a wait that only pause: 0 where PEs
 * share cores, or where off-node peers need this PE to make progress.  Atomic;
 * see core_spin.c. */
enum { CORE_QUICK_SPINS = 64 };
extern hidden unsigned core_wait_quick;

static inline void core_wait_step(struct core_waiter *w)
{
    if (likely(w->steps < __atomic_load_n(&core_wait_quick,
                                          __ATOMIC_RELAXED))) {
        w->steps++;
        atomics_pause();
    } else {
        core_wait_long(w);
    }
}

/* In a trace: a wait that was not quick is over. */
void core_trace_waited(const struct core_waiter *w) __attribute__((cold));

static inline void core_wait_end(struct core_waiter *w)
{
    if (trace_is_on() && w->wait_began_ns)
        core_trace_waited(w);
    if (unlikely(w->noted))
        core_wait_stop(w);
}

/* Ends a wait that saw its value: stores that came before that value are
 * visible to the device, too. */
static inline void core_wait_over(struct core_waiter *w)
{
    core_wait_end(w);
    xport_flush();
}

/* The counts of this PE's waits since the last call, for SHMEM_STATS. */
struct core_wait_counts {
    uint64_t checks, yields;    /* after the quick spins */
    uint64_t sleeps, fenced;    /* of which writers were fenced before */
    uint64_t late;              /* waits whose store came, without a wake-up */
};
struct core_wait_counts core_wait_counts_take(void);
/* A line for SHMEM_STATS. */
void core_wait_print_counts(void);

void core_wake_sleepers(struct core_ctl *ctl) __attribute__((cold, noinline));

/* After a store of len bytes at s: does a sleeper wait for them?  The
 * processor may read the range before its store is visible: the sleeper fences
 * for both, see core_wait.c. */
force_inline bool core_wakes(struct core_target s, size_t len)
{
    int64_t at = (int64_t)(s.addr - (uintptr_t)s.ctl);

    membarrier_light();
    return unlikely(at < __atomic_load_n(&s.ctl->wait_to, __ATOMIC_RELAXED) &&
                    at + (int64_t)len >
                        __atomic_load_n(&s.ctl->wait_from, __ATOMIC_RELAXED));
}

force_inline void core_wake(struct core_target s, size_t len)
{
    if (core_wakes(s, len))
        core_wake_sleepers(s.ctl);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_int.h - rings of requests, and memory that kernels share with the
 * host, for the files of this layer. */
#ifndef KERNEL_KERNEL_INT_H
#define KERNEL_KERNEL_INT_H

#include "base/list.h"
#include "kernel/kernel.h"
#include "kernel/kernel_memory.h"
#include "progress/progress.h"
#include "stream/exec/stream_exec.h"

/* A ring of requests.  Its holder takes the requests in the order of their
 * positions: `at` is the next one.  A request is issued without waiting; all that
 * have been issued are complete when the endpoint context is idle, and then
 * `done` follows `at`.  After BATCH requests nothing is issued until then, so
 * that a kernel's wait for its own request ends however many others come. */
struct kernel_ring {
    struct list_link link;      /* of all rings, under their lock */
    bool held;                  /* atomic: the lock of what follows */
    struct stream_exec_ctx exec;
    struct stream_op op;        /* the request under way */
    uint64_t at, done;          /* done: written by the holder, read by all */
    uint64_t tended_ns;         /* atomic: when a kernel's thread last stepped
                                 * it, and left something under way */
    /* The watchdog's: since when `done` has been that, with requests behind
     * it; 0: there are none. */
    uint64_t watched, watched_ns, reported_ns;
    uint64_t mask;
    /* Pinned; see shmemx_dev.h. */
    shmemi_dev_request *requests;
    shmemi_dev_result *results;
    shmemi_dev_progress *progress;
    uint64_t *results_of;       /* the position + 1 whose result a place has */
};

/* ---- kernel_ring.c ---- */
/* 0 or -errno, logged.  on_device gets what kernels need. */
int kernel_ring_open(const char *call, struct kernel_ring **out,
                     shmemi_dev_ring *on_device);
/* Its requests are complete or dropped. */
void kernel_ring_close(struct kernel_ring *r);
/* Waits until what kernels have requested is complete. */
void kernel_ring_drain(struct kernel_ring *r, const char *call);
static inline bool kernel_ring_trylock(struct kernel_ring *r)
{
    return !__atomic_load_n(&r->held, __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&r->held, true, __ATOMIC_ACQUIRE);
}
static inline void kernel_ring_unlock(struct kernel_ring *r)
{
    __atomic_store_n(&r->held, false, __ATOMIC_RELEASE);
}
/* Some steps, by the holder: did anything advance?  *busy: something is under
 * way.  completes: a thread waits for `done`, for which the network asks peers
 * for acknowledgements. */
bool kernel_ring_step(struct kernel_ring *r, bool completes, bool *busy);
/* Has a request come that is not issued? */
bool kernel_ring_has_more(const struct kernel_ring *r);

/* ---- kernel_request.c ---- */
/* The operation of a request, checked: misuse ends the job with a line. */
void kernel_request_read(const shmemi_dev_request *q,
                         shmemi_dev_result *result, struct stream_op *out);
/* A hit of a trigger, which comes before the request is read; false: not now. */
bool kernel_request_hits(const shmemi_dev_request *q);
/* The family of the call, as the program writes it. */
const char *kernel_call_name(unsigned call);

/* ---- kernel_progress.c ---- */
int kernel_progress_open(void);
void kernel_progress_close(void);
/* The ring is stepped from here on, or no longer. */
void kernel_progress_add(struct kernel_ring *r);
void kernel_progress_remove(struct kernel_ring *r);
void kernel_progress_wake(void);
/* The same for what no thread waits for: the thread comes soon. */
void kernel_progress_wake_soon(void);
/* Steps of all rings that are free, by a kernel's thread that waits for a word:
 * did anything advance? */
bool kernel_progress_step(void);
/* Calls visit for each ring, under the lock of the list. */
void kernel_progress_each(void (*visit)(struct kernel_ring *r, void *arg),
                          void *arg);

/* ---- kernel_host.c ---- */
extern hidden const struct shmemi_dev_host kernel_host;

/* ---- kernel_module.c ---- */
/* The state of the default context has changed; or it is none any more. */
void kernel_copies_fill(const shmemx_dev_t *of_default);
void kernel_copies_clear(void);
/* The device is none of a vendor: a line names code that is for one. */
void kernel_copies_refuse(void);

/* ---- kernel_watch.c ---- */
/* records: of waits of a GPU's kernels. */
void kernel_watch_open(const shmemi_dev_record *records);
void kernel_watch_close(void);
/* A kernel of the software device sleeps, and no longer: for the hang report. */
void kernel_watch_sleeps(const struct core_waiter *w);
void kernel_watch_awake(const struct core_waiter *w);

#endif

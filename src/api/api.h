/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - how the public calls are defined.
 * Each is a strong pshmem_X; API_ALIAS makes the weak shmem_X that a
 * profiling tool may define instead.  Nothing inside calls shmem_X. */
#ifndef API_API_H
#define API_API_H

#include "coll/coll.h"
#include "core/core.h"
#include "core/core_activity.h"
#include "core/core_trace.h"
#include "pshmem.h"
#include "shmemg.h"
#include "shmemx.h"

#define API_ALIAS(f) \
    extern __typeof(p##f) f __attribute__((weak, alias("p" #f)));

#define API_CTX(ctx) core_ctx_of(ctx, __func__)
#define API_DEFAULT (&core_ctx_default)

/* Enters a collective call.  With SHMEM_CHECK, the members of team t compare
 * their arguments: the rest are the members of struct coll_args. */
#define API_COLL_ENTER(t, code_, call_, ...)                                \
    do {                                                                    \
        core_activity_enter(call_, t);                                      \
        if (unlikely(core_status.checks))                                   \
            coll_check_args(t, &(struct coll_args){                         \
                .code = code_, .call = call_, __VA_ARGS__ });               \
    } while (0)

/* ---- api_heap.c ---- */
/* Counts allocation calls from here on. */
void api_heap_open(void);
struct api_request {
    struct heap_space *space;   /* NULL: an invalid one */
    size_t size, align;
    long hints;
    bool clear;
};
/* Collective; NULL where there is no room, which is reported once per caller.
 */
void *api_allocate(const char *call, const struct api_request *r,
                   const void *caller);
/* space NULL: that of ptr. */
void *api_reallocate(const char *call, struct heap_space *space, void *ptr,
                     size_t size, const void *caller);
/* With SHMEM_CHECK: ends the job if a block was overrun. */
void api_heap_check_guards(const char *call);
/* Collective: makes the network reach those bytes of a new block, too.  False:
 * not on all PEs. */
bool api_heap_cover(const char *call, const void *p, size_t size);
/* PE 0 reports it once per caller; how: a further wish, or "". */
void api_heap_report_full(const char *call, const struct heap_space *space,
                          size_t size, const char *how, const void *caller);
/* Is the alignment valid?  A line says why not.  An alignment below a pointer's
 * is raised to that. */
bool api_alignment_ok(const char *call, size_t *alignment);

/* ---- api_mpi.c ---- */
/* PE 0 warns, once, where MPI has started and has fewer ranks than PEs.  Free
 * once that is known; until then it looks for symbols, at most 1000 times. */
void api_mpi_check(void);

/* ---- api_statistics.c ---- */
/* Collective, in shmem_finalize: PE 0 prints or writes which calls the PEs made,
 * with SHMEM_STATS. */
void api_statistics_of_calls(void);

/* ---- api_space.c: where shmem_malloc allocates ---- */
extern hidden struct heap_space *api_default_space;
void api_space_open(void);

/* ---- api_kernel.c: communication of kernels ---- */
/* Opens it, unless it is open.  Local.  0; -errno, logged: there is no device,
 * or no memory. */
int api_kernel_open(const char *call);
/* A team or context of kernels has been made: kernels know it from now on.  A
 * job without a device gets it, too, for the host's calls. */
void api_kernel_team_made(const char *call, const struct core_team *t);
int api_kernel_ctx_made(const char *call, shmem_ctx_t ctx);

/* ---- api_device.c: the device heap ---- */
int api_device_open(void);      /* at start: reserves its shared memory */
/* Does the environment allow the host's space? */
bool api_space_cpu(void);
/* Opens what the environment requests from the start; the same on all PEs. */
int api_device_start(void);
/* May a device heap exist, if a call needs it? */
bool api_device_possible(void);
/* If the environment rules the heap out, PE 0 warns, once. */
void api_device_report_disabled(const char *call);
/* Is there a device?  Opens it to know. */
bool api_device_known(void);
/* May calls take private memory of the device?  Opens the device to know. */
bool api_device_aware(void);
/* Collective over the world: the least value of any PE. */
uint64_t api_min(uint64_t mine);
/* Collective over the world: opens the device heap, unless it is open.  0, or
 * -errno on all PEs alike, logged by the PEs that have the reason. */
int api_device_require(void);
/* Collective over the world: adds memory for those bytes to a device heap that
 * grows.  False on all PEs alike: it cannot. */
bool api_device_cover(const void *p, size_t size);
/* A text for users: how the open heap takes its memory. */
const char *api_device_growth(void);
/* See sm_device_heap_limit_text(). */
enum { API_LIMIT_TEXT = 96 };
#define API_DEVICE_HEAP_DEFAULT ((size_t)512 << 20)
const char *api_device_limit_text(size_t size, char buf[API_LIMIT_TEXT]);
/* The program's wish for the heap's memory; it counts before the heap opens. */
void api_device_hint(int grain);
/* The largest number of PEs on one device of this node, as far as they have
 * published it; gtl_device.pes is the number on this PE's.  0: none is open. */
int api_device_users(void);
/* A text for users: the features that PEs that share a device lack. */
enum { API_SHARED_TEXT = 160 };
const char *api_device_shared(char *buf, int users);
/* Called before and after the last synchronisation of all PEs. */
void api_device_leave(void);
void api_device_close(void);

#endif

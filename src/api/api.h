/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - how the public calls are defined.
 * Each is a strong pshmem_X; API_ALIAS makes the weak shmem_X that a
 * profiling tool may define instead.  Nothing inside calls shmem_X. */
#ifndef API_API_H
#define API_API_H

#include "coll/coll.h"
#include "core/core.h"
#include "core/core_activity.h"
#include "pshmem.h"
#include "shmemg.h"
#include "shmemx.h"

#define API_ALIAS(f) \
    extern __typeof(p##f) f __attribute__((weak, alias("p" #f)));

#define API_CTX(ctx) core_ctx_of(ctx, __func__)
#define API_DEFAULT (&core_ctx_default)

/* This PE comes to a collective call.  With SHMEM_CHECK, the members of team t
 * compare what they pass: the rest are the members of struct coll_args. */
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
/* Collective; NULL where there is no room, told once per caller. */
void *api_allocate(const char *call, const struct api_request *r,
                   const void *caller);
/* space NULL: that of ptr. */
void *api_reallocate(const char *call, struct heap_space *space, void *ptr,
                     size_t size, const void *caller);
/* With SHMEM_CHECK: were blocks overrun?  Then the job ends with a line. */
void api_heap_check_guards(const char *call);
/* The network reaches those bytes of a new block, too; collective.  False: not
 * on all PEs. */
bool api_heap_cover(const char *call, const void *p, size_t size);
/* PE 0 says it once per caller; how: what else was asked for, or "". */
void api_heap_report_full(const char *call, const struct heap_space *space,
                          size_t size, const char *how, const void *caller);
/* Is that an alignment to ask for?  A line says why not.  One that is less
 * than a pointer's is raised to that. */
bool api_alignment_ok(const char *call, size_t *alignment);

/* ---- api_space.c: where shmem_malloc allocates ---- */
extern hidden struct heap_space *api_default_space;
void api_space_open(void);

/* ---- api_device.c: the device heap ---- */
int api_device_open(void);      /* at start: room for its words */
/* Is the host's space to be had by name? */
bool api_space_cpu(void);
/* What the environment wants from the start; the same. */
int api_device_start(void);
/* May there be one, if somebody needs it? */
bool api_device_possible(void);
/* If the environment rules it out, PE 0 says so, once. */
void api_device_report_disabled(const char *call);
/* Is there a device?  Opens it to know. */
bool api_device_known(void);
/* May private memory of the device be passed?  The same. */
bool api_device_aware(void);
/* Collective over the world: the least that any PE says. */
uint64_t api_min(uint64_t mine);
/* Collective over the world: makes it, unless it is there.  0, or -errno on
 * all PEs alike, logged by those that have the reason. */
int api_device_require(void);
/* Collective over the world: memory for those bytes of it, where it grows.
 * False on all PEs alike. */
bool api_device_cover(const void *p, size_t size);
/* How the heap, which is there, takes its memory, for people. */
const char *api_device_growth(void);
/* See sm_device_heap_limit_text(). */
enum { API_LIMIT_TEXT = 96 };
#define API_DEVICE_HEAP_DEFAULT ((size_t)512 << 20)
const char *api_device_limit_text(size_t size, char buf[API_LIMIT_TEXT]);
/* What the program would have the heap lie in, if that is made after this. */
void api_device_hint(int grain);
/* Before and after the last meeting of all PEs. */
/* The most PEs that one device of this node has, as far as they have told
 * each other; gtl_device.pes are those of this PE's.  0: none is open. */
int api_device_users(void);
/* What several have to do without. */
enum { API_SHARED_TEXT = 160 };
const char *api_device_shared(char *buf, int users);
void api_device_leave(void);
void api_device_close(void);

#endif

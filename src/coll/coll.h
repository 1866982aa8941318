/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - operations that all PEs of a team make together. A team makes one
 * at a time; the program orders its threads' calls.  In each collective every
 * member waits, directly or not, for every other, so no member is ever two
 * collectives ahead of another.  Buffers are symmetric addresses, the same on
 * all members; dest may be written by any member as soon as that one has
 * entered, source is read between a member's entry and its return. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "base/log.h"
#include "core/core_team.h"

#include <stddef.h>
#include <stdint.h>

/* coll_open() takes the algorithms from the environment, before the first
 * synchronisation; coll_check_choices(), after it, ends the job unless all PEs
 * took the same ones. */
void coll_open(void);
void coll_check_choices(void);

/* ---- coll_sync.c ---- */

/* Every member arrives before any leaves; a member's stores before it are
 * visible to all afterwards. */
void coll_sync(struct core_team *t);
/* A synchronisation of the world after a quiet of the default context. */
void coll_barrier_world(void);
/* The last barrier of this PE.  At exit without a finalize it reports the PEs
 * that are missing if the wait takes long. */
void coll_barrier_last(bool at_exit);

/* ---- coll_team.c: collective over parent ---- */

/* Members of the new team get it, others NULL.  0, or a negative errno on all
 * members of parent alike. */
int coll_team_split(struct core_team *parent, int start, int stride, int size,
                    struct core_team **out);
/* Makes teams of runs of xrange members, and of columns through the runs. */
int coll_team_split_2d(struct core_team *parent, int xrange,
                       struct core_team **x, struct core_team **y);
/* Collective over t itself. */
void coll_team_destroy(struct core_team *t);

/* ---- coll_active_set.c ---- */

/* The team of world PEs start + i * 2^log_stride: made at the first call of
 * its members, kept until the end.  NULL without memory. */
struct core_team *coll_active_set(int start, int log_stride, int size);
/* Called at the end of the library. */
void coll_active_set_close(void);

/* ---- coll_check.c ---- */

/* The values that every member must pass alike to one call. */
enum { COLL_VALUES = 5 };
struct coll_args {
    enum err_code code;
    const char *call;           /* __func__ of the API function */
    /* NULL: may differ; begins with @: the value is from core_position().
     */
    const char *label[COLL_VALUES];
    uint64_t value[COLL_VALUES];
    const char *also;           /* another call that goes with it, or NULL */
};
/* A synchronisation of t that ends the job if a member makes another call, or
 * passes another value; the line names the odd member.  A member whose call
 * compares nothing, but synchronises, is found as well. */
void coll_check_args(struct core_team *t, const struct coll_args *a);
/* Member pe's value k, until the next coll_check_args of t. */
uint64_t coll_checked_value(const struct core_team *t, int pe, int k);

/* ---- coll_team.c ---- */

/* A synchronisation of t: the first member with another value, and its value;
 * -1: all have the same. */
int coll_differs(struct core_team *t, uint64_t mine, uint64_t *theirs);
/* A synchronisation of t: have all members that have a value the same one? */
bool coll_alike(struct core_team *t, bool has, uint64_t word);

/* ---- coll_move.c: sizes in bytes ---- */

/* dest is written on every member, or on all but the root. */
void coll_broadcast(struct core_team *t, void *dest, const void *source,
                    size_t bytes, int root, bool root_too);
/* Blocks in the order of members; bytes may differ between them.  check is
 * called with the bytes of all blocks before anything moves. */
void coll_collect(struct core_team *t, void *dest, const void *source,
                  size_t bytes, void (*check)(const void *arg, size_t all),
                  const void *arg);
/* Collects equal blocks. */
void coll_fcollect(struct core_team *t, void *dest, const void *source,
                   size_t bytes);
/* Block i of member j becomes block j of member i. */
void coll_alltoall(struct core_team *t, void *dest, const void *source,
                   size_t bytes);
/* n elements of size bytes to each, dst and sst elements apart. */
void coll_alltoalls(struct core_team *t, void *dest, const void *source,
                    ptrdiff_t dst, ptrdiff_t sst, size_t n, size_t size);

/* ---- coll_reduce.c, coll_scan.c, coll_ops.c: n elements ---- */

/* out = a op b by elements; out may be a or b. */
typedef void coll_op(void *out, const void *a, const void *b, size_t n);

/* Operations and types of reductions. */
enum coll_ops { COLL_AND, COLL_OR, COLL_XOR, COLL_MAX, COLL_MIN, COLL_SUM,
                COLL_PROD, COLL_OPS };
enum coll_type { COLL_I8, COLL_I16, COLL_I32, COLL_I64, COLL_U8, COLL_U16,
                 COLL_U32, COLL_U64, COLL_FLOAT, COLL_DOUBLE,
                 COLL_LONGDOUBLE, COLL_COMPLEXF, COLL_COMPLEXD, COLL_TYPES };
/* Integer sums and products wrap around. */
extern coll_op *const coll_ops[COLL_OPS][COLL_TYPES];

/* dest == source is allowed.  Every member gets the same bits. */
void coll_reduce(struct core_team *t, void *dest, const void *source, size_t n,
                 size_t size, coll_op *op);
/* Combines the members before this one, with this one where inclusive; zeros
 * for none. */
void coll_scan(struct core_team *t, void *dest, const void *source, size_t n,
               size_t size, coll_op *op, bool inclusive);

#endif

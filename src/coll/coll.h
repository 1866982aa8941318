/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - operations that all PEs of a team make together.
 * At most one at a time in a team; the program orders its threads' calls.
 * In each of them every member hears of every other, so no member is ever two
 * collectives ahead of another.  Buffers are symmetric addresses, the same on
 * all members; dest may be written by any member as soon as that one has
 * entered, source is read between a member's entry and its return. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "base/log.h"
#include "core/core_team.h"

#include <stddef.h>
#include <stdint.h>

/* Takes the choices of the environment, before the first synchronisation;
 * settle, after it, makes sure that all PEs made the same ones. */
void coll_open(void);
void coll_check_choices(void);

/* ---- coll_sync.c ---- */

/* Every member arrives before any leaves; what a member stored before is
 * visible to all afterwards. */
void coll_sync(struct core_team *t);
/* Of the world, with the quiet of the default context before. */
void coll_barrier_world(void);
/* The same, after which this PE makes no other call.  At exit without a
 * finalize it says whom it waits for if that takes long. */
void coll_barrier_last(bool at_exit);

/* ---- coll_team.c: collective over parent ---- */

/* Members of the new team get it, others NULL.  0, or a negative errno on all
 * members of parent alike. */
int coll_team_split(struct core_team *parent, int start, int stride, int size,
                    struct core_team **out);
/* Runs of xrange members, and columns through the runs. */
int coll_team_split_2d(struct core_team *parent, int xrange,
                       struct core_team **x, struct core_team **y);
/* Collective over t itself. */
void coll_team_destroy(struct core_team *t);

/* ---- coll_active_set.c ---- */

/* The team of world PEs start + i * 2^log_stride: made at the first call of
 * its members, kept until the end.  NULL without memory. */
struct core_team *coll_active_set(int start, int log_stride, int size);
/* At the end of the library. */
void coll_active_set_close(void);

/* ---- coll_check.c ---- */

/* What every member must pass alike to one call. */
enum { COLL_VALUES = 5 };
struct coll_args {
    enum err_code code;
    const char *call;           /* __func__ of the API function */
    /* NULL: may differ; begins with @: the value is from coll_symmetric_id().
     */
    const char *label[COLL_VALUES];
    uint64_t value[COLL_VALUES];
    const char *also;           /* another call that goes with it, or NULL */
};
/* A synchronisation of t that ends the job if a member makes another call, or
 * passes something else; the line names the odd one.  So it is for a member
 * whose call compares nothing, if that synchronises, too. */
void coll_check_args(struct core_team *t, const struct coll_args *a);
/* Value k of that member, until the next coll_check_args of t. */
uint64_t coll_checked_value(const struct core_team *t, int pe, int k);
/* Where a symmetric address lies, the same number on all PEs. */
uint64_t coll_symmetric_id(const void *sym);

/* ---- coll_team.c ---- */

/* A synchronisation of t: the first member that has not the same word, and its
 * word; -1: all have. */
int coll_differs(struct core_team *t, uint64_t mine, uint64_t *theirs);
/* A synchronisation of t: have all members that have a word the same one? */
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
/* The same with equal blocks. */
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
/* Of the members before, with this one where inclusive; zeros for none. */
void coll_scan(struct core_team *t, void *dest, const void *source, size_t n,
               size_t size, coll_op *op, bool inclusive);

#endif

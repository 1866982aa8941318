/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_device.h - reductions of memory that the processor must not touch. */
#ifndef COLL_COLL_DEVICE_H
#define COLL_COLL_DEVICE_H

#include "coll/coll_int.h"

/* Elements [at, at + n) of the sources of members, combined in the order
 * first, first + 1 ... modulo count, into this one's dest: the only one of
 * them that may lie there is the first.  From there they go to all members in
 * `to`.  Members are those in who, or all of the team. */
struct coll_part {
    const struct core_team *t;
    const int *who;
    int first, count, to;
    char *dest;
    const char *source;
    size_t at, n, size;
    coll_op *op;
};
void coll_device_combine(const struct coll_part *p) __attribute__((cold));
/* Is that for the device?  The same on all members. */
bool coll_device_takes(const void *dest, const void *source, size_t bytes,
                       size_t size, coll_op *op) __attribute__((cold));

#endif

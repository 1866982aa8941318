/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_batch.h - operations that a stream does as one batch, the copy between
 * two streams, and the names of reductions. */
#ifndef GTL_GTL_BATCH_H
#define GTL_GTL_BATCH_H

#include "base/atomics.h"

#include <stddef.h>
#include <stdint.h>

/* Where the device can: it waits for all words as by wait64(), and then puts:
 * each copies as by copy(), and stores a word as by write64(), which comes
 * after the copies of those before it, too. */
struct gtl_flag {
    uint64_t *word, value;
};
struct gtl_put {
    void *to;
    const void *from;
    size_t n;                   /* 0: no copy */
    struct gtl_flag flag;       /* word NULL: no store */
};
struct gtl_batch {
    const struct gtl_flag *waits;
    const struct gtl_put *puts;
    size_t n_waits, n_puts;
};

/* One iteration of two streams, often of two PEs, that each have one of two
 * buffers: the second one to arrive copies.  Words are 8 bytes, aligned; the
 * device reaches all, atomically with the other one as by amo(). */
struct gtl_peer_copy {
    uint64_t *arrivals;         /* a counter: two in each iteration, from 0 */
    uint64_t *arrival;          /* this stream's own, used until it is over */
    void *to;
    const void *from;
    size_t n;
    uint64_t *flags[2];         /* get the iteration, from 1, after the copy */
    /* The software device calls it then, to wake sleepers; or NULL. */
    void (*wake)(void *arg), *arg;
};

/* One by one, where the driver has no call for several. */
int gtl_batch_one_by_one(const struct gtl_batch *t, void *s);

/* Of reductions and their types, by number: "SUM", "INT64". */
extern hidden const char *const gtl_op_names[], *const gtl_type_names[];

#endif

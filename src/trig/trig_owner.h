/* SPDX-License-Identifier: BSD-3-Clause */
/* trig_owner.h - triggers of the layers above, which may hold operations back,
 * count those that have completed, and submit some of their own. */
#ifndef TRIG_TRIG_OWNER_H
#define TRIG_TRIG_OWNER_H

#include "stream/exec/stream_exec.h"
#include "trig/trig.h"

struct trig;

/* An operation of the host's executor.  It waits for hits; once released it is
 * linked by `after` in the trigger's list of such operations, then in that of
 * those under way; then it has completed, until its tag is armed again. */
struct trig_op {
    struct stream_op op;
    uint64_t threshold;
    int tag;
    bool released;
    struct trig_op *next;       /* of the tag, by threshold */
    struct trig_op *after;
};

/* All are called with the trigger's lock.  NULL: it wants to know nothing. */
struct trig_owner {
    /* May the operations of the iteration begin that have had their hits?
     * Iterations are counted from 1, those that repeat. */
    bool (*may_begin)(void *arg, uint64_t iteration);
    /* tag: of the operation. */
    void (*completed)(void *arg, int tag);
    /* Or NULL: looks for what no hit announces, and submits operations.  Did
     * anything advance?  *busy: more may come soon. */
    bool (*step)(void *arg, bool *busy);
    void *arg;
    /* Released operations are long, and for the progress thread: the thread
     * that hits has other work. */
    bool overlaps;
    bool no_nic;                /* its tags are not for the NIC */
};
int trig_create_owned(const char *call, int tags, const struct trig_owner *owner,
                      struct shmemx_trig **out);
/* For the owner's step and completed: begins an operation of the owner's, which
 * waits for no hits; op->tag is not less than the number of tags. */
void trig_submit(struct trig *t, struct trig_op *op);
/* The same: words that this PE's kernels, streams and threads wait for have been
 * stored. */
void trig_notify(void);
/* The trigger, for trig_submit().  It is not looked up in each step. */
struct trig *trig_of(struct shmemx_trig *trig);
/* So many more threads step it while they wait, and are woken by what arrives:
 * the progress thread leaves it to them. */
void trig_attend(struct trig *t, int threads);
/* The progress thread looks at all triggers soon; at this one only if by then no
 * thread attends to it. */
void trig_wake(void);
void trig_wake_delayed(struct trig *t);

#endif

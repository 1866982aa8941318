/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev_trig.h - the calls of kernels for triggers: a part of
 * shmemx_trig.h, which says what a trigger is. */
#ifndef SHMEMX_DEV_TRIG_H
#define SHMEMX_DEV_TRIG_H

#include "shmemx_dev.h"

/* An operation that the kernel does itself whose hit reaches the limit, with
 * SHMEMX_TRIG_COPY; in pinned memory.  The host stores a limit where there is
 * none; then it is the kernels'. */
#define SHMEMI_DEV_TRIG_NEVER (~(shmemi_u64)0)
#define SHMEMI_DEV_TRIG_BUSY (~(shmemi_u64)1)
struct shmemi_dev_trig_copy {
    shmemi_u64 limit;           /* of hits; NEVER; BUSY: it is being done */
    shmemi_u64 decided;         /* hits that have done it, or know that not */
    shmemi_u64 period;          /* the next limit is so much further; 0: NEVER */
    shmemi_u64 bytes, signal;
    void *dest;
    const void *source;
    shmemi_u64 *signal_addr;    /* NULL: no signal */
    int signal_op, pe, gets;
};

/* A trigger, for kernels: at most 256 bytes, copied at will, valid until
 * shmemx_trig_free().  Kernels only read it. */
typedef struct shmemx_trig_dev {
    shmemx_dev_t dev;
    shmemi_u64 *hits;           /* [n_tags], in pinned memory */
    const shmemi_u64 *done;
    /* NULL, or [n_tags]: the NIC's, or 0; where one thread hits a tag, and once */
    const shmemi_u64 *doorbells;
    void *trig;                 /* the handle */
    struct shmemi_dev_trig_copy *copies;        /* NULL, or [n_tags] */
    unsigned n_tags;
    int direct;                 /* the device adds to hits itself */
} shmemx_trig_dev_t;

#if defined(SHMEMI_DEV_CUDA)
#define SHMEMX_TRIG_ARG(name) const __grid_constant__ shmemx_trig_dev_t name
#else
#define SHMEMX_TRIG_ARG(name) const shmemx_trig_dev_t name
#endif

/* By a request: where the device's atomics do not do, with a tag that is none,
 * or with arguments. */
SHMEMI_DEV_SLOW void shmemi_dev_trig_request(const shmemx_trig_dev_t *t,
                                             int tag, shmemi_u32 n,
                                             void *dest, const void *source,
                                             shmemi_u64 len, int pe,
                                             enum shmemi_dev_hit how,
                                             enum shmemi_dev_call call)
{
    shmemi_dev_push(&t->dev, SHMEMI_DEV_HEAD(SHMEMI_DEV_HIT, how, call, 0),
                    pe, dest, source, len, (shmemi_u64)(shmemi_u32)tag << 32 | n,
                    (shmemi_u64)t->trig, 0);
}

/* By one thread: what it and, behind a barrier, others have stored comes before
 * the hit. */
SHMEMI_DEV void shmemi_dev_trig_hit(const shmemx_trig_dev_t *t, int tag,
                                    shmemi_u32 n)
{
#ifdef SHMEMI_DEV_C
    if (t->dev.magic != SHMEMI_DEV_MAGIC)
        shmemi_dev_no_state(&t->dev, SHMEMI_DEV_CALL_TRIGGER);
    t->dev.host->hit(t->trig, tag, n);
#else
    shmemi_u64 doorbell;

    if (t->dev.magic == SHMEMI_DEV_MAGIC && (shmemi_u32)tag < t->n_tags) {
        doorbell = t->doorbells && n ? shmemi_dev_load_64(t->doorbells + tag) : 0;
        if (doorbell) {         /* the NIC adds what is stored */
            shmemi_dev_fence();
            shmemi_dev_store_64((shmemi_u64 *)doorbell, n);
            return;
        }
        if (t->direct) {
            shmemi_dev_fence();
            shmemi_dev_add_64(t->hits + tag, n);
            return;
        }
    }
    shmemi_dev_trig_request(t, tag, n, 0, 0, 0, 0, SHMEMI_DEV_HIT_PLAIN,
                            SHMEMI_DEV_CALL_TRIGGER);
#endif
}

/* ---- by the kernel that hits ---- */

/* By one thread: hits, and takes the operation if this is the hit that it waits
 * for.  The limit that it had, or 0. */
SHMEMI_DEV shmemi_u64 shmemi_dev_trig_take(const shmemx_trig_dev_t *t, int tag,
                                           shmemi_u64 n)
{
    struct shmemi_dev_trig_copy *c = t->copies + tag;
    shmemi_u64 limit, was;

    shmemi_dev_fence();
    was = shmemi_dev_add_64(t->hits + tag, n);
    shmemi_dev_fence_full();    /* before it looks for the limit */
    limit = shmemi_dev_acquire_64(&c->limit);
    if (limit >= SHMEMI_DEV_TRIG_BUSY || was >= limit || was + n < limit ||
        shmemi_dev_cas_64(&c->limit, limit, SHMEMI_DEV_TRIG_BUSY) != limit)
        return 0;
    shmemi_dev_fence();
    return limit;
}

/* By the same thread, when it has been done: the limit of the next one, if the
 * hits for it have come, or 0. */
SHMEMI_DEV shmemi_u64 shmemi_dev_trig_end(const shmemx_trig_dev_t *t, int tag,
                                          shmemi_u64 limit)
{
    struct shmemi_dev_trig_copy *c = t->copies + tag;
    shmemi_u64 again = c->period ? limit + c->period : SHMEMI_DEV_TRIG_NEVER;

    if (c->signal_addr)
        shmemi_dev_signal(&t->dev, c->signal_addr, c->signal, c->signal_op,
                          c->pe);
    shmemi_dev_fence();
    shmemi_dev_store_64(&c->limit, again);
    shmemi_dev_fence_full();    /* before it looks for hits */
    shmemi_dev_add_64((shmemi_u64 *)t->done + tag, 1);
    if (again == SHMEMI_DEV_TRIG_NEVER ||
        shmemi_dev_acquire_64(t->hits + tag) < again ||
        shmemi_dev_cas_64(&c->limit, again, SHMEMI_DEV_TRIG_BUSY) != again)
        return 0;
    return again;
}

SHMEMI_DEV void shmemi_dev_trig_copy_by(const shmemx_trig_dev_t *t, int tag,
                                        shmemi_u64 n,
                                        enum shmemi_dev_scope scope)
{
    struct shmemi_dev_trig_copy *c = t->copies + tag;
    int leads = shmemi_dev_rank(scope) == 0;
    shmemi_u64 limit = leads ? shmemi_dev_trig_take(t, tag, n) : 0;

    for (;;) {
#ifndef SHMEMI_DEV_C            /* whose first item does all of it */
        limit = shmemi_dev_share(&t->dev, scope, 1, limit);
#endif
        if (!limit)
            break;
        if (c->gets)
            shmemi_dev_get(&t->dev, c->dest, c->source, c->bytes, c->pe, scope,
                           0);
        else if (c->bytes)
            shmemi_dev_put(&t->dev, c->dest, c->source, c->bytes, c->pe, scope,
                           0);
        shmemi_dev_settle(scope);
        if (leads)
            limit = shmemi_dev_trig_end(t, tag, limit);
    }
    if (!leads)
        return;
    shmemi_dev_fence();
    shmemi_dev_add_64(&c->decided, n);
#ifdef SHMEMI_DEV_C             /* threads and streams may sleep until done */
    t->dev.host->hit(t->trig, tag, 0);
#endif
}

SHMEMI_DEV void shmemi_dev_trig_hit_by(const shmemx_trig_dev_t *t, int tag,
                                       shmemi_u64 n,
                                       enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    if (scope != SHMEMI_DEV_THREAD && t->dev.magic == SHMEMI_DEV_MAGIC &&
        t->dev.flags & SHMEMI_DEV_CHECK_ITEMS &&
        t->dev.host->is_late(0, n, t->trig, tag, (unsigned)scope))
        shmemi_dev_trig_request(t, tag, (shmemi_u32)n, 0, 0, 0, 0,
                                SHMEMI_DEV_HIT_LATE, SHMEMI_DEV_CALL_TRIGGER);
#endif
    if (!shmemi_dev_takes_part(&t->dev, scope))
        return;
    shmemi_dev_fence_own();
    shmemi_dev_barrier(scope);
    if (t->copies && t->dev.magic == SHMEMI_DEV_MAGIC &&
        (shmemi_u32)tag < t->n_tags)
        shmemi_dev_trig_copy_by(t, tag, (shmemi_u32)n, scope);
    else if (shmemi_dev_rank(scope) == 0)
        shmemi_dev_trig_hit(t, tag, (shmemi_u32)n);
}

/* n hits of the tag, n below 2^32.  What the thread, or with _warp and _block
 * each thread of the warp or block, has stored is visible to the operations
 * that the hit releases.  All threads of the warp or block make the call, and
 * one of them hits. */
SHMEMI_DEV void shmemx_dev_trigger(const shmemx_trig_dev_t *t, int tag,
                                   shmemi_u64 n)
{
    shmemi_dev_trig_hit_by(t, tag, n, SHMEMI_DEV_THREAD);
}
SHMEMI_DEV void shmemx_dev_trigger_warp(const shmemx_trig_dev_t *t, int tag,
                                        shmemi_u64 n)
{
    shmemi_dev_trig_hit_by(t, tag, n, SHMEMI_DEV_WARP);
}
SHMEMI_DEV void shmemx_dev_trigger_block(const shmemx_trig_dev_t *t, int tag,
                                         shmemi_u64 n)
{
    shmemi_dev_trig_hit_by(t, tag, n, SHMEMI_DEV_BLOCK);
}

/* The same with arguments for the one put or get of the tag, in place of those
 * that were posted: bytes from source to dest, of that PE of the trigger's
 * context.  The hit waits in the ring of requests until the operation has
 * completed that an earlier one has released. */
SHMEMI_DEV void shmemx_dev_trigger_op(const shmemx_trig_dev_t *t, int tag,
                                      shmemi_u64 n, void *dest,
                                      const void *source, shmemi_u64 bytes,
                                      int pe)
{
    shmemi_dev_trig_request(t, tag, (shmemi_u32)n, dest, source, bytes, pe,
                            SHMEMI_DEV_HIT_REPLACES,
                            SHMEMI_DEV_CALL_TRIGGER_OP);
}

/* Does the trigger have that tag?  If not, the host ends the job. */
SHMEMI_DEV int shmemi_dev_trig_has(const shmemx_trig_dev_t *t, int tag,
                                   enum shmemi_dev_call call)
{
    if (SHMEMI_DEV_LIKELY(t->dev.magic == SHMEMI_DEV_MAGIC &&
                          (shmemi_u32)tag < t->n_tags))
        return 1;
    shmemi_dev_trig_request(t, tag, 0, 0, 0, 0, 0, SHMEMI_DEV_HIT_PLAIN, call);
    return 0;
}

/* How many operations of the tag have completed since the trigger was created:
 * what they have stored is visible, and their sources may be written. */
SHMEMI_DEV shmemi_u64 shmemx_dev_trig_test(const shmemx_trig_dev_t *t, int tag)
{
    return shmemi_dev_trig_has(t, tag, SHMEMI_DEV_CALL_TRIG_TEST)
               ? shmemi_dev_acquire_64(t->done + tag) : 0;
}

SHMEMI_DEV void shmemi_dev_trig_wait_by(const shmemx_trig_dev_t *t, int tag,
                                        shmemi_u64 n,
                                        enum shmemi_dev_scope scope)
{
    shmemi_dev_for f;

    if (!shmemi_dev_trig_has(t, tag, SHMEMI_DEV_CALL_TRIG_WAIT))
        return;
    f.size = 8;
    f.is_signed = 0;
    f.cmp = SHMEM_CMP_GE;
    f.value = n;
    f.call = SHMEMI_DEV_CALL_TRIG_WAIT;
    f.raiser = 0;
    shmemi_dev_wait_for(&t->dev, t->done + tag, f, scope);
}

/* Until n of them have completed. */
SHMEMI_DEV void shmemx_dev_trig_wait(const shmemx_trig_dev_t *t, int tag,
                                     shmemi_u64 n)
{
    shmemi_dev_trig_wait_by(t, tag, n, SHMEMI_DEV_THREAD);
}
SHMEMI_DEV void shmemx_dev_trig_wait_warp(const shmemx_trig_dev_t *t, int tag,
                                          shmemi_u64 n)
{
    shmemi_dev_trig_wait_by(t, tag, n, SHMEMI_DEV_WARP);
}
SHMEMI_DEV void shmemx_dev_trig_wait_block(const shmemx_trig_dev_t *t, int tag,
                                           shmemi_u64 n)
{
    shmemi_dev_trig_wait_by(t, tag, n, SHMEMI_DEV_BLOCK);
}

#endif

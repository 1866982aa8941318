/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev_part.h - the calls of kernels for partitioned messages: a part of
 * shmemx_part.h, which says what these are. */
#ifndef SHMEMX_DEV_PART_H
#define SHMEMX_DEV_PART_H

#include "shmemx_dev_trig.h"

/* A request, for kernels: copied at will, valid until shmemx_prequest_free().
 * Kernels only read it. */
typedef struct shmemx_prequest {
    shmemx_trig_dev_t trig;     /* a tag for each transport partition */
    void *req;                  /* the handle */
    /* As the device reaches them.  epoch: the iteration that was started; started:
     * the one that the receiver has started; copied: so many are copies. */
    shmemi_u64 *epoch, *arrived, *started, *sent, *copied;
    /* Symmetric addresses: what copies store to. */
    char *dest;
    const char *source;
    shmemi_u64 *peer_arrived, *own_sent;
    /* The device's memory.  mode: epoch << 1 | copies; calls: by partition;
     * together: ready ones, by transport partition; all: transport partitions
     * that are copied; ready: the last epoch, by partition, or NULL. */
    shmemi_u64 *mode, *all, *together, *calls, *ready;
    shmemi_u64 bytes;           /* of a partition */
    shmemi_u32 n, per, n_calls; /* partitions; of a transport partition */
    int pe, sends, receives, copies; /* pe: the other end, or -1 */
} shmemx_prequest_t;

#if defined(SHMEMI_DEV_CUDA)
#define SHMEMX_PREQUEST_ARG(name) const __grid_constant__ shmemx_prequest_t name
#else
#define SHMEMX_PREQUEST_ARG(name) const shmemx_prequest_t name
#endif

/* The host ends the job. */
SHMEMI_DEV_SLOW void shmemi_dev_part_refuse(const shmemx_prequest_t *p,
                                            int part, int sends,
                                            enum shmemi_dev_hit why)
{
    shmemi_u32 n = why == SHMEMI_DEV_HIT_OTHER_WAY ? (shmemi_u32)sends : p->n;

    shmemi_dev_trig_request(&p->trig, part, n, 0, 0, 0, 0, why,
                            sends ? SHMEMI_DEV_CALL_PREADY
                                  : SHMEMI_DEV_CALL_PARRIVED);
}

SHMEMI_DEV int shmemi_dev_part_has(const shmemx_prequest_t *p, int part,
                                   int sends)
{
    if (SHMEMI_DEV_LIKELY(p->trig.dev.magic == SHMEMI_DEV_MAGIC &&
                          (shmemi_u32)part < p->n &&
                          (sends ? p->sends : p->receives)))
        return 1;
    shmemi_dev_part_refuse(p, part, sends,
                           p->trig.dev.magic == SHMEMI_DEV_MAGIC &&
                                   !(sends ? p->sends : p->receives)
                               ? SHMEMI_DEV_HIT_OTHER_WAY
                               : SHMEMI_DEV_HIT_NO_PART);
    return 0;
}

/* Nothing, a hit, or a copy is to follow. */
enum shmemi_dev_part_mode {
    SHMEMI_DEV_PART_WAITS, SHMEMI_DEV_PART_HITS, SHMEMI_DEV_PART_COPIES
};

/* The first one of an iteration decides for all. */
SHMEMI_DEV enum shmemi_dev_part_mode
shmemi_dev_part_copies(const shmemx_prequest_t *p)
{
    shmemi_u64 epoch = shmemi_dev_acquire_64(p->epoch), then;
    shmemi_u64 mode = shmemi_dev_load_64(p->mode), was;

    while (mode >> 1 != epoch) {
        then = epoch << 1 | (shmemi_dev_acquire_64(p->started) >= epoch);
        was = shmemi_dev_cas_64(p->mode, mode, then);
        mode = was == mode ? then : was;
    }
    return mode & 1 ? SHMEMI_DEV_PART_COPIES : SHMEMI_DEV_PART_HITS;
}

/* Of the software device and with SHMEM_CHECK=1. */
SHMEMI_DEV void shmemi_dev_part_check(const shmemx_prequest_t *p, int part)
{
    shmemi_u64 epoch = shmemi_dev_acquire_64(p->epoch);

    if (shmemi_dev_acquire_64(p->sent) >= epoch)
        shmemi_dev_part_refuse(p, part, 1, SHMEMI_DEV_HIT_NOT_STARTED);
    else if (shmemi_dev_load_64(p->ready + part) == epoch)
        shmemi_dev_part_refuse(p, part, 1, SHMEMI_DEV_HIT_TWICE);
    shmemi_dev_store_64(p->ready + part, epoch);
}

/* By one thread, behind the barrier of its scope. */
SHMEMI_DEV enum shmemi_dev_part_mode
shmemi_dev_part_begin(const shmemx_prequest_t *p, int part)
{
    if (p->n_calls > 1) {
        shmemi_dev_fence();
        if ((shmemi_dev_add_64(p->calls + part, 1) + 1) % p->n_calls)
            return SHMEMI_DEV_PART_WAITS;
        shmemi_dev_fence();
    }
    if (p->ready)
        shmemi_dev_part_check(p, part);
    return p->copies ? shmemi_dev_part_copies(p) : SHMEMI_DEV_PART_HITS;
}

/* By the same thread: the last one of a transport partition notifies. */
SHMEMI_DEV void shmemi_dev_part_end(const shmemx_prequest_t *p, int part,
                                    enum shmemi_dev_part_mode mode)
{
    const shmemx_dev_t *d = &p->trig.dev;
    shmemi_u32 at = (shmemi_u32)part / p->per;
    shmemi_u64 epoch;

    if (p->per > 1) {
        shmemi_dev_fence();
        if ((shmemi_dev_add_64(p->together + at, 1) + 1) % p->per)
            return;
        shmemi_dev_fence();
    }
    if (mode == SHMEMI_DEV_PART_HITS) {
        shmemi_dev_trig_hit(&p->trig, (int)at, p->per);
        return;
    }
    epoch = shmemi_dev_load_64(p->epoch);
    shmemi_dev_signal(d, p->peer_arrived + at, epoch, SHMEM_SIGNAL_SET, p->pe);
    shmemi_dev_fence();
    if ((shmemi_dev_add_64(p->all, 1) + 1) % (p->n / p->per))
        return;
    shmemi_dev_fence();
    shmemi_dev_store_64(p->copied, shmemi_dev_load_64(p->copied) + 1);
    shmemi_dev_signal(d, p->own_sent, epoch, SHMEM_SIGNAL_SET, d->my_pe);
}

SHMEMI_DEV void shmemi_dev_pready_by(const shmemx_prequest_t *p, int part,
                                     enum shmemi_dev_scope scope)
{
    enum shmemi_dev_part_mode mode = SHMEMI_DEV_PART_WAITS;
    int leads = shmemi_dev_rank(scope) == 0;

#ifdef SHMEMI_DEV_C
    if (scope != SHMEMI_DEV_THREAD && p->trig.dev.magic == SHMEMI_DEV_MAGIC &&
        p->trig.dev.flags & SHMEMI_DEV_CHECK_ITEMS && p->sends &&
        p->n_calls == 1 && (shmemi_u32)part < p->n &&
        p->trig.dev.host->is_late(p->source + (shmemi_u64)part * p->bytes,
                                  p->bytes, 0, part, (unsigned)scope))
        shmemi_dev_part_refuse(p, part, 1, SHMEMI_DEV_HIT_LATE);
#endif
    if (!shmemi_dev_takes_part(&p->trig.dev, scope))
        return;
    shmemi_dev_fence_own();
    shmemi_dev_barrier(scope);
    if (!SHMEMI_DEV_LIKELY(p->trig.dev.magic == SHMEMI_DEV_MAGIC &&
                           (shmemi_u32)part < p->n && p->sends)) {
        if (leads)
            shmemi_dev_part_has(p, part, 1);
        return;
    }
    if (leads)
        mode = shmemi_dev_part_begin(p, part);
    if (p->copies) {
#ifndef SHMEMI_DEV_C            /* whose first item does all of it */
        mode = (enum shmemi_dev_part_mode)shmemi_dev_share(&p->trig.dev, scope,
                                                         1, mode);
#endif
        if (mode == SHMEMI_DEV_PART_COPIES) {
            shmemi_dev_put(&p->trig.dev, p->dest + (shmemi_u64)part * p->bytes,
                           p->source + (shmemi_u64)part * p->bytes, p->bytes,
                           p->pe, scope, 0);
            shmemi_dev_settle(scope);
        }
    }
    if (leads && mode != SHMEMI_DEV_PART_WAITS)
        shmemi_dev_part_end(p, part, mode);
}

/* The partition of a send is ready: what the thread, or with _warp and _block
 * each thread of the warp or block, has stored there travels.  All threads of
 * the warp or block make the call.  It waits for no other PE. */
SHMEMI_DEV void shmemx_dev_pready(const shmemx_prequest_t *p, int partition)
{
    shmemi_dev_pready_by(p, partition, SHMEMI_DEV_THREAD);
}
SHMEMI_DEV void shmemx_dev_pready_warp(const shmemx_prequest_t *p,
                                       int partition)
{
    shmemi_dev_pready_by(p, partition, SHMEMI_DEV_WARP);
}
SHMEMI_DEV void shmemx_dev_pready_block(const shmemx_prequest_t *p,
                                        int partition)
{
    shmemi_dev_pready_by(p, partition, SHMEMI_DEV_BLOCK);
}

/* Has that partition of a receive arrived, in the iteration that was started
 * last?  Then it is visible to this thread. */
SHMEMI_DEV int shmemx_dev_parrived(const shmemx_prequest_t *p, int partition)
{
    shmemi_u64 epoch;

    if (!shmemi_dev_part_has(p, partition, 0))
        return 0;
    epoch = shmemi_dev_load_64(p->epoch);
    return epoch && shmemi_dev_acquire_64(
                        p->arrived + (shmemi_u32)partition / p->per) >= epoch;
}

SHMEMI_DEV void shmemi_dev_parrived_wait_by(const shmemx_prequest_t *p,
                                            int part,
                                            enum shmemi_dev_scope scope)
{
    shmemi_dev_for f;

    if (!shmemi_dev_part_has(p, part, 0))
        return;
    f.size = 8;
    f.is_signed = 0;
    f.cmp = SHMEM_CMP_GE;
    f.value = shmemi_dev_load_64(p->epoch);
    f.call = SHMEMI_DEV_CALL_PARRIVED;
    f.raiser = (unsigned)p->pe + 1;
    if (!f.value)
        shmemi_dev_part_refuse(p, part, 0, SHMEMI_DEV_HIT_NOT_STARTED);
    shmemi_dev_wait_for(&p->trig.dev, p->arrived + (shmemi_u32)part / p->per,
                        f, scope);
}

/* Until it has: for kernels whose threads may wait for other PEs. */
SHMEMI_DEV void shmemx_dev_parrived_wait(const shmemx_prequest_t *p,
                                         int partition)
{
    shmemi_dev_parrived_wait_by(p, partition, SHMEMI_DEV_THREAD);
}
SHMEMI_DEV void shmemx_dev_parrived_wait_warp(const shmemx_prequest_t *p,
                                              int partition)
{
    shmemi_dev_parrived_wait_by(p, partition, SHMEMI_DEV_WARP);
}
SHMEMI_DEV void shmemx_dev_parrived_wait_block(const shmemx_prequest_t *p,
                                               int partition)
{
    shmemi_dev_parrived_wait_by(p, partition, SHMEMI_DEV_BLOCK);
}

#endif

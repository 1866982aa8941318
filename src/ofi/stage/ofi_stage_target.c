/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of peers for this PE's device memory: reads their bytes and copies
 * them to the device, or copies from the device and writes to them.  As long as
 * all fragments are taken, requests wait in a queue. */
#include "ofi/stage/ofi_stage_pool.h"
#include "base/log.h"

enum { QUEUED = 1024 };

static struct {
    struct base_lock lock;
    struct ofi_am_head heads[QUEUED] MEMBER_GUARDED_BY(lock);
    unsigned first MEMBER_GUARDED_BY(lock), n MEMBER_GUARDED_BY(lock);
} target = { .lock = LOCK_INIT };

int ofi_stage_target_busy;

void ofi_stage_target_open(void)
{
    lock_acquire(&target.lock);
    target.first = target.n = 0;
    lock_release(&target.lock);
    __atomic_store_n(&ofi_stage_target_busy, 0, __ATOMIC_RELAXED);
}

static void start(struct ofi_frag *p, const struct ofi_am_head *h);

/* The fragment is for the request that has waited longest. */
static bool end(struct ofi_frag *p)
{
    struct ofi_am_head h;
    bool more;

    lock_acquire(&target.lock);
    more = target.n > 0;
    if (more) {
        h = target.heads[target.first];
        target.first = (target.first + 1) % QUEUED;
        target.n--;
    } else {
        __atomic_fetch_sub(&ofi_stage_target_busy, 1, __ATOMIC_RELAXED);
        ofi_frag_free(p);
    }
    lock_release(&target.lock);
    if (more)
        start(p, &h);
    return true;
}

static char *target_addr(const struct ofi_frag *p)
{
    return (char *)heap_segs[p->request.seg].base + p->request.off;
}

/* The buffer that the peer exposes. */
static struct ofi_remote_buf remote_buf_of(const struct ofi_frag *p)
{
    return (struct ofi_remote_buf){ p->request.cond,
                                    (uint64_t)p->request.stride };
}

static bool send_done(struct ofi_frag *p)
{
    *p->msg = (struct ofi_am_head){
        .kind = OFI_AM_DONE, .cookie = p->request.cookie
    };
    return ofi_frag_send(p, ofi.eps[0], false, end);
}

static bool copied_in(struct ofi_frag *p)
{
    /* Wakes threads that wait for this memory. */
    xport_data_arrived(NULL, 0);
    return send_done(p);
}

static bool copy_in(struct ofi_frag *p)
{
    ofi_frag_copy(p, OFI_TO_DEVICE, target_addr(p), p->bytes, p->request.value,
                  copied_in);
    return true;
}

static bool pull(struct ofi_frag *p)
{
    struct ofi_remote_buf l = remote_buf_of(p);

    return ofi_frag_read(p, ofi.eps[0], p->bytes, p->request.value, &l,
                         copy_in);
}

static bool push(struct ofi_frag *p)
{
    struct ofi_remote_buf l = remote_buf_of(p);

    return ofi_frag_write(p, ofi.eps[0], p->bytes, p->request.value, &l,
                          send_done);
}

static void start(struct ofi_frag *p, const struct ofi_am_head *h)
{
    p->request = *h;
    p->op.pe = (int)h->pe;
    p->op.ctx = NULL;
    if (h->kind == OFI_AM_PULL)
        ofi_frag_run(p, pull);
    else
        ofi_frag_copy(p, OFI_FROM_DEVICE, p->bytes, target_addr(p), h->value,
                      push);
}

bool ofi_stage_target_start(const struct ofi_am_head *h)
{
    struct ofi_frag *p;
    bool queued = true;

    lock_acquire(&target.lock);
    p = ofi_frag_alloc(OFI_TARGET);
    if (p) {
        __atomic_fetch_add(&ofi_stage_target_busy, 1, __ATOMIC_RELAXED);
    } else {
        queued = target.n < QUEUED;
        if (queued)
            target.heads[(target.first + target.n++) % QUEUED] = *h;
    }
    lock_release(&target.lock);
    if (p)
        start(p, h);
    return queued;
}

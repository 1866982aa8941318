/* SPDX-License-Identifier: BSD-3-Clause */
/* What peers ask of this PE's device: it reads their bytes and copies them to
 * the device, or copies from the device and writes to them.  As long as all
 * pieces are taken, what is asked for waits in a queue. */
#include "ofi/ofi_ring.h"
#include "base/log.h"

enum { QUEUED = 1024 };

static struct {
    struct base_lock lock;
    struct ofi_am_head heads[QUEUED] MEMBER_GUARDED_BY(lock);
    unsigned first MEMBER_GUARDED_BY(lock), n MEMBER_GUARDED_BY(lock);
    int busy;                   /* atomic: pieces in use */
} land = { .lock = LOCK_INIT };

bool ofi_land_busy(void)
{
    return __atomic_load_n(&land.busy, __ATOMIC_RELAXED);
}

void ofi_land_open(void)
{
    lock_acquire(&land.lock);
    land.first = land.n = 0;
    lock_release(&land.lock);
    __atomic_store_n(&land.busy, 0, __ATOMIC_RELAXED);  /* the agent looks */
}

static void start(struct ofi_piece *p, const struct ofi_am_head *h);

/* The piece is for whoever waits longest. */
static bool end(struct ofi_piece *p)
{
    struct ofi_am_head h;
    bool more;

    lock_acquire(&land.lock);
    more = land.n > 0;
    if (more) {
        h = land.heads[land.first];
        land.first = (land.first + 1) % QUEUED;
        land.n--;
    } else {
        __atomic_fetch_sub(&land.busy, 1, __ATOMIC_RELAXED);
        ofi_piece_give(p);
    }
    lock_release(&land.lock);
    if (more)
        start(p, &h);
    return true;
}

static char *place_of(const struct ofi_piece *p)
{
    return (char *)heap_segs[p->ask.seg].base + p->ask.off;
}

/* What the peer lends. */
static struct ofi_lent lent_by(const struct ofi_piece *p)
{
    return (struct ofi_lent){ p->ask.cond, (uint64_t)p->ask.stride };
}

static bool tell(struct ofi_piece *p)
{
    *p->mail = (struct ofi_am_head){
        .kind = OFI_AM_DONE, .cookie = p->ask.cookie
    };
    return ofi_piece_mail(p, ofi.eps[0], false, end);
}

static bool landed(struct ofi_piece *p)
{
    /* Whoever waits for a word there may look. */
    xport_data_arrived(NULL, 0);
    return tell(p);
}

static bool copy_in(struct ofi_piece *p)
{
    ofi_piece_copy(p, OFI_IN, place_of(p), p->bytes, p->ask.value, landed);
    return true;
}

static bool pull(struct ofi_piece *p)
{
    struct ofi_lent l = lent_by(p);

    return ofi_piece_read(p, ofi.eps[0], p->bytes, p->ask.value, &l, copy_in);
}

static bool push(struct ofi_piece *p)
{
    struct ofi_lent l = lent_by(p);

    return ofi_piece_write(p, ofi.eps[0], p->bytes, p->ask.value, &l, tell);
}

static void start(struct ofi_piece *p, const struct ofi_am_head *h)
{
    p->ask = *h;
    p->op.pe = (int)h->pe;
    p->op.flow = NULL;
    if (h->kind == OFI_AM_PULL)
        ofi_piece_go(p, pull);
    else
        ofi_piece_copy(p, OFI_OUT, p->bytes, place_of(p), h->value, push);
}

bool ofi_land(const struct ofi_am_head *h)
{
    struct ofi_piece *p;
    bool queued = true;

    lock_acquire(&land.lock);
    p = ofi_piece_take(OFI_THEIRS);
    if (p) {
        __atomic_fetch_add(&land.busy, 1, __ATOMIC_RELAXED);
    } else {
        queued = land.n < QUEUED;
        if (queued)
            land.heads[(land.first + land.n++) % QUEUED] = *h;
    }
    lock_release(&land.lock);
    if (p)
        start(p, h);
    return queued;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ofi/ofi_ring.h"
#include "base/log.h"
#include "gtl/gtl.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { HALVES = 2, WAYS = 2, ALL = HALVES * OFI_PIECES, MAIL = 64 };
_Static_assert(sizeof(struct ofi_am_head) <= MAIL, "a line each");

static struct {
    bool open;                  /* atomic */
    char *all;                  /* the pieces, then their mail */
    size_t size;
    struct fid_mr *mr;
    void *desc;
    uint64_t base;              /* as peers count addresses */
    bool pinned;
    struct base_lock lock;
    struct ofi_op *spare[HALVES] MEMBER_GUARDED_BY(lock);
    struct ofi_piece pieces[ALL];
} ring = { .lock = LOCK_INIT };

/* Copies one way are done in turn; looked at by one thread at a time. */
static struct way {
    struct base_lock lock;
    void *stream;
    uint64_t begun MEMBER_GUARDED_BY(lock);
    uint64_t ended;
} ways[WAYS] = { { .lock = LOCK_INIT }, { .lock = LOCK_INIT } };
static struct base_lock looking = LOCK_INIT;

int ofi_ring_watched, ofi_ring_flying;

static void need(int rc)
{
    if (rc)
        ofi_fail("device copy", rt_job.pe, rc, gtl_error());
}

/* ---- opening ---- */

static int make_memory(void)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    void *seen;
    int rc;

    ring.size = (size_t)ALL * (OFI_PIECE + MAIL);
    ring.all = mmap(NULL, ring.size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring.all == MAP_FAILED) {
        ring.all = NULL;
        return -errno;
    }
    ring.pinned = !gtl->pin(ring.all, ring.size, GTL_PIN_MEMORY, &seen);
    if (!ring.pinned)           /* the device copies it all the same */
        log_info(LOG_OFI, "the pieces between device and network are not "
                 "pinned, which makes copies slower: %s", gtl_error());
    rc = ofi_region_open(ring.all, ring.size, OFI_RING_SLOT, &ring.mr);
    if (rc)
        return rc;
    ring.desc = fi_mr_desc(ring.mr);
    ring.base = virtual ? (uintptr_t)ring.all : 0;
    return 0;
}

static int make_pieces(void)
{
    char *mail = ring.all + (size_t)ALL * OFI_PIECE;
    int rc;

    for (int w = 0; w < WAYS; w++) {
        rc = gtl->stream_create(GTL_URGENT, &ways[w].stream);
        if (rc)
            return rc;
    }
    for (int i = 0; i < ALL; i++) {
        struct ofi_piece *p = &ring.pieces[i];

        rc = gtl->event_create(&p->event);
        if (rc)
            return rc;
        p->bytes = ring.all + (size_t)i * OFI_PIECE;
        p->mail = (struct ofi_am_head *)(void *)(mail + (size_t)i * MAIL);
        p->half = i < OFI_PIECES ? OFI_MINE : OFI_THEIRS;
        ofi_piece_give(p);
    }
    return 0;
}

static void forget(void)
{
    for (int i = 0; i < ALL; i++)
        if (ring.pieces[i].event)
            gtl->event_destroy(ring.pieces[i].event);
    memset(ring.pieces, 0, sizeof ring.pieces);
    __atomic_store_n(&ofi_ring_flying, 0, __ATOMIC_RELAXED);
    for (int w = 0; w < WAYS; w++) {
        if (ways[w].stream)
            gtl->stream_destroy(ways[w].stream);
        ways[w].stream = NULL;
        lock_acquire(&ways[w].lock);
        ways[w].begun = ways[w].ended = 0;
        lock_release(&ways[w].lock);
    }
    if (ring.mr)
        fi_close(&ring.mr->fid);
    if (ring.pinned)
        gtl->unpin(ring.all);
    if (ring.all)
        munmap(ring.all, ring.size);
    lock_acquire(&ring.lock);
    ring.spare[OFI_MINE] = ring.spare[OFI_THEIRS] = NULL;
    lock_release(&ring.lock);
    ring.mr = NULL;
    ring.all = NULL;
    ring.pinned = false;
}

static int make(void)
{
    const char *what = "registering";
    int rc = make_memory();

    if (!rc) {
        what = "streams for";
        rc = make_pieces();
    }
    if (rc) {
        log_error(ERR_NET, "%s %zu bytes between the device and provider %s: "
                  "%s", what, ring.size, ofi.name, ofi_strerror(rc));
        forget();
        return rc;
    }
    ofi_land_open();
    log_info(LOG_OFI, "%d pieces of %d KiB lie between device memory and the "
             "network, half of them for what peers ask for", ALL,
             OFI_PIECE / 1024);
    return 0;
}

int ofi_ring_open(void)
{
    int rc = 0;

    if (__atomic_load_n(&ring.open, __ATOMIC_ACQUIRE))
        return 0;
    lock_acquire(&ofi_lock);
    if (!ring.open)
        rc = make();
    if (!rc)                    /* release: the pieces are there for others */
        __atomic_store_n(&ring.open, true, __ATOMIC_RELEASE);
    lock_release(&ofi_lock);
    return rc;
}

void ofi_ring_close(void)
{
    if (ring.open)
        forget();
    ring.open = false;
}

/* ---- free pieces ---- */

bool ofi_piece_room(enum ofi_half half)
{
    bool has;

    if (!__atomic_load_n(&ring.open, __ATOMIC_ACQUIRE))
        return true;
    lock_acquire(&ring.lock);
    has = ring.spare[half] != NULL;
    lock_release(&ring.lock);
    return has;
}

struct ofi_piece *ofi_piece_take(enum ofi_half half)
{
    struct ofi_op *op;

    lock_acquire(&ring.lock);
    op = ring.spare[half];
    if (op)
        ring.spare[half] = op->next;
    lock_release(&ring.lock);
    return (struct ofi_piece *)op;
}

void ofi_piece_give(struct ofi_piece *p)
{
    lock_acquire(&ring.lock);
    p->op.next = ring.spare[p->half];
    ring.spare[p->half] = &p->op;
    lock_release(&ring.lock);
}

struct ofi_lent ofi_piece_lent(const struct ofi_piece *p)
{
    return (struct ofi_lent){
        ring.base + (uint64_t)(p->bytes - ring.all), fi_mr_key(ring.mr)
    };
}

void *ofi_piece_desc(void)
{
    return ring.desc;
}

/* ---- steps ---- */

static void watch(struct ofi_piece *p)
{
    __atomic_fetch_add(&ofi_ring_watched, 1, __ATOMIC_SEQ_CST);
    /* release: the piece is another thread's from here on. */
    __atomic_store_n(&p->watched, 1, __ATOMIC_RELEASE);
    ofi_agent_need();
}

static bool go_on(struct ofi_piece *p)
{
    if (p->step(p))
        return true;
    p->copies = false;
    watch(p);
    return false;
}

void ofi_piece_go(struct ofi_piece *p, ofi_step *step)
{
    p->step = step;
    go_on(p);
}

void ofi_piece_copy(struct ofi_piece *p, enum ofi_way way, void *to,
                    const void *from, size_t n, ofi_step *then)
{
    struct way *w = &ways[way];
    int rc;

    lock_acquire(&w->lock);
    p->turn = w->begun++;
    rc = gtl->copy(to, from, n, w->stream);
    if (!rc)
        rc = gtl->event_record(p->event, w->stream);
    lock_release(&w->lock);
    need(rc);
    p->way = way;
    p->step = then;
    p->copies = true;
    watch(p);
}

/* Has what it waits for come? */
static bool is_due(struct ofi_piece *p)
{
    struct way *w = &ways[p->way];
    int rc;

    if (!p->copies)
        return true;
    if (p->turn != w->ended)
        return false;
    rc = gtl->event_query(p->event);
    if (rc == -EAGAIN)
        return false;
    need(rc);
    w->ended++;
    return true;
}

/* One thread at a time; who finds another one at it has no need to. */
int ofi_ring_look(void)
{
    int n = 0;

    if (!lock_try(&looking))
        return 0;
    for (int i = 0; i < ALL; i++) {
        struct ofi_piece *p = &ring.pieces[i];

        /* acquire: pairs with watch(). */
        if (!__atomic_load_n(&p->watched, __ATOMIC_ACQUIRE) || !is_due(p))
            continue;
        __atomic_store_n(&p->watched, 0, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&ofi_ring_watched, 1, __ATOMIC_RELAXED);
        n += go_on(p);
    }
    lock_release(&looking);
    return n;
}

/* Where the owner computes, only the progress thread sees that it is back. */
static void fly(struct ofi_piece *p)
{
    __atomic_store_n(&p->flies, 1, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(&ofi_ring_flying, 1, __ATOMIC_SEQ_CST) == 0)
        ofi_agent_need();
}

/* Before the piece may be another's. */
static void land(struct ofi_piece *p)
{
    if (__atomic_exchange_n(&p->flies, 0, __ATOMIC_RELAXED))
        __atomic_fetch_sub(&ofi_ring_flying, 1, __ATOMIC_RELAXED);
}

static void one_end(struct ofi_piece *p)
{
    /* acquire, release: whoever is last sees what the others brought. */
    if (__atomic_fetch_sub(&p->waits, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    land(p);
    go_on(p);
}

void ofi_piece_done(struct ofi_op *op)
{
    one_end((struct ofi_piece *)op);
}

/* Of a put or get of this PE's. */
void ofi_piece_failed(struct ofi_op *op)
{
    struct ofi_piece *p = (struct ofi_piece *)op;
    uint32_t uses = __atomic_load_n(&p->uses, __ATOMIC_RELAXED);

    if (uses & 1)               /* no answer will come */
        __atomic_store_n(&p->uses, uses + 1, __ATOMIC_RELAXED);
    land(p);
    ofi_stage_failed(p);
}

void ofi_piece_answered(const struct ofi_am_head *h)
{
    uint32_t i = (uint32_t)h->cookie, uses;
    struct ofi_piece *p = i < OFI_PIECES ? &ring.pieces[i] : NULL;

    uses = p ? __atomic_load_n(&p->uses, __ATOMIC_ACQUIRE) : 0;
    if (!(uses & 1) || uses != (uint32_t)(h->cookie >> 32) ||
        p->op.pe != (int)h->pe) {
        log_warn(ERR_NET, "an answer that no piece waits for, said to be of "
                 "PE %u, is ignored", (unsigned)h->pe);
        return;
    }
    __atomic_store_n(&p->uses, uses + 1, __ATOMIC_RELAXED);
    one_end(p);
}

/* ---- what steps start ---- */

/* The end may come, and the piece be another's, before post() returns. */
static void begin(struct ofi_piece *p, struct ofi_ep *e, int ends,
                  ofi_step *then)
{
    p->op.kind = OFI_PIECED;
    p->step = then;
    __atomic_store_n(&p->waits, ends, __ATOMIC_RELAXED);
    fly(p);
    __atomic_fetch_add(&e->in_flight, 1, __ATOMIC_RELAXED);
}

static bool begun(struct ofi_piece *p, struct ofi_ep *e, ofi_step *was,
                  long rc, const char *what)
{
    if (likely(!rc))
        return true;
    __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
    land(p);
    if (rc != -FI_EAGAIN) {
        ofi_failed(p->op.flow, what, p->op.pe, rc, NULL);
        ofi_stage_failed(p);
        return true;
    }
    p->step = was;
    return false;
}

struct transfer {
    struct fi_msg_rma msg;
    struct iovec iov;
    struct fi_rma_iov far;
};

static void aim(struct transfer *t, struct ofi_piece *p, void *local, size_t n,
                const struct ofi_lent *far)
{
    t->iov = (struct iovec){ local, n };
    t->far = (struct fi_rma_iov){ far->addr, n, far->key };
    t->msg = (struct fi_msg_rma){
        .msg_iov = &t->iov, .desc = &ring.desc, .iov_count = 1,
        .addr = ofi_peer(p->op.pe)->addr, .rma_iov = &t->far,
        .rma_iov_count = 1, .context = &p->op
    };
}

bool ofi_piece_read(struct ofi_piece *p, struct ofi_ep *e, void *to, size_t n,
                    const struct ofi_lent *from, ofi_step *then)
{
    ofi_step *was = p->step;
    struct transfer t;

    aim(&t, p, to, n, from);
    begin(p, e, 1, then);
    return begun(p, e, was, OFI_POST(p->op.flow, fi_readmsg(e->ep, &t.msg,
                                                            FI_COMPLETION)),
                 "get");
}

bool ofi_piece_write(struct ofi_piece *p, struct ofi_ep *e, const void *from,
                     size_t n, const struct ofi_lent *to, ofi_step *then)
{
    ofi_step *was = p->step;
    struct transfer t;

    aim(&t, p, (void *)from, n, to);
    begin(p, e, 1, then);
    return begun(p, e, was,
                 OFI_POST(p->op.flow, fi_writemsg(e->ep, &t.msg, FI_COMPLETION |
                                                  FI_DELIVERY_COMPLETE)),
                 "put");
}

bool ofi_piece_mail(struct ofi_piece *p, struct ofi_ep *e, bool answer,
                    ofi_step *then)
{
    const struct ofi_peer *to = ofi_peer(p->op.pe);
    bool inject = sizeof *p->mail <= ofi.inject_msg;
    ofi_step *was = p->step;
    uint32_t uses = p->uses + 1;
    long rc;

    p->mail->token = to->token;
    p->mail->pe = (uint32_t)rt_job.pe;
    if (answer) {
        p->mail->cookie = (uint64_t)uses << 32 | (uint64_t)(p - ring.pieces);
        __atomic_store_n(&p->uses, uses, __ATOMIC_RELEASE);
    }
    begin(p, e, answer + !inject, then);
    atomics_tsan_release();     /* the piece is the answer's from here on */
    rc = OFI_POST(p->op.flow,
                  inject ? fi_inject(e->ep, p->mail, sizeof *p->mail, to->addr)
                  : fi_send(e->ep, p->mail, sizeof *p->mail, ring.desc,
                            to->addr, &p->op));
    if (rc && answer)
        __atomic_store_n(&p->uses, uses - 1, __ATOMIC_RELAXED);
    if (!begun(p, e, was, rc, "request"))
        return false;
    if (rc)                     /* forgiven, and over */
        return true;
    if (inject)                 /* it leaves no entry in a queue */
        __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
    if (inject && !answer) {
        land(p);
        return then(p);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The staging pool: pinned and registered fragments of host memory between a
 * device and the network, and the steps that a fragment takes.  Both sides of a
 * transfer call it (ofi_stage_initiator.c, ofi_stage_target.c), and the
 * completions of what a step started, on any thread.  A step never waits. */
#include "ofi/stage/ofi_stage_pool.h"
#include "ofi/am/ofi_am_number.h"
#include "base/log.h"
#include "base/mem.h"
#include "gtl/gtl.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDES = 2, DIRS = 2, ALL = SIDES * OFI_FRAGS, MSG_SIZE = 64 };
_Static_assert(sizeof(struct ofi_am_head) <= MSG_SIZE, "a line each");

static struct {
    bool open;                  /* atomic */
    char *all;                  /* the frags, then their msg */
    size_t size;
    struct fid_mr *mr;
    void *desc;
    uint64_t base;              /* as peers count addresses */
    bool pinned;
    struct base_lock lock;
    struct ofi_op *unused[SIDES] MEMBER_GUARDED_BY(lock);
    struct ofi_frag frags[ALL];
} pool = { .lock = LOCK_INIT };

/* Copies in one direction end in turn; one thread at a time polls them. */
static struct copy_dir {
    struct base_lock lock;
    void *stream;
    uint64_t check_post MEMBER_GUARDED_BY(lock);
    uint64_t ended;
} dirs[DIRS] = { { .lock = LOCK_INIT }, { .lock = LOCK_INIT } };
static struct base_lock polling = LOCK_INIT;

int ofi_stage_polled, ofi_stage_in_network;

static void need(int rc)
{
    if (rc)
        ofi_fatal("device copy", rt_job.pe, rc, gtl_error());
}

/* ---- opening ---- */

static int make_memory(void)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    void *seen;
    int rc;

    pool.size = (size_t)ALL * (OFI_FRAG_SIZE + MSG_SIZE);
    pool.all = mem_pages(pool.size);
    if (!pool.all)
        return -errno;
    pool.pinned = !gtl->pin(pool.all, pool.size, GTL_PIN_MEMORY, &seen);
    if (!pool.pinned)           /* the device copies it all the same */
        log_info(LOG_OFI, "the fragments between device and network are not "
                 "pinned, which makes copies slower: %s", gtl_error());
    rc = ofi_region_open(pool.all, pool.size, OFI_STAGE_KEY, &pool.mr);
    if (rc)
        return rc;
    pool.desc = fi_mr_desc(pool.mr);
    pool.base = virtual ? (uintptr_t)pool.all : 0;
    return 0;
}

static int make_pieces(void)
{
    char *msg = pool.all + (size_t)ALL * OFI_FRAG_SIZE;
    int rc;

    for (int w = 0; w < DIRS; w++) {
        rc = gtl->stream_create(GTL_URGENT, &dirs[w].stream);
        if (rc)
            return rc;
    }
    for (int i = 0; i < ALL; i++) {
        struct ofi_frag *p = &pool.frags[i];

        rc = gtl->event_create(&p->event);
        if (rc)
            return rc;
        p->bytes = pool.all + (size_t)i * OFI_FRAG_SIZE;
        p->msg = (struct ofi_am_head *)(void *)(msg + (size_t)i * MSG_SIZE);
        p->side = i < OFI_FRAGS ? OFI_INITIATOR : OFI_TARGET;
        ofi_frag_free(p);
    }
    return 0;
}

static void close_all(void)
{
    for (int i = 0; i < ALL; i++)
        if (pool.frags[i].event)
            gtl->event_destroy(pool.frags[i].event);
    memset(pool.frags, 0, sizeof pool.frags);
    __atomic_store_n(&ofi_stage_in_network, 0, __ATOMIC_RELAXED);
    for (int w = 0; w < DIRS; w++) {
        if (dirs[w].stream)
            gtl->stream_destroy(dirs[w].stream);
        dirs[w].stream = NULL;
        lock_acquire(&dirs[w].lock);
        dirs[w].check_post = dirs[w].ended = 0;
        lock_release(&dirs[w].lock);
    }
    if (pool.mr)
        fi_close(&pool.mr->fid);
    if (pool.pinned)
        gtl->unpin(pool.all);
    if (pool.all)
        munmap(pool.all, pool.size);
    lock_acquire(&pool.lock);
    pool.unused[OFI_INITIATOR] = pool.unused[OFI_TARGET] = NULL;
    lock_release(&pool.lock);
    pool.mr = NULL;
    pool.all = NULL;
    pool.pinned = false;
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
                  "%s", what, pool.size, ofi.name, ofi_strerror(rc));
        close_all();
        return rc;
    }
    log_info(LOG_OFI, "%d fragments of %d KiB lie between device memory and "
             "the network, half of them for what peers request", ALL,
             OFI_FRAG_SIZE / 1024);
    return 0;
}

int ofi_stage_pool_open(void)
{
    int rc = 0;

    if (__atomic_load_n(&pool.open, __ATOMIC_ACQUIRE))
        return 0;
    lock_acquire(&ofi_lock);
    if (!pool.open)
        rc = make();
    if (!rc)                    /* release: the frags are there for others */
        __atomic_store_n(&pool.open, true, __ATOMIC_RELEASE);
    lock_release(&ofi_lock);
    return rc;
}

void ofi_stage_pool_close(void)
{
    if (pool.open)
        close_all();
    pool.open = false;
}

/* ---- free frags ---- */

bool ofi_frag_available(enum ofi_frag_side side)
{
    bool has;

    if (!__atomic_load_n(&pool.open, __ATOMIC_ACQUIRE))
        return true;
    lock_acquire(&pool.lock);
    has = pool.unused[side] != NULL;
    lock_release(&pool.lock);
    return has;
}

struct ofi_frag *ofi_frag_alloc(enum ofi_frag_side side)
{
    struct ofi_op *op;

    lock_acquire(&pool.lock);
    op = pool.unused[side];
    if (op)
        pool.unused[side] = op->next;
    lock_release(&pool.lock);
    return (struct ofi_frag *)op;
}

void ofi_frag_free(struct ofi_frag *p)
{
    lock_acquire(&pool.lock);
    p->op.next = pool.unused[p->side];
    pool.unused[p->side] = &p->op;
    lock_release(&pool.lock);
}

struct ofi_remote_buf ofi_frag_remote(const struct ofi_frag *p)
{
    return (struct ofi_remote_buf){
        pool.base + (uint64_t)(p->bytes - pool.all), fi_mr_key(pool.mr)
    };
}

void *ofi_frag_desc(void)
{
    return pool.desc;
}

/* ---- steps ---- */

static void defer_step(struct ofi_frag *p)
{
    __atomic_fetch_add(&ofi_stage_polled, 1, __ATOMIC_SEQ_CST);
    /* release: the frag is another thread's from here on. */
    __atomic_store_n(&p->polled, 1, __ATOMIC_RELEASE);
    ofi_progress_request();
}

static bool run_step(struct ofi_frag *p)
{
    if (p->step(p))
        return true;
    p->copies = false;
    defer_step(p);
    return false;
}

void ofi_frag_run(struct ofi_frag *p, ofi_step *step)
{
    p->step = step;
    run_step(p);
}

void ofi_frag_copy(struct ofi_frag *p, enum ofi_copy_dir copy_dir, void *to,
                    const void *from, size_t n, ofi_step *then)
{
    struct copy_dir *w = &dirs[copy_dir];
    int rc;

    lock_acquire(&w->lock);
    p->turn = w->check_post++;
    rc = gtl->copy(to, from, n, w->stream);
    if (!rc)
        rc = gtl->event_record(p->event, w->stream);
    lock_release(&w->lock);
    need(rc);
    p->copy_dir = copy_dir;
    p->step = then;
    p->copies = true;
    defer_step(p);
}

/* Has what it waits for come? */
static bool is_due(struct ofi_frag *p)
{
    struct copy_dir *w = &dirs[p->copy_dir];
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

/* One thread at a time; another one has no need to. */
int ofi_stage_poll(void)
{
    int n = 0;

    if (!lock_try(&polling))
        return 0;
    for (int i = 0; i < ALL; i++) {
        struct ofi_frag *p = &pool.frags[i];

        /* acquire: pairs with defer_step(). */
        if (!__atomic_load_n(&p->polled, __ATOMIC_ACQUIRE) || !is_due(p))
            continue;
        __atomic_store_n(&p->polled, 0, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&ofi_stage_polled, 1, __ATOMIC_RELAXED);
        n += run_step(p);
    }
    lock_release(&polling);
    return n;
}

/* Where the owner computes, only the progress thread sees that it is back. */
static void enter_network(struct ofi_frag *p)
{
    __atomic_store_n(&p->in_network, 1, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(&ofi_stage_in_network, 1, __ATOMIC_SEQ_CST) == 0)
        ofi_progress_request();
}

/* Before the frag may be another's. */
static void leave_network(struct ofi_frag *p)
{
    if (__atomic_exchange_n(&p->in_network, 0, __ATOMIC_RELAXED))
        __atomic_fetch_sub(&ofi_stage_in_network, 1, __ATOMIC_RELAXED);
}

static void one_end(struct ofi_frag *p)
{
    /* acquire, release: the last one sees what the others brought. */
    if (__atomic_fetch_sub(&p->waits, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    leave_network(p);
    run_step(p);
}

static void frag_done(struct ofi_op *op)
{
    one_end((struct ofi_frag *)op);
}

/* Of a put or get of this PE's. */
static void frag_failed(struct ofi_op *op)
{
    struct ofi_frag *p = (struct ofi_frag *)op;
    uint32_t uses = __atomic_load_n(&p->uses, __ATOMIC_RELAXED);

    if (uses & 1)               /* no answer will come */
        __atomic_store_n(&p->uses, uses + 1, __ATOMIC_RELAXED);
    if (p->sends)
        ofi_am_post_failed(p->sends, op->pe);
    leave_network(p);
    p->failed(p);
}

static const struct ofi_op_type frag_type = {
    .done = frag_done, .failed = frag_failed
};

bool ofi_frag_replied(const struct ofi_am_head *h)
{
    uint32_t i = (uint32_t)h->cookie, uses;
    struct ofi_frag *p = i < OFI_FRAGS ? &pool.frags[i] : NULL;

    uses = p ? __atomic_load_n(&p->uses, __ATOMIC_ACQUIRE) : 0;
    if (!(uses & 1) || uses != (uint32_t)(h->cookie >> 32) ||
        p->op.pe != (int)h->pe) {
        log_warn(ERR_NET, "an answer that no fragment waits for, said to be of "
                 "PE %u, is ignored", (unsigned)h->pe);
        return true;
    }
    __atomic_store_n(&p->uses, uses + 1, __ATOMIC_RELAXED);
    one_end(p);
    return true;
}

/* ---- what steps start ---- */

/* The end may come, and the frag be another's, before post() returns. */
static void start_op(struct ofi_frag *p, struct ofi_ep *e, int ends,
                  ofi_step *then)
{
    p->op.type = &frag_type;
    p->step = then;
    p->sends = NULL;
    __atomic_store_n(&p->waits, ends, __ATOMIC_RELAXED);
    enter_network(p);
    __atomic_fetch_add(&e->in_flight, 1, __ATOMIC_RELAXED);
}

static bool check_post(struct ofi_frag *p, struct ofi_ep *e, ofi_step *was,
                  long rc, const char *what)
{
    if (likely(!rc))
        return true;
    __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
    leave_network(p);
    if (rc != -FI_EAGAIN) {
        ofi_op_error(p->op.ctx, what, p->op.pe, rc, NULL);
        p->failed(p);
        return true;
    }
    p->step = was;
    return false;
}

struct transfer {
    struct fi_msg_rma msg;
    struct iovec iov;
    struct fi_rma_iov remote;
};

static void aim(struct transfer *t, struct ofi_frag *p, void *local, size_t n,
                const struct ofi_remote_buf *remote)
{
    t->iov = (struct iovec){ local, n };
    t->remote = (struct fi_rma_iov){ remote->addr, n, remote->key };
    t->msg = (struct fi_msg_rma){
        .msg_iov = &t->iov, .desc = &pool.desc, .iov_count = 1,
        .addr = ofi_peer(p->op.pe)->addr, .rma_iov = &t->remote,
        .rma_iov_count = 1, .context = &p->op
    };
}

bool ofi_frag_read(struct ofi_frag *p, struct ofi_ep *e, void *to, size_t n,
                    const struct ofi_remote_buf *from, ofi_step *then)
{
    ofi_step *was = p->step;
    struct transfer t;

    aim(&t, p, to, n, from);
    start_op(p, e, 1, then);
    return check_post(p, e, was, OFI_POST(p->op.ctx, fi_readmsg(e->ep, &t.msg,
                                                            FI_COMPLETION)),
                 "get");
}

bool ofi_frag_write(struct ofi_frag *p, struct ofi_ep *e, const void *from,
                     size_t n, const struct ofi_remote_buf *to, ofi_step *then)
{
    ofi_step *was = p->step;
    struct transfer t;

    aim(&t, p, (void *)from, n, to);
    start_op(p, e, 1, then);
    return check_post(p, e, was,
                 OFI_POST(p->op.ctx, fi_writemsg(e->ep, &t.msg, FI_COMPLETION |
                                                  FI_DELIVERY_COMPLETE)),
                 "put");
}

bool ofi_frag_send(struct ofi_frag *p, struct ofi_ep *e, bool answer,
                    ofi_step *then)
{
    const struct ofi_peer *to = ofi_peer(p->op.pe);
    ofi_step *was = p->step;
    uint32_t uses = p->uses + 1;
    long rc;

    p->msg->token = to->token;
    p->msg->pe = (uint32_t)rt_job.pe;
    if (answer) {
        p->msg->cookie = (uint64_t)uses << 32 | (uint64_t)(p - pool.frags);
        __atomic_store_n(&p->uses, uses, __ATOMIC_RELEASE);
    }
    start_op(p, e, answer + 1, then);
    p->sends = e;
    atomics_tsan_release();     /* the frag is the answer's from here on */
    rc = OFI_POST(p->op.ctx, ofi_am_post(e, p->op.pe, p->msg, sizeof *p->msg,
                                         pool.desc, &p->op));
    if (rc && answer)
        __atomic_store_n(&p->uses, uses - 1, __ATOMIC_RELAXED);
    return check_post(p, e, was, rc, "request");
}

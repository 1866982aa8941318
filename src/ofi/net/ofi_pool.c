/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool of operations of one sort: memory, registered where the provider wants
 * that, and a list of free ones.  Every file that posts operations calls it, on
 * any thread.  Each put of a few KiB comes by here, so between opening and
 * closing it makes no system call of its own. */
#include "ofi/net/ofi_pool.h"
#include "ofi/net/ofi_local.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <sys/mman.h>

int ofi_pool_open(struct ofi_pool *p, size_t count, size_t each,
                  uint64_t access)
{
    size_t size = count * each;
    const char *step = "mmap";
    int rc = 0;

    /* Pages are touched when they are first used. */
    p->all = mem_pages(size);
    if (!p->all) {
        rc = -errno;
        goto failed;
    }
    p->each = each;
    p->count = count;
    p->end = p->all + size;
    if (access && ofi.descs) {
        step = "fi_mr_reg";
        rc = ofi_local_register(p->all, size, access, &p->mr);
        if (rc)
            goto failed;
        p->desc = fi_mr_desc(p->mr);
    }
    lock_acquire(&p->lock);
    p->given = NULL;
    p->fresh = p->all;
    p->taken = 0;
    lock_release(&p->lock);
    return 0;
failed:
    log_error(ERR_NET, "no %s: %s of %zu bytes: %s", p->what, step, size,
              ofi_strerror(rc));
    ofi_pool_close(p);
    return rc;
}

void ofi_pool_close(struct ofi_pool *p)
{
    if (p->mr)
        fi_close(&p->mr->fid);
    if (p->all)
        munmap(p->all, (size_t)(p->end - p->all));
    p->mr = NULL;
    p->desc = NULL;
    p->all = p->end = NULL;
}

void *ofi_pool_try_alloc(struct ofi_pool *p)
{
    struct ofi_op *op;

    lock_acquire(&p->lock);
    op = p->given;
    if (likely(op != NULL)) {
        p->given = op->next;
    } else if (p->fresh < p->end) {
        op = (struct ofi_op *)(void *)p->fresh;
        p->fresh += p->each;
    }
    if (likely(op != NULL))
        __atomic_store_n(&p->taken, p->taken + 1, __ATOMIC_RELAXED);
    lock_release(&p->lock);
    return op;
}

/* Which PE keeps it waiting, it does not know: they are all of one pool. */
void *ofi_pool_alloc(struct ofi_pool *p, struct xport_ctx *f)
{
    struct ofi_wait w = { .wait = { .pe = -1, .likely_pe = -1 }, .room = true };
    struct ofi_op *op;

    while (unlikely(!(op = ofi_pool_try_alloc(p)))) {
        ofi_progress();
        ofi_wait_step(&w, f->ep);
    }
    ofi_wait_end(&w);
    return op;
}

void ofi_pool_free(struct ofi_pool *p, struct ofi_op *op)
{
    lock_acquire(&p->lock);
    op->next = p->given;
    p->given = op;
    __atomic_store_n(&p->taken, p->taken - 1, __ATOMIC_RELAXED);
    lock_release(&p->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Local buffers of operations: copies that live until the end, a registration
 * where the provider wants one for each buffer (FI_MR_LOCAL), a
 * structure where it keeps something of its own until the end (FI_CONTEXT).
 *
 * Symmetric memory is registered for peers already.  Other memory is copied if
 * it is short; more is registered for the one operation, whose end closes the
 * region, so that nothing has to wait for that. */
#include "ofi/net/ofi_local.h"
#include "ofi/net/ofi_pool.h"
#include "ofi/net/ofi_rail.h"
#include "base/copy.h"
#include "rt/rt.h"

#include <stdio.h>

enum { TEMP_MRS = 256, COUNTS = 8192 };

struct temp_mr {
    struct ofi_op op;
    struct fid_mr *mr;
};

static struct ofi_pool copies = OFI_POOL_INIT("room for copies");
static struct ofi_pool temp_mrs = OFI_POOL_INIT("room for registered memory");
static struct ofi_pool counts = OFI_POOL_INIT("room for operations");

int ofi_local_open(void)
{
    int rc = ofi_pool_open(&copies, OFI_COPIES, sizeof(struct ofi_copy),
                           FI_READ | FI_WRITE);

    if (!rc && ofi.local_keys)
        rc = ofi_pool_open(&temp_mrs, TEMP_MRS, sizeof(struct temp_mr), 0);
    if (!rc && ofi.contexts)
        rc = ofi_pool_open(&counts, COUNTS, sizeof(struct ofi_op), 0);
    return rc;
}

void ofi_local_close(void)
{
    ofi_pool_close(&copies);
    ofi_pool_close(&temp_mrs);
    ofi_pool_close(&counts);
}

static bool has(const struct ofi_pool *p, size_t kept, bool little)
{
    return ofi_pool_has(p, little ? OFI_FEW : kept);
}

bool ofi_local_room(bool little)
{
    return has(&copies, OFI_COPIES / 4, little) &&
           (likely(!ofi.local_keys) || has(&temp_mrs, TEMP_MRS / 4, little)) &&
           (likely(!ofi.contexts) || has(&counts, COUNTS / 4, little));
}

/* ---- copies ---- */

struct ofi_copy *ofi_copy_alloc(struct xport_ctx *f)
{
    return ofi_pool_alloc(&copies, f);
}

void ofi_copy_free(struct ofi_copy *c)
{
    ofi_pool_free(&copies, &c->op);
}

void *ofi_copy_desc(void)
{
    return copies.desc;
}

static void bounce_done(struct ofi_op *op)
{
    struct xport_ctx *f = op->ctx;

    ofi_pool_free(&copies, op);
    ofi_ctx_completed(f);
}

static void fetch_done(struct ofi_op *op)
{
    struct ofi_copy *c = (struct ofi_copy *)op;

    copy_bytes(c->dest, c->bytes, c->len);
    bounce_done(op);
}

const struct ofi_op_type ofi_op_bounce = {
    .done = bounce_done, .failed = bounce_done
};
const struct ofi_op_type ofi_op_fetch = {
    .done = fetch_done, .failed = bounce_done
};

/* ---- contexts that only count ---- */

static void counted_done(struct ofi_op *op)
{
    struct xport_ctx *f = op->ctx;

    ofi_pool_free(&counts, op);
    ofi_ctx_completed(f);
}

static const struct ofi_op_type counted = {
    .done = counted_done, .failed = counted_done
};

void *ofi_counted_alloc(struct xport_ctx *f, int pe, bool waits)
{
    struct ofi_op *op = waits ? ofi_pool_alloc(&counts, f)
                              : ofi_pool_try_alloc(&counts);

    if (op)
        ofi_op_init(op, &counted, pe, f);
    return op;
}

void ofi_counted_free(void *context)
{
    ofi_pool_free(&counts, context);
}

/* ---- registrations ---- */

void *ofi_data_at(const void *p)
{
    return (void *)(xport_routes[rt_job.pe].map[HEAP_DATA] +
                    ((uintptr_t)p - heap_segs[HEAP_DATA].base));
}

int ofi_local_use(const void *p, size_t len, uint64_t access,
                  struct ofi_local *out)
{
    struct ofi_local l = { (void *)(uintptr_t)p, NULL, NULL };
    int seg, rc;

    if (ofi.descs || ofi.hmem) {
        seg = ofi_region_of(p, len);
        l.desc = ofi_desc(seg);
        l.at = ofi_local_at(seg, p);
        if (seg < 0 && ofi.local_keys) {
            rc = ofi_local_register(p, len, access, &l.mr);
            if (rc)
                return rc;
            l.desc = fi_mr_desc(l.mr);
        }
    }
    *out = l;
    return 0;
}

void ofi_local_failed(struct xport_ctx *f, const void *p, size_t len,
                      uint64_t access, int pe, int rc)
{
    char text[192];

    snprintf(text, sizeof text, "fi_mr_reg of %zu bytes at %p, which are not "
             "symmetric; is the limit of locked memory too low (ulimit -l), or "
             "the memory read-only?", len, p);
    ofi_op_error(f, access == FI_READ ? "get" : "put", pe, rc, text);
}

static void temp_mr_done(struct ofi_op *op)
{
    struct xport_ctx *f = op->ctx;

    fi_close(&((struct temp_mr *)op)->mr->fid);
    ofi_pool_free(&temp_mrs, op);
    ofi_ctx_completed(f);
}

static const struct ofi_op_type temp_mr_op = {
    .done = temp_mr_done, .failed = temp_mr_done
};

void *ofi_local_context(struct xport_ctx *f, int pe, const struct ofi_local *l)
{
    struct temp_mr *x;

    if (likely(!l->mr))
        return ofi_context(f, pe);
    x = ofi_pool_alloc(&temp_mrs, f);
    ofi_op_init(&x->op, &temp_mr_op, pe, f);
    x->mr = l->mr;
    return &x->op;
}

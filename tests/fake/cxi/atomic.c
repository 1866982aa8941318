/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics (rule 8): one element; the types and operations of the NIC and no
 * others; fetching ones know no delivery completion.
 */
#include "work.h"

#include <string.h>

static const uint8_t type_size[] = {
    [FI_INT8] = 1, [FI_UINT8] = 1, [FI_INT16] = 2, [FI_UINT16] = 2,
    [FI_INT32] = 4, [FI_UINT32] = 4, [FI_INT64] = 8, [FI_UINT64] = 8,
    [FI_FLOAT] = 4, [FI_DOUBLE] = 8, [FI_FLOAT_COMPLEX] = 8,
    [FI_DOUBLE_COMPLEX] = 16,
};

static size_t size_of(enum fi_datatype type)
{
    return (size_t)type < sizeof type_size ? type_size[type] : 0;
}

static bool is_real(enum fi_datatype type)
{
    return type == FI_FLOAT || type == FI_DOUBLE;
}

static bool is_complex(enum fi_datatype type)
{
    return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX;
}

static bool can(enum cxi_kind kind, enum fi_datatype type, enum fi_op op)
{
    bool compares = op >= FI_CSWAP && op <= FI_MSWAP;

    if (!size_of(type) || compares != (kind == CXI_COMPARE))
        return false;
    switch (op) {
    case FI_MIN: case FI_MAX:
    case FI_CSWAP_LE: case FI_CSWAP_LT: case FI_CSWAP_GE: case FI_CSWAP_GT:
        return !is_complex(type);
    case FI_SUM: case FI_ATOMIC_WRITE: case FI_CSWAP: case FI_CSWAP_NE:
        return true;
    case FI_ATOMIC_READ:
        return kind == CXI_FETCH;
    case FI_LOR: case FI_LAND: case FI_LXOR:
    case FI_BOR: case FI_BAND: case FI_BXOR: case FI_MSWAP:
        return !is_complex(type) && !is_real(type);
    default:
        return false;
    }
}

static int begin(struct cxi_ep *ep, const struct cxi_amo *a, uint64_t flags,
                 struct cxi_op **out)
{
    size_t size = size_of(a->type);
    struct cxi_op *op;
    int rc = cxi_ep_start(ep, a->kind, a->peer, flags, &op);

    if (rc)
        return rc;
    rc = cxi_ep_aim(op, a->addr, a->key);
    if (rc)
        return rc;
    op->len = size;
    op->buf = a->buf ? (char *)(uintptr_t)a->buf : (char *)op->comparand;
    op->type = a->type;
    op->aop = a->op;
    op->result = a->result;
    op->context = a->context;
    op->flags = FI_ATOMIC | (a->kind == CXI_ATOMIC ? FI_WRITE : FI_READ);
    if (a->compare)
        memcpy(op->comparand, a->compare, size);
    if (flags & FI_INJECT)
        cxi_op_copy(op);
    *out = op;
    return 0;
}

int cxi_amo_make(struct cxi_ep *ep, const struct cxi_amo *a, size_t count,
                 uint64_t flags, struct cxi_op **out)
{
    bool fetches = a->kind != CXI_ATOMIC;

    if (count != 1 || (!a->buf && a->op != FI_ATOMIC_READ) ||
        (fetches && !a->result) || (a->kind == CXI_COMPARE && !a->compare))
        return -FI_EINVAL;
    if (!can(a->kind, a->type, a->op))
        return -FI_EOPNOTSUPP;
    if (fetches && flags & FI_DELIVERY_COMPLETE)
        return -FI_EINVAL;
    return begin(ep, a, flags, out);
}

static ssize_t amo_op(struct fid_ep *fid, const struct cxi_amo *a,
                      size_t count, uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);
    struct cxi_op *op;
    int rc;

    pthread_mutex_lock(&ep->dom->lock);
    rc = cxi_amo_make(ep, a, count, flags, &op);
    if (!rc && a->result)
        rc = cxi_mr_reach(op, a->result, op->len, a->desc);
    if (!rc)
        cxi_nic_submit(op);
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

/* Operations given by a message. */
static ssize_t amo_msg(struct fid_ep *fid, struct cxi_amo *a,
                       const struct fi_msg_atomic *msg, uint64_t flags)
{
    uint64_t allowed = a->kind == CXI_ATOMIC ? CXI_WRITE_FLAGS
                                             : CXI_READ_FLAGS;
    bool read = msg && msg->op == FI_ATOMIC_READ;

    if (!msg || msg->rma_iov_count != 1 || !msg->rma_iov ||
        (!read && (msg->iov_count != 1 || !msg->msg_iov)))
        return -FI_EINVAL;
    if (flags & ~allowed)
        return -FI_EBADFLAGS;
    a->buf = read ? NULL : msg->msg_iov->addr;
    a->peer = msg->addr;
    a->addr = msg->rma_iov->addr;
    a->key = msg->rma_iov->key;
    a->type = msg->datatype;
    a->op = msg->op;
    a->context = msg->context;
    return amo_op(fid, a, read ? msg->rma_iov->count : msg->msg_iov->count,
                  cxi_ep_tx_flags(fid, flags));
}

static ssize_t writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                        uint64_t flags)
{
    struct cxi_amo a = { .kind = CXI_ATOMIC };

    return amo_msg(fid, &a, msg, flags);
}

static ssize_t readwritemsg(struct fid_ep *fid,
                            const struct fi_msg_atomic *msg,
                            struct fi_ioc *result, void **result_desc,
                            size_t results, uint64_t flags)
{
    struct cxi_amo a = { .kind = CXI_FETCH };

    if (!result || results != 1 || result->count != 1)
        return -FI_EINVAL;
    a.result = result->addr;
    a.desc = result_desc ? result_desc[0] : NULL;
    return amo_msg(fid, &a, msg, flags);
}

static ssize_t compwritemsg(struct fid_ep *fid,
                            const struct fi_msg_atomic *msg,
                            const struct fi_ioc *compare, void **compare_desc,
                            size_t compares, struct fi_ioc *result,
                            void **result_desc, size_t results,
                            uint64_t flags)
{
    struct cxi_amo a = { .kind = CXI_COMPARE };

    (void)compare_desc;
    if (!compare || compares != 1 || compare->count != 1 || !result ||
        results != 1 || result->count != 1)
        return -FI_EINVAL;
    a.compare = compare->addr;
    a.result = result->addr;
    a.desc = result_desc ? result_desc[0] : NULL;
    return amo_msg(fid, &a, msg, flags);
}

/* Operations given by arguments. */
static ssize_t amo_write(struct fid_ep *fid, const void *buf, size_t count,
                         void *desc, fi_addr_t peer, uint64_t addr,
                         uint64_t key, enum fi_datatype type, enum fi_op op,
                         void *context)
{
    struct cxi_amo a = { .kind = CXI_ATOMIC, .buf = buf, .peer = peer,
        .addr = addr, .key = key, .type = type, .op = op,
        .context = context };

    (void)desc;
    return amo_op(fid, &a, count, cxi_ep_plain_flags(fid));
}

static ssize_t amo_writev(struct fid_ep *fid, const struct fi_ioc *iov,
                          void **desc, size_t count, fi_addr_t peer,
                          uint64_t addr, uint64_t key, enum fi_datatype type,
                          enum fi_op op, void *context)
{
    (void)desc;
    if (!iov || count != 1)
        return -FI_EINVAL;
    return amo_write(fid, iov->addr, iov->count, NULL, peer, addr, key, type,
                     op, context);
}

static ssize_t amo_inject(struct fid_ep *fid, const void *buf, size_t count,
                          fi_addr_t peer, uint64_t addr, uint64_t key,
                          enum fi_datatype type, enum fi_op op)
{
    struct cxi_amo a = { .kind = CXI_ATOMIC, .buf = buf, .peer = peer,
        .addr = addr, .key = key, .type = type, .op = op };

    return amo_op(fid, &a, count, FI_INJECT);
}

static ssize_t readwrite(struct fid_ep *fid, const void *buf, size_t count,
                         void *desc, void *result, void *result_desc,
                         fi_addr_t peer, uint64_t addr, uint64_t key,
                         enum fi_datatype type, enum fi_op op, void *context)
{
    struct cxi_amo a = { .kind = CXI_FETCH, .buf = buf, .result = result,
        .peer = peer, .addr = addr, .key = key, .type = type, .op = op,
        .context = context, .desc = result_desc };

    (void)desc;
    return amo_op(fid, &a, count, cxi_ep_plain_flags(fid) & ~FI_INJECT);
}

static ssize_t readwritev(struct fid_ep *fid, const struct fi_ioc *iov,
                          void **desc, size_t count, struct fi_ioc *result,
                          void **result_desc, size_t results, fi_addr_t peer,
                          uint64_t addr, uint64_t key, enum fi_datatype type,
                          enum fi_op op, void *context)
{
    (void)desc;
    if (!iov || count != 1 || !result || results != 1)
        return -FI_EINVAL;
    return readwrite(fid, iov->addr, iov->count, NULL, result->addr,
                     result_desc ? result_desc[0] : NULL, peer, addr, key,
                     type, op, context);
}

static ssize_t compwrite(struct fid_ep *fid, const void *buf, size_t count,
                         void *desc, const void *compare, void *compare_desc,
                         void *result, void *result_desc, fi_addr_t peer,
                         uint64_t addr, uint64_t key, enum fi_datatype type,
                         enum fi_op op, void *context)
{
    struct cxi_amo a = { .kind = CXI_COMPARE, .buf = buf, .compare = compare,
        .result = result, .peer = peer, .addr = addr, .key = key,
        .type = type, .op = op, .context = context, .desc = result_desc };

    (void)desc, (void)compare_desc;
    return amo_op(fid, &a, count, cxi_ep_plain_flags(fid) & ~FI_INJECT);
}

static ssize_t compwritev(struct fid_ep *fid, const struct fi_ioc *iov,
                          void **desc, size_t count,
                          const struct fi_ioc *compare, void **compare_desc,
                          size_t compares, struct fi_ioc *result,
                          void **result_desc, size_t results, fi_addr_t peer,
                          uint64_t addr, uint64_t key, enum fi_datatype type,
                          enum fi_op op, void *context)
{
    (void)desc, (void)compare_desc;
    if (!iov || count != 1 || !compare || compares != 1 || !result ||
        results != 1)
        return -FI_EINVAL;
    return compwrite(fid, iov->addr, iov->count, NULL, compare->addr, NULL,
                     result->addr, result_desc ? result_desc[0] : NULL, peer,
                     addr, key, type, op, context);
}

static int valid(enum cxi_kind kind, enum fi_datatype type, enum fi_op op,
                 size_t *count)
{
    if (!can(kind, type, op))
        return -FI_EOPNOTSUPP;
    if (count)
        *count = 1;
    return 0;
}

static int writevalid(struct fid_ep *fid, enum fi_datatype type, enum fi_op op,
                      size_t *count)
{
    (void)fid;
    return valid(CXI_ATOMIC, type, op, count);
}

static int readwritevalid(struct fid_ep *fid, enum fi_datatype type,
                          enum fi_op op, size_t *count)
{
    (void)fid;
    return valid(CXI_FETCH, type, op, count);
}

static int compwritevalid(struct fid_ep *fid, enum fi_datatype type,
                          enum fi_op op, size_t *count)
{
    (void)fid;
    return valid(CXI_COMPARE, type, op, count);
}

int cxi_query_atomic(struct fid_domain *domain, enum fi_datatype type,
                     enum fi_op op, struct fi_atomic_attr *attr,
                     uint64_t flags)
{
    enum cxi_kind kind = flags & FI_COMPARE_ATOMIC ? CXI_COMPARE :
                         flags & FI_FETCH_ATOMIC ? CXI_FETCH : CXI_ATOMIC;

    (void)domain;
    if (flags & ~(FI_COMPARE_ATOMIC | FI_FETCH_ATOMIC) || !attr)
        return -FI_EINVAL;
    attr->size = size_of(type);
    return valid(kind, type, op, &attr->count);
}

struct fi_ops_atomic cxi_atomic_ops = {
    .size = sizeof cxi_atomic_ops, .write = amo_write, .writev = amo_writev,
    .writemsg = writemsg, .inject = amo_inject, .readwrite = readwrite,
    .readwritev = readwritev, .readwritemsg = readwritemsg,
    .compwrite = compwrite, .compwritev = compwritev,
    .compwritemsg = compwritemsg, .writevalid = writevalid,
    .readwritevalid = readwritevalid, .compwritevalid = compwritevalid,
};

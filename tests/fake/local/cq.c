/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: entries get their user's contexts back. */
#include "local.h"

#include <stdlib.h>
#include <string.h>

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
    struct local_cq *cq = container(fid, struct local_cq, fid);
    struct fi_cq_msg_entry *e = buf;
    ssize_t n = fi_cq_read(cq->real, buf, count);

    if (n <= 0)
        return n;
    pthread_mutex_lock(&cq->dom->lock);
    for (ssize_t i = 0; i < n; i++)
        e[i].op_context = local_op_end(e[i].op_context);
    pthread_mutex_unlock(&cq->dom->lock);
    return n;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *e,
                          uint64_t flags)
{
    struct local_cq *cq = container(fid, struct local_cq, fid);
    ssize_t n = fi_cq_readerr(cq->real, e, flags);

    if (n <= 0)
        return n;
    pthread_mutex_lock(&cq->dom->lock);
    if (e->op_context)
        e->op_context = local_op_end(e->op_context);
    pthread_mutex_unlock(&cq->dom->lock);
    return n;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno,
                               const void *data, char *buf, size_t len)
{
    struct local_cq *cq = container(fid, struct local_cq, fid);

    return fi_cq_strerror(cq->real, prov_errno, data, buf, len);
}

static int cq_close(struct fid *fid)
{
    struct local_cq *cq = container(fid, struct local_cq, fid.fid);
    int rc = fi_close(&cq->real->fid);

    if (!rc)
        free(cq);
    return rc;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
    struct local_cq *cq = container(fid, struct local_cq, fid.fid);

    return fi_control(&cq->real->fid, command, arg);
}

static struct fi_ops cq_fid_ops = {
    .size = sizeof cq_fid_ops, .close = cq_close, .bind = local_no_bind,
    .control = cq_control, .ops_open = local_no_ops,
};

static struct fi_ops_cq cq_ops = {
    .size = sizeof cq_ops, .read = cq_read, .readerr = cq_readerr,
    .strerror = cq_strerror,
};

int local_trywait(struct fid_fabric *fid, struct fid **fids, int count)
{
    struct local_fabric *f = container(fid, struct local_fabric, fid);
    struct fid *real;
    int rc = 0;

    for (int i = 0; i < count && !rc; i++) {
        if (fids[i]->fclass != FI_CLASS_CQ)
            return -FI_ENOSYS;
        real = &container(fids[i], struct local_cq, fid.fid)->real->fid;
        rc = fi_trywait(f->real, &real, 1);
    }
    return rc;
}

/* Newer libraries append to the structure, and read what lies there: 8 bytes
 * by libfabric 2.4. */
static void check_tail(const struct fi_cq_attr *attr)
{
    enum { NEWER = 16 };
    const char *tail = (const char *)attr + sizeof *attr;

    for (int i = 0; i < NEWER; i++)
        if (tail[i])
            local_broken("a struct fi_cq_attr is followed by what newer "
                         "versions take for attributes");
}

int local_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                  struct fid_cq **out, void *context)
{
    struct local_cq *cq = calloc(1, sizeof *cq);
    int rc;

    if (!cq)
        return -FI_ENOMEM;
    check_tail(attr);
    if (attr->format != FI_CQ_FORMAT_MSG || attr->size > 1 << 20) {
        free(cq);
        return attr->size > 1 << 20 ? -FI_ENOMEM : -FI_ENOSYS;
    }
    cq->dom = container(domain, struct local_domain, fid);
    rc = fi_cq_open(cq->dom->real, attr, &cq->real, NULL);
    if (rc) {
        free(cq);
        return rc;
    }
    cq->fid.fid = (struct fid){ FI_CLASS_CQ, context, &cq_fid_ops };
    cq->fid.ops = &cq_ops;
    *out = &cq->fid;
    return 0;
}

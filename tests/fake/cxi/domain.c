/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric and domain.  A domain opens one of the base provider and the one
 * completion queue of it on which everything ends.  The address vector and
 * the event queue are the base provider's own.  Without a virtual network of
 * the job there is no domain (rule 12).
 *
 * Rule 21.  A traffic class is one of libfabric's labels; deferred work is of
 * the domain's.  FAKE_CXI_TCLASSES has a bit for each that the job may use:
 * an endpoint of another one cannot be enabled.
 */
#include "work.h"

#include <stdlib.h>

static int domain_close(struct fid *fid)
{
    struct cxi_domain *dom = container(fid, struct cxi_domain, fid.fid);

    if (atomic_load(&dom->refs))
        return -FI_EBUSY;
    cxi_nic_stop(dom);
    cxi_work_log(dom);
    cxi_doorbell_stop(dom);
    fi_close(&dom->real_cq->fid);
    fi_close(&dom->real->fid);
    fi_freeinfo(dom->real_info);
    cxi_use_close(dom->nic_use);
    pthread_mutex_destroy(&dom->lock);
    atomic_fetch_sub(&dom->fabric->refs, 1);
    free(dom);
    return 0;
}

static int av_open(struct fid_domain *domain, struct fi_av_attr *attr,
                   struct fid_av **out, void *context)
{
    struct cxi_domain *dom = container(domain, struct cxi_domain, fid);

    return fi_av_open(dom->real, attr, out, context);
}

static int no_sep(struct fid_domain *domain, struct fi_info *info,
                  struct fid_ep **out, void *context)
{
    (void)domain, (void)info, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_poll(struct fid_domain *domain, struct fi_poll_attr *attr,
                   struct fid_poll **out)
{
    (void)domain, (void)attr, (void)out;
    return -FI_ENOSYS;
}

static int no_stx(struct fid_domain *domain, struct fi_tx_attr *attr,
                  struct fid_stx **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_srx(struct fid_domain *domain, struct fi_rx_attr *attr,
                  struct fid_ep **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_collective(struct fid_domain *domain, enum fi_collective_op coll,
                         struct fi_collective_attr *attr, uint64_t flags)
{
    (void)domain, (void)coll, (void)attr, (void)flags;
    return -FI_ENOSYS;
}

static int no_endpoint2(struct fid_domain *domain, struct fi_info *info,
                        struct fid_ep **out, uint64_t flags, void *context)
{
    return flags ? -FI_ENOSYS : cxi_ep_open(domain, info, out, context);
}

static struct fi_ops domain_fid_ops = {
    .size = sizeof domain_fid_ops, .close = domain_close,
    .bind = cxi_no_bind, .control = cxi_work_control,
    .ops_open = cxi_work_ops,
};

static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = av_open, .cq_open = cxi_cq_open,
    .endpoint = cxi_ep_open, .scalable_ep = no_sep,
    .cntr_open = cxi_cntr_open, .poll_open = no_poll, .stx_ctx = no_stx,
    .srx_ctx = no_srx, .query_atomic = cxi_query_atomic,
    .query_collective = no_collective, .endpoint2 = no_endpoint2,
};

static int open_base(struct cxi_domain *dom)
{
    struct fi_cq_attr attr = { .size = 1 << 16, .format = FI_CQ_FORMAT_DATA,
                               .wait_obj = FI_WAIT_FD };
    int rc = -FI_ENODATA;

    dom->real_info = cxi_base_info();
    if (!dom->real_info)
        return rc;
    rc = fi_domain(dom->fabric->real, dom->real_info, &dom->real, NULL);
    if (rc)
        goto no_domain;
    rc = fi_cq_open(dom->real, &attr, &dom->real_cq, NULL);
    if (rc)
        goto no_cq;
    rc = cxi_doorbell_start(dom);
    if (rc)
        goto no_doorbell;
    rc = cxi_nic_start(dom);
    if (!rc)
        return 0;
    cxi_doorbell_stop(dom);
no_doorbell:
    fi_close(&dom->real_cq->fid);
no_cq:
    fi_close(&dom->real->fid);
no_domain:
    fi_freeinfo(dom->real_info);
    return rc;
}

int cxi_tclass(uint32_t wanted, uint32_t otherwise, uint32_t *out)
{
    if (wanted != FI_TC_UNSPEC && (wanted < FI_TC_LABEL ||
                                  wanted > FI_TC_SCAVENGER))
        return -FI_EINVAL;
    *out = wanted != FI_TC_UNSPEC ? wanted : otherwise;
    return 0;
}

static int domain_open(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **out, void *context)
{
    struct cxi_domain *dom;
    uint32_t tclass;
    int rc;

    if (cxi_env("FAKE_CXI_NO_VNI", 0))
        return -FI_ENOSYS;
    if (!info || !info->domain_attr ||
        !(info->domain_attr->mr_mode & FI_MR_ENDPOINT) ||
        cxi_tclass(info->domain_attr->tclass, FI_TC_BEST_EFFORT, &tclass))
        return -FI_EINVAL;
    dom = calloc(1, sizeof *dom);
    if (!dom)
        return -FI_ENOMEM;
    dom->fid.fid = (struct fid){ FI_CLASS_DOMAIN, context, &domain_fid_ops };
    dom->fid.ops = &domain_ops;
    dom->fid.mr = &cxi_mr_ops;
    dom->fabric = container(fabric, struct cxi_fabric, fid);
    dom->tclass = tclass;
    dom->prov_keys = info->domain_attr->mr_mode & FI_MR_PROV_KEY;
    dom->depth = cxi_depth();
    dom->errors_count = cxi_env("FAKE_CXI_ERRORS_COUNT", 0);
    dom->late_ns = (uint64_t)cxi_env("FAKE_CXI_LATE_MS", 2) * 1000000;
    pthread_mutex_init(&dom->lock, NULL);
    rc = cxi_use_open(info->domain_attr->name ? info->domain_attr->name
                      : "cxi0", &dom->nic_use);
    if (!rc)
        rc = open_base(dom);
    if (rc && dom->nic_use)
        cxi_use_close(dom->nic_use);
    if (rc) {
        pthread_mutex_destroy(&dom->lock);
        free(dom);
        return rc;
    }
    atomic_fetch_add(&dom->fabric->refs, 1);
    *out = &dom->fid;
    return 0;
}

static int domain2_open(struct fid_fabric *fabric, struct fi_info *info,
                        struct fid_domain **out, uint64_t flags, void *context)
{
    return flags ? -FI_ENOSYS : domain_open(fabric, info, out, context);
}

static int fabric_close(struct fid *fid)
{
    struct cxi_fabric *f = container(fid, struct cxi_fabric, fid.fid);

    if (atomic_load(&f->refs))
        return -FI_EBUSY;
    fi_close(&f->real->fid);
    free(f);
    return 0;
}

static int eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
                   struct fid_eq **out, void *context)
{
    struct cxi_fabric *f = container(fabric, struct cxi_fabric, fid);

    return fi_eq_open(f->real, attr, out, context);
}

static int no_pep(struct fid_fabric *fabric, struct fi_info *info,
                  struct fid_pep **out, void *context)
{
    (void)fabric, (void)info, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_wait(struct fid_fabric *fabric, struct fi_wait_attr *attr,
                   struct fid_wait **out)
{
    (void)fabric, (void)attr, (void)out;
    return -FI_ENOSYS;
}

/* Of queues alone, as the counters wait by spinning. */
static int trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
    int rc = 0;

    (void)fabric;
    for (int i = 0; i < count && !rc; i++)
        rc = fids[i]->fclass == FI_CLASS_CQ ? cxi_cq_trywait(fids[i])
                                            : -FI_EINVAL;
    return rc;
}

static struct fi_ops fabric_fid_ops = {
    .size = sizeof fabric_fid_ops, .close = fabric_close,
    .bind = cxi_no_bind, .control = cxi_no_control, .ops_open = cxi_no_ops,
};

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof fabric_ops, .domain = domain_open, .passive_ep = no_pep,
    .eq_open = eq_open, .wait_open = no_wait, .trywait = trywait,
    .domain2 = domain2_open,
};

int cxi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
                    void *context)
{
    struct cxi_fabric *f = calloc(1, sizeof *f);
    struct fi_info *info = cxi_base_info();
    int rc = !f ? -FI_ENOMEM : !info ? -FI_ENODATA :
             fi_fabric(info->fabric_attr, &f->real, NULL);

    if (info)
        fi_freeinfo(info);
    if (rc) {
        free(f);
        return rc;
    }
    f->fid.fid = (struct fid){ FI_CLASS_FABRIC, context, &fabric_fid_ops };
    f->fid.ops = &fabric_ops;
    f->fid.api_version = attr ? attr->api_version : FI_VERSION(1, 17);
    *out = &f->fid;
    return 0;
}

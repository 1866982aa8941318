/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics and domains. */
#include "local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int local_no_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)fid, (void)to, (void)flags;
    return -FI_ENOSYS;
}

int local_no_control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)command, (void)arg;
    return -FI_ENOSYS;
}

int local_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
                 void *context)
{
    (void)fid, (void)name, (void)flags, (void)ops, (void)context;
    return -FI_ENOSYS;
}

/* ---- domains ---- */

static void forget(struct local_domain *d)
{
    struct local_mr *mr;
    struct local_op *op;

    while ((mr = d->mrs)) {
        if (!mr->closed)
            local_broken("a domain is closed with a region of %zu bytes open",
                         mr->len);
        d->mrs = mr->next;
        free(mr);
    }
    while ((op = d->ops)) {
        d->ops = op->next_all;
        free(op);
    }
}

static int domain_close(struct fid *fid)
{
    struct local_domain *d = container(fid, struct local_domain, fid.fid);
    int rc = fi_close(&d->real->fid);

    if (rc)
        return rc;
    if (local_env("FAKE_LOCAL_LOG", 0))
        fprintf(stderr, "fake %s: %llu posts, %llu refused; %llu regions; "
                "%llu contexts\n", local_like->name,
                (unsigned long long)d->log.posts,
                (unsigned long long)d->log.refused,
                (unsigned long long)d->log.regions,
                (unsigned long long)d->log.contexts);
    forget(d);
    fi_freeinfo(d->real_info);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return 0;
}

static struct fi_ops domain_fid_ops = {
    .size = sizeof domain_fid_ops, .close = domain_close,
    .bind = local_no_bind, .control = local_no_control,
    .ops_open = local_no_ops,
};

static int av_open(struct fid_domain *fid, struct fi_av_attr *attr,
                   struct fid_av **out, void *context)
{
    struct local_domain *d = container(fid, struct local_domain, fid);

    return fi_av_open(d->real, attr, out, context);
}

static int no_cntr(struct fid_domain *fid, struct fi_cntr_attr *attr,
                   struct fid_cntr **out, void *context)
{
    (void)fid, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = av_open, .cq_open = local_cq_open,
    .endpoint = local_ep_open, .cntr_open = no_cntr,
};

static int domain_open(struct fid_fabric *fid, struct fi_info *info,
                       struct fid_domain **out, void *context)
{
    struct local_fabric *f = container(fid, struct local_fabric, fid);
    struct local_domain *d = calloc(1, sizeof *d);
    int rc = -FI_ENOMEM;

    (void)info;
    if (!d)
        return -FI_ENOMEM;
    d->real_info = local_base_info();
    if (d->real_info)
        rc = fi_domain(f->real, d->real_info, &d->real, NULL);
    if (rc) {
        fi_freeinfo(d->real_info);
        free(d);
        return rc;
    }
    pthread_mutex_init(&d->lock, NULL);
    d->random = (uint64_t)local_env("FAKE_LOCAL_SEED", getpid());
    d->fid.fid = (struct fid){ FI_CLASS_DOMAIN, context, &domain_fid_ops };
    d->fid.ops = &domain_ops;
    d->fid.mr = &local_mr_ops;
    *out = &d->fid;
    return 0;
}

/* ---- fabrics ---- */

static int fabric_close(struct fid *fid)
{
    struct local_fabric *f = container(fid, struct local_fabric, fid.fid);
    int rc = fi_close(&f->real->fid);

    if (!rc)
        free(f);
    return rc;
}

static struct fi_ops fabric_fid_ops = {
    .size = sizeof fabric_fid_ops, .close = fabric_close,
    .bind = local_no_bind, .control = local_no_control,
    .ops_open = local_no_ops,
};

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof fabric_ops, .domain = domain_open,
    .trywait = local_trywait,
};

int local_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
                      void *context)
{
    struct local_fabric *f = calloc(1, sizeof *f);
    struct fi_info *base = local_base_info();
    int rc = f && base ? fi_fabric(base->fabric_attr, &f->real, NULL)
                       : -FI_ENOMEM;

    fi_freeinfo(base);
    if (rc) {
        free(f);
        return rc;
    }
    f->fid.fid = (struct fid){ FI_CLASS_FABRIC, context, &fabric_fid_ops };
    f->fid.ops = &fabric_ops;
    f->fid.api_version = attr->api_version;
    *out = &f->fid;
    return 0;
}

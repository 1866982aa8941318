/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: the descriptor of one is the region itself. */
#include "local.h"

#include <stdio.h>
#include <stdlib.h>

#define LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)

struct local_mr *local_mr_check(struct local_domain *d, void *desc,
                                const void *buf, size_t len, uint64_t access)
{
    struct local_mr *mr = d->mrs;
    const char *at = buf;

    if (!(local_like->mr_mode & FI_MR_LOCAL) || !len)
        return NULL;
    if (!desc)
        local_broken("%zu bytes at %p are posted without a descriptor", len,
                     buf);
    while (mr && mr != desc)
        mr = mr->next;
    if (!mr)
        local_broken("the descriptor %p is of no region", desc);
    if (mr->closed)
        local_broken("the descriptor %p is of a region that is closed", desc);
    if (at < mr->base || at + len > mr->base + mr->len)
        local_broken("%zu bytes at %p are not in the region of their "
                     "descriptor, %zu bytes at %p", len, buf, mr->len,
                     (const void *)mr->base);
    if ((mr->access & access) != access)
        local_broken("the region is registered for access %#llx, not %#llx",
                     (unsigned long long)mr->access,
                     (unsigned long long)access);
    return mr;
}

static int mr_close(struct fid *fid)
{
    struct local_mr *mr = container(fid, struct local_mr, fid.fid);
    struct local_domain *d = mr->dom;
    int rc;

    pthread_mutex_lock(&d->lock);
    if (mr->closed)
        local_broken("a region is closed twice");
    if (mr->uses)
        local_broken("a region of %zu bytes is closed, and %d operations "
                     "use it", mr->len, mr->uses);
    mr->closed = true;          /* kept, so that its descriptor is known */
    pthread_mutex_unlock(&d->lock);
    rc = fi_close(&mr->real->fid);
    return rc;
}

static struct fi_ops mr_fid_ops = {
    .size = sizeof mr_fid_ops, .close = mr_close, .bind = local_no_bind,
    .control = local_no_control, .ops_open = local_no_ops,
};

static uint64_t next_random(struct local_domain *d)
{
    d->random = d->random * 6364136223846793005u + 1442695040888963407u;
    return d->random >> 17;
}

/* A driver that pins all memory for writing, whatever the access, refuses the
 * rest. */
static bool is_writable(const void *p)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[512], can[5];
    bool is = false;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %4s", &from, &to, can) == 3 &&
            (uintptr_t)p >= from && (uintptr_t)p < to)
            is = can[1] == 'w';
    if (f)
        fclose(f);
    return is;
}

static int regattr(struct fid *fid, const struct fi_mr_attr *attr,
                   uint64_t flags, struct fid_mr **out)
{
    struct local_domain *d = container(fid, struct local_domain, fid.fid);
    struct fi_mr_attr a = *attr;
    struct local_mr *mr;
    int rc = -FI_ENOKEY;

    if (attr->iov_count != 1)
        return -FI_EINVAL;
    if (attr->iface == FI_HMEM_SYSTEM && attr->mr_iov->iov_len &&
        !is_writable(attr->mr_iov->iov_base))
        return -FI_EFAULT;
    mr = calloc(1, sizeof *mr);
    if (!mr)
        return -FI_ENOMEM;
    /* The base provider identifies regions by their keys alone. */
    for (int tries = 0; rc == -FI_ENOKEY && tries < 8; tries++) {
        pthread_mutex_lock(&d->lock);
        if (local_like->mr_mode & FI_MR_PROV_KEY)
            a.requested_key = next_random(d);
        pthread_mutex_unlock(&d->lock);
        a.access |= FI_REMOTE_READ | FI_REMOTE_WRITE;
        rc = fi_mr_regattr(d->real, &a, flags, &mr->real);
        if (!(local_like->mr_mode & FI_MR_PROV_KEY))
            break;
    }
    if (rc) {
        free(mr);
        return rc;
    }
    mr->dom = d;
    mr->base = attr->mr_iov->iov_base;
    mr->len = attr->mr_iov->iov_len;
    mr->access = attr->access;
    mr->fid.fid = (struct fid){ FI_CLASS_MR, attr->context, &mr_fid_ops };
    mr->fid.mem_desc = mr;
    mr->fid.key = fi_mr_key(mr->real);
    pthread_mutex_lock(&d->lock);
    mr->next = d->mrs;
    d->mrs = mr;
    d->log.regions++;
    pthread_mutex_unlock(&d->lock);
    *out = &mr->fid;
    return 0;
}

static int regv(struct fid *fid, const struct iovec *iov, size_t count,
                uint64_t access, uint64_t offset, uint64_t key,
                uint64_t flags, struct fid_mr **out, void *context)
{
    struct fi_mr_attr a = {
        .mr_iov = iov, .iov_count = count, .access = access,
        .offset = offset, .requested_key = key, .context = context
    };

    return regattr(fid, &a, flags, out);
}

static int reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
               uint64_t offset, uint64_t key, uint64_t flags,
               struct fid_mr **out, void *context)
{
    struct iovec iov = { (void *)(uintptr_t)buf, len };

    if (access & ~(uint64_t)(LOCAL | FI_REMOTE_READ | FI_REMOTE_WRITE))
        return -FI_EBADFLAGS;
    return regv(fid, &iov, 1, access, offset, key, flags, out, context);
}

struct fi_ops_mr local_mr_ops = {
    .size = sizeof local_mr_ops, .reg = reg, .regv = regv, .regattr = regattr,
};

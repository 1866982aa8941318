/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions (rule 2): register, bind to an enabled endpoint, enable, in
 * this order.  Nothing is registered with the base provider before enable,
 * except the shadow of a client key: one byte that shows an initiator which
 * came too early from one with a wrong key.  Memory of a GPU is reached with
 * FAKE_CXI_HMEM=1 only.
 *
 * Rule 18.  What is passed as a descriptor counts once the domain has been
 * asked for that (enable_hybrid_mr_desc), and then has to be one.  Without
 * one an operation maps its memory through the cache of regions.
 */
#include "work.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int mr_close(struct fid *fid)
{
    struct cxi_mr *mr = container(fid, struct cxi_mr, fid.fid), **at;
    struct cxi_domain *dom = mr->dom;
    struct cxi_count **late, *c;

    pthread_mutex_lock(&dom->lock);
    for (at = &dom->mrs; *at != mr; at = &(*at)->next)
        ;
    *at = mr->next;
    if (mr->ep)
        mr->ep->refs--;
    if (mr->cntr)
        mr->cntr->refs--;
    for (late = &dom->uncounted; (c = *late); )
        if (c->mr == mr) {
            *late = c->next;
            free(c);
        } else {
            late = &c->next;
        }
    if (mr->base) {
        dom->counters--;
        epoll_ctl(dom->arrivals, EPOLL_CTL_DEL, mr->fd, NULL);
    }
    pthread_mutex_unlock(&dom->lock);
    if (mr->real)
        fi_close(&mr->real->fid);
    if (mr->probe)
        fi_close(&mr->probe->fid);
    if (mr->base)
        fi_close(&mr->base->fid);
    if (mr->shadow)
        fi_close(&mr->shadow->fid);
    if (mr->seen)
        munmap(mr->seen, mr->len);
    atomic_fetch_sub(&dom->refs, 1);
    free(mr);
    return 0;
}

/* Counters of an endpoint never count what others write, one of a region
 * does, and may do so for several (rule 16). */
static int bind_cntr(struct cxi_mr *mr, struct cxi_cntr *cntr, uint64_t flags)
{
    int rc = 0;

    pthread_mutex_lock(&mr->dom->lock);
    if (flags != FI_REMOTE_WRITE || !mr->events || mr->real || mr->cntr ||
        cntr->dom != mr->dom) {
        rc = -FI_EINVAL;
    } else {
        mr->cntr = cntr;
        cntr->refs++;
    }
    pthread_mutex_unlock(&mr->dom->lock);
    return rc;
}

static int mr_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct cxi_mr *mr = container(fid, struct cxi_mr, fid.fid);
    struct cxi_ep *ep = container(to, struct cxi_ep, fid.fid);
    int rc = 0;

    if (to->fclass == FI_CLASS_CNTR)
        return bind_cntr(mr, container(to, struct cxi_cntr, fid.fid), flags);
    if (to->fclass != FI_CLASS_EP)
        return -FI_ENOSYS;
    if (flags)
        return -FI_EINVAL;
    pthread_mutex_lock(&mr->dom->lock);
    if (ep->dom != mr->dom || mr->ep ||
        (mr->events && !(ep->caps & FI_RMA_EVENT)))
        rc = -FI_EINVAL;
    else if (!ep->enabled)
        rc = cxi_rule(-FI_EINVAL, "2", "fi_mr_bind: the endpoint is not "
                      "enabled yet (key 0x%lx)", (unsigned long)mr->key);
    else {
        mr->ep = ep;
        ep->refs++;
    }
    pthread_mutex_unlock(&mr->dom->lock);
    return rc;
}

/* The base provider's counter of this region, which the NIC looks at. */
static int count_base(struct cxi_mr *mr)
{
    struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_FD };
    struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.ptr = mr };
    struct cxi_domain *dom = mr->dom;
    struct fid_cntr *base;
    int fd, rc = fi_cntr_open(dom->real, &attr, &base, NULL);

    if (rc)
        return rc;
    rc = fi_mr_bind(mr->real, &base->fid, FI_REMOTE_WRITE);
    if (!rc)
        rc = fi_control(&base->fid, FI_GETWAIT, &fd);
    pthread_mutex_lock(&dom->lock);
    if (!rc && epoll_ctl(dom->arrivals, EPOLL_CTL_ADD, fd, &e))
        rc = -FI_EMFILE;
    if (!rc) {
        mr->base = base;
        mr->fd = fd;
        dom->counters++;
    }
    pthread_mutex_unlock(&dom->lock);
    if (rc) {
        fi_close(&mr->real->fid);
        mr->real = NULL;
        fi_close(&base->fid);
    }
    return rc;
}

/* Behind the others: all are as late. */
static void count_deferred(struct cxi_mr *mr, uint64_t n, uint64_t us)
{
    struct cxi_count **at = &mr->dom->uncounted;
    struct cxi_count *c = malloc(sizeof *c);

    if (!c)
        abort();
    while (*at)
        at = &(*at)->next;
    *c = (struct cxi_count){ NULL, mr, cxi_now() + us * 1000, n };
    *at = c;
}

void cxi_mr_count_late(struct cxi_domain *dom)
{
    uint64_t now = dom->uncounted ? cxi_now() : 0;
    struct cxi_count *c;

    while ((c = dom->uncounted) && c->due <= now) {
        dom->uncounted = c->next;
        cxi_cntr_change(c->mr->cntr, false, true, c->n);
        free(c);
    }
}

/* Signs of what came to a region: it counts n times each. */
static void arrived(struct cxi_mr *mr, uint64_t n)
{
    uint64_t late = (uint64_t)cxi_env("FAKE_CXI_REGION_LATE_US", 0);

    n *= (uint64_t)cxi_env("FAKE_CXI_REGION", 1);
    if (late)
        count_deferred(mr, n, late);
    else
        cxi_cntr_change(mr->cntr, false, true, n);
}

/* A sign follows the data that it is for, so it is taken before the counter
 * is read.  Only those that have a sign are read: there may be a thousand. */
void cxi_mr_count(struct cxi_domain *dom)
{
    struct epoll_event e[16];
    char signs[64];
    int found;

    do {
        found = dom->counters ? epoll_wait(dom->arrivals, e, 16, 0) : 0;
        for (int i = 0; i < found; i++) {
            struct cxi_mr *mr = e[i].data.ptr;
            uint64_t n;

            while (recv(mr->fd, signs, sizeof signs, MSG_DONTWAIT) > 0)
                ;
            n = fi_cntr_read(mr->base);
            if (n != mr->counted)
                arrived(mr, n - mr->counted);
            mr->counted = n;
        }
    } while (found == 16);
}

struct pages {
    uintptr_t from, to;
};

static int by_start(const void *a, const void *b)
{
    const struct pages *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* The memory that regions pin: what several have in common counts once.  Under
 * the domain's lock. */
static size_t pinned(const struct cxi_domain *dom)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t n = 0, sum = 0;
    uintptr_t end = 0;
    struct pages *p;

    for (const struct cxi_mr *mr = dom->mrs; mr; mr = mr->next)
        n++;
    p = malloc((n + 1) * sizeof *p);
    if (!p)
        return 0;
    n = 0;
    for (const struct cxi_mr *mr = dom->mrs; mr; mr = mr->next) {
        if (mr->seen || !mr->len)
            continue;
        p[n].from = (uintptr_t)mr->buf / page * page;
        p[n++].to = ((uintptr_t)mr->buf + mr->len + page - 1) / page * page;
    }
    qsort(p, n, sizeof *p, by_start);
    for (size_t i = 0; i < n; i++) {
        if (p[i].from > end)
            end = p[i].from;
        sum += p[i].to > end ? p[i].to - end : 0;
        end = p[i].to > end ? p[i].to : end;
    }
    free(p);
    return sum;
}

/* Is there a limit of locked memory that the newest passes?  What is only the
 * provider's to read is pinned, too, when it is registered. */
static int pin(struct cxi_domain *dom)
{
    long most = cxi_env("FAKE_CXI_PINNED", 0);
    size_t sum = pinned(dom);

    if (most && sum > (size_t)most)
        return -FI_ENOMEM;
    if (sum > dom->log.pinned)
        dom->log.pinned = sum;
    return 0;
}

static int mr_enable(struct cxi_mr *mr)
{
    struct cxi_domain *dom = mr->dom;
    uint64_t key, known;
    int rc;

    if (!mr->ep)
        return cxi_rule(-FI_EINVAL, "2", "fi_mr_enable: no endpoint is bound "
                        "(key 0x%lx)", (unsigned long)mr->key);
    if (mr->real)
        return -FI_EINVAL;
    pthread_mutex_lock(&dom->lock);
    known = dom->prov_keys ? cxi_key_new(mr) : mr->key;
    pthread_mutex_unlock(&dom->lock);
    key = mr->ep->port << 48 |
          (dom->prov_keys ? cxi_key_base(known, mr->alike) : known);
    rc = fi_mr_reg(dom->real, mr->seen ? mr->seen : mr->buf, mr->len,
                   mr->access, 0, key, mr->cntr ? FI_RMA_EVENT : 0, &mr->real,
                   NULL);
    if (!rc)
        rc = fi_mr_reg(dom->real, mr->seen ? mr->seen : mr->buf, mr->len,
                       mr->access, 0, key | CXI_KEY_PROBE, 0, &mr->probe,
                       NULL);
    if (!rc && mr->cntr)
        rc = count_base(mr);
    if (rc)
        return rc;
    mr->key = mr->fid.key = known;
    if (mr->shadow)
        fi_close(&mr->shadow->fid);
    mr->shadow = NULL;
    return 0;
}

static int mr_control(struct fid *fid, int command, void *arg)
{
    (void)arg;
    return command == FI_ENABLE ?
           mr_enable(container(fid, struct cxi_mr, fid.fid)) : -FI_ENOSYS;
}

static struct fi_ops mr_fid_ops = {
    .size = sizeof mr_fid_ops, .close = mr_close, .bind = mr_bind,
    .control = mr_control, .ops_open = cxi_no_ops,
};

/* Memory of a GPU that takes part: through a descriptor of the driver's, as
 * the hardware's driver gets at it. */
static void *driver(void)
{
    static const char *const names[] = {
        "libcuda.so.1", "libamdhip64.so.7", "libamdhip64.so.6",
        "libamdhip64.so.5"
    };
    void *lib = NULL;

    for (int i = 0; i < 4 && !lib; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    return lib;
}

/* The driver's range around the first byte is all that it asks for. */
static bool is_one_mapping(void *lib, void *p, size_t len)
{
    int (*query)(unsigned n, int *attributes, void **out, unsigned long long p);
    int size_of_range = 12;
    size_t size = 0;
    void *out = &size;

    *(void **)&query = dlsym(lib, "cuPointerGetAttributes");
    return !query || query(1, &size_of_range, &out, (uintptr_t)p) ||
           size >= len;
}

static void *see(void *p, size_t len)
{
    int (*cuda)(int *out, unsigned long long p, size_t size, int kind,
                unsigned long long flags) = NULL;
    int (*hsa)(const void *p, size_t size, int *fd, uint64_t *offset) = NULL;
    void *lib = driver(), *at;
    uint64_t off = 0;
    int fd = -1;

    if (lib) {
        *(void **)&cuda = dlsym(lib, "cuMemGetHandleForAddressRange");
        *(void **)&hsa = dlsym(lib, "hsa_amd_portable_export_dmabuf");
    }
    if (cxi_env("FAKE_CXI_HMEM", 0) == 2 && cuda &&
        !is_one_mapping(lib, p, len))
        return NULL;
    if ((!cuda && !hsa) || (cuda ? cuda(&fd, (uintptr_t)p, len, 1, 0)
                                 : hsa(p, len, &fd, &off)))
        return NULL;
    if (cuda)                   /* it starts at p, by its position */
        off = (uint64_t)lseek(fd, 0, SEEK_CUR);
    at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)off);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* A read of a GPU's memory brings what was stored there before it: the stand-in
 * for its driver is notified. */
void cxi_mr_was_read(const struct cxi_op *op)
{
    const struct cxi_mr *mr = op->ep->dom->mrs;
    void (*notify)(void) = NULL, *lib;

    if (op->kind != CXI_READ)
        return;
    while (mr && !(mr->seen && mr->ep && mr->ep->port == op->rkey >> 48))
        mr = mr->next;
    lib = mr ? driver() : NULL;
    if (lib)
        *(void **)&notify = dlsym(lib, "dev_nic_has_read");
    if (notify)
        notify();
}

/* The region of a GPU's memory that this address is in, as either sees it. */
const struct cxi_mr *cxi_mr_of(struct cxi_domain *dom, const void *buf)
{
    const struct cxi_mr *mr = dom->mrs;

    while (mr && (!mr->seen ||
                  ((uintptr_t)buf - (uintptr_t)mr->buf >= mr->len &&
                   (uintptr_t)buf - (uintptr_t)mr->seen >= mr->len)))
        mr = mr->next;
    return mr;
}

/* The provider finds out by itself whose memory it is. */
void *cxi_local(struct cxi_domain *dom, const void *buf)
{
    const struct cxi_mr *mr = cxi_mr_of(dom, buf);

    if (!mr || (uintptr_t)buf - (uintptr_t)mr->buf >= mr->len)
        return (void *)(uintptr_t)buf;
    return (char *)mr->seen + ((const char *)buf - (char *)mr->buf);
}

/* With CXI_FORK_SAFE whole pages are withheld from children. */
static void withhold(const void *buf, size_t len)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)buf / page * page;
    uintptr_t to = ((uintptr_t)buf + len + page - 1) / page * page;

    if (cxi_env("FAKE_CXI_FORK", 0) && cxi_env("CXI_FORK_SAFE", 0) && len)
        madvise((void *)from, to - from, MADV_DONTFORK);
}

int cxi_mr_reach_later(struct cxi_ep *ep, const void *buf, size_t len,
                       const void *desc)
{
    const struct cxi_mr *mr = ep->dom->mrs;

    if (!ep->hybrid || !desc) {
        ep->dom->log.mapped++;
        withhold(buf, len);
        return 0;
    }
    while (mr && mr != desc)
        mr = mr->next;
    if (!mr || (uintptr_t)buf - (uintptr_t)mr->buf > mr->len ||
        (uintptr_t)buf - (uintptr_t)mr->buf + len > mr->len)
        return cxi_rule(-FI_EINVAL, "18", "the descriptor is not of a region "
                        "that has these %zu bytes at %p (%zu at %p)", len, buf,
                        mr ? mr->len : 0, mr ? mr->buf : NULL);
    ep->dom->log.described++;
    return 0;
}

int cxi_mr_reach(struct cxi_op *op, const void *buf, size_t len,
                 const void *desc)
{
    int rc = cxi_mr_reach_later(op->ep, buf, len, desc);

    if (rc)
        cxi_op_cancel(op);
    return rc;
}

static int check(struct cxi_domain *dom, const struct fi_mr_attr *a,
                 uint64_t flags)
{
    if (flags & ~FI_RMA_EVENT || a->offset || a->iov_count != 1 ||
        !a->mr_iov)
        return -FI_EINVAL;
    if (a->iface != FI_HMEM_SYSTEM &&
        ((a->iface != FI_HMEM_CUDA && a->iface != FI_HMEM_ROCR) ||
         !cxi_env("FAKE_CXI_HMEM", 0)))
        return -FI_ENOSYS;
    if (dom->prov_keys)
        return 0;
    if (a->requested_key > UINT32_MAX)
        return -FI_EKEYREJECTED;
    for (struct cxi_mr *mr = dom->mrs; mr; mr = mr->next)
        if (mr->key == a->requested_key)
            return -FI_ENOKEY;
    return 0;
}

static int reg_attr(struct fid *fid, const struct fi_mr_attr *a,
                    uint64_t flags, struct fid_mr **out)
{
    struct cxi_domain *dom = container(fid, struct cxi_domain, fid.fid);
    struct cxi_mr *mr;
    int rc;

    pthread_mutex_lock(&dom->lock);
    rc = check(dom, a, flags);
    mr = rc ? NULL : calloc(1, sizeof *mr);
    if (!mr) {
        pthread_mutex_unlock(&dom->lock);
        return rc ? rc : -FI_ENOMEM;
    }
    mr->dom = dom;
    mr->buf = a->mr_iov[0].iov_base;
    mr->len = a->mr_iov[0].iov_len;
    if (a->iface != FI_HMEM_SYSTEM) {
        mr->seen = see(mr->buf, mr->len);
        if (!mr->seen) {        /* the driver of the GPU has refused it */
            pthread_mutex_unlock(&dom->lock);
            free(mr);
            return -FI_EFAULT;
        }
    }
    mr->access = a->access;
    mr->events = flags & FI_RMA_EVENT;
    mr->key = dom->prov_keys ? FI_KEY_NOTAVAIL : a->requested_key;
    mr->fid.fid = (struct fid){ FI_CLASS_MR, a->context, &mr_fid_ops };
    mr->fid.mem_desc = mr;
    mr->fid.key = mr->key;
    mr->next = dom->mrs;
    dom->mrs = mr;
    rc = pin(dom);
    if (rc) {
        dom->mrs = mr->next;
        if (mr->seen)
            munmap(mr->seen, mr->len);
        free(mr);
    }
    pthread_mutex_unlock(&dom->lock);
    if (rc)
        return rc;
    if (!mr->seen)
        withhold(mr->buf, mr->len);
    atomic_fetch_add(&dom->refs, 1);
    if (!dom->prov_keys &&
        fi_mr_reg(dom->real, &mr->touched, 1, FI_REMOTE_WRITE, 0,
                  CXI_KEY_SHADOW | mr->key, 0, &mr->shadow, NULL))
        mr->shadow = NULL;
    *out = &mr->fid;
    return 0;
}

static int reg_v(struct fid *fid, const struct iovec *iov, size_t count,
                 uint64_t access, uint64_t offset, uint64_t key,
                 uint64_t flags, struct fid_mr **out, void *context)
{
    struct fi_mr_attr a = { .mr_iov = iov, .iov_count = count,
        .access = access, .offset = offset, .requested_key = key,
        .context = context };

    return reg_attr(fid, &a, flags, out);
}

static int reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
               uint64_t offset, uint64_t key, uint64_t flags,
               struct fid_mr **out, void *context)
{
    struct iovec iov = { (void *)(uintptr_t)buf, len };

    return reg_v(fid, &iov, 1, access, offset, key, flags, out, context);
}

static int reg_users(struct fid *fid, const struct fi_mr_attr *a,
                     uint64_t flags, struct fid_mr **out)
{
    cxi_long(a, sizeof *a, 112);
    return reg_attr(fid, a, flags, out);
}

struct fi_ops_mr cxi_mr_ops = {
    .size = sizeof cxi_mr_ops, .reg = reg, .regv = reg_v, .regattr = reg_users,
};

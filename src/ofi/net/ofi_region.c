/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory with the provider, and chooses the keys: regions that peers
 * reach (segments, the staging pool, counted words) and memory that operations
 * of this PE alone use.  Called at start, by growth and by operations on memory
 * that is not symmetric; the caller closes what it gets. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_local.h"
#include "base/fault.h"
#include "gtl/gtl.h"

#include <sys/random.h>
#include <time.h>

enum { LOCAL_KEYS = 1024 };     /* below those of segments: ofi_new_key() */

/* Not to be guessed outside the job. */
uint64_t ofi_new_key(int slot)
{
    size_t bytes = ofi.info->domain_attr->mr_key_size;
    uint64_t key = 0;

    if (getrandom(&key, sizeof key, 0) != (ssize_t)sizeof key)
        key = (uint64_t)time(NULL) << 20;
    if (bytes < sizeof key)
        key &= ((uint64_t)1 << bytes * 8) - 1;
    /* Small keys mean something special to CXI; and two must differ. */
    return (key | 1024) - (key & 3) + (uint64_t)slot;
}

_Static_assert(OFI_STAGE_KEY < 4, "ofi_new_key has two bits for it");

/* That of static data follows the heap's, so that an address has one. */
static uint64_t key_for(int slot)
{
    return slot == HEAP_DATA && ofi.mr[HEAP_HOST]
           ? fi_mr_key(ofi.mr[HEAP_HOST]) + HEAP_DATA - HEAP_HOST
           : ofi_new_key(slot);
}

/* counts: operations on it, or NULL.  The key is the provider's then. */
static int open_region(struct fi_mr_attr *a, int slot, struct fid_cntr *counts,
                       struct fid_mr **out)
{
    uint64_t mode = ofi.info->domain_attr->mr_mode;
    struct fid_mr *mr;
    int rc;

    a->iov_count = 1;
    a->access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
    a->requested_key = mode & FI_MR_PROV_KEY ? 0 : key_for(slot);
    rc = fault_hit(FAULT_OFI_MR) ? -FI_ENOMEM
         : fi_mr_regattr(ofi.domain, a, counts ? FI_RMA_EVENT : 0, &mr);
    if (rc)
        return rc;
    if (mode & FI_MR_ENDPOINT)
        rc = fi_mr_bind(mr, &ofi.eps[0]->ep->fid, 0);
    if (!rc && counts)
        rc = fi_mr_bind(mr, &counts->fid, FI_REMOTE_WRITE);
    if (!rc && mode & FI_MR_ENDPOINT)
        rc = fi_mr_enable(mr);
    if (rc)
        fi_close(&mr->fid);
    else
        *out = mr;
    return rc;
}

int ofi_region_open(void *base, size_t size, int slot, struct fid_mr **out)
{
    const struct iovec iov = { base, size };
    OFI_GROWS(fi_mr_attr) grows = { .a = { .mr_iov = &iov } };

    return open_region(&grows.a, slot, NULL, out);
}

int ofi_region_open_counted(void *base, size_t size, struct fid_cntr *counts,
                            struct fid_mr **out)
{
    const struct iovec iov = { base, size };
    OFI_GROWS(fi_mr_attr) grows = { .a = { .mr_iov = &iov } };

    return open_region(&grows.a, 0, counts, out);
}

/* As what the driver says that its memory is. */
static int set_hmem(struct fi_mr_attr *a)
{
    switch (gtl_device.hmem) {
    case GTL_HMEM_CUDA:
        a->iface = FI_HMEM_CUDA;
        a->device.cuda = gtl_device.ordinal;
        return 0;
    case GTL_HMEM_ROCR:
        a->iface = FI_HMEM_ROCR;
        return 0;
    case GTL_HMEM_NONE:
        break;
    }
    return -FI_ENOSYS;
}

int ofi_region_open_device(void *base, size_t size, struct fid_mr **out)
{
    const struct iovec iov = { base, size };
    OFI_GROWS(fi_mr_attr) grows = { .a = { .mr_iov = &iov } };
    int was, rc = set_hmem(&grows.a);

    if (rc)
        return rc;
    /* The provider may ask the driver for a descriptor. */
    was = gtl->enter();
    rc = open_region(&grows.a, HEAP_DEVICE, NULL, out);
    gtl->leave(was);
    return rc;
}

/* ---- memory of this PE's operations ---- */

int ofi_local_register(const void *p, size_t len, uint64_t access,
                       struct fid_mr **out)
{
    return ofi_local_register_on(ofi.domain, p, len, access, out);
}

int ofi_local_register_on(struct fid_domain *domain, const void *p, size_t len,
                          uint64_t access, struct fid_mr **out)
{
    static uint64_t last_key;   /* small: those of segments are not */
    uint64_t key = 0;
    int rc, tries = 0;

    /* Where the provider chooses no keys, no two may be the same. */
    do {
        if (!(ofi.info->domain_attr->mr_mode & FI_MR_PROV_KEY))
            key = __atomic_add_fetch(&last_key, 1, __ATOMIC_RELAXED) %
                  LOCAL_KEYS;
        rc = fi_mr_reg(domain, p, len, access, 0, key, 0, out, NULL);
    } while (rc == -FI_ENOKEY && tries++ < LOCAL_KEYS);
    return rc;
}

/* ---- symmetric memory ---- */

int ofi_region_of(const void *p, size_t len)
{
    int seg = heap_find(p, len);
    uintptr_t off;

    if (seg != HEAP_HOST)
        return seg;
    off = (uintptr_t)p - heap_segs[HEAP_HOST].base;
    /* acquire: pairs with the release in commit_pending. */
    return off + len <= __atomic_load_n(&ofi.registered_size, __ATOMIC_ACQUIRE)
           ? seg : -1;
}

bool ofi_is_device_only(const void *p)
{
    int seg = heap_find(p, 1);

    return seg < 0 ? gtl_is_device_only(p) : ofi_is_device_only_seg(seg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The device heap of peers on other nodes: its registration, its key for the
 * others, and the path of operations on it (ofi.h).  The heap is made long
 * after the launcher exchanged addresses, so each PE publishes the key in its
 * symmetric memory, where the others read it when they first need it. */
#include "ofi/ofi.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "ofi/am/ofi_am_target.h"
#include "base/log.h"
#include "gtl/gtl.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct device_addr {
    uint64_t key, base;
};
_Static_assert(sizeof(struct device_addr) == OFI_DEVICE_ADDR_SIZE,
               "ofi.h says so");

static struct {
    struct device_addr *mine;
    struct xport_ctx *ctx;      /* reads the addresses of others */
    uint64_t off;               /* of mine, in the host segment */
    bool by_nic;
    const char *why_not;
    char text[224];
} device;

/* The key of a heap that is registered. */
static int publish_addr(struct device_addr *mine)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    device.mine = mine;
    mine->key = fi_mr_key(ofi.mr[HEAP_DEVICE]);
    mine->base = virtual ? heap_segs[HEAP_DEVICE].base : 0;
    device.off = (uintptr_t)mine - heap_segs[HEAP_HOST].base;
    return device.ctx ? 0 : ofi_ctx_open(&device.ctx, false);
}

/* Memory that the processor does not reach: staging always works, the NIC
 * perhaps. */
static int open_device_only(struct device_addr *mine)
{
    int rc = ofi_stage_pool_open();

    if (rc)
        return rc;
    ofi_am_target_segment(HEAP_DEVICE);
    device.by_nic = ofi_hmem_open(&device.why_not);
    return device.by_nic ? publish_addr(mine) : 0;
}

bool ofi_device_by_nic(void)
{
    return device.by_nic;
}

void ofi_device_choose_path(bool all)
{
    if (!xport_net || !ofi_is_device_only_seg(HEAP_DEVICE))
        return;
    ofi.hmem = all;
    if (all) {
        ofi_flush_install();
        snprintf(device.text, sizeof device.text, "by the NIC (FI_HMEM)%s",
                 ofi_flush_text());
    }
    if (!all)
        snprintf(device.text, sizeof device.text, "through pinned host memory "
                 "(%s)", device.by_nic ? "another PE's NIC does not reach its "
                 "device memory" : device.why_not);
    if (!all)
        ofi_hmem_close();
    if (rt_job.pe == 0)
        log_info(LOG_OFI, "device memory of other nodes: %s", device.text);
}

bool ofi_device_hmem_offered(void)
{
    return xport_net && ofi_is_device_only_seg(HEAP_DEVICE) &&
           ofi_hmem_offered();
}

bool ofi_device_seam_works(size_t off)
{
    return !xport_net || !ofi.hmem || ofi_hmem_seam_works(off);
}

int ofi_device_register(size_t size, bool exact)
{
    int rc = xport_net && ofi.hmem ? ofi_hmem_register(size) : 0;

    if (rc && exact)
        log_warn(ERR_NET, "provider %s does not register %zu bytes of the "
                 "device heap: %s", ofi.name, size, ofi_strerror(rc));
    return rc;
}

void ofi_device_register_cancel(void)
{
    ofi_hmem_register_cancel();
}

void ofi_device_publish_key(void)
{
    if (!xport_net)
        return;
    ofi_am_target_segment(HEAP_DEVICE);
    if (!ofi.hmem)
        return;
    ofi_hmem_register_commit();
    __atomic_store_n(&device.mine->key, fi_mr_key(ofi.mr[HEAP_DEVICE]),
                     __ATOMIC_RELEASE);
}

static struct device_addr fetch_addr(int pe)
{
    struct xport_addr at = { .pe = pe, .seg = HEAP_HOST, .off = device.off };
    struct device_addr c;

    ofi_rma_get(device.ctx, &c, &at, sizeof c, false);
    if (c.key == FI_KEY_NOTAVAIL)
        ofi_fatal("device heap", pe, -EPROTO, "it published no key");
    return c;
}

static bool is_known(int pe)
{
    bool known;

    lock_acquire(&ofi_lock);
    known = ofi.peers[pe].token != 0;
    lock_release(&ofi_lock);
    return known;
}

/* Peers that this PE does not know yet give the new key at their first use.
 * The old one serves operations that other threads begin before it is
 * replaced. */
void ofi_device_fetch_keys(void)
{
    if (!xport_net || !ofi.hmem)
        return;
    for (int pe = 0; pe < rt_job.n_pes; pe++)
        if (is_known(pe)) {
            struct device_addr c = fetch_addr(pe);

            __atomic_store_n(&ofi.peers[pe].base[HEAP_DEVICE], c.base,
                             __ATOMIC_RELAXED);
            /* release: a thread that sees the key may use the base. */
            __atomic_store_n(&ofi.peers[pe].key[HEAP_DEVICE], c.key,
                             __ATOMIC_RELEASE);
        }
}

const char *ofi_device_text(void)
{
    return device.text;
}

int ofi_device_open(void *device_addr)
{
    int rc;

    device.by_nic = false;
    device.text[0] = '\0';
    if (!xport_net)
        return 0;
    if (ofi_is_device_only_seg(HEAP_DEVICE))
        return open_device_only(device_addr);
    ofi_am_target_segment(HEAP_DEVICE);
    rc = ofi_segment_open(HEAP_DEVICE);
    if (!rc)
        rc = publish_addr(device_addr);
    if (rc) {
        log_error(ERR_NET, "registering the device heap of %zu bytes with "
                  "provider %s: %s", heap_segs[HEAP_DEVICE].size, ofi.name,
                  ofi_strerror(rc));
    }
    return rc;
}

/* Those of peers are unregistered, too, and the next heap has other keys. */
static void forget_keys(void)
{
    lock_acquire(&ofi_lock);
    for (int pe = 0; pe < rt_job.n_pes; pe++)
        __atomic_store_n(&ofi.peers[pe].key[HEAP_DEVICE], FI_KEY_NOTAVAIL,
                         __ATOMIC_RELEASE);
    lock_release(&ofi_lock);
}

void ofi_device_unregister(void)
{
    if (xport_net)
        forget_keys();
    ofi_hmem_close();
}

int ofi_device_prepare(void)
{
    return xport_net && gtl_device_only ? ofi_stage_pool_open() : 0;
}

void ofi_device_close(void)
{
    ofi_hmem_close();
    ofi_stage_pool_close();
    if (!device.ctx)
        return;
    ofi_ctx_close(device.ctx);
    device.ctx = NULL;
}

/* A key that another thread has fetched meanwhile is as new, or newer. */
void ofi_peer_device(int pe)
{
    uint64_t none = FI_KEY_NOTAVAIL, *key = &ofi.peers[pe].key[HEAP_DEVICE];
    struct device_addr c = fetch_addr(pe);

    __atomic_store_n(&ofi.peers[pe].base[HEAP_DEVICE], c.base,
                     __ATOMIC_RELAXED);
    /* release: a thread that sees the key may use the base. */
    __atomic_compare_exchange_n(key, &none, c.key, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

static void need(int rc)
{
    if (rc)
        ofi_fatal("device heap", rt_job.pe, rc, gtl_error());
}

static uint64_t device_amo(const struct ofi_am_head *h, void *at)
{
    uint64_t was = 0;
    const struct gtl_amo a = {
        .op = (enum amo_op)h->op, .size = h->size, .word = at,
        .value = h->value, .cond = h->cond, .result = &was
    };

    xport_flush();
    xport_device_enter(rt_job.pe);
    need(gtl_amo_now(&a));
    xport_device_leave(rt_job.pe);
    return was;
}

static void device_copy_blocks(void *to, const void *from,
                               const struct gtl_blocks *b)
{
    xport_flush();
    need(gtl_copy_blocks_now(to, from, b));
}

void ofi_device_register_handlers(void)
{
    static const struct ofi_am_device_ops ops = {
        .amo = device_amo, .copy_blocks = device_copy_blocks
    };

    ofi_am_set_device_ops(&ops);
    ofi_stage_target_open();
    ofi_am_register(OFI_AM_PULL, ofi_stage_target_start);
    ofi_am_register(OFI_AM_PUSH, ofi_stage_target_start);
    ofi_am_register(OFI_AM_DONE, ofi_frag_replied);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the NIC reach device memory?  The provider says so, its registration
 * has to agree, and then it has to move bytes there and back: drivers, peer
 * access and IOMMUs are known to promise it and not to do it.  The test uses
 * an endpoint of its own, so that no completion meets another thread. */
#include "ofi/stage/ofi_device.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BYTES = 4096, TRIES = 50000, SPINS = 1000 };

/* Regions of a heap that has grown, and one that is not in use yet. */
enum { MOST_GROWN = 400 };
static struct {
    struct fid_mr *older[MOST_GROWN], *next;
    int n;
} grown;

struct bench {
    struct fi_context2 room;    /* the provider's, as a rule */
    struct ofi_ep *e;
    fi_addr_t self;
    char *host;                 /* BYTES, and as many again */
    void *device;
    void *host_desc, *device_desc;
    struct ofi_remote_buf host_buf, device_buf;
};

/* Others of this PE's endpoints serve what is asked of it. */
static void pause_a_little(int tries)
{
    const struct timespec pause = { .tv_nsec = 100000 };

    ofi_progress();
    if (tries > SPINS)
        nanosleep(&pause, NULL);
}

static int await_entry(struct ofi_ep *e)
{
    OFI_GROWS(fi_cq_err_entry) err = { 0 };
    struct fi_cq_msg_entry entry;
    ssize_t n;

    for (int i = 0; i < TRIES; i++) {
        n = fi_cq_read(e->cq, &entry, 1);
        if (n == 1)
            return 0;
        if (n == -FI_EAVAIL && fi_cq_readerr(e->cq, &err.a, 0) >= 0)
            return -err.a.err;
        if (n != -FI_EAGAIN)
            return (int)n;
        pause_a_little(i);
    }
    return -FI_ETIMEDOUT;
}

/* BYTES of this PE, through the network. */
static int transfer(struct bench *b, bool write, void *local, void *desc,
                    const struct ofi_remote_buf *remote)
{
    struct iovec iov = { local, BYTES };
    struct fi_rma_iov to = { remote->addr, BYTES, remote->key };
    struct fi_msg_rma m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = b->self,
        .rma_iov = &to, .rma_iov_count = 1, .context = &b->room
    };
    long rc = -FI_EAGAIN;

    for (int i = 0; rc == -FI_EAGAIN && i < TRIES; i++) {
        rc = write ? fi_writemsg(b->e->ep, &m,
                                 FI_COMPLETION | FI_DELIVERY_COMPLETE)
                   : fi_readmsg(b->e->ep, &m, FI_COMPLETION);
        if (rc == -FI_EAGAIN) {
            fi_cq_read(b->e->cq, NULL, 0);
            pause_a_little(i);
        }
    }
    return rc ? (int)rc : await_entry(b->e);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, BYTES) || fault_hit(FAULT_OFI_HMEM) ? -FI_EIO : 0;
}

/* Into the device, out of it, and from it as the local side. */
static int move_all(struct bench *b)
{
    struct ofi_remote_buf beyond = b->host_buf;
    void *device = b->device;
    char copy[BYTES], *second = b->host + BYTES;
    int rc;

    beyond.addr += BYTES;
    for (int i = 0; i < BYTES; i++)
        b->host[i] = (char)(i * 7 + i / 256 + rt_job.pe);
    rc = transfer(b, true, b->host, b->host_desc, &b->device_buf);
    if (!rc && !gtl_device.ordered)
        rc = ofi_flush();
    if (!rc)
        rc = gtl_copy_now(copy, device, BYTES);
    if (!rc)
        rc = compare(copy, b->host);
    if (rc)
        return rc;
    memset(second, 0, BYTES);
    rc = transfer(b, false, second, b->host_desc, &b->device_buf);
    if (!rc)
        rc = compare(second, copy);
    if (rc)
        return rc;
    memset(second, 0, BYTES);
    rc = transfer(b, true, device, b->device_desc, &beyond);
    return rc ? rc : compare(second, copy);
}

/* At that offset of the heap. */
static int test(size_t off)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct ofi_frag *p = ofi_frag_alloc(OFI_INITIATOR);
    struct bench b = { .self = ofi_peer(rt_job.pe)->addr };
    int rc;

    if (!p)
        return -FI_EBUSY;
    b.host = p->bytes;
    b.host_desc = ofi_frag_desc();
    b.host_buf = ofi_frag_remote(p);
    b.device_desc = ofi.desc[HEAP_DEVICE];
    b.device = (char *)heap_segs[HEAP_DEVICE].base + off;
    b.device_buf = (struct ofi_remote_buf){
        (virtual ? heap_segs[HEAP_DEVICE].base : 0) + off,
        fi_mr_key(ofi.mr[HEAP_DEVICE])
    };
    rc = ofi_ep_open(&b.e, false);
    if (!rc) {
        rc = move_all(&b);
        ofi_ep_close(b.e);
    }
    ofi_frag_free(p);
    return rc;
}

static void close_region(struct fid_mr **mr)
{
    if (*mr)
        fi_close(&(*mr)->fid);
    *mr = NULL;
}

void ofi_hmem_close(void)
{
    ofi_flush_close();
    ofi_hmem_register_cancel();
    while (grown.n)
        close_region(&grown.older[--grown.n]);
    close_region(&ofi.mr[HEAP_DEVICE]);
    ofi.desc[HEAP_DEVICE] = NULL;
}

bool ofi_hmem_offered(void)
{
    return env.OFI_HMEM && ofi.info->caps & FI_HMEM;
}

bool ofi_hmem_seam_works(size_t off)
{
    int rc = test(off - BYTES / 2);

    if (rc)
        log_info(LOG_OFI, "the NIC does not reach device memory across pieces "
                 "of it: %s", ofi_strerror(rc));
    return !rc;
}

int ofi_hmem_register(size_t size)
{
    int rc = fault_hit(FAULT_OFI_GROW) ? -FI_ENOMEM : -FI_ENOKEY;

    if (grown.n == MOST_GROWN)
        return -FI_ENOSPC;
    /* Two random keys may be the same one. */
    for (int tries = 0; tries < 4 && rc == -FI_ENOKEY; tries++)
        rc = ofi_region_open_device((void *)heap_segs[HEAP_DEVICE].base, size,
                                    &grown.next);
    return rc;
}

void ofi_hmem_register_commit(void)
{
    grown.older[grown.n++] = ofi.mr[HEAP_DEVICE];
    __atomic_store_n(&ofi.mr[HEAP_DEVICE], grown.next, __ATOMIC_RELEASE);
    __atomic_store_n(&ofi.desc[HEAP_DEVICE], fi_mr_desc(grown.next),
                     __ATOMIC_RELEASE);
    grown.next = NULL;
}

void ofi_hmem_register_cancel(void)
{
    close_region(&grown.next);
}

bool ofi_hmem_open(const char **why)
{
    static char text[160];
    const char *step = "registration";
    int rc;

    *why = text;
    if (!env.OFI_HMEM) {
        *why = "SHMEM_OFI_HMEM is 0";
        return false;
    }
    if (!(ofi.info->caps & FI_HMEM)) {
        *why = "the provider does not reach device memory (FI_HMEM)";
        return false;
    }
    rc = ofi_region_open_device((void *)heap_segs[HEAP_DEVICE].base,
                                heap_segs[HEAP_DEVICE].size,
                                &ofi.mr[HEAP_DEVICE]);
    if (!rc) {
        ofi.desc[HEAP_DEVICE] = fi_mr_desc(ofi.mr[HEAP_DEVICE]);
        step = "a flush of what NICs store there";
        rc = ofi_flush_open();
    }
    if (!rc) {
        step = "the test, to write there and read it back";
        rc = test(0);
    }
    if (!rc)
        return true;
    snprintf(text, sizeof text, "%s: %s", step, ofi_strerror(rc));
    ofi_hmem_close();
    return false;
}

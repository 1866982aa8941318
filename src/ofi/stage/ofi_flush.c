/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes stores of NICs in this PE's device memory visible to the device.
 * Hopper and later order them themselves.  Elsewhere the driver has a call for
 * that, or AMD's cards a register; where a driver has none, a read of that
 * memory by the NIC comes back behind all earlier stores. */
#include "ofi/stage/ofi_device.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

enum { SPINS = 1000, TRIES = 50000, WORD = 8 };

/* Of reads: an endpoint of their own, so that no completion meets another
 * thread, and a word for what comes. */
static struct {
    struct base_lock lock;
    struct fi_context2 room;    /* the provider's */
    struct ofi_ep *e;
    struct ofi_frag *piece;
} reader = { .lock = LOCK_INIT };

/* Reads no message here: its request may need a flush, too.  Where the provider
 * needs that, the progress thread does it. */
static void pause_a_little(int tries)
{
    const struct timespec pause = { .tv_nsec = 100000 };

    if (tries > SPINS)
        nanosleep(&pause, NULL);
    else if (tries % 16 == 15)
        sched_yield();
}

static int await_end(void)
{
    OFI_GROWS(fi_cq_err_entry) err = { 0 };
    struct fi_cq_msg_entry entry;
    ssize_t n;

    for (int i = 0; i < TRIES; i++) {
        n = fi_cq_read(reader.e->cq, &entry, 1);
        if (n == 1)
            return 0;
        if (n == -FI_EAVAIL && fi_cq_readerr(reader.e->cq, &err.a, 0) >= 0)
            return -err.a.err;
        if (n != -FI_EAGAIN)
            return (int)n;
        pause_a_little(i);
    }
    return -FI_ETIMEDOUT;
}

/* Under the lock. */
static int read_word(void)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct fi_rma_iov from = { virtual ? heap_segs[HEAP_DEVICE].base : 0,
                               WORD, fi_mr_key(__atomic_load_n(
                                   &ofi.mr[HEAP_DEVICE],
                                   __ATOMIC_ACQUIRE)) };
    struct iovec iov = { reader.piece->bytes, WORD };
    void *desc = ofi_frag_desc();
    struct fi_msg_rma m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1,
        .addr = ofi_peer(rt_job.pe)->addr, .rma_iov = &from,
        .rma_iov_count = 1, .context = &reader.room
    };
    long rc = -FI_EAGAIN;

    for (int i = 0; rc == -FI_EAGAIN && i < TRIES; i++) {
        rc = fi_readmsg(reader.e->ep, &m, FI_COMPLETION);
        if (rc == -FI_EAGAIN) {
            fi_cq_read(reader.e->cq, NULL, 0);
            pause_a_little(i);
        }
    }
    return rc ? (int)rc : await_end();
}

int ofi_flush(void)
{
    int rc;

    if (!reader.e)
        return gtl->flush();
    lock_acquire(&reader.lock);
    rc = read_word();
    lock_release(&reader.lock);
    return rc;
}

static void flush(void)
{
    int rc = ofi_flush();

    if (unlikely(rc))
        ofi_fatal("flush of device memory", rt_job.pe, rc,
                 reader.e ? NULL : gtl_error());
}

int ofi_flush_open(void)
{
    int rc = gtl->flush();

    if (rc != -ENOSYS)
        return rc;
    /* Where a processor does the read, the thread that flushes may be the one
     * that has to serve it. */
    if (ofi.onload)
        return -FI_ENOSYS;
    reader.piece = ofi_frag_alloc(OFI_INITIATOR);
    if (!reader.piece)
        return -FI_EBUSY;
    rc = ofi_ep_open(&reader.e, false);
    if (rc)
        ofi_flush_close();
    return rc;
}

const char *ofi_flush_text(void)
{
    return gtl_device.ordered ? "" : reader.e ? ", flushed by reads of the NIC"
                                              : ", flushed by the driver";
}

void ofi_flush_install(void)
{
    xport_flusher = gtl_device.ordered ? NULL : flush;
}

void ofi_flush_close(void)
{
    xport_flusher = NULL;
    if (reader.e)
        ofi_ep_close(reader.e);
    if (reader.piece)
        ofi_frag_free(reader.piece);
    reader.e = NULL;
    reader.piece = NULL;
}

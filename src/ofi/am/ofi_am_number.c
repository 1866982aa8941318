/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of messages over a stream of bytes.
 *
 * A message over tcp counts as sent once the system has its bytes.  If the
 * connection breaks then, no error reports it; the provider makes a new
 * connection for the next message, and what that one confirms would seem to
 * include the lost one.  So each endpoint numbers its messages to each PE, and
 * a PE that misses one ends the job.  Called by all that send messages, on any
 * thread, and by the target's thread that takes them; nothing here waits but
 * for another thread's send on the same endpoint, which keeps the numbers in
 * the order of the messages. */
#include "ofi/am/ofi_am_number.h"
#include "base/fault.h"
#include "ofi/net/ofi_int.h"
#include "rt/rt.h"

#include <stdlib.h>

_Static_assert((int)OFI_AM_EPS == (int)OFI_EPS && OFI_EPS < 256,
               "any endpoint may send");

/* By the sender's endpoint: the last number of each PE.  The thread's that
 * takes messages. */
static uint16_t *taken[OFI_AM_EPS];

/* 0 is no number: that message is not counted. */
static uint16_t after(uint16_t n)
{
    return n < UINT16_MAX ? (uint16_t)(n + 1) : 1;
}

static uint16_t before(uint16_t n)
{
    return n > 1 ? (uint16_t)(n - 1) : UINT16_MAX;
}

static long transmit(const struct ofi_ep *e, fi_addr_t to,
                     const struct ofi_am_head *h, size_t len, void *desc,
                     struct ofi_op *op)
{
    return op ? fi_send(e->ep, h, len, desc, to, op)
              : fi_inject(e->ep, h, len, to);
}

long ofi_am_post(struct ofi_ep *e, int pe, struct ofi_am_head *h, size_t len,
                 void *desc, struct ofi_op *op)
{
    fi_addr_t to = ofi_peer(pe)->addr;
    uint16_t n;
    long rc;

    if (!e->numbers) {
        h->number = 0;
        return transmit(e, to, h, len, desc, op);
    }
    lock_acquire(&e->numbers_lock);
    n = after(e->numbers[pe]);
    h->ep = e->index & 0xff;
    h->number = fault_hit(FAULT_OFI_NUMBER) ? after(n) : n;
    rc = transmit(e, to, h, len, desc, op);
    if (!rc)
        e->numbers[pe] = n;
    lock_release(&e->numbers_lock);
    return rc;
}

void ofi_am_post_failed(struct ofi_ep *e, int pe)
{
    if (!e->numbers)
        return;
    lock_acquire(&e->numbers_lock);
    e->numbers[pe] = before(e->numbers[pe]);
    lock_release(&e->numbers_lock);
}

static bool has_sent(struct ofi_ep *e, int pe)
{
    bool is = false;

    if (!e->numbers)
        return false;
    lock_acquire(&e->numbers_lock);
    is = e->numbers[pe] != 0;
    lock_release(&e->numbers_lock);
    return is;
}

void ofi_am_probe(int pe)
{
    int n_eps = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);
    struct ofi_am_head h = {
        .kind = OFI_AM_HELLO, .pe = (uint32_t)rt_job.pe & (OFI_AM_PES - 1)
    };

    for (int i = 0; i < n_eps; i++) {
        if (!has_sent(ofi.eps[i], pe))
            continue;
        h.token = ofi_peer(pe)->token;
        /* Where there is no room there will be at the next question. */
        ofi_am_post(ofi.eps[i], pe, &h, sizeof h, NULL, NULL);
    }
}

void ofi_am_check_number(const struct ofi_am_head *h)
{
    uint16_t **of = &taken[h->ep];

    if (!ofi.numbered || (h->kind == OFI_AM_HELLO && !h->number))
        return;
    if (!*of)
        *of = calloc((size_t)rt_job.n_pes, sizeof **of);
    if (!*of)
        ofi_fatal("messages", (int)h->pe, -FI_ENOMEM, "their numbers");
    if (h->number != after((*of)[h->pe]))
        ofi_fatal("messages", (int)h->pe, -FI_ECONNRESET,
                  "some were lost with a connection");
    (*of)[h->pe] = (uint16_t)h->number;
}

void ofi_am_numbers_close(void)
{
    for (int i = 0; i < OFI_AM_EPS; i++) {
        free(taken[i]);
        taken[i] = NULL;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* xport.h - how each PE is reached.
 * A route says where a PE's segments are mapped in this process; memory of
 * such a peer is loaded and stored like our own.  The table is made by the
 * transport that maps (sm) before any operation and constant afterwards, so
 * reading it needs no lock.  Indexed by world PE.
 * All other peers are far: xport_net, if any, carries operations to them. */
#ifndef XPORT_XPORT_H
#define XPORT_XPORT_H

#include "base/atomics.h"
#include "heap/heap.h"
#include "xport/xport_route.h"
#include "xport/xport_wait.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the atomics of a node's devices do not exclude each other, those on the
 * device heap of a PE are made by one PE at a time, each in such a lock of the
 * owner's.  A symmetric address; NULL: no lock is needed. */
extern hidden uint32_t *xport_device_lock;
/* Of a mapped PE; nothing where no lock is needed. */
void xport_device_enter(int pe);
void xport_device_leave(int pe);

/* Room for n_pes routes, none mapped.  0 or -ENOMEM, logged. */
int xport_open(int n_pes);
void xport_close(void);

/* ---- Far peers ---- */

/* A place in a peer's symmetric memory; or, with XPORT_TRIG_COUNTER for the
 * segment, one of its gates (xport_trig.h), to which there are atomics only. */
enum { XPORT_TRIG_COUNTER = HEAP_SEGS };
struct xport_addr {
    int pe, seg;
    uint64_t off;
};

enum xport_amo_op {
    XPORT_FETCH, XPORT_SET, XPORT_SWAP, XPORT_CSWAP, XPORT_ADD, XPORT_AND,
    XPORT_OR, XPORT_XOR, XPORT_OPS
};

/* On a word of 4 or 8 bytes; value and cond in the low bytes. */
struct xport_amo {
    enum xport_amo_op op;
    int size;
    uint64_t value, cond;
};

/* count blocks of len bytes, apart by these strides there and here. */
struct xport_blocks {
    size_t len, count;
    ptrdiff_t far_stride, near_stride;
};

/* Bytes of short blocks that one message brings: blocks are short up to a
 * quarter of it.  And what an operation with device memory is cut into. */
enum { XPORT_PACKED_MAX = 3584, XPORT_FRAGMENT = 262144 };
/* A message of at most so many bytes is copied. */
enum { XPORT_COPY_MAX = 16384 };

/* The operations of one context: ordered and completed apart from others. */
struct xport_ep;

/* An operation on that PE failed; what: "put".  Any thread may tell. */
typedef void xport_failed(void *arg, const char *what, int pe,
                          const char *cause);

/* A transport to far peers.  No slot is NULL.  Any thread may call any of
 * them.  The arguments were checked.  What fails ends the job with a line:
 * the calls of OpenSHMEM return nothing. */
struct xport_ops {
    const char *name;
    /* 0 or -errno; own: with resources that it shares with others only when
     * they run out. */
    int (*ep_open)(struct xport_ep **out, bool own);
    void (*ep_close)(struct xport_ep *f);           /* after its quiet */
    /* What fails there from now on is told to fn, counts as done, and the job
     * goes on.  Before the flow's first operation. */
    void (*ep_continue_on_error)(struct xport_ep *f, xport_failed *fn,
                                 void *arg);
    /* Before the first operation: idle and fenced are asked for their end, and
     * no fence or quiet waits for it.  A flow that forgives is such a one. */
    void (*ep_set_polled)(struct xport_ep *f);
    /* nbi: the local memory is the transport's until the flow's quiet. */
    void (*put)(struct xport_ep *f, const struct xport_addr *to,
                const void *source, size_t len, bool nbi);
    void (*get)(struct xport_ep *f, void *dest, const struct xport_addr *from,
                size_t len, bool nbi);
    /* A get into symmetric memory that waits for nothing: who looks at dest
     * sees it change.  0; -EBUSY: too much is under way here; -EAGAIN: there
     * is no way to that PE now. */
    int (*try_get)(struct xport_ep *f, void *dest,
                   const struct xport_addr *from, size_t len);
    /* source may be reused; dest is filled, with nbi at the flow's quiet. */
    void (*put_blocks)(struct xport_ep *f, const struct xport_addr *to,
                       const void *source, const struct xport_blocks *b);
    void (*get_blocks)(struct xport_ep *f, void *dest,
                       const struct xport_addr *from,
                       const struct xport_blocks *b, bool nbi);
    /* The word before it goes to *result, unless that is NULL; then, and with
     * nbi, it is complete at the flow's quiet. */
    void (*amo)(struct xport_ep *f, const struct xport_addr *at,
                const struct xport_amo *a, void *result, bool nbi);
    /* An atomic without a result that no quiet has to cover. */
    void (*notify)(struct xport_ep *f, const struct xport_addr *at,
                 const struct xport_amo *a);
    /* A put and, when its bytes are there, an atomic to the same PE. */
    void (*put_signal)(struct xport_ep *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *sig_at,
                       const struct xport_amo *sig, bool nbi);
    /* The same, but it waits for nothing: 0, -EAGAIN: not now, -ENOTSUP: never
     * of this one.  With an error nothing was done.  With nbi false the source
     * is free when it returns. */
    int (*try_put_signal)(struct xport_ep *f, const struct xport_addr *to,
                          const void *source, size_t len,
                          const struct xport_addr *sig_at,
                          const struct xport_amo *sig, bool nbi);
    /* The same at once, to is NULL for none, and no quiet has to cover it: the
     * source is free, or, of more than XPORT_COPY_MAX bytes, when the flow is
     * idle.  Errors as of try_put_signal. */
    int (*post_message)(struct xport_ep *f, const struct xport_addr *to,
                    const void *source, size_t len,
                    const struct xport_addr *sig_at,
                    const struct xport_amo *sig);
    /* Puts and atomics before it come to each PE before those after it, or
     * only before an atomic that is the next operation. */
    void (*fence)(struct xport_ep *f, bool then_amo);
    /* Is such a fence over at once?  Lets nothing advance. */
    bool (*fence_test)(struct xport_ep *f, bool then_amo);
    /* Can an operation on that PE begin that waits for nothing?  There is
     * room, and a connection, which the first question begins to make.  True
     * of a short one, of blocks up to XPORT_PACKED_MAX bytes, and of one that
     * is nbi and not longer than XPORT_FRAGMENT.  A flow has a share of the
     * room, so that a PE that answers nothing does not take that of the
     * others. */
    bool (*can_post)(struct xport_ep *f, int pe);
    /* All is done and visible at its target. */
    void (*quiet)(struct xport_ep *f);
    /* Is a quiet over at once?  Lets nothing advance. */
    bool (*quiet_test)(struct xport_ep *f);
    /* Called now and then while something is under way there and nobody waits
     * for it in the transport: what gets no answer for too long has failed. */
    void (*ep_check_timeouts)(struct xport_ep *f, uint64_t now_ns);
    /* Lets operations advance: did any? */
    bool (*progress)(void);
    /* The calling thread sleeps now (true) or is back: somebody else must see
     * to it that operations advance.  How often that happened so far. */
    uint64_t (*doze)(bool asleep);
    /* Is whoever dozes woken by what comes?  Else he had better look. */
    bool (*wakes)(void);
    /* Is the host segment reached up to that offset?  The same on all PEs. */
    bool (*is_registered)(size_t end);
    /* If not, all PEs make it so, on one thread, and with some more for later
     * unless exact: -errno, logged if exact; and when it is known whether all
     * could, publish that, or go back. */
    int (*register_up_to)(size_t end, bool exact);
    int (*register_agreed)(bool all);
    /* Operations that are not complete.  Async-signal-safe. */
    uint64_t (*in_flight)(void);
};
extern hidden const struct xport_ops *xport_net;    /* NULL: nobody is far */

/* What NICs have stored in this PE's device memory before what this thread has
 * seen: the device sees it, too, when the call returns.  NULL: it does anyway,
 * or no NIC reaches that memory. */
extern hidden void (*xport_flusher)(void);
static inline void xport_flush(void)
{
    if (unlikely(xport_flusher != NULL))
        xport_flusher();
}

/* Called by the transport after it has stored there on behalf of a far PE; at
 * NULL anywhere.  Set by core. */
extern hidden void (*xport_data_arrived)(const void *at, size_t len);
/* The program's call that this thread is in, for messages: __func__ of
 * the API function, set before any operation.  NULL on the library's own. */
extern hidden __thread const char *xport_call
    __attribute__((tls_model("initial-exec")));

#endif

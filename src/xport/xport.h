/* SPDX-License-Identifier: BSD-3-Clause */
/* xport.h - how each PE is reached.
 * A route says where a PE's segments are mapped in this process; the processor
 * loads and stores the memory of such a peer like its own.  sm makes the table
 * before any operation, and it is constant afterwards, so reading it needs no
 * lock.  Indexed by world PE.
 * All other peers are remote: xport_net carries operations to them. */
#ifndef XPORT_XPORT_H
#define XPORT_XPORT_H

#include "base/amo.h"
#include "base/atomics.h"
#include "heap/heap.h"
#include "xport/xport_progress.h"
#include "xport/xport_route.h"
#include "xport/xport_wait.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the atomics of a node's devices do not exclude each other, one PE at a
 * time makes those on the device heap of a PE, under this lock of the owner's.
 * A symmetric address; NULL: no lock is needed. */
extern hidden uint32_t *xport_device_lock;
/* Of a mapped PE; nothing where no lock is needed. */
void xport_device_enter(int pe);
void xport_device_leave(int pe);

/* Room for n_pes routes, none mapped.  0 or -ENOMEM, logged. */
int xport_open(int n_pes);
void xport_close(void);

/* ---- remote peers ---- */

/* A symmetric address at a PE; or, with XPORT_TRIG_COUNTER for the segment, one
 * of its two-input triggers (xport_trig.h), to which there are atomics only. */
enum { XPORT_TRIG_COUNTER = HEAP_SEGS };
struct xport_addr {
    int pe, seg;
    uint64_t off;
};

/* On a word of 4 or 8 bytes; value and cond in the low bytes. */
struct xport_amo {
    enum amo_op op;
    int size;
    uint64_t value, cond;
};

/* Done by the processor on memory that is mapped here: the old value. */
force_inline uint64_t xport_amo_local(void *word, const struct xport_amo *a)
{
    return amo_apply(word, a->op, a->size, a->value, a->cond);
}

/* count blocks of len bytes; strides from start to start, there and here. */
struct xport_blocks {
    size_t len, count;
    ptrdiff_t remote_stride, local_stride;
};

/* Bytes of short blocks that one message brings: blocks are short up to a
 * quarter of it.  And the size of the fragments into which an operation with
 * device memory is cut. */
enum { XPORT_PACKED_MAX = 3584, XPORT_FRAGMENT = 262144 };
/* A message of at most so many bytes is copied. */
enum { XPORT_COPY_MAX = 16384 };

/* An endpoint context: operations, ordered and completed apart from
 * those of others. */
struct xport_ctx;

/* Reports that an operation on that PE failed; what: "put".  Any thread. */
typedef void xport_failed(void *arg, const char *what, int pe,
                          const char *cause);

/* The network.  No slot is NULL.  Any thread may call any slot; the caller has
 * checked the arguments.  A failure ends the job with a line: the calls of
 * OpenSHMEM return nothing.  xport_progress.h has what makes operations
 * advance. */
struct xport_ops {
    const char *name;
    /* 0 or -errno.  own: shares resources with other contexts only when the
     * provider has no more. */
    int (*ctx_open)(struct xport_ctx **out, bool own);
    void (*ctx_close)(struct xport_ctx *f);     /* after its quiet */
    /* Error mode "continue", before the first operation: a failed operation
     * is reported to fn, counts as completed, and the job goes on. */
    void (*ctx_continue_on_error)(struct xport_ctx *f, xport_failed *fn,
                                  void *arg);
    /* Before the first operation: the caller polls quiet_test() and
     * fence_test(), and never waits in quiet() or fence().  Error mode
     * "continue" includes it. */
    void (*ctx_set_polled)(struct xport_ctx *f);
    /* nbi: the local memory is the transport's until the quiet. */
    void (*put)(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len, bool nbi);
    void (*get)(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len, bool nbi);
    /* A get into symmetric memory that waits for nothing; the caller polls
     * dest.  0; -EBUSY: too many operations are under way here; -EAGAIN: that
     * PE cannot be reached now. */
    int (*try_get)(struct xport_ctx *f, void *dest,
                   const struct xport_addr *from, size_t len);
    /* source may be reused; dest is filled, with nbi at the quiet. */
    void (*put_blocks)(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, const struct xport_blocks *b);
    void (*get_blocks)(struct xport_ctx *f, void *dest,
                       const struct xport_addr *from,
                       const struct xport_blocks *b, bool nbi);
    /* The old value goes to *result, unless that is NULL; then, and with nbi,
     * the atomic is complete at the quiet. */
    void (*amo)(struct xport_ctx *f, const struct xport_addr *at,
                const struct xport_amo *a, void *result, bool nbi);
    /* An atomic without a result that quiet does not cover. */
    void (*notify)(struct xport_ctx *f, const struct xport_addr *at,
                   const struct xport_amo *a);
    /* The same behind a put to that PE, whose source may be reused. */
    void (*put_notify)(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *at, const struct xport_amo *a);
    /* A put and, when its bytes are there, an atomic to the same PE. */
    void (*put_signal)(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *sig_at,
                       const struct xport_amo *sig, bool nbi);
    /* The same, without waiting: 0; -EAGAIN: not now; -ENOTSUP: never for this
     * operation.  With an error nothing was done.  Without nbi the source may
     * be reused on return. */
    int (*try_put_signal)(struct xport_ctx *f, const struct xport_addr *to,
                          const void *source, size_t len,
                          const struct xport_addr *sig_at,
                          const struct xport_amo *sig, bool nbi);
    /* The same, sent at once and not covered by quiet; to is NULL for a signal
     * alone.  The source may be reused on return or, of more than
     * XPORT_COPY_MAX bytes, when quiet_test() is true.  Errors as of
     * try_put_signal(). */
    int (*post_message)(struct xport_ctx *f, const struct xport_addr *to,
                        const void *source, size_t len,
                        const struct xport_addr *sig_at,
                        const struct xport_amo *sig);
    /* Earlier puts and atomics arrive at each PE before later ones, or only
     * before an atomic that is the next operation. */
    void (*fence)(struct xport_ctx *f, bool then_amo);
    /* Would that fence return at once?  Advances no operation; of a polled
     * context it asks peers for acknowledgements that they owe. */
    bool (*fence_test)(struct xport_ctx *f, bool then_amo);
    /* Can an operation on that PE begin without waiting?  There are resources
     * and a connection, which the first question begins to make.  Holds for a
     * short operation, for blocks up to XPORT_PACKED_MAX bytes, and for an nbi
     * operation up to XPORT_FRAGMENT bytes.  A context has a share of the
     * resources, so that a PE that does not answer cannot use up those of the
     * others. */
    bool (*can_post)(struct xport_ctx *f, int pe);
    /* All is complete and visible at its target. */
    void (*quiet)(struct xport_ctx *f);
    /* Would quiet return at once?  As fence_test. */
    bool (*quiet_test)(struct xport_ctx *f);
    /* For a wait that lasts: has that PE see whether a message of this one's to
     * it was lost, which ends the job.  Waits for nothing. */
    void (*probe)(int pe);

    /* ---- registration of the host segment ---- */
    /* Is it registered up to that offset?  The same on all PEs. */
    bool (*is_registered)(size_t end);
    /* All PEs register it so far, on one thread, and a reserve unless exact:
     * -errno, logged if exact.  When it is known whether all PEs could,
     * register_agreed() publishes or undoes that. */
    int (*register_up_to)(size_t end, bool exact);
    int (*register_agreed)(bool all);
};
extern hidden const struct xport_ops *xport_net; /* NULL: no PE is remote */

/* Makes the device see, on return, stores of NICs to this PE's device memory
 * that precede what this thread has seen.  NULL: the device sees them anyway,
 * or no NIC reaches that memory. */
extern hidden void (*xport_flusher)(void);
static inline void xport_flush(void)
{
    if (unlikely(xport_flusher != NULL))
        xport_flusher();
}

/* The transport calls this after a store there for a remote PE; at NULL: it may
 * have been anywhere.  Set by core. */
extern hidden void (*xport_data_arrived)(const void *at, size_t len);
/* The program's call that this thread is in, for messages: __func__ of
 * the API function, set before any operation.  NULL on the library's own. */
extern hidden __thread const char *xport_call;

/* PEs share cores: what a wait waits for may need this one's.  Core sets it; atomic. */
extern hidden bool xport_oversubscribed;

#endif

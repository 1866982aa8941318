/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_int.h - what the files of ofi share.
 *
 * An endpoint is a libfabric endpoint with a completion queue for what it
 * starts and one for what arrives.  The first, ofi.eps[0], is the one that
 * peers address; the others have no queue for what arrives, if the provider can
 * do without.  That queue has a file descriptor, where the provider has one,
 * for the progress thread to sleep on; the queues of the others have none,
 * since it makes each completion cost two system calls.  Where the provider's
 * sockets can be found (ofi_sockets.h), no queue has one.  A context (struct
 * xport_ctx) sends through one endpoint, which contexts share when there are
 * more of them than endpoints.
 *
 * Threads: any; the domain is opened with FI_THREAD_SAFE.  Fields that several
 * threads write are atomics. */
#ifndef OFI_NET_OFI_INT_H
#define OFI_NET_OFI_INT_H

#include "base/lock.h"
#include "ofi/net/ofi_progress.h"
#include "ofi/net/ofi_ctx.h"

/* ---- peers ---- */
struct ofi_peer {
    fi_addr_t addr;
    uint64_t token;             /* opens its messages; 0: not looked up yet */
    uint64_t key[HEAP_SEGS], base[HEAP_SEGS];
};

enum { OFI_EPS = 65,
       OFI_WINDOW = 4096 };     /* operations under way on one, at most */

struct ofi_state {
    struct fi_info *info;
    struct fi_info *sender;     /* for endpoints that need not receive */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *mr[HEAP_SEGS];       /* the host's: ofi_grow.c */
    void *desc[HEAP_SEGS];      /* where the provider wants descriptors */
    size_t registered_size;     /* of the host segment, registered by mr */
    struct ofi_ep *eps[OFI_EPS];
    int n_eps, most_eps;
    struct ofi_peer *peers;
    uint64_t my_token;
    size_t inject_put, inject_msg, inject_amo;
    bool loses_injected;        /* no error reports such a message's loss */
    bool numbered;              /* messages, see ofi_am_number.c */
    uint64_t window;            /* operations in flight on an endpoint */
    bool local_keys;            /* FI_MR_LOCAL */
    bool descs;                 /* what has a descriptor goes with it */
    bool contexts;              /* FI_CONTEXT, FI_CONTEXT2 */
    bool by_sockets;            /* of TCP: ofi_sockets.h may find them */
    bool onload;                /* processors do reads, as they poll */
    bool wait_fd;               /* the progress thread has descriptors */
    bool nic_amo;               /* atomics of the provider, not messages */
    bool fetching;              /* these are all done as ones that fetch */
    bool offloads;              /* no processor has a part in puts and gets */
    /* Earlier puts and atomics precede later puts; atomics; messages. */
    bool waw_order, put_amo_order, put_msg_order;
    bool one_outstanding;       /* one operation at a time, to any PE */
    bool nonatomic_delivery;    /* a variable may be seen half stored */
    bool batched_acks;         /* atomics of ofi_ack.c */
    bool hmem;                  /* the NICs reach the device heap */
    /* ofi_am_cancel(), once messages can be sent: no reply of that PE (-1: of
     * any) will come. */
    void (*cancel_requests)(struct xport_ctx *f, int pe, const char *why);
    char name[96];              /* "tcp;ofi_rxm on eth0", for messages */
};
extern struct ofi_state ofi;
/* Of a completion queue; psm3 says SIZE_MAX of queues that have no end. */
static inline size_t ofi_entries(size_t operations)
{
    return 2 * (operations < OFI_WINDOW ? operations : OFI_WINDOW);
}
/* For opening peers, contexts and endpoints. */
extern struct base_lock ofi_lock;

/* Memory of peers that neither the NIC nor their processors reach: the peers
 * execute operations there when a message requests it. */
static inline bool ofi_is_device_only_seg(int seg)
{
    return unlikely(seg == HEAP_DEVICE) && !heap_device_host_access;
}

/* And what the NICs do not reach either is moved in pieces of host memory. */
static inline bool ofi_needs_staging(int seg)
{
    return ofi_is_device_only_seg(seg) && !ofi.hmem;
}

/* ---- ofi_traffic.c ---- */
/* SHMEM_OFI_TCLASS, for a domain and its endpoints; its name, or "". */
void ofi_set_traffic_class(struct fi_info *info);
const char *ofi_traffic_class(void);
/* Does the provider put traffic into classes?  Others take the attribute and do
 * nothing with it. */
bool ofi_has_traffic_classes(const struct fi_info *i);
void ofi_warn_traffic_class(void);

/* ---- ofi_peer.c ---- */
int ofi_peers_open(void);
void ofi_peers_close(void);
/* Of an address vector when it is opened: the PEs that this one talks to are
 * mostly few, and it grows. */
size_t ofi_av_count(void);
/* Publishes this PE's address for the others, at start. */
int ofi_addr_publish(void);
struct ofi_peer *ofi_peer_look_up(int pe);     /* does not return on failure */
static inline const struct ofi_peer *ofi_peer(int pe)
{
    struct ofi_peer *p = &ofi.peers[pe];

    /* acquire: pairs with the release in ofi_peer_look_up. */
    if (likely(__atomic_load_n(&p->token, __ATOMIC_ACQUIRE)))
        return p;
    return ofi_peer_look_up(pe);
}

/* For ofi_grow.c: this PE's key after that growth, for the others; and, when
 * all have published theirs, those of the peers that are known. */
int ofi_peer_publish_key(int growth, uint64_t key);
void ofi_peer_fetch_keys(int growth);

/* ---- ofi_region.c ---- */
/* Registers memory for the peers; slot: which, of the few that a PE has. */
enum { OFI_STAGE_KEY = HEAP_SEGS };
int ofi_region_open(void *base, size_t size, int slot, struct fid_mr **out);
/* The provider gives the key (FI_MR_PROV_KEY); counts: operations on it. */
int ofi_region_open_counted(void *base, size_t size, struct fid_cntr *counts,
                            struct fid_mr **out);
int ofi_region_open_device(void *base, size_t size, struct fid_mr **out);
/* The segment where a region holds all of it, or -1. */
int ofi_region_of(const void *p, size_t len);
/* Is it memory that this PE's processor does not reach? */
bool ofi_is_device_only(const void *p) __attribute__((cold));

/* ---- ofi_grow.c: how much of the host segment is registered ---- */
/* At start; the device's when it is made. */
int ofi_segment_open(int seg);
/* For xport_ops. */
bool ofi_heap_registered(size_t end);
int ofi_heap_register(size_t end, bool exact);
int ofi_heap_register_agree(bool all);
void ofi_grow_close(void);
/* Of a segment that ofi_region_of has given.  The host's is replaced while
 * operations go on; what it was stays valid. */
static inline void *ofi_desc(int seg)
{
    /* acquire: pairs with the release in ofi_grow.c. */
    return seg < 0 ? NULL : __atomic_load_n(&ofi.desc[seg], __ATOMIC_ACQUIRE);
}

static inline uint64_t ofi_my_key(int seg)
{
    return fi_mr_key(__atomic_load_n(&ofi.mr[seg], __ATOMIC_ACQUIRE));
}

/* ---- ofi_error.c ---- */
/* One line about a peer, then the job ends.  what: "put", "fi_av_insert". */
_Noreturn void ofi_fatal(const char *what, int pe, long rc, const char *detail)
    __attribute__((cold));
/* The same, unless the context (or NULL) goes on after errors: then it gets a
 * report, and the caller counts the operation as done. */
void ofi_op_error(struct xport_ctx *f, const char *what, int pe, long rc,
                const char *detail) __attribute__((cold));
/* Before the owner of a context goes: on return no report is under way, and none
 * comes. */
void ofi_op_errors_end(struct xport_ctx *f);
/* As ofi_fatal where it gave no answer, or no room. */
_Noreturn void ofi_fatal_timeout(const struct ofi_wait *w, uint64_t waited_ns)
    __attribute__((cold));

/* ---- ofi_info.c: the choice of a provider ---- */
/* The interfaces that the choice was made from, if several: for error lines. */
enum { OFI_NIC_NAMES = 128 };
extern hidden char ofi_nic_names[OFI_NIC_NAMES];
/* The best from number `from` on, and what speaks for it; its number, to go on
 * with the next where it turns out not to work, or -ENOENT; -EINVAL, logged,
 * if SHMEM_NIC_MAP is wrong.  hmem: asked to reach device memory, if it can. */
int ofi_info_choose(int from, bool hmem, struct fi_info **out, char *why,
               size_t size);
bool ofi_wants_hmem(void);

/* ---- ofi_rma.c: one operation of the provider ---- */
void ofi_rma_put(struct xport_ctx *f, const struct xport_addr *to,
                 const void *source, size_t len, bool nbi);
void ofi_rma_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                 size_t len, bool nbi);
int ofi_rma_try_get(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from, size_t len);
/* A put whose arrival need not be known: with a copy the source is free on
 * return, else when the context is idle. */
void ofi_rma_transmit_copy(struct xport_ctx *f, const struct xport_addr *to,
                           const void *source, size_t len);
void ofi_rma_transmit(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len);
/* A put that is nbi, with that context. */
void ofi_put_single(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len, void *context);

/* A blocking put of so many bytes waits for no peer, as long as fewer than so
 * many are under way. */
enum { OFI_BOUNCE = XPORT_COPY_MAX, OFI_COPIES = 256 };

/* ---- ofi_amo.c ---- */
void ofi_amo_native(struct xport_ctx *f, const struct xport_addr *at,
             const struct xport_amo *a, void *result, bool nbi);
int ofi_amo_open(void);
void ofi_amo_close(void);
bool ofi_amo_room(bool little);         /* as ofi_local_room */
/* One that follows the end of a put, whose context this is. */
void *ofi_amo_after_put(struct xport_ctx *f, const struct xport_addr *at,
                     const struct xport_amo *a);
void ofi_amo_put_done(struct ofi_op *op);
void ofi_amo_put_failed(struct ofi_op *op);        /* the put failed */
/* Retries atomics that found no room (how many), or wait for their puts. */
int ofi_amo_retry(void);
extern int ofi_amo_awaiting_put;        /* atomic */
/* Has the provider all of them, for words of 4 and of 8 bytes? */
bool ofi_amo_all_valid(struct fid_ep *ep);

static inline uint64_t ofi_remote_addr(const struct ofi_peer *p,
                                       const struct xport_addr *at)
{
    /* relaxed: as the key, which a thread has seen before. */
    return at->seg == XPORT_TRIG_COUNTER
           ? 0 : __atomic_load_n(&p->base[at->seg], __ATOMIC_RELAXED) + at->off;
}

static inline uint64_t ofi_remote_key(const struct ofi_peer *p,
                                      const struct xport_addr *at)
{
    /* relaxed: the keys of a segment that grows all serve what they did. */
    return at->seg == XPORT_TRIG_COUNTER
           ? at->off : __atomic_load_n(&p->key[at->seg], __ATOMIC_RELAXED);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_rail.h - further NICs of this PE ("rails"), for large puts and gets.
 *
 * The first rail is the domain that all other files know: it carries whatever
 * is small, messages and deferred work.  Each further one is a domain of the
 * same provider on another NIC, with an address vector, an endpoint for RMA
 * alone and registrations of its own; all contexts share its endpoint.  What
 * has ofi_stripe_from bytes or more is cut into a stripe for each rail.
 *
 * Rails of two PEs are paired when the first large transfer is made, those on
 * a network of the same name first, and as many as both have.  A pair carries
 * stripes once a read of a word through it has ended well, so that an
 * interface that does not reach the peer costs a line and no operation.
 *
 * Threads: opening, closing and growth as in ofi_open.c; the rest any. */
#ifndef OFI_NET_OFI_RAIL_H
#define OFI_NET_OFI_RAIL_H

#include "ofi/net/ofi_int.h"

enum { OFI_RAILS = 8, OFI_RAIL_SEGS = HEAP_DATA + 1 };
_Static_assert((int)HEAP_HOST < (int)OFI_RAIL_SEGS, "the host's come first");

struct ofi_rail {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct ofi_ep *ep;
    struct fid_mr *mr[OFI_RAIL_SEGS], *scratch_mr;
    void *desc[OFI_RAIL_SEGS];  /* the host's: atomic, it is replaced */
    uint64_t scratch;           /* what is read to try a pair */
};
/* The further ones; how many. */
extern struct ofi_rail ofi_rails[OFI_RAILS - 1];
extern int ofi_n_rails;
/* Bytes; SIZE_MAX where there is one rail. */
extern size_t ofi_stripe_from;

/* ---- ofi_rail.c ---- */
/* After the first works.  word: symmetric, for a test.  A rail that does not
 * open is left out, with a line. */
void ofi_rails_open(uint64_t *word);
void ofi_rails_close(void);
/* For people: "2 rails, eth0 and eth1, from 128.0 KiB", or "". */
const char *ofi_rails_text(char *out, size_t size);

/* Operations in flight on rails, and entries in their queues. */
uint64_t ofi_rails_in_flight(void);
/* May each of them take one more stripe at once? */
bool ofi_rails_room(void);
/* ", something on rail eth1 has not ended", or "". */
const char *ofi_rails_busy(char *out, size_t size);
int ofi_rails_poll(void);
/* The descriptors to sleep on, into fds: how many, or -1 where there is
 * something to be looked at first. */
int ofi_rails_wait_fds(int *fds);

/* ---- growth of the host segment: ofi_grow.c ---- */
/* Registers so much; 0 or an error of the provider, and the NIC's name. */
int ofi_rails_register(size_t size, const char **nic);
void ofi_rails_register_cancel(void);
/* All PEs have: publishes the keys of that growth. */
int ofi_rails_register_commit(int growth);
/* After the fence. */
int ofi_rails_fetch_keys(int growth);

/* ---- ofi_open.c, ofi_rma.c, ofi_peer.c: for all rails ---- */
/* A key that is not to be guessed; slot: see ofi_region_open(). */
uint64_t ofi_new_key(int slot);
/* ofi_local_register() is of the first. */
int ofi_local_register_on(struct fid_domain *domain, const void *p, size_t len,
                          uint64_t access, struct fid_mr **out);
int ofi_peer_rails(int pe);     /* NICs, by its published address */

/* ---- ofi_rail_pair.c ---- */
enum ofi_pair_state { OFI_PAIR_NONE, OFI_PAIR_NEW, OFI_PAIR_PROBING,
                      OFI_PAIR_READY, OFI_PAIR_BAD };

/* How a rail of this PE, by number, reaches a peer. */
struct ofi_pair {
    fi_addr_t addr;
    uint64_t key[OFI_RAIL_SEGS];        /* atomic: the host's is replaced */
    int with;                   /* the number of the peer's rail */
    int theirs;                 /* how many rails the peer has */
    int state;                  /* atomic */
    /* While it is new, by the one that asks; since: 0: not asked yet. */
    uint64_t since_ns, next_ns; /* next: atomic */
    bool warned;
};
int ofi_rail_peers_open(void);
void ofi_rail_peers_close(void);
int ofi_rail_publish(void);
/* The pairs with that PE, 1 + ofi_n_rails of them.  Does not return on
 * failure. */
struct ofi_pair *ofi_rail_pairs(int pe);
/* Tries a new pair: by what ends later, or not at all now. */
void ofi_rail_probe(int rail, int pe, struct ofi_pair *p);
/* Until all that were asked have ended, or for a second. */
void ofi_rail_probe_drain(void);
/* Keys after a growth. */
int ofi_rail_publish_keys(int growth);
int ofi_rail_fetch_keys(int growth);

/* ---- ofi_am.c: an atomic by a message, behind the end of a put ---- */
struct ofi_op *ofi_am_after_put(struct xport_ctx *f,
                                const struct xport_addr *at,
                                const struct xport_amo *x);
/* The put has ended: once, for the number that the next calls want. */
uint32_t ofi_am_after_put_publish(struct ofi_op *op);
/* False: there is no room for it now.  The context may be gone, if its request
 * was given up meanwhile: so by its endpoint. */
bool ofi_am_after_put_post(struct ofi_op *op, uint32_t uses,
                           struct ofi_ep *e, const struct xport_addr *at,
                           const struct xport_amo *x);
void ofi_am_after_put_cancel(struct ofi_op *op);       /* the put has failed */

/* ---- ofi_stripe.c ---- */
int ofi_stripe_open(void);
void ofi_stripe_close(void);
bool ofi_stripe_room(void);
/* False: it is not striped. */
bool ofi_stripe_put(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len, bool nbi);
bool ofi_stripe_get(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from, size_t len, bool nbi);
/* Non-blocking, and the atomic when all of it is there. */
bool ofi_stripe_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                           const void *source, size_t len,
                           const struct xport_addr *sig_at,
                           const struct xport_amo *sig);
/* Messages that found no room. */
void ofi_stripe_retry(void);

#endif

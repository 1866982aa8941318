/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_dispatch.h - what stands above net/, am/ and stage/: the calls of
 * xport_ops, for the table in ofi_open.c.  Any thread.  A failure ends the job
 * with a line, unless the context goes on. */
#ifndef OFI_OFI_DISPATCH_H
#define OFI_OFI_DISPATCH_H

#include "ofi/net/ofi_int.h"

/* ---- ofi_dispatch.c: which of them, or of others, does a put or get ---- */
void ofi_put(struct xport_ctx *f, const struct xport_addr *to,
             const void *source, size_t len, bool nbi);
void ofi_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
             size_t len, bool nbi);
int ofi_try_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len);
void ofi_put_blocks(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, const struct xport_blocks *b);
void ofi_get_blocks(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from,
                    const struct xport_blocks *b, bool nbi);
void ofi_amo_dispatch(struct xport_ctx *f, const struct xport_addr *at,
                 const struct xport_amo *a, void *result, bool nbi);
/* Does the peer's processor store it, where the provider stores no variable whole
 * and has no atomic of that size? */
bool ofi_put_is_message(const struct xport_addr *to, size_t len);
/* Is that one operation, that reads source where it is? */
bool ofi_put_is_single(const struct xport_addr *to, const void *source,
                       size_t len);
/* A put whose arrival need not be known, as of ofi_rma_transmit_copy(). */
void ofi_put_transmit(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len, bool copies);

/* ---- ofi_order.c: calls that consist of puts and atomics ---- */
void ofi_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len,
                    const struct xport_addr *sig_at,
                    const struct xport_amo *sig, bool nbi);
int ofi_try_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *sig_at,
                       const struct xport_amo *sig, bool nbi);
int ofi_message(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len,
                const struct xport_addr *sig_at, const struct xport_amo *sig);
bool ofi_fenced(struct xport_ctx *f, bool then_amo);
bool ofi_has_room(struct xport_ctx *f, int pe);
void ofi_fence(struct xport_ctx *f, bool then_amo);
/* A put of the provider's may overtake earlier messages: so it waits for their
 * answers where a fence is between.  A message needs no wait. */
void ofi_fence_end(struct xport_ctx *f);
/* Before a put that is a message, which no window counts: waits for the answers
 * of many. */
void ofi_fence_limit(struct xport_ctx *f);
static inline bool ofi_behind_fence(const struct xport_ctx *f)
{
    /* acquire: a put behind the fence is behind the wait of the thread that has
     * ended it. */
    return unlikely(__atomic_load_n(&f->fences_over, __ATOMIC_ACQUIRE) !=
                    __atomic_load_n(&f->fences, __ATOMIC_RELAXED));
}
static inline void ofi_fence_rma(struct xport_ctx *f)
{
    if (ofi_behind_fence(f))
        ofi_fence_end(f);
}
void ofi_notify(struct xport_ctx *f, const struct xport_addr *at,
              const struct xport_amo *a);
void ofi_put_notify(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len,
                    const struct xport_addr *at, const struct xport_amo *a);
void ofi_quiet(struct xport_ctx *f);
bool ofi_quiet_test(struct xport_ctx *f);
/* The same but for acknowledgements that were not asked for; by any thread. */
bool ofi_all_answered(const struct xport_ctx *f);

/* ---- ofi_timeout.c ---- */
void ofi_ctx_check_timeout(struct xport_ctx *f, uint64_t now_ns);

#endif

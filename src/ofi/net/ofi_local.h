/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_local.h - what operations use of this PE's memory: descriptors, copies
 * and contexts that last until they end.  Any thread. */
#ifndef OFI_NET_OFI_LOCAL_H
#define OFI_NET_OFI_LOCAL_H

#include "ofi/net/ofi_int.h"

int ofi_local_open(void);
void ofi_local_close(void);
/* Are there copies and contexts for a few more operations, of which some are
 * kept back unless little is set? */
bool ofi_local_room(bool little);
/* Memory of any kind, for the provider. */
int ofi_local_register(const void *p, size_t len, uint64_t access,
                       struct fid_mr **out);
/* Static data is registered where its segment is mapped, which is not where the
 * program has it. */
void *ofi_data_at(const void *p);
static inline void *ofi_local_at(int seg, const void *p)
{
    return unlikely(seg == HEAP_DATA) ? ofi_data_at(p) : (void *)(uintptr_t)p;
}
/* The local buffer of a put or get. */
struct ofi_local {
    void *at;                   /* where the region of desc has it */
    void *desc;
    struct fid_mr *mr;          /* registered for that one, or NULL */
};
/* -errno: the provider does not register this memory. */
int ofi_local_use(const void *p, size_t len, uint64_t access,
                  struct ofi_local *out);
/* Reports it for an operation, and the context goes on. */
void ofi_local_failed(struct xport_ctx *f, const void *p, size_t len,
                      uint64_t access, int pe, int rc);
/* The context of an operation that lasts until its entry, and then closes what
 * was registered for it. */
void *ofi_local_context(struct xport_ctx *f, int pe,
                        const struct ofi_local *l);
/* A copy of what is put, or to be got, which lasts as long as the operation. */
struct ofi_copy {
    struct ofi_op op;
    void *dest;                 /* where it goes in the end, or NULL */
    size_t len;
    _Alignas(64) char bytes[OFI_BOUNCE];
};
struct ofi_copy *ofi_copy_alloc(struct xport_ctx *f);
void ofi_copy_free(struct ofi_copy *c);
void *ofi_copy_desc(void);
/* Its end frees the copy; of a fetch, it goes to dest before. */
extern const struct ofi_op_type ofi_op_bounce, ofi_op_fetch;
/* The context of an operation that only counts; NULL: there is none now. */
void *ofi_counted_alloc(struct xport_ctx *f, int pe, bool waits);
void ofi_counted_free(void *context);
static inline void *ofi_context(struct xport_ctx *f, int pe)
{
    return likely(!ofi.contexts) ? ofi_tag(f, pe)
                                 : ofi_counted_alloc(f, pe, true);
}

#endif

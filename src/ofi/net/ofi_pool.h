/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_pool.h - operations that are remembered until they end, a fixed number
 * of each sort.  An object of a pool begins with a struct ofi_op; a
 * thread that finds the pool empty advances operations until one ends. */
#ifndef OFI_NET_OFI_POOL_H
#define OFI_NET_OFI_POOL_H

#include "ofi/net/ofi_int.h"

struct ofi_pool {
    const char *what;           /* "room for copies": it is waited for */
    struct base_lock lock;
    struct ofi_op *given MEMBER_GUARDED_BY(lock);
    char *fresh MEMBER_GUARDED_BY(lock);       /* from here on never taken */
    size_t count, taken;        /* of all; atomic, written under the lock */
    char *all, *end;
    size_t each;
    struct fid_mr *mr;
    void *desc;                 /* where the provider wants descriptors */
};

#define OFI_POOL_INIT(WHAT) { .what = (WHAT), .lock = LOCK_INIT }

/* access: of operations to that memory, 0 if none.  0 or an error, logged; then
 * it is closed. */
int ofi_pool_open(struct ofi_pool *p, size_t count, size_t each,
                  uint64_t access);
void ofi_pool_close(struct ofi_pool *p);
/* Waits for one; its content is its last user's, or zeros. */
void *ofi_pool_alloc(struct ofi_pool *p, struct xport_ctx *f);
void *ofi_pool_try_alloc(struct ofi_pool *p);      /* or NULL, at once */
/* So many are there, if no other thread takes them. */
static inline bool ofi_pool_has(const struct ofi_pool *p, size_t n)
{
    return __atomic_load_n(&p->taken, __ATOMIC_RELAXED) + n <= p->count;
}
/* Objects that an operation takes of a pool, and some for threads that race. */
enum { OFI_FEW = 4 };
void ofi_pool_free(struct ofi_pool *p, struct ofi_op *op);

#endif

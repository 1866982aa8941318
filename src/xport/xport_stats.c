/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_stats.c - a table in front of the network's that counts operations and
 * bytes. core puts it there for SHMEM_STATS alone, so that no operation pays
 * for it otherwise. */
#include "xport/xport_stats.h"

#include <stdlib.h>

/* Threads count at once: each number for itself, so relaxed is enough. */
static struct {
    const struct xport_ops *to;
    struct xport_ops table;
    struct xport_stats n;
    unsigned char *seen;
    bool pauses;                /* atomic */
} count;

static void add(uint64_t *n, uint64_t by)
{
    __atomic_fetch_add(n, by, __ATOMIC_RELAXED);
}

static void count_op(int pe, size_t bytes)
{
    if (__atomic_load_n(&count.pauses, __ATOMIC_RELAXED))
        return;
    add(&count.n.ops, 1);
    add(&count.n.bytes, bytes);
    if (!__atomic_exchange_n(&count.seen[pe], 1, __ATOMIC_RELAXED))
        add(&count.n.peers, 1);
}

static void count_fetch(int pe, size_t bytes)
{
    count_op(pe, bytes);
    if (__atomic_load_n(&count.pauses, __ATOMIC_RELAXED))
        return;
    add(&count.n.gets, 1);
    add(&count.n.got, bytes);
}

static void put(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len, bool nbi)
{
    count_op(to->pe, len);
    count.to->put(f, to, source, len, nbi);
}

static void get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len, bool nbi)
{
    count_fetch(from->pe, len);
    count.to->get(f, dest, from, len, nbi);
}

static int try_get(struct xport_ctx *f, void *dest,
                   const struct xport_addr *from, size_t len)
{
    int rc = count.to->try_get(f, dest, from, len);

    if (!rc)
        count_fetch(from->pe, len);
    return rc;
}

static void put_blocks(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, const struct xport_blocks *b)
{
    count_op(to->pe, b->len * b->count);
    count.to->put_blocks(f, to, source, b);
}

static void get_blocks(struct xport_ctx *f, void *dest,
                       const struct xport_addr *from,
                       const struct xport_blocks *b, bool nbi)
{
    count_fetch(from->pe, b->len * b->count);
    count.to->get_blocks(f, dest, from, b, nbi);
}

static void amo(struct xport_ctx *f, const struct xport_addr *at,
                const struct xport_amo *a, void *result, bool nbi)
{
    if (result)
        count_fetch(at->pe, (size_t)a->size);
    else
        count_op(at->pe, (size_t)a->size);
    count.to->amo(f, at, a, result, nbi);
}

static void notify(struct xport_ctx *f, const struct xport_addr *at,
                 const struct xport_amo *a)
{
    count_op(at->pe, (size_t)a->size);
    count.to->notify(f, at, a);
}

static void count_put_signal(const struct xport_addr *to, size_t len,
                           const struct xport_addr *sig_at,
                           const struct xport_amo *sig)
{
    if (to)
        count_op(to->pe, len);
    count_op(sig_at->pe, (size_t)sig->size);
}

static void put_notify(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *at, const struct xport_amo *a)
{
    count_put_signal(to, len, at, a);
    count.to->put_notify(f, to, source, len, at, a);
}

static void put_signal(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *sig_at,
                       const struct xport_amo *sig, bool nbi)
{
    count_put_signal(to, len, sig_at, sig);
    count.to->put_signal(f, to, source, len, sig_at, sig, nbi);
}

static int try_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                          const void *source, size_t len,
                          const struct xport_addr *sig_at,
                          const struct xport_amo *sig, bool nbi)
{
    int rc = count.to->try_put_signal(f, to, source, len, sig_at, sig, nbi);

    if (!rc)
        count_put_signal(to, len, sig_at, sig);
    return rc;
}

static int post_message(struct xport_ctx *f, const struct xport_addr *to,
                   const void *source, size_t len,
                   const struct xport_addr *sig_at, const struct xport_amo *sig)
{
    int rc = count.to->post_message(f, to, source, len, sig_at, sig);

    if (!rc)
        count_put_signal(to, len, sig_at, sig);
    return rc;
}

const struct xport_ops *xport_stats_wrap(const struct xport_ops *ops, int n_pes)
{
    count.seen = calloc((size_t)n_pes, 1);
    if (!count.seen)
        return ops;
    count.n = (struct xport_stats){ 0 };
    count.pauses = false;
    count.to = ops;
    count.table = *ops;
    count.table.put = put;
    count.table.get = get;
    count.table.try_get = try_get;
    count.table.put_blocks = put_blocks;
    count.table.get_blocks = get_blocks;
    count.table.amo = amo;
    count.table.notify = notify;
    count.table.put_notify = put_notify;
    count.table.put_signal = put_signal;
    count.table.try_put_signal = try_put_signal;
    count.table.post_message = post_message;
    return &count.table;
}

struct xport_stats xport_stats_get(void)
{
    return (struct xport_stats){
        .ops = __atomic_load_n(&count.n.ops, __ATOMIC_RELAXED),
        .bytes = __atomic_load_n(&count.n.bytes, __ATOMIC_RELAXED),
        .gets = __atomic_load_n(&count.n.gets, __ATOMIC_RELAXED),
        .got = __atomic_load_n(&count.n.got, __ATOMIC_RELAXED),
        .peers = __atomic_load_n(&count.n.peers, __ATOMIC_RELAXED)
    };
}

void xport_stats_pause(bool pause)
{
    __atomic_store_n(&count.pauses, pause, __ATOMIC_RELAXED);
}

void xport_stats_unwrap(void)
{
    free(count.seen);
    count.seen = NULL;
    count.to = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all exchanges, contiguous and strided.  Called by api with checked
 * arguments.  Each algorithm is one static function; coll_alltoall() selects
 * one by coll_choose(). */
#include "coll/coll_int.h"

/* Bruck's algorithm holds all blocks at once, and half of them in a round. */
enum { BRUCK_MOST = 2 * CORE_PIECE };

static void put_all(struct core_team *t, char *dest, const char *source,
                    size_t bytes)
{
    int pe;

    for (int i = 0; i < t->n_pes; i++) {
        pe = (t->my_pe + i) % t->n_pes;
        coll_put(t, pe, dest + (size_t)t->my_pe * bytes,
                 source + (size_t)pe * bytes, bytes);
    }
}

static void alltoall_push(struct core_team *t, char *dest, const char *source,
                          size_t bytes)
{
    put_all(t, dest, source, bytes);
    coll_flush(t);
    coll_sync(t);
}

static void alltoall_pull(struct core_team *t, char *dest, const char *source,
                          size_t bytes)
{
    const char *theirs;
    int pe;

    coll_sync(t);
    for (int i = 0; i < t->n_pes && bytes; i++) {
        pe = (t->my_pe + i) % t->n_pes;
        theirs = coll_at(t, pe, source + (size_t)t->my_pe * bytes);
        core_copy(dest + (size_t)pe * bytes, theirs, bytes);
    }
    coll_sync(t);
}

/* Each pair on its own: no member waits for more than the last to come. */
static void alltoall_pairwise(struct core_team *t, char *dest,
                              const char *source, size_t bytes)
{
    struct coll_call c = coll_begin(t);
    char *to = dest + (size_t)t->my_pe * bytes;
    const char *from;
    int pe;

    for (int i = 0; i < t->n_pes; i++) {
        pe = (t->my_pe + i) % t->n_pes;
        from = source + (size_t)pe * bytes;
        if (i && !coll_is_mapped(t, pe)) {
            coll_send_count(&c, pe, to, from, bytes);
            continue;
        }
        coll_put(t, pe, to, from, bytes);
        if (i)
            coll_notify_count_mixed(&c, pe);
    }
    coll_await_count(&c, (uint64_t)t->n_pes - 1);
}

/* Block i has i members to go; round r moves those whose number has bit r. */
static void alltoall_bruck(struct core_team *t, char *dest, const char *source,
                           size_t bytes)
{
    int n = t->n_pes, me = t->my_pe, to;
    char held[BRUCK_MOST], packed[CORE_PIECE];
    struct coll_call c = coll_begin(t);
    const char *came;
    size_t len;

    for (int i = 0; i < n; i++)
        core_copy(held + (size_t)i * bytes,
               source + (size_t)((me + i) % n) * bytes, bytes);
    for (int r = 0; 1 << r < n; r++) {
        len = 0;
        for (int i = 0; i < n; i++)
            if (i >> r & 1) {
                core_copy(packed + len, held + (size_t)i * bytes, bytes);
                len += bytes;
            }
        to = (me + (1 << r)) % n;
        coll_send_scratch(&c, to, r, packed, len, r);
        coll_await(&c, r);
        came = core_team_scratch(t, me, c.parity, r);
        for (int i = 0; i < n; i++)
            if (i >> r & 1) {
                core_copy(held + (size_t)i * bytes, came, bytes);
                came += bytes;
            }
    }
    for (int i = 0; i < n; i++)
        core_copy(dest + (size_t)((me - i + n) % n) * bytes,
               held + (size_t)i * bytes, bytes);
}

void coll_alltoall(struct core_team *t, void *dest, const void *source,
                   size_t bytes)
{
    /* In a round at most half of the blocks travel, rounded up. */
    bool few = bytes && bytes <= CORE_PIECE / ((size_t)t->n_pes / 2 + 1);

    switch (coll_choose(COLL_ALLTOALL, t, bytes)) {
    case COLL_PULL:
        alltoall_pull(t, dest, source, bytes);
        break;
    case COLL_BRUCK:
        if (few) {
            alltoall_bruck(t, dest, source, bytes);
            break;
        }
        alltoall_pairwise(t, dest, source, bytes);
        break;
    case COLL_PAIRWISE:
        alltoall_pairwise(t, dest, source, bytes);
        break;
    default:
        alltoall_push(t, dest, source, bytes);
    }
}

static void copy_elements(char *to, const char *from,
                          const struct core_strided *s)
{
    const struct xport_blocks b = { .len = s->len, .count = s->count };

    if (unlikely(gtl_device_only)) {
        core_device_copy_blocks(to, s->dst, from, s->sst, &b);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        copy_bytes(to + (ptrdiff_t)i * s->dst, from + (ptrdiff_t)i * s->sst,
                   s->len);
}

void coll_alltoalls(struct core_team *t, void *dest, const void *source,
                    ptrdiff_t dst, ptrdiff_t sst, size_t n, size_t size)
{
    const char *from;
    char *to;
    int pe;

    for (int i = 0; i < t->n_pes && n; i++) {
        pe = (t->my_pe + i) % t->n_pes;
        from = (const char *)source + (size_t)pe * n * (size_t)sst * size;
        to = (char *)dest + (size_t)t->my_pe * n * (size_t)dst * size;
        if (!coll_is_mapped(t, pe)) {
            coll_remote_put_strided(core_team_world_pe(t, pe), to, from,
                                    &(struct core_strided){
                                        dst * (ptrdiff_t)size,
                                        sst * (ptrdiff_t)size, size, n });
            continue;
        }
        copy_elements(coll_at(t, pe, to), from,
                      &(struct core_strided){ dst * (ptrdiff_t)size,
                      sst * (ptrdiff_t)size, size, n });
    }
    coll_flush(t);
    coll_sync(t);
}

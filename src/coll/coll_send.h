/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_send.h - what a member does to another: puts, flags and counts, by stores
 * where it is mapped, else by the network (coll_remote.c). */
#ifndef COLL_COLL_SEND_H
#define COLL_COLL_SEND_H

#include "core/core_amo.h"

/* One collective, or one piece of a long one.  In each, every member waits,
 * directly or not, for all others before it begins the next one: a flag of a
 * call is reused by the call after next, and maybe by another member. */
struct coll_call {
    struct core_team *t;
    uint64_t seq;
    unsigned parity;
};

/* Member pe's copy of a symmetric address, for core_copy() and coll_apply();
 * the arguments were checked.  NULL where the member is off-node. */
static inline void *coll_at(const struct core_team *t, int pe, const void *sym)
{
    uintptr_t addr = xport_ptr(core_team_world_pe(t, pe), sym, 1);

    if (unlikely(!addr) && gtl_device_only)
        addr = core_device_address(core_team_world_pe(t, pe), sym);
    return (void *)addr;
}

static inline bool coll_is_mapped(const struct core_team *t, int pe)
{
    return likely(xport_routes[core_team_world_pe(t, pe)].map[HEAP_HOST] != 0);
}

/* ---- coll_remote.c: members that are not mapped ---- */
void coll_remote_put(int world_pe, void *dest, const void *source,
                     size_t bytes);
void coll_remote_put_strided(int world_pe, void *dest, const void *source,
                             const struct core_strided *s);
/* offset: in the host segment.  Puts to that PE come before. */
void coll_remote_notify(int world_pe, enum amo_op op, const void *offset,
                        uint64_t value);
/* coll_remote_put() and coll_remote_notify() in one. */
void coll_remote_send(int world_pe, void *dest, const void *source,
                      size_t bytes, enum amo_op op, const void *offset,
                      uint64_t value);
void coll_remote_send_area(int world_pe, const void *area, const void *source,
                           size_t bytes, const void *offset, uint64_t value);
void coll_remote_put_area(int world_pe, const void *offset, const void *source,
                          size_t bytes);
void coll_remote_get(int world_pe, const void *offset, void *dest,
                     size_t bytes);
void coll_remote_get_nbi(int world_pe, const void *offset, void *dest,
                         size_t bytes);
/* Counts one more arrival at member pe of a call, by the network. */
void coll_remote_notify_count(const struct coll_call *c, int pe);
/* Waits until all off-node puts of this PE are at their targets. */
void coll_remote_quiet(void);

/* source may be reused at once. */
static inline void coll_put(const struct core_team *t, int pe, void *dest,
                            const void *source, size_t bytes)
{
    if (!bytes)
        return;
    if (coll_is_mapped(t, pe))
        core_copy(coll_at(t, pe, dest), source, bytes);
    else
        coll_remote_put(core_team_world_pe(t, pe), dest, source, bytes);
}

/* To the library's own variables, at an address of core_team_area_of(). */
static inline void coll_put_area(const struct core_team *t, int pe,
                                 uintptr_t to, const void *source,
                                 size_t bytes)
{
    if (coll_is_mapped(t, pe))
        copy_bytes((void *)to, source, bytes);
    else
        coll_remote_put_area(core_team_world_pe(t, pe), (void *)to, source,
                             bytes);
}

static inline void coll_wake(const struct core_team *t, int pe, void *word)
{
    core_wake((struct core_target){ (uintptr_t)word,
                                    core_peer_ctl(core_team_world_pe(t, pe)) },
              sizeof(uint64_t));
}

/* Sets a flag of member pe, after our puts to that member. */
static inline void coll_set_flag(const struct core_team *t, int pe,
                                 uint64_t *w, uint64_t value)
{
    if (!coll_is_mapped(t, pe)) {
        coll_remote_notify(core_team_world_pe(t, pe), AMO_SET, w, value);
        return;
    }
    atomics_tsan_release();
    __atomic_store_n(w, value, __ATOMIC_RELEASE);
    coll_wake(t, pe, w);
}

/* Notifies member pe that step is done here. */
static inline void coll_notify(const struct coll_call *c, int pe, int step)
{
    coll_set_flag(c->t, pe, &core_team_area_of(c->t, pe)->flag[c->parity][step],
                  c->seq);
}

/* Notifies member pe by counting one more arrival, without a number. */
static inline void coll_notify_count(const struct coll_call *c, int pe)
{
    uint64_t *w = &core_team_area_of(c->t, pe)->count[c->parity];

    if (!coll_is_mapped(c->t, pe)) {
        coll_remote_notify(core_team_world_pe(c->t, pe), AMO_ADD, w, 1);
        return;
    }
    atomics_tsan_release();
    __atomic_fetch_add(w, 1, __ATOMIC_RELEASE);
    coll_wake(c->t, pe, w);
}

/* The same where on-node and off-node members may do it at once: by the
 * network, if its atomics are not those of processors.  Elsewhere one member
 * after the other counts. */
static inline void coll_notify_count_mixed(const struct coll_call *c, int pe)
{
    const struct core_team *t = c->t;

    if (likely(t->mapped) || !coll_is_mapped(t, pe) ||
        xport_routes[core_team_world_pe(t, pe)].amo[HEAP_HOST])
        coll_notify_count(c, pe);
    else
        coll_remote_notify_count(c, pe);
}

/* Notifies member pe that step is done here, behind a put: one message where it
 * is off-node and the put is short.  source may be reused at once. */
static inline void coll_send(const struct coll_call *c, int pe, void *dest,
                             const void *source, size_t bytes, int step)
{
    if (coll_is_mapped(c->t, pe)) {
        coll_put(c->t, pe, dest, source, bytes);
        coll_notify(c, pe, step);
    } else {
        coll_remote_send(
            core_team_world_pe(c->t, pe), dest, source, bytes, AMO_SET,
            &core_team_area_of(c->t, pe)->flag[c->parity][step], c->seq);
    }
}

/* The same, counted: see coll_notify_count(). */
static inline void coll_send_count(const struct coll_call *c, int pe,
                                   void *dest, const void *source,
                                   size_t bytes)
{
    if (coll_is_mapped(c->t, pe)) {
        coll_put(c->t, pe, dest, source, bytes);
        coll_notify_count(c, pe);
    } else {
        coll_remote_send(core_team_world_pe(c->t, pe), dest, source, bytes,
                         AMO_ADD,
                         &core_team_area_of(c->t, pe)->count[c->parity], 1);
    }
}

/* The same into the library's own variables, see coll_put_area(). */
static inline void coll_send_area(const struct coll_call *c, int pe,
                                  uintptr_t to, const void *source,
                                  size_t bytes, int step)
{
    if (coll_is_mapped(c->t, pe)) {
        copy_bytes((void *)to, source, bytes);
        coll_notify(c, pe, step);
    } else {
        coll_remote_send_area(
            core_team_world_pe(c->t, pe), (void *)to, source, bytes,
            &core_team_area_of(c->t, pe)->flag[c->parity][step], c->seq);
    }
}

/* The same into the part of its scratch of that round. */
static inline void coll_send_scratch(const struct coll_call *c, int pe,
                                     int round, const void *source,
                                     size_t bytes, int step)
{
    coll_send_area(c, pe,
                   (uintptr_t)core_team_scratch(c->t, pe, c->parity, round),
                   source, bytes, step);
}

#endif

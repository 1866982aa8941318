/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_coll.h - collectives of kernels that move data: broadcast,
 * fcollect and alltoall; shmemx_dev_reduce.h has those that compute.  A part of
 * shmemx_dev.h.
 *
 * Semantics are those of the OpenSHMEM 1.6 call of the name (section 9.9), on
 * device teams alone.  One thread, warp or block of each member's kernels makes
 * the call, all with the same arguments; a team is in one collective call at a
 * time, its syncs and barriers included.  dest and source are symmetric, in
 * memory that the device reaches; a member's dest is written from the time on
 * at which that member makes the call.  The calls return 0, or -1 where there
 * is no such device team or root. */

/* ---- how they work ----
 * The area that each member keeps for the team has, behind the flags of
 * synchronizations, counters that other members add to and that are never
 * reset, and scratch memory.  A collective takes one of two forms.
 *
 * Eager, for little data: each member puts to the scratch memory of every other
 * one, and adds one to its counter; the receiver waits for n - 1 more.  The
 * calls alternate between two halves of the scratch memory and two counters.
 * No member gets two such calls ahead of another one, because in each every
 * member waits for every other.
 *
 * Else the members synchronize first: then sources are complete, all members
 * have left earlier calls, and their dest may be written.  Data go to their
 * place by put, each with one more on the counter of arrivals, and each member
 * knows how many arrivals it gets. */
enum {
    SHMEMI_DEV_AT_EAGER = 256,          /* two counters */
    SHMEMI_DEV_AT_ARRIVALS = 272,
    SHMEMI_DEV_AT_PIECE = 280,          /* the number of a synchronization */
    SHMEMI_DEV_AT_SCRATCH = 512,
    SHMEMI_DEV_SCRATCH = 8192,
    SHMEMI_DEV_EAGER = SHMEMI_DEV_SCRATCH / 2,
    SHMEMI_DEV_FLAT = 8,                /* a root sends to so many itself */
    SHMEMI_DEV_SPLIT = 16384            /* bytes of a broadcast in pieces */
};

enum { SHMEMI_DEV_SHORT_REQUESTS = 1, SHMEMI_DEV_LONG_REQUESTS = 2 };

/* A call of a thread. */
typedef struct shmemi_dev_coll {
    shmemx_dev_t world;
    shmemi_dev_team *t;
    enum shmemi_dev_scope scope;
    int requests;               /* that this thread has made */
} shmemi_dev_coll;

/* What a member sends: bytes, and the counter or flag that follows them.  to is
 * not an address but NULL where they go to the receiver's area, at to_at. */
typedef struct shmemi_dev_parcel {
    void *to;
    const void *from;
    shmemi_u64 bytes, to_at;
    shmemi_u64 at, value;       /* in the area of the receiver */
    int sig_op;
} shmemi_dev_parcel;

/* Not a part of its caller, and made once for all of them. */
#ifdef SHMEMI_DEV_C
#define SHMEMI_DEV_BODY static __attribute__((noinline, unused))
#else
#define SHMEMI_DEV_BODY SHMEMI_DEV_SLOW
#endif

SHMEMI_DEV int shmemi_dev_coll_pe(const shmemi_dev_coll *c, int member)
{
    return c->t->start + member * c->t->stride;
}

/* The member that follows this one in so many steps. */
SHMEMI_DEV int shmemi_dev_coll_after(const shmemi_dev_coll *c, int steps)
{
    int member = c->t->my_pe + steps;

    return member < c->t->n_pes ? member : member - c->t->n_pes;
}

SHMEMI_DEV int shmemi_dev_coll_leads(const shmemi_dev_coll *c)
{
    return shmemi_dev_rank(c->scope) == 0;
}

/* What the threads of the scope have stored is in front of what this thread
 * does next, for all observers. */
SHMEMI_DEV void shmemi_dev_coll_stored(const shmemi_dev_coll *c)
{
    shmemi_dev_fence();
    shmemi_dev_barrier(c->scope);
}

/* What the first thread has seen is visible to the threads of the scope. */
SHMEMI_DEV void shmemi_dev_coll_seen(const shmemi_dev_coll *c)
{
    shmemi_dev_barrier(c->scope);
    shmemi_dev_acquired();
}

/* -1: no such team; 0: another thread does the work; 1. */
SHMEMI_DEV_BODY int shmemi_dev_coll_begin(shmemi_dev_coll *c,
                                          const struct shmemx_dev *d,
                                          shmem_team_t team,
                                          enum shmemi_dev_scope scope)
{
    if (d->magic != SHMEMI_DEV_MAGIC)
        shmemi_dev_no_state(d, SHMEMI_DEV_CALL_COLL);
    c->t = shmemi_dev_team_of(d, team);
    if (!c->t)
        return shmemi_dev_refuse(d, SHMEMI_DEV_WRONG_TEAM, SHMEMI_DEV_CALL_COLL,
                                 (shmemi_u64)team, 0);
    if (!shmemi_dev_takes_part(d, scope))
        return 0;
    c->world = shmemi_dev_world(d, 0x7fffffff);
    c->scope = scope;
    c->requests = 0;
    shmemi_dev_coll_stored(c);
    return 1;
}

/* Until the sources of this thread's requests may be reused. */
SHMEMI_DEV void shmemi_dev_coll_flush(shmemi_dev_coll *c)
{
    shmemi_dev_position t;

    if (!c->requests)
        return;
    t.ring = shmemi_dev_ring_of(&c->world);
    t.n = shmemi_dev_load_64(&t.ring->head) - 1;
    if (c->requests & SHMEMI_DEV_LONG_REQUESTS)
        shmemi_dev_await_done(&c->world, t);
    else
        shmemi_dev_await_taken(&c->world, t);
    c->requests = 0;
}

SHMEMI_DEV_BODY void shmemi_dev_coll_end(shmemi_dev_coll *c)
{
    shmemi_dev_coll_flush(c);
    shmemi_dev_barrier(c->scope);
}

/* All members have made this call. */
SHMEMI_DEV_BODY void shmemi_dev_coll_enter(const shmemi_dev_coll *c)
{
    if (shmemi_dev_coll_leads(c))
        shmemi_dev_team_sync(&c->world, c->t);
    shmemi_dev_coll_seen(c);
}

/* Waits until a word of this member's area has the value or more. */
SHMEMI_DEV_BODY void shmemi_dev_coll_wait(const shmemi_dev_coll *c,
                                          shmemi_u64 at, shmemi_u64 value,
                                          unsigned raiser)
{
    shmemi_dev_for f;

    if (shmemi_dev_coll_leads(c)) {
        f.size = 8;
        f.is_signed = 0;
        f.cmp = SHMEM_CMP_GE;
        f.value = value;
        f.call = SHMEMI_DEV_CALL_COLL;
        f.raiser = raiser;
        shmemi_dev_wait_for(&c->world, shmemi_dev_area(&c->world, c->t,
                                                       c->t->my_pe, at),
                            f, SHMEMI_DEV_THREAD);
    }
    shmemi_dev_coll_seen(c);
}

/* The member whose signal is missing, where the team has but one other: its
 * world PE + 1; else 0. */
SHMEMI_DEV unsigned shmemi_dev_coll_other(const shmemi_dev_coll *c)
{
    return c->t->n_pes == 2
               ? (unsigned)shmemi_dev_coll_pe(c, 1 - c->t->my_pe) + 1 : 0;
}

/* So many more arrivals. */
SHMEMI_DEV void shmemi_dev_coll_arrive(const shmemi_dev_coll *c,
                                       shmemi_u64 more)
{
    shmemi_u64 all = 0;

    if (shmemi_dev_coll_leads(c)) {
        all = shmemi_dev_load_64(&c->t->sends) + more;
        shmemi_dev_store_64(&c->t->sends, all);
    }
    shmemi_dev_coll_wait(c, SHMEMI_DEV_AT_ARRIVALS, all,
                         shmemi_dev_coll_other(c));
}

/* ---- sending ----
 * By requests first, so that they are under way during the copies; then the
 * copies, and behind a barrier their signals. */

/* Where the device stores that, at a member; 0: it does not. */
SHMEMI_DEV_BODY shmemi_u64 shmemi_dev_coll_map(const shmemi_dev_coll *c,
                                               int member, const void *sym,
                                               shmemi_u64 bytes)
{
    const shmemi_dev_reach *r =
        shmemi_dev_reach_of(&c->world, shmemi_dev_coll_pe(c, member));

    return r ? shmemi_dev_find(&c->world, r->map, sym, bytes) : 0;
}

SHMEMI_DEV void shmemi_dev_coll_request(shmemi_dev_coll *c,
                                        const shmemi_dev_parcel *p, int member)
{
    int is_short = p->bytes <= SHMEMI_DEV_SHORT;

    if (!shmemi_dev_coll_leads(c) ||
        shmemi_dev_coll_map(c, member, p->to, p->bytes))
        return;
    c->requests |= is_short ? SHMEMI_DEV_SHORT_REQUESTS
                            : SHMEMI_DEV_LONG_REQUESTS;
    shmemi_dev_push(&c->world,
                    SHMEMI_DEV_HEAD(SHMEMI_DEV_PUT_SIGNAL, p->sig_op,
                                    SHMEMI_DEV_CALL_COLL, 8),
                    shmemi_dev_coll_pe(c, member), p->to, p->from, p->bytes,
                    p->value,
                    (shmemi_u64)shmemi_dev_area(&c->world, c->t, member,
                                                p->at),
                    is_short ? SHMEMI_DEV_WAITS : 0);
}

SHMEMI_DEV void shmemi_dev_coll_copy(const shmemi_dev_coll *c,
                                     const shmemi_dev_parcel *p, int member)
{
    shmemi_u64 to = shmemi_dev_coll_map(c, member, p->to, p->bytes);

    if (to)
        shmemi_dev_copy(to, (shmemi_u64)p->from, p->bytes, c->scope);
}

SHMEMI_DEV void shmemi_dev_coll_signal(const shmemi_dev_coll *c,
                                       const shmemi_dev_parcel *p, int member)
{
    int pe = shmemi_dev_coll_pe(c, member);
    shmemi_u64 to = shmemi_dev_coll_map(c, member, p->to, p->bytes);

    if (!to)
        return;
    shmemi_dev_stored(&c->world, shmemi_dev_reach_of(&c->world, pe), to,
                      p->bytes);
    shmemi_dev_signal(&c->world,
                      shmemi_dev_area(&c->world, c->t, member, p->at),
                      p->value, p->sig_op, pe);
}

/* To one member. */
SHMEMI_DEV_BODY void shmemi_dev_coll_send(shmemi_dev_coll *c,
                                          const shmemi_dev_parcel *p,
                                          int member)
{
    shmemi_dev_coll_request(c, p, member);
    shmemi_dev_coll_copy(c, p, member);
    shmemi_dev_coll_stored(c);
    if (shmemi_dev_coll_leads(c))
        shmemi_dev_coll_signal(c, p, member);
}

/* To all others but `skip`; member i gets the bytes at from + i * step. */
SHMEMI_DEV_BODY void shmemi_dev_coll_send_all(shmemi_dev_coll *c,
                                              const shmemi_dev_parcel *all,
                                              shmemi_u64 step, int skip)
{
    shmemi_dev_parcel p = *all;
    int pass, i, member;

    for (pass = 0; pass < 3; pass++) {
        if (pass == 2)
            shmemi_dev_coll_stored(c);
        for (i = 1; i < c->t->n_pes; i++) {
            member = shmemi_dev_coll_after(c, i);
            if (member == skip)
                continue;
            p.from = (const char *)all->from + (shmemi_u64)member * step;
            if (!all->to)
                p.to = shmemi_dev_area(&c->world, c->t, member, all->to_at);
            if (pass == 0)
                shmemi_dev_coll_request(c, &p, member);
            else if (pass == 1)
                shmemi_dev_coll_copy(c, &p, member);
            else if (shmemi_dev_coll_leads(c))
                shmemi_dev_coll_signal(c, &p, member);
        }
    }
}

SHMEMI_DEV shmemi_dev_parcel shmemi_dev_parcel_of(void *to, const void *from,
                                                  shmemi_u64 bytes)
{
    shmemi_dev_parcel p;

    p.to = to;
    p.to_at = 0;
    p.from = from;
    p.bytes = bytes;
    p.at = SHMEMI_DEV_AT_ARRIVALS;
    p.value = 1;
    p.sig_op = SHMEM_SIGNAL_ADD;
    return p;
}

/* This member's own bytes. */
SHMEMI_DEV void shmemi_dev_coll_own(const shmemi_dev_coll *c, void *to,
                                    const void *from, shmemi_u64 bytes)
{
    if (to != from)
        shmemi_dev_copy((shmemi_u64)to, (shmemi_u64)from, bytes, c->scope);
}

/* ---- eager ---- */

SHMEMI_DEV shmemi_u64 shmemi_dev_eager_slot(shmemi_u64 bytes)
{
    return (bytes + 15) / 16 * 16;
}

SHMEMI_DEV int shmemi_dev_coll_is_eager(const shmemi_dev_coll *c,
                                        shmemi_u64 bytes)
{
    return bytes <= SHMEMI_DEV_EAGER &&
           shmemi_dev_eager_slot(bytes) * (shmemi_u64)c->t->n_pes <=
               SHMEMI_DEV_EAGER;
}

/* Member i gets the bytes at source + i * step.  Returns where those of all
 * others lie, each in a slot of the member's number; the own slot is free. */
SHMEMI_DEV_BODY char *shmemi_dev_eager(shmemi_dev_coll *c, const void *source,
                                       shmemi_u64 step, shmemi_u64 bytes)
{
    shmemi_u64 n = shmemi_dev_load_64(&c->t->eager), at;
    shmemi_dev_parcel p = shmemi_dev_parcel_of(0, source, bytes);

    at = SHMEMI_DEV_AT_SCRATCH + (n & 1) * SHMEMI_DEV_EAGER;
    p.to_at = at + (shmemi_u64)c->t->my_pe * shmemi_dev_eager_slot(bytes);
    p.at = SHMEMI_DEV_AT_EAGER + (n & 1) * 8;
    shmemi_dev_coll_send_all(c, &p, step, -1);
    /* The caller may store to source, which dest may be. */
    shmemi_dev_coll_flush(c);
    /* Behind a barrier: all threads have read it. */
    if (shmemi_dev_coll_leads(c))
        shmemi_dev_store_64(&c->t->eager, n + 1);
    shmemi_dev_coll_wait(c, p.at, (n / 2 + 1) *
                                      (shmemi_u64)(c->t->n_pes - 1),
                         shmemi_dev_coll_other(c));
    return (char *)shmemi_dev_area(&c->world, c->t, c->t->my_pe, at);
}

/* Block i of dest is that of member i: the one at source + i * step here. */
SHMEMI_DEV void shmemi_dev_eager_collect(shmemi_dev_coll *c, char *dest,
                                         const char *source, shmemi_u64 step,
                                         shmemi_u64 bytes)
{
    const char *slots = shmemi_dev_eager(c, source, step, bytes);
    int i;

    for (i = 0; i < c->t->n_pes; i++) {
        if (i == c->t->my_pe)
            shmemi_dev_coll_own(c, dest + (shmemi_u64)i * bytes,
                                source + (shmemi_u64)i * step, bytes);
        else
            shmemi_dev_coll_own(c, dest + (shmemi_u64)i * bytes,
                                slots + (shmemi_u64)i *
                                            shmemi_dev_eager_slot(bytes),
                                bytes);
    }
}

/* ---- fcollect and alltoall ---- */

/* step: of the source from member to member; 0: all get the same. */
SHMEMI_DEV_BODY int shmemi_dev_collect(const struct shmemx_dev *d,
                                       shmem_team_t team, void *dest,
                                       const void *source, shmemi_u64 step,
                                       shmemi_u64 bytes,
                                       enum shmemi_dev_scope scope)
{
    shmemi_dev_coll c;
    shmemi_dev_parcel p;
    int part = shmemi_dev_coll_begin(&c, d, team, scope);
    shmemi_u64 mine;

    if (part <= 0 || !bytes)
        return part < 0 ? -1 : 0;
    mine = (shmemi_u64)c.t->my_pe;
    if (shmemi_dev_coll_is_eager(&c, bytes)) {
        shmemi_dev_eager_collect(&c, (char *)dest, (const char *)source, step,
                                 bytes);
    } else {
        shmemi_dev_coll_enter(&c);
        p = shmemi_dev_parcel_of((char *)dest + mine * bytes, source, bytes);
        shmemi_dev_coll_send_all(&c, &p, step, -1);
        shmemi_dev_coll_own(&c, (char *)dest + mine * bytes,
                            (const char *)source + mine * step, bytes);
        shmemi_dev_coll_arrive(&c, (shmemi_u64)(c.t->n_pes - 1));
    }
    shmemi_dev_coll_end(&c);
    return 0;
}

/* ---- broadcast ---- */

/* Down a tree whose top is the root: in step k the members 0 to 2^k - 1 behind
 * the root have the bytes, and each sends them 2^k further.  In a small team
 * the root sends to all. */
SHMEMI_DEV void shmemi_dev_broadcast_whole(shmemi_dev_coll *c, void *dest,
                                           const void *source,
                                           shmemi_u64 bytes, int root)
{
    int n = c->t->n_pes, rank = c->t->my_pe - root, dist;
    shmemi_dev_parcel p = shmemi_dev_parcel_of(dest, rank ? dest : source,
                                               bytes);

    rank = rank < 0 ? rank + n : rank;
    if (rank)
        shmemi_dev_coll_arrive(c, 1);
    if (n <= SHMEMI_DEV_FLAT) {
        if (!rank)
            shmemi_dev_coll_send_all(c, &p, 0, -1);
        return;
    }
    for (dist = 1; dist < n; dist *= 2)
        if (rank < dist && rank + dist < n)
            shmemi_dev_coll_send(c, &p, shmemi_dev_coll_after(c, dist));
}

/* The root sends each member a piece, and the members each other theirs: so
 * all links are busy.  The root's own piece is the first. */
SHMEMI_DEV void shmemi_dev_broadcast_pieces(shmemi_dev_coll *c, char *dest,
                                            const char *source,
                                            shmemi_u64 bytes, int root)
{
    shmemi_u64 n = (shmemi_u64)c->t->n_pes, at, i;
    shmemi_u64 rank = (shmemi_u64)(c->t->my_pe - root) +
                      (c->t->my_pe < root ? n : 0);
    shmemi_u64 piece = shmemi_dev_eager_slot((bytes + n - 1) / n);
    shmemi_u64 pieces = (bytes + piece - 1) / piece;
    shmemi_dev_parcel p = shmemi_dev_parcel_of(0, 0, 0), q;

    p.value = shmemi_dev_load_64(&c->t->syncs);
    p.at = SHMEMI_DEV_AT_PIECE;
    p.sig_op = SHMEM_SIGNAL_SET;
    for (i = 1; !rank && i < pieces; i++) {
        at = i * piece;
        p.bytes = at + piece < bytes ? piece : bytes - at;
        p.to = dest + at;
        p.from = source + at;
        shmemi_dev_coll_send(c, &p, shmemi_dev_coll_after(c, (int)i));
    }
    if (rank < pieces) {
        if (rank)
            shmemi_dev_coll_wait(c, SHMEMI_DEV_AT_PIECE, p.value,
                                 (unsigned)shmemi_dev_coll_pe(c, root) + 1);
        at = rank * piece;
        q = shmemi_dev_parcel_of(dest + at, (rank ? dest : source) + at,
                                 at + piece < bytes ? piece : bytes - at);
        shmemi_dev_coll_send_all(c, &q, 0, root);
    }
    if (rank)
        shmemi_dev_coll_arrive(c, pieces - (rank < pieces));
}

SHMEMI_DEV_BODY int shmemi_dev_broadcast(const struct shmemx_dev *d,
                                         shmem_team_t team, void *dest,
                                         const void *source, shmemi_u64 bytes,
                                         int root, enum shmemi_dev_scope scope)
{
    shmemi_dev_coll c;
    int part = shmemi_dev_coll_begin(&c, d, team, scope);

    if (part < 0)
        return -1;
    if ((shmemi_u32)root >= (shmemi_u32)c.t->n_pes)
        return shmemi_dev_refuse(d, SHMEMI_DEV_WRONG_ROOT, SHMEMI_DEV_CALL_COLL,
                                 (shmemi_u64)(shmemi_u32)root,
                                 (shmemi_u64)c.t->n_pes);
    if (!part || !bytes)
        return 0;
    shmemi_dev_coll_enter(&c);
    if (bytes < SHMEMI_DEV_SPLIT || c.t->n_pes <= 2)
        shmemi_dev_broadcast_whole(&c, dest, source, bytes, root);
    else
        shmemi_dev_broadcast_pieces(&c, (char *)dest, (const char *)source,
                                    bytes, root);
    if (c.t->my_pe == root)
        shmemi_dev_coll_own(&c, dest, source, bytes);
    shmemi_dev_coll_end(&c);
    return 0;
}

/* ---- calls ---- */

/* Bytes: shmemx_dev_broadcastmem, _fcollectmem, _alltoallmem; elements:
 * shmemx_dev_TYPENAME_broadcast, _fcollect, _alltoall; each also with _warp and
 * _block behind it. */
#define SHMEMI_DEV_COLL(PRE, POST, T, SIZE_, SCOPE_NAME, SCOPE)             \
    SHMEMI_DEV int shmemx_dev_##PRE##broadcast##POST##SCOPE_NAME(           \
        const shmemx_dev_t *dev, shmem_team_t team, T *dest,                \
        const T *source, size_t nelems, int root)                           \
    {                                                                       \
        return shmemi_dev_broadcast(dev, team, dest, source,                \
                                    nelems * (SIZE_), root, SCOPE);         \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_##PRE##fcollect##POST##SCOPE_NAME(            \
        const shmemx_dev_t *dev, shmem_team_t team, T *dest,                \
        const T *source, size_t nelems)                                     \
    {                                                                       \
        return shmemi_dev_collect(dev, team, dest, source, 0,               \
                                  nelems * (SIZE_), SCOPE);                 \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_##PRE##alltoall##POST##SCOPE_NAME(            \
        const shmemx_dev_t *dev, shmem_team_t team, T *dest,                \
        const T *source, size_t nelems)                                     \
    {                                                                       \
        return shmemi_dev_collect(dev, team, dest, source,                  \
                                  nelems * (SIZE_), nelems * (SIZE_),       \
                                  SCOPE);                                   \
    }
#define SHMEMI_DEV_COLL_TYPE(NAME, T)                                       \
    SHMEMI_DEV_COLL(NAME##_, , T, sizeof(T), , SHMEMI_DEV_THREAD)           \
    SHMEMI_DEV_COLL(NAME##_, , T, sizeof(T), _warp, SHMEMI_DEV_WARP)        \
    SHMEMI_DEV_COLL(NAME##_, , T, sizeof(T), _block, SHMEMI_DEV_BLOCK)
SHMEMI_DEV_COLL(, mem, void, 1u, , SHMEMI_DEV_THREAD)
SHMEMI_DEV_COLL(, mem, void, 1u, _warp, SHMEMI_DEV_WARP)
SHMEMI_DEV_COLL(, mem, void, 1u, _block, SHMEMI_DEV_BLOCK)
SHMEMI_DEV_RMA_TYPES(SHMEMI_DEV_COLL_TYPE)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_DEV_COLL_TYPE)
#undef SHMEMI_DEV_COLL_TYPE
#undef SHMEMI_DEV_COLL

#include "shmemx_dev_reduce.h"

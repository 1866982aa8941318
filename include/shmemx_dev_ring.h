/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_ring.h - what all calls of kernels are made of: the place of a
 * thread in its scope, the address of a PE's memory, copies, and requests to
 * the progress thread.  A part of shmemx_dev.h. */
/* ---- scopes ---- */

/* The number of this thread in the scope, and of how many; of the software
 * device 0 of 1, since one item does all of the work. */
SHMEMI_DEV shmemi_u32 shmemi_dev_rank(enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    (void)scope;
    return 0;
#else
    return scope == SHMEMI_DEV_THREAD ? 0
           : scope == SHMEMI_DEV_BLOCK
               ? shmemi_dev_thread_id()
               : shmemi_dev_thread_id() % SHMEMI_DEV_WARP_SIZE;
#endif
}

SHMEMI_DEV shmemi_u32 shmemi_dev_ranks(enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    (void)scope;
    return 1;
#else
    shmemi_u32 all, rest;

    if (scope == SHMEMI_DEV_THREAD)
        return 1;
    all = shmemi_dev_block_size();
    if (scope == SHMEMI_DEV_BLOCK)
        return all;
    rest = all - shmemi_dev_thread_id() / SHMEMI_DEV_WARP_SIZE *
                     SHMEMI_DEV_WARP_SIZE;
    return rest < SHMEMI_DEV_WARP_SIZE ? rest : SHMEMI_DEV_WARP_SIZE;
#endif
}

/* Does this thread take part in the call?  Of the software device's items the
 * first one of the scope alone. */
SHMEMI_DEV int shmemi_dev_takes_part(const struct shmemx_dev *d,
                                     enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    unsigned item = 0, group, items;

    if (scope == SHMEMI_DEV_THREAD || !d->host)
        return 1;
    d->host->item(&item, &group, &items);
    return scope == SHMEMI_DEV_BLOCK ? item == 0
                                     : item % SHMEMI_DEV_WARP_SIZE == 0;
#else
    (void)d;
    (void)scope;
    return 1;
#endif
}

SHMEMI_DEV void shmemi_dev_barrier(enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    (void)scope;
#else
    if (scope == SHMEMI_DEV_BLOCK)
        shmemi_dev_block_barrier();
    else if (scope == SHMEMI_DEV_WARP)
        shmemi_dev_warp_barrier();
#endif
}

/* The first thread's value for all threads of the scope; part: what
 * shmemi_dev_takes_part() returned. */
SHMEMI_DEV shmemi_u64 shmemi_dev_share(const struct shmemx_dev *d,
                                       enum shmemi_dev_scope scope, int part,
                                       shmemi_u64 value)
{
#ifdef SHMEMI_DEV_C
    return scope == SHMEMI_DEV_THREAD || !d->host
               ? value : d->host->share(part, (unsigned)scope, value);
#elif defined(SHMEMI_DEV_CUDA)
    shmemi_u32 lo = (shmemi_u32)value, hi = (shmemi_u32)(value >> 32);
    __shared__ shmemi_u64 word;

    (void)d;
    (void)part;
    if (scope == SHMEMI_DEV_WARP) {
        asm volatile("shfl.sync.idx.b32 %0, %0, 0, 0x1f, 0xffffffff;"
                     : "+r"(lo) : : "memory");
        asm volatile("shfl.sync.idx.b32 %0, %0, 0, 0x1f, 0xffffffff;"
                     : "+r"(hi) : : "memory");
        return (shmemi_u64)hi << 32 | lo;
    }
    if (scope == SHMEMI_DEV_BLOCK) {
        shmemi_dev_block_barrier();
        if (shmemi_dev_thread_id() == 0)
            word = value;
        shmemi_dev_block_barrier();
        value = word;
        shmemi_dev_block_barrier();
    }
    return value;
#else
    __attribute__((shared)) static shmemi_u64 word;

    (void)d;
    (void)part;
    if (scope == SHMEMI_DEV_WARP)
        return (shmemi_u64)(shmemi_u32)__builtin_amdgcn_readfirstlane(
                   (int)(value >> 32)) << 32 |
               (shmemi_u32)__builtin_amdgcn_readfirstlane((int)value);
    if (scope == SHMEMI_DEV_BLOCK) {
        shmemi_dev_block_barrier();
        if (shmemi_dev_thread_id() == 0)
            word = value;
        shmemi_dev_block_barrier();
        value = word;
        shmemi_dev_block_barrier();
    }
    return value;
#endif
}

/* ---- addresses ---- */

/* Is that a member of the context's team, on this node?  at: its place among
 * the mappings. */
SHMEMI_DEV int shmemi_dev_place(const struct shmemx_dev *d, int pe,
                                shmemi_u32 *at)
{
    *at = (shmemi_u32)d->start + (shmemi_u32)pe * (shmemi_u32)d->stride -
          (shmemi_u32)d->first;
    return ((shmemi_u32)pe < (shmemi_u32)d->n_pes) &
           (*at < (shmemi_u32)d->span);
}

/* Its mappings; NULL: it is on another node, or there is no such member. */
SHMEMI_DEV const shmemi_dev_reach *
shmemi_dev_reach_of(const struct shmemx_dev *d, int pe)
{
    shmemi_u32 at;

    return SHMEMI_DEV_LIKELY(shmemi_dev_place(d, pe, &at)) ? d->reach + at : 0;
}

/* Is [sym, sym + len) of that segment of this PE? */
SHMEMI_DEV int shmemi_dev_is_of(const struct shmemx_dev *d, int seg,
                                const void *sym, shmemi_u64 len)
{
    shmemi_u64 off = (shmemi_u64)sym - d->base[seg];

    return off < d->size[seg] && len <= d->size[seg] - off;
}

/* Where the device finds [sym, sym + len) in those mappings, or 0. */
SHMEMI_DEV shmemi_u64 shmemi_dev_find(const struct shmemx_dev *d,
                                      const shmemi_u64 *maps, const void *sym,
                                      shmemi_u64 len)
{
    shmemi_u64 at = (shmemi_u64)sym;

    if (shmemi_dev_is_of(d, SHMEMI_DEV_DEVICE, sym, len))
        at += shmemi_dev_load_const(maps + SHMEMI_DEV_DEVICE);
    else if (shmemi_dev_is_of(d, SHMEMI_DEV_HOST, sym, len))
        at += shmemi_dev_load_const(maps + SHMEMI_DEV_HOST);
    else if (shmemi_dev_is_of(d, SHMEMI_DEV_DATA, sym, len))
        at += shmemi_dev_load_const(maps + SHMEMI_DEV_DATA);
    else
        return 0;
    return SHMEMI_DEV_LIKELY(SHMEMI_DEV_IS_MAPPED(at)) ? at : 0;
}

/* The same of an element, in few instructions: a segment ends where an aligned
 * element does.  Not SHMEMI_DEV_IS_MAPPED: it is not there. */
SHMEMI_DEV shmemi_u64 shmemi_dev_find_one(const struct shmemx_dev *d,
                                          const shmemi_u64 *maps,
                                          const void *sym)
{
    shmemi_u64 at = (shmemi_u64)sym;

    if (at - d->base[SHMEMI_DEV_DEVICE] < d->size[SHMEMI_DEV_DEVICE])
        return at + shmemi_dev_load_const(maps + SHMEMI_DEV_DEVICE);
    if (at - d->base[SHMEMI_DEV_HOST] < d->size[SHMEMI_DEV_HOST])
        return at + shmemi_dev_load_const(maps + SHMEMI_DEV_HOST);
    if (at - d->base[SHMEMI_DEV_DATA] < d->size[SHMEMI_DEV_DATA])
        return at + shmemi_dev_load_const(maps + SHMEMI_DEV_DATA);
    return SHMEMI_DEV_UNMAPPED;
}

/* After a store of len bytes there: wakes a host thread of that PE that sleeps
 * until this memory changes.  A GPU wakes no thread: the sleeper looks again
 * within 5 ms. */
SHMEMI_DEV void shmemi_dev_stored(const struct shmemx_dev *d,
                                  const shmemi_dev_reach *r, shmemi_u64 addr,
                                  shmemi_u64 len)
{
#ifdef SHMEMI_DEV_C
    const long long *sleeper = (const long long *)r->ctl;
    long long at = (long long)(addr - r->ctl);

    __asm__ volatile("" : : : "memory");
    if (!SHMEMI_DEV_LIKELY(
            at >= __atomic_load_n(&sleeper[1], __ATOMIC_RELAXED) ||
            at + (long long)len <=
                __atomic_load_n(&sleeper[0], __ATOMIC_RELAXED)))
        d->host->wake(r->ctl);
#else
    (void)d;
    (void)r;
    (void)addr;
    (void)len;
#endif
}

/* ---- copies ---- */

/* They hold whatever the caller's variables are. */
typedef shmemi_u64 __attribute__((may_alias)) shmemi_dev_8;
typedef shmemi_u32 __attribute__((may_alias)) shmemi_dev_4;
typedef unsigned short __attribute__((may_alias)) shmemi_dev_2;
#ifndef SHMEMI_DEV_C
typedef struct __attribute__((aligned(16), may_alias)) shmemi_dev_16 {
    shmemi_u64 a, b;
} shmemi_dev_16;
#define SHMEMI_DEV_COPY(T)                                                  \
    do {                                                                    \
        T *to_ = (T *)to;                                                   \
        const T *from_ = (const T *)from;                                   \
        shmemi_u64 n_ = n / sizeof(T), i_ = rank;                           \
        for (; i_ + 3 * (shmemi_u64)ranks < n_; i_ += 4 * (shmemi_u64)ranks) { \
            T a_ = from_[i_], b_ = from_[i_ + ranks];                       \
            T c_ = from_[i_ + 2 * (shmemi_u64)ranks];                       \
            T d_ = from_[i_ + 3 * (shmemi_u64)ranks];                       \
            to_[i_] = a_;                                                   \
            to_[i_ + ranks] = b_;                                           \
            to_[i_ + 2 * (shmemi_u64)ranks] = c_;                           \
            to_[i_ + 3 * (shmemi_u64)ranks] = d_;                           \
        }                                                                   \
        for (; i_ < n_; i_ += ranks)                                        \
            to_[i_] = from_[i_];                                            \
        done = n_ * sizeof(T);                                              \
    } while (0)
/* One of what is left. */
#define SHMEMI_DEV_COPY_LAST(T)                                             \
    do {                                                                    \
        if (both % sizeof(T) == 0 && n - done >= sizeof(T)) {               \
            if (rank == 0)                                                  \
                *(T *)(to + done) = *(const T *)(from + done);              \
            done += sizeof(T);                                              \
        }                                                                   \
    } while (0)
#endif

/* This thread's share of n bytes.  No variable of up to 8 bytes that is aligned
 * at both ends is stored in pieces: another PE may wait for it. */
SHMEMI_DEV void shmemi_dev_copy(shmemi_u64 to, shmemi_u64 from, shmemi_u64 n,
                                enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_C
    (void)scope;
    __builtin_memcpy((void *)to, (const void *)from, n);
#else
    shmemi_u32 rank = shmemi_dev_rank(scope), ranks = shmemi_dev_ranks(scope);
    shmemi_u64 both = to | from, done;

    if (both % 16 == 0)
        SHMEMI_DEV_COPY(shmemi_dev_16);
    else if (both % 8 == 0)
        SHMEMI_DEV_COPY(shmemi_dev_8);
    else if (both % 4 == 0)
        SHMEMI_DEV_COPY(shmemi_dev_4);
    else if (both % 2 == 0)
        SHMEMI_DEV_COPY(shmemi_dev_2);
    else
        SHMEMI_DEV_COPY(unsigned char);
    if (done == n)
        return;
    SHMEMI_DEV_COPY_LAST(shmemi_dev_8);
    SHMEMI_DEV_COPY_LAST(shmemi_dev_4);
    SHMEMI_DEV_COPY_LAST(shmemi_dev_2);
    SHMEMI_DEV_COPY_LAST(unsigned char);
#endif
}

/* ---- the ring ---- */

typedef struct shmemi_dev_position {
    shmemi_dev_ring *ring;
    shmemi_u64 n;
} shmemi_dev_position;

/* Threads of a block use one ring, which keeps their requests in order. */
SHMEMI_DEV shmemi_dev_ring *shmemi_dev_ring_of(const struct shmemx_dev *d)
{
#ifdef SHMEMI_DEV_C
    unsigned item, group = 0, items;

    if (d->n_rings > 1)
        d->host->item(&item, &group, &items);
    return d->rings + group % d->n_rings;
#else
    return d->rings + shmemi_dev_block_id() % d->n_rings;
#endif
}

/* One turn of a loop that waits for the ring. */
SHMEMI_DEV void shmemi_dev_ring_pause(const struct shmemx_dev *d,
                                      const shmemi_dev_ring *ring,
                                      shmemi_u32 turn)
{
#ifdef SHMEMI_DEV_C
    d->host->step(ring->host, turn);
#else
    (void)d;
    (void)ring;
    shmemi_dev_relax(turn);
#endif
}

#ifdef SHMEMI_DEV_C
#ifdef __cplusplus
extern "C"
#endif
const struct shmemx_dev *shmemx_dev_default(void);
#endif

/* The kernel has no state: the library is not up, or the module was not
 * initialized. */
SHMEMI_DEV_SLOW void shmemi_dev_no_state(const struct shmemx_dev *d,
                                         enum shmemi_dev_call call)
{
#ifdef SHMEMI_DEV_C
#define SHMEMI_DEV_CALL(NAME, TEXT) TEXT,
    static const char *const names[] = {
        SHMEMI_DEV_CALLS(SHMEMI_DEV_CALL)
    };
#undef SHMEMI_DEV_CALL

    if (!d->host)               /* all bytes of it are 0 */
        d = shmemx_dev_default();
    if (d->host)                /* from TRIGGER on calls have other objects */
        d->host->refuse(names[call], call >= SHMEMI_DEV_CALL_PREADY
                        ? "the object is empty: shmemx_prequest_create() "
                          "fills it"
                        : call >= SHMEMI_DEV_CALL_TRIGGER
                        ? "the object is empty: shmemx_trig_dev() fills it"
                        : "the state is empty: shmemx_dev_get() fills it");
    __builtin_trap();
#else
    (void)d;
    (void)call;
    shmemi_dev_trap();
#endif
}

#define SHMEMI_DEV_HEAD(op, sub, call, size)                                \
    ((shmemi_u64)(op) | (shmemi_u64)(sub) << 8 | (shmemi_u64)(call) << 16 | \
     (shmemi_u64)(size) << 24)
/* Of a program: what no byte holds stays wrong. */
#define SHMEMI_DEV_SIG_OP(op) ((shmemi_u32)(op) < 255 ? (shmemi_u32)(op) : 255)

SHMEMI_DEV void shmemi_dev_fill(shmemi_dev_position t, shmemi_u64 head,
                                const void *dest, const void *source,
                                shmemi_u64 len, shmemi_u64 a, shmemi_u64 b,
                                shmemi_u32 flags)
{
    shmemi_u64 *to = (shmemi_u64 *)(t.ring->requests + (t.n & t.ring->mask));

    shmemi_dev_store_pair(to, head, (shmemi_u64)dest);
    shmemi_dev_store_pair(to + 2, (shmemi_u64)source, len);
    shmemi_dev_store_pair(to + 4, a, b);
    shmemi_dev_store_64(to + 6, flags);
    shmemi_dev_release_64(to + 7, t.n + 1);
}

/* Waits for room, and hands the request over.  head: SHMEMI_DEV_HEAD; pe: of
 * the context's team.
 *
 * Of an AMD wave all threads leave a loop before one goes on behind it, so each
 * fills its place within: the place of one may be what another waits for. */
SHMEMI_DEV_SLOW shmemi_dev_position
shmemi_dev_push(const struct shmemx_dev *d, shmemi_u64 head, int pe,
                const void *dest, const void *source, shmemi_u64 len,
                shmemi_u64 a, shmemi_u64 b, shmemi_u32 flags)
{
    shmemi_dev_position t;
    shmemi_u32 turn = 0, at, sent = 0;
    shmemi_u64 taken;
    int mapped;

    if (d->magic != SHMEMI_DEV_MAGIC)
        shmemi_dev_no_state(d, (enum shmemi_dev_call)(head >> 16 & 255));
    mapped = shmemi_dev_place(d, pe, &at);
    if ((shmemi_u32)pe < (shmemi_u32)d->n_pes)
        pe = d->start + pe * d->stride;
    else
        flags |= SHMEMI_DEV_NO_PE;
    t.ring = shmemi_dev_ring_of(d);
    if (mapped)
        shmemi_dev_store_64(&t.ring->mapped, 1);
    t.n = shmemi_dev_add_64(&t.ring->head, 1);
    taken = shmemi_dev_acquire_64(&t.ring->seen);
    while (!sent) {
        if (t.n - taken <= t.ring->mask) {
            shmemi_dev_fill(t, head | (shmemi_u64)(shmemi_u32)pe << 32, dest,
                            source, len, a, b, flags);
            sent = 1;
        } else {
            taken = shmemi_dev_acquire_64(&t.ring->progress->taken);
            if (t.n - taken > t.ring->mask)
                shmemi_dev_ring_pause(d, t.ring, turn++);
            else
                shmemi_dev_release_64(&t.ring->seen, taken);
        }
        shmemi_dev_obscure(&sent);
    }
#ifdef SHMEMI_DEV_C
    d->host->kick(t.ring->host);
#endif
    return t;
}

/* Until the request has been issued: its source may be reused if it is short,
 * see SHMEMI_DEV_SHORT. */
SHMEMI_DEV void shmemi_dev_await_taken(const struct shmemx_dev *d,
                                       shmemi_dev_position t)
{
    shmemi_u32 turn = 0;

    while (shmemi_dev_acquire_64(&t.ring->progress->taken) <= t.n)
        shmemi_dev_ring_pause(d, t.ring, turn++);
}

/* Until it, and all before it in its ring, is complete. */
SHMEMI_DEV void shmemi_dev_await_done(const struct shmemx_dev *d,
                                      shmemi_dev_position t)
{
    shmemi_u32 turn = 0;

    while (shmemi_dev_acquire_64(&t.ring->progress->done) <= t.n)
        shmemi_dev_ring_pause(d, t.ring, turn++);
}

/* The result of a request made with SHMEMI_DEV_RESULT. */
SHMEMI_DEV void shmemi_dev_await_result(const struct shmemx_dev *d,
                                        shmemi_dev_position t,
                                        shmemi_u64 value[2])
{
    shmemi_dev_result *r = (shmemi_dev_result *)(t.ring->requests +
                                                 t.ring->mask + 1) +
                           (t.n & t.ring->mask);

    shmemi_dev_await_done(d, t);
    value[0] = shmemi_dev_load_64(&r->value[0]);
    value[1] = shmemi_dev_load_64(&r->value[1]);
    shmemi_dev_release_64(&r->read, t.n + 1);
}

/* Has the ring requests that are not complete? */
SHMEMI_DEV int shmemi_dev_ring_busy(const shmemi_dev_ring *ring)
{
    return shmemi_dev_load_64(&ring->head) !=
           shmemi_dev_acquire_64(&ring->progress->done);
}

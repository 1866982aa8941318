/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_rma.h - puts and gets of kernels, puts with a signal, signals.
 * A part of shmemx_dev.h.
 *
 * Semantics are those of the OpenSHMEM 1.6 call of the name (section 9.6, 9.8):
 * a put returns when source may be reused, a get when dest is filled, an nbi
 * form at once; quiet completes all of them.  dest of a put, source of a get
 * and sig_addr are symmetric, in any memory; the other address is symmetric, or
 * memory that this PE's processor or device reaches: it must not be in the
 * stack of a kernel of a GPU if the PE is not mapped, but for at most 16
 * bytes.  pe is a member of the state's team. */
/* ---- the general forms; call: for messages ---- */

/* A put of at most 16 bytes takes them along. */
SHMEMI_DEV_SLOW void shmemi_dev_far_put_bits(const struct shmemx_dev *d,
                                             void *dest, shmemi_u64 low,
                                             shmemi_u64 high, shmemi_u64 n,
                                             int pe, enum shmemi_dev_call call)
{
    shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_PUT_VALUE, 0, call, 0), pe,
                    dest, 0, n, low, high, 0);
}

SHMEMI_DEV_SLOW void shmemi_dev_far_put_value(const struct shmemx_dev *d,
                                              void *dest, const void *source,
                                              shmemi_u64 n, int pe,
                                              enum shmemi_dev_call call)
{
    shmemi_u64 v[2] = { 0, 0 }, i;

    for (i = 0; i < n; i++)
        v[i / 8] |= (shmemi_u64)((const unsigned char *)source)[i]
                    << 8 * (i % 8);
    shmemi_dev_far_put_bits(d, dest, v[0], v[1], n, pe, call);
}

SHMEMI_DEV_SLOW void shmemi_dev_far_put(const struct shmemx_dev *d, void *dest,
                                        const void *source, shmemi_u64 n,
                                        int pe, int nbi,
                                        enum shmemi_dev_call call)
{
    shmemi_dev_position t;

    if (n <= 16) {
        shmemi_dev_far_put_value(d, dest, source, n, pe, call);
        return;
    }
    shmemi_dev_fence();
    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_PUT, 0, call, 0), pe,
                        dest, source, n, 0, 0, nbi ? 0 : SHMEMI_DEV_WAITS);
    if (nbi)
        return;
    if (n <= SHMEMI_DEV_SHORT)
        shmemi_dev_await_taken(d, t);
    else
        shmemi_dev_await_done(d, t);
}

/* Before one thread fences for all of the scope, which has stored, or is behind
 * a barrier of its own: the fence of another wave would not wait. */
SHMEMI_DEV void shmemi_dev_settle(enum shmemi_dev_scope scope)
{
#ifdef SHMEMI_DEV_HIP
    if (scope == SHMEMI_DEV_THREAD)
        return;                 /* its own fence does */
    shmemi_dev_fence_own();
    shmemi_dev_barrier(scope);
#else
    (void)scope;
#endif
}

SHMEMI_DEV void shmemi_dev_put(const struct shmemx_dev *d, void *dest,
                               const void *source, shmemi_u64 n, int pe,
                               enum shmemi_dev_scope scope, int nbi)
{
    const shmemi_dev_reach *r;
    shmemi_u64 to;

    if (!shmemi_dev_takes_part(d, scope))
        return;
    r = shmemi_dev_reach_of(d, pe);
    to = r ? shmemi_dev_find(d, r->map, dest, n) : 0;
    if (SHMEMI_DEV_LIKELY(to)) {
        shmemi_dev_copy(to, (shmemi_u64)source, n, scope);
        shmemi_dev_stored(d, r, to, n);
    } else if (n) {
        shmemi_dev_settle(scope);
        if (shmemi_dev_rank(scope) == 0)
            shmemi_dev_far_put(d, dest, source, n, pe, nbi,
                               SHMEMI_DEV_CALL_PUT);
    }
    if (!nbi)
        shmemi_dev_barrier(scope);
}

SHMEMI_DEV_SLOW void shmemi_dev_far_get(const struct shmemx_dev *d, void *dest,
                                        const void *source, shmemi_u64 n,
                                        int pe, int nbi,
                                        enum shmemi_dev_call call)
{
    shmemi_dev_position t;

    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_GET, 0, call, 0), pe,
                        dest, source, n, 0, 0, nbi ? 0 : SHMEMI_DEV_WAITS);
    if (!nbi)
        shmemi_dev_await_done(d, t);
}

/* At most 16 bytes, to memory that only this thread reaches. */
SHMEMI_DEV_SLOW void shmemi_dev_far_get_value(const struct shmemx_dev *d,
                                              void *dest, const void *source,
                                              shmemi_u64 n, int pe,
                                              enum shmemi_dev_call call)
{
    shmemi_u64 v[2], i;
    shmemi_dev_position t;

    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_GET_VALUE, 0, call, 0),
                        pe, 0, source, n, 0, 0, SHMEMI_DEV_RESULT);
    shmemi_dev_await_result(d, t, v);
    for (i = 0; i < n; i++)
        ((unsigned char *)dest)[i] = (unsigned char)(v[i / 8] >> 8 * (i % 8));
}

/* A program may get a variable again and again until it changes. */
SHMEMI_DEV void shmemi_dev_near_get(shmemi_u64 to, shmemi_u64 from,
                                    shmemi_u64 n, enum shmemi_dev_scope scope)
{
    int first = shmemi_dev_rank(scope) == 0;

    if (n == 8 && (to | from) % 8 == 0) {
        if (first)
            *(shmemi_dev_8 *)to = shmemi_dev_load_64((const void *)from);
    } else if (n == 4 && (to | from) % 4 == 0) {
        if (first)
            *(shmemi_dev_4 *)to = shmemi_dev_load_32((const void *)from);
    } else {
        shmemi_dev_forget();
        shmemi_dev_copy(to, from, n, scope);
    }
}

SHMEMI_DEV void shmemi_dev_get(const struct shmemx_dev *d, void *dest,
                               const void *source, shmemi_u64 n, int pe,
                               enum shmemi_dev_scope scope, int nbi)
{
    const shmemi_dev_reach *r;
    shmemi_u64 from;

    if (!shmemi_dev_takes_part(d, scope))
        return;
    r = shmemi_dev_reach_of(d, pe);
    from = r ? shmemi_dev_find(d, r->map, source, n) : 0;
    if (SHMEMI_DEV_LIKELY(from)) {
        shmemi_dev_near_get((shmemi_u64)dest, from, n, scope);
    } else if (shmemi_dev_rank(scope) == 0 && n) {
        if (n <= 16 && !nbi)
            shmemi_dev_far_get_value(d, dest, source, n, pe,
                                     SHMEMI_DEV_CALL_GET);
        else
            shmemi_dev_far_get(d, dest, source, n, pe, nbi,
                               SHMEMI_DEV_CALL_GET);
    }
    if (!nbi)
        shmemi_dev_barrier(scope);
}

/* n elements of size bytes; the strides are in elements, at least 1. */
SHMEMI_DEV_SLOW void shmemi_dev_far_strided(const struct shmemx_dev *d,
                                            int puts, void *dest,
                                            const void *source, long dst,
                                            long sst, shmemi_u64 n,
                                            unsigned size, int pe)
{
    shmemi_u64 head;
    shmemi_dev_position t;

    head = puts ? SHMEMI_DEV_HEAD(SHMEMI_DEV_IPUT, 0, SHMEMI_DEV_CALL_IPUT,
                                  size)
                : SHMEMI_DEV_HEAD(SHMEMI_DEV_IGET, 0, SHMEMI_DEV_CALL_IGET,
                                  size);
    shmemi_dev_fence();
    t = shmemi_dev_push(d, head, pe, dest, source, n, (shmemi_u64)dst * size,
                        (shmemi_u64)sst * size, SHMEMI_DEV_WAITS);
    shmemi_dev_await_done(d, t);
}

#define SHMEMI_DEV_EACH(T)                                                  \
    for (; i < n; i += ranks)                                               \
        ((T *)to)[(long)i * dst] = ((const T *)from)[(long)i * sst]
SHMEMI_DEV void shmemi_dev_strided_copy(shmemi_u64 to, shmemi_u64 from,
                                        long dst, long sst, shmemi_u64 n,
                                        unsigned size,
                                        enum shmemi_dev_scope scope)
{
    shmemi_u64 i = shmemi_dev_rank(scope), ranks = shmemi_dev_ranks(scope);

    switch (size) {
    case 1: SHMEMI_DEV_EACH(unsigned char); break;
    case 2: SHMEMI_DEV_EACH(shmemi_dev_2); break;
    case 4: SHMEMI_DEV_EACH(shmemi_dev_4); break;
    case 8: SHMEMI_DEV_EACH(shmemi_dev_8); break;
    default:
        for (; i < n; i += ranks)
            shmemi_dev_copy(to + (shmemi_u64)((long)i * dst) * size,
                            from + (shmemi_u64)((long)i * sst) * size, size,
                            SHMEMI_DEV_THREAD);
    }
}
#undef SHMEMI_DEV_EACH

SHMEMI_DEV void shmemi_dev_strided(const struct shmemx_dev *d, int puts,
                                   void *dest, const void *source, long dst,
                                   long sst, shmemi_u64 n, unsigned size,
                                   int pe, enum shmemi_dev_scope scope)
{
    const void *sym = puts ? dest : source;
    shmemi_u64 extent, there;
    const shmemi_dev_reach *r;

    if (!shmemi_dev_takes_part(d, scope))
        return;
    extent = n ? ((n - 1) * (shmemi_u64)(puts ? dst : sst) + 1) * size : 0;
    r = shmemi_dev_reach_of(d, pe);
    there = r && dst > 0 && sst > 0
            ? shmemi_dev_find(d, r->map, sym, extent) : 0;
    if (SHMEMI_DEV_LIKELY(there && puts)) {
        shmemi_dev_strided_copy(there, (shmemi_u64)source, dst, sst, n, size,
                                scope);
        shmemi_dev_stored(d, r, there, extent);
    } else if (there) {
        shmemi_dev_strided_copy((shmemi_u64)dest, there, dst, sst, n, size,
                                scope);
    } else if (n) {
        shmemi_dev_settle(scope);
        if (shmemi_dev_rank(scope) == 0)
            shmemi_dev_far_strided(d, puts, dest, source, dst, sst, n, size,
                                   pe);
    }
    shmemi_dev_barrier(scope);
}

/* ---- signals ---- */

/* Behind earlier stores of this thread, and of its scope before a barrier. */
SHMEMI_DEV void shmemi_dev_signal(const struct shmemx_dev *d,
                                  void *sig_addr, shmemi_u64 value,
                                  int sig_op, int pe)
{
    const shmemi_dev_reach *r = shmemi_dev_reach_of(d, pe);
    shmemi_u64 to = r ? shmemi_dev_find(d, r->amo, sig_addr, 8) : 0;

    if (SHMEMI_DEV_LIKELY(to && to % 8 == 0 && (shmemi_u32)sig_op <= 1)) {
        if (sig_op == SHMEM_SIGNAL_ADD) {
            shmemi_dev_fence();
            shmemi_dev_add_64((void *)to, value);
        } else {
            shmemi_dev_release_64((void *)to, value);
        }
        shmemi_dev_stored(d, r, to, 8);
        return;
    }
    shmemi_dev_fence();
    shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_SIGNAL,
                                       SHMEMI_DEV_SIG_OP(sig_op),
                                       SHMEMI_DEV_CALL_SIGNAL, 8),
                    pe, sig_addr, 0, 8, value, 0, 0);
}

/* Raises a flag that no other PE writes from n - 1 to n.  Those that requests
 * reach are added to: two values might come in the wrong order. */
SHMEMI_DEV void shmemi_dev_raise(const struct shmemx_dev *d, void *flag,
                                 shmemi_u64 n, int pe)
{
    const shmemi_dev_reach *r = shmemi_dev_reach_of(d, pe);
    shmemi_u64 to = r ? shmemi_dev_find(d, r->map, flag, 8) : 0;

    if (SHMEMI_DEV_LIKELY(to)) {
        shmemi_dev_release_64((void *)to, n);
        shmemi_dev_stored(d, r, to, 8);
        return;
    }
    shmemi_dev_fence();
    shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_SIGNAL, SHMEM_SIGNAL_ADD,
                                       SHMEMI_DEV_CALL_SIGNAL, 8),
                    pe, flag, 0, 8, 1, 0, SHMEMI_DEV_NOTIFIES);
}

SHMEMI_DEV_SLOW void
shmemi_dev_far_put_signal(const struct shmemx_dev *d, void *dest,
                          const void *source, shmemi_u64 n, void *sig_addr,
                          shmemi_u64 value, int sig_op, int pe, int nbi)
{
    shmemi_dev_position t;

    shmemi_dev_fence();
    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_PUT_SIGNAL,
                                           SHMEMI_DEV_SIG_OP(sig_op),
                                           SHMEMI_DEV_CALL_PUT_SIGNAL, 8),
                        pe, dest, source, n, value, (shmemi_u64)sig_addr,
                        nbi ? 0 : SHMEMI_DEV_WAITS);
    if (nbi)
        return;
    if (n <= SHMEMI_DEV_SHORT)
        shmemi_dev_await_taken(d, t);
    else
        shmemi_dev_await_done(d, t);
}

SHMEMI_DEV void shmemi_dev_put_signal(const struct shmemx_dev *d, void *dest,
                                      const void *source, shmemi_u64 n,
                                      void *sig_addr, shmemi_u64 value,
                                      int sig_op, int pe,
                                      enum shmemi_dev_scope scope, int nbi)
{
    const shmemi_dev_reach *r;
    shmemi_u64 to;

    if (!shmemi_dev_takes_part(d, scope))
        return;
    /* What any thread of the scope has stored is before the signal. */
    if (scope != SHMEMI_DEV_THREAD) {
        shmemi_dev_fence_own();
        shmemi_dev_barrier(scope);
    }
    r = shmemi_dev_reach_of(d, pe);
    to = r ? shmemi_dev_find(d, r->map, dest, n) : 0;
    if (SHMEMI_DEV_LIKELY(to || (r && !n))) {
        if (n)
            shmemi_dev_copy(to, (shmemi_u64)source, n, scope);
        if (scope != SHMEMI_DEV_THREAD) {
            shmemi_dev_fence();
            shmemi_dev_barrier(scope);
        }
        if (shmemi_dev_rank(scope) == 0) {
            if (n)
                shmemi_dev_stored(d, r, to, n);
            shmemi_dev_signal(d, sig_addr, value, sig_op, pe);
        }
        return;
    }
    if (shmemi_dev_rank(scope) == 0)
        shmemi_dev_far_put_signal(d, dest, source, n, sig_addr, value, sig_op,
                                  pe, nbi);
    if (!nbi)
        shmemi_dev_barrier(scope);
}

/* ---- calls ---- */

/* Bytes: shmemx_dev_putmem, _getmem, _putmem_nbi, _getmem_nbi, each also with
 * _warp and _block behind it. */
#define SHMEMI_DEV_MEM(SCOPE_NAME, SCOPE)                                   \
    SHMEMI_DEV void shmemx_dev_putmem##SCOPE_NAME(                          \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, int pe)                                               \
    {                                                                       \
        shmemi_dev_put(dev, dest, source, bytes, pe, SCOPE, 0);             \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_getmem##SCOPE_NAME(                          \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, int pe)                                               \
    {                                                                       \
        shmemi_dev_get(dev, dest, source, bytes, pe, SCOPE, 0);             \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_putmem_nbi##SCOPE_NAME(                      \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, int pe)                                               \
    {                                                                       \
        shmemi_dev_put(dev, dest, source, bytes, pe, SCOPE, 1);             \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_getmem_nbi##SCOPE_NAME(                      \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, int pe)                                               \
    {                                                                       \
        shmemi_dev_get(dev, dest, source, bytes, pe, SCOPE, 1);             \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_putmem_signal##SCOPE_NAME(                   \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, void *sig_addr, shmemi_u64 signal, int sig_op, int pe) \
    {                                                                       \
        shmemi_dev_put_signal(dev, dest, source, bytes, sig_addr, signal,   \
                              sig_op, pe, SCOPE, 0);                        \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_putmem_signal_nbi##SCOPE_NAME(               \
        const shmemx_dev_t *dev, void *dest, const void *source,            \
        size_t bytes, void *sig_addr, shmemi_u64 signal, int sig_op, int pe) \
    {                                                                       \
        shmemi_dev_put_signal(dev, dest, source, bytes, sig_addr, signal,   \
                              sig_op, pe, SCOPE, 1);                        \
    }
SHMEMI_DEV_SCOPES(SHMEMI_DEV_MEM)
#undef SHMEMI_DEV_MEM

/* Elements: shmemx_dev_TYPENAME_put and shmemx_dev_putSIZE, and so get, iput,
 * iget, put_nbi, get_nbi, put_signal, put_signal_nbi, each also with _warp and
 * _block behind it. */
#define SHMEMI_DEV_XFER(PRE, POST, T, SIZE_, SCOPE_NAME, SCOPE)             \
    SHMEMI_DEV void shmemx_dev_##PRE##put##POST##SCOPE_NAME(                \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        int pe)                                                             \
    {                                                                       \
        shmemi_dev_put(dev, dest, source, nelems * (SIZE_), pe, SCOPE, 0);  \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##get##POST##SCOPE_NAME(                \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        int pe)                                                             \
    {                                                                       \
        shmemi_dev_get(dev, dest, source, nelems * (SIZE_), pe, SCOPE, 0);  \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##put##POST##_nbi##SCOPE_NAME(          \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        int pe)                                                             \
    {                                                                       \
        shmemi_dev_put(dev, dest, source, nelems * (SIZE_), pe, SCOPE, 1);  \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##get##POST##_nbi##SCOPE_NAME(          \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        int pe)                                                             \
    {                                                                       \
        shmemi_dev_get(dev, dest, source, nelems * (SIZE_), pe, SCOPE, 1);  \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##iput##POST##SCOPE_NAME(               \
        const shmemx_dev_t *dev, T *dest, const T *source, ptrdiff_t dst,   \
        ptrdiff_t sst, size_t nelems, int pe)                               \
    {                                                                       \
        shmemi_dev_strided(dev, 1, dest, source, dst, sst, nelems, SIZE_,   \
                           pe, SCOPE);                                      \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##iget##POST##SCOPE_NAME(               \
        const shmemx_dev_t *dev, T *dest, const T *source, ptrdiff_t dst,   \
        ptrdiff_t sst, size_t nelems, int pe)                               \
    {                                                                       \
        shmemi_dev_strided(dev, 0, dest, source, dst, sst, nelems, SIZE_,   \
                           pe, SCOPE);                                      \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##put##POST##_signal##SCOPE_NAME(       \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        void *sig_addr, shmemi_u64 signal, int sig_op, int pe)              \
    {                                                                       \
        shmemi_dev_put_signal(dev, dest, source, nelems * (SIZE_),          \
                              sig_addr, signal, sig_op, pe, SCOPE, 0);      \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##PRE##put##POST##_signal_nbi##SCOPE_NAME(   \
        const shmemx_dev_t *dev, T *dest, const T *source, size_t nelems,   \
        void *sig_addr, shmemi_u64 signal, int sig_op, int pe)              \
    {                                                                       \
        shmemi_dev_put_signal(dev, dest, source, nelems * (SIZE_),          \
                              sig_addr, signal, sig_op, pe, SCOPE, 1);      \
    }
#define SHMEMI_DEV_TYPED(NAME, T)                                           \
    SHMEMI_DEV_XFER(NAME##_, , T, sizeof(T), , SHMEMI_DEV_THREAD)           \
    SHMEMI_DEV_XFER(NAME##_, , T, sizeof(T), _warp, SHMEMI_DEV_WARP)        \
    SHMEMI_DEV_XFER(NAME##_, , T, sizeof(T), _block, SHMEMI_DEV_BLOCK)
#define SHMEMI_DEV_SIZED(BITS, BYTES)                                       \
    SHMEMI_DEV_XFER(, BITS, void, BYTES, , SHMEMI_DEV_THREAD)               \
    SHMEMI_DEV_XFER(, BITS, void, BYTES, _warp, SHMEMI_DEV_WARP)            \
    SHMEMI_DEV_XFER(, BITS, void, BYTES, _block, SHMEMI_DEV_BLOCK)
SHMEMI_DEV_RMA_TYPES(SHMEMI_DEV_TYPED)
SHMEMI_DEV_SIZES(SHMEMI_DEV_SIZED)
#undef SHMEMI_DEV_SIZED
#undef SHMEMI_DEV_TYPED
#undef SHMEMI_DEV_XFER

/* One element: shmemx_dev_TYPENAME_p, shmemx_dev_TYPENAME_g. */
#define SHMEMI_DEV_ONE(NAME, T)                                             \
    SHMEMI_DEV void shmemx_dev_##NAME##_p(const shmemx_dev_t *dev, T *dest, \
                                          T value, int pe)                  \
    {                                                                       \
        const shmemi_dev_reach *r;                                          \
        union { T v; shmemi_u64 bits[2]; } u;                               \
        shmemi_u64 to;                                                      \
        shmemi_u32 at;                                                      \
                                                                            \
        if (SHMEMI_DEV_LIKELY(shmemi_dev_place(dev, pe, &at))) {            \
            r = dev->reach + at;                                            \
            to = shmemi_dev_find_one(dev, r->map, dest);                    \
            if (SHMEMI_DEV_LIKELY(SHMEMI_DEV_IS_MAPPED(to))) {              \
                *(T *)to = value;                                           \
                shmemi_dev_stored(dev, r, to, sizeof(T));                   \
                return;                                                     \
            }                                                               \
        }                                                                   \
        u.bits[0] = u.bits[1] = 0;                                          \
        u.v = value;                                                        \
        shmemi_dev_far_put_bits(dev, dest, u.bits[0], u.bits[1], sizeof(T), \
                                pe, SHMEMI_DEV_CALL_P);                     \
    }                                                                       \
    SHMEMI_DEV T shmemx_dev_##NAME##_g(const shmemx_dev_t *dev,             \
                                       const T *source, int pe)             \
    {                                                                       \
        const shmemi_dev_reach *r;                                          \
        shmemi_u64 from;                                                    \
        shmemi_u32 at;                                                      \
        T value;                                                            \
                                                                            \
        if (SHMEMI_DEV_LIKELY(shmemi_dev_place(dev, pe, &at))) {            \
            r = dev->reach + at;                                            \
            from = shmemi_dev_find_one(dev, r->map, source);                \
            if (SHMEMI_DEV_LIKELY(SHMEMI_DEV_IS_MAPPED(from)))              \
                return *(const volatile T *)from;                           \
        }                                                                   \
        shmemi_dev_far_get_value(dev, &value, source, sizeof(T), pe,        \
                                 SHMEMI_DEV_CALL_G);                        \
        return value;                                                       \
    }
SHMEMI_DEV_RMA_TYPES(SHMEMI_DEV_ONE)
#undef SHMEMI_DEV_ONE

/* sig_op: SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. */
SHMEMI_DEV void shmemx_dev_signal_op(const shmemx_dev_t *dev, void *sig_addr,
                                     shmemi_u64 signal, int sig_op, int pe)
{
    shmemi_dev_signal(dev, sig_addr, signal, sig_op, pe);
}
SHMEMI_DEV void shmemx_dev_signal_set(const shmemx_dev_t *dev, void *sig_addr,
                                      shmemi_u64 signal, int pe)
{
    shmemi_dev_signal(dev, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}
SHMEMI_DEV void shmemx_dev_signal_add(const shmemx_dev_t *dev, void *sig_addr,
                                      shmemi_u64 signal, int pe)
{
    shmemi_dev_signal(dev, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}

/* Where kernels of this PE load and store dest of that PE; NULL: they do
 * not. */
SHMEMI_DEV void *shmemx_dev_ptr(const shmemx_dev_t *dev, const void *dest,
                                int pe)
{
    const shmemi_dev_reach *r = shmemi_dev_reach_of(dev, pe);

    return r ? (void *)shmemi_dev_find(dev, r->map, dest, 1) : 0;
}

/* Of the state's team. */
SHMEMI_DEV int shmemx_dev_my_pe(const shmemx_dev_t *dev)
{
    if (!SHMEMI_DEV_LIKELY(dev->magic == SHMEMI_DEV_MAGIC))
        shmemi_dev_no_state(dev, SHMEMI_DEV_CALL_MY_PE);
    return dev->my_pe;
}
SHMEMI_DEV int shmemx_dev_n_pes(const shmemx_dev_t *dev)
{
    if (!SHMEMI_DEV_LIKELY(dev->magic == SHMEMI_DEV_MAGIC))
        shmemi_dev_no_state(dev, SHMEMI_DEV_CALL_N_PES);
    return dev->n_pes;
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_amo.h - atomics of kernels.  A part of shmemx_dev.h.
 *
 * Semantics are those of the OpenSHMEM 1.6 call of the name (section 9.7): of
 * one thread, atomic with those of all PEs, hosts and kernels.  dest and source
 * are symmetric words; a fetching call returns the word's old value, an nbi
 * form stores it to *fetch, which is symmetric or memory that the processor
 * reaches, and it is there after quiet. */
/* By the device, of a word at that address. */
SHMEMI_DEV shmemi_u64 shmemi_dev_apply(shmemi_u64 at, enum shmemi_dev_amo op,
                                       unsigned size, shmemi_u64 value,
                                       shmemi_u64 cond)
{
    void *p = (void *)at;
    shmemi_u32 v = (shmemi_u32)value;

    if (size == 8) {
        switch (op) {
        case SHMEMI_DEV_AMO_FETCH: return shmemi_dev_load_64(p);
        case SHMEMI_DEV_AMO_ADD: return shmemi_dev_add_64(p, value);
        case SHMEMI_DEV_AMO_AND: return shmemi_dev_and_64(p, value);
        case SHMEMI_DEV_AMO_OR: return shmemi_dev_or_64(p, value);
        case SHMEMI_DEV_AMO_XOR: return shmemi_dev_xor_64(p, value);
        case SHMEMI_DEV_AMO_CSWAP: return shmemi_dev_cas_64(p, cond, value);
        default: return shmemi_dev_exch_64(p, value);
        }
    }
    switch (op) {
    case SHMEMI_DEV_AMO_FETCH: return shmemi_dev_load_32(p);
    case SHMEMI_DEV_AMO_ADD: return shmemi_dev_add_32(p, v);
    case SHMEMI_DEV_AMO_AND: return shmemi_dev_and_32(p, v);
    case SHMEMI_DEV_AMO_OR: return shmemi_dev_or_32(p, v);
    case SHMEMI_DEV_AMO_XOR: return shmemi_dev_xor_32(p, v);
    case SHMEMI_DEV_AMO_CSWAP:
        return shmemi_dev_cas_32(p, (shmemi_u32)cond, v);
    default: return shmemi_dev_exch_32(p, v);
    }
}

SHMEMI_DEV_SLOW shmemi_u64
shmemi_dev_far_amo(const struct shmemx_dev *d, void *sym, unsigned op,
                   unsigned size, shmemi_u64 value, shmemi_u64 cond, int pe,
                   void *fetch, int fetches)
{
    shmemi_u64 was[2] = { 0, 0 };
    shmemi_dev_position t;

    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_AMO, op,
                                           SHMEMI_DEV_CALL_ATOMIC, size),
                        pe, sym, fetch, size, value, cond,
                        fetches ? SHMEMI_DEV_RESULT
                        : fetch ? SHMEMI_DEV_FETCHES : 0);
    if (fetches)
        shmemi_dev_await_result(d, t, was);
    return was[0];
}

/* fetches: the caller wants the old value; fetch: it goes there later; or
 * neither. */
SHMEMI_DEV shmemi_u64 shmemi_dev_amo_on(const struct shmemx_dev *d, void *sym,
                                        enum shmemi_dev_amo op, unsigned size,
                                        shmemi_u64 value, shmemi_u64 cond,
                                        int pe, void *fetch, int fetches)
{
    const shmemi_dev_reach *r = shmemi_dev_reach_of(d, pe);
    shmemi_u64 at = r ? shmemi_dev_find(d, r->amo, sym, size) : 0, was;

    if (!SHMEMI_DEV_LIKELY(at && at % size == 0))
        return shmemi_dev_far_amo(d, sym, op, size, value, cond, pe, fetch,
                                  fetches);
    was = shmemi_dev_apply(at, op, size, value, cond);
    if (op != SHMEMI_DEV_AMO_FETCH)
        shmemi_dev_stored(d, r, at, size);
    if (fetch && size == 8)
        shmemi_dev_store_64(fetch, was);
    else if (fetch)
        shmemi_dev_store_32(fetch, (shmemi_u32)was);
    return was;
}

/* Values travel as bits of 4 or 8 bytes. */
#define SHMEMI_DEV_BITS(NAME, T)                                            \
    SHMEMI_DEV shmemi_u64 shmemi_dev_bits_##NAME(T value)                   \
    {                                                                       \
        union { T v; shmemi_u64 w; shmemi_u32 h; } u;                       \
                                                                            \
        u.w = 0;                                                            \
        u.v = value;                                                        \
        return sizeof(T) == 8 ? u.w : u.h;                                  \
    }                                                                       \
    SHMEMI_DEV T shmemi_dev_value_##NAME(shmemi_u64 bits)                   \
    {                                                                       \
        union { T v; shmemi_u64 w; shmemi_u32 h; } u;                       \
                                                                            \
        if (sizeof(T) == 8)                                                 \
            u.w = bits;                                                     \
        else                                                                \
            u.h = (shmemi_u32)bits;                                         \
        return u.v;                                                         \
    }
SHMEMI_DEV_AMO_EXT_TYPES(SHMEMI_DEV_BITS)
#undef SHMEMI_DEV_BITS

/* shmemx_dev_TYPENAME_atomic_fetch, _set, _swap and the nbi forms. */
#define SHMEMI_DEV_AMO_EXT(NAME, T)                                         \
    SHMEMI_DEV T shmemx_dev_##NAME##_atomic_fetch(                          \
        const shmemx_dev_t *dev, const T *source, int pe)                   \
    {                                                                       \
        return shmemi_dev_value_##NAME(                                     \
            shmemi_dev_amo_on(dev, (void *)source, SHMEMI_DEV_AMO_FETCH,    \
                              sizeof(T), 0, 0, pe, 0, 1));                  \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_fetch_nbi(                   \
        const shmemx_dev_t *dev, T *fetch, const T *source, int pe)         \
    {                                                                       \
        shmemi_dev_amo_on(dev, (void *)source, SHMEMI_DEV_AMO_FETCH,        \
                          sizeof(T), 0, 0, pe, fetch, 0);                   \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_set(                         \
        const shmemx_dev_t *dev, T *dest, T value, int pe)                  \
    {                                                                       \
        shmemi_dev_amo_on(dev, dest, SHMEMI_DEV_AMO_SET, sizeof(T),         \
                          shmemi_dev_bits_##NAME(value), 0, pe, 0, 0);      \
    }                                                                       \
    SHMEMI_DEV T shmemx_dev_##NAME##_atomic_swap(                           \
        const shmemx_dev_t *dev, T *dest, T value, int pe)                  \
    {                                                                       \
        return shmemi_dev_value_##NAME(                                     \
            shmemi_dev_amo_on(dev, dest, SHMEMI_DEV_AMO_SWAP, sizeof(T),    \
                              shmemi_dev_bits_##NAME(value), 0, pe, 0, 1)); \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_swap_nbi(                    \
        const shmemx_dev_t *dev, T *fetch, T *dest, T value, int pe)        \
    {                                                                       \
        shmemi_dev_amo_on(dev, dest, SHMEMI_DEV_AMO_SWAP, sizeof(T),        \
                          shmemi_dev_bits_##NAME(value), 0, pe, fetch, 0);  \
    }
SHMEMI_DEV_AMO_EXT_TYPES(SHMEMI_DEV_AMO_EXT)
#undef SHMEMI_DEV_AMO_EXT

/* shmemx_dev_TYPENAME_atomic_add, _and, _or, _xor, with fetch_ in front of the
 * operation, and with fetch_ and _nbi. */
#define SHMEMI_DEV_AMO_OP(NAME, T, OP, CODE)                                \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_##OP(                        \
        const shmemx_dev_t *dev, T *dest, T value, int pe)                  \
    {                                                                       \
        shmemi_dev_amo_on(dev, dest, CODE, sizeof(T),                       \
                          shmemi_dev_bits_##NAME(value), 0, pe, 0, 0);      \
    }                                                                       \
    SHMEMI_DEV T shmemx_dev_##NAME##_atomic_fetch_##OP(                     \
        const shmemx_dev_t *dev, T *dest, T value, int pe)                  \
    {                                                                       \
        return shmemi_dev_value_##NAME(                                     \
            shmemi_dev_amo_on(dev, dest, CODE, sizeof(T),                   \
                              shmemi_dev_bits_##NAME(value), 0, pe, 0, 1)); \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_fetch_##OP##_nbi(            \
        const shmemx_dev_t *dev, T *fetch, T *dest, T value, int pe)        \
    {                                                                       \
        shmemi_dev_amo_on(dev, dest, CODE, sizeof(T),                       \
                          shmemi_dev_bits_##NAME(value), 0, pe, fetch, 0);  \
    }
/* And shmemx_dev_TYPENAME_atomic_compare_swap, _inc, _fetch_inc, and their nbi
 * forms. */
#define SHMEMI_DEV_AMO_STD(NAME, T)                                         \
    SHMEMI_DEV_AMO_OP(NAME, T, add, SHMEMI_DEV_AMO_ADD)                     \
    SHMEMI_DEV_AMO_OP(NAME, T, and, SHMEMI_DEV_AMO_AND)                     \
    SHMEMI_DEV_AMO_OP(NAME, T, or, SHMEMI_DEV_AMO_OR)                       \
    SHMEMI_DEV_AMO_OP(NAME, T, xor, SHMEMI_DEV_AMO_XOR)                     \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_inc(                         \
        const shmemx_dev_t *dev, T *dest, int pe)                           \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_add(dev, dest, 1, pe);                   \
    }                                                                       \
    SHMEMI_DEV T shmemx_dev_##NAME##_atomic_fetch_inc(                      \
        const shmemx_dev_t *dev, T *dest, int pe)                           \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_fetch_add(dev, dest, 1, pe);      \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_fetch_inc_nbi(               \
        const shmemx_dev_t *dev, T *fetch, T *dest, int pe)                 \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_fetch_add_nbi(dev, fetch, dest, 1, pe);  \
    }                                                                       \
    SHMEMI_DEV T shmemx_dev_##NAME##_atomic_compare_swap(                   \
        const shmemx_dev_t *dev, T *dest, T cond, T value, int pe)          \
    {                                                                       \
        return shmemi_dev_value_##NAME(                                     \
            shmemi_dev_amo_on(dev, dest, SHMEMI_DEV_AMO_CSWAP, sizeof(T),   \
                              shmemi_dev_bits_##NAME(value),                \
                              shmemi_dev_bits_##NAME(cond), pe, 0, 1));     \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_##NAME##_atomic_compare_swap_nbi(            \
        const shmemx_dev_t *dev, T *fetch, T *dest, T cond, T value, int pe) \
    {                                                                       \
        shmemi_dev_amo_on(dev, dest, SHMEMI_DEV_AMO_CSWAP, sizeof(T),       \
                          shmemi_dev_bits_##NAME(value),                    \
                          shmemi_dev_bits_##NAME(cond), pe, fetch, 0);      \
    }
SHMEMI_DEV_AMO_TYPES(SHMEMI_DEV_AMO_STD)
#undef SHMEMI_DEV_AMO_STD
#undef SHMEMI_DEV_AMO_OP

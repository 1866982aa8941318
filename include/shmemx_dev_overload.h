/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_overload.h - the calls of kernels without a type in their name, for
 * C++: shmemx_dev_put(dev, dest, source, nelems, pe) is shmemx_dev_TYPENAME_put
 * of the type that dest points to.  A part of shmemx_dev.h, unless SHMEM_STRICT
 * is defined. */
#if defined(__cplusplus) && !defined(SHMEM_STRICT)
extern "C++" {          /* also where the program includes us in extern "C" */

/* OP of the type: its result R, and its parameters and arguments behind dev. */
#define SHMEMI_DEV_ARGS(...) __VA_ARGS__
#define SHMEMI_DEV_OVER(NAME, R, OP, PARAMS, ARGS)                          \
    SHMEMI_DEV R shmemx_dev_##OP(const shmemx_dev_t *dev,                   \
                                 SHMEMI_DEV_ARGS PARAMS)                    \
    {                                                                       \
        return shmemx_dev_##NAME##_##OP(dev, SHMEMI_DEV_ARGS ARGS);         \
    }
#define SHMEMI_DEV_OVER3(NAME, R, OP, PARAMS, ARGS)                         \
    SHMEMI_DEV_OVER(NAME, R, OP, PARAMS, ARGS)                              \
    SHMEMI_DEV_OVER(NAME, R, OP##_warp, PARAMS, ARGS)                       \
    SHMEMI_DEV_OVER(NAME, R, OP##_block, PARAMS, ARGS)

/* ---- puts and gets ---- */

#define SHMEMI_DEV_OVER_MOVE(NAME, T, OP)                                   \
    SHMEMI_DEV_OVER3(NAME, void, OP,                                        \
                     (T *dest, const T *source, size_t nelems, int pe),     \
                     (dest, source, nelems, pe))
#define SHMEMI_DEV_OVER_STRIDED(NAME, T, OP)                                \
    SHMEMI_DEV_OVER3(NAME, void, OP,                                        \
                     (T *dest, const T *source, ptrdiff_t dst,              \
                      ptrdiff_t sst, size_t nelems, int pe),                \
                     (dest, source, dst, sst, nelems, pe))
#define SHMEMI_DEV_OVER_SIGNAL(NAME, T, OP)                                 \
    SHMEMI_DEV_OVER3(NAME, void, OP,                                        \
                     (T *dest, const T *source, size_t nelems,              \
                      void *sig_addr, shmemi_u64 signal, int sig_op,        \
                      int pe),                                              \
                     (dest, source, nelems, sig_addr, signal, sig_op, pe))
#define SHMEMI_DEV_OVER_RMA(NAME, T)                                        \
    SHMEMI_DEV_OVER_MOVE(NAME, T, put)                                      \
    SHMEMI_DEV_OVER_MOVE(NAME, T, get)                                      \
    SHMEMI_DEV_OVER_STRIDED(NAME, T, iput)                                  \
    SHMEMI_DEV_OVER_STRIDED(NAME, T, iget)                                  \
    SHMEMI_DEV_OVER_SIGNAL(NAME, T, put_signal)                             \
    SHMEMI_DEV_OVER_MOVE(NAME, T, put_nbi)                                  \
    SHMEMI_DEV_OVER_MOVE(NAME, T, get_nbi)                                  \
    SHMEMI_DEV_OVER_SIGNAL(NAME, T, put_signal_nbi)                         \
    SHMEMI_DEV_OVER(NAME, void, p, (T *dest, T value, int pe),              \
                    (dest, value, pe))                                      \
    SHMEMI_DEV_OVER(NAME, T, g, (const T *source, int pe), (source, pe))
SHMEMI_DEV_RMA_BASE(SHMEMI_DEV_OVER_RMA)
#undef SHMEMI_DEV_OVER_RMA
#undef SHMEMI_DEV_OVER_SIGNAL
#undef SHMEMI_DEV_OVER_STRIDED
#undef SHMEMI_DEV_OVER_MOVE

/* ---- atomics ---- */

#define SHMEMI_DEV_OVER_VALUE(NAME, T, OP)                                  \
    SHMEMI_DEV_OVER(NAME, void, atomic_##OP, (T *dest, T value, int pe),    \
                    (dest, value, pe))
#define SHMEMI_DEV_OVER_FETCH(NAME, T, OP)                                  \
    SHMEMI_DEV_OVER(NAME, T, atomic_##OP, (T *dest, T value, int pe),       \
                    (dest, value, pe))                                      \
    SHMEMI_DEV_OVER(NAME, void, atomic_##OP##_nbi,                          \
                    (T *fetch, T *dest, T value, int pe),                   \
                    (fetch, dest, value, pe))
#define SHMEMI_DEV_OVER_EXT(NAME, T)                                        \
    SHMEMI_DEV_OVER(NAME, T, atomic_fetch, (const T *source, int pe),       \
                    (source, pe))                                           \
    SHMEMI_DEV_OVER(NAME, void, atomic_fetch_nbi,                           \
                    (T *fetch, const T *source, int pe),                    \
                    (fetch, source, pe))                                    \
    SHMEMI_DEV_OVER_VALUE(NAME, T, set)                                     \
    SHMEMI_DEV_OVER_FETCH(NAME, T, swap)
#define SHMEMI_DEV_OVER_STD(NAME, T)                                        \
    SHMEMI_DEV_OVER_VALUE(NAME, T, add)                                     \
    SHMEMI_DEV_OVER_VALUE(NAME, T, and)                                     \
    SHMEMI_DEV_OVER_VALUE(NAME, T, or)                                      \
    SHMEMI_DEV_OVER_VALUE(NAME, T, xor)                                     \
    SHMEMI_DEV_OVER_FETCH(NAME, T, fetch_add)                               \
    SHMEMI_DEV_OVER_FETCH(NAME, T, fetch_and)                               \
    SHMEMI_DEV_OVER_FETCH(NAME, T, fetch_or)                                \
    SHMEMI_DEV_OVER_FETCH(NAME, T, fetch_xor)                               \
    SHMEMI_DEV_OVER(NAME, void, atomic_inc, (T *dest, int pe), (dest, pe))  \
    SHMEMI_DEV_OVER(NAME, T, atomic_fetch_inc, (T *dest, int pe),           \
                    (dest, pe))                                             \
    SHMEMI_DEV_OVER(NAME, void, atomic_fetch_inc_nbi,                       \
                    (T *fetch, T *dest, int pe), (fetch, dest, pe))         \
    SHMEMI_DEV_OVER(NAME, T, atomic_compare_swap,                           \
                    (T *dest, T cond, T value, int pe),                     \
                    (dest, cond, value, pe))                                \
    SHMEMI_DEV_OVER(NAME, void, atomic_compare_swap_nbi,                    \
                    (T *fetch, T *dest, T cond, T value, int pe),           \
                    (fetch, dest, cond, value, pe))
SHMEMI_DEV_AMO_FLOATS(SHMEMI_DEV_OVER_EXT)
SHMEMI_DEV_AMO_BASE(SHMEMI_DEV_OVER_EXT)
SHMEMI_DEV_AMO_BASE(SHMEMI_DEV_OVER_STD)
#undef SHMEMI_DEV_OVER_STD
#undef SHMEMI_DEV_OVER_EXT
#undef SHMEMI_DEV_OVER_FETCH
#undef SHMEMI_DEV_OVER_VALUE

/* ---- waits and tests ---- */

#define SHMEMI_DEV_OVER_WAIT(NAME, T)                                       \
    SHMEMI_DEV_OVER3(NAME, void, wait_until,                                \
                     (const T *ivar, int cmp, T cmp_value),                 \
                     (ivar, cmp, cmp_value))                                \
    SHMEMI_DEV_OVER3(NAME, int, test,                                       \
                     (const T *ivar, int cmp, T cmp_value),                 \
                     (ivar, cmp, cmp_value))
#define SHMEMI_DEV_OVER_SET(NAME, T, R, VERB, SUFFIX, CMP)                  \
    SHMEMI_DEV_OVER(NAME, R, VERB##_all##SUFFIX,                            \
                    (const T *ivars, size_t nelems, const int *status,      \
                     int cmp, CMP cmp_value),                               \
                    (ivars, nelems, status, cmp, cmp_value))                \
    SHMEMI_DEV_OVER(NAME, size_t, VERB##_any##SUFFIX,                       \
                    (const T *ivars, size_t nelems, const int *status,      \
                     int cmp, CMP cmp_value),                               \
                    (ivars, nelems, status, cmp, cmp_value))                \
    SHMEMI_DEV_OVER(NAME, size_t, VERB##_some##SUFFIX,                      \
                    (const T *ivars, size_t nelems, size_t *indices,        \
                     const int *status, int cmp, CMP cmp_value),            \
                    (ivars, nelems, indices, status, cmp, cmp_value))
#define SHMEMI_DEV_OVER_SETS(NAME, T)                                       \
    SHMEMI_DEV_OVER_SET(NAME, T, void, wait_until, , T)                     \
    SHMEMI_DEV_OVER_SET(NAME, T, void, wait_until, _vector, const T *)      \
    SHMEMI_DEV_OVER_SET(NAME, T, int, test, , T)                            \
    SHMEMI_DEV_OVER_SET(NAME, T, int, test, _vector, const T *)
SHMEMI_DEV_AMO_BASE(SHMEMI_DEV_OVER_WAIT)
SHMEMI_DEV_OVER_WAIT(short, short)
SHMEMI_DEV_OVER_WAIT(ushort, unsigned short)
SHMEMI_DEV_AMO_BASE(SHMEMI_DEV_OVER_SETS)
#undef SHMEMI_DEV_OVER_SETS
#undef SHMEMI_DEV_OVER_SET
#undef SHMEMI_DEV_OVER_WAIT

/* ---- collectives ---- */

#define SHMEMI_DEV_OVER_COLL(NAME, T, OP)                                   \
    SHMEMI_DEV_OVER3(NAME, int, OP,                                         \
                     (shmem_team_t team, T *dest, const T *source,          \
                      size_t nelems),                                       \
                     (team, dest, source, nelems))
#define SHMEMI_DEV_OVER_COLLS(NAME, T)                                      \
    SHMEMI_DEV_OVER3(NAME, int, broadcast,                                  \
                     (shmem_team_t team, T *dest, const T *source,          \
                      size_t nelems, int root),                             \
                     (team, dest, source, nelems, root))                    \
    SHMEMI_DEV_OVER_COLL(NAME, T, fcollect)                                 \
    SHMEMI_DEV_OVER_COLL(NAME, T, alltoall)
#define SHMEMI_DEV_OVER_REDUCES(NAME, T)                                    \
    SHMEMI_DEV_OVER_COLL(NAME, T, sum_reduce)                               \
    SHMEMI_DEV_OVER_COLL(NAME, T, prod_reduce)                              \
    SHMEMI_DEV_OVER_COLL(NAME, T, min_reduce)                               \
    SHMEMI_DEV_OVER_COLL(NAME, T, max_reduce)                               \
    SHMEMI_DEV_OVER_COLL(NAME, T, sum_reducescatter)                        \
    SHMEMI_DEV_OVER_COLL(NAME, T, prod_reducescatter)                       \
    SHMEMI_DEV_OVER_COLL(NAME, T, min_reducescatter)                        \
    SHMEMI_DEV_OVER_COLL(NAME, T, max_reducescatter)
#define SHMEMI_DEV_OVER_BITS(NAME, T)                                       \
    SHMEMI_DEV_OVER_COLL(NAME, T, and_reduce)                               \
    SHMEMI_DEV_OVER_COLL(NAME, T, or_reduce)                                \
    SHMEMI_DEV_OVER_COLL(NAME, T, xor_reduce)                               \
    SHMEMI_DEV_OVER_COLL(NAME, T, and_reducescatter)                        \
    SHMEMI_DEV_OVER_COLL(NAME, T, or_reducescatter)                         \
    SHMEMI_DEV_OVER_COLL(NAME, T, xor_reducescatter)
SHMEMI_DEV_RMA_BASE(SHMEMI_DEV_OVER_COLLS)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_DEV_OVER_COLLS)
SHMEMI_DEV_REDUCE_BASE(SHMEMI_DEV_OVER_REDUCES)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_DEV_OVER_REDUCES)
SHMEMI_DEV_REDUCE_BIT_BASE(SHMEMI_DEV_OVER_BITS)
/* Of types that are signed, and have no name without a size here. */
SHMEMI_DEV_OVER_BITS(int8, signed char)
SHMEMI_DEV_OVER_BITS(int16, short)
SHMEMI_DEV_OVER_BITS(int32, int)
SHMEMI_DEV_OVER_BITS(int64, long)
#undef SHMEMI_DEV_OVER_BITS
#undef SHMEMI_DEV_OVER_REDUCES
#undef SHMEMI_DEV_OVER_COLLS
#undef SHMEMI_DEV_OVER_COLL
#undef SHMEMI_DEV_OVER3
#undef SHMEMI_DEV_OVER
#undef SHMEMI_DEV_ARGS

}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_decls.h - the prototypes beyond OpenSHMEM 1.6, included by shmemx.h
 * with SHMEMI_P(f) as f and as pf.  No include guard. */

/* ---- Names of other libraries for calls that 1.6 has without the x: both are
 * the same. ---- */

/* The macros of this file declare these names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmemx_TYPENAME_ibput shmemx_ctx_TYPENAME_ibput shmemx_TYPENAME_ibget
 *   shmemx_ctx_TYPENAME_ibget shmemx_ibputSIZE shmemx_ctx_ibputSIZE
 *   shmemx_ibgetSIZE shmemx_ctx_ibgetSIZE shmemx_TYPENAME_sum_inscan
 *   shmemx_TYPENAME_sum_exscan shmemx_TYPENAME_put_nb
 *   shmemx_ctx_TYPENAME_put_nb shmemx_TYPENAME_get_nb
 *   shmemx_ctx_TYPENAME_get_nb shmemx_putSIZE_nb shmemx_ctx_putSIZE_nb
 *   shmemx_getSIZE_nb shmemx_ctx_getSIZE_nb shmemx_putmem_nb
 *   shmemx_ctx_putmem_nb shmemx_getmem_nb shmemx_ctx_getmem_nb */

#define SHMEMI_BLOCKED(F, C, T)                                             \
    void SHMEMI_P(F)(T *dest, const T *source, ptrdiff_t dst,               \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);  \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     ptrdiff_t dst, ptrdiff_t sst, size_t bsize,            \
                     size_t nblocks, int pe);
#define SHMEMI_BLOCKED_TYPED(NAME, T)                                       \
    SHMEMI_BLOCKED(shmemx_##NAME##_ibput, shmemx_ctx_##NAME##_ibput, T)     \
    SHMEMI_BLOCKED(shmemx_##NAME##_ibget, shmemx_ctx_##NAME##_ibget, T)
#define SHMEMI_BLOCKED_SIZED(S, BYTES)                                      \
    SHMEMI_BLOCKED(shmemx_ibput##S, shmemx_ctx_ibput##S, void)              \
    SHMEMI_BLOCKED(shmemx_ibget##S, shmemx_ctx_ibget##S, void)
SHMEMI_RMA_TYPES(SHMEMI_BLOCKED_TYPED)
SHMEMI_SIZES(SHMEMI_BLOCKED_SIZED)

#define SHMEMI_SCAN(NAME, T)                                                \
    int SHMEMI_P(shmemx_##NAME##_sum_inscan)(                               \
        shmem_team_t team, T *dest, const T *source, size_t nelems);        \
    int SHMEMI_P(shmemx_##NAME##_sum_exscan)(                               \
        shmem_team_t team, T *dest, const T *source, size_t nelems);
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_SCAN)

void SHMEMI_P(shmemx_signal_add)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHMEMI_P(shmemx_signal_set)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHMEMI_P(shmemx_ctx_signal_add)(shmem_ctx_t ctx, uint64_t *sig_addr,
                                     uint64_t signal, int pe);
void SHMEMI_P(shmemx_ctx_signal_set)(shmem_ctx_t ctx, uint64_t *sig_addr,
                                     uint64_t signal, int pe);

/* As shmem_..._nbi.  Some libraries have four parameters after the context,
 * some a handle of the transfer as the fifth: it is accepted and ignored. */
#define SHMEMI_NB(F, C, T)                                                  \
    void SHMEMI_P(F)(T *dest, const T *source, size_t nelems, int pe, ...); \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     size_t nelems, int pe, ...);
#define SHMEMI_NB_TYPED(NAME, T)                                            \
    SHMEMI_NB(shmemx_##NAME##_put_nb, shmemx_ctx_##NAME##_put_nb, T)        \
    SHMEMI_NB(shmemx_##NAME##_get_nb, shmemx_ctx_##NAME##_get_nb, T)
#define SHMEMI_NB_SIZED(S, BYTES)                                           \
    SHMEMI_NB(shmemx_put##S##_nb, shmemx_ctx_put##S##_nb, void)             \
    SHMEMI_NB(shmemx_get##S##_nb, shmemx_ctx_get##S##_nb, void)
SHMEMI_RMA_TYPES(SHMEMI_NB_TYPED)
SHMEMI_SIZES(SHMEMI_NB_SIZED)
SHMEMI_NB_SIZED(mem, 1)

/* ---- Calls of other libraries that are not in the standard ---- */

/* Seconds of the node's monotonic clock.  At any time, also before
 * shmem_init. */
double SHMEMI_P(shmemx_wtime)(void);
/* The identity of the program's threads, for SHMEM_CTX_PRIVATE: contexts
 * created from now on belong to the number that gettid_fn returns in the
 * calling thread; NULL: to the POSIX thread.  At any time, also before
 * shmem_init. */
void SHMEMI_P(shmemx_register_gettid)(uint64_t (*gettid_fn)(void));

/* ---- Calls of the standard for further types ---- */

/* The deprecated atomics. */
#define SHMEMI_AMO_OLD(NAME, T)                                             \
    T SHMEMI_P(shmem_##NAME##_fetch)(const T *source, int pe);              \
    void SHMEMI_P(shmem_##NAME##_set)(T *dest, T value, int pe);            \
    T SHMEMI_P(shmem_##NAME##_swap)(T *dest, T value, int pe);              \
    T SHMEMI_P(shmem_##NAME##_cswap)(T *dest, T cond, T value, int pe);     \
    T SHMEMI_P(shmem_##NAME##_finc)(T *dest, int pe);                       \
    void SHMEMI_P(shmem_##NAME##_inc)(T *dest, int pe);                     \
    T SHMEMI_P(shmem_##NAME##_fadd)(T *dest, T value, int pe);              \
    void SHMEMI_P(shmem_##NAME##_add)(T *dest, T value, int pe);
SHMEMI_AMO_OLD_MORE(SHMEMI_AMO_OLD)

/* Bitwise reductions of signed types. */
#define SHMEMI_REDUCE(NAME, T, OP)                                          \
    int SHMEMI_P(shmem_##NAME##_##OP)(shmem_team_t team, T *dest,           \
                                      const T *source, size_t nelems);
#define SHMEMI_REDUCE_BIT(NAME, T)                                          \
    SHMEMI_REDUCE(NAME, T, and_reduce)                                      \
    SHMEMI_REDUCE(NAME, T, or_reduce)                                       \
    SHMEMI_REDUCE(NAME, T, xor_reduce)
SHMEMI_TO_ALL_BIT_TYPES(SHMEMI_REDUCE_BIT)

/* Waits and tests of arrays of short. */
#define SHMEMI_WAIT_SET(NAME, T, R, VERB, SUFFIX, CMP_ARG)                  \
    R SHMEMI_P(shmem_##NAME##_##VERB##_all##SUFFIX)(                        \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_ARG);      \
    size_t SHMEMI_P(shmem_##NAME##_##VERB##_any##SUFFIX)(                   \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_ARG);      \
    size_t SHMEMI_P(shmem_##NAME##_##VERB##_some##SUFFIX)(                  \
        T *ivars, size_t nelems, size_t *indices, const int *status,        \
        int cmp, CMP_ARG);
#define SHMEMI_WAIT(NAME, T)                                                \
    SHMEMI_WAIT_SET(NAME, T, void, wait_until, , T cmp_value)               \
    SHMEMI_WAIT_SET(NAME, T, void, wait_until, _vector,                     \
                    const T *cmp_values)                                    \
    SHMEMI_WAIT_SET(NAME, T, int, test, , T cmp_value)                      \
    SHMEMI_WAIT_SET(NAME, T, int, test, _vector, const T *cmp_values)
SHMEMI_WAIT_OLD_TYPES(SHMEMI_WAIT)

/* ---- Names that the standard has removed ---- */

/* shmem_long_swap; in C11 shmem_swap is also a macro for all types. */
long SHMEMI_P(shmem_swap)(long *dest, long value, int pe);

/* Until 1.3, for machines whose caches are not coherent with remote
 * stores.  The caches of all supported machines are, so these calls have no
 * effect. */
void SHMEMI_P(shmem_set_cache_inv)(void);
void SHMEMI_P(shmem_clear_cache_inv)(void);
void SHMEMI_P(shmem_set_cache_line_inv)(void *dest);
void SHMEMI_P(shmem_clear_cache_line_inv)(void *dest);
void SHMEMI_P(shmem_udcflush)(void);
void SHMEMI_P(shmem_udcflush_line)(void *dest);

#undef SHMEMI_BLOCKED
#undef SHMEMI_BLOCKED_TYPED
#undef SHMEMI_BLOCKED_SIZED
#undef SHMEMI_SCAN
#undef SHMEMI_NB
#undef SHMEMI_NB_TYPED
#undef SHMEMI_NB_SIZED
#undef SHMEMI_AMO_OLD
#undef SHMEMI_REDUCE
#undef SHMEMI_REDUCE_BIT
#undef SHMEMI_WAIT_SET
#undef SHMEMI_WAIT

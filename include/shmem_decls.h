/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_decls.h - the prototypes, included by shmem.h with SHMEMI_P(f) as f
 * and by pshmem.h with SHMEMI_P(f) as pf.  No include guard.
 *
 * Unless a call says otherwise: sizes and counts are in elements, `mem` forms
 * in bytes, strides in elements; dest of a put and source of a get are
 * symmetric addresses; PE numbers count from 0 in the team of the context
 * (the world for the default context).  Misuse ends the job with one line and
 * a code of shmem_errors(7).  Section numbers are of OpenSHMEM 1.6. */

/* ---- Set-up, exit, queries (9.1) ---- */

/* Initializes the library.  Initializations are counted: each needs its own
 * shmem_finalize.  Collective.  A failure ends the job. */
void SHMEMI_P(shmem_init)(void);
/* As shmem_init; *provided is the granted level: always the requested one.
 * Returns 0, or nonzero with a message when start-up failed. */
int SHMEMI_P(shmem_init_thread)(int requested, int *provided);
void SHMEMI_P(shmem_query_thread)(int *provided);
/* Callable at any time from any thread, also before shmem_init. */
void SHMEMI_P(shmem_query_initialized)(int *initialized);
/* Collective.  The last one completes all traffic and frees the heap; an
 * earlier one is a barrier. */
void SHMEMI_P(shmem_finalize)(void);
/* Ends every PE of the job with that exit status, and flushes the caller's
 * stdio.  Any PE may call; not collective. */
SHMEMI_NORETURN void SHMEMI_P(shmem_global_exit)(int status);
int SHMEMI_P(shmem_my_pe)(void);
int SHMEMI_P(shmem_n_pes)(void);
int SHMEMI_P(shmem_pe_accessible)(int pe);
int SHMEMI_P(shmem_addr_accessible)(const void *addr, int pe);
/* The address at which the processor may load and store the copy of dest on
 * PE pe, or NULL. */
void *SHMEMI_P(shmem_ptr)(const void *dest, int pe);
void SHMEMI_P(shmem_info_get_version)(int *major, int *minor);
/* name has room for SHMEM_MAX_NAME_LEN characters. */
void SHMEMI_P(shmem_info_get_name)(char *name);
/* Deprecated: shmem_init; the count is ignored, and exit finalizes. */
void SHMEMI_P(start_pes)(int npes);

/* ---- Memory management (9.3): collective over the world, same arguments on
 * every PE, and a barrier on exit (free: on entry).  NULL when the heap is
 * full or the size is 0. ---- */

void *SHMEMI_P(shmem_malloc)(size_t size);
void *SHMEMI_P(shmem_calloc)(size_t count, size_t size);
/* alignment: a power of two, a multiple of sizeof(void *). */
void *SHMEMI_P(shmem_align)(size_t alignment, size_t size);
void *SHMEMI_P(shmem_malloc_with_hints)(size_t size, long hints);
void *SHMEMI_P(shmem_realloc)(void *ptr, size_t size);
void SHMEMI_P(shmem_free)(void *ptr);

/* ---- Contexts (9.5) ---- */

/* Local.  options: 0 or SHMEM_CTX_SERIALIZED, _PRIVATE, _NOSTORE.  0, or
 * nonzero with *ctx SHMEM_CTX_INVALID. */
int SHMEMI_P(shmem_ctx_create)(long options, shmem_ctx_t *ctx);
/* Completes the operations of the context first; no effect on
 * SHMEM_CTX_INVALID. */
void SHMEMI_P(shmem_ctx_destroy)(shmem_ctx_t ctx);

/* ---- Remote memory access (9.6, 9.7).  put returns when source may be
 * modified, get when the data has been stored; _nbi forms return at once and
 * complete at shmem_quiet.  An aligned element of up to 8 bytes is one
 * store. ---- */

/* The macros of this file declare these names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_TYPENAME_put shmem_ctx_TYPENAME_put shmem_TYPENAME_get
 *   shmem_ctx_TYPENAME_get shmem_TYPENAME_put_nbi shmem_ctx_TYPENAME_put_nbi
 *   shmem_TYPENAME_get_nbi shmem_ctx_TYPENAME_get_nbi shmem_TYPENAME_iput
 *   shmem_ctx_TYPENAME_iput shmem_TYPENAME_iget shmem_ctx_TYPENAME_iget
 *   shmem_TYPENAME_ibput shmem_ctx_TYPENAME_ibput shmem_TYPENAME_ibget
 *   shmem_ctx_TYPENAME_ibget shmem_TYPENAME_put_signal
 *   shmem_ctx_TYPENAME_put_signal shmem_TYPENAME_put_signal_nbi
 *   shmem_ctx_TYPENAME_put_signal_nbi shmem_TYPENAME_p shmem_ctx_TYPENAME_p
 *   shmem_TYPENAME_g shmem_ctx_TYPENAME_g shmem_putSIZE shmem_ctx_putSIZE
 *   shmem_getSIZE shmem_ctx_getSIZE shmem_putSIZE_nbi shmem_ctx_putSIZE_nbi
 *   shmem_getSIZE_nbi shmem_ctx_getSIZE_nbi shmem_putSIZE_signal
 *   shmem_ctx_putSIZE_signal shmem_putSIZE_signal_nbi
 *   shmem_ctx_putSIZE_signal_nbi shmem_iputSIZE shmem_ctx_iputSIZE
 *   shmem_igetSIZE shmem_ctx_igetSIZE shmem_ibputSIZE shmem_ctx_ibputSIZE
 *   shmem_ibgetSIZE shmem_ctx_ibgetSIZE shmem_putmem shmem_ctx_putmem
 *   shmem_getmem shmem_ctx_getmem shmem_putmem_nbi shmem_ctx_putmem_nbi
 *   shmem_getmem_nbi shmem_ctx_getmem_nbi shmem_putmem_signal
 *   shmem_ctx_putmem_signal shmem_putmem_signal_nbi
 *   shmem_ctx_putmem_signal_nbi shmem_TYPENAME_atomic_fetch
 *   shmem_ctx_TYPENAME_atomic_fetch shmem_TYPENAME_atomic_fetch_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_nbi shmem_TYPENAME_atomic_set
 *   shmem_ctx_TYPENAME_atomic_set shmem_TYPENAME_atomic_swap
 *   shmem_ctx_TYPENAME_atomic_swap shmem_TYPENAME_atomic_swap_nbi
 *   shmem_ctx_TYPENAME_atomic_swap_nbi shmem_TYPENAME_atomic_compare_swap
 *   shmem_ctx_TYPENAME_atomic_compare_swap
 *   shmem_TYPENAME_atomic_compare_swap_nbi
 *   shmem_ctx_TYPENAME_atomic_compare_swap_nbi
 *   shmem_TYPENAME_atomic_fetch_inc shmem_ctx_TYPENAME_atomic_fetch_inc
 *   shmem_TYPENAME_atomic_fetch_inc_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_inc_nbi shmem_TYPENAME_atomic_inc
 *   shmem_ctx_TYPENAME_atomic_inc shmem_TYPENAME_atomic_fetch_add
 *   shmem_ctx_TYPENAME_atomic_fetch_add shmem_TYPENAME_atomic_fetch_add_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_add_nbi shmem_TYPENAME_atomic_add
 *   shmem_ctx_TYPENAME_atomic_add shmem_TYPENAME_atomic_fetch_and
 *   shmem_ctx_TYPENAME_atomic_fetch_and shmem_TYPENAME_atomic_fetch_and_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_and_nbi shmem_TYPENAME_atomic_fetch_or
 *   shmem_ctx_TYPENAME_atomic_fetch_or shmem_TYPENAME_atomic_fetch_or_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_or_nbi shmem_TYPENAME_atomic_fetch_xor
 *   shmem_ctx_TYPENAME_atomic_fetch_xor shmem_TYPENAME_atomic_fetch_xor_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_xor_nbi shmem_TYPENAME_atomic_and
 *   shmem_ctx_TYPENAME_atomic_and shmem_TYPENAME_atomic_or
 *   shmem_ctx_TYPENAME_atomic_or shmem_TYPENAME_atomic_xor
 *   shmem_ctx_TYPENAME_atomic_xor shmem_TYPENAME_fetch shmem_TYPENAME_set
 *   shmem_TYPENAME_swap shmem_TYPENAME_cswap shmem_TYPENAME_finc
 *   shmem_TYPENAME_inc shmem_TYPENAME_fadd shmem_TYPENAME_add
 *   shmem_TYPENAME_test shmem_TYPENAME_wait_until_all
 *   shmem_TYPENAME_wait_until_any shmem_TYPENAME_wait_until_some
 *   shmem_TYPENAME_wait_until_all_vector
 *   shmem_TYPENAME_wait_until_any_vector
 *   shmem_TYPENAME_wait_until_some_vector shmem_TYPENAME_test_all
 *   shmem_TYPENAME_test_any shmem_TYPENAME_test_some
 *   shmem_TYPENAME_test_all_vector shmem_TYPENAME_test_any_vector
 *   shmem_TYPENAME_test_some_vector shmem_TYPENAME_alltoall
 *   shmem_TYPENAME_alltoalls shmem_TYPENAME_broadcast shmem_TYPENAME_collect
 *   shmem_TYPENAME_fcollect shmem_alltoallmem shmem_alltoallsmem
 *   shmem_broadcastmem shmem_collectmem shmem_fcollectmem
 *   shmem_TYPENAME_and_reduce shmem_TYPENAME_or_reduce
 *   shmem_TYPENAME_xor_reduce shmem_TYPENAME_max_reduce
 *   shmem_TYPENAME_min_reduce shmem_TYPENAME_sum_reduce
 *   shmem_TYPENAME_prod_reduce shmem_TYPENAME_sum_inscan
 *   shmem_TYPENAME_sum_exscan shmem_alltoallSIZE shmem_alltoallsSIZE
 *   shmem_broadcastSIZE shmem_collectSIZE shmem_fcollectSIZE
 *   shmem_TYPENAME_and_to_all shmem_TYPENAME_or_to_all
 *   shmem_TYPENAME_xor_to_all shmem_TYPENAME_max_to_all
 *   shmem_TYPENAME_min_to_all shmem_TYPENAME_sum_to_all
 *   shmem_TYPENAME_prod_to_all */

#define SHMEMI_XFER(F, C, T)                                                \
    void SHMEMI_P(F)(T *dest, const T *source, size_t nelems, int pe);      \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     size_t nelems, int pe);
/* dst, sst: distances in elements, at least 1. */
#define SHMEMI_STRIDED(F, C, T)                                             \
    void SHMEMI_P(F)(T *dest, const T *source, ptrdiff_t dst,               \
                     ptrdiff_t sst, size_t nelems, int pe);                 \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
/* nblocks blocks of bsize elements; dst, sst at least bsize. */
#define SHMEMI_BLOCKED(F, C, T)                                             \
    void SHMEMI_P(F)(T *dest, const T *source, ptrdiff_t dst,               \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);  \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     ptrdiff_t dst, ptrdiff_t sst, size_t bsize,            \
                     size_t nblocks, int pe);
/* Put, then sig_op (SHMEM_SIGNAL_SET or _ADD) on *sig_addr of the same PE:
 * a PE that sees the signal sees the data (9.9). */
#define SHMEMI_SIGNALLED(F, C, T)                                           \
    void SHMEMI_P(F)(T *dest, const T *source, size_t nelems,               \
                     uint64_t *sig_addr, uint64_t signal, int sig_op,       \
                     int pe);                                               \
    void SHMEMI_P(C)(shmem_ctx_t ctx, T *dest, const T *source,             \
                     size_t nelems, uint64_t *sig_addr, uint64_t signal,    \
                     int sig_op, int pe);

#define SHMEMI_TYPED(NAME, T)                                               \
    SHMEMI_XFER(shmem_##NAME##_put, shmem_ctx_##NAME##_put, T)              \
    SHMEMI_XFER(shmem_##NAME##_get, shmem_ctx_##NAME##_get, T)              \
    SHMEMI_XFER(shmem_##NAME##_put_nbi, shmem_ctx_##NAME##_put_nbi, T)      \
    SHMEMI_XFER(shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_get_nbi, T)      \
    SHMEMI_STRIDED(shmem_##NAME##_iput, shmem_ctx_##NAME##_iput, T)         \
    SHMEMI_STRIDED(shmem_##NAME##_iget, shmem_ctx_##NAME##_iget, T)         \
    SHMEMI_BLOCKED(shmem_##NAME##_ibput, shmem_ctx_##NAME##_ibput, T)       \
    SHMEMI_BLOCKED(shmem_##NAME##_ibget, shmem_ctx_##NAME##_ibget, T)       \
    SHMEMI_SIGNALLED(shmem_##NAME##_put_signal,                             \
                     shmem_ctx_##NAME##_put_signal, T)                      \
    SHMEMI_SIGNALLED(shmem_##NAME##_put_signal_nbi,                         \
                     shmem_ctx_##NAME##_put_signal_nbi, T)                  \
    void SHMEMI_P(shmem_##NAME##_p)(T *dest, T value, int pe);              \
    void SHMEMI_P(shmem_ctx_##NAME##_p)(shmem_ctx_t ctx, T *dest, T value,  \
                                        int pe);                            \
    T SHMEMI_P(shmem_##NAME##_g)(const T *source, int pe);                  \
    T SHMEMI_P(shmem_ctx_##NAME##_g)(shmem_ctx_t ctx, const T *source,      \
                                     int pe);
SHMEMI_RMA_TYPES(SHMEMI_TYPED)

/* SIZE forms move elements of SIZE bits, mem forms bytes. */
#define SHMEMI_CONTIG(S)                                                    \
    SHMEMI_XFER(shmem_put##S, shmem_ctx_put##S, void)                       \
    SHMEMI_XFER(shmem_get##S, shmem_ctx_get##S, void)                       \
    SHMEMI_XFER(shmem_put##S##_nbi, shmem_ctx_put##S##_nbi, void)           \
    SHMEMI_XFER(shmem_get##S##_nbi, shmem_ctx_get##S##_nbi, void)           \
    SHMEMI_SIGNALLED(shmem_put##S##_signal, shmem_ctx_put##S##_signal, void) \
    SHMEMI_SIGNALLED(shmem_put##S##_signal_nbi,                             \
                     shmem_ctx_put##S##_signal_nbi, void)
#define SHMEMI_SIZED(S, BYTES)                                              \
    SHMEMI_CONTIG(S)                                                        \
    SHMEMI_STRIDED(shmem_iput##S, shmem_ctx_iput##S, void)                  \
    SHMEMI_STRIDED(shmem_iget##S, shmem_ctx_iget##S, void)                  \
    SHMEMI_BLOCKED(shmem_ibput##S, shmem_ctx_ibput##S, void)                \
    SHMEMI_BLOCKED(shmem_ibget##S, shmem_ctx_ibget##S, void)
SHMEMI_SIZES(SHMEMI_SIZED)
SHMEMI_CONTIG(mem)

/* ---- Atomics (9.8): atomic among the atomics on one location with one type.
 * Fetching forms return the previous value; an _nbi form stores it in *fetch
 * at the latest in shmem_quiet. ---- */

#define SHMEMI_AMO_EXT(NAME, T)                                             \
    T SHMEMI_P(shmem_##NAME##_atomic_fetch)(const T *source, int pe);       \
    T SHMEMI_P(shmem_ctx_##NAME##_atomic_fetch)(shmem_ctx_t ctx,            \
                                                const T *source, int pe);   \
    void SHMEMI_P(shmem_##NAME##_atomic_fetch_nbi)(T *fetch,                \
                                                   const T *source,         \
                                                   int pe);                 \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_fetch_nbi)(                     \
        shmem_ctx_t ctx, T *fetch, const T *source, int pe);                \
    void SHMEMI_P(shmem_##NAME##_atomic_set)(T *dest, T value, int pe);     \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_set)(shmem_ctx_t ctx, T *dest,  \
                                                 T value, int pe);          \
    SHMEMI_AMO_FETCHING(swap, NAME, T)
#define SHMEMI_AMO_FETCHING(OP, NAME, T)                                    \
    T SHMEMI_P(shmem_##NAME##_atomic_##OP)(T *dest, T value, int pe);       \
    T SHMEMI_P(shmem_ctx_##NAME##_atomic_##OP)(shmem_ctx_t ctx, T *dest,    \
                                               T value, int pe);            \
    void SHMEMI_P(shmem_##NAME##_atomic_##OP##_nbi)(T *fetch, T *dest,      \
                                                    T value, int pe);       \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_##OP##_nbi)(                    \
        shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe);
#define SHMEMI_AMO_PLAIN(OP, NAME, T)                                       \
    void SHMEMI_P(shmem_##NAME##_atomic_##OP)(T *dest, T value, int pe);    \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_##OP)(shmem_ctx_t ctx, T *dest, \
                                                  T value, int pe);
#define SHMEMI_AMO_STD(NAME, T)                                             \
    T SHMEMI_P(shmem_##NAME##_atomic_compare_swap)(T *dest, T cond,         \
                                                   T value, int pe);        \
    T SHMEMI_P(shmem_ctx_##NAME##_atomic_compare_swap)(                     \
        shmem_ctx_t ctx, T *dest, T cond, T value, int pe);                 \
    void SHMEMI_P(shmem_##NAME##_atomic_compare_swap_nbi)(                  \
        T *fetch, T *dest, T cond, T value, int pe);                        \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_compare_swap_nbi)(              \
        shmem_ctx_t ctx, T *fetch, T *dest, T cond, T value, int pe);       \
    T SHMEMI_P(shmem_##NAME##_atomic_fetch_inc)(T *dest, int pe);           \
    T SHMEMI_P(shmem_ctx_##NAME##_atomic_fetch_inc)(shmem_ctx_t ctx,        \
                                                    T *dest, int pe);       \
    void SHMEMI_P(shmem_##NAME##_atomic_fetch_inc_nbi)(T *fetch, T *dest,   \
                                                       int pe);             \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_fetch_inc_nbi)(                 \
        shmem_ctx_t ctx, T *fetch, T *dest, int pe);                        \
    void SHMEMI_P(shmem_##NAME##_atomic_inc)(T *dest, int pe);              \
    void SHMEMI_P(shmem_ctx_##NAME##_atomic_inc)(shmem_ctx_t ctx, T *dest,  \
                                                 int pe);                   \
    SHMEMI_AMO_FETCHING(fetch_add, NAME, T)                                 \
    SHMEMI_AMO_PLAIN(add, NAME, T)
#define SHMEMI_AMO_BIT(NAME, T)                                             \
    SHMEMI_AMO_FETCHING(fetch_and, NAME, T)                                 \
    SHMEMI_AMO_FETCHING(fetch_or, NAME, T)                                  \
    SHMEMI_AMO_FETCHING(fetch_xor, NAME, T)                                 \
    SHMEMI_AMO_PLAIN(and, NAME, T)                                          \
    SHMEMI_AMO_PLAIN(or, NAME, T)                                           \
    SHMEMI_AMO_PLAIN(xor, NAME, T)
SHMEMI_AMO_EXT_TYPES(SHMEMI_AMO_EXT)
SHMEMI_AMO_TYPES(SHMEMI_AMO_STD)
SHMEMI_AMO_BIT_TYPES(SHMEMI_AMO_BIT)

/* Deprecated names of the same atomics. */
#define SHMEMI_AMO_OLD(NAME, T)                                             \
    T SHMEMI_P(shmem_##NAME##_fetch)(const T *source, int pe);              \
    void SHMEMI_P(shmem_##NAME##_set)(T *dest, T value, int pe);            \
    T SHMEMI_P(shmem_##NAME##_swap)(T *dest, T value, int pe);
#define SHMEMI_AMO_OLD_INT(NAME, T)                                         \
    T SHMEMI_P(shmem_##NAME##_cswap)(T *dest, T cond, T value, int pe);     \
    T SHMEMI_P(shmem_##NAME##_finc)(T *dest, int pe);                       \
    void SHMEMI_P(shmem_##NAME##_inc)(T *dest, int pe);                     \
    T SHMEMI_P(shmem_##NAME##_fadd)(T *dest, T value, int pe);              \
    void SHMEMI_P(shmem_##NAME##_add)(T *dest, T value, int pe);
SHMEMI_AMO_OLD_TYPES(SHMEMI_AMO_OLD)
SHMEMI_AMO_OLD_INTS(SHMEMI_AMO_OLD_INT)

/* ---- Signals (9.9) ---- */

void SHMEMI_P(shmem_signal_add)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHMEMI_P(shmem_ctx_signal_add)(shmem_ctx_t ctx, uint64_t *sig_addr,
                                    uint64_t signal, int pe);
void SHMEMI_P(shmem_signal_set)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHMEMI_P(shmem_ctx_signal_set)(shmem_ctx_t ctx, uint64_t *sig_addr,
                                    uint64_t signal, int pe);
/* The local value. */
uint64_t SHMEMI_P(shmem_signal_fetch)(const uint64_t *sig_addr);
/* Blocks until the comparison holds; returns the value that satisfied it. */
uint64_t SHMEMI_P(shmem_signal_wait_until)(uint64_t *sig_addr, int cmp,
                                           uint64_t cmp_value);

/* ---- Point-to-point synchronization (9.10): cmp is a SHMEM_CMP_ constant.
 * Nonzero entries of status (or NULL) exclude elements.  any returns an index,
 * or SIZE_MAX for an empty set; some fills indices and returns their number.
 * Data that the sender ordered before the update is then visible. ---- */

#define SHMEMI_WAIT_ONE(NAME, T)                                            \
    void SHMEMI_P(shmem_##NAME##_wait_until)(T *ivar, int cmp, T cmp_value); \
    int SHMEMI_P(shmem_##NAME##_test)(T *ivar, int cmp, T cmp_value);
#define SHMEMI_WAIT_SET(NAME, T, R, VERB, SUFFIX, CMP_ARG)                  \
    R SHMEMI_P(shmem_##NAME##_##VERB##_all##SUFFIX)(                        \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_ARG);      \
    size_t SHMEMI_P(shmem_##NAME##_##VERB##_any##SUFFIX)(                   \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_ARG);      \
    size_t SHMEMI_P(shmem_##NAME##_##VERB##_some##SUFFIX)(                  \
        T *ivars, size_t nelems, size_t *indices, const int *status,        \
        int cmp, CMP_ARG);
#define SHMEMI_WAIT(NAME, T)                                                \
    SHMEMI_WAIT_ONE(NAME, T)                                                \
    SHMEMI_WAIT_SET(NAME, T, void, wait_until, , T cmp_value)               \
    SHMEMI_WAIT_SET(NAME, T, void, wait_until, _vector,                     \
                    const T *cmp_values)                                    \
    SHMEMI_WAIT_SET(NAME, T, int, test, , T cmp_value)                      \
    SHMEMI_WAIT_SET(NAME, T, int, test, _vector, const T *cmp_values)
SHMEMI_AMO_TYPES(SHMEMI_WAIT)

/* Deprecated. */
#define SHMEMI_WAIT_NE(NAME, T)                                             \
    void SHMEMI_P(shmem_##NAME##_wait)(T *ivar, T cmp_value);
SHMEMI_WAIT_OLD_TYPES(SHMEMI_WAIT_ONE)
SHMEMI_WAIT_NE_TYPES(SHMEMI_WAIT_NE)
void SHMEMI_P(shmem_wait)(long *ivar, long cmp_value);
void SHMEMI_P(shmem_wait_until)(long *ivar, int cmp, long cmp_value);

/* ---- Memory ordering (9.12) ---- */

/* For each PE, earlier puts, atomics and signals arrive before later ones. */
void SHMEMI_P(shmem_fence)(void);
void SHMEMI_P(shmem_ctx_fence)(shmem_ctx_t ctx);
/* All operations of the context are complete and visible to every PE. */
void SHMEMI_P(shmem_quiet)(void);
void SHMEMI_P(shmem_ctx_quiet)(shmem_ctx_t ctx);
/* shmem_quiet limited to the listed PEs. */
void SHMEMI_P(shmem_pe_quiet)(const int *target_pes, size_t npes);
void SHMEMI_P(shmem_ctx_pe_quiet)(shmem_ctx_t ctx, const int *target_pes,
                                  size_t npes);

/* ---- Teams (9.4): a team is an ordered set of PEs, numbered from 0.  Splits
 * are collective over the parent; members get the team, the other PEs
 * SHMEM_TEAM_INVALID.  All PEs of the parent get 0, or all get nonzero. ---- */

/* -1 for SHMEM_TEAM_INVALID. */
int SHMEMI_P(shmem_team_my_pe)(shmem_team_t team);
int SHMEMI_P(shmem_team_n_pes)(shmem_team_t team);
/* Fills the fields that config_mask names. */
int SHMEMI_P(shmem_team_get_config)(shmem_team_t team, long config_mask,
                                    shmem_team_config_t *config);
/* The number in dest_team of PE src_pe of src_team, or -1. */
int SHMEMI_P(shmem_team_translate_pe)(shmem_team_t src_team, int src_pe,
                                      shmem_team_t dest_team);
/* Members start, start + stride, ... of the parent; stride may be negative,
 * and 0 with size 1. */
int SHMEMI_P(shmem_team_split_strided)(shmem_team_t parent_team, int start,
                                       int stride, int size,
                                       const shmem_team_config_t *config,
                                       long config_mask,
                                       shmem_team_t *new_team);
/* Rows of xrange consecutive PEs, and the columns through them. */
int SHMEMI_P(shmem_team_split_2d)(shmem_team_t parent_team, int xrange,
                                  const shmem_team_config_t *xaxis_config,
                                  long xaxis_mask, shmem_team_t *xaxis_team,
                                  const shmem_team_config_t *yaxis_config,
                                  long yaxis_mask, shmem_team_t *yaxis_team);
/* Collective over the team; destroys its shareable contexts, too. */
void SHMEMI_P(shmem_team_destroy)(shmem_team_t team);
/* As shmem_ptr, for a PE of the team; NULL for SHMEM_TEAM_INVALID. */
void *SHMEMI_P(shmem_team_ptr)(shmem_team_t team, const void *dest, int pe);

/* A context whose PE numbers are the team's. */
int SHMEMI_P(shmem_team_create_ctx)(shmem_team_t team, long options,
                                    shmem_ctx_t *ctx);
int SHMEMI_P(shmem_ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);
/* Hints about the next operations; no rule changes. */
void SHMEMI_P(shmem_ctx_session_start)(
    shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
    long config_mask);
void SHMEMI_P(shmem_ctx_session_stop)(shmem_ctx_t ctx);

/* ---- Collectives (9.11): made by all PEs of the team in the same order, one
 * at a time; buffers are symmetric and the same on all, and do not overlap,
 * except that reductions and scans take dest == source.  dest must be ready
 * on all PEs before any calls.  0, or nonzero. ---- */

/* Quiet of the default context, then every PE arrives before any leaves. */
void SHMEMI_P(shmem_barrier_all)(void);
/* As barrier_all without the quiet: only local stores become visible. */
void SHMEMI_P(shmem_sync_all)(void);
int SHMEMI_P(shmem_team_sync)(shmem_team_t team);

/* alltoall: block i of PE j becomes block j of PE i; in alltoalls, element k
 * of a block is dst (sst) times k elements after its start.  broadcast: dest
 * of every PE, the root included.  collect: sources in the order of PEs; nelems
 * may differ in collect, not in fcollect. */
#define SHMEMI_COLL(PRE, POST, T)                                           \
    int SHMEMI_P(shmem_##PRE##alltoall##POST)(                              \
        shmem_team_t team, T *dest, const T *source, size_t nelems);        \
    int SHMEMI_P(shmem_##PRE##alltoalls##POST)(                             \
        shmem_team_t team, T *dest, const T *source, ptrdiff_t dst,         \
        ptrdiff_t sst, size_t nelems);                                      \
    int SHMEMI_P(shmem_##PRE##broadcast##POST)(                             \
        shmem_team_t team, T *dest, const T *source, size_t nelems,         \
        int PE_root);                                                       \
    int SHMEMI_P(shmem_##PRE##collect##POST)(                               \
        shmem_team_t team, T *dest, const T *source, size_t nelems);        \
    int SHMEMI_P(shmem_##PRE##fcollect##POST)(                              \
        shmem_team_t team, T *dest, const T *source, size_t nelems);
#define SHMEMI_COLL_TYPED(NAME, T) SHMEMI_COLL(NAME##_, , T)
SHMEMI_RMA_TYPES(SHMEMI_COLL_TYPED)
SHMEMI_COLL(, mem, void)

/* dest[i] of every PE: the combination of source[i] of all PEs, bitwise
 * identical on all.  Scans: over the PEs up to the caller, sum_exscan without
 * the caller. */
#define SHMEMI_REDUCE(NAME, T, OP)                                          \
    int SHMEMI_P(shmem_##NAME##_##OP)(shmem_team_t team, T *dest,           \
                                      const T *source, size_t nreduce);
#define SHMEMI_REDUCE_BIT(NAME, T)                                          \
    SHMEMI_REDUCE(NAME, T, and_reduce)                                      \
    SHMEMI_REDUCE(NAME, T, or_reduce)                                       \
    SHMEMI_REDUCE(NAME, T, xor_reduce)
#define SHMEMI_REDUCE_MINMAX(NAME, T)                                       \
    SHMEMI_REDUCE(NAME, T, max_reduce)                                      \
    SHMEMI_REDUCE(NAME, T, min_reduce)
#define SHMEMI_REDUCE_SUM(NAME, T)                                          \
    SHMEMI_REDUCE(NAME, T, sum_reduce)                                      \
    SHMEMI_REDUCE(NAME, T, prod_reduce)                                     \
    SHMEMI_REDUCE(NAME, T, sum_inscan)                                      \
    SHMEMI_REDUCE(NAME, T, sum_exscan)
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_REDUCE_BIT)
SHMEMI_RMA_TYPES(SHMEMI_REDUCE_MINMAX)
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_REDUCE_SUM)

/* Deprecated: over the world PEs PE_start + i * 2^logPE_stride, i < PE_size.
 * pSync: SHMEM_..._SYNC_SIZE symmetric longs, all SHMEM_SYNC_VALUE before and
 * after.  broadcast does not write the root's dest. */
#define SHMEMI_SET int PE_start, int logPE_stride, int PE_size
void SHMEMI_P(shmem_barrier)(SHMEMI_SET, long *pSync);
void SHMEMI_P(shmem_sync)(SHMEMI_SET, long *pSync);
#define SHMEMI_SET_COLL(S)                                                  \
    void SHMEMI_P(shmem_alltoall##S)(void *dest, const void *source,        \
                                     size_t nelems, SHMEMI_SET,             \
                                     long *pSync);                          \
    void SHMEMI_P(shmem_alltoalls##S)(void *dest, const void *source,       \
                                      ptrdiff_t dst, ptrdiff_t sst,         \
                                      size_t nelems, SHMEMI_SET,            \
                                      long *pSync);                         \
    void SHMEMI_P(shmem_broadcast##S)(void *dest, const void *source,       \
                                      size_t nelems, int PE_root,           \
                                      SHMEMI_SET, long *pSync);             \
    void SHMEMI_P(shmem_collect##S)(void *dest, const void *source,         \
                                    size_t nelems, SHMEMI_SET,              \
                                    long *pSync);                           \
    void SHMEMI_P(shmem_fcollect##S)(void *dest, const void *source,        \
                                     size_t nelems, SHMEMI_SET,             \
                                     long *pSync);
SHMEMI_SET_COLL(32)
SHMEMI_SET_COLL(64)
#define SHMEMI_TO_ALL(NAME, T, OP)                                          \
    void SHMEMI_P(shmem_##NAME##_##OP##_to_all)(T *dest, const T *source,   \
                                                int nreduce, SHMEMI_SET,    \
                                                T *pWrk, long *pSync);
#define SHMEMI_TO_ALL_BIT(NAME, T)                                          \
    SHMEMI_TO_ALL(NAME, T, and)                                             \
    SHMEMI_TO_ALL(NAME, T, or)                                              \
    SHMEMI_TO_ALL(NAME, T, xor)
#define SHMEMI_TO_ALL_MINMAX(NAME, T)                                       \
    SHMEMI_TO_ALL(NAME, T, max)                                             \
    SHMEMI_TO_ALL(NAME, T, min)
#define SHMEMI_TO_ALL_SUM(NAME, T)                                          \
    SHMEMI_TO_ALL(NAME, T, sum)                                             \
    SHMEMI_TO_ALL(NAME, T, prod)
SHMEMI_TO_ALL_BIT_TYPES(SHMEMI_TO_ALL_BIT)
SHMEMI_TO_ALL_TYPES(SHMEMI_TO_ALL_MINMAX)
SHMEMI_TO_ALL_SUM_TYPES(SHMEMI_TO_ALL_SUM)

/* ---- Locks (9.13): first come, first served; a lock is a symmetric long,
 * zero at start, and belongs to the PE that set it. ---- */

void SHMEMI_P(shmem_set_lock)(long *lock);
/* Completes the holder's operations on the default context first. */
void SHMEMI_P(shmem_clear_lock)(long *lock);
/* 0: the caller now holds the lock; 1: it was already held. */
int SHMEMI_P(shmem_test_lock)(long *lock);

/* ---- Profiling control and names from before 1.2 ---- */

/* No effect in the library; a profiling tool may define it. */
void SHMEMI_P(shmem_pcontrol)(int level, ...);
int SHMEMI_P(_my_pe)(void);
int SHMEMI_P(_num_pes)(void);
void *SHMEMI_P(shmalloc)(size_t size);
void SHMEMI_P(shfree)(void *ptr);
void *SHMEMI_P(shrealloc)(void *ptr, size_t size);
void *SHMEMI_P(shmemalign)(size_t alignment, size_t size);

#undef SHMEMI_XFER
#undef SHMEMI_STRIDED
#undef SHMEMI_BLOCKED
#undef SHMEMI_SIGNALLED
#undef SHMEMI_TYPED
#undef SHMEMI_CONTIG
#undef SHMEMI_SIZED
#undef SHMEMI_AMO_EXT
#undef SHMEMI_AMO_FETCHING
#undef SHMEMI_AMO_PLAIN
#undef SHMEMI_AMO_STD
#undef SHMEMI_AMO_BIT
#undef SHMEMI_AMO_OLD
#undef SHMEMI_AMO_OLD_INT
#undef SHMEMI_WAIT_ONE
#undef SHMEMI_WAIT_SET
#undef SHMEMI_WAIT
#undef SHMEMI_WAIT_NE
#undef SHMEMI_COLL
#undef SHMEMI_COLL_TYPED
#undef SHMEMI_REDUCE
#undef SHMEMI_REDUCE_BIT
#undef SHMEMI_REDUCE_MINMAX
#undef SHMEMI_REDUCE_SUM
#undef SHMEMI_SET
#undef SHMEMI_SET_COLL
#undef SHMEMI_TO_ALL
#undef SHMEMI_TO_ALL_BIT
#undef SHMEMI_TO_ALL_MINMAX
#undef SHMEMI_TO_ALL_SUM

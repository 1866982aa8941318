/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of shmemx.h that are other spellings of calls, or do nothing.
 * Its further types are expanded beside the standard's. */
#include "api/api.h"

#include <time.h>

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_clear_cache_inv shmem_clear_cache_line_inv shmem_set_cache_inv
 *   shmem_set_cache_line_inv shmem_udcflush shmem_udcflush_line
 *   shmemx_TYPENAME_get_nb shmemx_TYPENAME_ibget shmemx_TYPENAME_ibput
 *   shmemx_TYPENAME_put_nb shmemx_TYPENAME_sum_exscan
 *   shmemx_TYPENAME_sum_inscan shmemx_ctx_TYPENAME_get_nb
 *   shmemx_ctx_TYPENAME_ibget shmemx_ctx_TYPENAME_ibput
 *   shmemx_ctx_TYPENAME_put_nb shmemx_ctx_getSIZE_nb shmemx_ctx_getmem_nb
 *   shmemx_ctx_ibgetSIZE shmemx_ctx_ibputSIZE shmemx_ctx_putSIZE_nb
 *   shmemx_ctx_putmem_nb shmemx_ctx_signal_add shmemx_ctx_signal_set
 *   shmemx_getSIZE_nb shmemx_getmem_nb shmemx_ibgetSIZE shmemx_ibputSIZE
 *   shmemx_putSIZE_nb shmemx_putmem_nb shmemx_signal_add shmemx_signal_set
 * Their generic names of C11 and C++:
 *   shmemx_get_nb shmemx_ibget shmemx_ibput shmemx_put_nb shmemx_sum_exscan
 *   shmemx_sum_inscan */

#undef shmem_swap

#define BLOCKED_PARAMS(T)                                                   \
    T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,   \
    size_t nblocks, int pe
#define BLOCKED_ARGS dest, source, dst, sst, bsize, nblocks, pe

#define API_BLOCKED(F, C, T)                                                \
    void pshmemx_##F(BLOCKED_PARAMS(T))                                     \
    {                                                                       \
        pshmem_##F(BLOCKED_ARGS);                                           \
    }                                                                       \
    void pshmemx_##C(shmem_ctx_t ctx, BLOCKED_PARAMS(T))                    \
    {                                                                       \
        pshmem_##C(ctx, BLOCKED_ARGS);                                      \
    }                                                                       \
    API_ALIAS(shmemx_##F) API_ALIAS(shmemx_##C)
#define API_BLOCKED_TYPED(NAME, T)                                          \
    API_BLOCKED(NAME##_ibput, ctx_##NAME##_ibput, T)                        \
    API_BLOCKED(NAME##_ibget, ctx_##NAME##_ibget, T)
#define API_BLOCKED_SIZED(S, BYTES)                                         \
    API_BLOCKED(ibput##S, ctx_ibput##S, void)                               \
    API_BLOCKED(ibget##S, ctx_ibget##S, void)
SHMEMI_RMA_TYPES(API_BLOCKED_TYPED)
SHMEMI_SIZES(API_BLOCKED_SIZED)

/* Arguments behind pe are not used. */
#define API_NB(F, C, T)                                                     \
    void pshmemx_##F##_nb(T *dest, const T *source, size_t nelems, int pe,  \
                          ...)                                              \
    {                                                                       \
        pshmem_##F##_nbi(dest, source, nelems, pe);                         \
    }                                                                       \
    void pshmemx_##C##_nb(shmem_ctx_t ctx, T *dest, const T *source,        \
                          size_t nelems, int pe, ...)                       \
    {                                                                       \
        pshmem_##C##_nbi(ctx, dest, source, nelems, pe);                    \
    }                                                                       \
    API_ALIAS(shmemx_##F##_nb) API_ALIAS(shmemx_##C##_nb)
#define API_NB_TYPED(NAME, T)                                               \
    API_NB(NAME##_put, ctx_##NAME##_put, T)                                 \
    API_NB(NAME##_get, ctx_##NAME##_get, T)
#define API_NB_SIZED(S, BYTES)                                              \
    API_NB(put##S, ctx_put##S, void)                                        \
    API_NB(get##S, ctx_get##S, void)
SHMEMI_RMA_TYPES(API_NB_TYPED)
SHMEMI_SIZES(API_NB_SIZED)
API_NB_SIZED(mem, 1)

#define API_SCAN(F, T)                                                      \
    int pshmemx_##F(shmem_team_t team, T *dest, const T *source,            \
                    size_t nelems)                                          \
    {                                                                       \
        return pshmem_##F(team, dest, source, nelems);                      \
    }                                                                       \
    API_ALIAS(shmemx_##F)
#define API_SCANS(NAME, T)                                                  \
    API_SCAN(NAME##_sum_inscan, T) API_SCAN(NAME##_sum_exscan, T)
SHMEMI_REDUCE_SUM_TYPES(API_SCANS)

#define API_SIGNAL(F)                                                       \
    void pshmemx_##F(uint64_t *sig_addr, uint64_t signal, int pe)           \
    {                                                                       \
        pshmem_##F(sig_addr, signal, pe);                                   \
    }                                                                       \
    void pshmemx_ctx_##F(shmem_ctx_t ctx, uint64_t *sig_addr,               \
                         uint64_t signal, int pe)                           \
    {                                                                       \
        pshmem_ctx_##F(ctx, sig_addr, signal, pe);                          \
    }                                                                       \
    API_ALIAS(shmemx_##F) API_ALIAS(shmemx_ctx_##F)
API_SIGNAL(signal_add)
API_SIGNAL(signal_set)

double pshmemx_wtime(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
API_ALIAS(shmemx_wtime)

void pshmemx_register_gettid(uint64_t (*gettid_fn)(void))
{
    core_ctx_identify(gettid_fn);
}
API_ALIAS(shmemx_register_gettid)

long pshmem_swap(long *dest, long value, int pe)
{
    return pshmem_long_swap(dest, value, pe);
}
API_ALIAS(shmem_swap)

#define API_CACHE(F)                                                        \
    void pshmem_##F(void)                                                   \
    {                                                                       \
    }                                                                       \
    API_ALIAS(shmem_##F)
API_CACHE(set_cache_inv)
API_CACHE(clear_cache_inv)
API_CACHE(udcflush)

#define API_CACHE_LINE(F)                                                   \
    void pshmem_##F(void *dest)                                             \
    {                                                                       \
        (void)dest;                                                         \
    }                                                                       \
    API_ALIAS(shmem_##F)
API_CACHE_LINE(set_cache_line_inv)
API_CACHE_LINE(clear_cache_line_inv)
API_CACHE_LINE(udcflush_line)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals and puts with signals: the public functions, typed and sized by
 * macros.  The checks and the order of data and signal are core's. */
#include "api/api.h"
#include "core/core_cmp.h"
#include "core/core_rma.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_TYPENAME_put_signal shmem_TYPENAME_put_signal_nbi
 *   shmem_ctx_TYPENAME_put_signal shmem_ctx_TYPENAME_put_signal_nbi
 *   shmem_ctx_putSIZE_signal shmem_ctx_putSIZE_signal_nbi
 *   shmem_ctx_putmem_signal shmem_ctx_putmem_signal_nbi shmem_ctx_signal_add
 *   shmem_ctx_signal_set shmem_putSIZE_signal shmem_putSIZE_signal_nbi
 *   shmem_putmem_signal shmem_putmem_signal_nbi shmem_signal_add
 *   shmem_signal_set
 * Their generic names of C11 and C++:
 *   shmem_put_signal shmem_put_signal_nbi */

#define API_SIGNALLED(F, C, T, size, nbi)                                   \
    void p##F(T *dest, const T *source, size_t nelems, uint64_t *sig_addr,  \
              uint64_t signal, int sig_op, int pe)                          \
    {                                                                       \
        core_put_signal(__func__, API_DEFAULT, dest, source,                \
                        core_bytes(__func__, nelems, size), sig_addr,       \
                        signal, sig_op, pe, nbi);                           \
    }                                                                       \
    void p##C(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,     \
              uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)      \
    {                                                                       \
        core_put_signal(__func__, API_CTX(ctx), dest, source,               \
                        core_bytes(__func__, nelems, size), sig_addr,       \
                        signal, sig_op, pe, nbi);                           \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

#define API_TYPED(NAME, T)                                                  \
    API_SIGNALLED(shmem_##NAME##_put_signal,                                \
                  shmem_ctx_##NAME##_put_signal, T, sizeof(T), false)       \
    API_SIGNALLED(shmem_##NAME##_put_signal_nbi,                            \
                  shmem_ctx_##NAME##_put_signal_nbi, T, sizeof(T), true)
SHMEMI_RMA_TYPES(API_TYPED)

#define API_SIZED(S, BYTES)                                                 \
    API_SIGNALLED(shmem_put##S##_signal, shmem_ctx_put##S##_signal, void,   \
                  BYTES, false)                                             \
    API_SIGNALLED(shmem_put##S##_signal_nbi,                                \
                  shmem_ctx_put##S##_signal_nbi, void, BYTES, true)
SHMEMI_SIZES(API_SIZED)
API_SIZED(mem, 1)

#define API_SIGNAL(NAME, OP)                                                \
    void pshmem_##NAME(uint64_t *sig_addr, uint64_t signal, int pe)         \
    {                                                                       \
        core_signal(__func__, API_DEFAULT, sig_addr, signal, OP, pe);       \
    }                                                                       \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, uint64_t *sig_addr,             \
                           uint64_t signal, int pe)                         \
    {                                                                       \
        core_signal(__func__, API_CTX(ctx), sig_addr, signal, OP, pe);      \
    }                                                                       \
    API_ALIAS(shmem_##NAME) API_ALIAS(shmem_ctx_##NAME)
API_SIGNAL(signal_add, SHMEM_SIGNAL_ADD)
API_SIGNAL(signal_set, SHMEM_SIGNAL_SET)

uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
    uint64_t now;

    core_need_symmetric(__func__, "sig_addr", sig_addr, sizeof *sig_addr);
    core_need_aligned(__func__, sig_addr, sizeof *sig_addr);
    core_progress(__func__);
    now = CORE_LOAD(uint64_t, sig_addr, core_device_only(sig_addr));
    atomics_tsan_acquire();
    xport_flush();
    return now;
}
API_ALIAS(shmem_signal_fetch)

uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t value)
{
    CORE_TRACE_WAIT(__func__, sig_addr, sizeof *sig_addr);
    uint64_t now;

    core_need_symmetric(__func__, "sig_addr", sig_addr, sizeof *sig_addr);
    core_need_aligned(__func__, sig_addr, sizeof *sig_addr);
    core_need_cmp(__func__, cmp);
    /* acquire: seeing the signal means seeing the data it announces. */
    now = CORE_LOAD(uint64_t, sig_addr, core_device_only(sig_addr));
    if (!core_cmp_holds(now, cmp, value))
        return CORE_WAIT_KEY(__func__, sig_addr, uint64_t, cmp, value);
    xport_flush();
    return now;
}
API_ALIAS(shmem_signal_wait_until)

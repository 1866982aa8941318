/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemg_dev.h - the calls that kernels make, of the draft for GPUs.  A part of
 * shmemg.h.
 *
 * The calls of both generations of the draft, each over the one of shmemx_dev.h
 * that has its semantics.  A call is of one thread; _htg: of a warp; _tg: of a
 * block.  shmemg_ctx_... takes SHMEM_DEVICE_CTX_DEFAULT or a context made with
 * SHMEM_DEVICE_CTX; any other handle ends the job, or the kernel.  Arguments are
 * those of the draft, with uint64_t written as unsigned long. */

#include "shmemg_state.h"

/* ---- who ---- */

SHMEMI_DEV int shmemg_my_pe(void)
{
    const shmemx_dev_t *d = shmemi_g_state();

    SHMEMI_G_NEEDS(d, "shmemg_my_pe");
    return d->my_pe;
}

SHMEMI_DEV int shmemg_n_pes(void)
{
    const shmemx_dev_t *d = shmemi_g_state();

    SHMEMI_G_NEEDS(d, "shmemg_n_pes");
    return d->n_pes;
}

/* NULL: the device does not reach it. */
SHMEMI_DEV void *shmemg_ptr(const void *dest, int pe)
{
    const shmemx_dev_t *d = shmemi_g_state();

    SHMEMI_G_NEEDS(d, "shmemg_ptr");
    return shmemx_dev_ptr(d, dest, pe);
}

/* ---- puts, gets, puts with a signal ---- */

#define SHMEMI_G_MOVE(CTX, CALL, T, S)                                      \
    SHMEMI_DEV void shmemg_##CTX##CALL##T(                                  \
        SHMEMI_G_ARG_##CTX void *dest, const void *source, size_t nelems,   \
        int pe)                                                             \
    {                                                                       \
        shmemx_dev_##CALL##S(SHMEMI_G_DEV_##CTX(#CALL #T), dest, source,    \
                             nelems, pe);                                   \
    }
#define SHMEMI_G_SIGNAL(CTX, CALL, T, S)                                    \
    SHMEMI_DEV void shmemg_##CTX##CALL##T(                                  \
        SHMEMI_G_ARG_##CTX void *dest, const void *source, size_t nelems,   \
        unsigned long *sig_addr, unsigned long signal, int sig_op, int pe)  \
    {                                                                       \
        shmemx_dev_##CALL##S(SHMEMI_G_DEV_##CTX(#CALL #T), dest, source,    \
                             nelems, sig_addr, signal, sig_op, pe);         \
    }
#define SHMEMI_G_MOVES(CTX, T, S)                                           \
    SHMEMI_G_MOVE(CTX, putmem, T, S)                                        \
    SHMEMI_G_MOVE(CTX, getmem, T, S)                                        \
    SHMEMI_G_MOVE(CTX, putmem_nbi, T, S)                                    \
    SHMEMI_G_MOVE(CTX, getmem_nbi, T, S)                                    \
    SHMEMI_G_SIGNAL(CTX, putmem_signal, T, S)                               \
    SHMEMI_G_SIGNAL(CTX, putmem_signal_nbi, T, S)
#define SHMEMI_G_BOTH(T, S) SHMEMI_G_MOVES(, T, S) SHMEMI_G_MOVES(ctx_, T, S)
SHMEMI_G_SCOPES(SHMEMI_G_BOTH)
#undef SHMEMI_G_BOTH
#undef SHMEMI_G_MOVES
#undef SHMEMI_G_SIGNAL
#undef SHMEMI_G_MOVE

#define SHMEMI_G_ONE(CTX, NAME, T)                                          \
    SHMEMI_DEV void shmemg_##CTX##NAME##_p(SHMEMI_G_ARG_##CTX T *dest,      \
                                           T value, int pe)                 \
    {                                                                       \
        shmemx_dev_##NAME##_p(SHMEMI_G_DEV_##CTX(#NAME "_p"), dest, value,  \
                              pe);                                          \
    }                                                                       \
    SHMEMI_DEV T shmemg_##CTX##NAME##_g(SHMEMI_G_ARG_##CTX const T *source, \
                                        int pe)                             \
    {                                                                       \
        return shmemx_dev_##NAME##_g(SHMEMI_G_DEV_##CTX(#NAME "_g"),        \
                                     source, pe);                           \
    }
#define SHMEMI_G_BOTH(NAME, T)                                              \
    SHMEMI_G_ONE(, NAME, T) SHMEMI_G_ONE(ctx_, NAME, T)
/* On the device a long double is a double, which CUDA's compiler says. */
#ifdef SHMEMI_DEV_CUDA
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20208
#endif
SHMEMI_DEV_RMA_TYPES(SHMEMI_G_BOTH)
#ifdef SHMEMI_DEV_CUDA
#pragma nv_diagnostic pop
#endif
#undef SHMEMI_G_BOTH
#undef SHMEMI_G_ONE

#include "shmemg_amo.h"

/* ---- waits and tests ---- */

SHMEMI_DEV unsigned long shmemg_signal_fetch(const unsigned long *sig_addr)
{
    return (unsigned long)shmemx_dev_signal_fetch(shmemi_g_state(), sig_addr);
}

#define SHMEMI_G_WAIT_IN(NAME, T_, T, S)                                    \
    SHMEMI_DEV void shmemg_##NAME##_wait_until##T(T_ *ivar, int cmp,        \
                                                  T_ cmp_value)             \
    {                                                                       \
        shmemx_dev_##NAME##_wait_until##S(shmemi_g_state(), ivar, cmp,      \
                                          cmp_value);                       \
    }                                                                       \
    SHMEMI_DEV int shmemg_##NAME##_test##T(T_ *ivar, int cmp, T_ cmp_value) \
    {                                                                       \
        return shmemx_dev_##NAME##_test##S(shmemi_g_state(), ivar, cmp,     \
                                           cmp_value);                      \
    }
#define SHMEMI_G_WAIT(NAME, T_)                                             \
    SHMEMI_G_WAIT_IN(NAME, T_, , )                                          \
    SHMEMI_G_WAIT_IN(NAME, T_, _tg, _block)                                 \
    SHMEMI_G_WAIT_IN(NAME, T_, _htg, _warp)
SHMEMI_DEV_AMO_TYPES(SHMEMI_G_WAIT)
SHMEMI_G_WAIT(short, short)
SHMEMI_G_WAIT(ushort, unsigned short)
#undef SHMEMI_G_WAIT
#undef SHMEMI_G_WAIT_IN

#define SHMEMI_G_SIGNAL_WAIT(T, S)                                          \
    SHMEMI_DEV unsigned long shmemg_signal_wait_until##T(                   \
        unsigned long *sig_addr, int cmp, unsigned long cmp_value)          \
    {                                                                       \
        return (unsigned long)shmemx_dev_signal_wait_until##S(              \
            shmemi_g_state(), sig_addr, cmp, cmp_value);                    \
    }
SHMEMI_G_SCOPES(SHMEMI_G_SIGNAL_WAIT)
#undef SHMEMI_G_SIGNAL_WAIT

/* ---- order, completion, synchronization ---- */

/* With SHMEM_CTX_INVALID: nothing. */
#define SHMEMI_G_ORDER_OF(CALL, T, S)                                       \
    SHMEMI_DEV void shmemg_##CALL##T(void)                                  \
    {                                                                       \
        const shmemx_dev_t *d = shmemi_g_state();                           \
                                                                            \
        SHMEMI_G_NEEDS(d, "shmemg_" #CALL #T);                              \
        shmemx_dev_##CALL##S(d);                                            \
    }                                                                       \
    SHMEMI_DEV void shmemg_ctx_##CALL##T(shmem_ctx_t ctx)                   \
    {                                                                       \
        const shmemx_dev_t *d;                                              \
                                                                            \
        if (ctx == SHMEM_CTX_INVALID)                                       \
            return;                                                         \
        d = SHMEMI_G_DEV_ctx_(#CALL #T);                                    \
        SHMEMI_G_NEEDS(d, "shmemg_ctx_" #CALL #T);                          \
        shmemx_dev_##CALL##S(d);                                            \
    }
#define SHMEMI_G_ORDER(T, S)                                                \
    SHMEMI_G_ORDER_OF(fence, T, S)                                          \
    SHMEMI_G_ORDER_OF(quiet, T, S)                                          \
    /* 0, or -1: no device team. */                                         \
    SHMEMI_DEV int shmemg_sync_all##T(void)                                 \
    {                                                                       \
        return shmemx_dev_sync_all##S(shmemi_g_state());                    \
    }                                                                       \
    SHMEMI_DEV int shmemg_team_sync##T(shmem_team_t team)                   \
    {                                                                       \
        return shmemx_dev_team_sync##S(shmemi_g_state(), team);             \
    }
SHMEMI_G_SCOPES(SHMEMI_G_ORDER)
#undef SHMEMI_G_ORDER
#undef SHMEMI_G_ORDER_OF

#undef SHMEMI_G_SCOPES
#undef SHMEMI_G_DEV_ctx_
#undef SHMEMI_G_NAME
#undef SHMEMI_G_DEV_
#undef SHMEMI_G_ARG_ctx_
#undef SHMEMI_G_ARG_
#undef SHMEMI_G_NEEDS
#ifndef SHMEMI_DEV_C
#undef shmemi_g_refuse
#endif

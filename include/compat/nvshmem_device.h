/* SPDX-License-Identifier: BSD-3-Clause */
/* nvshmem_device.h - NVSHMEM's names of the calls that kernels make, for porting:
 * each is the call of shmemx_dev.h, or of the host, that does the same.
 * docs/guide/device_names.md has the table, and what is not here.
 *
 * A program compiles with -I PREFIX/include/compat, where nvshmem.h and
 * nvshmemx.h are this header and nvshmem_host.h.  No name of it is in the
 * library, and no relocatable device code is needed.
 *
 * The state of kernels is that of SHMEM_DEVICE_CTX_DEFAULT: of C the library's,
 * of code for a GPU that of the module, as in shmemg.h.  A program with a state
 * of its own, in a variable that it declares before it includes this, may
 * define SHMEMX_NVSHMEM_DEV to the variable's address. */
#ifndef COMPAT_NVSHMEM_DEVICE_H
#define COMPAT_NVSHMEM_DEVICE_H

#include "../shmemx_dev.h"
#include "../shmemg.h"
#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include "../shmem_space.h"
#endif

#ifndef SHMEMX_NVSHMEM_DEV
#ifdef SHMEMI_DEV_C
#define SHMEMX_NVSHMEM_DEV shmemx_dev_default()
#else
#define SHMEMX_NVSHMEM_DEV shmemi_g_state()
#endif
#endif

/* What the host calls, too. */
#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__) || defined(SHMEMI_DEV_C)
#define SHMEMI_NV SHMEMI_DEV
#define SHMEMI_NV_DEVICE 1
#elif defined(SHMEMI_DEV_CUDA)
#define SHMEMI_NV static __host__ __device__ inline
#ifdef __CUDA_ARCH__
#define SHMEMI_NV_DEVICE 1
#endif
#else
#define SHMEMI_NV static __attribute__((host, device, unused)) inline
#ifdef __HIP_DEVICE_COMPILE__
#define SHMEMI_NV_DEVICE 1
#endif
#endif
#ifdef SHMEMI_NV_DEVICE
#define SHMEMI_NV_EITHER(device, host) device
#else
#define SHMEMI_NV_EITHER(device, host) host
#endif

/* A GPU's long double is a double, which CUDA's compiler says. */
#ifdef SHMEMI_DEV_CUDA
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20208
#endif

typedef shmem_team_t nvshmem_team_t;
#define NVSHMEM_TEAM_INVALID SHMEM_TEAM_INVALID
#define NVSHMEM_TEAM_WORLD SHMEM_DEVICE_TEAM_WORLD
#define NVSHMEM_TEAM_SHARED SHMEM_DEVICE_TEAM_SHARED
#define NVSHMEMX_TEAM_NODE SHMEM_DEVICE_TEAM_SHARED
#define NVSHMEM_SIGNAL_SET SHMEM_SIGNAL_SET
#define NVSHMEM_SIGNAL_ADD SHMEM_SIGNAL_ADD
#define NVSHMEM_CMP_EQ SHMEM_CMP_EQ
#define NVSHMEM_CMP_NE SHMEM_CMP_NE
#define NVSHMEM_CMP_GT SHMEM_CMP_GT
#define NVSHMEM_CMP_GE SHMEM_CMP_GE
#define NVSHMEM_CMP_LT SHMEM_CMP_LT
#define NVSHMEM_CMP_LE SHMEM_CMP_LE

/* For the families: X(PREFIX, SUFFIX), where the calls of a warp and a block
 * have another prefix. */
#define SHMEMI_NV_SCOPES(X)                                                 \
    X(nvshmem_, )                                                           \
    X(nvshmemx_, _warp)                                                     \
    X(nvshmemx_, _block)

/* ---- PEs, teams, addresses ---- */

SHMEMI_NV int nvshmem_my_pe(void)
{
    return SHMEMI_NV_EITHER(shmemx_dev_my_pe(SHMEMX_NVSHMEM_DEV),
                            shmem_my_pe());
}

SHMEMI_NV int nvshmem_n_pes(void)
{
    return SHMEMI_NV_EITHER(shmemx_dev_n_pes(SHMEMX_NVSHMEM_DEV),
                            shmem_n_pes());
}

SHMEMI_NV int nvshmem_team_my_pe(nvshmem_team_t team)
{
    return SHMEMI_NV_EITHER(shmemx_dev_team_my_pe(SHMEMX_NVSHMEM_DEV, team),
                            shmem_team_my_pe(team));
}

SHMEMI_NV int nvshmem_team_n_pes(nvshmem_team_t team)
{
    return SHMEMI_NV_EITHER(shmemx_dev_team_n_pes(SHMEMX_NVSHMEM_DEV, team),
                            shmem_team_n_pes(team));
}

SHMEMI_NV int nvshmem_team_translate_pe(nvshmem_team_t from, int pe,
                                        nvshmem_team_t to)
{
    return SHMEMI_NV_EITHER(
        shmemx_dev_team_translate_pe(SHMEMX_NVSHMEM_DEV, from, pe, to),
        shmem_team_translate_pe(from, pe, to));
}

/* Where kernels of this PE load and store it; NULL: they do not. */
SHMEMI_NV void *nvshmem_ptr(const void *dest, int pe)
{
    return SHMEMI_NV_EITHER(shmemx_dev_ptr(SHMEMX_NVSHMEM_DEV, dest, pe),
                            shmemx_device_ptr(dest, pe));
}

/* ---- puts and gets ---- */

/* By bytes; without a scope also of the host. */
#define SHMEMI_NV_MEM(CALL)                                                 \
    SHMEMI_NV void nvshmem_##CALL(void *dest, const void *source,           \
                                  size_t bytes, int pe)                     \
    {                                                                       \
        SHMEMI_NV_EITHER(shmemx_dev_##CALL(SHMEMX_NVSHMEM_DEV, dest,        \
                                           source, bytes, pe),              \
                         shmem_##CALL(dest, source, bytes, pe));            \
    }                                                                       \
    SHMEMI_NV_MEM_OF(CALL, _warp)                                           \
    SHMEMI_NV_MEM_OF(CALL, _block)
#define SHMEMI_NV_MEM_OF(CALL, S)                                           \
    SHMEMI_DEV void nvshmemx_##CALL##S(void *dest, const void *source,      \
                                       size_t bytes, int pe)                \
    {                                                                       \
        shmemx_dev_##CALL##S(SHMEMX_NVSHMEM_DEV, dest, source, bytes, pe);  \
    }
SHMEMI_NV_MEM(putmem)
SHMEMI_NV_MEM(getmem)
SHMEMI_NV_MEM(putmem_nbi)
SHMEMI_NV_MEM(getmem_nbi)
#undef SHMEMI_NV_MEM_OF
#undef SHMEMI_NV_MEM

/* Elements of BYTES each: NAME is TYPENAME_put, putSIZE or putmem_signal. */
#define SHMEMI_NV_MOVE(X, NAME, CALL, T, BYTES, S)                          \
    SHMEMI_DEV void X##NAME##S(T *dest, const T *source, size_t nelems,     \
                               int pe)                                      \
    {                                                                       \
        shmemx_dev_##CALL##S(SHMEMX_NVSHMEM_DEV, dest, source,              \
                             nelems * (BYTES), pe);                         \
    }
#define SHMEMI_NV_SIGNAL(X, NAME, CALL, T, BYTES, S)                        \
    SHMEMI_DEV void X##NAME##S(T *dest, const T *source, size_t nelems,     \
                               unsigned long *sig_addr,                     \
                               unsigned long signal, int sig_op, int pe)    \
    {                                                                       \
        shmemx_dev_##CALL##S(SHMEMX_NVSHMEM_DEV, dest, source,              \
                             nelems * (BYTES), sig_addr, signal, sig_op,    \
                             pe);                                           \
    }
#define SHMEMI_NV_MOVES(X, PRE, POST, T, BYTES, S)                          \
    SHMEMI_NV_MOVE(X, PRE##put##POST, putmem, T, BYTES, S)                  \
    SHMEMI_NV_MOVE(X, PRE##get##POST, getmem, T, BYTES, S)                  \
    SHMEMI_NV_MOVE(X, PRE##put##POST##_nbi, putmem_nbi, T, BYTES, S)        \
    SHMEMI_NV_MOVE(X, PRE##get##POST##_nbi, getmem_nbi, T, BYTES, S)        \
    SHMEMI_NV_SIGNAL(X, PRE##put##POST##_signal, putmem_signal, T, BYTES, S) \
    SHMEMI_NV_SIGNAL(X, PRE##put##POST##_signal_nbi, putmem_signal_nbi, T,  \
                     BYTES, S)
#define SHMEMI_NV_TYPED(NAME, T)                                            \
    SHMEMI_NV_MOVES(nvshmem_, NAME##_, , T, sizeof(T), )                    \
    SHMEMI_NV_MOVES(nvshmemx_, NAME##_, , T, sizeof(T), _warp)              \
    SHMEMI_NV_MOVES(nvshmemx_, NAME##_, , T, sizeof(T), _block)
#define SHMEMI_NV_SIZED(BITS, BYTES)                                        \
    SHMEMI_NV_MOVES(nvshmem_, , BITS, void, BYTES, )                        \
    SHMEMI_NV_MOVES(nvshmemx_, , BITS, void, BYTES, _warp)                  \
    SHMEMI_NV_MOVES(nvshmemx_, , BITS, void, BYTES, _block)
#define SHMEMI_NV_MEM_SIGNALS(X, S)                                         \
    SHMEMI_NV_SIGNAL(X, putmem_signal, putmem_signal, void, 1u, S)          \
    SHMEMI_NV_SIGNAL(X, putmem_signal_nbi, putmem_signal_nbi, void, 1u, S)
SHMEMI_DEV_RMA_TYPES(SHMEMI_NV_TYPED)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_NV_TYPED)
SHMEMI_DEV_SIZES(SHMEMI_NV_SIZED)
SHMEMI_NV_SCOPES(SHMEMI_NV_MEM_SIGNALS)
#undef SHMEMI_NV_MEM_SIGNALS
#undef SHMEMI_NV_SIZED
#undef SHMEMI_NV_TYPED
#undef SHMEMI_NV_MOVES
#undef SHMEMI_NV_SIGNAL
#undef SHMEMI_NV_MOVE

#define SHMEMI_NV_STRIDED(X, PRE, POST, CALL, T, S)                         \
    SHMEMI_DEV void X##PRE##CALL##POST##S(T *dest, const T *source,         \
                                          ptrdiff_t dst, ptrdiff_t sst,     \
                                          size_t nelems, int pe)            \
    {                                                                       \
        shmemx_dev_##PRE##CALL##POST##S(SHMEMX_NVSHMEM_DEV, dest, source,   \
                                        dst, sst, nelems, pe);              \
    }
#define SHMEMI_NV_STRIDES(PRE, POST, T)                                     \
    SHMEMI_NV_STRIDED(nvshmem_, PRE, POST, iput, T, )                       \
    SHMEMI_NV_STRIDED(nvshmem_, PRE, POST, iget, T, )                       \
    SHMEMI_NV_STRIDED(nvshmemx_, PRE, POST, iput, T, _warp)                 \
    SHMEMI_NV_STRIDED(nvshmemx_, PRE, POST, iget, T, _warp)                 \
    SHMEMI_NV_STRIDED(nvshmemx_, PRE, POST, iput, T, _block)                \
    SHMEMI_NV_STRIDED(nvshmemx_, PRE, POST, iget, T, _block)
#define SHMEMI_NV_TYPED(NAME, T)                                            \
    SHMEMI_NV_STRIDES(NAME##_, , T)                                         \
    SHMEMI_DEV void nvshmem_##NAME##_p(T *dest, T value, int pe)            \
    {                                                                       \
        shmemx_dev_##NAME##_p(SHMEMX_NVSHMEM_DEV, dest, value, pe);         \
    }                                                                       \
    SHMEMI_DEV T nvshmem_##NAME##_g(const T *source, int pe)                \
    {                                                                       \
        return shmemx_dev_##NAME##_g(SHMEMX_NVSHMEM_DEV, source, pe);       \
    }
#define SHMEMI_NV_SIZED(BITS, BYTES) SHMEMI_NV_STRIDES(, BITS, void)
SHMEMI_DEV_RMA_TYPES(SHMEMI_NV_TYPED)
SHMEMI_DEV_SIZES(SHMEMI_NV_SIZED)
#undef SHMEMI_NV_SIZED
#undef SHMEMI_NV_TYPED
#undef SHMEMI_NV_STRIDES
#undef SHMEMI_NV_STRIDED

/* Of 16-bit floating-point types: as bits. */
#define SHMEMI_NV_SHORT_FLOAT(NAME, T)                                      \
    SHMEMI_DEV void nvshmem_##NAME##_p(T *dest, T value, int pe)            \
    {                                                                       \
        unsigned short bits;                                                \
                                                                            \
        __builtin_memcpy(&bits, &value, sizeof bits);                       \
        shmemx_dev_ushort_p(SHMEMX_NVSHMEM_DEV, (unsigned short *)dest,     \
                            bits, pe);                                      \
    }                                                                       \
    SHMEMI_DEV T nvshmem_##NAME##_g(const T *source, int pe)                \
    {                                                                       \
        unsigned short bits = shmemx_dev_ushort_g(                          \
            SHMEMX_NVSHMEM_DEV, (const unsigned short *)source, pe);        \
        T value;                                                            \
                                                                            \
        __builtin_memcpy(&value, &bits, sizeof bits);                       \
        return value;                                                       \
    }
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_NV_SHORT_FLOAT)
#undef SHMEMI_NV_SHORT_FLOAT

/* ---- signals ---- */

SHMEMI_DEV void nvshmemx_signal_op(unsigned long *sig_addr,
                                   unsigned long signal, int sig_op, int pe)
{
    shmemx_dev_signal_op(SHMEMX_NVSHMEM_DEV, sig_addr, signal, sig_op, pe);
}

SHMEMI_DEV unsigned long nvshmem_signal_fetch(const unsigned long *sig_addr)
{
    return (unsigned long)shmemx_dev_signal_fetch(SHMEMX_NVSHMEM_DEV,
                                                  sig_addr);
}

SHMEMI_DEV unsigned long nvshmem_signal_wait_until(unsigned long *sig_addr,
                                                   int cmp,
                                                   unsigned long cmp_value)
{
    return (unsigned long)shmemx_dev_signal_wait_until(
        SHMEMX_NVSHMEM_DEV, sig_addr, cmp, cmp_value);
}

#include "nvshmem_sync.h"
#include "nvshmem_coll.h"

#undef SHMEMI_NV_SCOPES
#ifdef SHMEMI_DEV_CUDA
#pragma nv_diagnostic pop
#endif
#endif

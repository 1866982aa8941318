/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev_arch.h - what shmemx_dev.h needs of a device, for CUDA (nvcc,
 * NVRTC), HIP (hipcc, hiprtc) and C (kernels of the software device).
 *
 * Each device has: loads and stores of 1 to 8 bytes with system scope, atomics
 * with system scope, a fence, the thread's place in its group, and barriers of
 * a group.  Nothing here knows of PEs.  Programs include shmemx_dev.h. */
#ifndef SHMEMX_DEV_ARCH_H
#define SHMEMX_DEV_ARCH_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SHMEMI_DEV_CUDA 1
#elif defined(__HIPCC__) || defined(__HIPCC_RTC__) || defined(__HIP__)
#define SHMEMI_DEV_HIP 1
#else
#define SHMEMI_DEV_C 1
#endif

#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
typedef unsigned long long shmemi_dev_size;
#else
#include <stddef.h>
#include <stdint.h>
#endif

typedef unsigned long long shmemi_u64;
typedef unsigned int shmemi_u32;
#ifdef __cplusplus
static_assert(sizeof(shmemi_u64) == 8 && sizeof(void *) == 8,
              "devices have 64-bit addresses");
#endif

/* SHMEMI_DEV: a function that is always inlined; SHMEMI_DEV_SLOW: one that is
 * not, of the paths that a call seldom takes. */
#ifdef SHMEMI_DEV_CUDA
#define SHMEMI_DEV static __device__ __forceinline__
#define SHMEMI_DEV_SLOW static __device__ __noinline__
#elif defined(SHMEMI_DEV_HIP)
#define SHMEMI_DEV static __attribute__((device, always_inline, unused)) inline
#define SHMEMI_DEV_SLOW static __attribute__((device, noinline, unused))
#elif defined(__OPTIMIZE__)
#define SHMEMI_DEV static inline __attribute__((always_inline, unused))
#define SHMEMI_DEV_SLOW static __attribute__((noinline, cold, unused))
#else               /* gcc -O0 compiles what is not inline, called or not */
#define SHMEMI_DEV static inline __attribute__((unused))
#define SHMEMI_DEV_SLOW static inline __attribute__((cold, unused))
#endif
#if defined(SHMEMI_DEV_CUDA)
#define SHMEMI_DEV_LIKELY(c) (c)
#else
#define SHMEMI_DEV_LIKELY(c) __builtin_expect(!!(c), 1)
#endif

/* ---- loads, stores and atomics, visible to all processors and devices ---- */

#ifdef SHMEMI_DEV_CUDA

#define SHMEMI_DEV_LOAD(NAME, T, TYPE, REG)                                 \
    SHMEMI_DEV T shmemi_dev_load_##NAME(const volatile void *p)             \
    {                                                                       \
        T v;                                                                \
        asm volatile("ld.relaxed.sys." TYPE " %0, [%1];"                    \
                     : REG(v) : "l"(p) : "memory");                         \
        return v;                                                           \
    }
#define SHMEMI_DEV_STORE(NAME, T, TYPE, REG)                                \
    SHMEMI_DEV void shmemi_dev_store_##NAME(volatile void *p, T v)          \
    {                                                                       \
        asm volatile("st.relaxed.sys." TYPE " [%0], %1;"                    \
                     : : "l"(p), REG(v) : "memory");                        \
    }
SHMEMI_DEV_LOAD(64, shmemi_u64, "u64", "=l")
SHMEMI_DEV_LOAD(32, shmemi_u32, "u32", "=r")
SHMEMI_DEV_LOAD(16, unsigned short, "u16", "=h")
SHMEMI_DEV_STORE(64, shmemi_u64, "u64", "l")
SHMEMI_DEV_STORE(32, shmemi_u32, "u32", "r")
SHMEMI_DEV_STORE(16, unsigned short, "u16", "h")
#undef SHMEMI_DEV_LOAD
#undef SHMEMI_DEV_STORE
SHMEMI_DEV unsigned char shmemi_dev_load_8(const volatile void *p)
{
    unsigned short v;

    asm volatile("ld.relaxed.sys.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
    return (unsigned char)v;
}
SHMEMI_DEV void shmemi_dev_store_8(volatile void *p, unsigned char c)
{
    unsigned short v = c;

    asm volatile("st.relaxed.sys.u8 [%0], %1;" : : "l"(p), "h"(v) : "memory");
}
SHMEMI_DEV shmemi_u64 shmemi_dev_acquire_64(const volatile void *p)
{
    shmemi_u64 v;

    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
SHMEMI_DEV void shmemi_dev_release_64(volatile void *p, shmemi_u64 v)
{
    asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory");
}
/* 16 bytes, aligned so. */
SHMEMI_DEV void shmemi_dev_store_pair(void *p, shmemi_u64 a, shmemi_u64 b)
{
    asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};"
                 : : "l"(p), "l"(a), "l"(b) : "memory");
}
/* A load of what no thread stores while the kernel runs. */
SHMEMI_DEV shmemi_u64 shmemi_dev_load_const(const shmemi_u64 *p)
{
    shmemi_u64 v;

    asm("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(p));
    return v;
}
/* Orders this thread's earlier accesses, and what its group's barrier put
 * before it, against later ones, for all observers. */
SHMEMI_DEV void shmemi_dev_fence(void)
{
    asm volatile("fence.acq_rel.sys;" : : : "memory");
}
/* Also an earlier store against a later load. */
SHMEMI_DEV void shmemi_dev_fence_full(void)
{
    asm volatile("fence.sc.sys;" : : : "memory");
}
/* Before a barrier behind which one thread fences for its group: that thread's
 * fence orders what the barrier put before it. */
SHMEMI_DEV void shmemi_dev_fence_own(void) { }
/* The compiler must not know the value from here on. */
SHMEMI_DEV void shmemi_dev_obscure(shmemi_u32 *v)
{
    asm volatile("" : "+r"(*v));
}
/* Nor what it has loaded before. */
SHMEMI_DEV void shmemi_dev_forget(void) { asm volatile("" : : : "memory"); }
#define SHMEMI_DEV_ATOM(OP, BITS, T, TYPE, REG)                             \
    SHMEMI_DEV T shmemi_dev_##OP##_##BITS(volatile void *p, T v)            \
    {                                                                       \
        T was;                                                              \
        asm volatile("atom.relaxed.sys." #OP "." TYPE " %0, [%1], %2;"      \
                     : "=" REG(was) : "l"(p), REG(v) : "memory");           \
        return was;                                                         \
    }
#define SHMEMI_DEV_ATOMS(OP, KIND)                                          \
    SHMEMI_DEV_ATOM(OP, 64, shmemi_u64, KIND "64", "l")                     \
    SHMEMI_DEV_ATOM(OP, 32, shmemi_u32, KIND "32", "r")
SHMEMI_DEV_ATOMS(add, "u")
SHMEMI_DEV_ATOMS(and, "b")
SHMEMI_DEV_ATOMS(or, "b")
SHMEMI_DEV_ATOMS(xor, "b")
SHMEMI_DEV_ATOMS(exch, "b")
#undef SHMEMI_DEV_ATOMS
#undef SHMEMI_DEV_ATOM
#define SHMEMI_DEV_CAS(BITS, T, REG)                                        \
    SHMEMI_DEV T shmemi_dev_cas_##BITS(volatile void *p, T cond, T v)       \
    {                                                                       \
        T was;                                                              \
        asm volatile("atom.relaxed.sys.cas.b" #BITS " %0, [%1], %2, %3;"    \
                     : "=" REG(was) : "l"(p), REG(cond), REG(v) : "memory"); \
        return was;                                                         \
    }
SHMEMI_DEV_CAS(64, shmemi_u64, "l")
SHMEMI_DEV_CAS(32, shmemi_u32, "r")
#undef SHMEMI_DEV_CAS

#else   /* HIP and C have the same builtins, but for the scope */

#ifdef SHMEMI_DEV_HIP
#define SHMEMI_DEV_LD(p, order)                                             \
    __hip_atomic_load(p, order, __HIP_MEMORY_SCOPE_SYSTEM)
#define SHMEMI_DEV_ST(p, v, order)                                          \
    __hip_atomic_store(p, v, order, __HIP_MEMORY_SCOPE_SYSTEM)
#define SHMEMI_DEV_RMW(op, p, v)                                            \
    __hip_atomic_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
#define SHMEMI_DEV_CX(p, cond, v)                                           \
    __hip_atomic_compare_exchange_strong(p, cond, v, __ATOMIC_RELAXED,      \
                                         __ATOMIC_RELAXED,                  \
                                         __HIP_MEMORY_SCOPE_SYSTEM)
#define SHMEMI_DEV_EXCHANGE exchange
#else
#define SHMEMI_DEV_LD(p, order) __atomic_load_n(p, order)
#define SHMEMI_DEV_ST(p, v, order) __atomic_store_n(p, v, order)
#define SHMEMI_DEV_RMW(op, p, v) __atomic_##op(p, v, __ATOMIC_ACQ_REL)
#define SHMEMI_DEV_CX(p, cond, v)                                           \
    __atomic_compare_exchange_n(p, cond, v, 0, __ATOMIC_ACQ_REL,            \
                                __ATOMIC_ACQUIRE)
#define SHMEMI_DEV_EXCHANGE exchange_n
#endif
#define SHMEMI_DEV_WORD(BITS, T)                                            \
    SHMEMI_DEV T shmemi_dev_load_##BITS(const volatile void *p)             \
    {                                                                       \
        return SHMEMI_DEV_LD((const volatile T *)p, __ATOMIC_RELAXED);      \
    }                                                                       \
    SHMEMI_DEV void shmemi_dev_store_##BITS(volatile void *p, T v)          \
    {                                                                       \
        SHMEMI_DEV_ST((volatile T *)p, v, __ATOMIC_RELAXED);                \
    }
SHMEMI_DEV_WORD(64, shmemi_u64)
SHMEMI_DEV_WORD(32, shmemi_u32)
#ifdef SHMEMI_DEV_HIP
/* AMD's instructions have no atomics of these sizes; a volatile access is one
 * access. */
#undef SHMEMI_DEV_WORD
#define SHMEMI_DEV_WORD(BITS, T)                                            \
    SHMEMI_DEV T shmemi_dev_load_##BITS(const volatile void *p)             \
    {                                                                       \
        return *(const volatile T *)p;                                      \
    }                                                                       \
    SHMEMI_DEV void shmemi_dev_store_##BITS(volatile void *p, T v)          \
    {                                                                       \
        *(volatile T *)p = v;                                               \
    }
#endif
SHMEMI_DEV_WORD(16, unsigned short)
SHMEMI_DEV_WORD(8, unsigned char)
#undef SHMEMI_DEV_WORD
SHMEMI_DEV void shmemi_dev_store_pair(void *p, shmemi_u64 a, shmemi_u64 b)
{
    shmemi_dev_store_64(p, a);
    shmemi_dev_store_64((shmemi_u64 *)p + 1, b);
}
SHMEMI_DEV shmemi_u64 shmemi_dev_load_const(const shmemi_u64 *p)
{
    return *p;
}
SHMEMI_DEV shmemi_u64 shmemi_dev_acquire_64(const volatile void *p)
{
    return SHMEMI_DEV_LD((const volatile shmemi_u64 *)p, __ATOMIC_ACQUIRE);
}
SHMEMI_DEV void shmemi_dev_release_64(volatile void *p, shmemi_u64 v)
{
    SHMEMI_DEV_ST((volatile shmemi_u64 *)p, v, __ATOMIC_RELEASE);
}
SHMEMI_DEV void shmemi_dev_fence(void)
{
#ifdef SHMEMI_DEV_HIP
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "");
#elif defined(__SANITIZE_THREAD__)
    /* Thread sanitizer knows no fences; acquires and releases it does. */
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}
SHMEMI_DEV void shmemi_dev_fence_full(void)
{
#ifdef SHMEMI_DEV_HIP
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
#elif !defined(__SANITIZE_THREAD__)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/* A wave's fence waits for its own stores only. */
SHMEMI_DEV void shmemi_dev_fence_own(void)
{
#ifdef SHMEMI_DEV_HIP
    shmemi_dev_fence();
#endif
}
SHMEMI_DEV void shmemi_dev_obscure(shmemi_u32 *v)
{
#ifdef SHMEMI_DEV_HIP
    __asm__ volatile("" : "+v"(*v));
#else
    __asm__ volatile("" : "+r"(*v));
#endif
}
SHMEMI_DEV void shmemi_dev_forget(void)
{
    __asm__ volatile("" : : : "memory");
}
#define SHMEMI_DEV_ATOM(OP, BUILTIN, BITS, T)                               \
    SHMEMI_DEV T shmemi_dev_##OP##_##BITS(volatile void *p, T v)            \
    {                                                                       \
        return SHMEMI_DEV_RMW(BUILTIN, (volatile T *)p, v);                 \
    }
#define SHMEMI_DEV_ATOMS(BITS, T)                                           \
    SHMEMI_DEV_ATOM(add, fetch_add, BITS, T)                                \
    SHMEMI_DEV T shmemi_dev_cas_##BITS(volatile void *p, T cond, T v)       \
    {                                                                       \
        SHMEMI_DEV_CX((volatile T *)p, &cond, v);                           \
        return cond;                                                        \
    }                                                                       \
    SHMEMI_DEV_BITS(and, &, BITS, T)                                        \
    SHMEMI_DEV_BITS(or, |, BITS, T)                                         \
    SHMEMI_DEV_BITS(xor, ^, BITS, T)
#ifdef SHMEMI_DEV_HIP
/* The bus carries add, swap and compare-and-swap only. */
#define SHMEMI_DEV_BITS(OP, OPERATOR, BITS, T)                              \
    SHMEMI_DEV T shmemi_dev_##OP##_##BITS(volatile void *p, T v)            \
    {                                                                       \
        T was = shmemi_dev_load_##BITS(p), seen;                            \
        while ((seen = shmemi_dev_cas_##BITS(p, was, was OPERATOR v)) != was) \
            was = seen;                                                     \
        return was;                                                         \
    }
#else
#define SHMEMI_DEV_BITS(OP, OPERATOR, BITS, T)                              \
    SHMEMI_DEV_ATOM(OP, fetch_##OP, BITS, T)
#endif
SHMEMI_DEV_ATOMS(64, shmemi_u64)
SHMEMI_DEV_ATOMS(32, shmemi_u32)
#ifdef SHMEMI_DEV_HIP
SHMEMI_DEV_ATOM(exch, exchange, 64, shmemi_u64)
SHMEMI_DEV_ATOM(exch, exchange, 32, shmemi_u32)
#else
SHMEMI_DEV_ATOM(exch, exchange_n, 64, shmemi_u64)
SHMEMI_DEV_ATOM(exch, exchange_n, 32, shmemi_u32)
#endif
#undef SHMEMI_DEV_ATOMS
#undef SHMEMI_DEV_BITS
#undef SHMEMI_DEV_ATOM
#undef SHMEMI_DEV_EXCHANGE
#undef SHMEMI_DEV_CX
#undef SHMEMI_DEV_RMW
#undef SHMEMI_DEV_ST
#undef SHMEMI_DEV_LD

#endif

/* ---- the thread in its group ----
 * A scope is a thread, a warp or a block.  A GPU's threads of a scope run side
 * by side.  The items of the software device run one after the other: there
 * the first item of a scope that makes a call does all of its work, and rank
 * and size are those of one thread; see shmemi_dev_leads(). */

enum shmemi_dev_scope { SHMEMI_DEV_THREAD, SHMEMI_DEV_WARP, SHMEMI_DEV_BLOCK };

#ifdef SHMEMI_DEV_CUDA
SHMEMI_DEV shmemi_u32 shmemi_dev_block_id(void)
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
SHMEMI_DEV shmemi_u32 shmemi_dev_thread_id(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SHMEMI_DEV shmemi_u32 shmemi_dev_block_size(void)
{
    return blockDim.x * blockDim.y * blockDim.z;
}
#define SHMEMI_DEV_WARP_SIZE 32u
SHMEMI_DEV void shmemi_dev_block_barrier(void) { __syncthreads(); }
SHMEMI_DEV void shmemi_dev_warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}
SHMEMI_DEV void shmemi_dev_relax(shmemi_u32 turn)
{
    if (turn > 64)
        asm volatile("nanosleep.u32 200;" : : : "memory");
}
SHMEMI_DEV void shmemi_dev_trap(void) { asm volatile("trap;"); }
#elif defined(SHMEMI_DEV_HIP)
#define SHMEMI_DEV_DIM(axis)                                                \
    __builtin_amdgcn_workgroup_size_##axis()
SHMEMI_DEV shmemi_u32 shmemi_dev_block_id(void)
{
    shmemi_u32 nx = __builtin_amdgcn_grid_size_x() / SHMEMI_DEV_DIM(x);
    shmemi_u32 ny = __builtin_amdgcn_grid_size_y() / SHMEMI_DEV_DIM(y);

    return __builtin_amdgcn_workgroup_id_x() +
           nx * (__builtin_amdgcn_workgroup_id_y() +
                 ny * __builtin_amdgcn_workgroup_id_z());
}
SHMEMI_DEV shmemi_u32 shmemi_dev_thread_id(void)
{
    return __builtin_amdgcn_workitem_id_x() +
           SHMEMI_DEV_DIM(x) * (__builtin_amdgcn_workitem_id_y() +
                                SHMEMI_DEV_DIM(y) *
                                    __builtin_amdgcn_workitem_id_z());
}
SHMEMI_DEV shmemi_u32 shmemi_dev_block_size(void)
{
    return (shmemi_u32)SHMEMI_DEV_DIM(x) * SHMEMI_DEV_DIM(y) *
           SHMEMI_DEV_DIM(z);
}
#undef SHMEMI_DEV_DIM
#if defined(__AMDGCN_WAVEFRONT_SIZE__)
#define SHMEMI_DEV_WARP_SIZE ((shmemi_u32)__AMDGCN_WAVEFRONT_SIZE__)
#elif defined(__AMDGCN_WAVEFRONT_SIZE)
#define SHMEMI_DEV_WARP_SIZE ((shmemi_u32)__AMDGCN_WAVEFRONT_SIZE)
#else
#define SHMEMI_DEV_WARP_SIZE ((shmemi_u32)__builtin_amdgcn_wavefrontsize())
#endif
SHMEMI_DEV void shmemi_dev_block_barrier(void)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
}
SHMEMI_DEV void shmemi_dev_warp_barrier(void)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
}
SHMEMI_DEV void shmemi_dev_relax(shmemi_u32 turn)
{
    if (turn > 64)
        __builtin_amdgcn_s_sleep(8);
}
SHMEMI_DEV void shmemi_dev_trap(void) { __builtin_trap(); }
#else
#define SHMEMI_DEV_WARP_SIZE 32u
SHMEMI_DEV void shmemi_dev_relax(shmemi_u32 turn)
{
    (void)turn;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
#endif

#endif

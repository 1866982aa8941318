/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev_types.h - the type tables of the calls of kernels: those of
 * shmem_types.h, with the types spelled so that a compiler at run time, which
 * has no <stdint.h>, reads them, too.  BASE tables hold types that differ from
 * one another.  A part of shmemx_dev.h. */
#ifndef SHMEMX_DEV_TYPES_H
#define SHMEMX_DEV_TYPES_H

/* Standard RMA types (24).  A GPU's long double is a double. */
#define SHMEMI_DEV_RMA_BASE(X)                                              \
    X(float, float)                                                         \
    X(double, double)                                                       \
    X(longdouble, long double)                                              \
    X(char, char)                                                           \
    X(schar, signed char)                                                   \
    X(short, short)                                                         \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)                                                  \
    X(uchar, unsigned char)                                                 \
    X(ushort, unsigned short)                                               \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_DEV_RMA_ALIAS(X)                                             \
    X(int8, signed char)                                                    \
    X(int16, short)                                                         \
    X(int32, int)                                                           \
    X(int64, long)                                                          \
    X(uint8, unsigned char)                                                 \
    X(uint16, unsigned short)                                               \
    X(uint32, unsigned int)                                                 \
    X(uint64, unsigned long)                                                \
    X(size, unsigned long)                                                  \
    X(ptrdiff, long)
#define SHMEMI_DEV_RMA_TYPES(X) SHMEMI_DEV_RMA_BASE(X) SHMEMI_DEV_RMA_ALIAS(X)

/* Standard AMO types (12): also those of waits and tests. */
#define SHMEMI_DEV_AMO_BASE(X)                                              \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)                                                  \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_DEV_AMO_ALIAS(X)                                             \
    X(int32, int)                                                           \
    X(int64, long)                                                          \
    X(uint32, unsigned int)                                                 \
    X(uint64, unsigned long)                                                \
    X(size, unsigned long)                                                  \
    X(ptrdiff, long)
#define SHMEMI_DEV_AMO_TYPES(X) SHMEMI_DEV_AMO_BASE(X) SHMEMI_DEV_AMO_ALIAS(X)
#define SHMEMI_DEV_AMO_FLOATS(X)                                            \
    X(float, float)                                                         \
    X(double, double)
/* fetch, set, swap take these, too. */
#define SHMEMI_DEV_AMO_EXT_TYPES(X)                                         \
    SHMEMI_DEV_AMO_FLOATS(X) SHMEMI_DEV_AMO_TYPES(X)

/* Floating-point types of 16 bits, where the compiler has them: of CUDA if the
 * program has included cuda_fp16.h or cuda_bf16.h before, else those of the
 * language. */
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#ifdef __CUDA_FP16_TYPES_EXIST__
#define SHMEMI_DEV_HALF(X) X(half, __half)
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
#define SHMEMI_DEV_BFLOAT16(X) X(bfloat16, __nv_bfloat16)
#endif
#else
#ifdef __FLT16_MANT_DIG__
__extension__ typedef _Float16 shmemi_half;
#define SHMEMI_DEV_HALF(X) X(half, shmemi_half)
#endif
#ifdef __BFLT16_MANT_DIG__
__extension__ typedef __bf16 shmemi_bfloat16;
#define SHMEMI_DEV_BFLOAT16(X) X(bfloat16, shmemi_bfloat16)
#endif
#endif
#ifndef SHMEMI_DEV_HALF
#define SHMEMI_DEV_HALF(X)
#endif
#ifndef SHMEMI_DEV_BFLOAT16
#define SHMEMI_DEV_BFLOAT16(X)
#endif
#define SHMEMI_DEV_SHORT_FLOATS(X) SHMEMI_DEV_HALF(X) SHMEMI_DEV_BFLOAT16(X)

/* Reductions: and, or, xor (14); sum, prod, min and max take the RMA types but
 * for a GPU's long double, which is not the host's.  No complex types. */
#define SHMEMI_DEV_REDUCE_BIT_BASE(X)                                       \
    X(uchar, unsigned char)                                                 \
    X(ushort, unsigned short)                                               \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_DEV_REDUCE_BIT_ALIAS(X)                                      \
    X(int8, signed char)                                                    \
    X(int16, short)                                                         \
    X(int32, int)                                                           \
    X(int64, long)                                                          \
    X(uint8, unsigned char)                                                 \
    X(uint16, unsigned short)                                               \
    X(uint32, unsigned int)                                                 \
    X(uint64, unsigned long)                                                \
    X(size, unsigned long)
#define SHMEMI_DEV_REDUCE_BIT_TYPES(X)                                      \
    SHMEMI_DEV_REDUCE_BIT_BASE(X) SHMEMI_DEV_REDUCE_BIT_ALIAS(X)
#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || \
    defined(__HIPCC__) || defined(__HIPCC_RTC__) || defined(__HIP__)
#define SHMEMI_DEV_REDUCE_LONG(X)
#else
#define SHMEMI_DEV_REDUCE_LONG(X) X(longdouble, long double)
#endif
#define SHMEMI_DEV_REDUCE_BASE(X)                                           \
    SHMEMI_DEV_REDUCE_LONG(X)                                               \
    X(float, float)                                                         \
    X(double, double)                                                       \
    X(char, char)                                                           \
    X(schar, signed char)                                                   \
    X(short, short)                                                         \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)                                                  \
    SHMEMI_DEV_REDUCE_BIT_BASE(X)
#define SHMEMI_DEV_REDUCE_TYPES(X)                                          \
    SHMEMI_DEV_REDUCE_BASE(X) SHMEMI_DEV_REDUCE_BIT_ALIAS(X) X(ptrdiff, long)

/* Sizes in bits of the untyped forms: X(SIZE, BYTES). */
#define SHMEMI_DEV_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

/* Scopes: X(SUFFIX, SCOPE). */
#define SHMEMI_DEV_SCOPES(X)                                                \
    X(, SHMEMI_DEV_THREAD)                                                  \
    X(_warp, SHMEMI_DEV_WARP)                                               \
    X(_block, SHMEMI_DEV_BLOCK)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_types.h - the type tables of OpenSHMEM 1.6 (section 9, tables 3 to 9).
 *
 * Each table calls X(TYPENAME, TYPE) per row.  BASE tables hold types that
 * differ from one another, so that _Generic may list them; ALIAS tables hold
 * the names that equal one of these types on every machine.  shmem.h and the
 * library expand the same tables, so that every declared name is defined. */
#ifndef SHMEM_TYPES_H
#define SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* The complex types of reductions; only pointers to them are passed. */
#ifdef __cplusplus
extern "C++" {          /* also where the program includes us in extern "C" */
#include <complex>
}
typedef std::complex<float> shmemi_complexf;
typedef std::complex<double> shmemi_complexd;
#else
typedef float _Complex shmemi_complexf;
typedef double _Complex shmemi_complexd;
#endif

/* Standard RMA types (24). */
#define SHMEMI_RMA_BASE(X)                                                  \
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
#define SHMEMI_RMA_ALIAS(X)                                                 \
    X(int8, int8_t)                                                         \
    X(int16, int16_t)                                                       \
    X(int32, int32_t)                                                       \
    X(int64, int64_t)                                                       \
    X(uint8, uint8_t)                                                       \
    X(uint16, uint16_t)                                                     \
    X(uint32, uint32_t)                                                     \
    X(uint64, uint64_t)                                                     \
    X(size, size_t)                                                         \
    X(ptrdiff, ptrdiff_t)
#define SHMEMI_RMA_TYPES(X) SHMEMI_RMA_BASE(X) SHMEMI_RMA_ALIAS(X)

/* Standard AMO types (12): also the wait and test types. */
#define SHMEMI_AMO_BASE(X)                                                  \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)                                                  \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_AMO_ALIAS(X)                                                 \
    X(int32, int32_t)                                                       \
    X(int64, int64_t)                                                       \
    X(uint32, uint32_t)                                                     \
    X(uint64, uint64_t)                                                     \
    X(size, size_t)                                                         \
    X(ptrdiff, ptrdiff_t)
#define SHMEMI_AMO_TYPES(X) SHMEMI_AMO_BASE(X) SHMEMI_AMO_ALIAS(X)

/* Extended AMO types (14): the standard ones and these. */
#define SHMEMI_AMO_FLOATS(X)                                                \
    X(float, float)                                                         \
    X(double, double)
#define SHMEMI_AMO_EXT_TYPES(X) SHMEMI_AMO_FLOATS(X) SHMEMI_AMO_TYPES(X)

/* Bitwise AMO types (7). */
#define SHMEMI_AMO_BIT_BASE(X)                                              \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_AMO_BIT_ALIAS(X)                                             \
    X(int32, int32_t)                                                       \
    X(int64, int64_t)                                                       \
    X(uint32, uint32_t)                                                     \
    X(uint64, uint64_t)
#define SHMEMI_AMO_BIT_TYPES(X) SHMEMI_AMO_BIT_BASE(X) SHMEMI_AMO_BIT_ALIAS(X)

/* Reductions: and, or, xor (14); max and min take the RMA types (24); sum,
 * prod and the scans also the complex ones (26). */
#define SHMEMI_REDUCE_BIT_BASE(X)                                           \
    X(uchar, unsigned char)                                                 \
    X(ushort, unsigned short)                                               \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)
#define SHMEMI_REDUCE_BIT_ALIAS(X)                                          \
    X(int8, int8_t)                                                         \
    X(int16, int16_t)                                                       \
    X(int32, int32_t)                                                       \
    X(int64, int64_t)                                                       \
    X(uint8, uint8_t)                                                       \
    X(uint16, uint16_t)                                                     \
    X(uint32, uint32_t)                                                     \
    X(uint64, uint64_t)                                                     \
    X(size, size_t)
#define SHMEMI_REDUCE_BIT_TYPES(X)                                          \
    SHMEMI_REDUCE_BIT_BASE(X) SHMEMI_REDUCE_BIT_ALIAS(X)
#define SHMEMI_REDUCE_COMPLEX(X)                                            \
    X(complexd, shmemi_complexd)                                            \
    X(complexf, shmemi_complexf)
#define SHMEMI_REDUCE_SUM_TYPES(X)                                          \
    SHMEMI_RMA_TYPES(X) SHMEMI_REDUCE_COMPLEX(X)

/* The deprecated reductions over active sets (4, 7 and 9 types). */
#define SHMEMI_TO_ALL_BIT_TYPES(X)                                          \
    X(short, short)                                                         \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)
#define SHMEMI_TO_ALL_TYPES(X)                                              \
    SHMEMI_TO_ALL_BIT_TYPES(X)                                              \
    X(float, float)                                                         \
    X(double, double)                                                       \
    X(longdouble, long double)
#define SHMEMI_TO_ALL_SUM_TYPES(X)                                          \
    SHMEMI_TO_ALL_TYPES(X) SHMEMI_REDUCE_COMPLEX(X)

/* Types that only shmem_TYPENAME_wait_until and _test still take. */
#define SHMEMI_WAIT_OLD_TYPES(X)                                            \
    X(short, short)                                                         \
    X(ushort, unsigned short)

/* Sizes in bits of the untyped forms: X(SIZE, BYTES). */
#define SHMEMI_SIZES(X)                                                     \
    X(8, 1)                                                                 \
    X(16, 2)                                                                \
    X(32, 4)                                                                \
    X(64, 8)                                                                \
    X(128, 16)

/* Deprecated atomics: X(TYPENAME, TYPE). */
#define SHMEMI_AMO_OLD_INTS(X)                                              \
    X(int, int)                                                             \
    X(long, long)                                                           \
    X(longlong, long long)
#define SHMEMI_AMO_OLD_TYPES(X) SHMEMI_AMO_FLOATS(X) SHMEMI_AMO_OLD_INTS(X)

/* shmem_TYPENAME_wait, deprecated. */
#define SHMEMI_WAIT_NE_TYPES(X)                                             \
    X(short, short) SHMEMI_AMO_OLD_INTS(X)

/* Beyond the standard, for shmemx.h: the standard AMO types that the deprecated
 * names above do not have. */
#define SHMEMI_AMO_OLD_MORE(X)                                              \
    X(uint, unsigned int)                                                   \
    X(ulong, unsigned long)                                                 \
    X(ulonglong, unsigned long long)                                        \
    SHMEMI_AMO_ALIAS(X)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of reductions, for each operation and each type that differs in
 * its machine form.  Built with vectorisation (see the Makefile). */
#include "coll/coll.h"

#include <complex.h>

#if defined(__clang__)
/* It warns of each loop that it cannot vectorise: without optimisation, all. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define SCALAR
#else
#define INDEPENDENT _Pragma("GCC ivdep")
/* Vectors of complex products are contracted by gcc 12 where the processor has
 * fused additions, whatever -ffp-contract says; devices round apart. */
#define SCALAR __attribute__((optimize("no-tree-vectorize")))
#endif

/* out may be a or b, but no other overlap: iterations are independent. */
#define LOOP(NAME, T, EXPR)                                                 \
    static void NAME(void *out, const void *a_, const void *b_, size_t n)   \
    {                                                                       \
        const T *a = a_, *b = b_;                                           \
        T *o = out;                                                         \
        INDEPENDENT                                                         \
        for (size_t i = 0; i < n; i++)                                      \
            o[i] = (T)(EXPR);                                               \
    }
#define BITS(T)                                                             \
    LOOP(and_##T, T, a[i] & b[i])                                           \
    LOOP(or_##T, T, a[i] | b[i])                                            \
    LOOP(xor_##T, T, a[i] ^ b[i])
#define SUMS(N, T)                                                          \
    LOOP(sum_##N, T, a[i] + b[i])                                           \
    LOOP(prod_##N, T, a[i] * b[i])
#define ORDER(N, T)                                                         \
    LOOP(max_##N, T, a[i] > b[i] ? a[i] : b[i])                             \
    LOOP(min_##N, T, a[i] < b[i] ? a[i] : b[i])

BITS(uint8_t)
BITS(uint16_t)
BITS(uint32_t)
BITS(uint64_t)
SUMS(uint8_t, uint8_t)
LOOP(sum_uint16_t, uint16_t, a[i] + b[i])
LOOP(prod_uint16_t, uint16_t, (uint32_t)a[i] * b[i])
SUMS(uint32_t, uint32_t)
SUMS(uint64_t, uint64_t)
SUMS(float, float)
SUMS(double, double)
SUMS(longdouble, long double)
LOOP(sum_complexf, float complex, a[i] + b[i])
LOOP(sum_complexd, double complex, a[i] + b[i])
SCALAR LOOP(prod_complexf, float complex, a[i] * b[i])
SCALAR LOOP(prod_complexd, double complex, a[i] * b[i])
ORDER(int8_t, int8_t)
ORDER(int16_t, int16_t)
ORDER(int32_t, int32_t)
ORDER(int64_t, int64_t)
ORDER(uint8_t, uint8_t)
ORDER(uint16_t, uint16_t)
ORDER(uint32_t, uint32_t)
ORDER(uint64_t, uint64_t)
ORDER(float, float)
ORDER(double, double)
ORDER(longdouble, long double)

#define UNSIGNED(OP)                                                        \
    [COLL_I8] = OP##_uint8_t, [COLL_U8] = OP##_uint8_t,                     \
    [COLL_I16] = OP##_uint16_t, [COLL_U16] = OP##_uint16_t,                 \
    [COLL_I32] = OP##_uint32_t, [COLL_U32] = OP##_uint32_t,                 \
    [COLL_I64] = OP##_uint64_t, [COLL_U64] = OP##_uint64_t
#define FLOATS(OP)                                                          \
    [COLL_FLOAT] = OP##_float, [COLL_DOUBLE] = OP##_double,                 \
    [COLL_LONGDOUBLE] = OP##_longdouble
#define ARITH(OP)                                                           \
    { UNSIGNED(OP), FLOATS(OP), [COLL_COMPLEXF] = OP##_complexf,            \
      [COLL_COMPLEXD] = OP##_complexd }
#define EXTREME(OP)                                                         \
    { [COLL_I8] = OP##_int8_t, [COLL_I16] = OP##_int16_t,                   \
      [COLL_I32] = OP##_int32_t, [COLL_I64] = OP##_int64_t,                 \
      [COLL_U8] = OP##_uint8_t, [COLL_U16] = OP##_uint16_t,                 \
      [COLL_U32] = OP##_uint32_t, [COLL_U64] = OP##_uint64_t, FLOATS(OP) }

coll_op *const coll_ops[COLL_OPS][COLL_TYPES] = {
    [COLL_AND] = { UNSIGNED(and) },
    [COLL_OR] = { UNSIGNED(or) },
    [COLL_XOR] = { UNSIGNED(xor) },
    [COLL_MAX] = EXTREME(max),
    [COLL_MIN] = EXTREME(min),
    [COLL_SUM] = ARITH(sum),
    [COLL_PROD] = ARITH(prod),
};

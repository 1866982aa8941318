/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the loops of reductions give what one operation after the
 * other gives, at every length, in place and for the odd values of a type. */
#include "unit.h"

#include "coll/coll.h"

#include <complex.h>
#include <float.h>
#include <math.h>

/* glibc has this for gcc only. */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

enum { MOST = 300, GUARD = 4 };

static const size_t lengths[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 255, 257,
    MOST
};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- integers: by the lowest bits of 64 ---- */

static uint64_t plain_bits(int op, uint64_t a, uint64_t b)
{
    switch (op) {
    case COLL_AND: return a & b;
    case COLL_OR: return a | b;
    case COLL_XOR: return a ^ b;
    case COLL_SUM: return a + b;
    default: return a * b;
    }
}

/* Random, with many of the values at the edges. */
static uint64_t some_bits(void)
{
    static const uint64_t edges[] = {
        0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
        0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX
    };
    uint64_t r = T_RAND();

    return r % 3 ? T_RAND() : edges[r / 3 % (sizeof edges / sizeof *edges)];
}

#define PLAIN(T, op, a, b)                                                  \
    ((op) == COLL_MAX ? ((a) > (b) ? (a) : (b)) :                           \
     (op) == COLL_MIN ? ((a) < (b) ? (a) : (b)) :                           \
     (T)plain_bits(op, (uint64_t)(a), (uint64_t)(b)))

/* out: 0 apart, 1 in place of a, 2 in place of b. */
#define INTEGER(NAME, T)                                                    \
    static void try_##NAME(coll_op *f, int op, size_t n, int out)           \
    {                                                                       \
        static T a[MOST + GUARD], b[MOST + GUARD], c[MOST + GUARD],         \
                 want[MOST + GUARD];                                        \
        T *o = out == 1 ? a : out == 2 ? b : c;                             \
                                                                            \
        for (size_t i = 0; i < MOST + GUARD; i++) {                         \
            a[i] = (T)some_bits();                                          \
            b[i] = (T)some_bits();                                          \
            c[i] = (T)some_bits();                                          \
            want[i] = i < n ? PLAIN(T, op, a[i], b[i]) : o[i];              \
        }                                                                   \
        f(o, a, b, n);                                                      \
        if (!T_MEM(o, want, sizeof want))                                   \
            fprintf(stderr, "  " #T ", operation %d, %zu elements\n", op,   \
                    n);                                                     \
    }                                                                       \
    static void all_##NAME(int type)                                        \
    {                                                                       \
        for (int op = 0; op < COLL_OPS; op++)                               \
            for (int k = 0; k < 3 * LENGTHS; k++)                           \
                if (T_TRUE(coll_ops[op][type]))                             \
                    try_##NAME(coll_ops[op][type], op, lengths[k / 3],      \
                               k % 3);                                      \
    }
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)

T(integers_wrap_around_and_keep_their_order)
{
    all_i8(COLL_I8);
    all_i16(COLL_I16);
    all_i32(COLL_I32);
    all_i64(COLL_I64);
    all_u8(COLL_U8);
    all_u16(COLL_U16);
    all_u32(COLL_U32);
    all_u64(COLL_U64);
}

/* ---- floating point ---- */

/* Equal as values, with NaN equal to NaN and -0 unlike 0. */
#define SAME(a, b)                                                          \
    (isnan(a) ? isnan(b) : (a) == (b) && !signbit(a) == !signbit(b))

static const long double odd[] = {
    0.0L, -0.0L, 1.0L, -1.0L, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX,
    FLT_MIN, FLT_TRUE_MIN, 1.5L, 3.0L
};
enum { ODD = sizeof odd / sizeof *odd };

static long double some_number(void)
{
    uint64_t r = T_RAND();

    return r % 2 ? odd[r / 2 % ODD]
                 : (long double)(int64_t)T_RAND() / (1 << (r >> 40) % 30);
}

/* The noinline step is what the loop must repeat, so it cannot be improved
 * together with others.  Where a NaN meets a number, b is the answer. */
#define FLOATING(NAME, T)                                                   \
    static __attribute__((noinline)) T step_##NAME(int op, T a, T b)        \
    {                                                                       \
        return op == COLL_MAX ? (a > b ? a : b) :                           \
               op == COLL_MIN ? (a < b ? a : b) :                           \
               op == COLL_SUM ? a + b : a * b;                              \
    }                                                                       \
    static void try_##NAME(coll_op *f, int op, size_t n, int out)           \
    {                                                                       \
        static T a[MOST + GUARD], b[MOST + GUARD], c[MOST + GUARD],         \
                 want[MOST + GUARD];                                        \
        T *o = out == 1 ? a : out == 2 ? b : c;                             \
                                                                            \
        for (size_t i = 0; i < MOST + GUARD; i++) {                         \
            a[i] = (T)some_number();                                        \
            b[i] = (T)some_number();                                        \
            c[i] = (T)some_number();                                        \
            want[i] = i < n ? step_##NAME(op, a[i], b[i]) : o[i];           \
        }                                                                   \
        f(o, a, b, n);                                                      \
        for (size_t i = 0; i < MOST + GUARD; i++)                           \
            if (!SAME(o[i], want[i])) {                                     \
                fprintf(stderr, #T ", operation %d, element %zu of %zu\n",  \
                        op, i, n);                                          \
                T_EQ(o[i], want[i]);                                        \
                T_TRUE(SAME(o[i], want[i]));                                \
                break;                                                      \
            }                                                               \
    }                                                                       \
    static void all_##NAME(int type)                                        \
    {                                                                       \
        for (int op = COLL_MAX; op < COLL_OPS; op++)                        \
            for (int k = 0; k < 3 * LENGTHS; k++)                           \
                if (T_TRUE(coll_ops[op][type]))                             \
                    try_##NAME(coll_ops[op][type], op, lengths[k / 3],      \
                               k % 3);                                      \
    }
FLOATING(float, float)
FLOATING(double, double)
FLOATING(longdouble, long double)

T(floating_point_numbers_meet_nan_zero_and_infinity)
{
    all_float(COLL_FLOAT);
    all_double(COLL_DOUBLE);
    all_longdouble(COLL_LONGDOUBLE);
}

/* ---- complex ---- */

#define COMPLEX(NAME, T, R)                                                 \
    static __attribute__((noinline)) T step_##NAME(int op, T a, T b)        \
    {                                                                       \
        return op == COLL_SUM ? a + b : a * b;                              \
    }                                                                       \
    static void try_##NAME(coll_op *f, int op, size_t n, int out)           \
    {                                                                       \
        static T a[MOST + GUARD], b[MOST + GUARD], c[MOST + GUARD],         \
                 want[MOST + GUARD];                                        \
        T *o = out == 1 ? a : out == 2 ? b : c;                             \
                                                                            \
        for (size_t i = 0; i < MOST + GUARD; i++) {                         \
            a[i] = (T)CMPLX((R)some_number(), (R)some_number());            \
            b[i] = (T)CMPLX((R)some_number(), (R)some_number());            \
            c[i] = (T)CMPLX((R)some_number(), (R)some_number());            \
            want[i] = i < n ? step_##NAME(op, a[i], b[i]) : o[i];           \
        }                                                                   \
        f(o, a, b, n);                                                      \
        for (size_t i = 0; i < MOST + GUARD; i++)                           \
            if (!SAME(creal(o[i]), creal(want[i])) ||                       \
                !SAME(cimag(o[i]), cimag(want[i]))) {                       \
                fprintf(stderr, #T ", operation %d, element %zu of %zu\n",  \
                        op, i, n);                                          \
                T_EQ(creal(o[i]), creal(want[i]));                          \
                T_EQ(cimag(o[i]), cimag(want[i]));                          \
                break;                                                      \
            }                                                               \
    }                                                                       \
    static void all_##NAME(int type)                                        \
    {                                                                       \
        for (int op = COLL_SUM; op < COLL_OPS; op++)                        \
            for (int k = 0; k < 3 * LENGTHS; k++)                           \
                if (T_TRUE(coll_ops[op][type]))                             \
                    try_##NAME(coll_ops[op][type], op, lengths[k / 3],      \
                               k % 3);                                      \
    }
COMPLEX(complexf, float complex, float)
COMPLEX(complexd, double complex, double)

T(complex_numbers_multiply_as_in_c)
{
    double complex i = CMPLX(0, 1), big = CMPLX(INFINITY, 0), out = 0;

    all_complexf(COLL_COMPLEXF);
    all_complexd(COLL_COMPLEXD);
    coll_ops[COLL_PROD][COLL_COMPLEXD](&out, &i, &i, 1);
    T_EQ(creal(out), -1.0);
    T_EQ(cimag(out), 0.0);
    /* An infinity stays one: (inf + 0i) * (0 + 1i). */
    coll_ops[COLL_PROD][COLL_COMPLEXD](&out, &big, &i, 1);
    T_TRUE(isinf(cimag(out)));
}

T(operations_without_a_meaning_are_absent)
{
    for (int op = COLL_AND; op <= COLL_XOR; op++)
        for (int type = COLL_FLOAT; type < COLL_TYPES; type++)
            T_TRUE(!coll_ops[op][type]);
    T_TRUE(!coll_ops[COLL_MAX][COLL_COMPLEXF]);
    T_TRUE(!coll_ops[COLL_MAX][COLL_COMPLEXD]);
    T_TRUE(!coll_ops[COLL_MIN][COLL_COMPLEXF]);
    T_TRUE(!coll_ops[COLL_MIN][COLL_COMPLEXD]);
}

int main(void)
{
    T_RUN(integers_wrap_around_and_keep_their_order);
    T_RUN(floating_point_numbers_meet_nan_zero_and_infinity);
    T_RUN(complex_numbers_multiply_as_in_c);
    T_RUN(operations_without_a_meaning_are_absent);
    return T_DONE();
}

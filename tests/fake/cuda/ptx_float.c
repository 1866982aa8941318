/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions on floating numbers, single and in pairs, and conversions.  For
 * the table of ptx_ops.c.
 *
 * Halves are computed as doubles, which hold their products exactly. */
#include "ptx_int.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)
#define GET(k) ptx_get(t, &i->o[k])

/* ---- representations ---- */

static double half(uint64_t v, int exponent, int mantissa)
{
    int e = (int)(v >> mantissa) & ((1 << exponent) - 1);
    int bias = (1 << (exponent - 1)) - 1;
    double m = (double)(v & ((1u << mantissa) - 1));
    double d;

    if (e == (1 << exponent) - 1)
        d = m != 0 ? (double)NAN : (double)INFINITY;
    else
        d = e ? ldexp(m + (1 << mantissa), e - bias - mantissa)
              : ldexp(m, 1 - bias - mantissa);
    return v >> 15 & 1 ? -d : d;
}

/* As the rounding mode is. */
static uint64_t to_half(double d, int exponent, int mantissa)
{
    uint64_t sign = signbit(d) ? 1u << 15 : 0, bits;
    uint64_t infinite = (uint64_t)((1 << exponent) - 1) << mantissa;
    int e, least = 2 - (1 << (exponent - 1));
    double m;

    if (isnan(d))
        return 0x7fff;
    if (isinf(d))
        return sign | infinite;
    frexp(d, &e);
    e = d == 0 || e - 1 < least ? least : e - 1;
    m = fabs(nearbyint(ldexp(d, mantissa - e)));
    bits = ((uint64_t)(e - least) << mantissa) + (uint64_t)m;
    if (bits >= infinite)
        bits = fegetround() == FE_TOWARDZERO ? infinite - 1 : infinite;
    return sign | bits;
}

double ptx_real(enum type type, uint64_t v)
{
    uint32_t word = (uint32_t)v;
    double d;
    float f;

    switch (type) {
    case F16: case F16X2: return half(v & 0xffff, 5, 10);
    case BF16: case BF16X2: return half(v & 0xffff, 8, 7);
    case F32:
        memcpy(&f, &word, sizeof f);
        return (double)f;
    default:
        memcpy(&d, &v, sizeof d);
        return d;
    }
}

__attribute__((noinline)) uint64_t ptx_unreal(enum type type, double v)
{
    uint64_t word = 0;
    float f;

    switch (type) {
    case F16: case F16X2: return to_half(v, 5, 10);
    case BF16: case BF16X2: return to_half(v, 8, 7);
    case F32:
        f = (float)v;
        memcpy(&word, &f, sizeof f);
        return word;
    default:
        memcpy(&word, &v, sizeof v);
        return word;
    }
}

static const int modes[] = {
    [RN] = FE_TONEAREST, [RZ] = FE_TOWARDZERO, [RM] = FE_DOWNWARD,
    [RP] = FE_UPWARD
};

static void round_as(const struct insn *i)
{
    if (i->round > RN && i->round <= RP)
        fesetround(modes[i->round]);
}

static void round_back(const struct insn *i)
{
    if (i->round > RN && i->round <= RP)
        fesetround(FE_TONEAREST);
}

/* ---- operations ---- */

enum fop { F_ADD, F_SUB, F_MUL, F_FMA, F_DIV, F_SQRT, F_MIN, F_MAX };

#define OPERATE(name, T, fused, root)                                       \
__attribute__((noinline)) static T name(enum fop op, T a, T b, T c)         \
{                                                                           \
    switch (op) {                                                           \
    case F_ADD: return a + b;                                               \
    case F_SUB: return a - b;                                               \
    case F_MUL: return a * b;                                               \
    case F_FMA: return fused(a, b, c);                                      \
    case F_DIV: return a / b;                                               \
    case F_SQRT: return root(a);                                            \
    case F_MIN:                                                             \
        return isnan(a) ? b : isnan(b) ? a                                  \
             : a < b || (a == b && signbit(a)) ? a : b;                     \
    case F_MAX:                                                             \
        return isnan(a) ? b : isnan(b) ? a                                  \
             : a > b || (a == b && !signbit(a)) ? a : b;                    \
    }                                                                       \
    return 0;                                                               \
}
OPERATE(single, float, fmaf, sqrtf)
OPERATE(twice, double, fma, sqrt)

static float flushed(const struct insn *i, float f)
{
    if ((i->flags & M_FTZ) && fpclassify(f) == FP_SUBNORMAL)
        return copysignf(0, f);
    return f;
}

static float in_range(const struct insn *i, float f)
{
    f = flushed(i, f);
    if (!(i->flags & M_SAT))
        return f;
    return f > 1 ? 1 : f > 0 ? f : 0;
}

static uint64_t one(const struct insn *i, enum type type, enum fop op,
                    const uint64_t *v)
{
    uint32_t word;
    float f[3], r;
    double d[3];

    for (int k = 0; k < 3; k++) {
        d[k] = ptx_real(type, v[k]);
        f[k] = flushed(i, (float)d[k]);
    }
    if ((i->flags & M_NAN) && (isnan(d[0]) || isnan(d[1])))
        return type == F32 ? 0x7fffffff : type == F64 ? 0x7ff8ULL << 48
                                                      : 0x7fff;
    if (type != F32) {
        d[0] = twice(op, d[0], d[1], d[2]);
        if ((i->flags & M_SAT) && type != F64)
            d[0] = d[0] > 1 ? 1 : d[0] > 0 ? d[0] : 0;
        return ptx_unreal(type, d[0]);
    }
    r = in_range(i, single(op, f[0], f[1], f[2]));
    memcpy(&word, &r, sizeof word);
    return isnan(r) ? 0x7fffffff : word;
}

static enum next operate(struct thread *t, const struct insn *i, enum fop op,
                         const uint64_t *v)
{
    enum type type = (enum type)i->type[0];
    uint64_t high[3], r;

    round_as(i);
    r = one(i, type, op, v);
    if (type == F16X2 || type == BF16X2) {
        for (int k = 0; k < 3; k++)
            high[k] = v[k] >> 16;
        r |= one(i, type, op, high) << 16;
    }
    round_back(i);
    ptx_set(t, &i->o[0], r);
    return CONTINUE;
}

#define ONE(name, op) X(name)                                               \
{                                                                           \
    return operate(t, i, op, (uint64_t[3]){ GET(1) });                      \
}
#define TWO(name, op) X(name)                                               \
{                                                                           \
    return operate(t, i, op, (uint64_t[3]){ GET(1), GET(2) });              \
}
TWO(fadd, F_ADD)
TWO(fsub, F_SUB)
TWO(fmul, F_MUL)
TWO(fdiv, F_DIV)
TWO(fmin, F_MIN)
TWO(fmax, F_MAX)
ONE(sqrt, F_SQRT)

X(fma)
{
    return operate(t, i, F_FMA, (uint64_t[3]){ GET(1), GET(2), GET(3) });
}

X(rcp)
{
    enum type type = (enum type)i->type[0];

    return operate(t, i, F_DIV, (uint64_t[3]){ ptx_unreal(type, 1), GET(1) });
}

uint64_t ptx_float_add(enum type type, uint64_t a, uint64_t b)
{
    static const struct insn plain;
    uint64_t r = one(&plain, type, F_ADD, (uint64_t[3]){ a, b });

    if (type == F16X2 || type == BF16X2)
        r |= one(&plain, type, F_ADD, (uint64_t[3]){ a >> 16, b >> 16 }) << 16;
    return r;
}

/* Approximations are as good as the processor's. */
#define FUNCTION(name, value) X(name)                                       \
{                                                                           \
    enum type type = (enum type)i->type[0];                                 \
    uint64_t v = GET(1), r;                                                 \
    double x = ptx_real(type, v);                                           \
                                                                            \
    r = ptx_unreal(type, value);                                            \
    if (type == F16X2 || type == BF16X2) {                                  \
        x = ptx_real(type, v >> 16);                                        \
        r |= ptx_unreal(type, value) << 16;                                 \
    }                                                                       \
    ptx_set(t, &i->o[0], r);                                                \
    return CONTINUE;                                                           \
}
FUNCTION(rsqrt, 1 / sqrt(x))
FUNCTION(ex2, exp2(x))
FUNCTION(lg2, log2(x))
FUNCTION(sin, sin(x))
FUNCTION(cos, cos(x))
FUNCTION(tanh, tanh(x))

static uint64_t sign(enum type type)
{
    switch (type) {
    case F16: case BF16: return 1u << 15;
    case F16X2: case BF16X2: return 0x80008000;
    case F32: return 1u << 31;
    default: return 1ULL << 63;
    }
}

X(fabs)
{
    ptx_set(t, &i->o[0], GET(1) & ~sign((enum type)i->type[0]));
    return CONTINUE;
}

X(fneg)
{
    ptx_set(t, &i->o[0], GET(1) ^ sign((enum type)i->type[0]));
    return CONTINUE;
}

/* The sign of the first, all else of the second. */
X(copysign)
{
    uint64_t s = sign((enum type)i->type[0]);

    ptx_set(t, &i->o[0], (GET(1) & s) | (GET(2) & ~s));
    return CONTINUE;
}

X(testp)
{
    double d = ptx_real((enum type)i->type[0], GET(1));
    bool small = i->type[0] == F32 ? fpclassify((float)d) == FP_SUBNORMAL
                                   : fpclassify(d) == FP_SUBNORMAL;
    bool is = false;

    switch (i->word) {
    case W_FINITE: is = isfinite(d); break;
    case W_INFINITE: is = isinf(d); break;
    case W_NUMBER: is = !isnan(d); break;
    case W_NOTANUMBER: is = isnan(d); break;
    case W_NORMAL: is = isfinite(d) && !small && d != 0; break;
    case W_SUBNORMAL: is = small; break;
    default: break;
    }
    ptx_set(t, &i->o[0], is);
    return CONTINUE;
}

/* ---- conversions ---- */

static double whole(const struct insn *i, double d)
{
    switch (i->round) {
    case RNI: return nearbyint(d);
    case RZI: return trunc(d);
    case RMI: return floor(d);
    case RPI: return ceil(d);
    default: return d;
    }
}

/* What is too large becomes the last number there is, and no number zero. */
static uint64_t to_whole(enum type type, double d)
{
    unsigned bits = ptx_bits(type);
    bool sgn = ptx_signed(type);
    double most = ldexp(1, (int)bits - sgn), least = sgn ? -most : 0;

    if (isnan(d))
        return 0;
    if (d >= most)
        return bits - sgn == 64 ? ~0ULL : (1ULL << (bits - sgn)) - 1;
    if (d <= least)
        return sgn ? ~0ULL << (bits - 1) : 0;
    return sgn ? (uint64_t)(int64_t)d : (uint64_t)d;
}

static uint64_t saturated(enum type to, enum type from, uint64_t v)
{
    unsigned bits = ptx_bits(to) - ptx_signed(to);
    uint64_t most = bits >= 64 ? ~0ULL : (1ULL << bits) - 1;

    if (!ptx_signed(from))
        return v > most ? most : v;
    if ((int64_t)v < 0)
        return !ptx_signed(to) ? 0
             : (int64_t)v < -(int64_t)most - 1 ? ~most : v;
    return v > most ? most : v;
}

__attribute__((noinline)) static uint64_t from_whole(enum type to,
                                                     enum type from, uint64_t v)
{
    uint32_t word;
    float f;

    v = ptx_extend(from, v);
    if (to != F32)
        return ptx_unreal(to, ptx_signed(from) ? (double)(int64_t)v
                                               : (double)v);
    f = ptx_signed(from) ? (float)(int64_t)v : (float)v;
    memcpy(&word, &f, sizeof word);
    return word;
}

static uint64_t between(const struct insn *i, enum type to, enum type from,
                        uint64_t v)
{
    double d = whole(i, ptx_real(from, v));

    if (from == F32)
        d = (double)flushed(i, (float)d);
    if (i->flags & M_SAT)
        d = d > 1 ? 1 : d > 0 ? d : 0;
    return ptx_unreal(to, d);
}

X(cvt)
{
    enum type to = (enum type)i->type[0], from = (enum type)i->type[1];
    uint64_t v = GET(1);

    round_as(i);
    if (to == F16X2 || to == BF16X2)            /* d, upper, lower */
        v = between(i, to, from, v) << 16 | between(i, to, from, GET(2));
    else if (ptx_float(to))
        v = ptx_float(from) ? between(i, to, from, v)
                            : from_whole(to, from, v);
    else if (ptx_float(from))
        v = to_whole(to, whole(i, ptx_real(from, v)));
    else if (i->flags & M_SAT)
        v = saturated(to, from, ptx_extend(from, v));
    else
        v = ptx_extend(to, ptx_extend(from, v));
    round_back(i);
    ptx_set(t, &i->o[0], v);
    return CONTINUE;
}

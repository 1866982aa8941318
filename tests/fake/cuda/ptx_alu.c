/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions on integers: arithmetic, comparisons and choices.  For the table
 * of ptx_ops.c. */
#include "ptx_int.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 swide;

#define SRC(k) ptx_src(t, i, k)
#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)
/* An instruction whose result is an expression of a, b and c. */
#define ONE(name, value) X(name)                                            \
{                                                                           \
    uint64_t a = SRC(1);                                                    \
                                                                            \
    ptx_set(t, &i->o[0], value);                                            \
    return CONTINUE;                                                           \
}
#define TWO(name, value) X(name)                                            \
{                                                                           \
    uint64_t a = SRC(1), b = SRC(2);                                        \
                                                                            \
    ptx_set(t, &i->o[0], value);                                            \
    return CONTINUE;                                                           \
}
#define THREE(name, value) X(name)                                          \
{                                                                           \
    uint64_t a = SRC(1), b = SRC(2), c = SRC(3);                            \
                                                                            \
    ptx_set(t, &i->o[0], value);                                            \
    return CONTINUE;                                                           \
}

static uint64_t low(const struct insn *i, uint64_t v)
{
    return v << i->shift >> i->shift;
}

static uint64_t clamp32(int64_t v)
{
    return (uint64_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* a + b + the carry: of unsigned words, whatever the type. */
static uint64_t plus(struct thread *t, const struct insn *i, uint64_t a,
                     uint64_t b, unsigned carry)
{
    wide sum = (wide)low(i, a) + low(i, b) + carry;

    if (i->flags & M_CC)
        t->carry = (unsigned)(sum >> i->bits) & 1;
    return (uint64_t)sum;
}

static uint64_t minus(struct thread *t, const struct insn *i, uint64_t a,
                      uint64_t b, unsigned borrow)
{
    wide x = low(i, a), y = (wide)low(i, b) + borrow;

    if (i->flags & M_CC)
        t->carry = x < y;
    return (uint64_t)(x - y);
}

TWO(add, i->flags & M_SAT ? clamp32((int64_t)(a + b)) : plus(t, i, a, b, 0))
TWO(addc, plus(t, i, a, b, t->carry))
TWO(sub, i->flags & M_SAT ? clamp32((int64_t)(a - b)) : minus(t, i, a, b, 0))
TWO(subc, minus(t, i, a, b, t->carry))

static uint64_t product(const struct insn *i, uint64_t a, uint64_t b)
{
    if (!(i->flags & M_HI))
        return a * b;
    if (i->sgn)
        return (uint64_t)(((swide)(int64_t)a * (int64_t)b) >> i->bits);
    return (uint64_t)(((wide)a * b) >> i->bits);
}

TWO(mul, product(i, a, b))

static uint64_t third(const struct thread *t, const struct insn *i)
{
    return i->flags & M_WIDE ? ptx_get(t, &i->o[3]) : SRC(3);
}

X(mad)
{
    uint64_t ab = product(i, SRC(1), SRC(2)), c = third(t, i);
    bool sat = (i->flags & M_SAT) && i->sgn;

    ptx_set(t, &i->o[0], i->flags & M_WIDE ? ab + c
                       : sat ? clamp32((int64_t)(ptx_extend(S32, ab) + c))
                       : plus(t, i, ab, c, 0));
    return CONTINUE;
}

THREE(madc, plus(t, i, product(i, a, b), c, t->carry))

static uint64_t product24(const struct insn *i, uint64_t a, uint64_t b)
{
    if (i->sgn) {
        a = (uint64_t)((int64_t)(a << 40) >> 40);
        b = (uint64_t)((int64_t)(b << 40) >> 40);
    } else {
        a &= 0xffffff;
        b &= 0xffffff;
    }
    return i->flags & M_HI ? a * b >> 16 : a * b;
}

TWO(mul24, product24(i, a, b))
THREE(mad24, product24(i, a, b) + c)

/* By zero all bits are set, and the rest is the first operand. */
static uint64_t quotient(const struct insn *i, uint64_t a, uint64_t b)
{
    if (!b)
        return ~0ULL;
    if (i->sgn)
        return b == ~0ULL ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
    return a / b;
}

static uint64_t rest(const struct insn *i, uint64_t a, uint64_t b)
{
    if (!b)
        return a;
    if (i->sgn)
        return b == ~0ULL ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
    return a % b;
}

static bool less(const struct insn *i, uint64_t a, uint64_t b)
{
    return i->sgn ? (int64_t)a < (int64_t)b : a < b;
}

TWO(div, quotient(i, a, b))
TWO(rem, rest(i, a, b))
TWO(min, less(i, b, a) ? b : a)
TWO(max, less(i, a, b) ? b : a)
ONE(abs, (int64_t)a < 0 ? 0 - a : a)
ONE(neg, 0 - a)
THREE(sad, c + (less(i, a, b) ? b - a : a - b))
TWO(and, a & b)
TWO(or, a | b)
TWO(xor, a ^ b)
ONE(not, ~a)
ONE(cnot, !a)

/* Amounts have 32 bits; those past the width leave nothing, or the sign. */
static uint64_t amount(const struct thread *t, const struct insn *i)
{
    return (uint32_t)ptx_get(t, &i->o[2]);
}

X(shl)
{
    uint64_t n = amount(t, i);

    ptx_set(t, &i->o[0], n >= i->bits ? 0 : SRC(1) << n);
    return CONTINUE;
}

X(shr)
{
    uint64_t n = amount(t, i), a = SRC(1);

    if (n >= i->bits)
        a = i->sgn && (int64_t)a < 0 ? ~0ULL : 0;
    else
        a = i->sgn ? (uint64_t)((int64_t)a >> n) : a >> n;
    ptx_set(t, &i->o[0], a);
    return CONTINUE;
}

/* ---- comparisons ---- */

static bool ordered(enum compare how, double a, double b)
{
    bool no = a != a || b != b;

    switch (how) {
    case EQ: return a == b;
    case NE: return !no && a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    case EQU: return no || a == b;
    case NEU: return no || a != b;
    case LTU: return no || a < b;
    case LEU: return no || a <= b;
    case GTU: return no || a > b;
    case GEU: return no || a >= b;
    case NUM: return !no;
    case NAN_: return no;
    default: return false;
    }
}

static bool whole(enum compare how, bool sgn, uint64_t a, uint64_t b)
{
    bool lt = sgn ? (int64_t)a < (int64_t)b : a < b;

    switch (how) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: case LO: return lt;
    case LE: case LS: return lt || a == b;
    case GT: case HI: return !lt && a != b;
    case GE: case HS: return !lt;
    default: return false;
    }
}

/* Of a packed pair, its part k. */
static bool compared(const struct thread *t, const struct insn *i,
                     enum type type, unsigned k)
{
    uint64_t a = ptx_get(t, &i->o[1]), b = ptx_get(t, &i->o[2]);

    if (type == F16X2 || type == BF16X2) {
        type = type == F16X2 ? F16 : BF16;
        a >>= 16 * k;
        b >>= 16 * k;
    }
    if (ptx_float(type))
        return ordered((enum compare)i->compare, ptx_real(type, a),
                       ptx_real(type, b));
    return whole((enum compare)i->compare, ptx_signed(type),
                 ptx_extend(type, a), ptx_extend(type, b));
}

static bool combined(const struct thread *t, const struct insn *i, bool r)
{
    bool c = i->word && i->n > 3 && ptx_get(t, &i->o[3]);

    switch (i->word) {
    case W_AND: return r && c;
    case W_OR: return r || c;
    case W_XOR: return r != c;
    default: return r;
    }
}

/* p|q: q is what the opposite gives; of a packed pair, the upper part's. */
X(setp)
{
    enum type type = (enum type)i->type[0];
    const struct operand *o = &i->o[0];
    bool r = compared(t, i, type, 0), pair = type == F16X2 || type == BF16X2;
    bool p = combined(t, i, r), q;

    if (o->kind != O_VECTOR) {
        ptx_set(t, o, p);
        return CONTINUE;
    }
    q = combined(t, i, pair ? compared(t, i, type, 1) : !r);
    ptx_set(t, &o->parts[0], p);
    ptx_set(t, &o->parts[1], q);
    return CONTINUE;
}

X(set)
{
    bool r = combined(t, i, compared(t, i, (enum type)i->type[1], 0));

    ptx_set(t, &i->o[0], !r ? 0 : i->type[0] == F32 ? 0x3f800000 : ~0ULL);
    return CONTINUE;
}

X(selp)
{
    bool p = ptx_get(t, &i->o[3]);

    ptx_set(t, &i->o[0], ptx_get(t, &i->o[p ? 1 : 2]));
    return CONTINUE;
}

X(slct)
{
    uint64_t c = ptx_get(t, &i->o[3]);
    bool first = i->type[1] == F32 ? ptx_real(F32, c) >= 0
                                   : (int32_t)c >= 0;

    ptx_set(t, &i->o[0], ptx_get(t, &i->o[first ? 1 : 2]));
    return CONTINUE;
}

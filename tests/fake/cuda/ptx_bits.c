/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions on bits: fields, permutations, counts, moves of parts, and
 * addresses of one space as such of another.  For the table of ptx_ops.c. */
#include "ptx_int.h"

#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)
#define GET(k) ptx_get(t, &i->o[k])
#define PUT(v) ptx_set(t, &i->o[0], v)

X(shf)
{
    uint64_t a = (uint32_t)GET(1), b = (uint32_t)GET(2), both = b << 32 | a;
    unsigned n = (uint32_t)GET(3);

    n = i->flags & M_WRAP ? n & 31 : n > 32 ? 32 : n;
    if (i->flags & M_LEFT)
        PUT(n == 32 ? a : both << n >> 32);
    else
        PUT(both >> n);
    return CONTINUE;
}

X(bfe)
{
    uint64_t a = ptx_src(t, i, 1), sign;
    unsigned at = GET(2) & 0xff, n = GET(3) & 0xff, last = at + n - 1;

    if (!n) {
        PUT(0);
        return CONTINUE;
    }
    if (last >= i->bits)
        last = i->bits - 1u;
    sign = i->sgn && (a >> last & 1) ? ~0ULL : 0;
    a = at >= i->bits ? sign : a >> at;
    if (last >= at && last - at < 63)
        a = (a & ((1ULL << (last - at + 1)) - 1)) |
            (sign << (last - at + 1));
    PUT(a);
    return CONTINUE;
}

X(bfi)
{
    uint64_t a = GET(1), b = GET(2), mask;
    unsigned at = GET(3) & 0xff, n = GET(4) & 0xff;

    if (at < i->bits && n) {
        mask = n >= 64 ? ~0ULL : (1ULL << n) - 1;
        b = (b & ~(mask << at)) | (a & mask) << at;
    }
    PUT(b);
    return CONTINUE;
}

X(bfind)
{
    uint64_t a = ptx_src(t, i, 1);
    unsigned at;

    if (i->sgn && (int64_t)a < 0)
        a = ~a;
    a = a << i->shift >> i->shift;
    if (!a) {
        PUT(~0ULL);
        return CONTINUE;
    }
    at = 63 - (unsigned)__builtin_clzll(a);
    PUT(i->flags & M_SHIFTAMT ? i->bits - 1 - at : at);
    return CONTINUE;
}

X(brev)
{
    uint64_t a = ptx_src(t, i, 1), r = 0;

    for (unsigned k = 0; k < i->bits; k++)
        r |= (a >> k & 1) << (i->bits - 1 - k);
    PUT(r);
    return CONTINUE;
}

X(clz)
{
    uint64_t a = ptx_src(t, i, 1);

    PUT(a ? (unsigned)__builtin_clzll(a) - i->shift : i->bits);
    return CONTINUE;
}

X(popc)
{
    PUT((unsigned)__builtin_popcountll(ptx_src(t, i, 1)));
    return CONTINUE;
}

/* Byte s of the eight, or its sign. */
static uint64_t byte(uint64_t both, unsigned s)
{
    uint64_t b = both >> (8 * (s & 7)) & 0xff;

    return s & 8 ? b & 0x80 ? 0xff : 0 : b;
}

static unsigned selected(enum word mode, unsigned c, unsigned k)
{
    unsigned s = c & 3;

    switch (mode) {
    case W_F4E: return s + k;
    case W_B4E: return (s + 8 - k) & 7;
    case W_RC8: return s;
    case W_ECL: return k < s ? s : k;
    case W_ECR: return k < s ? k : s;
    case W_RC16: return (s & 1) * 2 + (k & 1);
    default: return c >> (4 * k) & 0xf;
    }
}

X(prmt)
{
    uint64_t both = GET(2) << 32 | (uint32_t)GET(1), r = 0;
    unsigned c = (uint32_t)GET(3);

    for (unsigned k = 0; k < 4; k++)
        r |= byte(both, selected((enum word)i->word, c, k)) << (8 * k);
    PUT(r);
    return CONTINUE;
}

X(lop3)
{
    uint32_t a = (uint32_t)GET(1), b = (uint32_t)GET(2), c = (uint32_t)GET(3);
    uint32_t r = 0, table = (uint32_t)GET(4);

    for (unsigned k = 0; k < 8; k++)
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    PUT(r);
    return CONTINUE;
}

X(bmsk)
{
    unsigned at = (uint32_t)GET(1), n = (uint32_t)GET(2);

    if (i->flags & M_WRAP) {
        at &= 31;
        n &= 31;
    }
    PUT(at > 31 ? 0 : (n > 31 ? ~0ULL : (1ULL << n) - 1) << at);
    return CONTINUE;
}

X(dp4a)
{
    enum type x = i->sgn ? S8 : U8;
    enum type y = ptx_signed((enum type)i->type[1]) ? S8 : U8;
    uint64_t a = GET(1), b = GET(2), c = GET(3);

    for (unsigned k = 0; k < 32; k += 8)
        c += ptx_extend(x, a >> k) * ptx_extend(y, b >> k);
    PUT(c);
    return CONTINUE;
}

/* A vector's parts lie in a word from its low bits on. */
static uint64_t packed(const struct thread *t, const struct operand *o,
                       unsigned bits)
{
    unsigned each = bits / (unsigned)o->n;
    uint64_t v = 0, mask = each >= 64 ? ~0ULL : (1ULL << each) - 1;

    for (int k = 0; k < o->n; k++)
        v |= (ptx_get(t, &o->parts[k]) & mask) << ((unsigned)k * each);
    return v;
}

X(mov)
{
    const struct operand *to = &i->o[0], *from = &i->o[1];
    uint64_t v = from->kind == O_VECTOR ? packed(t, from, i->bits)
                                        : ptx_get(t, from);

    if (to->kind != O_VECTOR) {
        ptx_set(t, to, v);
        return CONTINUE;
    }
    for (int k = 0; k < to->n; k++)
        ptx_set(t, &to->parts[k], v >> ((unsigned)k * i->bits /
                                        (unsigned)to->n));
    return CONTINUE;
}

static uint64_t window(enum space space)
{
    return space == LOCAL ? LOCAL_AT : space == SHARED ? SHARED_AT
         : space == PARAM ? PARAM_AT : 0;
}

X(cvta)
{
    uint64_t at = window((enum space)i->space), a = GET(1);

    PUT(!at ? a : i->flags & M_TO ? a & WINDOW : a | at);
    return CONTINUE;
}

X(isspacep)
{
    uint64_t at = GET(1) & ~WINDOW;
    enum space is = at == LOCAL_AT ? LOCAL : at == SHARED_AT ? SHARED
                  : at == PARAM_AT ? PARAM : GLOBAL;

    PUT(is == (enum space)i->space);
    return CONTINUE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of instructions: names of operations, and what may stand behind
 * them.  For ptx_body.c.  What is not here is refused. */
#include "ptx_int.h"

#include <string.h>

/* What of an instruction a word sets. */
enum part { FLAG, ROUND, ORDER, SPACE, COMPARE, WORD, VEC, NOTHING };
/* Where it may stand. */
enum {
    A_HALF = 1, A_CARRY = 2, A_ROUND = 4, A_FLOAT = 8, A_SPACE = 0x10,
    A_ORDER = 0x20, A_VEC = 0x40, A_CACHE = 0x80, A_COMPARE = 0x100,
    A_LOGIC = 0x200, A_ATOM = 0x400, A_SYNC = 0x800, A_VOTE = 0x1000,
    A_SHUFFLE = 0x2000, A_SHIFT = 0x4000, A_PERMUTE = 0x8000, A_CLASS = 0x10000,
    A_UNI = 0x20000, A_BAR = 0x40000, A_TO = 0x80000, A_FIND = 0x100000,
    A_APPROX = 0x200000, A_GRID = 0x400000
};
#define A_REAL (A_ROUND | A_FLOAT)
#define A_MEM (A_SPACE | A_ORDER | A_VEC | A_CACHE)

static const struct mod {
    const char *name;
    unsigned where;
    enum part part;
    unsigned value;
} mods[] = {
    { "lo", A_HALF, FLAG, M_LO }, { "hi", A_HALF, FLAG, M_HI },
    { "wide", A_HALF, FLAG, M_WIDE }, { "cc", A_CARRY, FLAG, M_CC },
    { "sat", A_FLOAT | A_CARRY, FLAG, M_SAT },
    { "ftz", A_FLOAT | A_COMPARE | A_APPROX, FLAG, M_FTZ },
    { "approx", A_FLOAT | A_APPROX, FLAG, M_APPROX },
    { "full", A_FLOAT, FLAG, M_FULL }, { "NaN", A_FLOAT, FLAG, M_NAN },
    { "rn", A_ROUND, ROUND, RN }, { "rz", A_ROUND, ROUND, RZ },
    { "rm", A_ROUND, ROUND, RM }, { "rp", A_ROUND, ROUND, RP },
    { "rni", A_ROUND, ROUND, RNI }, { "rzi", A_ROUND, ROUND, RZI },
    { "rmi", A_ROUND, ROUND, RMI }, { "rpi", A_ROUND, ROUND, RPI },
    { "to", A_TO, FLAG, M_TO },
    { "global", A_SPACE, SPACE, GLOBAL }, { "shared", A_SPACE, SPACE, SHARED },
    { "shared::cta", A_SPACE, SPACE, SHARED },
    { "local", A_SPACE, SPACE, LOCAL }, { "const", A_SPACE, SPACE, CONST },
    { "param", A_SPACE, SPACE, PARAM },
    { "param::entry", A_SPACE, SPACE, PARAM },
    { "param::func", A_SPACE, SPACE, PARAM },
    { "weak", A_ORDER, ORDER, WEAK }, { "volatile", A_ORDER, ORDER, VOLATILE },
    { "relaxed", A_ORDER, ORDER, RELAXED },
    { "mmio", A_ORDER, ORDER, RELAXED },
    { "acquire", A_ORDER, ORDER, ACQUIRE },
    { "release", A_ORDER, ORDER, RELEASE },
    { "acq_rel", A_ORDER, ORDER, ACQ_REL }, { "sc", A_ORDER, ORDER, SC },
    { "cta", A_ORDER | A_BAR, NOTHING, 0 }, { "gpu", A_ORDER, NOTHING, 0 },
    { "cluster", A_ORDER, NOTHING, 0 }, { "gl", A_ORDER, NOTHING, 0 },
    { "sys", A_ORDER, FLAG, M_SYS }, { "noftz", A_ATOM, NOTHING, 0 },
    { "v2", A_VEC, VEC, 2 }, { "v4", A_VEC, VEC, 4 }, { "v8", A_VEC, VEC, 8 },
    { "ca", A_CACHE, NOTHING, 0 }, { "cg", A_CACHE, NOTHING, 0 },
    { "cs", A_CACHE, NOTHING, 0 }, { "lu", A_CACHE, NOTHING, 0 },
    { "cv", A_CACHE, ORDER, VOLATILE }, { "wb", A_CACHE, NOTHING, 0 },
    { "wt", A_CACHE, ORDER, VOLATILE }, { "nc", A_CACHE, NOTHING, 0 },
    { "L1", A_CACHE, NOTHING, 0 }, { "L2", A_CACHE, NOTHING, 0 },
    { "eq", A_COMPARE, COMPARE, EQ }, { "ne", A_COMPARE, COMPARE, NE },
    { "lt", A_COMPARE, COMPARE, LT }, { "le", A_COMPARE, COMPARE, LE },
    { "gt", A_COMPARE, COMPARE, GT }, { "ge", A_COMPARE, COMPARE, GE },
    { "lo", A_COMPARE, COMPARE, LO }, { "ls", A_COMPARE, COMPARE, LS },
    { "hi", A_COMPARE, COMPARE, HI }, { "hs", A_COMPARE, COMPARE, HS },
    { "equ", A_COMPARE, COMPARE, EQU }, { "neu", A_COMPARE, COMPARE, NEU },
    { "ltu", A_COMPARE, COMPARE, LTU }, { "leu", A_COMPARE, COMPARE, LEU },
    { "gtu", A_COMPARE, COMPARE, GTU }, { "geu", A_COMPARE, COMPARE, GEU },
    { "num", A_COMPARE, COMPARE, NUM }, { "nan", A_COMPARE, COMPARE, NAN_ },
    { "and", A_LOGIC, WORD, W_AND }, { "or", A_LOGIC, WORD, W_OR },
    { "xor", A_LOGIC, WORD, W_XOR },
    { "add", A_ATOM, WORD, W_ADD }, { "inc", A_ATOM, WORD, W_INC },
    { "dec", A_ATOM, WORD, W_DEC }, { "exch", A_ATOM, WORD, W_EXCH },
    { "cas", A_ATOM, WORD, W_CAS }, { "min", A_ATOM, WORD, W_MIN },
    { "max", A_ATOM, WORD, W_MAX },
    { "sync", A_SYNC, FLAG, M_SYNC }, { "aligned", A_SYNC, NOTHING, 0 },
    { "all", A_VOTE, WORD, W_ALL }, { "any", A_VOTE, WORD, W_ANY },
    { "uni", A_VOTE, WORD, W_UNI }, { "ballot", A_VOTE, WORD, W_BALLOT },
    { "idx", A_SHUFFLE, WORD, W_IDX }, { "up", A_SHUFFLE, WORD, W_UP },
    { "down", A_SHUFFLE, WORD, W_DOWN }, { "bfly", A_SHUFFLE, WORD, W_BFLY },
    { "l", A_SHIFT, FLAG, M_LEFT }, { "r", A_SHIFT, FLAG, M_RIGHT },
    { "wrap", A_SHIFT, FLAG, M_WRAP }, { "clamp", A_SHIFT, FLAG, M_CLAMP },
    { "f4e", A_PERMUTE, WORD, W_F4E }, { "b4e", A_PERMUTE, WORD, W_B4E },
    { "rc8", A_PERMUTE, WORD, W_RC8 }, { "ecl", A_PERMUTE, WORD, W_ECL },
    { "ecr", A_PERMUTE, WORD, W_ECR }, { "rc16", A_PERMUTE, WORD, W_RC16 },
    { "finite", A_CLASS, WORD, W_FINITE },
    { "infinite", A_CLASS, WORD, W_INFINITE },
    { "number", A_CLASS, WORD, W_NUMBER },
    { "notanumber", A_CLASS, WORD, W_NOTANUMBER },
    { "normal", A_CLASS, WORD, W_NORMAL },
    { "subnormal", A_CLASS, WORD, W_SUBNORMAL },
    { "uni", A_UNI, NOTHING, 0 },
    { "warp", A_BAR, FLAG, M_WARP }, { "arrive", A_BAR, FLAG, M_ARRIVE },
    { "red", A_BAR, FLAG, M_RED }, { "popc", A_BAR, WORD, W_POPC },
    { "shiftamt", A_FIND, FLAG, M_SHIFTAMT },
    { "launch_dependents", A_GRID, NOTHING, 0 }, { "wait", A_GRID, NOTHING, 0 }
};

/* whole, real: for types of integers and bits, and of floats. */
static const struct op {
    const char *name;
    ptx_exec *whole, *real;
    unsigned may;
} ops[] = {
#define OP(name, whole, real, may) { name, whole, real, may },
#define W(name, may) { #name, ptx_x_##name, NULL, may },
#define R(name, may) { #name, NULL, ptx_x_##name, may },
#define B(name, may) { #name, ptx_x_##name, ptx_x_##name, may },
    OP("add", ptx_x_add, ptx_x_fadd, A_CARRY | A_REAL)
    OP("sub", ptx_x_sub, ptx_x_fsub, A_CARRY | A_REAL)
    OP("mul", ptx_x_mul, ptx_x_fmul, A_HALF | A_REAL)
    OP("mad", ptx_x_mad, ptx_x_fma, A_HALF | A_CARRY | A_REAL)
    OP("div", ptx_x_div, ptx_x_fdiv, A_REAL)
    OP("min", ptx_x_min, ptx_x_fmin, A_FLOAT)
    OP("max", ptx_x_max, ptx_x_fmax, A_FLOAT)
    OP("abs", ptx_x_abs, ptx_x_fabs, A_FLOAT)
    OP("neg", ptx_x_neg, ptx_x_fneg, A_FLOAT)
    W(addc, A_CARRY) W(subc, A_CARRY) W(madc, A_HALF | A_CARRY)
    W(mul24, A_HALF) W(mad24, A_HALF) W(rem, 0) W(sad, 0)
    W(and, 0) W(or, 0) W(xor, 0) W(not, 0) W(cnot, 0) W(shl, 0) W(shr, 0)
    W(shf, A_SHIFT) W(bfe, 0) W(bfi, 0) W(bfind, A_FIND) W(brev, 0) W(clz, 0)
    W(popc, 0) W(prmt, A_PERMUTE) W(lop3, 0) W(bmsk, A_SHIFT) W(dp4a, 0)
    B(selp, 0) B(slct, A_FLOAT) B(setp, A_COMPARE | A_LOGIC)
    B(set, A_COMPARE | A_LOGIC) B(mov, 0) B(cvt, A_REAL)
    W(cvta, A_TO | A_SPACE) W(isspacep, A_SPACE)
    R(fma, A_REAL) R(sqrt, A_REAL) R(rsqrt, A_REAL) R(rcp, A_REAL)
    R(ex2, A_APPROX) R(lg2, A_APPROX) R(sin, A_APPROX) R(cos, A_APPROX)
    R(tanh, A_APPROX) R(testp, A_CLASS) R(copysign, 0)
    B(ld, A_MEM) B(st, A_MEM) OP("ldu", ptx_x_ld, ptx_x_ld, A_MEM)
    B(atom, A_SPACE | A_ORDER | A_ATOM | A_LOGIC | A_CACHE)
    B(red, A_SPACE | A_ORDER | A_ATOM | A_LOGIC | A_CACHE)
    W(fence, A_ORDER) OP("membar", ptx_x_fence, NULL, A_ORDER)
    W(prefetch, A_SPACE | A_CACHE) OP("prefetchu", ptx_x_prefetch, NULL, A_CACHE)
    W(bar, A_SYNC | A_BAR | A_LOGIC)
    OP("barrier", ptx_x_bar, NULL, A_SYNC | A_BAR | A_LOGIC)
    W(vote, A_SYNC | A_VOTE) B(shfl, A_SYNC | A_SHUFFLE)
    W(match, A_SYNC | A_VOTE) W(redux, A_SYNC | A_ATOM | A_LOGIC)
    W(elect, A_SYNC) W(activemask, 0)
    W(bra, A_UNI) OP("brx", ptx_x_brx, NULL, A_SHUFFLE | A_UNI)
    W(call, A_UNI) W(ret, A_UNI) W(exit, 0) W(trap, 0) W(brkpt, 0)
    W(nanosleep, 0) OP("griddepcontrol", ptx_x_nothing, NULL, A_GRID)
    OP("pmevent", ptx_x_nothing, NULL, 0)
};

static bool part(struct insn *i, const char *word, unsigned may)
{
    enum type type = ptx_type(word);

    if (type != NO_TYPE) {
        if (i->n_types == 3)
            return false;
        i->type[i->n_types++] = (uint8_t)type;
        return true;
    }
    if ((may & A_CACHE) && (!strncmp(word, "L1::", 4) ||
                            !strncmp(word, "L2::", 4)))
        return true;
    for (unsigned k = 0; k < sizeof mods / sizeof *mods; k++) {
        const struct mod *m = &mods[k];

        if (!(m->where & may) || strcmp(m->name, word))
            continue;
        switch (m->part) {
        case FLAG: i->flags |= m->value; break;
        case ROUND: i->round = (uint8_t)m->value; break;
        case ORDER: i->order = (uint8_t)m->value; break;
        case SPACE: i->space = (uint8_t)m->value; break;
        case COMPARE: i->compare = (uint8_t)m->value; break;
        case WORD: i->word = (uint8_t)m->value; break;
        case VEC: i->vec = (uint8_t)m->value; break;
        case NOTHING: break;
        }
        return true;
    }
    return false;
}

/* Votes and shuffles without a mask went with the devices that had them. */
static bool has_mask(const struct insn *i)
{
    return (i->run != ptx_x_vote && i->run != ptx_x_shfl &&
            i->run != ptx_x_match && i->run != ptx_x_redux) ||
           (i->flags & M_SYNC);
}

bool ptx_decode(const char *word, struct insn *i)
{
    char name[128], *at, *save;
    const struct op *op = NULL;

    if (strlen(word) >= sizeof name)
        return false;
    strcpy(name, word);
    at = strtok_r(name, ".", &save);
    for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++)
        if (at && !strcmp(ops[k].name, at))
            op = &ops[k];
    while (op && (at = strtok_r(NULL, ".", &save)))
        if (!part(i, at, op->may))
            return false;
    if (!op)
        return false;
    i->run = ptx_float((enum type)i->type[0]) ? op->real : op->whole;
    if (i->n_types)
        i->bits = (uint8_t)ptx_bits((enum type)i->type[0]);
    else
        i->bits = 64;
    i->shift = (uint8_t)(i->bits > 64 ? 0 : 64 - i->bits);
    i->sgn = ptx_signed((enum type)i->type[0]);
    return i->run && has_mask(i);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_reduce.c - which loop computes a reduction: types with the same
 * arithmetic share a loop. Each driver asks before it launches its own form
 * of the loop. */
#include "gtl/gtl_int.h"

#include <errno.h>

static const unsigned sizes[GTL_TYPES] = {
    [GTL_I8] = 1, [GTL_I16] = 2, [GTL_I32] = 4, [GTL_I64] = 8,
    [GTL_U8] = 1, [GTL_U16] = 2, [GTL_U32] = 4, [GTL_U64] = 8,
    [GTL_FLOAT] = 4, [GTL_DOUBLE] = 8, [GTL_COMPLEXF] = 8,
    [GTL_COMPLEXD] = 16
};

const char *const gtl_op_names[GTL_REDUCTIONS] = {
    [GTL_RED_AND] = "AND", [GTL_RED_OR] = "OR", [GTL_RED_XOR] = "XOR",
    [GTL_RED_MAX] = "MAX", [GTL_RED_MIN] = "MIN", [GTL_RED_SUM] = "SUM",
    [GTL_RED_PROD] = "PROD"
};

const char *const gtl_type_names[GTL_TYPES] = {
    [GTL_I8] = "INT8", [GTL_I16] = "INT16", [GTL_I32] = "INT32",
    [GTL_I64] = "INT64", [GTL_U8] = "UINT8", [GTL_U16] = "UINT16",
    [GTL_U32] = "UINT32", [GTL_U64] = "UINT64", [GTL_FLOAT] = "FLOAT",
    [GTL_DOUBLE] = "DOUBLE", [GTL_COMPLEXF] = "COMPLEXF",
    [GTL_COMPLEXD] = "COMPLEXD"
};

static int invalid(void)
{
    return gtl_fail(-EINVAL, "reduce", "the type has no such operation",
                    EINVAL);
}

/* The first loop of each operation; the others are in the order of types. */
static int integers(enum gtl_reduction op, unsigned type)
{
    static const enum gtl_loop first[GTL_REDUCTIONS] = {
        GTL_LOOP_AND8, GTL_LOOP_OR8, GTL_LOOP_XOR8, GTL_LOOP_MAXI8,
        GTL_LOOP_MINI8, GTL_LOOP_SUM8, GTL_LOOP_PROD8
    };
    bool ordered = op == GTL_RED_MAX || op == GTL_RED_MIN;

    return (int)(first[op] + (ordered ? type : type % 4));
}

static int floats(enum gtl_reduction op, unsigned type)
{
    static const enum gtl_loop first[GTL_REDUCTIONS] = {
        [GTL_RED_MAX] = GTL_LOOP_MAXF, [GTL_RED_MIN] = GTL_LOOP_MINF,
        [GTL_RED_SUM] = GTL_LOOP_SUMF, [GTL_RED_PROD] = GTL_LOOP_PRODF
    };

    return first[op] ? (int)(first[op] + type - GTL_FLOAT) : -1;
}

int gtl_reduce_find(const struct gtl_reduce *r, struct gtl_reduce_loop *out)
{
    unsigned op = r->op, type = r->type;
    struct gtl_reduce_loop l = { .n = r->n };
    int loop = -1;

    if (op >= GTL_REDUCTIONS || type >= GTL_TYPES)
        return invalid();
    l.size = sizes[type];
    if (type < GTL_FLOAT) {
        loop = integers(r->op, type);
    } else if (type < GTL_COMPLEXF) {
        loop = floats(r->op, type);
    } else if (op == GTL_RED_PROD) {
        loop = (int)(GTL_LOOP_PRODCF + type - GTL_COMPLEXF);
    } else if (op == GTL_RED_SUM) {
        loop = (int)(GTL_LOOP_SUMF + type - GTL_COMPLEXF);
        l.n *= 2;               /* parts */
        l.size /= 2;
    }
    if (loop < 0)
        return invalid();
    l.loop = (enum gtl_loop)loop;
    *out = l;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_reduction.h - reductions that a device does: their operations and
 * types. */
#ifndef GTL_GTL_REDUCTION_H
#define GTL_GTL_REDUCTION_H

#include <stddef.h>

/* out = a op b, element by element: operations and types of reductions.
 * Sums and products are those of one step each, never fused. */
enum gtl_reduction {
    GTL_RED_AND, GTL_RED_OR, GTL_RED_XOR, GTL_RED_MAX, GTL_RED_MIN,
    GTL_RED_SUM, GTL_RED_PROD, GTL_REDUCTIONS
};
enum gtl_type {
    GTL_I8, GTL_I16, GTL_I32, GTL_I64, GTL_U8, GTL_U16, GTL_U32, GTL_U64,
    GTL_FLOAT, GTL_DOUBLE, GTL_COMPLEXF, GTL_COMPLEXD, GTL_TYPES
};
struct gtl_reduce {
    enum gtl_reduction op;
    enum gtl_type type;
    void *out;                  /* may be a or b */
    const void *a, *b;
    size_t n;                   /* elements */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* gups.h - the numbers of gups and gups_host: a shift register of 64 bits. */
#ifndef GUPS_H
#define GUPS_H

/* Kernels have them as their own. */
#ifndef GUPS_WORD
#include <stdint.h>
#define GUPS_WORD uint64_t
#define GUPS_FUNCTION static inline
#endif

GUPS_FUNCTION GUPS_WORD gups_next(GUPS_WORD x)
{
    return x << 1 ^ (x >> 63 ? 7 : 0);
}

/* The product of polynomials over bits, modulo that of the register. */
GUPS_FUNCTION GUPS_WORD gups_product(GUPS_WORD a, GUPS_WORD b)
{
    GUPS_WORD sum = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            sum ^= a;
        a = gups_next(a);
    }
    return sum;
}

/* Number n of those that begin with 1. */
GUPS_FUNCTION GUPS_WORD gups_number_at(GUPS_WORD n)
{
    GUPS_WORD x = 1, power = 2;

    for (; n; n >>= 1) {
        if (n & 1)
            x = gups_product(x, power);
        power = gups_product(power, power);
    }
    return x;
}

#endif

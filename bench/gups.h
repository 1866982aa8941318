/* SPDX-License-Identifier: BSD-3-Clause */
/* gups.h - the numbers of gups and gups_host: a shift register of 64 bits. */
#ifndef GUPS_H
#define GUPS_H

#include <stdint.h>

static inline uint64_t gups_next(uint64_t x)
{
    return x << 1 ^ (x >> 63 ? 7 : 0);
}

/* The product of polynomials over bits, modulo that of the register. */
static inline uint64_t gups_product(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            sum ^= a;
        a = gups_next(a);
    }
    return sum;
}

/* Number n of those that begin with 1. */
static inline uint64_t gups_number_at(uint64_t n)
{
    uint64_t x = 1, power = 2;

    for (; n; n >>= 1) {
        if (n & 1)
            x = gups_product(x, power);
        power = gups_product(power, power);
    }
    return x;
}

#endif

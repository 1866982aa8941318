/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h - a field of n * n cells whose ends meet, as it is at first and as it
 * must be later, by other means than those that are tested. */
#ifndef GOL2D_FIELD_H
#define GOL2D_FIELD_H

#include <stdbool.h>

/* glider8: eight gliders along the diagonal, which never meet; after 4 k
 * generations they are k rows up and k columns to the right. */
enum field_init { FIELD_RANDOM, FIELD_GLIDER8 };
enum { GLIDER_LEAST = 64 };     /* n of a field that has room for them */

struct field {
    enum field_init init;
    long n, seed;
};

/* 1: alive at first. */
int field_cell(const struct field *f, long row, long col);
/* cells[n][n] after so many generations, one by one. */
void field_serial(const struct field *f, long gens, unsigned char *cells);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_int.h - what osu.c, osu_rows.c and osu_check.c share. */
#ifndef OSU_INT_H
#define OSU_INT_H

#include "osu.h"

/* Smallest, largest and sum of a value over the PEs that take part. */
struct osu_spread {
    double sum, min, max;
    int count;
};

/* Gathers a value of each PE below count at PE 0. */
struct osu_spread osu_gather(struct osu *o, double value, int count);

void osu_print_header(struct osu *o);
void osu_print_end(struct osu *o);

/* Repeats the operation on known bytes: the first, the last and one other
 * iteration.  Returns the number of wrong bytes over all PEs, at PE 0. */
int osu_check_copy(struct osu *o, size_t n, osu_op *op);
int osu_check_window(struct osu *o, size_t n, osu_op *op);

#endif

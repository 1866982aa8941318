/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.h - blocks of ex * ey * ez elements with n * n * n points each, one
 * block on each PE of a grid: u[z][y][x][k][j][i].  Neighbouring elements have
 * the points of their common face each for itself. */
#ifndef FACES_FACES_H
#define FACES_FACES_H

#include <stdbool.h>
#include <stddef.h>

#include "../halo/grid.h"

struct shape {
    long p[AXES];               /* PEs */
    bool periodic;
    long e[AXES], n;            /* elements of a PE, points along an edge */
};

static inline size_t shape_points(const struct shape *s)
{
    return (size_t)(s->e[X] * s->e[Y] * s->e[Z] * s->n * s->n * s->n);
}

/* How many blocks are around one. */
int shape_neighbours(const struct shape *s, int pe);

/* What reference_block() takes. */
size_t reference_bytes(const struct shape *s);

/* The block of this PE after so many steps from the values of this seed: by
 * going through all blocks, point by point. */
void reference_block(const struct shape *s, unsigned seed, long steps, int pe,
                     double *out);

#endif

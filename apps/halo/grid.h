/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h - PEs as a box of px * py * pz, x the fastest; and the directions from
 * one to those around it.  Of a flat grid pz is 1, and no direction has a z. */
#ifndef HALO_GRID_H
#define HALO_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X, Y, Z, AXES, SIDES_MAX = 26 };

struct grid {
    int p[AXES];                /* PEs along each axis */
    int axes;                   /* 2 or 3 */
    bool periodic;              /* each end is beside the other */
    int sides;                  /* 8 or 26 */
    int step[SIDES_MAX][AXES];  /* -1, 0 or 1: faces, then edges, corners */
    int opposite[SIDES_MAX];    /* the side that leads back */
};

void grid_make(struct grid *g, const int p[AXES], int axes, bool periodic);
void grid_place(const struct grid *g, int pe, int at[AXES]);
/* The PE on that side of a PE: maybe itself, or one PE on several sides; -1:
 * none. */
int grid_neighbour(const struct grid *g, int pe, int side);
/* Are the places in a block with its ghosts 32-bit numbers? */
static inline bool grid_has_places(long rows, long cols)
{
    return (double)(rows + 2) * (double)(cols + 2) <= UINT32_MAX;
}
/* Places in a block of rows * cols with a border of ghosts, row by row: of the
 * cells that a neighbour in that direction wants, or of the ghosts that come from
 * there.  The caller frees the list. */
unsigned *grid_places(const int step[AXES], size_t rows, size_t cols,
                      bool ghosts, size_t *n);
/* The factors of n that are nearest to each other, largest first. */
void grid_factors(int n, int axes, int p[AXES]);

#endif

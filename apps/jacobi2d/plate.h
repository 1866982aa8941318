/* SPDX-License-Identifier: BSD-3-Clause */
/* plate.h - a plate of ny rows of nx points: its first and last rows are
 * neighbours, the points beside its first and last columns are held at what
 * they are, and all others are 0 at first. */
#ifndef JACOBI2D_PLATE_H
#define JACOBI2D_PLATE_H

struct plate {
    long nx, ny;
};

/* What the points beside that row are held at. */
double plate_edge(const struct plate *p, long row);
/* points[ny][nx] after so many iterations, one by one; norms[]: after every so
 * many iterations the root of the sum of squares of what changed; every: 0 for
 * none. */
void plate_serial(const struct plate *p, long iters, long every, double *points,
                  double *norms);

#endif

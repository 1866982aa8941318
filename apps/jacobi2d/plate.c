/* SPDX-License-Identifier: BSD-3-Clause */
#include "plate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../halo/app.h"

double plate_edge(const struct plate *p, long row)
{
    return p->ny > 1 ? sin(2 * M_PI * (double)row / (double)(p->ny - 1)) : 0;
}

/* Above the first row is the last one. */
static void wrap(double *points, long ny, size_t width)
{
    memcpy(points, points + (size_t)ny * width, width * sizeof *points);
    memcpy(points + (size_t)(ny + 1) * width, points + width,
           width * sizeof *points);
}

/* The sum of squares of what changes. */
static double iteration(const double *from, double *to, long nx, long ny)
{
    size_t width = (size_t)nx + 2;
    double squares = 0;

    for (long r = 1; r <= ny; r++) {
        const double *a = from + (size_t)r * width;
        double *b = to + (size_t)r * width, sum = 0;

        for (long c = 1; c <= nx; c++) {
            b[c] = 0.25 * (((a[c - 1] + a[c + 1]) + a[(size_t)c + width]) +
                           *(a + c - width));
            sum += (b[c] - a[c]) * (b[c] - a[c]);
        }
        squares += sum;
    }
    return squares;
}

void plate_serial(const struct plate *p, long iters, long every, double *points,
                  double *norms)
{
    size_t width = (size_t)p->nx + 2, rows = (size_t)p->ny + 2;
    double *from = app_memory(rows * width, sizeof *from);
    double *to = app_memory(rows * width, sizeof *to), *both[] = { from, to };

    for (int i = 0; i < 2; i++)
        for (long r = 0; r < p->ny; r++) {
            double *row = both[i] + (size_t)(r + 1) * width;

            row[0] = row[width - 1] = plate_edge(p, r);
        }
    for (long i = 0; i < iters; i++) {
        double *was = from, squares;

        wrap(from, p->ny, width);
        squares = iteration(from, to, p->nx, p->ny);
        if (every && (i + 1) % every == 0)
            norms[i / every] = sqrt(squares);
        from = to;
        to = was;
    }
    for (long r = 0; r < p->ny; r++)
        memcpy(points + r * p->nx, from + (size_t)(r + 1) * width + 1,
               (size_t)p->nx * sizeof *points);
    free(both[0]);
    free(both[1]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "app.h"

static void add_side(struct grid *g, int x, int y, int z)
{
    int *step = g->step[g->sides++];

    step[X] = x;
    step[Y] = y;
    step[Z] = z;
}

/* The sides whose step has so many axes. */
static void add_sides(struct grid *g, int many)
{
    int depth = g->axes == 3;

    for (int z = -depth; z <= depth; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (abs(x) + abs(y) + abs(z) == many)
                    add_side(g, x, y, z);
}

void grid_make(struct grid *g, const int p[AXES], int axes, bool periodic)
{
    *g = (struct grid){ .p = { p[X], p[Y], axes == 3 ? p[Z] : 1 },
                        .axes = axes, .periodic = periodic };
    for (int many = 1; many <= axes; many++) {
        int first = g->sides;

        /* Steps come in order, so the negative ones come in the reverse. */
        add_sides(g, many);
        for (int i = first; i < g->sides; i++)
            g->opposite[i] = g->sides - 1 - (i - first);
    }
}

void grid_place(const struct grid *g, int pe, int at[AXES])
{
    at[X] = pe % g->p[X];
    at[Y] = pe / g->p[X] % g->p[Y];
    at[Z] = pe / g->p[X] / g->p[Y];
}

int grid_neighbour(const struct grid *g, int pe, int side)
{
    int at[AXES];

    grid_place(g, pe, at);
    for (int a = 0; a < AXES; a++) {
        at[a] += g->step[side][a];
        if (!g->periodic && (at[a] < 0 || at[a] >= g->p[a]))
            return -1;
        at[a] = (at[a] + g->p[a]) % g->p[a];
    }
    return at[X] + g->p[X] * (at[Y] + g->p[Y] * at[Z]);
}

void grid_factors(int n, int axes, int p[AXES])
{
    p[X] = p[Y] = p[Z] = 1;
    for (int a = axes - 1; a > 0; a--) {
        for (int f = 1, root = 1; f <= n; f++, root = 1) {
            for (int k = 0; k <= a; k++)
                root *= f;
            if (root > n)
                break;
            if (n % f == 0)
                p[a] = f;
        }
        n /= p[a];
    }
    p[X] = n;
}

/* ---- places of a flat block ---- */

/* Along one axis of so many cells: from which one on, and how many, go to the
 * neighbour there, or come from it. */
static void range(int step, size_t cells, bool ghosts, size_t *first,
                  size_t *n)
{
    *n = step ? 1 : cells;
    *first = step > 0 ? cells + ghosts : step < 0 ? !ghosts : 1;
}

unsigned *grid_places(const int step[AXES], size_t rows, size_t cols,
                      bool ghosts, size_t *out)
{
    size_t row, n_rows, col, n_cols, width = cols + 2;
    unsigned *list;

    range(step[Y], rows, ghosts, &row, &n_rows);
    range(step[X], cols, ghosts, &col, &n_cols);
    *out = n_rows * n_cols;
    list = app_memory(*out, sizeof *list);
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < n_cols; c++)
            list[r * n_cols + c] = (unsigned)((row + r) * width + col + c);
    return list;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../halo/app.h"

/* So many of 1000 cells live in a random field. */
enum { ALIVE = 370 };

static int random_cell(const struct field *f, long row, long col)
{
    uint64_t x = (uint64_t)f->seed * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)(row * f->n + col);

    /* The end of splitmix64. */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % 1000 < ALIVE;
}

static int glider_cell(const struct field *f, long row, long col)
{
    static const char *const shape[] = { "###", "..#", ".#." };
    long apart = f->n / 8, i = row / apart;

    row -= i * apart;
    col -= i * apart;
    return i < 8 && row < 3 && col >= 0 && col < 3 && shape[row][col] == '#';
}

int field_cell(const struct field *f, long row, long col)
{
    return f->init == FIELD_RANDOM ? random_cell(f, row, col)
                                   : glider_cell(f, row, col);
}

/* Cells have a border of copies of the other end. */
static void wrap(unsigned char *cells, long n)
{
    long w = n + 2;

    for (long r = 1; r <= n; r++) {
        cells[r * w] = cells[r * w + n];
        cells[r * w + n + 1] = cells[r * w + 1];
    }
    memcpy(cells, cells + n * w, (size_t)w);
    memcpy(cells + (n + 1) * w, cells + w, (size_t)w);
}

static void generation(const unsigned char *from, unsigned char *to, long n)
{
    long w = n + 2;

    for (long r = 1; r <= n; r++)
        for (long c = 1; c <= n; c++) {
            const unsigned char *at = from + r * w + c;
            int alive = at[-w - 1] + at[-w] + at[-w + 1] + at[-1] + at[1] +
                       at[w - 1] + at[w] + at[w + 1];

            to[r * w + c] = (alive == 3) | ((alive == 2) & at[0]);
        }
}

void field_serial(const struct field *f, long gens, unsigned char *cells)
{
    size_t w = (size_t)f->n + 2;
    unsigned char *from = app_memory(w, w), *to = app_memory(w, w);

    for (long r = 0; r < f->n; r++)
        for (long c = 0; c < f->n; c++)
            from[(size_t)(r + 1) * w + (size_t)c + 1] =
                (unsigned char)field_cell(f, r, c);
    for (long g = 0; g < gens; g++) {
        unsigned char *was = from;

        wrap(from, f->n);
        generation(from, to, f->n);
        from = to;
        to = was;
    }
    for (long r = 0; r < f->n; r++)
        memcpy(cells + r * f->n, from + (size_t)(r + 1) * w + 1,
               (size_t)f->n);
    free(from);
    free(to);
}

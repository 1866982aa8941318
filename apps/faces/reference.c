/* SPDX-License-Identifier: BSD-3-Clause */
/* reference.c - the steps for all blocks, on the host.  Nothing is packed or
 * sent: a point finds those that it is added up with where they are. */
#include "faces.h"

#include <stdlib.h>
#include <string.h>

#include "../halo/app.h"
#include "../halo/kernels.inc"
#include "kernels.inc"

/* A point: the element, and the place within. */
struct point {
    long e[AXES], at[AXES];
};

/* Which points of a block are added up with which. */
struct list {
    size_t *mine, *other, n;
};
enum { AROUND = 27, ITSELF = 13 };      /* steps of -1, 0, 1 along the axes */
struct plan {
    const struct shape *shape;
    size_t points;
    struct list within[AXES];           /* copies in the next element */
    struct list beyond[AROUND];         /* in the block there */
};

static size_t index_of(const struct shape *s, const struct point *p)
{
    const long *e = p->e, *at = p->at, n = s->n;
    long element = (e[Z] * s->e[Y] + e[Y]) * s->e[X] + e[X];

    return (size_t)(((element * n + at[Z]) * n + at[Y]) * n + at[X]);
}

static struct point point_of(const struct shape *s, size_t i)
{
    long left = (long)i;
    struct point p;

    for (int a = 0; a < AXES; a++) {
        p.at[a] = left % s->n;
        left /= s->n;
    }
    for (int a = 0; a < AXES; a++) {
        p.e[a] = left % s->e[a];
        left /= s->e[a];
    }
    return p;
}

/* The block a step along each axis from here; -1. */
static long block_beyond(const struct shape *s, long block, int around)
{
    long at[AXES] = { block % s->p[X], block / s->p[X] % s->p[Y],
                      block / s->p[X] / s->p[Y] };

    for (int a = 0; a < AXES; a++, around /= 3) {
        at[a] += around % 3 - 1;
        if (!s->periodic && (at[a] < 0 || at[a] >= s->p[a]))
            return -1;
        at[a] = (at[a] + s->p[a]) % s->p[a];
    }
    return (at[Z] * s->p[Y] + at[Y]) * s->p[X] + at[X];
}

int shape_neighbours(const struct shape *s, int pe)
{
    int n = 0;

    for (int i = 0; i < AROUND; i++)
        n += i != ITSELF && block_beyond(s, pe, i) >= 0;
    return n;
}

/* To the copy of a point in the element a step further along an axis, which may
 * be in the next block; false: that has none. */
static bool copy_beyond(const struct shape *s, struct point *p, int axis,
                        int step, bool in_block)
{
    long e = p->e[axis] + step;
    bool leaves = e < 0 || e >= s->e[axis];

    if (step == 0)
        return true;
    if (leaves == in_block || p->at[axis] != (step > 0 ? s->n - 1 : 0))
        return false;
    p->e[axis] = (e + s->e[axis]) % s->e[axis];
    p->at[axis] = step > 0 ? 0 : s->n - 1;
    return true;
}

static size_t most_beyond(const struct shape *s, int around)
{
    long most = 1;

    for (int a = 0; a < AXES; a++, around /= 3)
        most *= around % 3 == 1 ? s->e[a] * s->n : 1;
    return (size_t)most;
}

static void list_add(struct list *l, size_t mine, size_t other)
{
    l->mine[l->n] = mine;
    l->other[l->n++] = other;
}

static void list_open(struct list *l, size_t most)
{
    l->mine = app_memory(most, sizeof *l->mine);
    l->other = app_memory(most, sizeof *l->other);
    l->n = 0;
}

static void list_close(struct list *l)
{
    free(l->mine);
    free(l->other);
}

static void plan_open(struct plan *out, const struct shape *s)
{
    out->shape = s;
    out->points = shape_points(s);
    for (int a = 0; a < AXES; a++)
        list_open(&out->within[a], out->points / (size_t)s->n);
    for (int k = 0; k < AROUND; k++)
        list_open(&out->beyond[k], most_beyond(s, k));
    for (size_t i = 0; i < out->points; i++) {
        const struct point p = point_of(s, i);

        for (int a = 0; a < AXES; a++) {
            struct point q = p;

            if (copy_beyond(s, &q, a, 1, true))
                list_add(&out->within[a], i, index_of(s, &q));
        }
        for (int k = 0; k < AROUND; k++) {
            struct point q = p;

            if (k != ITSELF && copy_beyond(s, &q, X, k % 3 - 1, false) &&
                copy_beyond(s, &q, Y, k / 3 % 3 - 1, false) &&
                copy_beyond(s, &q, Z, k / 9 - 1, false))
                list_add(&out->beyond[k], i, index_of(s, &q));
        }
    }
}

static void plan_close(struct plan *p)
{
    for (int a = 0; a < AXES; a++)
        list_close(&p->within[a]);
    for (int k = 0; k < AROUND; k++)
        list_close(&p->beyond[k]);
}

/* raw: all blocks as they were. */
static void step(const struct plan *p, long block, double *u,
                 const double *raw, bool folded)
{
    for (int a = 0; a < AXES; a++) {
        const struct list *l = &p->within[a];

        for (size_t i = 0; i < l->n; i++) {
            double both = u[l->mine[i]] + u[l->other[i]];

            u[l->mine[i]] = u[l->other[i]] = both;
        }
    }
    for (int k = 0; k < AROUND; k++) {
        const struct list *l = &p->beyond[k];
        long there = block_beyond(p->shape, block, k);

        for (size_t i = 0; there >= 0 && i < l->n; i++)
            u[l->mine[i]] += raw[(size_t)there * p->points + l->other[i]];
    }
    for (size_t i = 0; folded && i < p->points; i++)
        u[i] = (double)((long long)u[i] % PRIME);
}

size_t reference_bytes(const struct shape *s)
{
    return 2 * sizeof(double) * shape_points(s) *
           (size_t)(s->p[X] * s->p[Y] * s->p[Z]);
}

void reference_block(const struct shape *s, unsigned seed, long steps, int pe,
                     double *out)
{
    long blocks = s->p[X] * s->p[Y] * s->p[Z];
    size_t points = shape_points(s), all = (size_t)blocks * points;
    double *u = app_memory(all, sizeof *u), *raw = app_memory(all, sizeof *u);
    struct plan plan;

    plan_open(&plan, s);
    for (long b = 0; b < blocks; b++)
        for (size_t i = 0; i < points; i++)
            u[(size_t)b * points + i] = first_value((word64)b, i, seed);
    for (long k = 0; k < steps; k++) {
        memcpy(raw, u, all * sizeof *u);
        for (long b = 0; b < blocks; b++)
            step(&plan, b, u + (size_t)b * points, raw,
                 k % FOLD == FOLD - 1);
    }
    memcpy(out, u + (size_t)pe * points, points * sizeof *out);
    plan_close(&plan);
    free(u);
    free(raw);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: how much of a nonblocking put's time passes while the processor
 * computes for as long as a put and a quiet take alone.  All times are means
 * in microseconds; OSU's program prints parts of the last iteration. */
#include "osu.h"

#include <shmem.h>

static char src[OSU_LAT_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_LAT_BYTES] __attribute__((aligned(4096)));

static const struct osu_prog prog = {
    .name = "osu_oshm_put_overlap",
    .title = "OSU OpenSHMEM Put_nbi Test",
    .kind = OSU_OVERLAP,
    .is_get = false,
    .src = src,
    .dst = dst,
    .bytes = OSU_LAT_BYTES,
};

/* Work that no call of the library hides in. */
static void compute(double us)
{
    static volatile unsigned sink;
    double end = osu_now() + us;

    do {
        for (unsigned i = 0; i < 50; i++)
            sink = sink * 3 + i;
    } while (osu_now() < end);
}

static double pure_us(struct osu *o, size_t n)
{
    double sum = 0, start;

    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        shmem_putmem(o->dst, o->src, n, 1);
        shmem_quiet();
        if (i >= 0)
            sum += osu_now() - start;
        shmem_fence();
    }
    return sum / o->iters;
}

static double overlap(struct osu *o, size_t n)
{
    struct osu_cell *c = &o->cells[o->place];
    double start, issued, computed, end, exposed;

    c->pure = pure_us(o, n);
    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        shmem_putmem_nbi(o->dst, o->src, n, 1);
        issued = osu_now();
        compute(c->pure);
        computed = osu_now();
        shmem_quiet();
        end = osu_now();
        if (i >= 0) {
            c->init += (issued - start) / o->iters;
            c->compute += (computed - issued) / o->iters;
            c->wait += (end - computed) / o->iters;
        }
        shmem_fence();
    }
    exposed = c->pure > 0 ? (c->init + c->wait) / c->pure * 100 : 100;
    return exposed < 100 ? 100 - exposed : 0;
}

static void once(struct osu *o, size_t n)
{
    shmem_putmem_nbi(o->dst, o->src, n, 1);
    compute(1);
    shmem_quiet();
}

int main(int argc, char **argv)
{
    return osu_copies(&prog, overlap, once, argc, argv);
}

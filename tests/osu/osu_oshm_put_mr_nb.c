/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages per second of nonblocking puts, one quiet at the end,
 * from the first half of the PEs to the second. */
#include "osu.h"

#include <shmem.h>

static char buf[OSU_RATE_BYTES] __attribute__((aligned(4096)));

static const struct osu_prog prog = {
    .name = "osu_oshm_put_mr_nb",
    .title = "OSU OpenSHMEM Put_nb Message Rate Test",
    .kind = OSU_RATE,
    .is_get = false,
    .src = buf,
    .dst = buf,
    .bytes = OSU_RATE_BYTES,
};

static double per_second(struct osu *o, size_t n)
{
    char *const to = o->dst, *const from = o->src;
    const size_t last = osu_rate_span(o) - n;
    const int iters = o->iters, peer = o->peer;
    double start = osu_now();
    size_t at = 0;

    for (int i = 0; i < iters; i++) {
        shmem_putmem_nbi(to + at, from + at, n, peer);
        at = at + n <= last ? at + n : 0;
    }
    shmem_quiet();
    return iters * 1e6 / (osu_now() - start);
}

static void once(struct osu *o, size_t n)
{
    per_second(o, n);
}

int main(int argc, char **argv)
{
    return osu_copies(&prog, per_second, once, argc, argv);
}

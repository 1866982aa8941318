/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages per second of nonblocking puts, one quiet at the end,
 * from the first half of the PEs to the second, made inside a kernel by a
 * thread, a warp or a block, or by the program. */
#include "osu_kernel.h"

#include <shmem.h>

static char buf[OSU_RATE_BYTES] __attribute__((aligned(4096)));

static void loop_host(struct osu *o, size_t n, int iters)
{
    const size_t last = osu_rate_span(o) - n;
    size_t at = 0;

    for (int i = 0; i < iters; i++) {
        shmem_putmem_nbi(o->dst + at, o->src + at, n, o->peer);
        at = at + n <= last ? at + n : 0;
    }
    shmem_quiet();
}

static const struct osu_prog prog = {
    .name = "osu_oshm_put_mr_kernel",
    .title = "OSU OpenSHMEM Put in Kernel Message Rate Test",
    .kind = OSU_RATE,
    .src = buf,
    .dst = buf,
    .bytes = OSU_RATE_BYTES,
    .callers = OSU_CALLERS,
};

int main(int argc, char **argv)
{
    static const struct osu_work work = { loop_host, OSU_LOOP_put_mr_thread };

    return osu_kernel_copies(&prog, &work, argc, argv);
}

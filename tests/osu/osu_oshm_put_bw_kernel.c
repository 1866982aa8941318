/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: bandwidth of windows of nonblocking puts, a quiet after each
 * window, made inside a kernel by a thread, a warp or a block, or by the
 * program; a MB is 10^6 bytes.  A window longer than the buffers wraps. */
#include "osu_kernel.h"

#include <shmem.h>

static char src[OSU_BW_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_BW_BYTES] __attribute__((aligned(4096)));

static void loop_host(struct osu *o, size_t n, int iters)
{
    const size_t last = OSU_BW_BYTES - OSU_GUARD - n;

    for (int i = 0; i < iters; i++) {
        for (size_t k = 0, at = 0; k < OSU_BW_WINDOW; k++) {
            shmem_putmem_nbi(o->dst + at, o->src + at, n, 1);
            at = at + n <= last ? at + n : 0;
        }
        shmem_quiet();
    }
}

static const struct osu_prog prog = {
    .name = "osu_oshm_put_bw_kernel",
    .title = "OSU OpenSHMEM Put in Kernel Bandwidth Test",
    .kind = OSU_BANDWIDTH,
    .src = src,
    .dst = dst,
    .bytes = OSU_BW_BYTES,
    .callers = OSU_CALLERS,
};

int main(int argc, char **argv)
{
    static const struct osu_work work = { loop_host, OSU_LOOP_put_bw_thread };

    return osu_kernel_copies(&prog, &work, argc, argv);
}

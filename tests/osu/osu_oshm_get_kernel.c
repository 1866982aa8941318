/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of a get, made inside a kernel by a thread, a
 * warp or a block, or by the program. */
#include "osu_kernel.h"

#include <shmem.h>

static char src[OSU_LAT_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_LAT_BYTES] __attribute__((aligned(4096)));

static void loop_host(struct osu *o, size_t n, int iters)
{
    for (int i = 0; i < iters; i++) {
        shmem_getmem(o->dst, o->src, n, 1);
    }
}

static const struct osu_prog prog = {
    .name = "osu_oshm_get_kernel",
    .title = "OSU OpenSHMEM Get in Kernel Test",
    .kind = OSU_LATENCY,
    .is_get = true,
    .src = src,
    .dst = dst,
    .bytes = OSU_LAT_BYTES,
    .callers = OSU_CALLERS,
};

int main(int argc, char **argv)
{
    static const struct osu_work work = { loop_host, OSU_LOOP_get_thread };

    return osu_kernel_copies(&prog, &work, argc, argv);
}

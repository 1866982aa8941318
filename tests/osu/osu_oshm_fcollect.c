/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of an fcollect over all PEs. */
#include "osu.h"

#include <shmem.h>

static const struct osu_prog prog = {
    .name = "osu_oshm_fcollect",
    .title = "OSU OpenSHMEM FCollect Latency Test",
    .kind = OSU_COLLECTIVE,
};

static void once(struct osu *o, size_t n, long *psync)
{
    shmem_fcollect32(o->dst, o->src, n / 4, 0, 0, o->npes, psync);
}

static int wrong(const struct osu *o, const uint32_t *dst, size_t n)
{
    int bad = 0;

    for (int pe = 0; pe < o->npes; pe++)
        for (size_t i = 0; i < n / 4; i++)
            bad += *dst++ != osu_coll_word(pe, i);
    return bad;
}

int main(int argc, char **argv)
{
    return osu_collective(&prog, once, wrong, argc, argv);
}

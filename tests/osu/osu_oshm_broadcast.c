/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of a broadcast from PE 0 over all PEs. */
#include "osu.h"

#include <shmem.h>

static const struct osu_prog prog = {
    .name = "osu_oshm_broadcast",
    .title = "OSU OpenSHMEM Broadcast Latency Test",
    .kind = OSU_COLLECTIVE,
};

static void once(struct osu *o, size_t n, long *psync)
{
    shmem_broadcast32(o->dst, o->src, n / 4, 0, 0, 0, o->npes, psync);
}

/* The root's dest is left alone. */
static int wrong(const struct osu *o, const uint32_t *dst, size_t n)
{
    int bad = 0;

    for (size_t i = 0; i < n / 4; i++)
        bad += dst[i] != (o->pe == 0 ? 0 : osu_coll_word(0, i));
    return bad;
}

int main(int argc, char **argv)
{
    return osu_collective(&prog, once, wrong, argc, argv);
}

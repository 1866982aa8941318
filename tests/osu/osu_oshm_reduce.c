/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of a sum of floats, whose result all get over all PEs. */
#include "osu.h"

#include <shmem.h>

static float work[OSU_LAT_MAX * 4 / 8 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static const struct osu_prog prog = {
    .name = "osu_oshm_reduce",
    .title = "OSU OpenSHMEM Reduce Latency Test",
    .kind = OSU_COLLECTIVE,
};

static void once(struct osu *o, size_t n, long *psync)
{
    shmem_float_sum_to_all((float *)(void *)o->dst, (float *)(void *)o->src,
                           (int)(n / 4), 0, 0, o->npes, work, psync);
}

/* The words are read as floats here; small ones are denormal but exact, and
 * their sum is that of the words. */
static int wrong(const struct osu *o, const uint32_t *dst, size_t n)
{
    uint32_t sum;
    int bad = 0;

    for (size_t i = 0; i < n / 4; i++) {
        sum = 0;
        for (int pe = 0; pe < o->npes; pe++)
            sum += osu_coll_word(pe, i);
        bad += dst[i] != sum;
    }
    return bad;
}

int main(int argc, char **argv)
{
    return osu_collective(&prog, once, wrong, argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_kernel_gpu.c - the loops of osu_loops.inc on a GPU of NVIDIA, as PTX that
 * nvcc makes when these programs are built; without nvcc it is empty. */
#include "osu_int.h"

#ifdef OSU_HAVE_KERNELS
#include "osu_kernel.h"

#ifdef OSU_PTX
#include "../../apps/bucketsort/dev_gpu.h"

__asm__(".pushsection .rodata\n"
        "osu_ptx:\n"
        ".incbin \"" OSU_PTX "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char osu_ptx[] __attribute__((visibility("hidden")));

#define NAME(LOOP) #LOOP,
static const char *const names[] = { OSU_LOOPS(NAME) };
#undef NAME
_Static_assert((int)OSU_N_LOOPS <= (int)DEV_GPU_KERNELS, "room for all");

static struct dev_gpu gpu = { .names = names, .count = OSU_N_LOOPS };

const char *osu_kernel_gpu_open(int ordinal)
{
    if (!osu_ptx[0])
        return "wants kernels for a GPU, which nvcc makes when it is there as "
               "these programs are built: scripts/install-deps";
    return dev_gpu_load(&gpu, "cuda", ordinal, osu_ptx, NULL) ? gpu.said : NULL;
}

const char *osu_kernel_gpu_launch(enum osu_loop loop, unsigned items,
                                  struct osu_job *job, shmemx_stream_t at)
{
    return dev_gpu_launch(&gpu, (int)loop, 1, items, job, at) ? gpu.said
                                                              : NULL;
}

void osu_kernel_gpu_close(void)
{
    dev_gpu_unload(&gpu);
}

#else                               /* not by this project's Makefile */

const char *osu_kernel_gpu_open(int ordinal)
{
    (void)ordinal;
    return "wants kernels for a GPU: make osu makes them";
}

const char *osu_kernel_gpu_launch(enum osu_loop loop, unsigned items,
                                  struct osu_job *job, shmemx_stream_t at)
{
    (void)loop, (void)items, (void)job, (void)at;
    return "there are no kernels for a GPU";
}

void osu_kernel_gpu_close(void) { }
#endif
#endif

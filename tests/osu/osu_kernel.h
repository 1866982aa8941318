/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_kernel.h - what the programs in kernels share.  Each has its loop once for
 * the program, and in osu_loops.inc once for a thread, a warp and a block of a
 * kernel of the software device or of a GPU. */
#ifndef OSU_KERNEL_H
#define OSU_KERNEL_H

#include "osu.h"
#include "osu_loops.h"

#include <shmemx_st.h>

#define OSU_CALLER(by) (1u << OSU_BY_##by)
#define OSU_CALLERS (OSU_CALLER(HOST) | OSU_CALLER(THREAD) | \
                     OSU_CALLER(WARP) | OSU_CALLER(BLOCK))

/* So many operations, or windows of them, with their quiets: by the program,
 * and by a thread; those of a warp and of a block follow. */
struct osu_work {
    void (*host)(struct osu *o, size_t n, int iters);
    enum osu_loop thread;
};

struct osu_kernel {
    shmemx_stream_t at;
    struct osu_job job;             /* a program of atomics sets its words */
    char driver[16];
    const struct osu_work *work;    /* of a program of copies */
};

/* Microseconds of the loop, in the order of the stream if a kernel runs it;
 * also in o->kernel_us. */
double osu_kernel_run(struct osu *o, const struct osu_work *work, size_t n,
                      int iters);
/* What earlier kernels have left is complete. */
void osu_kernel_quiet(struct osu *o);

/* As osu_copies, for that work. */
int osu_kernel_copies(const struct osu_prog *prog, const struct osu_work *work,
                      int argc, char **argv);

/* ---- osu_kernel_gpu.c ---- */
/* The loops as kernels of a GPU: 0, or what is wrong. */
const char *osu_kernel_gpu_open(int ordinal);
/* Starts that one: 0, or what is wrong.  The job is copied. */
const char *osu_kernel_gpu_launch(enum osu_loop loop, unsigned items,
                                  struct osu_job *job, shmemx_stream_t at);
void osu_kernel_gpu_close(void);

#endif

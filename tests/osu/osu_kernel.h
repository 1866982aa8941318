/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_kernel.h - what the programs in kernels share.  Each has its loop once
 * for every caller: for the program, and for a thread, a warp and a block of a
 * kernel of the software device, whose kernels are C functions. */
#ifndef OSU_KERNEL_H
#define OSU_KERNEL_H

#include "osu.h"

#include <shmemx_dev.h>
#include <shmemx_st.h>

#define OSU_CALLER(by) (1u << OSU_BY_##by)
#define OSU_CALLERS (OSU_CALLER(HOST) | OSU_CALLER(THREAD) | \
                     OSU_CALLER(WARP) | OSU_CALLER(BLOCK))

/* So many operations, or windows of them, with their quiets. */
typedef void osu_loop(struct osu *o, size_t n, int iters);

struct osu_kernel {
    shmemx_stream_t at;
    shmemx_dev_t dev;
    char driver[16];
    osu_loop *const *loops;         /* by enum osu_exec */
};

/* Microseconds of the loop, in the order of the stream if a kernel runs it;
 * also in o->kernel_us. */
double osu_kernel_run(struct osu *o, osu_loop *loop, size_t n, int iters);

/* As osu_copies, for the loops of a program, in the order of enum osu_exec. */
int osu_kernel_copies(const struct osu_prog *prog, osu_loop *const *loops,
                      int argc, char **argv);

/* A table for that: loop_host, loop_thread and so on. */
#define OSU_LOOPS                                                           \
    {                                                                       \
        [OSU_BY_HOST] = loop_host, [OSU_BY_THREAD] = loop_thread,           \
        [OSU_BY_WARP] = loop_warp, [OSU_BY_BLOCK] = loop_block              \
    }
/* LOOP(name, suffix) for each scope. */
#define OSU_SCOPES(LOOP)                                                    \
    LOOP(loop_thread, )                                                     \
    LOOP(loop_warp, _warp)                                                  \
    LOOP(loop_block, _block)

#endif

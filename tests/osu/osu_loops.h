/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_loops.h - the loops of osu_loops.inc: what each works on, and their names.
 * Also for compilers of kernels. */
#ifndef OSU_LOOPS_H
#define OSU_LOOPS_H

#include "osu.h"

#include <shmem.h>
#include <shmemx_dev.h>

struct osu_job {
    shmemx_dev_t dev;
    char *dst, *src;
    unsigned long long n;           /* bytes of a message, */
    unsigned long long last;        /* the greatest offset of one */
    int iters, peer;
    int stride;                     /* of the words of atomics, in words, */
    union osu_elem *words;          /* which begin here on the peer */
    long long *found;               /* what they fetched, here */
    unsigned long long *ns;         /* a kernel of a GPU leaves its time here */
};

union osu_elem {
    int i;
    long long ll;
};

#define OSU_LOOPS_SCOPES(X, NAME)                                           \
    X(NAME##_thread) X(NAME##_warp) X(NAME##_block)
#define OSU_LOOPS_AMO(X, T)                                                 \
    X(T##_fadd) X(T##_finc) X(T##_add) X(T##_add_q) X(T##_inc) X(T##_inc_q) \
    X(T##_cswap) X(T##_swap) X(T##_set) X(T##_set_q) X(T##_fetch)
#define OSU_LOOPS(X)                                                        \
    OSU_LOOPS_SCOPES(X, put) OSU_LOOPS_SCOPES(X, get)                       \
    OSU_LOOPS_SCOPES(X, put_bw) OSU_LOOPS_SCOPES(X, put_mr)                 \
    OSU_LOOPS_AMO(X, int) OSU_LOOPS_AMO(X, longlong) X(quiet)

#define OSU_LOOPS_ENUM(NAME) OSU_LOOP_##NAME,
enum osu_loop { OSU_LOOPS(OSU_LOOPS_ENUM) OSU_N_LOOPS };
#undef OSU_LOOPS_ENUM

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_trig.h - triggers: operations that the host posts, and that kernels,
 * streams or the host release.
 *
 * A trigger has tags 0 to tags - 1.  The host posts an operation with a tag and
 * a threshold; each hit of a tag adds to its count; the operation begins when
 * the count has grown by the threshold since the trigger was created or the tag
 * was armed again.  Hits may come before the post: they count, and the
 * operation begins at once if there are enough.  Tags are hit in any order.
 * Whether a thread, a block or a whole grid releases an operation is a matter
 * of the threshold: 1 for one hit of a block's leader, the number of blocks or
 * of threads if each of them hits.
 *
 * An operation has completed when its source may be written, its result is
 * stored and, for a put, the data have arrived at the PE.  The host, a stream or
 * a kernel waits until so many operations of a tag have completed; give an
 * operation a tag of its own if nothing else is to be waited for.  Operations of
 * a trigger have no order among each other, but that of a put and its signal.
 * Contexts' fence and quiet do not wait for them.
 * Any thread may call; the program orders the calls of several threads on one
 * stream.
 *
 * Source: LeBeane et al., "GPU Triggered Networking for Intra-Kernel
 * Communications", SC'17; names and arguments are ours. */
#ifndef SHMEMX_TRIG_H
#define SHMEMX_TRIG_H

#include "shmemx_dev.h"
#include "shmemx_dev_trig.h"

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include "shmemx_st.h"

typedef struct shmemx_trig *shmemx_trig_t;

/* All tags of a trigger. */
#define SHMEMX_TRIG_ALL (-1)

/* Who does the operations.  SOFT: threads of this PE.  AUTO, NIC: what is for
 * other nodes the NIC, if it has deferred work and room for it; NIC: there has
 * to be one.  COPY: puts, gets and signals within the node the kernel whose hit
 * reaches the threshold, all else threads of this PE; such a tag has one
 * operation, and only kernels hit such a trigger. */
enum { SHMEMX_TRIG_AUTO, SHMEMX_TRIG_SOFT, SHMEMX_TRIG_NIC, SHMEMX_TRIG_COPY };
#define SHMEMX_TRIG_ENGINE 1L   /* mask: engine is given */
typedef struct {
    int engine;
} shmemx_trig_config_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemx_trig_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_trig_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_pcoll.h - partitioned collectives: each member of a team makes the
 * partitions of its source ready one by one, from the host or from kernels, and
 * each partition goes through the collective by itself.
 *
 * A request is made once by all members, and then started, made ready and
 * waited for like a partitioned message: shmemx_req_start or
 * shmemx_enqueue_startall, shmemx_pready, _range, _list or shmemx_dev_pready,
 * shmemx_parrived or shmemx_dev_parrived, shmemx_req_wait or
 * shmemx_enqueue_waitall.  A partition has arrived when this member's dest has
 * all of it.  No call waits for what other members do but those that wait for
 * the request.
 *
 * What the members do is a schedule: a list of steps, in each of which a piece
 * of the partition goes out and another one comes in.  The calls for the usual
 * collectives make their own; shmemx_sched_create() and shmemx_sched_step() make any other.
 *
 * Source: Temucin et al., "Design and Implementation of MPI-Native GPU-Initiated
 * MPI Partitioned Communication", SC'24 workshops, section 5.  Names and
 * arguments are ours. */
#ifndef SHMEMX_PCOLL_H
#define SHMEMX_PCOLL_H

#include "shmemx_part.h"
#include "shmemx_st.h"

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

typedef struct shmemx_sched *shmemx_sched_t;

/* How partitions are divided into pieces.  SPLIT: partition u of a buffer is its
 * elements from u * nelems on, and its pieces are as equal as they can be.
 * BLOCKS: a piece is a block of the buffer, and partition u is the u-th nelems
 * elements of each block. */
enum { SHMEMX_SCHED_SPLIT, SHMEMX_SCHED_BLOCKS };

/* A piece of a buffer of this member's.  SCRATCH is the library's memory. */
enum { SHMEMX_SOURCE, SHMEMX_DEST, SHMEMX_SCRATCH };
typedef struct {
    int buffer, piece;
} shmemx_piece_t;

/* A step of a partition: it begins when the step before has ended.  Zeros are a
 * step that does nothing. */
typedef struct {
    /* First, the piece `out` goes to each of these members. */
    int n_to;
    const int *to;
    shmemx_piece_t out;
    /* Then the piece `in` is what arrives from each of those; or, with `reduces`,
     * the piece `with` combined with all that arrives. */
    int n_from;
    const int *from;
    shmemx_piece_t in, with;
    int reduces;
    /* `out` of the members that it arrives from, and of this one, does not change
     * until the partition has arrived there: then nothing needs to be copied to
     * be combined, on a node.  The partition of a member that sent such a piece
     * arrives after it has been combined. */
    int stays;
} shmemx_step_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemx_pcoll_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_pcoll_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif

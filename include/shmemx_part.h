/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_part.h - partitioned messages: the sender makes the partitions of a
 * persistent message ready one by one, from the host or from kernels, and the
 * receiver sees each arrive.
 *
 * A request is made once, matched once by shmemx_match() and its kin, and then
 * started again and again, by a stream (shmemx_enqueue_startall) or by the host
 * (shmemx_req_start), and waited for (shmemx_enqueue_waitall, shmemx_req_wait).
 * In each iteration the sender makes each partition ready once: it may travel
 * from then on, and its part of the buffer must not change until the wait.
 * Partitions travel in any order, as soon as the receiver has started its
 * iteration; neither start nor ready waits for that.
 *
 * The two ends may divide a message differently, if one number of partitions
 * divides the other: the smaller number of partitions travels, each as soon as
 * all of it is ready; shmemx_ptransport() makes them fewer.
 *
 * Source: Temucin et al., "Design and Implementation of MPI-Native GPU-Initiated
 * MPI Partitioned Communication", SC'24 workshops; MPI 4.1, section 4.  Names
 * and arguments are ours. */
#ifndef SHMEMX_PART_H
#define SHMEMX_PART_H

#include "shmemx_trig.h"
#include "shmemx_dev_part.h"

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

/* Who moves what kernels make ready.  ENGINE: a thread of this PE.  COPY: the
 * kernel, if its device reaches the receiver's buffer, and the receiver has
 * started before the iteration's first partition is ready; else a thread.
 * TRIGGER: the NIC.  AUTO: COPY, else TRIGGER, else ENGINE. */
enum {
    SHMEMX_PREQUEST_AUTO, SHMEMX_PREQUEST_ENGINE, SHMEMX_PREQUEST_COPY,
    SHMEMX_PREQUEST_TRIGGER
};
#define SHMEMX_PREQUEST_MODE 1L /* mask: mode is given */
#define SHMEMX_PREQUEST_CALLS 2L        /* mask: calls is given */
typedef struct {
    int mode;
    int calls;                  /* of shmemx_dev_pready make a partition ready:
                                 * as many as blocks write it; 1 unless given */
} shmemx_prequest_config_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemx_part_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_part_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif

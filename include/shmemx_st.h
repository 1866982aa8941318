/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st.h - streams: what a device does in order.
 *
 * A stream is the device's own: a cudaStream_t, a hipStream_t, or one of the
 * software device, where there is no GPU; NULL is the device's default stream,
 * and (shmemx_stream_t)1 (cudaStreamLegacy, hipStreamLegacy) the same one, also
 * in programs that are compiled with per-thread default streams.  On GPUs
 * (shmemx_stream_t)2 (cudaStreamPerThread, hipStreamPerThread) is the calling
 * thread's own default stream.
 * A program whose device is a GPU uses its vendor's calls for these as it
 * likes: the ones here serve those that are to run on any device. */
#ifndef SHMEMX_ST_H
#define SHMEMX_ST_H

#include "shmem.h"
#include "shmemx_kernel.h"

typedef void *shmemx_stream_t;

/* Who does what a stream is given: "copy", the device itself; "nic", the
 * network's hardware, when the stream tells it to; "soft", a thread of this PE;
 * "": there is no such memory, as yet, or no such PE. */
typedef struct {
    char put[8];                /* and get, from and to memory that the device
                                 * reaches */
    char atomic[8];
} shmemx_engines_t;

/* This PE's device. */
typedef struct {
    char driver[16];            /* "cuda", "hip", "host": the software device */
    char name[96];
    char id[48];                /* equal on PEs that have the same device */
    char pci[16];               /* "0000:17:00.0", or "" */
    int ordinal, count;         /* which of those this process sees */
    int driver_version;         /* as the driver counts; 0: none */
    int hw_queues;              /* that streams share; 0: not known */
    uint64_t memory;            /* bytes */
    int direct;                 /* the processor may load and store it */
    int memops;                 /* streams write and wait for words without a
                                 * kernel */
    int flush;                  /* what a NIC stores there must be flushed
                                 * before kernels see it */
    shmemx_engines_t near_host, near_device;    /* heaps of this node's PEs */
    shmemx_engines_t far;       /* PEs of other nodes */
} shmemx_device_info_t;

/* What a stream has recorded, to be done as often as it is launched. */
typedef struct shmemx_graph *shmemx_graph_t;

/* Operations of a stream that run when they are started. */
typedef struct shmemx_queue *shmemx_queue_t;
/* One of them, to be waited for, or to be started again and again. */
typedef struct shmemx_req *shmemx_req_t;

/* A signal and how far streams have waited for it. */
typedef struct shmemx_epoch *shmemx_epoch_t;

#define SHMEMX_QUEUE_DEPTH 1L   /* mask: depth is given */
typedef struct {
    size_t depth;               /* so many enqueued before a start need no
                                 * further memory */
} shmemx_queue_config_t;

/* What shmemx_allreduce_init combines, and how. */
typedef enum {
    SHMEMX_INT8, SHMEMX_INT16, SHMEMX_INT32, SHMEMX_INT64,
    SHMEMX_UINT8, SHMEMX_UINT16, SHMEMX_UINT32, SHMEMX_UINT64,
    SHMEMX_FLOAT, SHMEMX_DOUBLE, SHMEMX_COMPLEXF, SHMEMX_COMPLEXD
} shmemx_type_t;
typedef enum {
    SHMEMX_AND, SHMEMX_OR, SHMEMX_XOR, SHMEMX_MAX, SHMEMX_MIN, SHMEMX_SUM,
    SHMEMX_PROD
} shmemx_op_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemx_st_decls.h"
#include "shmemx_st_match_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_st_decls.h"
#include "shmemx_st_match_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#ifndef SHMEM_STRICT
#include "shmemx_st_overload.h"
#endif
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmemx_st_generic.h"
#endif

#endif

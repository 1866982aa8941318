/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st.h - streams: sequences of operations of a device.
 *
 * A stream is the device's own: a cudaStream_t, a hipStream_t, or a stream of
 * the software device if there is no GPU.  NULL is the device's default stream;
 * (shmemx_stream_t)1 (cudaStreamLegacy, hipStreamLegacy) is the same stream,
 * also in programs that are compiled with per-thread default streams.  On GPUs
 * (shmemx_stream_t)2 (cudaStreamPerThread, hipStreamPerThread) is the calling
 * thread's own default stream.
 * Programs for GPUs may use their vendor's calls instead of the calls that
 * create, copy and synchronize; these serve programs for any device. */
#ifndef SHMEMX_ST_H
#define SHMEMX_ST_H

#include "shmem.h"
#include "shmemx_kernel.h"

typedef void *shmemx_stream_t;

/* The engine that executes operations of a stream: "copy", the device itself;
 * "nic", the network hardware, triggered by the stream; "soft", the progress
 * thread of this PE; "": there is no such memory (yet), or no such PE. */
typedef struct {
    char put[8];                /* puts and gets whose local memory the device
                                 * reaches */
    char atomic[8];
} shmemx_engines_t;

/* This PE's device. */
typedef struct {
    char driver[16];            /* "cuda", "hip", "host": the software device */
    char name[96];
    char id[48];                /* equal on PEs with the same device */
    char pci[16];               /* "0000:17:00.0", or "" */
    int ordinal, count;         /* among the devices that this process sees */
    int driver_version;         /* as the driver counts; 0: none */
    int hw_queues;              /* shared by the streams; 0: unknown */
    uint64_t memory;            /* bytes */
    int direct;                 /* the processor can load and store memory */
    int memops;                 /* streams write and wait for flags without a
                                 * kernel */
    int flush;                  /* stores of a NIC must be flushed before
                                 * kernels see them */
    shmemx_engines_t near_host, near_device;    /* heaps of this node's PEs */
    shmemx_engines_t far;       /* PEs of other nodes */
    int resident;               /* groups of a kernel that run at once, however
                                 * much each needs; 0: unknown */
    int sharing;                /* PEs of this job on this device */
} shmemx_device_info_t;

/* The captured operations of a stream, which each launch runs. */
typedef struct shmemx_graph *shmemx_graph_t;

/* A batch of operations of a stream, which one start releases. */
typedef struct shmemx_queue *shmemx_queue_t;
/* A request: one operation to wait for, or a persistent operation. */
typedef struct shmemx_req *shmemx_req_t;

/* A signal, and the value up to which streams have waited for it. */
typedef struct shmemx_epoch *shmemx_epoch_t;

#define SHMEMX_QUEUE_DEPTH 1L   /* mask: depth is given */
typedef struct {
    size_t depth;               /* operations before a start for which memory
                                 * is allocated at once */
} shmemx_queue_config_t;

/* Types and operators of shmemx_allreduce_init. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev.h - OpenSHMEM calls that kernels make, with an explicit state.
 *
 * The host fills a state by shmemx_dev_get() and passes it by value as an
 * argument of the kernel; each call gets its address:
 *
 *     shmemx_dev_t dev;                             the host
 *     shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev);
 *
 *     __global__ void k(SHMEMX_DEV_ARG(dev), ...)   the kernel
 *         shmemx_dev_putmem(&dev, dest, source, n, pe);
 *
 * SHMEMX_DEV_ARG declares the parameter so that CUDA reads it in place.
 *
 * One text for nvcc, NVRTC, hipcc, hiprtc and C (kernels of the software
 * device); all of it is in headers, and a program links libshmem alone.
 * A PE whose memory the device reaches is served by loads and stores; all else
 * goes through a ring of requests to the progress thread of this PE.
 *
 * Names without a suffix are for one thread; with _warp and _block all threads
 * of the warp or block make the call with the same arguments, the threads share
 * the work, and the call includes a barrier of theirs behind it.  On the
 * software device the first item of the block, or of 32 items, that makes the
 * call does all of it; there a call of a block stands at the beginning of a
 * phase, whose boundary takes the place of the barrier.
 *
 * Names that begin with shmemi_ are not for programs. */
#ifndef SHMEMX_DEV_H
#define SHMEMX_DEV_H

#include "shmemx_dev_arch.h"
#include "shmemx_dev_types.h"

#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
struct shmemi_ctx { int opaque; };
typedef struct shmemi_ctx *shmem_ctx_t;
struct shmemi_team { int opaque; };
typedef struct shmemi_team *shmem_team_t;
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1
#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6
#define SHMEM_DEVICE_TEAM_WORLD ((shmem_team_t)3)
#define SHMEM_DEVICE_TEAM_SHARED ((shmem_team_t)4)
#define SHMEM_DEVICE_CTX_DEFAULT ((shmem_ctx_t)2)
#else
#include "shmem.h"
#include "shmemg_const.h"
#endif

#if defined(SHMEMI_DEV_CUDA)
#define SHMEMX_DEV_ARG(name) const __grid_constant__ shmemx_dev_t name
#else
#define SHMEMX_DEV_ARG(name) const shmemx_dev_t name
#endif

/* ---- what the host and kernels share ---- */

/* Where the device loads and stores the segments of a PE of its node, 0 where
 * it does not; the same for atomics. */
enum { SHMEMI_DEV_DEVICE, SHMEMI_DEV_HOST, SHMEMI_DEV_DATA, SHMEMI_DEV_SEGS };
typedef struct shmemi_dev_reach {
    /* What is added to a symmetric address of a segment, for data and for
     * atomics: the sum is where the device finds it, or not mapped. */
    shmemi_u64 map[SHMEMI_DEV_SEGS], amo[SHMEMI_DEV_SEGS];
    shmemi_u64 ctl;             /* of the software device: where sleepers of
                                 * that PE announce what they wait for */
} shmemi_dev_reach;

#define SHMEMI_DEV_UNMAPPED (1ULL << 63)
#define SHMEMI_DEV_IS_MAPPED(at) ((long long)(at) >= 0)

/* A request to the progress thread. */
enum shmemi_dev_op {
    SHMEMI_DEV_NOTHING, SHMEMI_DEV_PUT, SHMEMI_DEV_PUT_VALUE, SHMEMI_DEV_GET,
    SHMEMI_DEV_GET_VALUE, SHMEMI_DEV_IPUT, SHMEMI_DEV_IGET, SHMEMI_DEV_AMO,
    SHMEMI_DEV_SIGNAL, SHMEMI_DEV_PUT_SIGNAL, SHMEMI_DEV_FENCE,
    SHMEMI_DEV_REFUSE, SHMEMI_DEV_HIT, SHMEMI_DEV_OPS
};
/* Of an AMO: in the library's order. */
enum shmemi_dev_amo {
    SHMEMI_DEV_AMO_FETCH, SHMEMI_DEV_AMO_SET, SHMEMI_DEV_AMO_SWAP,
    SHMEMI_DEV_AMO_CSWAP, SHMEMI_DEV_AMO_ADD, SHMEMI_DEV_AMO_AND,
    SHMEMI_DEV_AMO_OR, SHMEMI_DEV_AMO_XOR
};
/* The family of the call that made it, for messages. */
#define SHMEMI_DEV_CALLS(X)                                                 \
    X(PUT, "shmemx_dev_put") X(GET, "shmemx_dev_get")                       \
    X(P, "shmemx_dev_p") X(G, "shmemx_dev_g")                               \
    X(IPUT, "shmemx_dev_iput") X(IGET, "shmemx_dev_iget")                   \
    X(ATOMIC, "shmemx_dev_atomic") X(SIGNAL, "shmemx_dev_signal")           \
    X(PUT_SIGNAL, "shmemx_dev_put_signal") X(FENCE, "shmemx_dev_fence")     \
    X(QUIET, "shmemx_dev_quiet") X(WAIT, "shmemx_dev_wait_until")           \
    X(SYNC, "shmemx_dev_sync") X(COLL, "shmemx_dev_collective")             \
    X(PTR, "shmemx_dev_ptr") X(MY_PE, "shmemx_dev_my_pe")                   \
    X(N_PES, "shmemx_dev_n_pes") X(TRIGGER, "shmemx_dev_trigger")           \
    X(TRIGGER_OP, "shmemx_dev_trigger_op")                                  \
    X(TRIG_WAIT, "shmemx_dev_trig_wait") X(PREADY, "shmemx_dev_pready")     \
    X(PARRIVED, "shmemx_dev_parrived") X(TRIG_TEST, "shmemx_dev_trig_test")
#define SHMEMI_DEV_CALL(NAME, TEXT) SHMEMI_DEV_CALL_##NAME,
enum shmemi_dev_call { SHMEMI_DEV_CALLS(SHMEMI_DEV_CALL) SHMEMI_DEV_N_CALLS };
#undef SHMEMI_DEV_CALL
/* Addresses are this PE's.  PUT_VALUE: the bytes are in a and b.  IPUT, IGET:
 * a and b are the strides of dest and source in bytes, len counts elements of
 * size bytes.  AMO: a is the value, b the condition; source is where a
 * non-blocking result goes.  SIGNAL: a.  PUT_SIGNAL: a, and b is the address of
 * the signal.  REFUSE: what the kernel found wrong, by sub.
 * HIT: a is the tag << 32 | n, b the trigger; sub: enum shmemi_dev_hit. */
typedef struct shmemi_dev_request {
    unsigned char op, sub, call, size;  /* sub: of AMO, signal operator */
    int pe;                     /* of the world, or one that does not exist */
    shmemi_u64 dest, source, len, a, b;
    unsigned flags, spare;
    shmemi_u64 turn;            /* stored last: its position + 1 */
} shmemi_dev_request;
enum {
    SHMEMI_DEV_RESULT = 1,      /* the thread waits for a result */
    SHMEMI_DEV_WAITS = 2,       /* until source may be reused, or dest is
                                 * filled */
    SHMEMI_DEV_FETCHES = 4,     /* AMO: source gets the result */
    SHMEMI_DEV_NO_PE = 8,       /* pe is no member of the context's team */
    SHMEMI_DEV_NOTIFIES = 16    /* SIGNAL: no fence or quiet waits for it */
};
/* REPLACES: dest, source, len and pe are for the operation of the tag.  The
 * others: what a kernel found wrong with a partition, which is the tag. */
enum shmemi_dev_hit {
    SHMEMI_DEV_HIT_PLAIN, SHMEMI_DEV_HIT_REPLACES, SHMEMI_DEV_HIT_NO_PART,
    SHMEMI_DEV_HIT_TWICE, SHMEMI_DEV_HIT_NOT_STARTED, SHMEMI_DEV_HIT_LATE,
    SHMEMI_DEV_HIT_OTHER_WAY    /* n: 1, it receives */
};
/* A wait for len bytes at dest by comparison a; team a; root a of team b. */
enum { SHMEMI_DEV_WRONG_WAIT, SHMEMI_DEV_WRONG_TEAM, SHMEMI_DEV_WRONG_ROOT };
/* The source of a blocking put of at most so many bytes may be reused when the
 * request has been issued. */
enum { SHMEMI_DEV_SHORT = 4096 };
/* A result; the thread stores the position + 1 to `read` when it has it. */
typedef struct shmemi_dev_result {
    shmemi_u64 value[2], read, spare;
} shmemi_dev_result;

/* What the progress thread writes, in pinned memory. */
typedef struct shmemi_dev_progress {
    shmemi_u64 taken;           /* so many requests have been issued */
    shmemi_u64 done;            /* so many, and all before, are complete */
} shmemi_dev_progress;
/* A ring.  head and seen are written by kernels, in memory of the device. */
typedef struct shmemi_dev_ring {
    shmemi_u64 head;            /* the next position */
    shmemi_u64 seen;            /* what of `taken` a thread has seen */
    shmemi_u64 mask;            /* room - 1 */
    shmemi_dev_request *requests;       /* as many results are behind them */
    shmemi_u64 mapped;          /* not 0: some were for mapped PEs */
    shmemi_dev_progress *progress;
    void *host;                 /* the library's */
    shmemi_u64 complete;        /* what of `done` a quiet has seen */
} shmemi_dev_ring;

/* A team of kernels: member i is world PE start + i * stride. */
typedef struct shmemi_dev_team {
    shmemi_u64 handle;
    int my_pe, n_pes, start, stride;
    /* Where the members keep the flags of the team, as offsets in their host
     * segments: the same everywhere, or behind what a table has in units of 64
     * bytes. */
    shmemi_u64 area_at;
    const unsigned *area_of;
    shmemi_u64 syncs;           /* synchronizations so far; kernels write it */
    shmemi_u64 sends;           /* arrivals of collectives, likewise */
    shmemi_u64 eager;           /* eager collectives, likewise */
} shmemi_dev_team;

struct shmemx_dev;
struct shmemi_dev_for;
struct shmemi_dev_set;
/* Handles of contexts and teams, and what kernels know of them. */
enum { SHMEMI_DEV_OBJECTS = 64 };
typedef struct shmemi_dev_table {
    shmemi_u64 ctx[SHMEMI_DEV_OBJECTS];         /* handles; 0: free */
    const struct shmemx_dev *state[SHMEMI_DEV_OBJECTS];
    shmemi_dev_team *team[SHMEMI_DEV_OBJECTS];  /* NULL: free */
} shmemi_dev_table;

/* Functions of the library that kernels of the software device call. */
typedef struct shmemi_dev_host {
    /* The item that this thread runs: its number in the group, the group's
     * number, the items of the group; 0, 0, 1 outside of a kernel. */
    void (*item)(unsigned *item, unsigned *group, unsigned *items);
    /* The value that a call of the whole group returns: the first item of a
     * scope gives it, the others take it. */
    shmemi_u64 (*share)(int first, unsigned scope, shmemi_u64 value);
    void (*wake)(shmemi_u64 ctl);       /* a sleeper waits for a store */
    void (*kick)(void *ring);           /* there is a request */
    /* Steps of the ring, or a pause, in a loop that waits for it. */
    void (*step)(void *ring, unsigned turn);
    /* Returns the word when it compares so. */
    shmemi_u64 (*wait)(const void *word, const struct shmemi_dev_for *f);
    /* In a loop that waits for any of the variables; at its end with NULL. */
    void (*wait_set)(const struct shmemi_dev_set *s, unsigned turn);
    void (*hit)(void *trig, int tag, shmemi_u64 n);
    void (*refuse)(const char *call, const char *why);  /* ends the job */
    /* With SHMEM_CHECK=1: a warp or block makes bytes ready, or, at NULL, what the
     * operations of the tag send if so many hits start them all.  1: items have
     * stored there after the first one has made this call. */
    int (*is_late)(const void *source, shmemi_u64 bytes, void *trig, int tag,
                   unsigned scope);
} shmemi_dev_host;

/* CHECK: words that kernels wait for; CHECK_ITEMS: what is made ready. */
enum { SHMEMI_DEV_MAGIC = 0x53484d44, SHMEMI_DEV_CHECK = 1,
       SHMEMI_DEV_CHECK_ITEMS = 2 };

/* The state: at most 256 bytes, copied at will, valid until the context is
 * destroyed or shmem_finalize.  Kernels only read it. */
typedef struct shmemx_dev {
    unsigned magic, flags;      /* magic 0: no state */
    int my_pe, n_pes;           /* in the context's team */
    int start, stride;          /* member i is world PE start + i * stride */
    int first, span;            /* reach[] is of world PEs from first on */
    int my_world_pe;
    unsigned n_rings;
    shmemi_u64 base[SHMEMI_DEV_SEGS], size[SHMEMI_DEV_SEGS];
    const shmemi_dev_reach *reach;
    shmemi_dev_ring *rings;
    const shmemi_dev_host *host;        /* NULL on a GPU */
    shmemi_dev_table *table;
    shmemi_u64 ctx;             /* the context's handle */
    shmemi_u64 records;           /* waits that last, for the watchdog */
} shmemx_dev_t;

/* A kernel of CUDA computes with long double as with double. */
#if defined(SHMEMI_DEV_CUDA)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20208
#endif
#include "shmemx_dev_ring.h"
#include "shmemx_dev_rma.h"
#include "shmemx_dev_amo.h"
#include "shmemx_dev_wait.h"
#include "shmemx_dev_sync.h"
#include "shmemx_dev_coll.h"
#include "shmemx_dev_overload.h"
#if defined(SHMEMI_DEV_CUDA)
#pragma nv_diagnostic pop
#endif

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemx_dev_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_dev_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif

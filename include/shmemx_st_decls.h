/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st_decls.h - the prototypes of streams, included by shmemx_st.h with
 * SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All are local and give 0 or a negative errno: -ENODEV, there is no device;
 * -EINVAL, an argument is wrong; -EIO, the device failed, or communication
 * did that this call waits for (said once).  SHMEM_LOG=debug says more.  Threads: two on one stream are ordered by the program. */

int SHMEMI_P(shmemx_device_info)(shmemx_device_info_t *info);

/* Independent of the default stream. */
int SHMEMI_P(shmemx_stream_create)(shmemx_stream_t *stream);
/* What is enqueued still runs.  Not for streams of the vendor's making. */
int SHMEMI_P(shmemx_stream_destroy)(shmemx_stream_t stream);
/* Returns when all that is enqueued has run. */
int SHMEMI_P(shmemx_stream_sync)(shmemx_stream_t stream);
/* -EAGAIN: some of it has not run yet. */
int SHMEMI_P(shmemx_stream_query)(shmemx_stream_t stream);

/* In stream order; what they are given by address lives until then. */

/* Between any two places in host and device memory that do not overlap. */
int SHMEMI_P(shmemx_stream_copy)(shmemx_stream_t stream, void *dest,
                                 const void *source, size_t bytes);
int SHMEMI_P(shmemx_stream_fill)(shmemx_stream_t stream, void *dest, int byte,
                                 size_t bytes);
/* fn runs on a thread of the device's driver and calls neither that nor this
 * library. */
int SHMEMI_P(shmemx_stream_call)(shmemx_stream_t stream, void (*fn)(void *),
                                 void *arg);
/* Runs body for every item of *grid, which may go when this returns.  On the
 * software device alone: -ENODEV on a GPU. */
int SHMEMI_P(shmemx_stream_launch)(shmemx_stream_t stream,
                                   const shmemx_grid_t *grid,
                                   shmemx_kernel_t body, void *arg);

/* From here on what the stream is given is recorded and not done; the end,
 * which comes in the same thread, makes a graph of it.  Not for default
 * streams. */
int SHMEMI_P(shmemx_stream_capture_begin)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_stream_capture_end)(shmemx_stream_t stream,
                                        shmemx_graph_t *graph);
/* Does what was recorded, when the stream gets there and the launches of the
 * graph before it have ended.  -ENOTSUP: the stream records. */
int SHMEMI_P(shmemx_graph_launch)(shmemx_graph_t graph,
                                  shmemx_stream_t stream);
/* Launches that are under way still end. */
int SHMEMI_P(shmemx_graph_destroy)(shmemx_graph_t graph);

/* ---- Communication in stream order.  Each is the call of OpenSHMEM 1.6 with
 * that name, as a step of the stream, and returns at once: 0, or a negative
 * errno with a line that says why, and nothing is enqueued.  What it is given
 * by address lives until the step has ended: that of a put when source may be
 * used again, that of a get or of an atomic that fetches when the result is
 * there, that of an nbi form when it has begun. ---- */

#define SHMEMI_ON(F, C, ...)                                                \
    int SHMEMI_P(shmemx_##F##_on_stream)(__VA_ARGS__,                       \
                                         shmemx_stream_t stream);           \
    int SHMEMI_P(shmemx_##C##_on_stream)(shmem_ctx_t ctx, __VA_ARGS__,      \
                                         shmemx_stream_t stream);
#define SHMEMI_ON_XFER(F, C, T)                                             \
    SHMEMI_ON(F, C, T *dest, const T *source, size_t nelems, int pe)
#define SHMEMI_ON_STRIDED(F, C, T)                                          \
    SHMEMI_ON(F, C, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
              size_t nelems, int pe)
#define SHMEMI_ON_BLOCKED(F, C, T)                                          \
    SHMEMI_ON(F, C, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
              size_t bsize, size_t nblocks, int pe)
#define SHMEMI_ON_SIGNALLED(F, C, T)                                        \
    SHMEMI_ON(F, C, T *dest, const T *source, size_t nelems,                \
              uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)

#define SHMEMI_ON_TYPED(NAME, T)                                            \
    SHMEMI_ON_XFER(NAME##_put, ctx_##NAME##_put, T)                         \
    SHMEMI_ON_XFER(NAME##_get, ctx_##NAME##_get, T)                         \
    SHMEMI_ON_XFER(NAME##_put_nbi, ctx_##NAME##_put_nbi, T)                 \
    SHMEMI_ON_XFER(NAME##_get_nbi, ctx_##NAME##_get_nbi, T)                 \
    SHMEMI_ON_STRIDED(NAME##_iput, ctx_##NAME##_iput, T)                    \
    SHMEMI_ON_STRIDED(NAME##_iget, ctx_##NAME##_iget, T)                    \
    SHMEMI_ON_BLOCKED(NAME##_ibput, ctx_##NAME##_ibput, T)                  \
    SHMEMI_ON_BLOCKED(NAME##_ibget, ctx_##NAME##_ibget, T)                  \
    SHMEMI_ON_SIGNALLED(NAME##_put_signal, ctx_##NAME##_put_signal, T)      \
    SHMEMI_ON_SIGNALLED(NAME##_put_signal_nbi,                              \
                        ctx_##NAME##_put_signal_nbi, T)                     \
    /* value is taken at the call; g stores to *value. */                   \
    SHMEMI_ON(NAME##_p, ctx_##NAME##_p, T *dest, T value, int pe)           \
    SHMEMI_ON(NAME##_g, ctx_##NAME##_g, T *value, const T *source, int pe)
SHMEMI_RMA_TYPES(SHMEMI_ON_TYPED)

#define SHMEMI_ON_CONTIG(S)                                                 \
    SHMEMI_ON_XFER(put##S, ctx_put##S, void)                                \
    SHMEMI_ON_XFER(get##S, ctx_get##S, void)                                \
    SHMEMI_ON_XFER(put##S##_nbi, ctx_put##S##_nbi, void)                    \
    SHMEMI_ON_XFER(get##S##_nbi, ctx_get##S##_nbi, void)                    \
    SHMEMI_ON_SIGNALLED(put##S##_signal, ctx_put##S##_signal, void)         \
    SHMEMI_ON_SIGNALLED(put##S##_signal_nbi, ctx_put##S##_signal_nbi, void)
#define SHMEMI_ON_SIZED(S, BYTES)                                           \
    SHMEMI_ON_CONTIG(S)                                                     \
    SHMEMI_ON_STRIDED(iput##S, ctx_iput##S, void)                           \
    SHMEMI_ON_STRIDED(iget##S, ctx_iget##S, void)                           \
    SHMEMI_ON_BLOCKED(ibput##S, ctx_ibput##S, void)                         \
    SHMEMI_ON_BLOCKED(ibget##S, ctx_ibget##S, void)
SHMEMI_SIZES(SHMEMI_ON_SIZED)
SHMEMI_ON_CONTIG(mem)

SHMEMI_ON(signal_set, ctx_signal_set, uint64_t *sig_addr, uint64_t signal,
          int pe)
SHMEMI_ON(signal_add, ctx_signal_add, uint64_t *sig_addr, uint64_t signal,
          int pe)
SHMEMI_ON(signal_op, ctx_signal_op, uint64_t *sig_addr, uint64_t signal,
          int sig_op, int pe)

/* Values are taken at the call; what the word was goes to *fetch. */
#define SHMEMI_ON_AMO(NAME, T, OP)                                          \
    SHMEMI_ON(NAME##_atomic_##OP, ctx_##NAME##_atomic_##OP, T *dest,        \
              T value, int pe)
#define SHMEMI_ON_FETCHING(NAME, T, OP)                                     \
    SHMEMI_ON(NAME##_atomic_##OP, ctx_##NAME##_atomic_##OP, T *fetch,       \
              T *dest, T value, int pe)
#define SHMEMI_ON_EXT(NAME, T)                                              \
    SHMEMI_ON(NAME##_atomic_fetch, ctx_##NAME##_atomic_fetch, T *fetch,     \
              const T *source, int pe)                                      \
    SHMEMI_ON_AMO(NAME, T, set)                                             \
    SHMEMI_ON_FETCHING(NAME, T, swap)
SHMEMI_AMO_EXT_TYPES(SHMEMI_ON_EXT)
#define SHMEMI_ON_STD(NAME, T)                                              \
    SHMEMI_ON(NAME##_atomic_compare_swap, ctx_##NAME##_atomic_compare_swap, \
              T *fetch, T *dest, T cond, T value, int pe)                   \
    SHMEMI_ON(NAME##_atomic_fetch_inc, ctx_##NAME##_atomic_fetch_inc,       \
              T *fetch, T *dest, int pe)                                    \
    SHMEMI_ON(NAME##_atomic_inc, ctx_##NAME##_atomic_inc, T *dest, int pe)  \
    SHMEMI_ON_FETCHING(NAME, T, fetch_add)                                  \
    SHMEMI_ON_AMO(NAME, T, add)
SHMEMI_AMO_TYPES(SHMEMI_ON_STD)
#define SHMEMI_ON_BIT(NAME, T)                                              \
    SHMEMI_ON_FETCHING(NAME, T, fetch_and)                                  \
    SHMEMI_ON_FETCHING(NAME, T, fetch_or)                                   \
    SHMEMI_ON_FETCHING(NAME, T, fetch_xor)                                  \
    SHMEMI_ON_AMO(NAME, T, and)                                             \
    SHMEMI_ON_AMO(NAME, T, or)                                              \
    SHMEMI_ON_AMO(NAME, T, xor)
SHMEMI_AMO_BIT_TYPES(SHMEMI_ON_BIT)

/* The stream alone waits.  What a call of OpenSHMEM returns goes to *index,
 * *count or *value, unless that is NULL. */
#define SHMEMI_ON_WAIT(NAME, T)                                             \
    int SHMEMI_P(shmemx_##NAME##_wait_until_on_stream)(                     \
        T *ivar, int cmp, T cmp_value, shmemx_stream_t stream);             \
    int SHMEMI_P(shmemx_##NAME##_wait_until_all_on_stream)(                 \
        T *ivars, size_t nelems, const int *status, int cmp, T cmp_value,   \
        shmemx_stream_t stream);                                            \
    int SHMEMI_P(shmemx_##NAME##_wait_until_any_on_stream)(                 \
        size_t *index, T *ivars, size_t nelems, const int *status, int cmp, \
        T cmp_value, shmemx_stream_t stream);                               \
    int SHMEMI_P(shmemx_##NAME##_wait_until_some_on_stream)(                \
        size_t *count, T *ivars, size_t nelems, size_t *indices,            \
        const int *status, int cmp, T cmp_value, shmemx_stream_t stream);   \
    int SHMEMI_P(shmemx_##NAME##_wait_until_all_vector_on_stream)(          \
        T *ivars, size_t nelems, const int *status, int cmp,                \
        const T *cmp_values, shmemx_stream_t stream);                       \
    int SHMEMI_P(shmemx_##NAME##_wait_until_any_vector_on_stream)(          \
        size_t *index, T *ivars, size_t nelems, const int *status, int cmp, \
        const T *cmp_values, shmemx_stream_t stream);                       \
    int SHMEMI_P(shmemx_##NAME##_wait_until_some_vector_on_stream)(         \
        size_t *count, T *ivars, size_t nelems, size_t *indices,            \
        const int *status, int cmp, const T *cmp_values,                    \
        shmemx_stream_t stream);
SHMEMI_AMO_TYPES(SHMEMI_ON_WAIT)
int SHMEMI_P(shmemx_signal_wait_until_on_stream)(
    uint64_t *value, uint64_t *sig_addr, int cmp, uint64_t cmp_value,
    shmemx_stream_t stream);
int SHMEMI_P(shmemx_signal_fetch_on_stream)(
    uint64_t *value, const uint64_t *sig_addr, shmemx_stream_t stream);

/* The same, and 0 is stored there behind the wait: so a graph waits anew in
 * each launch.  The signal is not to be raised again before that: its sender
 * waits for an answer first. */
int SHMEMI_P(shmemx_signal_wait_reset_on_stream)(
    uint64_t *sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t stream);
/* A signal of this PE that is only ever added to, and how far streams have
 * waited for it: each wait is for n more than the one before, the first for n
 * more than the signal's value at the creation.  Right in graphs and outside;
 * the signal may run ahead.  Waits of one epoch are ordered by the program; a
 * destroyed epoch is used by no graph any more. */
int SHMEMI_P(shmemx_epoch_create)(uint64_t *sig_addr, shmemx_epoch_t *epoch);
int SHMEMI_P(shmemx_epoch_destroy)(shmemx_epoch_t epoch);
int SHMEMI_P(shmemx_epoch_wait_on_stream)(shmemx_epoch_t epoch, uint64_t n,
                                          shmemx_stream_t stream);

/* Of the operations that were enqueued on this stream before, with this
 * context. */
int SHMEMI_P(shmemx_fence_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_fence_on_stream)(shmem_ctx_t ctx,
                                         shmemx_stream_t stream);
int SHMEMI_P(shmemx_quiet_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_quiet_on_stream)(shmem_ctx_t ctx,
                                         shmemx_stream_t stream);
/* To these PEs of the context's team. */
int SHMEMI_P(shmemx_pe_quiet_on_stream)(const int *target_pes, size_t npes,
                                        shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_pe_quiet_on_stream)(shmem_ctx_t ctx,
                                            const int *target_pes,
                                            size_t npes,
                                            shmemx_stream_t stream);

/* Collective: the streams of all members meet, and nobody's host waits.  A
 * barrier also ends the operations that were enqueued on the stream before;
 * a sync does not.  On one team in the same order, one at a time. */
int SHMEMI_P(shmemx_barrier_all_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_sync_all_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_barrier_on_stream)(shmem_team_t team,
                                       shmemx_stream_t stream);
int SHMEMI_P(shmemx_team_sync_on_stream)(shmem_team_t team,
                                         shmemx_stream_t stream);

/* ---- Queues: what is put in runs when it is started, all of it by one store
 * of the device.  Calls give 0 or a negative errno, with a line.  A queue and
 * its requests are used by one thread at a time. ---- */

/* config: what mask says, else NULL.  Local. */
int SHMEMI_P(shmemx_queue_create)(shmemx_stream_t stream,
                                  const shmemx_queue_config_t *config,
                                  long mask, shmemx_queue_t *queue);
/* -EBUSY: something is started and has not ended, or waits for its start.
 * Requests are freed before. */
int SHMEMI_P(shmemx_queue_destroy)(shmemx_queue_t queue);
/* The host waits for all that was started; the second only looks. */
int SHMEMI_P(shmemx_queue_wait)(shmemx_queue_t queue);
int SHMEMI_P(shmemx_queue_test)(shmemx_queue_t queue, int *empty);

/* Used up by the next start.  *req, if req is not NULL, is to be freed.  What
 * is given by address lives until the operation has ended. */
int SHMEMI_P(shmemx_enqueue_putmem)(shmemx_queue_t queue, void *dest,
                                    const void *source, size_t bytes, int pe,
                                    shmemx_req_t *req);
int SHMEMI_P(shmemx_enqueue_putmem_signal)(
    shmemx_queue_t queue, void *dest, const void *source, size_t bytes,
    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
    shmemx_req_t *req);
int SHMEMI_P(shmemx_enqueue_getmem)(shmemx_queue_t queue, void *dest,
                                    const void *source, size_t bytes, int pe,
                                    shmemx_req_t *req);
#define SHMEMI_ENQUEUE(NAME, T)                                             \
    int SHMEMI_P(shmemx_enqueue_atomic_add_##NAME)(                         \
        shmemx_queue_t queue, T *dest, T value, int pe, shmemx_req_t *req); \
    int SHMEMI_P(shmemx_enqueue_atomic_set_##NAME)(                         \
        shmemx_queue_t queue, T *dest, T value, int pe, shmemx_req_t *req); \
    int SHMEMI_P(shmemx_enqueue_atomic_fetch_add_##NAME)(                   \
        shmemx_queue_t queue, T *fetch, T *dest, T value, int pe,           \
        shmemx_req_t *req);                                                 \
    int SHMEMI_P(shmemx_enqueue_atomic_compare_swap_##NAME)(                \
        shmemx_queue_t queue, T *fetch, T *dest, T cond, T value, int pe,   \
        shmemx_req_t *req);
#define SHMEMI_ENQUEUE_TYPES(X)                                             \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t)                 \
    X(uint64, uint64_t)
SHMEMI_ENQUEUE_TYPES(SHMEMI_ENQUEUE)
/* What was enqueued since the start before.  Never holds the stream up. */
int SHMEMI_P(shmemx_enqueue_start)(shmemx_queue_t queue);
/* The stream waits for what was started. */
int SHMEMI_P(shmemx_enqueue_wait)(shmemx_queue_t queue);

/* Made once, started as often as one likes, on any queue: each start after a
 * wait for the one before has been enqueued, else -EBUSY. */
int SHMEMI_P(shmemx_put_init)(void *dest, const void *source, size_t bytes,
                              int pe, shmemx_req_t *req);
int SHMEMI_P(shmemx_put_signal_init)(void *dest, const void *source,
                                     size_t bytes, uint64_t *sig_addr,
                                     uint64_t signal, int sig_op, int pe,
                                     shmemx_req_t *req);
/* All of them, or none. */
int SHMEMI_P(shmemx_enqueue_startall)(shmemx_queue_t queue, int n,
                                      shmemx_req_t reqs[]);
int SHMEMI_P(shmemx_enqueue_waitall)(shmemx_queue_t queue, int n,
                                     shmemx_req_t reqs[]);
/* The host waits, or looks.  -EINVAL: it was never started. */
int SHMEMI_P(shmemx_req_wait)(shmemx_req_t req);
int SHMEMI_P(shmemx_req_test)(shmemx_req_t req, int *flag);
/* *req becomes NULL; -EBUSY: it has not ended, or waits for a start. */
int SHMEMI_P(shmemx_req_free)(shmemx_req_t *req);

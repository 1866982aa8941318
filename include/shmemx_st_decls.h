/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st_decls.h - the prototypes of streams, included by shmemx_st.h with
 * SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All calls are local and return 0 or a negative errno: -ENODEV, no device;
 * -EINVAL, an invalid argument; -EIO, the device failed, or communication for
 * which this call waits (reported once).  SHMEM_LOG=debug prints details.  The
 * program orders the calls of several threads on one stream. */

int SHMEMI_P(shmemx_device_info)(shmemx_device_info_t *info);

/* Does not synchronize with the default stream. */
int SHMEMI_P(shmemx_stream_create)(shmemx_stream_t *stream);
/* Enqueued operations still run.  Not for streams that the vendor's calls
 * created. */
int SHMEMI_P(shmemx_stream_destroy)(shmemx_stream_t stream);
/* Returns when all enqueued operations have run. */
int SHMEMI_P(shmemx_stream_sync)(shmemx_stream_t stream);
/* -EAGAIN: some operations have not run yet. */
int SHMEMI_P(shmemx_stream_query)(shmemx_stream_t stream);

/* In stream order; memory passed by address stays allocated until the operation
 * has run. */

/* Between any two places in host and device memory that do not overlap. */
int SHMEMI_P(shmemx_stream_copy)(shmemx_stream_t stream, void *dest,
                                 const void *source, size_t bytes);
int SHMEMI_P(shmemx_stream_fill)(shmemx_stream_t stream, void *dest, int byte,
                                 size_t bytes);
/* fn runs on a thread of the device's driver, and calls neither the driver nor
 * this library. */
int SHMEMI_P(shmemx_stream_call)(shmemx_stream_t stream, void (*fn)(void *),
                                 void *arg);
/* Runs body for every item of *grid, which is read at the call.  Only on the
 * software device: -ENODEV on a GPU. */
int SHMEMI_P(shmemx_stream_launch)(shmemx_stream_t stream,
                                   const shmemx_grid_t *grid,
                                   shmemx_kernel_t body, void *arg);

/* Begin: operations enqueued on the stream are recorded and do not run.  End,
 * in the same thread: creates a graph of them.  Not for default streams. */
int SHMEMI_P(shmemx_stream_capture_begin)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_stream_capture_end)(shmemx_stream_t stream,
                                        shmemx_graph_t *graph);
/* Runs the recorded operations when the stream reaches the launch and earlier
 * launches of the graph have ended.  -ENOTSUP: the stream is capturing. */
int SHMEMI_P(shmemx_graph_launch)(shmemx_graph_t graph,
                                  shmemx_stream_t stream);
/* Pending launches still run. */
int SHMEMI_P(shmemx_graph_destroy)(shmemx_graph_t graph);

/* ---- Communication in stream order.  Each call enqueues the operation of the
 * OpenSHMEM 1.6 call of that name, and returns at once: 0, or a negative errno
 * with a line that has the reason, and then nothing is enqueued.  Memory passed
 * by address stays allocated until the operation has ended: a put when source
 * may be modified, a get or an atomic with a result when the result has been
 * stored, an nbi form when it has been issued. ---- */

/* The macros of this file declare these names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmemx_TYPENAME_put_on_stream shmemx_ctx_TYPENAME_put_on_stream
 *   shmemx_TYPENAME_get_on_stream shmemx_ctx_TYPENAME_get_on_stream
 *   shmemx_TYPENAME_put_nbi_on_stream shmemx_ctx_TYPENAME_put_nbi_on_stream
 *   shmemx_TYPENAME_get_nbi_on_stream shmemx_ctx_TYPENAME_get_nbi_on_stream
 *   shmemx_TYPENAME_iput_on_stream shmemx_ctx_TYPENAME_iput_on_stream
 *   shmemx_TYPENAME_iget_on_stream shmemx_ctx_TYPENAME_iget_on_stream
 *   shmemx_TYPENAME_ibput_on_stream shmemx_ctx_TYPENAME_ibput_on_stream
 *   shmemx_TYPENAME_ibget_on_stream shmemx_ctx_TYPENAME_ibget_on_stream
 *   shmemx_TYPENAME_put_signal_on_stream
 *   shmemx_ctx_TYPENAME_put_signal_on_stream
 *   shmemx_TYPENAME_put_signal_nbi_on_stream
 *   shmemx_ctx_TYPENAME_put_signal_nbi_on_stream shmemx_TYPENAME_p_on_stream
 *   shmemx_ctx_TYPENAME_p_on_stream shmemx_TYPENAME_g_on_stream
 *   shmemx_ctx_TYPENAME_g_on_stream shmemx_putSIZE_on_stream
 *   shmemx_ctx_putSIZE_on_stream shmemx_getSIZE_on_stream
 *   shmemx_ctx_getSIZE_on_stream shmemx_putSIZE_nbi_on_stream
 *   shmemx_ctx_putSIZE_nbi_on_stream shmemx_getSIZE_nbi_on_stream
 *   shmemx_ctx_getSIZE_nbi_on_stream shmemx_putSIZE_signal_on_stream
 *   shmemx_ctx_putSIZE_signal_on_stream shmemx_putSIZE_signal_nbi_on_stream
 *   shmemx_ctx_putSIZE_signal_nbi_on_stream shmemx_iputSIZE_on_stream
 *   shmemx_ctx_iputSIZE_on_stream shmemx_igetSIZE_on_stream
 *   shmemx_ctx_igetSIZE_on_stream shmemx_ibputSIZE_on_stream
 *   shmemx_ctx_ibputSIZE_on_stream shmemx_ibgetSIZE_on_stream
 *   shmemx_ctx_ibgetSIZE_on_stream shmemx_putmem_on_stream
 *   shmemx_ctx_putmem_on_stream shmemx_getmem_on_stream
 *   shmemx_ctx_getmem_on_stream shmemx_putmem_nbi_on_stream
 *   shmemx_ctx_putmem_nbi_on_stream shmemx_getmem_nbi_on_stream
 *   shmemx_ctx_getmem_nbi_on_stream shmemx_putmem_signal_on_stream
 *   shmemx_ctx_putmem_signal_on_stream shmemx_putmem_signal_nbi_on_stream
 *   shmemx_ctx_putmem_signal_nbi_on_stream shmemx_signal_op_on_stream
 *   shmemx_ctx_signal_op_on_stream shmemx_TYPENAME_atomic_fetch_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_on_stream
 *   shmemx_TYPENAME_atomic_set_on_stream
 *   shmemx_ctx_TYPENAME_atomic_set_on_stream
 *   shmemx_TYPENAME_atomic_swap_on_stream
 *   shmemx_ctx_TYPENAME_atomic_swap_on_stream
 *   shmemx_TYPENAME_atomic_compare_swap_on_stream
 *   shmemx_ctx_TYPENAME_atomic_compare_swap_on_stream
 *   shmemx_TYPENAME_atomic_fetch_inc_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_inc_on_stream
 *   shmemx_TYPENAME_atomic_inc_on_stream
 *   shmemx_ctx_TYPENAME_atomic_inc_on_stream
 *   shmemx_TYPENAME_atomic_fetch_add_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_add_on_stream
 *   shmemx_TYPENAME_atomic_add_on_stream
 *   shmemx_ctx_TYPENAME_atomic_add_on_stream
 *   shmemx_TYPENAME_atomic_fetch_and_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_and_on_stream
 *   shmemx_TYPENAME_atomic_fetch_or_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_or_on_stream
 *   shmemx_TYPENAME_atomic_fetch_xor_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_xor_on_stream
 *   shmemx_TYPENAME_atomic_and_on_stream
 *   shmemx_ctx_TYPENAME_atomic_and_on_stream
 *   shmemx_TYPENAME_atomic_or_on_stream
 *   shmemx_ctx_TYPENAME_atomic_or_on_stream
 *   shmemx_TYPENAME_atomic_xor_on_stream
 *   shmemx_ctx_TYPENAME_atomic_xor_on_stream
 *   shmemx_TYPENAME_wait_until_on_stream
 *   shmemx_TYPENAME_wait_until_all_on_stream
 *   shmemx_TYPENAME_wait_until_any_on_stream
 *   shmemx_TYPENAME_wait_until_some_on_stream
 *   shmemx_TYPENAME_wait_until_all_vector_on_stream
 *   shmemx_TYPENAME_wait_until_any_vector_on_stream
 *   shmemx_TYPENAME_wait_until_some_vector_on_stream
 *   shmemx_enqueue_atomic_add_int32 shmemx_enqueue_atomic_set_int32
 *   shmemx_enqueue_atomic_fetch_add_int32
 *   shmemx_enqueue_atomic_compare_swap_int32 shmemx_enqueue_atomic_add_int64
 *   shmemx_enqueue_atomic_set_int64 shmemx_enqueue_atomic_fetch_add_int64
 *   shmemx_enqueue_atomic_compare_swap_int64
 *   shmemx_enqueue_atomic_add_uint32 shmemx_enqueue_atomic_set_uint32
 *   shmemx_enqueue_atomic_fetch_add_uint32
 *   shmemx_enqueue_atomic_compare_swap_uint32
 *   shmemx_enqueue_atomic_add_uint64 shmemx_enqueue_atomic_set_uint64
 *   shmemx_enqueue_atomic_fetch_add_uint64
 *   shmemx_enqueue_atomic_compare_swap_uint64 */

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
    /* value is read at the call; g stores in *value. */                    \
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

/* Values are read at the call; the previous value is stored in *fetch. */
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

/* Only the stream waits.  The result of the OpenSHMEM call is stored in *index,
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

/* The same, and stores 0 in the signal after the wait, so that a graph waits
 * anew in each launch.  The sender must not update the signal again before
 * that: it waits for an answer first. */
int SHMEMI_P(shmemx_signal_wait_reset_on_stream)(
    uint64_t *sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t stream);
/* An epoch: a signal of this PE that is only ever added to, and the value up
 * to which streams have waited for it.  Each wait is for n more than the
 * previous one, the first for n more than the signal's value at the
 * creation.  Waits work in graphs and outside; the signal may run ahead.  The
 * program orders the waits of one epoch, and launches no graph with a
 * destroyed epoch. */
int SHMEMI_P(shmemx_epoch_create)(uint64_t *sig_addr, shmemx_epoch_t *epoch);
int SHMEMI_P(shmemx_epoch_destroy)(shmemx_epoch_t epoch);
int SHMEMI_P(shmemx_epoch_wait_on_stream)(shmemx_epoch_t epoch, uint64_t n,
                                          shmemx_stream_t stream);

/* They cover the operations enqueued before on this stream with this
 * context. */
int SHMEMI_P(shmemx_fence_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_fence_on_stream)(shmem_ctx_t ctx,
                                         shmemx_stream_t stream);
int SHMEMI_P(shmemx_quiet_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_quiet_on_stream)(shmem_ctx_t ctx,
                                         shmemx_stream_t stream);
/* Operations to these PEs of the context's team. */
int SHMEMI_P(shmemx_pe_quiet_on_stream)(const int *target_pes, size_t npes,
                                        shmemx_stream_t stream);
int SHMEMI_P(shmemx_ctx_pe_quiet_on_stream)(shmem_ctx_t ctx,
                                            const int *target_pes,
                                            size_t npes,
                                            shmemx_stream_t stream);

/* Collective: synchronizes the streams of all members, and blocks no host.  A
 * barrier also completes the operations enqueued before on the stream; a sync
 * does not.  All members call for one team in the same order, one at a time. */
int SHMEMI_P(shmemx_barrier_all_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_sync_all_on_stream)(shmemx_stream_t stream);
int SHMEMI_P(shmemx_barrier_on_stream)(shmem_team_t team,
                                       shmemx_stream_t stream);
int SHMEMI_P(shmemx_team_sync_on_stream)(shmem_team_t team,
                                         shmemx_stream_t stream);

/* ---- Queues: a single device store triggers all operations of a queue.  Calls
 * return 0 or a negative errno, with a line.  Only one thread at a time uses a
 * queue and its requests. ---- */

/* mask selects the members of config that are read; config may be NULL.
 * Local. */
int SHMEMI_P(shmemx_queue_create)(shmemx_stream_t stream,
                                  const shmemx_queue_config_t *config,
                                  long mask, shmemx_queue_t *queue);
/* -EBUSY: an operation has not ended, or has not been started.  Requests may be
 * freed later. */
int SHMEMI_P(shmemx_queue_destroy)(shmemx_queue_t queue);
/* The host waits for all started operations; the second call only tests. */
int SHMEMI_P(shmemx_queue_wait)(shmemx_queue_t queue);
int SHMEMI_P(shmemx_queue_test)(shmemx_queue_t queue, int *empty);

/* The next start runs these operations once.  The program frees *req, if req is
 * not NULL.  Memory passed by address stays allocated until the operation has
 * ended. */
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
/* Starts the operations added since the previous start.  Never blocks the
 * stream. */
int SHMEMI_P(shmemx_enqueue_start)(shmemx_queue_t queue);
/* The stream waits for the started operations. */
int SHMEMI_P(shmemx_enqueue_wait)(shmemx_queue_t queue);

/* Persistent requests, started repeatedly, on any queue: each start after a
 * wait for the previous one has been enqueued, else -EBUSY. */
int SHMEMI_P(shmemx_put_init)(void *dest, const void *source, size_t bytes,
                              int pe, shmemx_req_t *req);
int SHMEMI_P(shmemx_put_signal_init)(void *dest, const void *source,
                                     size_t bytes, uint64_t *sig_addr,
                                     uint64_t signal, int sig_op, int pe,
                                     shmemx_req_t *req);
/* Starts all of them, or none. */
int SHMEMI_P(shmemx_enqueue_startall)(shmemx_queue_t queue, int n,
                                      shmemx_req_t reqs[]);
int SHMEMI_P(shmemx_enqueue_waitall)(shmemx_queue_t queue, int n,
                                     shmemx_req_t reqs[]);
/* The host waits, or tests.  -EINVAL: the request was never started. */
int SHMEMI_P(shmemx_req_wait)(shmemx_req_t req);
int SHMEMI_P(shmemx_req_test)(shmemx_req_t req, int *flag);
/* *req becomes NULL; -EBUSY: the request has not ended, or has not been
 * started. */
int SHMEMI_P(shmemx_req_free)(shmemx_req_t *req);

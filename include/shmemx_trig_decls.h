/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_trig_decls.h - the prototypes of triggers, included by shmemx_trig.h
 * with SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All calls are local and return 0 or a negative errno: -EINVAL, an invalid
 * argument, with a line; -ENODEV, no device; -ENOMEM. */

/* A trigger with `tags` tags, at most 65536.  The PEs of its operations are those
 * of the team of ctx: a context of the host, or SHMEM_DEVICE_CTX_DEFAULT for
 * all PEs; the team outlives the trigger.  mask: which members of config count,
 * SHMEMX_TRIG_ENGINE.  -ENOTSUP: with SHMEMX_TRIG_NIC, no NIC has deferred
 * work; with SHMEMX_TRIG_COPY, kernels have no atomics on host memory. */
int SHMEMI_P(shmemx_trig_create)(shmem_ctx_t ctx, int tags,
                                 const shmemx_trig_config_t *config, long mask,
                                 shmemx_trig_t *trig);
/* Sets *trig to NULL.  -EBUSY: an operation is under way, or waits for hits and
 * does not repeat.  A kernel that hits a trigger that has been freed ends the
 * job with a line, on the software device at once. */
int SHMEMI_P(shmemx_trig_free)(shmemx_trig_t *trig);

/* Posts an operation: it begins when the tag has had `threshold` hits.  Memory
 * that is passed by address stays allocated, and a source unchanged from the
 * last hit on, until the operation has completed.  -EBUSY: the tag repeats. */
int SHMEMI_P(shmemx_trig_put)(shmemx_trig_t trig, int tag, uint64_t threshold,
                              void *dest, const void *source, size_t bytes,
                              int pe);
int SHMEMI_P(shmemx_trig_put_signal)(shmemx_trig_t trig, int tag,
                                     uint64_t threshold, void *dest,
                                     const void *source, size_t bytes,
                                     uint64_t *sig_addr, uint64_t signal,
                                     int sig_op, int pe);
int SHMEMI_P(shmemx_trig_get)(shmemx_trig_t trig, int tag, uint64_t threshold,
                              void *dest, const void *source, size_t bytes,
                              int pe);
int SHMEMI_P(shmemx_trig_signal_op)(shmemx_trig_t trig, int tag,
                                    uint64_t threshold, uint64_t *sig_addr,
                                    uint64_t signal, int sig_op, int pe);

/* Values are read at the call; the value before is stored in *fetch.
 *   shmemx_trig_atomic_add_int32 shmemx_trig_atomic_add_int64
 *   shmemx_trig_atomic_add_uint32 shmemx_trig_atomic_add_uint64
 *   shmemx_trig_atomic_set_int32 shmemx_trig_atomic_set_int64
 *   shmemx_trig_atomic_set_uint32 shmemx_trig_atomic_set_uint64
 *   shmemx_trig_atomic_fetch_add_int32 shmemx_trig_atomic_fetch_add_int64
 *   shmemx_trig_atomic_fetch_add_uint32 shmemx_trig_atomic_fetch_add_uint64
 *   shmemx_trig_atomic_compare_swap_int32
 *   shmemx_trig_atomic_compare_swap_int64
 *   shmemx_trig_atomic_compare_swap_uint32
 *   shmemx_trig_atomic_compare_swap_uint64 */
#define SHMEMI_TRIG(NAME, T)                                                \
    int SHMEMI_P(shmemx_trig_atomic_add_##NAME)(                            \
        shmemx_trig_t trig, int tag, uint64_t threshold, T *dest, T value,  \
        int pe);                                                            \
    int SHMEMI_P(shmemx_trig_atomic_set_##NAME)(                            \
        shmemx_trig_t trig, int tag, uint64_t threshold, T *dest, T value,  \
        int pe);                                                            \
    int SHMEMI_P(shmemx_trig_atomic_fetch_add_##NAME)(                      \
        shmemx_trig_t trig, int tag, uint64_t threshold, T *fetch, T *dest, \
        T value, int pe);                                                   \
    int SHMEMI_P(shmemx_trig_atomic_compare_swap_##NAME)(                   \
        shmemx_trig_t trig, int tag, uint64_t threshold, T *fetch, T *dest, \
        T cond, T value, int pe);
SHMEMI_ENQUEUE_TYPES(SHMEMI_TRIG)
#undef SHMEMI_TRIG

/* All operations of the tag, or of all tags with SHMEMX_TRIG_ALL, begin once
 * more, each after `threshold` hits beyond the largest threshold of the tag's
 * operations; hits that came early count.  -EBUSY: some have not completed, and
 * no tag has been armed. */
int SHMEMI_P(shmemx_trig_rearm)(shmemx_trig_t trig, int tag);
/* The same again and again, without a call: once all operations of the tag have
 * completed.  From then on none is posted there.  -EINVAL: the tag has none, or
 * their largest threshold is 0. */
int SHMEMI_P(shmemx_trig_repeat)(shmemx_trig_t trig, int tag);
/* Forgets the operations of the tag, or of all tags.  -EBUSY: one is under
 * way, and none is forgotten. */
int SHMEMI_P(shmemx_trig_reset)(shmemx_trig_t trig, int tag);

/* For kernels of this PE's device; the calls of kernels are in
 * shmemx_dev_trig.h. */
int SHMEMI_P(shmemx_trig_dev)(shmemx_trig_t trig, shmemx_trig_dev_t *dev);
/* n hits by the host, or by a stream that gets there: -ENOTSUP if the stream
 * records a graph. */
int SHMEMI_P(shmemx_trig_hit)(shmemx_trig_t trig, int tag, uint64_t n);
int SHMEMI_P(shmemx_trig_hit_on_stream)(shmemx_trig_t trig, int tag, uint64_t n,
                                        shmemx_stream_t stream);

/* *done: how many operations of the tag have completed since the trigger was
 * created.  -EIO, with a line, once: one of the trigger has failed; it counts as
 * completed. */
int SHMEMI_P(shmemx_trig_test)(shmemx_trig_t trig, int tag, uint64_t *done);
/* Returns when n of them have.  -EIO as above. */
int SHMEMI_P(shmemx_trig_wait)(shmemx_trig_t trig, int tag, uint64_t n);
/* The stream waits for that.  -ENOTSUP: it records a graph, or PEs share a
 * device on which waiting streams delay each other. */
int SHMEMI_P(shmemx_trig_wait_on_stream)(shmemx_trig_t trig, int tag,
                                         uint64_t n, shmemx_stream_t stream);

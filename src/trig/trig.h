/* SPDX-License-Identifier: BSD-3-Clause */
/* trig.h - triggers: operations that the host posts and that kernels, streams or
 * the host release by hits.
 *
 * A trigger has tags.  A hit adds to the count of its tag; an operation is
 * posted with a tag and a threshold, and is released as soon as the count has
 * grown by the threshold since the tag was armed: hits before the post count.
 * The released operations are done by stream_exec_step(), on the progress thread
 * or on a thread that hits; `done` of the tag counts those that have completed.
 *
 * Threads: any call from any thread, after core is up; the program orders the
 * calls of several threads on one stream.  Calls give 0 or -errno, logged. */
#ifndef TRIG_TRIG_H
#define TRIG_TRIG_H

#include "core/core.h"
#include "shmemx_trig.h"
#include "stream/stream.h"

struct stream_op;

/* ctx: the PEs of its operations are those of its team.  The kernel layer is
 * open. */
int trig_create(const char *call, const struct core_ctx *ctx, int tags,
                int engine, struct shmemx_trig **out);
/* -EBUSY: an operation is released and has not completed, or waits for hits. */
int trig_free(const char *call, struct shmemx_trig *trig);
/* No kernel and no stream runs any more. */
void trig_close(void);

/* Where an operation is posted. */
struct trig_where {
    const char *call;
    struct shmemx_trig *trig;
    int tag;
    uint64_t threshold;
};
int trig_put(const struct trig_where *at, void *dest, const void *source,
             size_t bytes, const struct stream_signal *s, int pe);
int trig_get(const struct trig_where *at, void *dest, const void *source,
             size_t bytes, int pe);
int trig_signal(const struct trig_where *at, const struct stream_signal *s,
                int pe);
int trig_amo(const struct trig_where *at, const struct stream_amo *a, int pe);
/* An operation that the caller has checked. */
int trig_op(const struct trig_where *at, const struct stream_op *op);

/* The operations of the tag, or of all with SHMEMX_TRIG_ALL, once more; repeat:
 * for ever. */
int trig_rearm(const char *call, struct shmemx_trig *trig, int tag,
               bool repeat);
/* They are forgotten.  -EBUSY: one is under way. */
int trig_reset(const char *call, struct shmemx_trig *trig, int tag);

int trig_dev(const char *call, struct shmemx_trig *trig,
             shmemx_trig_dev_t *out);
/* Each operation of the program's that has not completed or that repeats. */
typedef void trig_op_visitor(const struct stream_op *op, int tag, void *arg);
void trig_visit_ops(trig_op_visitor *visit, void *arg);
/* The program has destroyed it. */
void trig_stream_destroyed(void *stream);
/* Does the NIC count the hits of all tags? */
bool trig_is_nic(const struct shmemx_trig *trig);
int trig_hit(const char *call, struct shmemx_trig *trig, int tag, uint64_t n);
int trig_hit_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                       uint64_t n, void *stream);

/* -EIO, reported once: one that has completed has failed. */
int trig_test(const char *call, struct shmemx_trig *trig, int tag,
              uint64_t *done);
int trig_wait(const char *call, struct shmemx_trig *trig, int tag, uint64_t n);
int trig_wait_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                        uint64_t n, void *stream);

/* What a wait waits for, by the word that counts completed operations. */
bool trig_describe_word(const void *word, char *text, size_t size);

#endif

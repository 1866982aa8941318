/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - one-sided communication in the order of a device's streams.
 *
 * The device does operations on memory that it reaches, on this node: a copy, a
 * store or an atomic in the stream, and no thread of ours has a part in it.
 * The rest is posted with the stream's queue: the stream raises a word when it
 * gets there, the progress thread does the operation, and if the stream is to
 * wait for its end, the progress thread raises another word that the stream
 * waits for.
 *
 * Calls give 0 or -errno, logged by name; then nothing was enqueued, unless
 * the device refused a start in the middle: see stream_queue_start().  Two
 * threads on one stream are ordered by the caller.  None of these blocks, but
 * for the first on a stream that needs a queue. */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "core/core_rma.h"

/* The call, its context (NULL: an invalid one), and the stream. */
struct stream_where {
    const char *call;
    const struct core_ctx *ctx;
    void *stream;
    /* The call's names of the symmetric and of the local address in messages;
     * NULL: dest, source or fetch. */
    const char *sym_arg, *local_arg;
};

/* Elements of size bytes.  The step ends when source may be reused or dest is
 * filled; with nbi at once. */
int stream_put(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi);
int stream_get(const struct stream_where *w, void *dest, const void *source,
               size_t n, size_t size, int pe, bool nbi);
/* A value of at most 32 bytes that is taken now. */
int stream_put_value(const struct stream_where *w, void *dest,
                     const void *value, size_t size, int pe);
/* The arguments of the strided and blocked calls. */
struct stream_blocks {
    ptrdiff_t dst, sst;
    size_t bsize, nblocks, size;
};
int stream_move_blocks(const struct stream_where *w, bool puts, void *dest,
                       const void *source, const struct stream_blocks *b,
                       int pe);

/* fetch: gets the old value of *sym before the step ends, unless NULL.  Words
 * are bit patterns of 4 or 8 bytes. */
struct stream_amo {
    enum amo_op op;
    bool fetches;
    size_t size;
    void *sym;
    uint64_t value, cond;
    void *fetch;
};
int stream_amo(const struct stream_where *w, const struct stream_amo *a,
               int pe);

struct stream_signal {
    uint64_t *addr, value;
    int op;                     /* SHMEM_SIGNAL_... */
};
int stream_signal(const struct stream_where *w, const struct stream_signal *s,
                  int pe);
int stream_put_signal(const struct stream_where *w, void *dest,
                      const void *source, size_t n, size_t size,
                      const struct stream_signal *s, int pe, bool nbi);

/* Of the operations of this stream. */
int stream_fence(const struct stream_where *w);
int stream_quiet(const struct stream_where *w);
int stream_pe_quiet(const struct stream_where *w, const int *pes, size_t n);

/* The stream waits for words of this PE's symmetric memory.  Arguments that the
 * call gets by address live until the step has ended. */
enum stream_wait_mode { STREAM_ALL, STREAM_ANY, STREAM_SOME };
struct stream_wait {
    enum stream_wait_mode how;
    const char *arg;            /* the call's name of ivars */
    const void *ivars;
    size_t n, size;             /* of an element: 2, 4, 8 */
    bool is_signed;
    const int *status;
    int cmp;
    uint64_t value;             /* for all, where values is NULL */
    const void *values;
    size_t *index;              /* ANY: where its number goes */
    size_t *indices, *count;    /* SOME; count: how many, or NULL */
    uint64_t *seen;             /* where the word's value goes, or NULL */
    int whose;                  /* 1 + the PE that raises it; 0: not known */
};
int stream_wait(const struct stream_where *w, const struct stream_wait *c);
/* For one word of 8 bytes, which becomes 0 behind the wait. */
int stream_wait_reset(const struct stream_where *w,
                      const struct stream_wait *c);

/* A word of this PE that only grows, and what streams have waited for: each
 * wait is for n more than the one before. */
struct shmemx_epoch;
int stream_epoch_create(const struct stream_where *w, uint64_t *word,
                        struct shmemx_epoch **out);
int stream_epoch_destroy(const char *call, struct shmemx_epoch *epoch);
int stream_epoch_wait(const struct stream_where *w, struct shmemx_epoch *epoch,
                      uint64_t n);
void stream_epochs_close(void);

/* All members, in the same order on one team; a barrier also ends the
 * operations of the stream. */
int stream_team_synchronize(const struct stream_where *w, struct core_team *t,
                            bool barrier);

/* ---- Queues: operations that one start releases ---- */

/* Handles, and no addresses of objects: a handle of none, or of one that was
 * freed, is refused with a line. */
struct shmemx_queue;
struct shmemx_req;
int stream_queue_create(const char *call, void *stream, size_t depth,
                        struct shmemx_queue **out);
/* -EBUSY, reported: a request is started or waits for a start.  One that waits
 * is dropped where the stream is gone. */
int stream_queue_destroy(const char *call, struct shmemx_queue *q);
/* *empty: all that was started has ended.  These two and the test and wait of
 * requests give -EIO, reported, if an operation of the queue that has ended has
 * failed; each failure is reported once. */
int stream_queue_test(const char *call, struct shmemx_queue *q, bool *empty);
int stream_queue_wait_host(const char *call, struct shmemx_queue *q);

/* A persistent request. */
int stream_req_init(const char *call, void *dest, const void *source,
                    size_t len, const struct stream_signal *s, int pe,
                    struct shmemx_req **out);
/* One that the next start of q uses up; out may be NULL. */
int stream_req_put(const char *call, struct shmemx_queue *q, void *dest,
                   const void *source, size_t len,
                   const struct stream_signal *s, int pe,
                   struct shmemx_req **out);
int stream_req_get(const char *call, struct shmemx_queue *q, void *dest,
                   const void *source, size_t len, int pe,
                   struct shmemx_req **out);
int stream_req_amo(const char *call, struct shmemx_queue *q,
                   const struct stream_amo *a, int pe,
                   struct shmemx_req **out);
/* Starts the requests since the last start; or these, all or none.  Where the
 * device refuses in the middle neither is started, the queue takes no more and
 * persistent ones can only be freed. */
int stream_queue_start(const char *call, struct shmemx_queue *q);
int stream_queue_start_all(const char *call, struct shmemx_queue *q, int n,
                           struct shmemx_req *reqs[]);
/* The stream waits for all that was started there, or for these. */
int stream_queue_wait(const char *call, struct shmemx_queue *q);
int stream_queue_wait_all(const char *call, struct shmemx_queue *q, int n,
                          struct shmemx_req *reqs[]);
/* -EINVAL, reported: it was never started. */
int stream_req_test(const char *call, struct shmemx_req *r, bool *ended);
int stream_req_wait_host(const char *call, struct shmemx_req *r);
/* -EBUSY, reported: it has not ended. */
int stream_req_free(const char *call, struct shmemx_req *r);

/* Does the device itself copy to and from such heaps of all PEs of this node,
 * and do atomics on them?  False: there is no such heap. */
bool stream_on_node(enum heap_seg_id seg, bool *copies, bool *atomics);
/* Are there PEs of other nodes?  And does the NIC do by itself what is done
 * there? */
bool stream_off_node(bool *copies, bool *atomics);

/* -EIO, reported, if an operation of this stream or of its queues has failed;
 * each failure is reported once. */
int stream_errors_take(const char *call, void *stream);
/* The stream is about to be; failures there are reported. */
void stream_destroyed(const char *call, void *stream);
/* All that was given to it is done. */
void stream_synced(void *stream);

/* Is an operation posted there that has not ended, or one of the software
 * device's own that it has not come to? */
bool stream_pending(void *stream);
/* Does an operation that the progress thread enqueues for the stream, since
 * graphs have others of its kind, still keep it waiting? */
bool stream_graphs_hold(void *stream);

/* There is a device.  0 or -errno, logged; again after success: nothing. */
extern hidden bool stream_is_open;
int stream_open(void);
/* Ends the progress thread; operations that no stream has reached yet are never
 * done. */
void stream_close(void);

#endif

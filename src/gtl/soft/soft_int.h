/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_int.h - the software device: declarations that its files share.
 *
 * Its memory consists of memfds of a limited sum.  A stream is a thread and a
 * ring of commands that callers fill and the thread empties.  A stream that
 * waits for a flag sleeps, and one of the sleeping threads checks all flags now
 * and then, for another process or a NIC may write them.  Kernels run on the
 * stream's thread with the help of a pool.
 *
 * After fork() the child has no streams until it has closed and opened the
 * device. */
#ifndef GTL_SOFT_INT_H
#define GTL_SOFT_INT_H

#include "gtl/gtl_int.h"
#include "gtl/soft/soft_thread.h"

#include <pthread.h>

#define GTL_SOFT_UNIT ((size_t)2 << 20)     /* alignment of its memory */
#define GTL_SOFT_STREAMS 4096
#define GTL_SOFT_SCRATCH ((size_t)1 << 20)  /* the most that a group has */

/* ---- soft.c ---- */
/* Around fork(): BEFORE takes the locks, the other two release them. */
enum gtl_soft_fork { SOFT_FORK_BEFORE, SOFT_FORK_PARENT, SOFT_FORK_CHILD };

/* ---- soft_mem.c ---- */
void gtl_soft_mem_open(struct gtl_device *d);
void gtl_soft_mem_close(void);
void gtl_soft_mem_fork(enum gtl_soft_fork when);
int gtl_soft_alloc(size_t size, void **out);
void gtl_soft_free(void *p);
int gtl_soft_memory_info(size_t *unused, size_t *total);
int gtl_soft_pin(void *host, size_t size, enum gtl_pin why, void **out);
void gtl_soft_unpin(void *host);
int gtl_soft_classify(const void *p, struct gtl_range *out);
int gtl_soft_dmabuf(void *p, size_t size, int *fd, uint64_t *offset);
/* Finds the file of an allocation and its tag; -EINVAL: p is none. */
int gtl_soft_mem_file(void *p, int *fd, size_t *size, uint64_t *tag);
/* Maps the file as memory of the device; fd stays the caller's. */
int gtl_soft_mem_map(int fd, size_t size, void **out);
void gtl_soft_ipc_close(void *p);

/* ---- soft_ipc.c ---- */
bool gtl_soft_ipc_works(void);
int gtl_soft_ipc_export(void *p, struct gtl_ipc_handle *out, int *fd);
int gtl_soft_ipc_open(const struct gtl_ipc_handle *h, int fd, void **at);

/* ---- soft_stream.c ---- */
enum gtl_soft_command_kind {
    SOFT_COPY, SOFT_PUT, SOFT_BLOCKS, SOFT_FILL, SOFT_AMO, SOFT_WRITE,
    SOFT_WAIT,
    SOFT_EVENT, SOFT_PEER_COPY, SOFT_CALL, SOFT_DOORBELL, SOFT_LAUNCH,
    SOFT_REDUCE, SOFT_END, SOFT_GRAPH_END
};

struct gtl_soft_command {
    enum gtl_soft_command_kind kind : 8;
    bool more : 1;              /* the next command belongs to it */
    bool joined : 1;            /* it is charged with the one before */
    union {
        int byte;
        enum gtl_loop loop;
    };
    uint64_t ops;               /* of count_ops() on its stream, before it */
    union {
        struct {
            void *to;
            const void *from;
            union {
                struct {
                    size_t n;
                    struct gtl_flag flag;
                };
                const struct gtl_peer_copy *peer_copy;
                struct gtl_blocks blocks;
            };
        };
        struct {
            uint64_t *word, value;
        };
        struct {
            union {
                void (*fn)(void *arg);
                gtl_kernel *body;
            };
            void *arg, *scratch;
            struct shmemx_grid grid;
        };
        struct {
            void *out;
            const void *a, *b;
            uint64_t count;
        };
        struct gtl_amo amo;
    };
};
_Static_assert(sizeof(struct gtl_soft_command) <= 64, "a line of the cache");
_Static_assert(sizeof(struct shmemx_grid) == 24 &&
               offsetof(struct shmemx_grid, resident) == 20,
               "what was compiled before grids had resident groups");

struct gtl_soft_stream;
int gtl_soft_stream_open(void);
void gtl_soft_stream_close(void);
void gtl_soft_stream_fork(enum gtl_soft_fork when);
/* Finds room for a command, which the caller fills; commit() publishes it, with
 * those that belong to it. */
int gtl_soft_begin(void *handle, struct gtl_soft_stream **out,
                   struct gtl_soft_command **command);
void gtl_soft_commit(struct gtl_soft_stream *s);
/* Starts its thread, once. */
int gtl_soft_stream_start(struct gtl_soft_stream *s);
/* Enqueues n commands, made by next(), which begin when all are there; on error
 * none does.  The stream has started and captures no graph. */
int gtl_soft_enqueue(struct gtl_soft_stream *s, uint64_t n,
                     void (*next)(struct gtl_soft_command *out, void *arg),
                     void *arg);
/* Memory for a group of this stream's kernels, GTL_SOFT_SCRATCH; or NULL. */
void *gtl_soft_scratch(struct gtl_soft_stream *s);
int gtl_soft_stream_create(enum gtl_priority priority, void **out);
void gtl_soft_stream_destroy(void *handle);
int gtl_soft_stream_check(void *handle, uint64_t *id);
bool gtl_soft_calls_next(void (*fn)(void *arg));
void gtl_soft_stop_streams(void);
bool gtl_soft_streams_stopped(uint64_t *ops);

/* ---- soft_sync.c ---- */
int gtl_soft_stream_query(void *handle);
int gtl_soft_stream_sync(void *handle);
int gtl_soft_stream_known(void *handle);
void gtl_soft_count_ops(void *handle, uint64_t n);
bool gtl_soft_owes_ops(void *handle);
bool gtl_soft_stream_position(void *handle, uint64_t *out);
bool gtl_soft_is_past(void *handle, uint64_t position);
bool gtl_soft_waits_for(void *handle, uint64_t **flag, uint64_t *least);
/* Where the stream counts completed commands, and the count behind all that is
 * enqueued. */
int gtl_soft_position(void *handle, uint64_t **done, uint64_t *count);
/* Sleeps until a stream has counted so far, ns at most. */
void gtl_soft_sleep_until(uint64_t *done, uint64_t count, uint64_t ns);

/* ---- soft_event.c ---- */
int gtl_soft_event_create(void **out);
void gtl_soft_event_destroy(void *e);
int gtl_soft_event_record(void *e, void *handle);
int gtl_soft_event_wait(void *e, void *handle);
int gtl_soft_event_query(void *e);
bool gtl_soft_event_sleep(void *e, uint64_t ns);

/* ---- soft_ops.c ---- */
/* Does a command, on the thread of s.  False: the commands behind it must not
 * run. */
bool gtl_soft_run(const struct gtl_soft_command *c, struct gtl_soft_stream *s);
int gtl_soft_copy(void *to, const void *from, size_t n, void *s);
int gtl_soft_copy_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *s);
int gtl_soft_fill(void *to, int byte, size_t n, void *s);
int gtl_soft_amo(const struct gtl_amo *a, void *s);
int gtl_soft_write64(uint64_t *word, uint64_t value, void *s);
int gtl_soft_wait64(uint64_t *word, uint64_t least, void *s);
int gtl_soft_batch(const struct gtl_batch *t, void *s);
int gtl_soft_peer_copy(const struct gtl_peer_copy *p, void *s);
int gtl_soft_host_call(void (*fn)(void *arg), void *arg, void *s);
int gtl_soft_doorbell(void (*fn)(void *arg), void *arg, void *s);
void gtl_soft_cancel_rest(void);
int gtl_soft_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                    void *s);
/* Prepares s for so many grids with resident groups, none of more than g, and
 * for grids without; on error none may be enqueued. */
int gtl_soft_launch_ready(struct gtl_soft_stream *s,
                          const struct shmemx_grid *g, uint64_t resident,
                          void **scratch);

/* ---- soft_reduce.c ---- */
void gtl_soft_reduce_run(const struct gtl_soft_command *c);
int gtl_soft_reduce(const struct gtl_reduce *r, void *s);

/* ---- soft_wait.c ---- */
/* Waits until *word >= least, on the stream's futex.  False: the device
 * closes. */
bool gtl_soft_wait_word(uint64_t *word, uint64_t least, uint32_t *futex);
extern hidden unsigned gtl_soft_waiting;
void gtl_soft_check_waits(void);
void gtl_soft_wait_fork(enum gtl_soft_fork when);
/* The wait that sleeps on that futex; false: none. */
bool gtl_soft_wait_of(const uint32_t *futex, uint64_t **word, uint64_t *least);
void gtl_soft_flags_stored(void);
/* After a store of this process and a full fence. */
static inline void gtl_soft_check_waits_if_any(void)
{
    if (__atomic_load_n(&gtl_soft_waiting, __ATOMIC_RELAXED))
        gtl_soft_check_waits();
}

/* ---- soft_grid.c ---- */
void gtl_soft_grid_open(void);
void gtl_soft_grid_close(void);
void gtl_soft_grid_fork(enum gtl_soft_fork when);
/* A stream's share of the threads for resident groups. */
struct gtl_soft_resident_share {
    unsigned groups;            /* the maximum in one of its grids */
    uint64_t grids;             /* with resident groups that have not ended */
};
/* Reserves threads for so many grids that are to be launched on the stream of
 * share, until each has run.  -ENOSPC: there are too few. */
int gtl_soft_grid_reserve(struct gtl_soft_resident_share *share,
                          unsigned groups, uint64_t grids);
/* So many of these grids are not launched after all. */
void gtl_soft_grid_unreserve(struct gtl_soft_resident_share *share,
                             uint64_t grids);
void gtl_soft_grid_run(const struct gtl_soft_command *c,
                       struct gtl_soft_resident_share *share);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_host_int.h - the software device: what its files share.
 *
 * Its memory are memfds of a bounded sum.  A stream is a thread and a queue
 * that one thread fills and the other empties; a stream that waits for a word
 * sleeps, and one of those that sleep looks at the words of all now and then,
 * for another process or a NIC may write them.  Kernels run on the stream's
 * thread with the help of a pool.
 *
 * After fork() the child has no streams until it has closed and opened the
 * device. */
#ifndef GTL_GTL_HOST_INT_H
#define GTL_GTL_HOST_INT_H

#include "gtl/gtl_int.h"

#include <pthread.h>

#define GTL_HOST_UNIT ((size_t)2 << 20)     /* alignment of its memory */
#define GTL_HOST_STREAMS 4096
#define GTL_HOST_SCRATCH ((size_t)1 << 20)  /* the most that a group has */

/* ---- gtl_host.c ---- */
/* What steps take longer than they need, in nanoseconds. */
enum gtl_host_cost {
    HOST_COST_LAUNCH, HOST_COST_COPY, HOST_COST_WRITE, HOST_COST_WAIT,
    HOST_COST_CALL, HOST_COST_DOORBELL, HOST_COST_SYNC, HOST_COSTS
};
extern hidden uint64_t gtl_host_costs[HOST_COSTS];
/* The device closes: a wait that is not over ends its stream. */
extern hidden bool gtl_host_closing;
/* So it does already, and the program's streams begin nothing more. */
extern hidden bool gtl_host_halting;

/* Takes so long, and counts it. */
void gtl_host_charge(uint64_t ns) __attribute__((cold));
/* A thread that takes no signals. */
int gtl_host_thread(pthread_t *out, void *(*run)(void *), void *arg);
/* Until *word is not value, a wake, a signal or timeout_ns; 0: no timeout. */
void gtl_host_sleep(uint32_t *word, uint32_t value, uint64_t timeout_ns);
void gtl_host_wake(uint32_t *word);

static inline void gtl_host_spend(enum gtl_host_cost what)
{
    if (unlikely(gtl_host_costs[what]))
        gtl_host_charge(gtl_host_costs[what]);
}

/* One turn of a loop that began at `start`: pauses, then yields.  False: it
 * has lasted long enough for the thread to sleep. */
bool gtl_host_linger(uint64_t start);

/* Two threads that each store and then look at what the other stores: one of
 * them sees it.  Who does it often has the light fence, and who does it before
 * sleeping the heavy one, which makes all threads of the process pass a fence;
 * where the system has no such call, both are full fences. */
extern hidden bool gtl_host_fences;
void gtl_host_fence_open(void);
void gtl_host_heavy_fence(void);
static inline void gtl_host_light_fence(void)
{
    if (unlikely(gtl_host_fences))
        atomics_full_fence();
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Around fork(): the locks are held in before, and given back. */
enum gtl_host_fork { HOST_FORK_BEFORE, HOST_FORK_PARENT, HOST_FORK_CHILD };

/* ---- gtl_host_mem.c ---- */
void gtl_host_mem_open(struct gtl_device *d);
void gtl_host_mem_close(void);
void gtl_host_mem_fork(enum gtl_host_fork when);
int gtl_host_alloc(size_t size, void **out);
void gtl_host_free(void *p);
int gtl_host_room(size_t *unused, size_t *total);
int gtl_host_pin(void *host, size_t size, enum gtl_pin why, void **out);
void gtl_host_unpin(void *host);
int gtl_host_classify(const void *p, struct gtl_range *out);
int gtl_host_dmabuf(void *p, size_t size, int *fd, uint64_t *offset);
/* The file of an allocation and its tag, or -EINVAL. */
int gtl_host_mem_file(void *p, int *fd, size_t *size, uint64_t *tag);
/* Maps the file as the device's; fd stays the caller's. */
int gtl_host_mem_map(int fd, size_t size, void **out);
void gtl_host_give_back(void *p);

/* ---- gtl_host_lend.c ---- */
bool gtl_host_lends(void);
int gtl_host_lend(void *p, struct gtl_handle *out, int *fd);
int gtl_host_borrow(const struct gtl_handle *h, int fd, void **at);

/* ---- gtl_host_stream.c ---- */
enum gtl_host_kind {
    HOST_COPY, HOST_PUT, HOST_BLOCKS, HOST_FILL, HOST_AMO, HOST_WRITE, HOST_WAIT,
    HOST_EVENT, HOST_PAIR, HOST_CALL, HOST_DOORBELL, HOST_LAUNCH, HOST_REDUCE,
    HOST_END, HOST_GRAPH_END
};

struct gtl_host_command {
    enum gtl_host_kind kind : 8;
    bool more : 1;              /* the next one belongs to it */
    bool joined : 1;            /* it costs nothing beside the one before */
    union {
        int byte;
        enum gtl_loop loop;
    };
    uint64_t ops;               /* of gtl_ops on its stream, before it */
    union {
        struct {
            void *to;
            const void *from;
            union {
                struct {
                    size_t n;
                    struct gtl_word tell;
                };
                const struct gtl_pair *pair;
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
_Static_assert(sizeof(struct gtl_host_command) <= 64, "a line of the cache");
_Static_assert(sizeof(struct shmemx_grid) == 24 &&
               offsetof(struct shmemx_grid, resident) == 20,
               "what was compiled before grids had resident groups");

struct gtl_host_stream;
int gtl_host_stream_open(void);
void gtl_host_stream_close(void);
void gtl_host_stream_fork(enum gtl_host_fork when);
/* Room for a command, to be filled and handed over by commit; with those that
 * belong to it, if there are more. */
int gtl_host_begin(void *handle, struct gtl_host_stream **out,
                   struct gtl_host_command **command);
void gtl_host_commit(struct gtl_host_stream *s);
/* Its thread; again: nothing. */
int gtl_host_stream_start(struct gtl_host_stream *s);
/* n commands, made by next(), which begin when all are there, or none is.  Of
 * a stream that has started and records nothing. */
int gtl_host_enqueue(struct gtl_host_stream *s, uint64_t n,
                     void (*next)(struct gtl_host_command *out, void *arg),
                     void *arg);
/* Memory for a group of this stream's kernels, GTL_HOST_SCRATCH; or NULL. */
void *gtl_host_scratch(struct gtl_host_stream *s);
int gtl_host_stream_create(enum gtl_priority priority, void **out);
void gtl_host_stream_destroy(void *handle);
int gtl_host_stream_check(void *handle, uint64_t *id);

/* ---- gtl_host_sync.c ---- */
int gtl_host_stream_query(void *handle);
int gtl_host_stream_sync(void *handle);
/* Where the stream counts what it has done, and how far all that was enqueued
 * is. */
int gtl_host_position(void *handle, uint64_t **done, uint64_t *count);
/* Until a stream has counted so far, at most so long. */
void gtl_host_doze(uint64_t *done, uint64_t count, uint64_t ns);

/* ---- gtl_host_event.c ---- */
int gtl_host_event_create(void **out);
void gtl_host_event_destroy(void *e);
int gtl_host_event_record(void *e, void *handle);
int gtl_host_event_wait(void *e, void *handle);
int gtl_host_event_query(void *e);

/* ---- gtl_host_run.c ---- */
/* On the thread of s.  False: the device closes, and what is behind it must
 * not run. */
bool gtl_host_run(const struct gtl_host_command *c, struct gtl_host_stream *s);
int gtl_host_copy(void *to, const void *from, size_t n, void *s);
int gtl_host_copy_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *s);
int gtl_host_fill(void *to, int byte, size_t n, void *s);
int gtl_host_amo(const struct gtl_amo *a, void *s);
int gtl_host_write64(uint64_t *word, uint64_t value, void *s);
int gtl_host_wait64(uint64_t *word, uint64_t least, void *s);
int gtl_host_steps(const struct gtl_steps *t, void *s);
int gtl_host_pair(const struct gtl_pair *p, void *s);
int gtl_host_call(void (*fn)(void *arg), void *arg, void *s);
int gtl_host_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                    void *s);
/* s is to run so many grids with resident groups, of which none asks for more
 * than g, and some without; none has to be enqueued if this fails. */
int gtl_host_launch_ready(struct gtl_host_stream *s,
                          const struct shmemx_grid *g, uint64_t resident,
                          void **scratch);

/* ---- gtl_host_reduce.c ---- */
void gtl_host_reduce_run(const struct gtl_host_command *c);
int gtl_host_reduce(const struct gtl_reduce *r, void *s);

/* ---- gtl_host_wait.c ---- */
/* Until *word >= least; the futex is the stream's.  False: it closes. */
bool gtl_host_await(uint64_t *word, uint64_t least, uint32_t *futex);
extern hidden unsigned gtl_host_waiting;
void gtl_host_look(void);
void gtl_host_wait_fork(enum gtl_host_fork when);
/* This process has stored, and a full fence has passed. */
static inline void gtl_host_stored(void)
{
    if (__atomic_load_n(&gtl_host_waiting, __ATOMIC_RELAXED))
        gtl_host_look();
}

/* ---- gtl_host_grid.c ---- */
void gtl_host_grid_open(void);
void gtl_host_grid_close(void);
void gtl_host_grid_fork(enum gtl_host_fork when);
/* What a stream has of the threads for resident groups. */
struct gtl_host_share {
    unsigned groups;            /* the most that one of its grids has */
    uint64_t grids;             /* that ask for them and have not ended */
};
/* Threads for so many grids that are to be launched on the stream of share,
 * until each has run.  -ENOSPC: there are not so many. */
int gtl_host_grid_reserve(struct gtl_host_share *share, unsigned groups,
                          uint64_t grids);
/* These are not launched after all. */
void gtl_host_grid_spare(struct gtl_host_share *share, uint64_t grids);
void gtl_host_grid_run(const struct gtl_host_command *c,
                       struct gtl_host_share *share);

#endif

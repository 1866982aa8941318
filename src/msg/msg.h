/* SPDX-License-Identifier: BSD-3-Clause */
/* msg.h - matched two-sided messages in the order of streams.
 *
 * A send and a receive find each other once, through control messages
 * (msg_ctrl.h), and form a channel; each start of both ends then is one-sided
 * traffic that msg_int.h and the protocols (proto_*.c) describe.  A one-shot
 * message is a channel of one iteration.
 * Calls give 0 or -errno, logged by name.  Any thread may call; two threads on
 * one queue or request are ordered by the program. */
#ifndef MSG_MSG_H
#define MSG_MSG_H

#include "core/core.h"

struct shmemx_queue;
struct shmemx_req;

struct msg_args {
    const char *call;
    bool sends, ready, one_shot;
    int partitions;             /* 0: it is not partitioned */
    void *buf;
    size_t len;
    int pe, tag;
    uint64_t team;              /* the library's own: tags below 0, and */
    uint32_t number;            /* which one of these */
};
/* A request.  queue: NULL except for one-shot messages, whose next start it
 * is; out may be NULL for these. */
int msg_req_create(const struct msg_args *a, struct shmemx_queue *queue,
                   struct shmemx_req **out);
int msg_match_all(const char *call, int n, struct shmemx_req *reqs[]);
int msg_imatch_all(const char *call, int n, struct shmemx_req *reqs[],
                   struct shmemx_req **out);
int msg_is_matched(const char *call, struct shmemx_req *req, bool *is);

/* The program gives that memory back, or it moves: a line names requests that
 * it has not freed and that use it. */
void msg_memory_freed(const char *call, const void *p, size_t size);

/* SHMEM_ST_EAGER: bytes up to which messages use the eager protocol, on the
 * node and between nodes.  These hold unless it is set. */
enum { MSG_EAGER_ON_NODE = 4096, MSG_EAGER_OFF_NODE = 8192 };
struct msg_eager_limit {
    size_t on_node, off_node;
};
extern hidden struct msg_eager_limit msg_eager_limit;
/* Reads it, "8k" or "4k,16k": -EINVAL, logged. */
int msg_env_check(void);

/* Before the PEs synchronize, in the same order on all: -ENOMEM, logged. */
int msg_reserve(void);
/* When all PEs have closed their streams: frees what channels leave behind and
 * reports messages that were not received. */
void msg_close(void);

#endif

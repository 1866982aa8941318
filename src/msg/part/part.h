/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h - partitioned messages: the sender makes partitions of a persistent
 * message ready one by one, and each travels at once.
 *
 * A partitioned request is a channel (msg_int.h) with a struct part.  The
 * partitions of both ends are divided into transport partitions; each is an
 * operation of a trigger of the sender's (trig/trig.h), with a tag of its own,
 * that repeats: a put into the receive buffer, and an addition to the word of
 * the receiver that counts its arrivals.  It begins when all its partitions are
 * ready and the receiver has started the iteration.  Kernels may also copy, and
 * store the word, themselves: include/shmemx_dev_part.h. */
#ifndef MSG_PART_PART_H
#define MSG_PART_PART_H

#include "msg/msg_int.h"
#include "shmemx_part.h"
#include "trig/trig_owner.h"

enum { PARTITIONS_MOST = 65536 };

/* The counters of such a channel, in the heap's pool.  counters.started and
 * .sent count as those of other messages do. */
struct part_counters {
    struct msg_counters counters;
    uint64_t epoch;             /* the iteration that this end has come to */
    uint64_t copied;            /* sender: iterations that kernels have copied */
    uint64_t arrived[];         /* receiver: the last iteration, of each
                                 * transport partition */
};

struct part {
    int n;                      /* this end's partitions */
    size_t each;                /* bytes */
    int most;                   /* transport partitions that this end wants;
                                 * 0: as many as there may be */
    int theirs;                 /* the partner's partitions */
    int transport;              /* transport partitions; 0: not matched */
    bool by_host;               /* the host has started it, and not waited */
    /* Of a sender. */
    struct shmemx_trig *trig;   /* made by the first start, or prequest */
    uint64_t completed;         /* transport partitions, by its trigger */
    uint64_t *ready;            /* atomic, [n]: the host's last iteration */
    /* The part of kernels, in the device's memory, if it has a prequest. */
    bool prequest, together;    /* kernels count partitions that travel
                                 * together or calls, or copy */
    uint64_t *device;
    size_t device_size;
};

static inline struct part_counters *part_counters(const struct msg_chan *c)
{
    return (struct part_counters *)c->counters;
}

static inline uint64_t part_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* A word of it, where this PE's device reaches it: dev_counters is not NULL. */
static inline uint64_t *part_seen(const struct msg_chan *c,
                                  const uint64_t *word)
{
    return (uint64_t *)((char *)c->dev_counters +
                        ((const char *)word - (const char *)c->counters));
}

/* ---- part_chan.c ---- */
/* For a new channel: -ENOMEM. */
int part_attach(struct msg_chan *c, const struct msg_args *a);
void part_detach(struct msg_chan *c);
size_t part_counters_size(const struct msg_chan *c);
/* Into the RTS of a send, the RTR of a receive. */
void part_offer(const struct msg_chan *s, struct msg_ctrl *rts);
void part_answer(const struct msg_chan *r, struct msg_ctrl *rtr);
/* 0, or why a receive does not take a send, one of which is partitioned; and
 * the line for that. */
int part_accept(struct msg_chan *r, const struct msg_ctrl *rts);
void part_report_failed(const char *call, const char *which,
                        const struct msg_chan *c);
/* The text for a wait for its counters. */
void part_describe(const struct msg_chan *c, char *text, size_t size);
/* Frees the memory of its prequest, if any. */
void part_prequest_release(struct part *p);
/* The sender's trigger: 0 or -errno, logged. */
int part_open(const char *call, struct msg_chan *c);

/* ---- part_req.c ---- */
struct pcoll;
extern hidden const struct stream_req_ops part_req_ops;
/* NULL, logged: it is no partitioned request, or, unless sends is negative, not
 * one that sends, or receives.  A partitioned collective's (pcoll/pcoll.h) does
 * both: *coll, or NULL. */
struct msg_chan *part_or_coll(const char *call, struct shmemx_req *req,
                              int sends, struct pcoll **coll);
bool part_is_completed(const struct msg_chan *c);
/* A sender's thread does what is ready itself.  -EIO, reported: some of it has
 * failed. */
int part_advance(const char *call, const struct msg_chan *c);
/* In the stream's order, where kernels may look. */
int part_start_epoch(const struct stream_where *w, struct queue *q,
                     const struct msg_chan *c, uint64_t seq,
                     struct start_parts *parts);
/* Functions that pcoll_req_ops shares with part_req_ops. */
bool part_req_completed(const struct req *r);
int part_req_wait(const struct stream_where *w, struct queue *q, struct req *r,
                  struct start_parts *parts);
int part_req_test(const char *call, struct req *r, bool *is);
int part_req_error(const char *call, struct req *r, struct stream_errors *e);

/* ---- the calls of the API: 0 or -errno, logged ---- */
int part_set_transport(const char *call, struct shmemx_req *req, int most);
int part_start_all(const char *call, int n, struct shmemx_req *reqs[]);
/* Partitions of that list, or, if it is NULL, from low on. */
int part_ready(const char *call, struct shmemx_req *req, int low, int n,
               const int *list);
int part_arrived(const char *call, struct shmemx_req *req, int partition,
                 bool *is);
int part_prequest_create(const char *call, struct shmemx_req *req,
                         const shmemx_prequest_config_t *config, long mask,
                         shmemx_prequest_t *out);
int part_prequest_free(const char *call, shmemx_prequest_t *prequest);

#endif

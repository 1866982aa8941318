/* SPDX-License-Identifier: BSD-3-Clause */
/* pp_message.h - the matched messages of pp_pack, of one size and mode. */
#ifndef PP_MESSAGE_H
#define PP_MESSAGE_H

#include "pp_pack.h"

#include <shmemx_part.h>

static inline bool pp_matched(enum pp_mode m)
{
    return m == PP_SEND || m == PP_READY_SEND || m == PP_EAGER || m == PP_PART;
}

/* Round k uses buffer and request k % phases. */
static inline int pp_phases(enum pp_mode m)
{
    return m == PP_READY_SEND ? 2 : 1;
}

/* A long message has so many parts. */
enum { PP_PARTS = 8, PP_PART_LEAST = 65536 };
static inline int pp_parts(size_t bytes)
{
    return bytes % (PP_PARTS * sizeof(uint32_t)) == 0 &&
           bytes / PP_PARTS >= PP_PART_LEAST ? PP_PARTS : 1;
}

struct pp_pair {
    int phases;
    shmemx_queue_t queue;
    shmemx_req_t reqs[4];       /* receives, then as many sends */
    shmemx_req_t active[2];     /* of the last start */
    int n_active;
    shmemx_prequest_t dev;      /* of a partitioned send */
};

/* ---- These give 0 or -errno ---- */

static int pp_pair_parts(struct pp_pair *p, void *sent, void *got, size_t bytes,
                         int peer)
{
    int parts = pp_parts(bytes);
    size_t each = bytes / (size_t)parts;
    int rc = shmemx_precv_init(got, parts, each, peer, 0, &p->reqs[0]);

    rc = rc ? rc : shmemx_psend_init(sent, parts, each, peer, 0, &p->reqs[1]);
    rc = rc ? rc : shmemx_matchall(2, p->reqs);
    return rc ? rc : shmemx_prequest_create(p->reqs[1], NULL, 0, &p->dev);
}

static int pp_pair_make(struct pp_pair *out, enum pp_mode m,
                        shmemx_stream_t stream, void *const sent[2],
                        void *const got[2], size_t bytes, int peer)
{
    struct pp_pair p = { .phases = pp_phases(m) };
    int rc = shmemx_queue_create(stream, NULL, 0, &p.queue), n = p.phases;

    if (!rc && m == PP_PART) {
        rc = pp_pair_parts(&p, sent[0], got[0], bytes, peer);
        *out = p;
        return rc;
    }
    for (int i = 0; i < n && !rc; i++) {
        rc = shmemx_recv_init(got[i], bytes, peer, i, &p.reqs[i]);
        if (!rc)
            rc = (m == PP_READY_SEND ? shmemx_rsend_init : shmemx_send_init)(
                sent[i], bytes, peer, i, &p.reqs[n + i]);
    }
    *out = p;
    return rc ? rc : shmemx_matchall(2 * n, p.reqs);
}

static int pp_pair_free(struct pp_pair *p)
{
    int rc = p->dev.req ? shmemx_prequest_free(&p->dev) : 0;

    for (int i = 0; i < 2 * p->phases && !rc; i++)
        rc = shmemx_req_free(&p->reqs[i]);
    return rc ? rc : shmemx_queue_destroy(p->queue);
}

/* One start for the receive and the send of these rounds; 0: for none.  The
 * receive first: after a ready send the other PE may answer. */
static int pp_pair_start(struct pp_pair *p, uint64_t recv, uint64_t send)
{
    unsigned phases = (unsigned)p->phases;
    int n = 0;

    if (recv)
        p->active[n++] = p->reqs[recv % phases];
    if (send)
        p->active[n++] = p->reqs[phases + send % phases];
    p->n_active = n;
    return shmemx_enqueue_startall(p->queue, n, p->active);
}

/* The stream waits for what was started last. */
static int pp_pair_wait(struct pp_pair *p)
{
    return shmemx_enqueue_waitall(p->queue, p->n_active, p->active);
}

#endif

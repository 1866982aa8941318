/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_match.c - halos by sends and receives that are matched once and started
 * in each round, by one store of the device for all sides.
 *
 * A ready send wants its receive started.  So a round's receives are started
 * one round ahead, with that round's sends: a neighbour that has what was
 * sent in round k knows that the receives of k + 1 are started.  The ones of
 * round 0 are started when the halo is made, and in the end a round that is
 * not unpacked uses up those that are ahead. */
#include "halo_int.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

/* Of each set of buffers: [neighbours] receives, then as many sends. */
struct match_state {
    shmemx_queue_t queue;
    shmemx_req_t req[2][2 * SIDES_MAX];
    shmemx_req_t ahead[2][2 * SIDES_MAX];   /* sends behind the receives of
                                             * the other set */
};

static shmemx_req_t *receives(const struct halo *h, uint64_t round)
{
    struct match_state *s = h->state;

    return s->req[round % (uint64_t)h->engine->sets];
}

static shmemx_req_t *sends(const struct halo *h, uint64_t round)
{
    return receives(h, round) + h->neighbours;
}

static void start(struct halo *h, int n, shmemx_req_t *req)
{
    struct match_state *s = h->state;

    if (n)
        app_need(shmemx_enqueue_startall(s->queue, n, req),
                 "a start of messages");
}

static void match_wait(struct halo *h)
{
    struct match_state *s = h->state;

    if (h->neighbours)
        app_need(shmemx_enqueue_waitall(s->queue, 2 * h->neighbours,
                                        receives(h, h->round)),
                 "a wait for messages");
}

/* ---- beginning and end ---- */

/* Its tag is the sender's side. */
static void make_messages(struct halo *h, int set, bool ready)
{
    struct match_state *s = h->state;
    shmemx_req_t *recv = s->req[set], *send = recv + h->neighbours;

    for (int i = 0; i < h->what.sides; i++) {
        const struct halo_side *side = &h->side[i];
        double *out = h->out[set] + h->at[i], *in = h->in[set] + h->at[i];
        size_t bytes = side->n * sizeof(double);

        if (side->pe < 0)
            continue;
        app_need(shmemx_recv_init(in, bytes, side->pe, side->opposite, recv++),
                 "a receive");
        app_need((ready ? shmemx_rsend_init : shmemx_send_init)(
                     out, bytes, side->pe, i, send++), "a send");
    }
}

static void match_open(struct halo *h, bool ready)
{
    struct match_state *s = app_memory(1, sizeof *s);

    h->state = s;
    app_need(shmemx_queue_create(h->device->stream, NULL, 0, &s->queue),
             "a queue");
    for (int set = 0; set < h->engine->sets; set++)
        make_messages(h, set, ready);
    for (int set = 0; set < h->engine->sets && h->neighbours; set++)
        app_need(shmemx_matchall(2 * h->neighbours, s->req[set]),
                 "matching of messages");
}

static void match_close(struct halo *h)
{
    struct match_state *s = h->state;

    for (int set = 0; set < h->engine->sets; set++)
        for (int i = 0; i < 2 * h->neighbours; i++)
            app_need(shmemx_req_free(&s->req[set][i]), "a request's end");
    app_need(shmemx_queue_destroy(s->queue), "a queue's end");
    free(s);
}

/* Those of the last round are asked, and others came before them. */
static uint64_t match_received(const struct halo *h)
{
    uint64_t n = 0;

    if (h->round == 0)
        return 0;
    for (int i = 0; i < h->neighbours; i++) {
        int flag = 0;

        app_need(shmemx_req_test(receives(h, h->round - 1)[i], &flag),
                 "a look at a receive");
        n += flag != 0;
    }
    return n + (h->round - 1) * (uint64_t)h->neighbours;
}

/* ---- sends ---- */

static void plain_open(struct halo *h)
{
    match_open(h, false);
}

static void plain_before(struct halo *h)
{
    start(h, h->neighbours, receives(h, h->round));
}

static void plain_send(struct halo *h)
{
    start(h, h->neighbours, sends(h, h->round));
}

const struct halo_engine halo_send = {
    1, false, plain_open, plain_before, plain_send, match_wait, match_close,
    match_received
};

/* ---- ready sends ---- */

static void ready_open(struct halo *h)
{
    struct match_state *s;
    size_t half = (size_t)h->neighbours;

    match_open(h, true);
    s = h->state;
    for (uint64_t set = 0; set < 2; set++) {
        memcpy(s->ahead[set], receives(h, set + 1), half * sizeof **s->ahead);
        memcpy(s->ahead[set] + half, sends(h, set), half * sizeof **s->ahead);
    }
    start(h, h->neighbours, receives(h, 0));
    device_sync(h->device);
}

static void ready_send(struct halo *h)
{
    struct match_state *s = h->state;

    start(h, 2 * h->neighbours, s->ahead[halo_phase(h)]);
}

static void ready_close(struct halo *h)
{
    start(h, h->neighbours, sends(h, h->round));
    match_wait(h);
    halo_wait(h);
    match_close(h);
}

const struct halo_engine halo_ready_send = {
    2, false, ready_open, halo_nothing, ready_send, match_wait, ready_close,
    match_received
};
